import { monthsBefore } from '../../../lib/day.ts'
import { type CreditTier, creditTiers, currentRules, type Rung, type Signals } from './domain.ts'

type UpperRung = keyof typeof ladder
const { ladder } = currentRules

/** What a merchant still needs for a tier. */
type TierGap = {
  readonly targetTier: UpperRung
  readonly onTimeSettlementsNeeded: number
  readonly blockingDefaultCount: number
  readonly guidance: string
}

type LadderPosition = { readonly observedTier: Rung; readonly nextTierGap: TierGap | null; readonly topTierGap: TierGap | null }

/** Returns the start of the ladder's window (milliseconds). Defaults count after it, up to now. */
export const windowStart = (now: number): number => monthsBefore(now, ladder.T3.defaultsOfMonths ?? 12)

const blockingDefaults = (rung: UpperRung, { totalDefaults, trailingTwelveMonthDefaults }: Signals): number =>
  ladder[rung].defaultsOfMonths === null ? totalDefaults : trailingTwelveMonthDefaults

function gapTo(rung: UpperRung, signals: Signals): TierGap {
  const { onTimeSettlements, guidanceNeeded, guidanceBlocked } = ladder[rung]
  const needed = Math.max(onTimeSettlements - signals.totalSettledOnTime, 0)
  const defaults = blockingDefaults(rung, signals)
  const guidance = [...(defaults > 0 ? [guidanceBlocked] : []), ...(needed > 0 ? [guidanceNeeded] : [])].join(' ')
  return {
    targetTier: rung,
    onTimeSettlementsNeeded: needed,
    blockingDefaultCount: defaults,
    guidance: guidance.replaceAll('{needed}', String(needed)).replaceAll('{blocking}', String(defaults)),
  }
}

const isOpen = ({ onTimeSettlementsNeeded, blockingDefaultCount }: TierGap): boolean =>
  onTimeSettlementsNeeded === 0 && blockingDefaultCount === 0

/**
 * Computes a merchant's tier by repayment alone. Each tier has its own conditions: `T3` may be open while `T2` is
 * closed.
 */
export function ladderPositionOf(signals: Signals): LadderPosition {
  const [second, third] = [gapTo('T2', signals), gapTo('T3', signals)]
  if (isOpen(third)) return { observedTier: 'T3', nextTierGap: null, topTierGap: null }
  if (isOpen(second)) return { observedTier: 'T2', nextTierGap: third, topTierGap: third }
  return { observedTier: 'T1', nextTierGap: second, topTierGap: third }
}

/** Returns the higher of a lender's base tier and the earned tier. `T0` stays `T0`. */
export const effectiveTierOf = (base: CreditTier, earned: Rung): CreditTier =>
  base === 'T0' || creditTiers.indexOf(base) > creditTiers.indexOf(earned) ? base : earned
