import { AppError } from '../../../core/errors.ts'
import { centsOf, unitsOf } from '../../../lib/usd.ts'
import { type Assessment, currentRules, type Envelope, type EnvelopeReason, type LendingRules, type Rung, rungs } from './domain.ts'

/** Of factors and multiples. */
export const factorDecimals = 4

/** A figure of the rules as a whole number of its smallest unit. Rules that are none of ours were looked at before. */
function exact(value: number, decimals: number): bigint {
  const units = unitsOf(value, decimals)
  if (units === undefined) throw new RangeError('a figure of the rules has too many decimals')
  return BigInt(units)
}
const cents = (usd: number): bigint => exact(usd, 2)
const factor = (value: number): bigint => exact(value, factorDecimals)
const one = 10n ** BigInt(factorDecimals)

/**
 * An input in cents.
 * @throws AppError INVALID
 */
function inputCents(assessment: Assessment, name: 'monthlyAvgRevenueUsd' | 'verifiedCollateralUsd', within: string): bigint {
  const amount = centsOf(assessment[name])
  if (amount === undefined)
    throw new AppError('INVALID', `${within}${name} (body): dollars below 10,000,000,000,000, with at most two decimals`)
  return BigInt(amount)
}

const refused = (reason: EnvelopeReason): Envelope => ({ tier: 'T0', ceilingUsd: 0, reason })

/**
 * How much may be lent, by one set of rules. Exact: cents and factors are whole numbers, and nothing is rounded but the ceiling, down.
 * Never less for more revenue or collateral, never more for more risk; rules-file.ts says what rules must have for that.
 * @param assessment dollars
 * @param within the path of the assessment in the body that it came in, as `assessment.`
 * @returns `reason` is the first of its list that decided: a cap that the formula just reaches did
 * @throws AppError INVALID for amounts of more than two decimals, below nothing, or from 10^13 on
 */
export function judge(assessment: Assessment, rules: LendingRules = currentRules, within = ''): Envelope {
  const revenue = inputCents(assessment, 'monthlyAvgRevenueUsd', within)
  const collateral = inputCents(assessment, 'verifiedCollateralUsd', within)
  if ((assessment.hardComplianceFlags ?? []).length > 0) return refused('HARD_COMPLIANCE_FLAG')
  const cohort = rules.cohorts[assessment.cohort]
  const [minRevenue, minCollateral] = [cents(cohort.minRevenueUsd), cents(cohort.minCollateralUsd)]
  if (revenue < minRevenue && collateral < minCollateral) return refused('BELOW_COHORT_FLOOR')

  const earned = highest((tier) => {
    const { minRevenueTimes, minCollateralTimes } = rules.tiers[tier]
    return revenue * one >= minRevenue * factor(minRevenueTimes) && collateral * one >= minCollateral * factor(minCollateralTimes)
  })
  const risk = rules.risks[assessment.operationalRisk]
  const tier = lower(earned, risk.highestTier)
  const { revenueMonths, capUsd } = rules.tiers[tier]
  const formula = roundedDown(
    revenue * factor(revenueMonths) * factor(risk.revenueFactor) + collateral * factor(risk.collateralRate) * one,
    rules.roundDownToUsd,
  )
  const [cohortCap, tierCap] = [cents(cohort.capUsd), cents(capUsd)]
  const ceiling = least(cohortCap, tierCap, formula)
  const reason = ceiling === cohortCap ? 'COHORT_CAP' : ceiling === tierCap ? 'TIER_CAP' : 'FORMULA'
  return { tier, ceilingUsd: Number(ceiling) / 100, reason }
}

/** The highest rung of which that holds; the lowest is everybody's. */
const highest = (holds: (tier: Rung) => boolean): Rung => rungs.findLast((tier) => holds(tier)) ?? 'T1'

const lower = (a: Rung, b: Rung): Rung => (rungs.indexOf(a) < rungs.indexOf(b) ? a : b)

/** Not `Math.min`, which knows no such numbers. */
function least(first: bigint, ...others: readonly bigint[]): bigint {
  let found = first
  for (const other of others) if (other < found) found = other
  return found
}

/** Cents in units of two factors, as cents: whole steps, and what is left over is nobody's. */
function roundedDown(amount: bigint, stepUsd: number): bigint {
  const step = cents(stepUsd)
  return (amount / (one * one * step)) * step
}
