import { sha256 } from '../../../lib/seal.ts'
import type { KybCohort } from '../../shop/kyb/domain.ts'

/** Credit tiers, lowest first. */
export const creditTiers = ['T0', 'T1', 'T2', 'T3'] as const
export type CreditTier = (typeof creditTiers)[number]
/** Tiers that can be earned. `T0` is the result of a refusal. */
export const rungs = ['T1', 'T2', 'T3'] as const
export type Rung = (typeof rungs)[number]

/** Lowest first. */
export const operationalRisks = ['LOW', 'MEDIUM', 'HIGH'] as const
type OperationalRisk = (typeof operationalRisks)[number]

/** What may decide an envelope, in the order of the checks. */
export const envelopeReasons = ['HARD_COMPLIANCE_FLAG', 'BELOW_COHORT_FLOOR', 'COHORT_CAP', 'TIER_CAP', 'FORMULA'] as const
export type EnvelopeReason = (typeof envelopeReasons)[number]

export const flagsMax = 50
export const flagLengthMax = 200

/** The input of an envelope. Amounts are dollars with at most two decimals. */
export type Assessment = {
  readonly cohort: KybCohort
  readonly monthlyAvgRevenueUsd: number
  readonly verifiedCollateralUsd: number
  readonly operationalRisk: OperationalRisk
  /** Any flag forces `T0`. */
  readonly hardComplianceFlags?: readonly string[] | null | undefined
}

export type Envelope = { readonly tier: CreditTier; readonly ceilingUsd: number; readonly reason: EnvelopeReason }

/** The repayment record that the ladder uses. */
export type Signals = {
  readonly totalSettledOnTime: number
  readonly totalLate: number
  /** Over the merchant's lifetime. */
  readonly totalDefaults: number
  readonly trailingTwelveMonthDefaults: number
  readonly lenderCount: number
  /** Milliseconds; null before the first settlement. */
  readonly mostRecentSettlementAt: number | null
}

type CohortRule = {
  /** A merchant below both minimums gets no credit. */
  readonly minRevenueUsd: number
  readonly minCollateralUsd: number
  readonly capUsd: number
}

type TierRule = {
  /** Factors of the cohort's minimums. The tier requires both. */
  readonly minRevenueTimes: number
  readonly minCollateralTimes: number
  /** How many months of revenue may be lent, before the risk factor. */
  readonly revenueMonths: number
  readonly capUsd: number
}

type RiskRule = {
  readonly highestTier: Rung
  /** The share of revenue and of collateral that counts. */
  readonly revenueFactor: number
  readonly collateralRate: number
}

type RungRule = {
  readonly onTimeSettlements: number
  /** Counts defaults of the last N months; null counts all defaults. */
  readonly defaultsOfMonths: number | null
  /** Guidance for the merchant. `{needed}` and `{blocking}` are replaced by counts. */
  readonly guidanceNeeded: string
  readonly guidanceBlocked: string
}

/** All figures that decide about credit. Amounts are US dollars; factors have at most four decimals. */
export type LendingRules = {
  /** The version of the algorithm. Raise it when `computeEnvelope` gives another result for the same figures. */
  readonly method: 1
  readonly cohorts: Readonly<Record<KybCohort, CohortRule>>
  readonly tiers: Readonly<Record<Rung, TierRule>>
  readonly risks: Readonly<Record<OperationalRisk, RiskRule>>
  readonly roundDownToUsd: number
  /** Tiers earned by repayment. Every merchant has `T1`. */
  readonly ladder: Readonly<Record<'T2' | 'T3', RungRule>>
}

const gulf: CohortRule = { minRevenueUsd: 10_000, minCollateralUsd: 20_000, capUsd: 5_000_000 }

/** The current rules. Their version is derived from their content, so changing this table changes it. */
export const currentRules: LendingRules = {
  method: 1,
  cohorts: {
    UAE_MAINLAND: gulf,
    UAE_FREEZONE: gulf,
    KSA_COMPANY: gulf,
    KUWAIT_WLL: { minRevenueUsd: 8_000, minCollateralUsd: 16_000, capUsd: 4_000_000 },
    MN_LLC: { minRevenueUsd: 3_000, minCollateralUsd: 6_000, capUsd: 1_000_000 },
    MN_SOLE: { minRevenueUsd: 1_000, minCollateralUsd: 2_000, capUsd: 250_000 },
    US_COMPANY: { minRevenueUsd: 10_000, minCollateralUsd: 20_000, capUsd: 10_000_000 },
    US_SOLE_PROP: { minRevenueUsd: 4_000, minCollateralUsd: 8_000, capUsd: 1_000_000 },
    UK_LTD: { minRevenueUsd: 10_000, minCollateralUsd: 20_000, capUsd: 5_000_000 },
    EU_COMPANY: { minRevenueUsd: 10_000, minCollateralUsd: 20_000, capUsd: 5_000_000 },
    SG_PTE: { minRevenueUsd: 8_000, minCollateralUsd: 16_000, capUsd: 4_000_000 },
    INTL_OTHER: { minRevenueUsd: 15_000, minCollateralUsd: 30_000, capUsd: 1_000_000 },
  },
  tiers: {
    T1: { minRevenueTimes: 0, minCollateralTimes: 0, revenueMonths: 1, capUsd: 50_000 },
    T2: { minRevenueTimes: 4, minCollateralTimes: 0, revenueMonths: 1.5, capUsd: 500_000 },
    T3: { minRevenueTimes: 10, minCollateralTimes: 2, revenueMonths: 2.5, capUsd: 10_000_000 },
  },
  risks: {
    LOW: { highestTier: 'T3', revenueFactor: 1, collateralRate: 0.65 },
    MEDIUM: { highestTier: 'T2', revenueFactor: 0.75, collateralRate: 0.5 },
    HIGH: { highestTier: 'T1', revenueFactor: 0.5, collateralRate: 0.25 },
  },
  roundDownToUsd: 100,
  ladder: {
    T2: {
      onTimeSettlements: 3,
      defaultsOfMonths: null,
      guidanceNeeded: 'On-time settlements still needed for T2: {needed}.',
      guidanceBlocked:
        'Defaults on record: {blocking}. T2 is for merchants who never had one, so it stays closed; T3 is not, it looks at the last 12 months.',
    },
    T3: {
      onTimeSettlements: 10,
      defaultsOfMonths: 12,
      guidanceNeeded: 'On-time settlements still needed for T3: {needed}.',
      guidanceBlocked: 'Defaults within the last 12 months: {blocking}. T3 opens once there is none; each stops counting after 12 months.',
    },
  },
}

/** Returns the text of the rules that is stored and that their version is derived from. */
export const rulesText = (rules: LendingRules): string => JSON.stringify(rules)

/** Derives the version from the text of the rules. */
export const versionOfRules = (text: string): string => `rules-${sha256(text).slice(0, 16)}`
export const ruleVersion = versionOfRules(rulesText(currentRules))
