import { type Signal, useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { money, number, parseMoney } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import type { Money } from '../../lib/forms/amounts.ts'
import { common, invalidAmountText } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { confirm, FormDialog } from '../../ui/dialog.tsx'
import { CheckField, MoneyField, NumberField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { parseUnits } from './fulfilment.domain.ts'
import { t } from './i18n.ts'
import { OrderLineName } from './order-line-name.tsx'
import type { Order, OrderDialogProps, OrderLine } from './order-types.ts'
import {
  lineRefundAmount,
  previewRefund,
  type RefundKind,
  type RefundPreview,
  type RefundRequest,
  refundableTotalOf,
  refundBody,
  unitsLeft,
} from './refund.domain.ts'
import { TotalsList } from './totals.tsx'
import { useUnits } from './units.ts'

const refundKinds: readonly RefundKind[] = ['lines', 'amount', 'all']

type RefundBody = ReturnType<typeof refundBody> & { readonly refundableTotal: Money }

/** Refunds lines, an amount or everything, with a preview. */
export function RefundDialog({ order, onClose, onDone }: OrderDialogProps) {
  const kind = useSignal<RefundKind>('lines')
  const units = useUnits(order.lines, () => '')
  const restock = useSignal(true)
  const amount = useSignal('')
  const reason = useSignal('')
  const sendOnce = useIdempotentSend()
  const lines = order.lines.map((line) => {
    const left = unitsLeft(order, line)
    // A fully refunded line has no field, so its text does not count.
    return { line, left, n: left === 0 ? 0 : parseUnits(units.fieldOf(line).value, left) }
  })
  const request: RefundRequest =
    kind.value === 'all'
      ? { kind: 'all' }
      : kind.value === 'amount'
        ? amount.value.trim() === ''
          ? { kind: 'nothing' }
          : { kind: 'amount', amount: parseMoney(amount.value, order.currency) }
        : {
            kind: 'lines',
            lines: lines
              .filter(({ n }) => n !== 0)
              .map(({ line, n = Number.NaN }) => ({ lineId: line.id, quantity: n, restock: restock.value })),
          }
  const preview = previewRefund(order, request)
  // What was refundable when the dialog opened or last asked; a difference is another person's refund.
  const [expectedRefundable, setExpectedRefundable] = useState(() => refundableTotalOf(order))
  const isSending = useSignal(false)
  const refundedMeanwhile = isSending.value ? 0 : expectedRefundable - refundableTotalOf(order)
  /** Identifies the request for retries. */
  const requestContent = [kind.value, units.texts(), restock.value, amount.value, reason.value]
  const formatAmount = (amount: number) => money({ amount, currency: order.currency })
  /** Asks again after other refunds changed what is refundable. */
  async function confirmAgain(current: Order, expected: number, error: ApiError): Promise<boolean> {
    const refundedByOthers = expected - refundableTotalOf(current)
    const newPreview = previewRefund(current, request)
    if (newPreview.problem) throw new Error(problemText(newPreview, current))
    setExpectedRefundable(refundableTotalOf(current))
    // More is refundable because a refund failed: the total changes.
    if (refundedByOthers < 0 && newPreview.total !== preview.total) throw error
    if (refundedByOthers < 0) return true
    return confirm({
      title: t('refundedMeanwhile', { amount: formatAmount(refundedByOthers) }),
      body: <p>{t('refundBoth')}</p>,
      action: t('refundNow', { amount: formatAmount(newPreview.total) }),
      danger: true,
    })
  }
  /**
   * Sends a refund with the expected refundable total. Of two concurrent ones the API accepts one; the other asks
   * again.
   */
  async function send(takeSnapshot: () => RefundBody): Promise<Schema<'Refund'> | undefined> {
    const path = { orderId: order.id }
    let sentBody: RefundBody | undefined
    try {
      return await sendOnce(
        requestContent,
        (header, body) => {
          sentBody = body
          return ok(api.POST('/v2/orders/{orderId}/refunds', { params: { path, header }, body }))
        },
        takeSnapshot,
      )
    } catch (error) {
      // A running request under the same key answers with `Retry-After`.
      if (!(sentBody && error instanceof ApiError && error.status === 409 && error.retryAfter === null)) throw error
      const current = await ok(api.GET('/v2/orders/{orderId}', { params: { path } }))
      const { refundableTotal, ...rest } = sentBody
      if (refundableTotalOf(current) === refundableTotal.amount) throw error
      if (!(await confirmAgain(current, refundableTotal.amount, error))) return undefined
      return send(() => ({ ...rest, refundableTotal: { ...refundableTotal, amount: refundableTotalOf(current) } }))
    }
  }
  function readRequest(): RefundBody {
    if (request.kind === 'nothing' || preview.problem) throw new Error(problemText(preview, order))
    return { ...refundBody(request, reason.value), refundableTotal: { amount: expectedRefundable, currency: order.currency } }
  }
  async function refund(): Promise<void> {
    isSending.value = true
    try {
      // A retry sends the first body, although less can be refundable by then.
      const createdRefund = await send(readRequest)
      if (!createdRefund) return
      notify(t(`refund.${createdRefund.status}`, { amount: money(createdRefund.amount) }))
      await onDone()
    } finally {
      isSending.value = false
    }
  }
  return (
    <FormDialog title={t('refundTitle', { number: `#${order.number}` })} onClose={onClose} wide>
      <Form
        onSubmit={refund}
        danger
        submit={preview.problem ? t('refund') : t('refundNow', { amount: formatAmount(preview.total) })}
        label={t('refundTitle', { number: `#${order.number}` })}
        dirty={units.isDirty() || amount.value !== '' || reason.value !== ''}
      >
        <div role="alert">
          {refundedMeanwhile > 0 && <Note tone="warn">{t('refundedMeanwhile', { amount: formatAmount(refundedMeanwhile) })}</Note>}
        </div>
        <RefundKindField bind={kind} />
        {kind.value === 'lines' && (
          <>
            <ul class="selected-lines">
              {lines.map(({ line, left, n }) => (
                <RefundLine key={line.id} order={order} line={line} left={left} n={n} bind={units.fieldOf(line)} />
              ))}
            </ul>
            <CheckField bind={restock} label={t('restock')} hint={t('restockHint')} />
          </>
        )}
        {kind.value === 'amount' && (
          <MoneyField
            label={common('amount')}
            currency={order.currency}
            bind={amount}
            hint={t('amountHint', { amount: money({ amount: preview.remaining + preview.total, currency: order.currency }) })}
            error={amount.value !== '' && preview.problem === 'notAmount' ? invalidAmountText(order.currency) : undefined}
            required
          />
        )}
        <TextField label={common('reason')} hint={t('reasonHint')} bind={reason} max={500} />
        <RefundPreviewSection preview={preview} order={order} />
      </Form>
    </FormDialog>
  )
}

const RefundKindField = ({ bind }: { bind: Signal<RefundKind> }) => (
  <fieldset class="field choices">
    <legend>{t('refundWhat')}</legend>
    {refundKinds.map((refundKind) => (
      <label key={refundKind} class="choice">
        <input type="radio" name="way" checked={bind.value === refundKind} onChange={() => (bind.value = refundKind)} />
        <span>{t(`way.${refundKind}`)}</span>
      </label>
    ))}
  </fieldset>
)

function RefundLine({
  order,
  line,
  left,
  n,
  bind,
}: {
  order: Order
  line: OrderLine
  left: number
  n: number | undefined
  bind: Signal<string>
}) {
  const { currency } = order
  if (left === 0)
    return (
      <li>
        <OrderLineName line={line} />
        <span class="faint">{t('allRefunded')}</span>
      </li>
    )
  return (
    <li>
      <OrderLineName line={line} />
      <NumberField
        label={common('quantity')}
        rowLabel={line.title}
        bind={bind}
        error={n === undefined ? t('atMost', { n: left }) : undefined}
      />
      <span class="faint">
        {t('ofLeft', { n: number(left) })}
        {n !== undefined && n > 0 && ` · ${money({ amount: lineRefundAmount(order, line, n), currency })}`}
      </span>
    </li>
  )
}

function problemText({ problem }: RefundPreview, { currency }: Order): string {
  if (problem === 'notAmount') return invalidAmountText(currency)
  return problem === 'tooMuch' ? t('tooMuch') : t('nothingChosen')
}

/** Shows where the money goes and what remains. */
function RefundPreviewSection({ preview, order }: { preview: RefundPreview; order: Order }) {
  const { currency } = order
  const payment = order.payments.find(({ captured }) => captured.amount > 0)
  return (
    <section class="refund-preview" aria-label={t('preview')} aria-live="polite">
      {preview.problem ? (
        <p class="faint">{problemText(preview, order)}</p>
      ) : (
        <>
          <TotalsList
            rows={[
              ...(preview.captured > 0
                ? [
                    [
                      t('backBy', { processor: payment ? processorName(payment.processor) : '' }),
                      { amount: preview.captured, currency },
                    ] as const,
                  ]
                : []),
              ...(preview.onCards > 0 ? [[t('backToCards'), { amount: preview.onCards, currency }] as const] : []),
              [t('refundTotal'), { amount: preview.total, currency }, 'sum'],
              [t('restAfter'), { amount: preview.remaining, currency }],
            ]}
          />
          <Note>{t(payment?.method === 'manual' && preview.captured > 0 ? 'refundByHand' : 'refundNote')}</Note>
        </>
      )}
    </section>
  )
}
