import type { Writer } from '../../../../db/engine.ts'
import { type Assessment, currentRules, type Envelope, ruleVersion, textOfRules } from './domain.ts'
import { judge } from './envelope.ts'
import type { CreditDeps } from './providers.ts'

/** What is kept beside a decision: JSON texts, and the version of the rules that made the one of the other. */
export type Assessed = { readonly assessment: string; readonly envelope: string; readonly ruleVersion: string }

/** The fields in one order, and what was left out as null: equal figures are equal texts. */
const textOf = ({ cohort, monthlyAvgRevenueUsd, verifiedCollateralUsd, operationalRisk, hardComplianceFlags }: Assessment): string =>
  JSON.stringify({ cohort, monthlyAvgRevenueUsd, verifiedCollateralUsd, operationalRisk, hardComplianceFlags: hardComplianceFlags ?? null })
export const textOfEnvelope = ({ tier, ceilingUsd, reason }: Envelope): string => JSON.stringify({ tier, ceilingUsd, reason })

/**
 * Judges a merchant's figures by the rules as they are. Whoever keeps the answer keeps the rules in the same write, by `keepRules`.
 * @param assessment the field `assessment` of a body
 * @throws AppError INVALID as `judge` does
 */
export const assess = (assessment: Assessment): Assessed => ({
  assessment: textOf(assessment),
  envelope: textOfEnvelope(judge(assessment, currentRules, 'assessment.')),
  ruleVersion,
})

/** Keeps the rules as they are, so that what was judged by them can be judged again later. */
export const keepRules = (tx: Writer, { creditStore, clock }: Pick<CreditDeps, 'creditStore' | 'clock'>): Promise<void> =>
  creditStore.keepRules(tx, ruleVersion, textOfRules(currentRules), clock.now())
