import { monthsBefore } from '../../../lib/day.ts'
import { type CreditTier, creditTiers, currentRules, type Rung, type Signals } from './domain.ts'

type UpperRung = keyof typeof ladder
const { ladder } = currentRules

/** What keeps a merchant from a rung. */
export type TierGap = {
  readonly targetTier: UpperRung
  readonly onTimeSettlementsNeeded: number
  readonly blockingDefaultCount: number
  readonly guidance: string
}

export type Standing = { readonly observedTier: Rung; readonly nextTierGap: TierGap | null; readonly topTierGap: TierGap | null }

/** Defaults of the ladder's window are those after it, and not after now (milliseconds). */
export const windowStart = (now: number): number => monthsBefore(now, ladder.T3.defaultsOfMonths ?? 12)

/** Defaults that close a rung. */
const blocking = (rung: UpperRung, { totalDefaults, trailingTwelveMonthDefaults }: Signals): number =>
  ladder[rung].defaultsOfMonths === null ? totalDefaults : trailingTwelveMonthDefaults

function gapTo(rung: UpperRung, signals: Signals): TierGap {
  const { onTimeSettlements, guidanceNeeded, guidanceBlocked } = ladder[rung]
  const needed = Math.max(onTimeSettlements - signals.totalSettledOnTime, 0)
  const defaults = blocking(rung, signals)
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
 * Where a merchant stands by repayment alone. Each rung is judged by its own row: the highest may be open where the one below is closed.
 */
export function standingOf(signals: Signals): Standing {
  const [second, third] = [gapTo('T2', signals), gapTo('T3', signals)]
  if (isOpen(third)) return { observedTier: 'T3', nextTierGap: null, topTierGap: null }
  if (isOpen(second)) return { observedTier: 'T2', nextTierGap: third, topTierGap: third }
  return { observedTier: 'T1', nextTierGap: second, topTierGap: third }
}

/** The tier that a lender's base tier and what was earned come to: the higher of them, but nothing is earned out of `T0`. */
export const effectiveTierOf = (base: CreditTier, earned: Rung): CreditTier =>
  base === 'T0' || creditTiers.indexOf(base) > creditTiers.indexOf(earned) ? base : earned
