/** Credit figures of a business and the resulting limit. */
import { type Signal, useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { usd } from '../../lib/format/format.ts'
import { cohortName, cohortOptions, lendingText } from '../../lib/format/lending-names.ts'
import { type Draft, draftValues } from '../../lib/forms/draft.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { invalidAmountText } from '../../lib/i18n/common.ts'
import { useDirty } from '../../lib/session/use-unsaved-changes.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { MoneyField, SelectField, TagsField } from '../../ui/fields.tsx'
import { t } from './i18n.ts'
import { type Assessment, type CreditFigures, parseAssessment, risks } from './review.domain.ts'

type Envelope = Schema<'CreditEnvelope'>

/** Returns the form's values before anything is typed. */
export const blankFigures = (cohort: CreditFigures['cohort']): CreditFigures => ({
  cohort,
  revenue: '',
  collateral: '',
  risk: 'MEDIUM',
  flags: [],
})

/** @param hidesCohort hides the cohort, which an application sets */
export function AssessFields({ figures, hidesCohort }: { figures: Draft<CreditFigures>; hidesCohort?: boolean }) {
  const amountError = (bind: Signal<string>, name: 'revenue' | 'collateral') => {
    const result = parseAssessment(draftValues(figures))
    return bind.value !== '' && 'wrongFields' in result && result.wrongFields.includes(name) ? invalidAmountText('USD') : undefined
  }
  return (
    <div class="fields">
      {!hidesCohort && <SelectField label={lendingText('cohort')} bind={figures.cohort} options={cohortOptions()} />}
      <MoneyField label={t('revenue')} currency="USD" bind={figures.revenue} error={amountError(figures.revenue, 'revenue')} required />
      <MoneyField
        label={t('collateral')}
        currency="USD"
        bind={figures.collateral}
        error={amountError(figures.collateral, 'collateral')}
        required
      />
      <SelectField label={t('risk')} bind={figures.risk} options={risks.map((risk) => [risk, t(`risk.${risk}`)])} />
      <TagsField label={t('flags')} hint={t('flagsHint')} bind={figures.flags} max={50} />
    </div>
  )
}

/** Computes the limit on request; a changed figure removes the result. */
export function EnvelopePreview({ figures }: { figures: Draft<CreditFigures> }) {
  const preview = useSignal<{ figuresKey: string; envelope: Envelope } | undefined>(undefined)
  const result = parseAssessment(draftValues(figures))
  const key = JSON.stringify(result)
  async function assess(): Promise<void> {
    if ('wrongFields' in result) throw new Error(t('figuresMissing'))
    preview.value = {
      figuresKey: key,
      envelope: await ok(api.POST('/admin/lending-application/credit-tier/preview', { body: result.body })),
    }
  }
  return (
    <>
      <div>
        <Button onPress={assess} text={t('judge')} />
      </div>
      <div role="status">{preview.value?.figuresKey === key && <EnvelopeFacts envelope={preview.value.envelope} />}</div>
    </>
  )
}

export const EnvelopeFacts = ({ envelope }: { envelope: Envelope }) => (
  <FactList
    facts={[
      [t('creditTier'), envelope.tier],
      [t('ceiling'), usd(envelope.ceilingUsd)],
      [t('decidedBy'), t(`by.${envelope.reason}`)],
    ]}
  />
)

export const AssessmentFacts = ({ assessment }: { assessment: Assessment }) => (
  <FactList
    facts={[
      [lendingText('cohort'), cohortName(assessment.cohort)],
      [t('revenue'), usd(assessment.monthlyAvgRevenueUsd)],
      [t('collateral'), usd(assessment.verifiedCollateralUsd)],
      [t('risk'), t(`risk.${assessment.operationalRisk}`)],
      [
        t('flags'),
        (assessment.hardComplianceFlags ?? []).length > 0 && <bdi key="flags">{assessment.hardComplianceFlags?.join(', ')}</bdi>,
      ],
    ]}
  />
)

/** Computes a limit without an application; stores nothing. */
export function AssessDialog({ onClose }: { onClose: () => void }) {
  const draft = useDraft('assess', blankFigures('UAE_MAINLAND'))
  useDirty(draft.isDirty)
  return (
    <FormDialog title={t('assess')} onClose={onClose}>
      <p class="hint">{t('assessHint')}</p>
      <AssessFields figures={draft.fields} />
      <EnvelopePreview figures={draft.fields} />
    </FormDialog>
  )
}
