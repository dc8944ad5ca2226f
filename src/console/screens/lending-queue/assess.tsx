/** Figures of a business, and what souk's rules would lend on them. */
import { type Signal, useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { usd } from '../../lib/format/format.ts'
import { cohortName, cohortOptions, l } from '../../lib/format/lending-names.ts'
import { type Draft, textsOf } from '../../lib/forms/draft.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { notAmount } from '../../lib/i18n/common.ts'
import { useDirty } from '../../lib/session/use-unsaved-changes.ts'
import { Facts } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { MoneyField, SelectField, TagsField } from '../../ui/fields.tsx'
import { w } from './i18n.ts'
import { type Assessment, assessmentOf, type Figures, risks } from './review.domain.ts'

type Envelope = Schema<'CreditEnvelope'>

export const noFigures = (cohort: Figures['cohort']): Figures => ({ cohort, revenue: '', collateral: '', risk: 'MEDIUM', flags: [] })

/** @param fixed of an application, whose kind of business is what it is */
export function AssessFields({ of, fixed }: { of: Draft<Figures>; fixed?: boolean }) {
  const wrong = (bind: Signal<string>, name: 'revenue' | 'collateral') => {
    const read = assessmentOf(textsOf(of))
    return bind.value !== '' && 'wrong' in read && read.wrong.includes(name) ? notAmount('USD') : undefined
  }
  return (
    <div class="fields">
      {!fixed && <SelectField label={l('cohort')} bind={of.cohort} options={cohortOptions()} />}
      <MoneyField label={w('revenue')} currency="USD" bind={of.revenue} error={wrong(of.revenue, 'revenue')} required />
      <MoneyField label={w('collateral')} currency="USD" bind={of.collateral} error={wrong(of.collateral, 'collateral')} required />
      <SelectField label={w('risk')} bind={of.risk} options={risks.map((one) => [one, w(`risk.${one}`)])} />
      <TagsField label={w('flags')} hint={w('flagsHint')} bind={of.flags} max={50} />
    </div>
  )
}

/** What the rules say of the figures, asked for by a button; what was asked before is gone once a figure changes. */
export function Judging({ of }: { of: Draft<Figures> }) {
  const answer = useSignal<{ of: string; envelope: Envelope } | undefined>(undefined)
  const read = assessmentOf(textsOf(of))
  const key = JSON.stringify(read)
  async function judge(): Promise<void> {
    if ('wrong' in read) throw new Error(w('figuresMissing'))
    answer.value = { of: key, envelope: await ok(api.POST('/admin/lending-application/credit-tier/preview', { body: read.body })) }
  }
  return (
    <>
      <div>
        <Button onPress={judge}>{w('judge')}</Button>
      </div>
      <div role="status">{answer.value?.of === key && <EnvelopeFacts of={answer.value.envelope} />}</div>
    </>
  )
}

export const EnvelopeFacts = ({ of }: { of: Envelope }) => (
  <Facts
    of={[
      [w('creditTier'), of.tier],
      [w('ceiling'), usd(of.ceilingUsd)],
      [w('decidedBy'), w(`by.${of.reason}`)],
    ]}
  />
)

export const AssessmentFacts = ({ of }: { of: Assessment }) => (
  <Facts
    of={[
      [l('cohort'), cohortName(of.cohort)],
      [w('revenue'), usd(of.monthlyAvgRevenueUsd)],
      [w('collateral'), usd(of.verifiedCollateralUsd)],
      [w('risk'), w(`risk.${of.operationalRisk}`)],
      [w('flags'), (of.hardComplianceFlags ?? []).length > 0 && <bdi key="flags">{of.hardComplianceFlags?.join(', ')}</bdi>],
    ]}
  />
)

/** The rules by themselves: no application is looked at, nothing is kept. */
export function AssessDialog({ onClose }: { onClose: () => void }) {
  const draft = useDraft('assess', noFigures('UAE_MAINLAND'))
  useDirty(draft.dirty)
  return (
    <FormDialog title={w('assess')} onClose={onClose}>
      <p class="hint">{w('assessHint')}</p>
      <AssessFields of={draft.of} />
      <Judging of={draft.of} />
    </FormDialog>
  )
}
