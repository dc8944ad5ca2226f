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
  const begun = textsOfKyb(rejected, { country: shop.value?.country ?? '', title: shop.value?.title ?? '' })
  const draft = useDraft(rejected?.id ?? 'new', begun)
  const tried = useSignal(false)
  const sendOnce = useIdempotentSend()
  async function file(): Promise<void> {
    tried.value = true
    const typed = kybBody(draft.now())
    if ('wrong' in typed) throw new Error(t(typed.wrong === 'sum' ? 'tooMuch' : 'checkShares'))
    const { body } = typed
    const record = await sendOnce(body, (header) => ok(api.POST('/kyb', { params: { header }, body })))
    draft.reset(draft.now())
    if (!isOperator.value) notify(t('sent'))
    // If the approval fails, the page shows why, and the record with a button to approve it.
    const asPending = (error: unknown): Record => {
      showError(error)
      return record
    }
    onFiled(isOperator.value ? await approveOwn(record).catch(asPending) : record)
  }
  const { owners } = draft.of
  const put = (at: number, change: Partial<OwnerTexts>) => {
    owners.value = owners.value.map((owner, place) => (place === at ? { ...owner, ...change } : owner))
  }
  return (
    <Section title={rejected ? t('fileAgain') : t('file')} hint={isOperator.value ? t('fileHintOwn') : t('fileHint')}>
      <Form onSubmit={file} submit={isOperator.value ? t('sendOwn') : t('send')} dirty={draft.dirty} label={t('file')}>
        <div class="fields">
          <TextField bind={draft.of.legalName} label={common('legalName')} max={200} required />
          <TextField bind={draft.of.registrationNumber} label={common('registrationNumber')} max={100} required code />
          <SelectField bind={draft.of.country} label={common('address.countryCode')} options={countryOptions()} />
          <SelectField bind={draft.of.cohort} label={common('businessKind')} options={cohortOptions()} />
        </div>
        <h3>{t('owners')}</h3>
        <p class="hint">{t('ownersHint')}</p>
        {owners.value.map((owner, at) => (
          <OwnerFields
            key={at}
            n={at + 1}
            owner={owner}
            isTried={tried.value}
            onChange={(change) => put(at, change)}
            {...(owners.value.length > 1 && {
              onRemove: () => (owners.value = owners.value.filter((_, place) => place !== at)),
            })}
          />
        ))}
        {owners.value.length < ownersMax && (
          <Button icon="plus" onPress={() => (owners.value = [...owners.value, { name: '', share: '' }])} text={t('addOwner')} />
        )}
      </Form>
    </Section>
  )
}

type OwnerProps = { n: number; owner: OwnerTexts; isTried: boolean; onChange: (change: Partial<OwnerTexts>) => void; onRemove?: () => void }

function OwnerFields({ n, owner: { name, share }, isTried, onChange, onRemove }: OwnerProps) {
  // Adapts a list entry to a field's signal.
  const bound = (value: string, set: (text: string) => void) =>
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
      <TextField bind={bound(name, (text) => onChange({ name: text }))} label={t('ownerName', { n })} max={200} required />
      <TextField
        bind={bound(share, (text) => onChange({ share: text }))}
        label={t('ownerShare', { n })}
        inputMode="decimal"
        error={isTried && parseShare(share) === undefined ? t('notShare') : undefined}
        required
        code
      />
      {onRemove && <Button kind="quiet" icon="close" label={t('removeOwner', { n })} onPress={onRemove} />}
    </div>
  )
}
