import { useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { money, number } from '../../lib/format/format.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { mayManage } from '../../lib/session/current-shop.ts'
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

type Props = { of: Order; onChange: () => Promise<void>; query: Query }

/** Returns of an order of which something was sent, for roles that may decide them. */
export const Returns = (props: Props) => (mayManage.value && (props.of.fulfilments ?? []).length > 0 ? <ReturnsSection {...props} /> : null)

function ReturnsSection({ of, onChange, query }: Props) {
  const path = { orderId: of.id }
  const returns = useResource(of.id, (signal) => ok(api.GET('/v2/orders/{orderId}/returns', { params: { path }, signal })))
  useLiveReload(['order.*'], returns.reload, ({ data }) => Object.values(data).includes(of.id))
  const { do: doing, return: returnId } = query.of
  const close = () => query.set({ do: undefined, return: undefined }, { replace: true })
  async function finish(): Promise<void> {
    close()
    await Promise.all([returns.reload(), onChange()])
  }
  const dialog = { of, onClose: close, onDone: finish }
  const step = steps.find((one) => one === doing)
  return (
    <Section title={common('returns')} actions={<ButtonLink href={query.href({ do: 'return' })} text={t('askReturn')} />}>
      <ResourceView of={returns}>
        {({ data, returnable }) => {
          const chosen = data.find(({ id }) => id === returnId)
          return (
            <>
              {data.length === 0 && <p class="faint">{t('noReturns')}</p>}
              <ol class="plain">
                {data.map((one) => (
                  <ReturnItem key={one.id} of={one} order={of} query={query} />
                ))}
              </ol>
              {doing === 'return' && <AskDialog {...dialog} returnable={returnable} />}
              {step && chosen && stepsOf(chosen).includes(step) && <StepDialog {...dialog} chosen={chosen} step={step} />}
            </>
          )
        }}
      </ResourceView>
    </Section>
  )
}

const ReturnItem = ({ of, order, query }: { of: Return; order: Order; query: Query }) => (
  <li class="parcel">
    <header>
      <ReturnBadge of={of.status} />
      <Moment at={of.createdAt} />
      {stepsOf(of).map((step) => (
        <ButtonLink key={step} kind="quiet" href={query.href({ do: step, return: of.id })} text={t(`return.${step}`)} />
      ))}
    </header>
    <ul>
      {of.lines.map(({ lineId, quantity, reason }) => (
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
    {of.rejectionReason && (
      <p class="faint">
        <bdi>{of.rejectionReason}</bdi>
      </p>
    )}
    {of.restocked && <p class="faint">{t('restocked')}</p>}
    {of.refund && (
      <p>
        <StatusBadge of={of.refund.status} text={`${t('refund')}: ${stateName(of.refund.status)}`} />
      </p>
    )}
  </li>
)

/** Requests a return for the shopper. */
function AskDialog({ of, onClose, onDone, returnable }: OrderDialogProps & Pick<OrderReturns, 'returnable'>) {
  const lines = of.lines.flatMap((line) => {
    const left = returnable.find(({ lineId }) => lineId === line.id)?.quantity ?? 0
    return left > 0 ? [{ ...line, left }] : []
  })
  const units = useUnits(lines, () => '')
  const reason = useSignal('')
  const sendOnce = useIdempotentSend()
  async function ask(): Promise<void> {
    const requestedLines = lines.map((line) => ({
      lineId: line.id,
      quantity: parseUnits(units.of(line).value, line.left),
      reason: reason.value.trim(),
    }))
    if (requestedLines.some(({ quantity }) => quantity === undefined)) throw new Error(t('quantityWrong'))
    const body = { lines: requestedLines.flatMap(({ quantity = 0, ...rest }) => (quantity > 0 ? [{ ...rest, quantity }] : [])) }
    if (body.lines.length === 0) throw new Error(t('parcelEmpty'))
    await sendOnce(body, (header) => ok(api.POST('/v2/orders/{orderId}/returns', { params: { path: { orderId: of.id }, header }, body })))
    notify(returnStatusName('REQUESTED'))
    await onDone()
  }
  return (
    <FormDialog title={t('askReturn')} onClose={onClose} wide>
      {lines.length === 0 ? (
        <p>{t('nothingReturnable')}</p>
      ) : (
        <Form onSubmit={ask} submit={t('askReturn')} label={t('askReturn')} dirty={units.isDirty() || reason.value !== ''}>
          <ul class="picked-lines">
            {lines.map((line) => (
              <li key={line.id}>
                <OrderLineName of={line} />
                <NumberField label={common('quantity')} hint={t('returnUpTo', { n: number(line.left) })} bind={units.of(line)} />
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
function StepDialog({ of, onClose, onDone, chosen, step }: OrderDialogProps & { chosen: Return; step: Step }) {
  const reason = useSignal('')
  const restock = useSignal(true)
  const refund = useSignal(true)
  const preview = previewRefund(of, { way: 'lines', lines: chosen.lines.map((line) => ({ ...line, restock: false })) })
  const amount = money({ amount: preview.total, currency: of.currency })
  const sendOnce = useIdempotentSend()
  async function decide(): Promise<void> {
    const path = { orderId: of.id, returnId: chosen.id }
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
    <FormDialog title={t(`return.${step}`)} onClose={onClose}>
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
