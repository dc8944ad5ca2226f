import { useSignal } from '@preact/signals'
import { api, ok } from '../../lib/api.ts'
import { usd } from '../../lib/format.ts'
import { useIntention } from '../../lib/intention.ts'
import { outcomeName } from '../../lib/lending.ts'
import { notify } from '../../lib/notices.ts'
import { short } from '../../lib/short.ts'
import { Cancel } from '../../ui/cancel.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { AreaField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import type { Repayment } from './repayment.domain.ts'
import { w } from './words.ts'

/** Takes a repayment back, by an entry of its own: it counts no more. */
export function ReverseDialog({ of, onClose, onDone }: { of: Repayment; onClose: () => void; onDone: () => void }) {
  const reason = useSignal('')
  const once = useIntention()
  async function reverse(): Promise<void> {
    const body = { reason: reason.value.trim() }
    await once(body, (key) =>
      ok(api.POST('/admin/repayments/{id}/reverse', { params: { path: { id: of.id }, header: { 'idempotency-key': key } }, body })),
    )
    notify(w('isReversed'))
    onDone()
  }
  return (
    <FormDialog title={w('reverseOf', { loan: short(of.loanRef) })} onClose={onClose}>
      <p>
        {outcomeName(of.outcome)}, {usd(of.amountUsd)}
      </p>
      <p>{w('reverseWhat')}</p>
      <Form onSubmit={reverse} submit={w('reverse')} danger dirty={reason.value !== ''} label={w('reverse')} actions={<Cancel />}>
        <AreaField label={w('reason')} bind={reason} max={2000} required />
      </Form>
    </FormDialog>
  )
}
