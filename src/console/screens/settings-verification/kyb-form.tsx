import { useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { cohortOptions } from '../../lib/format/lending-names.ts'
import { countryOptions } from '../../lib/format/locale-lists.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { shop } from '../../lib/session/current-shop.ts'
import { isOperator } from '../../lib/session/session.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { approveOwn } from './approve-own.ts'
import { t } from './i18n.ts'
import { kybBody, type OwnerTexts, parseShare, textsOfKyb } from './kyb.domain.ts'

type Record = Schema<'KybRecord'>

const ownersMax = 50

/**
 * Files a KYB record. An operator who owns the shop approves it in the same step.
 * @param rejected the rejected record to correct
 */
export function KybForm({ rejected, onFiled }: { rejected: Record | undefined; onFiled: (record: Record) => void }) {
  const initial = textsOfKyb(rejected, { country: shop.value?.country ?? '', title: shop.value?.title ?? '' })
  const draft = useDraft(rejected?.id ?? 'new', initial)
  const wasSubmitted = useSignal(false)
  const sendOnce = useIdempotentSend()
  async function submit(): Promise<void> {
    wasSubmitted.value = true
    const result = kybBody(draft.values())
    if ('error' in result) throw new Error(t(result.error === 'sum' ? 'tooMuch' : 'checkShares'))
    const { body } = result
    const record = await sendOnce(body, (header) => ok(api.POST('/kyb', { params: { header }, body })))
    draft.reset(draft.values())
    if (!isOperator.value) notify(t('sent'))
    // If the approval fails, the page shows why, and the record with a button to approve it.
    const showPending = (error: unknown): Record => {
      showError(error)
      return record
    }
    onFiled(isOperator.value ? await approveOwn(record).catch(showPending) : record)
  }
  const { owners } = draft.fields
  const setOwner = (index: number, change: Partial<OwnerTexts>) => {
    owners.value = owners.value.map((owner, ownerIndex) => (ownerIndex === index ? { ...owner, ...change } : owner))
  }
  return (
    <Section title={rejected ? t('fileAgain') : t('file')} hint={isOperator.value ? t('fileHintOwn') : t('fileHint')}>
      <Form onSubmit={submit} submit={isOperator.value ? t('sendOwn') : t('send')} dirty={draft.isDirty} label={t('file')}>
        <div class="fields">
          <TextField bind={draft.fields.legalName} label={common('legalName')} max={200} required />
          <TextField bind={draft.fields.registrationNumber} label={common('registrationNumber')} max={100} required code />
          <SelectField bind={draft.fields.country} label={common('address.countryCode')} options={countryOptions()} />
          <SelectField bind={draft.fields.cohort} label={common('businessKind')} options={cohortOptions()} />
        </div>
        <h3>{t('owners')}</h3>
        <p class="hint">{t('ownersHint')}</p>
        {owners.value.map((owner, index) => (
          <OwnerFields
            key={index}
            n={index + 1}
            owner={owner}
            wasSubmitted={wasSubmitted.value}
            onChange={(change) => setOwner(index, change)}
            {...(owners.value.length > 1 && {
              onRemove: () => (owners.value = owners.value.filter((_, ownerIndex) => ownerIndex !== index)),
            })}
          />
        ))}
        {owners.value.length < ownersMax && (
          <div class="row">
            <Button icon="plus" onPress={() => (owners.value = [...owners.value, { name: '', share: '' }])} text={t('addOwner')} />
          </div>
        )}
      </Form>
    </Section>
  )
}

type OwnerProps = {
  n: number
  owner: OwnerTexts
  wasSubmitted: boolean
  onChange: (change: Partial<OwnerTexts>) => void
  onRemove?: () => void
}

function OwnerFields({ n, owner: { name, share }, wasSubmitted, onChange, onRemove }: OwnerProps) {
  // Adapts a list entry to a field's signal.
  const bindText = (value: string, set: (text: string) => void) =>
    ({
      get value() {
        return value
      },
      set value(text: string) {
        set(text)
      },
    }) as Parameters<typeof TextField>[0]['bind']
  return (
    <div class="owner">
      <TextField bind={bindText(name, (text) => onChange({ name: text }))} label={t('ownerName', { n })} max={200} required />
      <TextField
        bind={bindText(share, (text) => onChange({ share: text }))}
        label={t('ownerShare', { n })}
        inputMode="decimal"
        error={wasSubmitted && parseShare(share) === undefined ? t('notShare') : undefined}
        required
        code
      />
      {onRemove && <Button kind="quiet" icon="close" label={t('removeOwner', { n })} onPress={onRemove} />}
    </div>
  )
}
