import { useLocation } from 'preact-iso/router'
import { api, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
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
 * @param onDeleting called while the draft is deleted, so that it is not reloaded
 */
export const DraftSidebar = ({
  draft,
  onChange,
  onDeleting,
}: {
  draft: Draft
  onChange: () => Promise<void>
  onDeleting: (isDeleting: boolean) => void
}) => (
  <div class="stack">
    <Section title={t('comesTo')}>
      <DraftTotals draft={draft} />
      {draft.status === 'OPEN' && !draft.shippingAddress && <p class="hint">{t('totalsLater')}</p>}
      {draft.notices.map(({ code, message }) => (
        <Note key={code} tone="warn">
          {t(`notice.${code}`)} <bdi>{code === 'DISCOUNT_NOT_COUNTED' ? message : ''}</bdi>
        </Note>
      ))}
    </Section>
    {canManage.value && draft.status === 'OPEN' && <PaymentLink draft={draft} onChange={onChange} />}
    <ShopperFacts draft={draft} />
    {canManage.value && <DeleteButton draft={draft} onDeleting={onDeleting} />}
  </div>
)

function DraftTotals({ draft: { totals, discounts, shippingAddress } }: { draft: Draft }) {
  // Without an address, zero shipping and tax are unknown rather than free.
  const isPriced = shippingAddress !== null
  const discountName = [common('discount'), discounts.map(({ code, title }) => code ?? title).join(', ')].filter(Boolean).join(': ')
  const { tax, shippingTax } = totals
  const shippingTaxRows = shippingTax && shippingTax.amount > 0 ? [[common('shippingTax'), shippingTax] as const] : []
  const isIncluded = tax.amount < (shippingTax?.amount ?? 0)
  return (
    <TotalsList
      rows={[
        [common('subtotal'), totals.subtotal],
        ...(totals.discount.amount > 0 ? [[discountName, totals.discount, 'minus'] as const] : []),
        ...(isPriced || totals.shipping.amount > 0 ? [[common('shipping'), totals.shipping] as const] : []),
        ...(totals.tax.amount > 0 || (isPriced && totals.taxIncluded.amount === 0) ? [[common('tax'), totals.tax] as const] : []),
        ...(isIncluded ? [] : shippingTaxRows),
        ...(totals.taxIncluded.amount > 0 ? [[common('taxIncluded'), totals.taxIncluded] as const] : []),
        ...(isIncluded ? shippingTaxRows : []),
        ...(totals.giftCards.amount > 0 ? [[common('giftCards'), totals.giftCards, 'minus'] as const] : []),
        [common('total'), totals.total, 'sum'],
      ]}
    />
  )
}

/** The payment link: mailed by souk or copied. */
function PaymentLink({ draft, onChange }: { draft: Draft; onChange: () => Promise<void> }) {
  const sendOnce = useIdempotentSend()
  const mail = useResource('', (signal) => ok(api.GET('/shops/v2/mail', { signal })))
  const isMailOff = mail.data.value?.sending === false
  async function send(): Promise<void> {
    // The mail shows the stored draft, not unsaved input.
    if (isDirty()) return notify(t('saveFirst'))
    // `sentAt` distinguishes another sending from a retry.
    await sendOnce([draft.id, draft.sentAt], (header) =>
      ok(api.POST('/v2/orders/drafts/{id}/send', { params: { path: { id: draft.id }, header } })),
    )
    notify(t('mailed'))
    await onChange()
  }
  return (
    <Section title={t('payLink')} hint={t('payLinkHint')}>
      {draft.payUrl && <CopyableText text={draft.payUrl} label={t('payLink')} />}
      <div class="row">
        {draft.payUrl && (
          <a class="button" href={draft.payUrl} target="_blank" rel="noreferrer">
            {t('look')}
          </a>
        )}
        {!isMailOff && (
          <Button kind="primary" onPress={send} disabled={draft.email === null} text={draft.sentAt ? t('sendAgain') : t('send')} />
        )}
      </div>
      {isMailOff ? <p class="hint">{t('noMails')}</p> : draft.email === null && <p class="hint">{t('noEmail')}</p>}
      <FactList
        facts={[
          [t('sent'), draft.sentAt ? <Moment at={draft.sentAt} /> : t('never')],
          [common('expires'), <Moment at={draft.expiresAt} />],
        ]}
      />
    </Section>
  )
}

/** Shows what the shopper has set; without a form, everything that is set. */
function ShopperFacts({ draft }: { draft: Draft }) {
  const isAll = !canManage.value || draft.status !== 'OPEN'
  const isShown = (name: Draft['settled'][number]) => isAll || !draft.settled.includes(name)
  const facts = [
    ...(draft.email !== null && isShown('email') ? [[common('email'), <bdi>{draft.email}</bdi>] as const] : []),
    ...(draft.shippingAddress && isShown('shippingAddress')
      ? [[t('shippingAddress'), <Address address={draft.shippingAddress} />] as const]
      : []),
    ...(draft.billingAddress && isShown('billingAddress')
      ? [[t('billingAddress'), <Address address={draft.billingAddress} />] as const]
      : []),
    ...(draft.shippingMethod !== null && isShown('shippingMethod') ? [[t('method'), <bdi>{draft.shippingMethod}</bdi>] as const] : []),
    ...(draft.note !== null && isAll ? [[common('note'), <bdi>{draft.note}</bdi>] as const] : []),
  ]
  return facts.length === 0 ? null : (
    <Section title={isAll ? t('who') : t('saidByShopper')}>
      <FactList facts={facts} />
    </Section>
  )
}

function DeleteButton({ draft, onDeleting }: { draft: Draft; onDeleting: (isDeleting: boolean) => void }) {
  const { route } = useLocation()
  if (draft.status === 'PENDING_PAYMENT' || draft.status === 'COMPLETED') return null
  async function remove(): Promise<void> {
    // Deletes only the shown version without a warning.
    const { data, etag } = await readVersioned(api.GET('/v2/orders/drafts/{id}', { params: { path: { id: draft.id } } }))
    const isShownVersion = data?.updatedAt === draft.updatedAt
    if (
      !(await confirm({
        title: t('deleteTitle'),
        body: (
          <>
            <p>{t('deleteText')}</p>
            {!isShownVersion && <Note tone="warn">{t('changedMeanwhile')}</Note>}
          </>
        ),
        action: common('delete'),
        danger: true,
      }))
    )
      return
    onDeleting(true)
    try {
      await api.DELETE('/v2/orders/drafts/{id}', { params: { path: { id: draft.id }, header: { 'if-match': etag } } })
    } catch (error) {
      onDeleting(false)
      throw error
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
