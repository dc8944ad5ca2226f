import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { Instant, integer, maybe, nullable, oneOf, text } from '../../../http/schema.ts'
import { usdEnd } from '../../../lib/usd.ts'
import { kybCohorts } from '../../shop/kyb/domain.ts'
import { creditTiers, envelopeReasons, flagLengthMax, flagsMax, operationalRisks, rungs } from './domain.ts'

const usd = (description: string) =>
  Type.Number({ minimum: 0, exclusiveMaximum: usdEnd, description: `${description}, in US dollars with at most two decimals` })

/** The body of the preview and the `assessment` of a decision. */
export const AssessmentBody = t.Object(
  {
    cohort: oneOf(kybCohorts, { description: 'Determines the minimum for a loan' }),
    monthlyAvgRevenueUsd: usd('Average monthly revenue'),
    verifiedCollateralUsd: usd('Verified collateral'),
    operationalRisk: oneOf(operationalRisks),
    hardComplianceFlags: maybe(t.Array(text(flagLengthMax), { maxItems: flagsMax, description: 'Any flag results in `T0`' })),
  },
  { title: 'CreditAssessment' },
)

export const EnvelopeRecord = t.Object(
  {
    tier: oneOf(creditTiers),
    ceilingUsd: Type.Number({ description: 'Maximum amount of a loan' }),
    reason: oneOf(envelopeReasons, { description: 'The first rule that determined the ceiling' }),
  },
  { title: 'CreditEnvelope' },
)

const count = (description: string) => integer({ minimum: 0, description })
const TierGap = t.Object(
  {
    targetTier: oneOf(rungs),
    onTimeSettlementsNeeded: count('Number of settlements that are missing'),
    blockingDefaultCount: count('Number of defaults that block the next tier: ever for `T2`, within twelve months for `T3`'),
    guidance: t.String({ description: 'Explanation for the merchant' }),
  },
  { title: 'TierGap' },
)

const Signals = t.Object(
  {
    totalSettledOnTime: count('Number of repayments on time'),
    totalLate: count('Number of late repayments'),
    totalDefaults: count('Number of all defaults'),
    trailingTwelveMonthDefaults: count('Number of defaults within the last twelve months'),
    lenderCount: count('Number of lenders who reported repayments'),
    mostRecentSettlementAt: nullable(Instant),
  },
  { title: 'RepaymentSignals' },
)

const gaps = { nextTierGap: nullable(TierGap), topTierGap: nullable(TierGap) }

export const UpgradePreview = t.Object(
  {
    merchantId: t.String(),
    signals: Signals,
    observedTier: oneOf(rungs, { description: 'By repayments alone' }),
    ...gaps,
  },
  { title: 'CreditTierUpgradePreview' },
)

export const UpgradeEligibility = t.Object(
  {
    merchantId: t.String(),
    baseTier: oneOf(creditTiers),
    earnedTier: oneOf(rungs, { description: 'By repayments alone' }),
    effectiveTier: oneOf(creditTiers, { description: 'The higher of both. `T0` stays `T0`' }),
    signals: Signals,
    ...gaps,
  },
  { title: 'CreditTierUpgradeEligibility' },
)

export const MerchantParam = t.Object({ merchantId: text(64) })
export const EligibilityQuery = t.Object({
  baseTier: t.Optional(oneOf(creditTiers, { description: "The lender's own tier. Default: `T1`" })),
})
