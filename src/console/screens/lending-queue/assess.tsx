/** Credit figures of a business and the resulting limit. */
import { type Signal, useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { usd } from '../../lib/format/format.ts'
import { cohortName, cohortOptions, lendingText } from '../../lib/format/lending-names.ts'
import { type Draft, textsOf } from '../../lib/forms/draft.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { notAmount } from '../../lib/i18n/common.ts'
import { useDirty } from '../../lib/session/use-unsaved-changes.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { MoneyField, SelectField, TagsField } from '../../ui/fields.tsx'
import { t } from './i18n.ts'
import { type Assessment, type CreditFigures, parseAssessment, risks } from './review.domain.ts'

type Envelope = Schema<'CreditEnvelope'>

export const blankFigures = (cohort: CreditFigures['cohort']): CreditFigures => ({
  cohort,
  revenue: '',
  collateral: '',
  risk: 'MEDIUM',
  flags: [],
})

/** @param fixed hides the cohort, which an application sets */
export function AssessFields({ of, fixed }: { of: Draft<CreditFigures>; fixed?: boolean }) {
  const wrong = (bind: Signal<string>, name: 'revenue' | 'collateral') => {
    const read = parseAssessment(textsOf(of))
    return bind.value !== '' && 'wrong' in read && read.wrong.includes(name) ? notAmount('USD') : undefined
  }
  return (
    <div class="fields">
      {!fixed && <SelectField label={lendingText('cohort')} bind={of.cohort} options={cohortOptions()} />}
      <MoneyField label={t('revenue')} currency="USD" bind={of.revenue} error={wrong(of.revenue, 'revenue')} required />
      <MoneyField label={t('collateral')} currency="USD" bind={of.collateral} error={wrong(of.collateral, 'collateral')} required />
      <SelectField label={t('risk')} bind={of.risk} options={risks.map((one) => [one, t(`risk.${one}`)])} />
      <TagsField label={t('flags')} hint={t('flagsHint')} bind={of.flags} max={50} />
    </div>
  )
}

/** Computes the limit on request; a changed figure removes the result. */
export function EnvelopePreview({ of }: { of: Draft<CreditFigures> }) {
  const answer = useSignal<{ of: string; envelope: Envelope } | undefined>(undefined)
  const read = parseAssessment(textsOf(of))
  const key = JSON.stringify(read)
  async function assess(): Promise<void> {
    if ('wrong' in read) throw new Error(t('figuresMissing'))
    answer.value = { of: key, envelope: await ok(api.POST('/admin/lending-application/credit-tier/preview', { body: read.body })) }
  }
  return (
    <>
      <div>
        <Button onPress={assess} text={t('judge')} />
      </div>
      <div role="status">{answer.value?.of === key && <EnvelopeFacts of={answer.value.envelope} />}</div>
    </>
  )
}

export const EnvelopeFacts = ({ of }: { of: Envelope }) => (
  <FactList
    of={[
      [t('creditTier'), of.tier],
      [t('ceiling'), usd(of.ceilingUsd)],
      [t('decidedBy'), t(`by.${of.reason}`)],
    ]}
  />
)

export const AssessmentFacts = ({ of }: { of: Assessment }) => (
  <FactList
    of={[
      [lendingText('cohort'), cohortName(of.cohort)],
      [t('revenue'), usd(of.monthlyAvgRevenueUsd)],
      [t('collateral'), usd(of.verifiedCollateralUsd)],
      [t('risk'), t(`risk.${of.operationalRisk}`)],
      [t('flags'), (of.hardComplianceFlags ?? []).length > 0 && <bdi key="flags">{of.hardComplianceFlags?.join(', ')}</bdi>],
    ]}
  />
)

/** Computes a limit without an application; stores nothing. */
export function AssessDialog({ onClose }: { onClose: () => void }) {
  const draft = useDraft('assess', blankFigures('UAE_MAINLAND'))
  useDirty(draft.dirty)
  return (
    <FormDialog title={t('assess')} onClose={onClose}>
      <p class="hint">{t('assessHint')}</p>
      <AssessFields of={draft.of} />
      <EnvelopePreview of={draft.of} />
    </FormDialog>
  )
}
