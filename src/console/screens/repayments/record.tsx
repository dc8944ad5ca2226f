import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { api, ok } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { outcomeName, outcomes } from '../../lib/format/lending-names.ts'
import { daysAgo } from '../../lib/format/server-clock.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common, invalidAmountText } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { CloseButton } from '../../ui/close-button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { MoneyField, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { PickField } from '../../ui/picker.tsx'
import { t } from './i18n.ts'
import { findMerchants, lenderFinder } from './record-search.ts'
import { blankRepayment, bodyOf, type FieldErrors } from './repayment.domain.ts'

/**
 * Records an instalment.
 * @param merchantId preselected merchant
 */
export function RecordDialog({
  merchantId,
  onClose,
  onDone,
}: {
  merchantId?: string | undefined
  onClose: () => void
  onDone: () => void
}) {
  const merchant = useSignal<readonly Choice[]>(merchantId ? [{ id: merchantId, text: merchantId }] : [])
  const lender = useSignal<readonly Choice[]>([])
  const findLenders = useMemo(lenderFinder, [])
  const draft = useDraft('repayment', blankRepayment)
  const errors = useSignal<FieldErrors>({})
  const sendOnce = useIdempotentSend()
  const { fields } = draft
  async function record(): Promise<void> {
    const result = bodyOf(draft.values(), { merchantId: merchant.value[0]?.id, lenderId: lender.value[0]?.id })
    errors.value = 'errors' in result ? result.errors : {}
    if ('errors' in result) throw new Error(t('look'))
    const { body } = result
    await sendOnce(body, (header) => ok(api.POST('/admin/repayments', { params: { header }, body })))
    notify(t('isRecorded'))
    onDone()
  }
  const errorOf = (name: keyof FieldErrors) => {
    const error = errors.value[name]
    return error === undefined ? undefined : error === 'amount' ? invalidAmountText('USD') : common('required')
  }
  return (
    <FormDialog title={t('record')} onClose={onClose} wide>
      <Note>{t('recordNote')}</Note>
      <Form
        onSubmit={record}
        submit={t('record')}
        dirty={draft.isDirty || lender.value.length > 0 || merchant.value[0]?.id !== (merchantId || undefined)}
        label={t('record')}
        actions={<CloseButton />}
      >
        <PickField
          label={common('merchant')}
          bind={merchant}
          max={1}
          find={findMerchants}
          hint={t('merchantHint')}
          error={errorOf('merchant')}
        />
        <PickField label={t('lender')} bind={lender} max={1} find={findLenders} error={errorOf('lender')} />
        <div class="fields">
          <TextField label={t('loanRef')} hint={t('loanRefHint')} bind={fields.loanRef} max={128} required error={errorOf('loanRef')} />
          <SelectField label={t('outcome')} bind={fields.outcome} options={outcomes.map((outcome) => [outcome, outcomeName(outcome)])} />
          <MoneyField label={common('amount')} currency="USD" bind={fields.amount} required error={errorOf('amount')} />
          <TextField
            label={t('due')}
            type="date"
            bind={fields.due}
            hint={t('notAfter', { day: daysAgo(0) })}
            required
            error={errorOf('due')}
          />
          <TextField label={t('settled')} type="date" bind={fields.settled} hint={t('settledHint')} error={errorOf('settled')} />
        </div>
      </Form>
    </FormDialog>
  )
}
