import { common } from '../../lib/i18n/common.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { canManage, role, shopPath } from '../../lib/session/current-shop.ts'
import { Address } from '../../ui/address.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { EmailText } from '../../ui/email-text.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { Section } from '../../ui/page.tsx'
import { type Correction, isCorrectable } from './correct.tsx'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'

/** The platform whose agent bought, with the attribution that it sent. */
const AgentText = ({ agent: { profile, attribution = {} } }: { agent: NonNullable<Order['agent']> }) => (
  <>
    <bdi>{profile ?? t('unnamedAgent')}</bdi>
    {Object.entries(attribution).map(([name, value]) => (
      <p key={name}>
        <bdi>{name}</bdi>: <bdi>{value}</bdi>
      </p>
    ))}
  </>
)

/** Customer and addresses of an order. */
export function OrderCustomer({ order, query }: { order: Order; query: Query }) {
  const editLink = (correction: Correction) =>
    canManage.value &&
    isCorrectable(order) && (
      <ButtonLink
        kind="quiet"
        href={query.href({ do: correction })}
        label={`${common('edit')}: ${correction === 'contact' ? t('editContact') : t(correction)}`}
        text={common('edit')}
      />
    )
  const { tags = [], giftCardRecipient: recipient, customerId, shippingAddress, billingAddress, email, affiliate, agent } = order
  const isSame = JSON.stringify(shippingAddress) === JSON.stringify(billingAddress)
  return (
    <Section title={t('people')}>
      <FactList
        facts={[
          [
            common('email'),
            email === null ? (
              t('guest')
            ) : (
              <>
                <EmailText email={email} /> {editLink('contact')}
              </>
            ),
          ],
          [common('tags'), tags.length > 0 ? <bdi>{tags.join(', ')}</bdi> : undefined],
          ...(customerId !== null && role.value !== 'FULFILMENT'
            ? [[common('customer'), <a href={shopPath('customers', customerId)}>{t('customerPage')}</a>] as const]
            : []),
          [
            t('shippingAddress'),
            <>
              {shippingAddress ? <Address address={shippingAddress} /> : '–'} {editLink('shippingAddress')}
            </>,
          ],
          [
            t('billingAddress'),
            <>
              {isSame && billingAddress ? t('sameAddress') : billingAddress ? <Address address={billingAddress} /> : '–'}{' '}
              {editLink('billingAddress')}
            </>,
          ],
          ...(recipient
            ? [
                [
                  t('giftCardRecipient'),
                  <>
                    <EmailText email={recipient.email} /> <bdi>{recipient.name}</bdi>
                    {recipient.message && (
                      <p>
                        <bdi>{recipient.message}</bdi>
                      </p>
                    )}
                  </>,
                ] as const,
              ]
            : []),
          ...(affiliate ? [[common('affiliate'), <bdi>{affiliate.code}</bdi>] as const] : []),
          ...(agent ? [[t('agent'), <AgentText agent={agent} />] as const] : []),
        ]}
      />
    </Section>
  )
}
