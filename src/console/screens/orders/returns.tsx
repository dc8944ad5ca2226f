import { useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { money, number } from '../../lib/format/format.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { canManage } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, NumberField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { parseUnits } from './fulfilment.domain.ts'
import { t } from './i18n.ts'
import { OrderLineName } from './order-line-name.tsx'
import type { Order, OrderDialogProps } from './order-types.ts'
import { previewRefund } from './refund.domain.ts'
import { ReturnBadge, returnStatusName } from './return-badge.tsx'
import { useUnits } from './units.ts'

type OrderReturns = Schema<'OrderReturns'>
type Return = Schema<'Return'>
const steps = ['approve', 'reject', 'receive'] as const
type Step = (typeof steps)[number]

/** The steps that the status of a return allows. */
const stepsOf = ({ status }: Return): readonly Step[] =>
  status === 'REQUESTED' ? ['approve', 'reject'] : status === 'APPROVED' ? ['receive'] : []

type ReturnsProps = { order: Order; onChange: () => Promise<void>; query: Query }

/** Returns of an order of which something was sent, for roles that may decide them. */
export const Returns = (props: ReturnsProps) =>
  canManage.value && (props.order.fulfilments ?? []).length > 0 ? <ReturnsSection {...props} /> : null

function ReturnsSection({ order, onChange, query }: ReturnsProps) {
  const path = { orderId: order.id }
  const returns = useResource(order.id, (signal) => ok(api.GET('/v2/orders/{orderId}/returns', { params: { path }, signal })))
  useLiveReload(['order.*'], returns.reload, ({ data }) => Object.values(data).includes(order.id))
  const { do: dialog, return: returnId } = query.values
  const close = () => query.set({ do: undefined, return: undefined }, { replace: true })
  async function finish(): Promise<void> {
    close()
    await Promise.all([returns.reload(), onChange()])
  }
  const dialogProps = { order, onClose: close, onDone: finish }
  const step = steps.find((step) => step === dialog)
  return (
    <Section title={common('returns')} actions={<ButtonLink href={query.href({ do: 'return' })} text={t('askReturn')} />}>
      <ResourceView resource={returns}>
        {({ data, returnable }) => {
          const selectedReturn = data.find(({ id }) => id === returnId)
          return (
            <>
              {data.length === 0 && <p class="faint">{t('noReturns')}</p>}
              <ol class="plain">
                {data.map((orderReturn) => (
                  <ReturnItem key={orderReturn.id} orderReturn={orderReturn} order={order} query={query} />
                ))}
              </ol>
              {dialog === 'return' && <RequestReturnDialog {...dialogProps} returnable={returnable} />}
              {step && selectedReturn && stepsOf(selectedReturn).includes(step) && (
                <ReturnStepDialog {...dialogProps} orderReturn={selectedReturn} step={step} />
              )}
            </>
          )
        }}
      </ResourceView>
    </Section>
  )
}

const ReturnItem = ({ orderReturn, order, query }: { orderReturn: Return; order: Order; query: Query }) => (
  <li class="parcel">
    <header>
      <ReturnBadge status={orderReturn.status} />
      <Moment at={orderReturn.createdAt} />
      {stepsOf(orderReturn).map((step) => (
        <ButtonLink key={step} kind="quiet" href={query.href({ do: step, return: orderReturn.id })} text={t(`return.${step}`)} />
      ))}
    </header>
    <ul>
      {orderReturn.lines.map(({ lineId, quantity, reason }) => (
        <li key={lineId}>
          {number(quantity)} × <bdi>{order.lines.find(({ id }) => id === lineId)?.title ?? lineId}</bdi>
          {reason && (
            <>
              {': '}
              <bdi>{reason}</bdi>
            </>
          )}
        </li>
      ))}
    </ul>
    {orderReturn.rejectionReason && (
      <p class="faint">
        <bdi>{orderReturn.rejectionReason}</bdi>
      </p>
    )}
    {orderReturn.restocked && <p class="faint">{t('restocked')}</p>}
    {orderReturn.refund && (
      <p>
        <StatusBadge status={orderReturn.refund.status} text={`${t('refund')}: ${stateName(orderReturn.refund.status)}`} />
      </p>
    )}
  </li>
)

/** Requests a return for the shopper. */
function RequestReturnDialog({ order, onClose, onDone, returnable }: OrderDialogProps & Pick<OrderReturns, 'returnable'>) {
  const lines = order.lines.flatMap((line) => {
    const available = returnable.find(({ lineId }) => lineId === line.id)?.quantity ?? 0
    return available > 0 ? [{ ...line, available }] : []
  })
  const units = useUnits(lines, () => '')
  const reason = useSignal('')
  const sendOnce = useIdempotentSend()
  async function requestReturn(): Promise<void> {
    const requestedLines = lines.map((line) => ({
      lineId: line.id,
      quantity: parseUnits(units.fieldOf(line).value, line.available),
      reason: reason.value.trim(),
    }))
    if (requestedLines.some(({ quantity }) => quantity === undefined)) throw new Error(t('quantityWrong'))
    const body = { lines: requestedLines.flatMap(({ quantity = 0, ...rest }) => (quantity > 0 ? [{ ...rest, quantity }] : [])) }
    if (body.lines.length === 0) throw new Error(t('parcelEmpty'))
    await sendOnce(body, (header) =>
      ok(api.POST('/v2/orders/{orderId}/returns', { params: { path: { orderId: order.id }, header }, body })),
    )
    notify(returnStatusName('REQUESTED'))
    await onDone()
  }
  return (
    <FormDialog title={t('askReturn')} onClose={onClose} wide>
      {lines.length === 0 ? (
        <p>{t('nothingReturnable')}</p>
      ) : (
        <Form onSubmit={requestReturn} submit={t('askReturn')} label={t('askReturn')} dirty={units.isDirty() || reason.value !== ''}>
          <ul class="selected-lines">
            {lines.map((line) => (
              <li key={line.id}>
                <OrderLineName line={line} />
                <NumberField label={common('quantity')} hint={t('returnUpTo', { n: number(line.available) })} bind={units.fieldOf(line)} />
              </li>
            ))}
          </ul>
          <TextField label={common('reason')} bind={reason} max={500} required />
        </Form>
      )}
    </FormDialog>
  )
}

/** Approves, rejects or receives a return. */
function ReturnStepDialog({ order, onClose, onDone, orderReturn, step }: OrderDialogProps & { orderReturn: Return; step: Step }) {
  const reason = useSignal('')
  const restock = useSignal(true)
  const refund = useSignal(true)
  const preview = previewRefund(order, { kind: 'lines', lines: orderReturn.lines.map((line) => ({ ...line, restock: false })) })
  const amount = money({ amount: preview.total, currency: order.currency })
  const sendOnce = useIdempotentSend()
  async function decide(): Promise<void> {
    const path = { orderId: order.id, returnId: orderReturn.id }
    const rejection = reason.value.trim() === '' ? {} : { reason: reason.value.trim() }
    const receipt = { restock: restock.value, refund: refund.value }
    const { status } = await sendOnce([step, rejection, receipt], (header) => {
      const params = { path, header }
      if (step === 'approve') return ok(api.POST('/v2/orders/{orderId}/returns/{returnId}/approve', { params, body: {} }))
      if (step === 'reject') return ok(api.POST('/v2/orders/{orderId}/returns/{returnId}/reject', { params, body: rejection }))
      return ok(api.POST('/v2/orders/{orderId}/returns/{returnId}/receive', { params, body: receipt }))
    })
    notify(returnStatusName(status))
    await onDone()
  }
  return (
    <FormDialog title={t(`returnTitle.${step}`)} onClose={onClose}>
      <Form
        onSubmit={decide}
        submit={t(`return.${step}`)}
        label={t(`return.${step}`)}
        danger={step === 'reject'}
        dirty={reason.value !== ''}
      >
        <p>{t('returnMailed')}</p>
        {step === 'reject' && <TextField label={common('reason')} hint={t('returnReasonHint')} bind={reason} max={500} />}
        {step === 'receive' && (
          <>
            <CheckField bind={restock} label={t('restock')} hint={t('restockHint')} />
            <CheckField
              bind={refund}
              label={t('refundReturn')}
              hint={preview.problem ? t('refundReturnHint') : t('refundReturnAmount', { amount })}
            />
          </>
        )}
      </Form>
    </FormDialog>
  )
}
