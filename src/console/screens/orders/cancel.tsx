import { useSignal } from '@preact/signals'
import { api, ok } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { money } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { t } from './i18n.ts'
import type { OrderDialogProps } from './order-types.ts'
import { isCancellable, refundableAmounts } from './refund.domain.ts'

/** Cancels an order. The dialog is the confirmation, because it is irreversible. */
export function CancelDialog({ order, onClose, onDone }: OrderDialogProps) {
  const reason = useSignal('')
  const sendOnce = useIdempotentSend()
  const refundable = refundableAmounts(order)
  const amount = { amount: refundable.captured + refundable.onCards, currency: order.currency }
  async function cancel(): Promise<void> {
    const body = reason.value.trim() === '' ? {} : { reason: reason.value.trim() }
    const cancelledOrder = await sendOnce(body, (header) =>
      ok(api.POST('/v2/orders/{orderId}/cancel', { params: { path: { orderId: order.id }, header }, body })),
    )
    notify(cancelledOrder.status === 'CANCELLED' ? t('cancelled') : t('cancelling'))
    await onDone()
  }
  return (
    <FormDialog title={t('cancelTitle', { number: `#${order.number}` })} onClose={onClose}>
      {isCancellable(order) ? (
        <p>{order.status === 'PENDING_PAYMENT' ? t('cancelUnpaid') : t('cancelPaid', { amount: money(amount) })}</p>
      ) : (
        <Note tone="warn">{t('notCancellable')}</Note>
      )}
      <Form onSubmit={cancel} submit={t('cancel')} danger label={t('cancel')} dirty={reason.value !== ''}>
        <TextField label={common('reason')} hint={t('reasonHint')} bind={reason} max={500} />
      </Form>
    </FormDialog>
  )
}
