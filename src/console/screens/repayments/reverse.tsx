import { useSignal } from '@preact/signals'
import { api, ok } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { usd } from '../../lib/format/format.ts'
import { outcomeName } from '../../lib/format/lending-names.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { CloseButton } from '../../ui/close-button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextAreaField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { t } from './i18n.ts'
import type { Repayment } from './repayment.domain.ts'

/** Reverses a repayment by a new entry. */
export function ReverseDialog({ repayment, onClose, onDone }: { repayment: Repayment; onClose: () => void; onDone: () => void }) {
  const reason = useSignal('')
  const sendOnce = useIdempotentSend()
  async function reverse(): Promise<void> {
    const body = { reason: reason.value.trim() }
    await sendOnce(body, (header) =>
      ok(api.POST('/admin/repayments/{id}/reverse', { params: { path: { id: repayment.id }, header }, body })),
    )
    notify(t('isReversed'))
    onDone()
  }
  return (
    <FormDialog title={t('reverseOf', { loan: truncate(repayment.loanRef) })} onClose={onClose}>
      <p>
        {outcomeName(repayment.outcome)}, {usd(repayment.amountUsd)}
      </p>
      <p>{t('reverseWhat')}</p>
      <Form onSubmit={reverse} submit={t('reverse')} danger dirty={reason.value !== ''} label={t('reverse')} actions={<CloseButton />}>
        <TextAreaField label={common('reason')} bind={reason} max={2000} required />
      </Form>
    </FormDialog>
  )
}
