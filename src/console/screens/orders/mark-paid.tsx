import { useSignal } from '@preact/signals'
import { api, ok } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { money } from '../../lib/format/format.ts'
import { notify } from '../../lib/live/toasts.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { t } from './i18n.ts'
import type { OrderDialogProps } from './order-types.ts'

/** Marks an order as paid outside souk. The dialog is the confirmation, because it is irreversible. */
export function MarkPaidDialog({ order, onClose, onDone }: OrderDialogProps) {
  const reference = useSignal('')
  const sendOnce = useIdempotentSend()
  async function markPaid(): Promise<void> {
    const input = reference.value.trim()
    const body = input === '' ? {} : { reference: input }
    await sendOnce(body, (header) =>
      ok(api.POST('/v2/orders/{orderId}/mark-paid', { params: { path: { orderId: order.id }, header }, body })),
    )
    notify(t('settled'))
    await onDone()
  }
  return (
    <FormDialog title={t('markPaidTitle', { number: `#${order.number}` })} onClose={onClose}>
      <p>{t('markPaidText', { amount: money(order.amountDue) })}</p>
      <Form onSubmit={markPaid} submit={t('settle')} label={t('markPaidTitle', { number: `#${order.number}` })} dirty>
        <TextField label={t('settleReference')} hint={t('settleHint')} bind={reference} max={200} />
      </Form>
    </FormDialog>
  )
}
