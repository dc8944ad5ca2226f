import { AppError } from '../../../core/errors.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { type RepaymentDeps, repaymentSignalsOf } from '../repayment/index.ts'
import type { CreditTier, Signals } from './domain.ts'
import { effectiveTierOf, standingOf, windowStart } from './ladder.ts'

type PreviewDeps = Pick<RepaymentDeps, 'repaymentStore' | 'clock'>

/** @throws AppError NOT_FOUND for whoever is no merchant */
async function signalsOf(deps: PreviewDeps, merchantId: string): Promise<Signals> {
  const now = deps.clock.now()
  const kept = await repaymentSignalsOf(deps, merchantId, { after: windowStart(now), upTo: now })
  if (!kept) throw new AppError('NOT_FOUND', 'No such merchant')
  return {
    totalSettledOnTime: kept.totalOnTime,
    totalLate: kept.totalLate,
    totalDefaults: kept.totalDefaults,
    trailingTwelveMonthDefaults: kept.defaultsOfWindow,
    lenderCount: kept.lenderCount,
    mostRecentSettlementAt: kept.mostRecentSettlementAt,
  }
}

const told = ({ mostRecentSettlementAt, ...signals }: Signals) => ({ ...signals, ...isoTimes({ mostRecentSettlementAt }) })

/**
 * Where a merchant stands by repayment alone, for anybody.
 * @throws AppError NOT_FOUND for whoever is no merchant
 */
export async function previewUpgrade(deps: PreviewDeps, merchantId: string) {
  const signals = await signalsOf(deps, merchantId)
  return { merchantId, signals: told(signals), ...standingOf(signals) }
}

/**
 * The tier that a merchant would have with a lender who gives them a base tier.
 * @throws AppError NOT_FOUND for whoever is no merchant
 */
export async function upgradeEligibility(deps: PreviewDeps, merchantId: string, baseTier: CreditTier) {
  const signals = await signalsOf(deps, merchantId)
  const { observedTier, ...gaps } = standingOf(signals)
  return {
    merchantId,
    baseTier,
    earnedTier: observedTier,
    effectiveTier: effectiveTierOf(baseTier, observedTier),
    signals: told(signals),
    ...gaps,
  }
}
