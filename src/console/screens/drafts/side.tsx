import { useLocation } from 'preact-iso/router'
import { api, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { mayManage, shopPath } from '../../lib/session/current-shop.ts'
import { isDirty } from '../../lib/session/unsaved-changes.ts'
import { Address } from '../../ui/address.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { TotalsList } from '../orders/totals.tsx'
import { t } from './i18n.ts'

type Draft = Schema<'DraftOrder'>

/**
 * Totals, payment link and delete button of a draft.
 * @param onGoing called while the draft is deleted, so that it is not reloaded
 */
export const DraftSidebar = ({
  of,
  onChange,
  onGoing,
}: {
  of: Draft
  onChange: () => Promise<void>
  onGoing: (isGoing: boolean) => void
}) => (
  <div class="stack">
    <Section title={t('comesTo')}>
      <DraftTotals of={of} />
      {of.status === 'OPEN' && !of.shippingAddress && <p class="hint">{t('totalsLater')}</p>}
      {of.notices.map(({ code, message }) => (
        <Note key={code} tone="warn">
          {t(`notice.${code}`)} <bdi>{code === 'DISCOUNT_NOT_COUNTED' ? message : ''}</bdi>
        </Note>
      ))}
    </Section>
    {mayManage.value && of.status === 'OPEN' && <PaymentLink of={of} onChange={onChange} />}
    <ShopperFacts of={of} />
    {mayManage.value && <DeleteButton of={of} onGoing={onGoing} />}
  </div>
)

function DraftTotals({ of: { totals, discounts, shippingAddress } }: { of: Draft }) {
  // Without an address, zero shipping and tax are unknown rather than free.
  const isPriced = shippingAddress !== null
  const named = [common('discount'), discounts.map(({ code, title }) => code ?? title).join(', ')].filter(Boolean).join(': ')
  const { tax, shippingTax } = totals
  const ofShipping = shippingTax && shippingTax.amount > 0 ? [[common('shippingTax'), shippingTax] as const] : []
  const isIncluded = tax.amount < (shippingTax?.amount ?? 0)
  return (
    <TotalsList
      of={[
        [common('subtotal'), totals.subtotal],
        ...(totals.discount.amount > 0 ? [[named, totals.discount, 'minus'] as const] : []),
        ...(isPriced || totals.shipping.amount > 0 ? [[common('shipping'), totals.shipping] as const] : []),
        ...(totals.tax.amount > 0 || (isPriced && totals.taxIncluded.amount === 0) ? [[common('tax'), totals.tax] as const] : []),
        ...(isIncluded ? [] : ofShipping),
        ...(totals.taxIncluded.amount > 0 ? [[common('taxIncluded'), totals.taxIncluded] as const] : []),
        ...(isIncluded ? ofShipping : []),
        ...(totals.giftCards.amount > 0 ? [[common('giftCards'), totals.giftCards, 'minus'] as const] : []),
        [common('total'), totals.total, 'sum'],
      ]}
    />
  )
}

/** The payment link: mailed by souk or copied. */
function PaymentLink({ of, onChange }: { of: Draft; onChange: () => Promise<void> }) {
  const sendOnce = useIdempotentSend()
  const mail = useResource('', (signal) => ok(api.GET('/shops/v2/mail', { signal })))
  const sendsNone = mail.data.value?.sending === false
  async function send(): Promise<void> {
    // The mail shows the stored draft, not unsaved input.
    if (isDirty()) return notify(t('saveFirst'))
    // `sentAt` distinguishes another sending from a retry.
    await sendOnce([of.id, of.sentAt], (header) => ok(api.POST('/v2/orders/drafts/{id}/send', { params: { path: { id: of.id }, header } })))
    notify(t('mailed'))
    await onChange()
  }
  return (
    <Section title={t('payLink')} hint={t('payLinkHint')}>
      {of.payUrl && <CopyableText text={of.payUrl} label={t('payLink')} />}
      <div class="row">
        {of.payUrl && (
          <a class="button" href={of.payUrl} target="_blank" rel="noreferrer">
            {t('look')}
          </a>
        )}
        {!sendsNone && <Button kind="primary" onPress={send} disabled={of.email === null} text={of.sentAt ? t('sendAgain') : t('send')} />}
      </div>
      {sendsNone ? <p class="hint">{t('noMails')}</p> : of.email === null && <p class="hint">{t('noEmail')}</p>}
      <FactList
        of={[
          [t('sent'), of.sentAt ? <Moment at={of.sentAt} /> : t('never')],
          [common('expires'), <Moment at={of.expiresAt} />],
        ]}
      />
    </Section>
  )
}

/** Shows what the shopper has set; without a form, everything that is set. */
function ShopperFacts({ of }: { of: Draft }) {
  const isAll = !mayManage.value || of.status !== 'OPEN'
  const isShown = (name: Draft['settled'][number]) => isAll || !of.settled.includes(name)
  const facts = [
    ...(of.email !== null && isShown('email') ? [[common('email'), <bdi>{of.email}</bdi>] as const] : []),
    ...(of.shippingAddress && isShown('shippingAddress') ? [[t('shippingAddress'), <Address of={of.shippingAddress} />] as const] : []),
    ...(of.billingAddress && isShown('billingAddress') ? [[t('billingAddress'), <Address of={of.billingAddress} />] as const] : []),
    ...(of.shippingMethod !== null && isShown('shippingMethod') ? [[t('method'), <bdi>{of.shippingMethod}</bdi>] as const] : []),
    ...(of.note !== null && isAll ? [[common('note'), <bdi>{of.note}</bdi>] as const] : []),
  ]
  return facts.length === 0 ? null : (
    <Section title={isAll ? t('who') : t('saidByShopper')}>
      <FactList of={facts} />
    </Section>
  )
}

function DeleteButton({ of, onGoing }: { of: Draft; onGoing: (isGoing: boolean) => void }) {
  const { route } = useLocation()
  if (of.status === 'PENDING_PAYMENT' || of.status === 'COMPLETED') return null
  async function remove(): Promise<void> {
    // Deletes only the shown version without a warning.
    const { data, etag } = await readVersioned(api.GET('/v2/orders/drafts/{id}', { params: { path: { id: of.id } } }))
    const isSeen = data?.updatedAt === of.updatedAt
    if (
      !(await confirm({
        title: t('deleteTitle'),
        body: (
          <>
            <p>{t('deleteText')}</p>
            {!isSeen && <Note tone="warn">{t('changedMeanwhile')}</Note>}
          </>
        ),
        action: common('delete'),
        danger: true,
      }))
    )
      return
    onGoing(true)
    try {
      await api.DELETE('/v2/orders/drafts/{id}', { params: { path: { id: of.id }, header: { 'if-match': etag } } })
    } catch (refusal) {
      onGoing(false)
      throw refusal
    }
    notify(t('deleted'))
    route(shopPath('orders', 'drafts'), true)
  }
  return (
    <div class="row">
      <Button kind="danger" onPress={remove} text={t('delete')} />
    </div>
  )
}
