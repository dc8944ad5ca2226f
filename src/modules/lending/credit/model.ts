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
    cohort: oneOf(kybCohorts, { description: 'Says what the least is that is lent on' }),
    monthlyAvgRevenueUsd: usd('Revenue of an average month'),
    verifiedCollateralUsd: usd('Collateral that was verified'),
    operationalRisk: oneOf(operationalRisks),
    hardComplianceFlags: maybe(t.Array(text(flagLengthMax), { maxItems: flagsMax, description: 'Any of them forces `T0`' })),
  },
  { title: 'CreditAssessment' },
)

export const EnvelopeRecord = t.Object(
  {
    tier: oneOf(creditTiers),
    ceilingUsd: Type.Number({ description: 'The most that may be lent' }),
    reason: oneOf(envelopeReasons, { description: 'The first of these that decided' }),
  },
  { title: 'CreditEnvelope' },
)

const count = (description: string) => integer({ minimum: 0, description })
const TierGap = t.Object(
  {
    targetTier: oneOf(rungs),
    onTimeSettlementsNeeded: count('Still missing'),
    blockingDefaultCount: count('In the way: of a lifetime for `T2`, of the last twelve months for `T3`'),
    guidance: t.String({ description: 'The same for a merchant to read' }),
  },
  { title: 'TierGap' },
)

const Signals = t.Object(
  {
    totalSettledOnTime: count('Repayments on time'),
    totalLate: count('Repayments that came late'),
    totalDefaults: count('Defaults of a lifetime'),
    trailingTwelveMonthDefaults: count('Defaults after this moment twelve months ago, and not after now'),
    lenderCount: count('Lenders who reported any of them'),
    mostRecentSettlementAt: nullable(Instant),
  },
  { title: 'RepaymentSignals' },
)

const gaps = { nextTierGap: nullable(TierGap), topTierGap: nullable(TierGap) }

export const UpgradePreview = t.Object(
  {
    merchantId: t.String(),
    signals: Signals,
    observedTier: oneOf(rungs, { description: 'By repayment alone' }),
    ...gaps,
  },
  { title: 'CreditTierUpgradePreview' },
)

export const UpgradeEligibility = t.Object(
  {
    merchantId: t.String(),
    baseTier: oneOf(creditTiers),
    earnedTier: oneOf(rungs, { description: 'By repayment alone' }),
    effectiveTier: oneOf(creditTiers, { description: 'The higher of both; `T0` stays `T0`' }),
    signals: Signals,
    ...gaps,
  },
  { title: 'CreditTierUpgradeEligibility' },
)

export const MerchantParam = t.Object({ merchantId: text(64) })
export const EligibilityQuery = t.Object({ baseTier: t.Optional(oneOf(creditTiers, { description: "The lender's own; default `T1`" })) })
