import { useSignal } from '@preact/signals'
import { api, ifMatch, readVersioned, type Schema } from '../../lib/api/api.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { usd } from '../../lib/format/format.ts'
import { purposeName } from '../../lib/format/lending-names.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { common, invalidAmountText } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { type LoanTexts, loanChange, textsOfLoan, type VersionedApplication } from './application.domain.ts'
import { t } from './i18n.ts'

type Application = Schema<'LendingApplication'>

const purposes = ['INVENTORY', 'WORKING_CAPITAL', 'EXPANSION', 'EQUIPMENT'] as const
const partners = ['HARBOR_INVENTORY', 'MERIDIAN_REVENUE', 'KEYSTONE_SECURED', 'CARAVAN_TRADE'] as const
/** Limits of the specification. */
const amountMin = 1_000
const amountMax = 10_000_000

const loanRows = (values: LoanTexts): readonly (readonly [string, string])[] => [
  [common('amount'), values.amount],
  [t('term'), values.term],
  [t('purpose'), values.purpose && purposeName(values.purpose)],
  [t('partner'), values.partner1 ? t(`partner.${values.partner1}`) : values.partner2],
]

/** The requested loan of a draft. */
export function LoanForm({ current, resource }: { current: VersionedApplication; resource: Resource<VersionedApplication> }) {
  const { data } = current
  const path = { id: data.id }
  const editor = useRecordEditor(resource, current, textsOfLoan)
  const wrongField = useSignal<'amount' | 'term' | undefined>(undefined)
  async function save(): Promise<void> {
    const input = editor.values()
    const change = loanChange(textsOfLoan(editor.base().data), input)
    wrongField.value = change.error
    if (change.error) throw new Error(change.error === 'term' ? `${t('term')}: ${t('notTerm')}` : invalidAmountText('USD'))
    const saved = await editor.save({
      save: (version) =>
        readVersioned<Application>(
          api.PATCH('/lending-application/{id}', { params: { path, header: ifMatch(version) }, body: change.body }),
        ),
      differences: (theirs) => diffRows(loanRows(input), loanRows(textsOfLoan(theirs))),
    })
    if (saved) notify(common('saved'))
  }
  const { fields } = editor
  return (
    <Section title={t('asked')}>
      <Form onSubmit={save} dirty={editor.isDirty} label={t('asked')} isEditableWhileSending>
        <div class="fields">
          <TextField
            bind={fields.amount}
            label={`${common('amount')} (USD)`}
            hint={t('amountHint', { min: usd(amountMin), max: usd(amountMax) })}
            inputMode="decimal"
            error={wrongField.value === 'amount' ? invalidAmountText('USD') : undefined}
            code
          />
          <NumberField
            bind={fields.term}
            label={t('term')}
            hint={t('termHint')}
            error={wrongField.value === 'term' ? t('notTerm') : undefined}
          />
          <SelectField
            bind={fields.purpose}
            label={t('purpose')}
            options={[['', t('any')], ...purposes.map((purpose) => [purpose, purposeName(purpose)] as const)]}
          />
          {data.tier === 'TIER_1_REFERRAL' ? (
            <SelectField
              bind={fields.partner1}
              label={t('partner')}
              hint={t('partnerHint')}
              options={[['', t('any')], ...partners.map((partner) => [partner, t(`partner.${partner}`)] as const)]}
            />
          ) : (
            <TextField bind={fields.partner2} label={t('partner')} hint={t('partner2Hint')} max={200} />
          )}
        </div>
      </Form>
    </Section>
  )
}
