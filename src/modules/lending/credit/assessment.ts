import type { Writer } from '../../../../db/engine.ts'
import { type Assessment, currentRules, type Envelope, rulesText, ruleVersion } from './domain.ts'
import { computeEnvelope } from './envelope.ts'
import type { CreditDeps } from './providers.ts'

/** The assessment that is stored beside a decision: JSON texts and the version of the rules. */
type AssessmentRecord = { readonly assessment: string; readonly envelope: string; readonly ruleVersion: string }

/** Writes the fields in a fixed order, so that equal assessments are equal texts. */
const assessmentText = ({
  cohort,
  monthlyAvgRevenueUsd,
  verifiedCollateralUsd,
  operationalRisk,
  hardComplianceFlags,
}: Assessment): string =>
  JSON.stringify({ cohort, monthlyAvgRevenueUsd, verifiedCollateralUsd, operationalRisk, hardComplianceFlags: hardComplianceFlags ?? null })
/** Writes the fields in a fixed order, so that equal envelopes are equal texts. */
export const envelopeText = ({ tier, ceilingUsd, reason }: Envelope): string => JSON.stringify({ tier, ceilingUsd, reason })

/**
 * Computes an envelope with the current rules. The caller stores the rules in the same write (`storeRules`).
 * @param assessment the field `assessment` of a request body
 * @throws AppError INVALID as `computeEnvelope` does
 */
export const assess = (assessment: Assessment): AssessmentRecord => ({
  assessment: assessmentText(assessment),
  envelope: envelopeText(computeEnvelope(assessment, currentRules, 'assessment.')),
  ruleVersion,
})

/** Stores the current rules, so that `souk lending replay` can repeat the computation. */
export const storeRules = (tx: Writer, { creditStore, clock }: Pick<CreditDeps, 'creditStore' | 'clock'>): Promise<void> =>
  creditStore.insertRules(tx, ruleVersion, rulesText(currentRules), clock.now())
