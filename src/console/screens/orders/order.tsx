import { useRoute } from 'preact-iso/router'
import { api, ok } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { mayFulfil, mayManage, shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page, ResourceView } from '../../ui/page.tsx'
import { OrderStatusBadge, StatusBadge } from '../../ui/status-badge.tsx'
import { CancelDialog } from './cancel.tsx'
import { CorrectDialog, corrections, isCorrectable } from './correct.tsx'
import { documentsPath, hasCreditNote, hasInvoice } from './document-kinds.ts'
import { FulfilDialog } from './fulfil.tsx'
import { Fulfilments } from './fulfilments.tsx'
import { t } from './i18n.ts'
import { MarkPaidDialog } from './mark-paid.tsx'
import { MoneyMovements } from './movements.tsx'
import { OrderLines } from './order-lines.tsx'
import type { Order } from './order-types.ts'
import { OrderCustomer } from './people.tsx'
import { awaitsManualPayment, isCancellable, isRefundable, unfulfilledUnits } from './refund.domain.ts'
import { RefundDialog } from './refund.tsx'
import { Returns } from './returns.tsx'
import { SettleDialog } from './settle.tsx'
import { Timeline } from './timeline.tsx'

/** An order with its actions. The URL holds the open dialog. */
export default function OrderPage() {
  const { id = '' } = useRoute().params
  const query = useQuery()
  const order = useResource(id, (signal) => ok(api.GET('/v2/orders/{orderId}', { params: { path: { orderId: id } }, signal })))
  useLiveReload(['order.*'], order.reload, ({ data }) => Object.values(data).includes(id))
  const known = order.data.value
  return (
    <Page
      title={known ? t('titleOf', { number: `#${known.number}` }) : common('order')}
      back={{ href: shopPath('orders'), text: common('orders') }}
      subtitle={known && <OrderBadges of={known} />}
      actions={known && <OrderActions of={known} query={query} />}
    >
      <ResourceView of={order}>
        {(of) => (
          <>
            <div class="columns">
              <div class="stack">
                <OrderLines of={of} />
                <Fulfilments of={of} onChange={order.reload} query={query} />
                <Returns of={of} onChange={order.reload} query={query} />
                <MoneyMovements of={of} query={query} />
              </div>
              <div class="stack">
                <OrderCustomer of={of} query={query} />
                <Timeline of={of} onChange={order.reload} />
              </div>
            </div>
            <OrderDialog of={of} order={order} query={query} />
          </>
        )}
      </ResourceView>
    </Page>
  )
}

/** Whether to show the fulfilment state: of confirmed orders, or if something was sent. */
const showsFulfilment = ({ status, fulfilmentStatus, fulfilments }: Order) =>
  fulfilmentStatus === 'UNFULFILLED' ? status === 'CONFIRMED' : fulfilmentStatus !== status && fulfilments?.length !== 0

const OrderBadges = ({ of }: { of: Order }) => (
  <>
    {of.status === 'FULFILLED' ? <OrderStatusBadge of={of} /> : <StatusBadge of={of.status} />}
    <StatusBadge
      of={of.paymentStatus}
      text={t('paymentState', { state: t.has(`payment.${of.paymentStatus}`) ? t(`payment.${of.paymentStatus}`) : of.paymentStatus })}
    />
    {showsFulfilment(of) && <StatusBadge of={of.fulfilmentStatus} />}
    {of.mode === 'TEST' && <StatusBadge of="TEST" />}
    {of.agent && <StatusBadge of="AGENT" text={t('agent')} />}
    <Moment at={of.createdAt} />
  </>
)

function OrderActions({ of, query }: { of: Order; query: Query }) {
  const wasPaid = of.confirmedAt !== null || of.capturedTotal.amount > 0
  return (
    <>
      {mayManage.value && awaitsManualPayment(of) && (
        <ButtonLink kind="primary" icon="money" href={query.href({ do: 'paid' })} text={t('settle')} />
      )}
      {mayFulfil.value && unfulfilledUnits(of) > 0 && (
        <ButtonLink kind="primary" icon="truck" href={query.href({ do: 'send' })} text={t('send')} />
      )}
      {mayManage.value && isRefundable(of) && <ButtonLink icon="money" href={query.href({ do: 'refund' })} text={t('refund')} />}
      {mayManage.value && isCancellable(of) && <ButtonLink kind="danger" href={query.href({ do: 'cancel' })} text={t('cancel')} />}
      {of.publicUrl && (
        <a class="button" href={of.publicUrl} target="_blank" rel="noreferrer">
          {t('publicPage')}
        </a>
      )}
      {of.publicUrl && wasPaid && (
        <a class="button" href={`${of.publicUrl}/receipt`} target="_blank" rel="noreferrer">
          {t('receipt')}
        </a>
      )}
      {mayFulfil.value && of.confirmedAt !== null && <ButtonLink href={documentsPath('packing-slips', [of])} text={t('packingSlip')} />}
      {mayManage.value && hasInvoice(of) && <ButtonLink href={documentsPath('invoices', [of])} text={t('invoice')} />}
      {mayManage.value && hasCreditNote(of) && <ButtonLink href={documentsPath('credit-notes', [of])} text={t('creditNotes')} />}
    </>
  )
}

/** The dialog of the URL's `do` parameter, if the role may use it. */
function OrderDialog({ of, order, query }: { of: Order; order: Resource<Order>; query: Query }) {
  const { do: doing, refund: refundId } = query.of
  const close = () => query.set({ do: undefined, refund: undefined }, { replace: true })
  async function finish(): Promise<void> {
    close()
    await order.reload()
  }
  const common = { of, onClose: close, onDone: finish }
  if (doing === 'send' && mayFulfil.value) return <FulfilDialog {...common} />
  if (!mayManage.value) return null
  if (doing === 'paid' && awaitsManualPayment(of)) return <MarkPaidDialog {...common} />
  if (doing === 'refund') return <RefundDialog {...common} />
  const what = corrections.find((one) => one === doing)
  if (what && isCorrectable(of)) return <CorrectDialog {...common} what={what} />
  if (doing === 'cancel') return <CancelDialog {...common} />
  const refund = doing === 'settle' ? of.refunds.find(({ id }) => id === refundId) : undefined
  return refund ? <SettleDialog refund={refund} onClose={close} onDone={finish} /> : null
}
