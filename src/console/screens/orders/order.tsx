import { useRoute } from 'preact-iso/router'
import { api, ok } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { canFulfil, canManage, shopPath } from '../../lib/session/current-shop.ts'
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
import { OrderCustomer } from './order-customer.tsx'
import { OrderLines } from './order-lines.tsx'
import type { Order } from './order-types.ts'
import { awaitsManualPayment, isCancellable, isRefundable, unfulfilledUnits } from './refund.domain.ts'
import { RefundDialog } from './refund.tsx'
import { Returns } from './returns.tsx'
import { SettleDialog } from './settle.tsx'
import { Timeline } from './timeline.tsx'

/** An order with its actions. The URL holds the open dialog. */
export default function OrderPage() {
  const { id = '' } = useRoute().params
  const query = useQuery()
  const resource = useResource(id, (signal) => ok(api.GET('/v2/orders/{orderId}', { params: { path: { orderId: id } }, signal })))
  useLiveReload(['order.*'], resource.reload, ({ data }) => Object.values(data).includes(id))
  const current = resource.data.value
  return (
    <Page
      title={current ? t('titleOf', { number: `#${current.number}` }) : common('order')}
      back={{ href: shopPath('orders'), text: common('orders') }}
      subtitle={current && <OrderBadges order={current} />}
      actions={current && <OrderActions order={current} query={query} />}
    >
      <ResourceView resource={resource}>
        {(order) => (
          <>
            <div class="columns">
              <div class="stack">
                <OrderLines order={order} />
                <Fulfilments order={order} onChange={resource.reload} query={query} />
                <Returns order={order} onChange={resource.reload} query={query} />
                <MoneyMovements order={order} query={query} />
              </div>
              <div class="stack">
                <OrderCustomer order={order} query={query} />
                <Timeline order={order} onChange={resource.reload} />
              </div>
            </div>
            <OrderDialog order={order} resource={resource} query={query} />
          </>
        )}
      </ResourceView>
    </Page>
  )
}

/** Whether to show the fulfilment state: of confirmed orders, or if something was sent. */
const showsFulfilment = ({ status, fulfilmentStatus, fulfilments }: Order) =>
  fulfilmentStatus === 'UNFULFILLED' ? status === 'CONFIRMED' : fulfilmentStatus !== status && fulfilments?.length !== 0

const OrderBadges = ({ order }: { order: Order }) => (
  <>
    {order.status === 'FULFILLED' ? <OrderStatusBadge order={order} /> : <StatusBadge status={order.status} />}
    <StatusBadge
      status={order.paymentStatus}
      text={t('paymentState', {
        state: t.find(`payment.${order.paymentStatus}`) ?? order.paymentStatus,
      })}
    />
    {showsFulfilment(order) && <StatusBadge status={order.fulfilmentStatus} />}
    {order.mode === 'TEST' && <StatusBadge status="TEST" />}
    {order.agent && <StatusBadge status="AGENT" text={t('agent')} />}
    <Moment at={order.createdAt} />
  </>
)

function OrderActions({ order, query }: { order: Order; query: Query }) {
  const wasPaid = order.confirmedAt !== null || order.capturedTotal.amount > 0
  return (
    <>
      {canManage.value && awaitsManualPayment(order) && (
        <ButtonLink kind="primary" icon="money" href={query.href({ do: 'paid' })} text={t('settle')} />
      )}
      {canFulfil.value && unfulfilledUnits(order) > 0 && (
        <ButtonLink kind="primary" icon="truck" href={query.href({ do: 'send' })} text={t('send')} />
      )}
      {canManage.value && isRefundable(order) && <ButtonLink icon="money" href={query.href({ do: 'refund' })} text={t('refund')} />}
      {canManage.value && isCancellable(order) && <ButtonLink kind="danger" href={query.href({ do: 'cancel' })} text={t('cancel')} />}
      {order.publicUrl && (
        <a class="button" href={order.publicUrl} target="_blank" rel="noreferrer">
          {t('publicPage')}
        </a>
      )}
      {order.publicUrl && wasPaid && (
        <a class="button" href={`${order.publicUrl}/receipt`} target="_blank" rel="noreferrer">
          {t('receipt')}
        </a>
      )}
      {canFulfil.value && order.confirmedAt !== null && (
        <ButtonLink href={documentsPath('packing-slips', [order])} text={t('packingSlip')} />
      )}
      {canManage.value && hasInvoice(order) && <ButtonLink href={documentsPath('invoices', [order])} text={t('invoice')} />}
      {canManage.value && hasCreditNote(order) && <ButtonLink href={documentsPath('credit-notes', [order])} text={t('creditNotes')} />}
    </>
  )
}

/** The dialog of the URL's `do` parameter, if the role may use it. */
function OrderDialog({ order, resource, query }: { order: Order; resource: Resource<Order>; query: Query }) {
  const { do: dialog, refund: refundId } = query.values
  const close = () => query.set({ do: undefined, refund: undefined }, { replace: true })
  async function finish(): Promise<void> {
    close()
    await resource.reload()
  }
  const dialogProps = { order, onClose: close, onDone: finish }
  if (dialog === 'send' && canFulfil.value) return <FulfilDialog {...dialogProps} />
  if (!canManage.value) return null
  if (dialog === 'paid' && awaitsManualPayment(order)) return <MarkPaidDialog {...dialogProps} />
  if (dialog === 'refund') return <RefundDialog {...dialogProps} />
  const correction = corrections.find((correction) => correction === dialog)
  if (correction && isCorrectable(order)) return <CorrectDialog {...dialogProps} correction={correction} />
  if (dialog === 'cancel') return <CancelDialog {...dialogProps} />
  const refund = dialog === 'settle' ? order.refunds.find(({ id }) => id === refundId) : undefined
  return refund ? <SettleDialog refund={refund} onClose={close} onDone={finish} /> : null
}
