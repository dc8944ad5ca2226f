import { useSignal } from '@preact/signals'
import { api, ifMatch, readVersioned, type Schema } from '../../lib/api/api.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { usd } from '../../lib/format/format.ts'
import { purposeName } from '../../lib/format/lending-names.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { common, notAmount } from '../../lib/i18n/common.ts'
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

const loanRows = (of: LoanTexts): readonly (readonly [string, string])[] => [
  [common('amount'), of.amount],
  [t('term'), of.term],
  [t('purpose'), of.purpose && purposeName(of.purpose)],
  [t('partner'), of.partner1 ? t(`partner.${of.partner1}`) : of.partner2],
]

/** The requested loan of a draft. */
export function LoanForm({ current, resource }: { current: VersionedApplication; resource: Resource<VersionedApplication> }) {
  const { data } = current
  const path = { id: data.id }
  const editor = useRecordEditor(resource, current, textsOfLoan)
  const wrong = useSignal<'amount' | 'term' | undefined>(undefined)
  async function save(): Promise<void> {
    const typed = editor.now()
    const change = loanChange(textsOfLoan(editor.base().data), typed)
    wrong.value = change.wrong
    if (change.wrong) throw new Error(change.wrong === 'term' ? `${t('term')}: ${t('notTerm')}` : notAmount('USD'))
    const saved = await editor.save({
      save: (version) =>
        readVersioned<Application>(
          api.PATCH('/lending-application/{id}', { params: { path, header: ifMatch(version) }, body: change.body }),
        ),
      differences: (theirs) => diffRows(loanRows(typed), loanRows(textsOfLoan(theirs))),
    })
    if (saved) notify(common('saved'))
  }
  const { of } = editor
  return (
    <Section title={t('asked')}>
      <Form onSubmit={save} dirty={editor.dirty} label={t('asked')} keepsTyping>
        <div class="fields">
          <TextField
            bind={of.amount}
            label={`${common('amount')} (USD)`}
            hint={t('amountHint', { min: usd(amountMin), max: usd(amountMax) })}
            inputMode="decimal"
            error={wrong.value === 'amount' ? notAmount('USD') : undefined}
            code
          />
          <NumberField bind={of.term} label={t('term')} hint={t('termHint')} error={wrong.value === 'term' ? t('notTerm') : undefined} />
          <SelectField
            bind={of.purpose}
            label={t('purpose')}
            options={[['', t('any')], ...purposes.map((one) => [one, purposeName(one)] as const)]}
          />
          {data.tier === 'TIER_1_REFERRAL' ? (
            <SelectField
              bind={of.partner1}
              label={t('partner')}
              hint={t('partnerHint')}
              options={[['', t('any')], ...partners.map((one) => [one, t(`partner.${one}`)] as const)]}
            />
          ) : (
            <TextField bind={of.partner2} label={t('partner')} hint={t('partner2Hint')} max={200} />
          )}
        </div>
      </Form>
    </Section>
  )
}
