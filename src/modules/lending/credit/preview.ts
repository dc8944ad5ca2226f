import { AppError } from '../../../core/errors.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { type RepaymentDeps, repaymentSignalsOf } from '../repayment/index.ts'
import type { CreditTier, Signals } from './domain.ts'
import { effectiveTierOf, ladderPositionOf, windowStart } from './ladder.ts'

type PreviewDeps = Pick<RepaymentDeps, 'repaymentStore' | 'clock'>

/** @throws AppError NOT_FOUND for an id that is not a merchant's */
async function signalsOf(deps: PreviewDeps, merchantId: string): Promise<Signals> {
  const now = deps.clock.now()
  const totals = await repaymentSignalsOf(deps, merchantId, { after: windowStart(now), upTo: now })
  if (!totals) throw new AppError('NOT_FOUND', 'No such merchant')
  return {
    totalSettledOnTime: totals.totalOnTime,
    totalLate: totals.totalLate,
    totalDefaults: totals.totalDefaults,
    trailingTwelveMonthDefaults: totals.defaultsOfWindow,
    lenderCount: totals.lenderCount,
    mostRecentSettlementAt: totals.mostRecentSettlementAt,
  }
}

const signalsView = ({ mostRecentSettlementAt, ...signals }: Signals) => ({ ...signals, ...isoTimes({ mostRecentSettlementAt }) })

/**
 * Returns a merchant's tier by repayment alone. This is public.
 * @throws AppError NOT_FOUND for an id that is not a merchant's
 */
export async function previewUpgrade(deps: PreviewDeps, merchantId: string) {
  const signals = await signalsOf(deps, merchantId)
  return { merchantId, signals: signalsView(signals), ...ladderPositionOf(signals) }
}

/**
 * Returns the tier that a merchant has with a lender who gives them `baseTier`.
 * @throws AppError NOT_FOUND for an id that is not a merchant's
 */
export async function upgradeEligibility(deps: PreviewDeps, merchantId: string, baseTier: CreditTier) {
  const signals = await signalsOf(deps, merchantId)
  const { observedTier, ...gaps } = ladderPositionOf(signals)
  return {
    merchantId,
    baseTier,
    earnedTier: observedTier,
    effectiveTier: effectiveTierOf(baseTier, observedTier),
    signals: signalsView(signals),
    ...gaps,
  }
}
