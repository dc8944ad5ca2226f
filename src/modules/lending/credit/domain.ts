import { digestOf } from '../../../lib/digest.ts'
import type { KybCohort } from '../../shop/kyb/domain.ts'

/** What a merchant's credit is worth, from nothing to the most. */
export const creditTiers = ['T0', 'T1', 'T2', 'T3'] as const
export type CreditTier = (typeof creditTiers)[number]
/** Those that are given by rules; `T0` is what a refusal gives. */
export const rungs = ['T1', 'T2', 'T3'] as const
export type Rung = (typeof rungs)[number]

/** From the least to the most. */
export const operationalRisks = ['LOW', 'MEDIUM', 'HIGH'] as const
export type OperationalRisk = (typeof operationalRisks)[number]

/** What may decide an envelope, in the order in which it is asked. */
export const envelopeReasons = ['HARD_COMPLIANCE_FLAG', 'BELOW_COHORT_FLOOR', 'COHORT_CAP', 'TIER_CAP', 'FORMULA'] as const
export type EnvelopeReason = (typeof envelopeReasons)[number]

export const flagsMax = 50
export const flagLengthMax = 200

/** What an envelope is computed from: dollars with at most two decimals. */
export type Assessment = {
  readonly cohort: KybCohort
  readonly monthlyAvgRevenueUsd: number
  readonly verifiedCollateralUsd: number
  readonly operationalRisk: OperationalRisk
  /** Any of them forces `T0`. */
  readonly hardComplianceFlags?: readonly string[] | null | undefined
}

export type Envelope = { readonly tier: CreditTier; readonly ceilingUsd: number; readonly reason: EnvelopeReason }

/** What the ladder judges by. */
export type Signals = {
  readonly totalSettledOnTime: number
  readonly totalLate: number
  /** Of a lifetime. */
  readonly totalDefaults: number
  readonly trailingTwelveMonthDefaults: number
  readonly lenderCount: number
  /** Milliseconds; null before anything was settled. */
  readonly mostRecentSettlementAt: number | null
}

type CohortRule = {
  /** Whoever is under both has no credit. */
  readonly minRevenueUsd: number
  readonly minCollateralUsd: number
  readonly capUsd: number
}

type TierRule = {
  /** So many times the cohort's minimum is what the tier asks for; both are asked for. */
  readonly minRevenueTimes: number
  readonly minCollateralTimes: number
  /** So many months' revenue may be lent, before the risk is looked at. */
  readonly revenueMonths: number
  readonly capUsd: number
}

type RiskRule = {
  readonly highestTier: Rung
  /** The part of the revenue, and of the collateral, that counts. */
  readonly revenueFactor: number
  readonly collateralRate: number
}

type RungRule = {
  readonly onTimeSettlements: number
  /** Defaults that close the rung are those of so many months before now; null: all that ever were. */
  readonly defaultsOfMonths: number | null
  /** What the merchant is told: `{needed}` on-time settlements are missing; `{blocking}` defaults are in the way. */
  readonly guidanceNeeded: string
  readonly guidanceBlocked: string
}

/** All that decides about credit, in figures. Amounts are US dollars, factors have at most four decimals. */
export type LendingRules = {
  /** How the figures are applied. Raised when `judge` comes to another answer by the same figures. */
  readonly method: 1
  readonly cohorts: Readonly<Record<KybCohort, CohortRule>>
  readonly tiers: Readonly<Record<Rung, TierRule>>
  readonly risks: Readonly<Record<OperationalRisk, RiskRule>>
  readonly roundDownToUsd: number
  /** By repayment alone. `T1` is everybody's. */
  readonly ladder: Readonly<Record<'T2' | 'T3', RungRule>>
}

const gulf: CohortRule = { minRevenueUsd: 10_000, minCollateralUsd: 20_000, capUsd: 5_000_000 }

/** The rules as they are. To change them, change this table: its version follows from what it says. */
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

/** Rules as the text that they are kept as, and that their version is of. */
export const textOfRules = (rules: LendingRules): string => JSON.stringify(rules)

/** The version of rules follows from what they say, so that nobody has to remember to raise it. */
export const versionOfRules = (text: string): string => `rules-${digestOf(text).slice(0, 16)}`
export const ruleVersion = versionOfRules(textOfRules(currentRules))
