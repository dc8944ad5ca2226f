import { invalidField } from '../../../core/errors.ts'
import { centsOf, unitsOf } from '../../../lib/usd.ts'
import { type Assessment, currentRules, type Envelope, type EnvelopeReason, type LendingRules, type Rung, rungs } from './domain.ts'

/** Decimals of factors and multiples. */
export const factorDecimals = 4

/** Converts a figure of the rules to whole units. Rules from a file are validated before. */
function toUnits(value: number, decimals: number): bigint {
  const units = unitsOf(value, decimals)
  if (units === undefined) throw new RangeError('a figure of the rules has too many decimals')
  return BigInt(units)
}
const cents = (usd: number): bigint => toUnits(usd, 2)
const factor = (value: number): bigint => toUnits(value, factorDecimals)
const factorUnit = 10n ** BigInt(factorDecimals)

/**
 * Reads an amount in cents.
 * @throws AppError INVALID
 */
function inputCents(assessment: Assessment, name: 'monthlyAvgRevenueUsd' | 'verifiedCollateralUsd', pathPrefix: string): bigint {
  const amount = centsOf(assessment[name])
  if (amount === undefined) throw invalidField(`${pathPrefix}${name}`, 'must be dollars below 10,000,000,000,000 with at most two decimals')
  return BigInt(amount)
}

const refusedEnvelope = (reason: EnvelopeReason): Envelope => ({ tier: 'T0', ceilingUsd: 0, reason })

/**
 * Computes the credit envelope. The arithmetic is exact; only the ceiling is rounded, down.
 * More revenue or collateral never lowers the ceiling, more risk never raises it. `rules-file.ts` checks what rules
 * need for that.
 * @param assessment in dollars
 * @param pathPrefix the path of the assessment in the request body, such as `assessment.`
 * @returns `reason` is the first reason of the list that applies, also for a cap that the formula just reaches
 * @throws AppError INVALID for amounts with more than two decimals, below 0, or from 10^13
 */
export function computeEnvelope(assessment: Assessment, rules: LendingRules = currentRules, pathPrefix = ''): Envelope {
  const revenue = inputCents(assessment, 'monthlyAvgRevenueUsd', pathPrefix)
  const collateral = inputCents(assessment, 'verifiedCollateralUsd', pathPrefix)
  if ((assessment.hardComplianceFlags ?? []).length > 0) return refusedEnvelope('HARD_COMPLIANCE_FLAG')
  const cohort = rules.cohorts[assessment.cohort]
  const [minRevenue, minCollateral] = [cents(cohort.minRevenueUsd), cents(cohort.minCollateralUsd)]
  if (revenue < minRevenue && collateral < minCollateral) return refusedEnvelope('BELOW_COHORT_FLOOR')

  const earned = highestTier((tier) => {
    const { minRevenueTimes, minCollateralTimes } = rules.tiers[tier]
    return (
      revenue * factorUnit >= minRevenue * factor(minRevenueTimes) && collateral * factorUnit >= minCollateral * factor(minCollateralTimes)
    )
  })
  const risk = rules.risks[assessment.operationalRisk]
  const tier = lowerTier(earned, risk.highestTier)
  const { revenueMonths, capUsd } = rules.tiers[tier]
  const formula = roundDown(
    revenue * factor(revenueMonths) * factor(risk.revenueFactor) + collateral * factor(risk.collateralRate) * factorUnit,
    rules.roundDownToUsd,
  )
  const [cohortCap, tierCap] = [cents(cohort.capUsd), cents(capUsd)]
  const ceiling = minimum(cohortCap, tierCap, formula)
  const reason = ceiling === cohortCap ? 'COHORT_CAP' : ceiling === tierCap ? 'TIER_CAP' : 'FORMULA'
  return { tier, ceilingUsd: Number(ceiling) / 100, reason }
}

/** Returns the highest tier that passes, or `T1`. */
const highestTier = (holds: (tier: Rung) => boolean): Rung => rungs.findLast((tier) => holds(tier)) ?? 'T1'

const lowerTier = (a: Rung, b: Rung): Rung => (rungs.indexOf(a) < rungs.indexOf(b) ? a : b)

/** `Math.min` does not accept bigints. */
function minimum(first: bigint, ...others: readonly bigint[]): bigint {
  let result = first
  for (const other of others) if (other < result) result = other
  return result
}

/** Rounds cents, scaled by two factors, down to whole steps. */
function roundDown(amount: bigint, stepUsd: number): bigint {
  const step = cents(stepUsd)
  return (amount / (factorUnit * factorUnit * step)) * step
}
