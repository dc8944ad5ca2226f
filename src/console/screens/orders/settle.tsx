import { useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { money } from '../../lib/format/format.ts'
import { notify } from '../../lib/live/toasts.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { t } from './i18n.ts'

/** Marks a refund as paid by hand. The dialog is the confirmation, because it is irreversible. */
export function SettleDialog({ refund, onClose, onDone }: { refund: Schema<'Refund'>; onClose: () => void; onDone: () => Promise<void> }) {
  const reference = useSignal('')
  const sendOnce = useIdempotentSend()
  async function settle(): Promise<void> {
    const body = { reference: reference.value.trim() }
    const path = { orderId: refund.orderId, refundId: refund.id }
    await sendOnce(body, (header) => ok(api.POST('/v2/orders/{orderId}/refunds/{refundId}/settled', { params: { path, header }, body })))
    notify(t('settled'))
    await onDone()
  }
  return (
    <FormDialog title={t('settleTitle')} onClose={onClose}>
      <p>{t('settleText', { amount: money(refund.amount) })}</p>
      <Form onSubmit={settle} submit={t('settle')} label={t('settleTitle')} dirty={reference.value !== ''}>
        <TextField label={t('settleReference')} hint={t('settleHint')} bind={reference} max={200} required />
      </Form>
    </FormDialog>
  )
}
