import { common } from '../../lib/i18n/common.ts'
import { role, shopPath } from '../../lib/session/current-shop.ts'
import { Address } from '../../ui/address.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'

/** Customer and addresses of an order. */
export function OrderCustomer({ of }: { of: Order }) {
  const { customerId, shippingAddress, billingAddress, email, affiliate } = of
  const isSame = JSON.stringify(shippingAddress) === JSON.stringify(billingAddress)
  return (
    <Section title={t('people')}>
      <FactList
        of={[
          [common('email'), email === null ? t('guest') : <bdi>{email}</bdi>],
          ...(customerId !== null && role.value !== 'FULFILMENT'
            ? [[common('customer'), <a href={shopPath('customers', customerId)}>{t('customerPage')}</a>] as const]
            : []),
          [t('shippingAddress'), shippingAddress ? <Address of={shippingAddress} /> : undefined],
          [t('billingAddress'), isSame && billingAddress ? t('sameAddress') : billingAddress ? <Address of={billingAddress} /> : undefined],
          ...(affiliate ? [[common('affiliate'), <bdi>{affiliate.code}</bdi>] as const] : []),
        ]}
      />
    </Section>
  )
}
