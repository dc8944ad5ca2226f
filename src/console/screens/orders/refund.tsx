import { type Signal, useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok, Refused, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { money, number, parseMoney } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import type { Money } from '../../lib/forms/amounts.ts'
import { common, notAmount } from '../../lib/i18n/common.ts'
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
export function RefundDialog({ of, onClose, onDone }: OrderDialogProps) {
  const way = useSignal<RefundKind>('lines')
  const units = useUnits(of.lines, () => '')
  const restock = useSignal(true)
  const amount = useSignal('')
  const reason = useSignal('')
  const sendOnce = useIdempotentSend()
  const typed = of.lines.map((line) => {
    const left = unitsLeft(of, line)
    // A fully refunded line has no field, so its text does not count.
    return { line, left, n: left === 0 ? 0 : parseUnits(units.of(line).value, left) }
  })
  const request: RefundRequest =
    way.value === 'all'
      ? { way: 'all' }
      : way.value === 'amount'
        ? amount.value.trim() === ''
          ? { way: 'nothing' }
          : { way: 'amount', amount: parseMoney(amount.value, of.currency) }
        : {
            way: 'lines',
            lines: typed
              .filter(({ n }) => n !== 0)
              .map(({ line, n = Number.NaN }) => ({ lineId: line.id, quantity: n, restock: restock.value })),
          }
  const preview = previewRefund(of, request)
  // What was refundable when the dialog opened or last asked; a difference is another person's refund.
  const [left, setLeft] = useState(() => refundableTotalOf(of))
  const isSending = useSignal(false)
  const meanwhile = isSending.value ? 0 : left - refundableTotalOf(of)
  /** Identifies the request for retries. */
  const typedNow = [way.value, units.typed(), restock.value, amount.value, reason.value]
  const inOrder = (amount: number) => money({ amount, currency: of.currency })
  /** Asks again after other refunds changed what is refundable. */
  async function confirmAgain(now: Order, seen: number, refused: Refused): Promise<boolean> {
    const theirs = seen - refundableTotalOf(now)
    const then = previewRefund(now, request)
    if (then.problem) throw new Error(problemText(then, now))
    setLeft(refundableTotalOf(now))
    // More is refundable because a refund failed: the total changes.
    if (theirs < 0 && then.total !== preview.total) throw refused
    if (theirs < 0) return true
    return confirm({
      title: t('refundedMeanwhile', { amount: inOrder(theirs) }),
      body: <p>{t('refundBoth')}</p>,
      action: t('refundNow', { amount: inOrder(then.total) }),
      danger: true,
    })
  }
  /**
   * Sends a refund with the expected refundable total. Of two concurrent ones the API accepts one; the other asks
   * again.
   */
  async function send(see: () => RefundBody): Promise<Schema<'Refund'> | undefined> {
    const path = { orderId: of.id }
    let sent: RefundBody | undefined
    try {
      return await sendOnce(
        typedNow,
        (header, body) => {
          sent = body
          return ok(api.POST('/v2/orders/{orderId}/refunds', { params: { path, header }, body }))
        },
        see,
      )
    } catch (error) {
      // A running request under the same key answers with `Retry-After`.
      if (!(sent && error instanceof Refused && error.status === 409 && error.retryAfter === null)) throw error
      const now = await ok(api.GET('/v2/orders/{orderId}', { params: { path } }))
      const { refundableTotal, ...rest } = sent
      if (refundableTotalOf(now) === refundableTotal.amount) throw error
      if (!(await confirmAgain(now, refundableTotal.amount, error))) return undefined
      return send(() => ({ ...rest, refundableTotal: { ...refundableTotal, amount: refundableTotalOf(now) } }))
    }
  }
  function readRequest(): RefundBody {
    if (request.way === 'nothing' || preview.problem) throw new Error(problemText(preview, of))
    return { ...refundBody(request, reason.value), refundableTotal: { amount: left, currency: of.currency } }
  }
  async function refund(): Promise<void> {
    isSending.value = true
    try {
      // A retry sends the first body, although less can be refundable by then.
      const made = await send(readRequest)
      if (!made) return
      notify(t(`refund.${made.status}`, { amount: money(made.amount) }))
      await onDone()
    } finally {
      isSending.value = false
    }
  }
  return (
    <FormDialog title={t('refundTitle', { number: `#${of.number}` })} onClose={onClose} wide>
      <Form
        onSubmit={refund}
        danger
        submit={preview.problem ? t('refund') : t('refundNow', { amount: inOrder(preview.total) })}
        label={t('refundTitle', { number: `#${of.number}` })}
        dirty={units.isDirty() || amount.value !== '' || reason.value !== ''}
      >
        <div role="alert">{meanwhile > 0 && <Note tone="warn">{t('refundedMeanwhile', { amount: inOrder(meanwhile) })}</Note>}</div>
        <RefundKindField bind={way} />
        {way.value === 'lines' && (
          <>
            <ul class="picked-lines">
              {typed.map(({ line, left, n }) => (
                <RefundLine key={line.id} of={of} line={line} left={left} n={n} bind={units.of(line)} />
              ))}
            </ul>
            <CheckField bind={restock} label={t('restock')} hint={t('restockHint')} />
          </>
        )}
        {way.value === 'amount' && (
          <MoneyField
            label={common('amount')}
            currency={of.currency}
            bind={amount}
            hint={t('amountHint', { amount: money({ amount: preview.rest + preview.total, currency: of.currency }) })}
            error={amount.value !== '' && preview.problem === 'notAmount' ? notAmount(of.currency) : undefined}
            required
          />
        )}
        <TextField label={common('reason')} hint={t('reasonHint')} bind={reason} max={500} />
        <RefundPreviewSection of={preview} order={of} />
      </Form>
    </FormDialog>
  )
}

const RefundKindField = ({ bind }: { bind: Signal<RefundKind> }) => (
  <fieldset class="field choices">
    <legend>{t('refundWhat')}</legend>
    {refundKinds.map((one) => (
      <label key={one} class="choice">
        <input type="radio" name="way" checked={bind.value === one} onChange={() => (bind.value = one)} />
        <span>{t(`way.${one}`)}</span>
      </label>
    ))}
  </fieldset>
)

function RefundLine({
  of,
  line,
  left,
  n,
  bind,
}: {
  of: Order
  line: OrderLine
  left: number
  n: number | undefined
  bind: Signal<string>
}) {
  const { currency } = of
  if (left === 0)
    return (
      <li>
        <OrderLineName of={line} />
        <span class="faint">{t('allRefunded')}</span>
      </li>
    )
  return (
    <li>
      <OrderLineName of={line} />
      <NumberField label={common('quantity')} of={line.title} bind={bind} error={n === undefined ? t('atMost', { n: left }) : undefined} />
      <span class="faint">
        {t('ofLeft', { n: number(left) })}
        {n !== undefined && n > 0 && ` · ${money({ amount: lineRefundAmount(of, line, n), currency })}`}
      </span>
    </li>
  )
}

function problemText({ problem }: RefundPreview, { currency }: Order): string {
  if (problem === 'notAmount') return notAmount(currency)
  return problem === 'tooMuch' ? t('tooMuch') : t('nothingChosen')
}

/** Shows where the money goes and what remains. */
function RefundPreviewSection({ of, order }: { of: RefundPreview; order: Order }) {
  const { currency } = order
  const by = order.payments.find(({ captured }) => captured.amount > 0)
  return (
    <section class="foretold" aria-label={t('preview')} aria-live="polite">
      {of.problem ? (
        <p class="faint">{problemText(of, order)}</p>
      ) : (
        <>
          <TotalsList
            of={[
              ...(of.captured > 0
                ? [[t('backBy', { processor: by ? processorName(by.processor) : '' }), { amount: of.captured, currency }] as const]
                : []),
              ...(of.onCards > 0 ? [[t('backToCards'), { amount: of.onCards, currency }] as const] : []),
              [t('refundTotal'), { amount: of.total, currency }, 'sum'],
              [t('restAfter'), { amount: of.rest, currency }],
            ]}
          />
          <Note>{t(by?.method === 'manual' && of.captured > 0 ? 'refundByHand' : 'refundNote')}</Note>
        </>
      )}
    </section>
  )
}
