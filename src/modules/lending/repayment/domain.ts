import type { merchantRepaymentSignals, repaymentReversals, repayments } from '../../../../db/schema/lending.ts'
import { AppError } from '../../../core/errors.ts'
import { dayMs } from '../../../lib/day.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { usdOf } from '../../../lib/usd.ts'

export type Repayment = typeof repayments.$inferSelect
export type Reversal = typeof repaymentReversals.$inferSelect
export type KeptSignals = typeof merchantRepaymentSignals.$inferSelect
export type Outcome = Repayment['outcome']

export const outcomes = ['ON_TIME', 'LATE', 'DEFAULT'] as const satisfies readonly Outcome[]
export const loanRefMax = 128
/** Of a loan's name: in one line, without blanks at its ends. */
export const loanRefPattern = '^\\S(?:.*\\S)?$'
export const reasonMax = 2_000

/** What a merchant's repayments come to: those that count, and how many defaults are within a window. */
export type RepaymentSignals = Pick<
  KeptSignals,
  'totalOnTime' | 'totalLate' | 'totalDefaults' | 'lenderCount' | 'mostRecentSettlementAt'
> & {
  readonly defaultsOfWindow: number
}

/** What is recorded of an instalment: whole cents, times in milliseconds. */
export type Draft = Pick<Repayment, 'merchantId' | 'lenderId' | 'loanRef' | 'outcome' | 'amountUsd' | 'dueAt' | 'settledAt'>

/** The days since the epoch by which defaults are counted, UTC. */
export const dayNumberOf = (ms: number): number => Math.floor(ms / dayMs)

export const daysOfBlock = 16
export const blockOf = (day: number): number => Math.floor(day / daysOfBlock)

/** Counts that a window is summed up from: whole blocks, whole days before and behind them, and the rest by its moments. Ends are excluded. */
export type Cuts = {
  readonly daysBefore: readonly [from: number, end: number]
  readonly blocks: readonly [from: number, end: number]
  readonly daysBehind: readonly [from: number, end: number]
  /** Milliseconds, after the first and not after the second. */
  readonly firstDay: readonly [after: number, upTo: number]
  readonly lastDay: readonly [after: number, upTo: number]
}

/**
 * Cuts a window into what is counted already and what is not.
 * @param window milliseconds: what is after `after` and not after `upTo`, which is on a later day
 */
export function cutsOf({ after, upTo }: { readonly after: number; readonly upTo: number }): Cuts {
  const [first, last] = [dayNumberOf(after), dayNumberOf(upTo)]
  const endOf = (day: number) => (day + 1) * dayMs - 1
  const [fromBlock, endBlock] = [blockOf(first + daysOfBlock), blockOf(last)]
  const isShort = fromBlock >= endBlock
  return {
    daysBefore: [first + 1, isShort ? last : fromBlock * daysOfBlock],
    blocks: isShort ? [0, 0] : [fromBlock, endBlock],
    daysBehind: isShort ? [0, 0] : [endBlock * daysOfBlock, last],
    firstDay: [after, endOf(first)],
    lastDay: [endOf(last - 1), upTo],
  }
}

/** A rule that what is to be recorded breaks, by the field that does. */
export type Breach = { readonly field: keyof Draft; readonly rule: string }

/**
 * What keeps an instalment from being recorded, by itself.
 * @param now milliseconds
 */
export function breachOf({ outcome, amountUsd, dueAt, settledAt }: Draft, now: number): Breach | undefined {
  if (amountUsd <= 0) return { field: 'amountUsd', rule: 'must be more than 0' }
  for (const [field, at] of [
    ['dueAt', dueAt],
    ['settledAt', settledAt],
  ] as const) {
    if (at === null) continue
    if (at > now) return { field, rule: 'must not be after now' }
    if (at < 0) return { field, rule: 'must not be before 1970' }
  }
  if (settledAt === null && outcome !== 'DEFAULT') return { field: 'settledAt', rule: 'must be given: only a DEFAULT may have none' }
  return undefined
}

/** @throws AppError INVALID, naming the field */
export function assertSound(draft: Draft, now: number): void {
  const breach = breachOf(draft, now)
  if (breach) throw new AppError('INVALID', `${breach.field} (body): ${breach.rule}`)
}

/** By which an instalment is known again. */
export const keyOf = ({ lenderId, loanRef, dueAt }: Pick<Draft, 'lenderId' | 'loanRef' | 'dueAt'>): string =>
  `${lenderId} ${dueAt} ${loanRef}`

const said = ['merchantId', 'outcome', 'amountUsd', 'settledAt'] as const
/** Whether two of the same key say the same. */
export const isSame = (one: Draft, other: Draft): boolean => said.every((name) => one[name] === other[name])

/** The row of an instalment. */
export const repaymentOf = (draft: Draft, more: Pick<Repayment, 'id' | 'source' | 'recordedBy' | 'recordedAt'>): Repayment => ({
  ...pick(draft, 'merchantId', 'lenderId', 'loanRef', 'outcome', 'amountUsd', 'dueAt', 'settledAt'),
  ...more,
  datedAt: draft.settledAt ?? draft.dueAt,
  reversedAt: null,
})

/** What a merchant's repayments come to before any was recorded. */
export const noSignals = (merchantId: string, now: number): KeptSignals => ({
  merchantId,
  totalOnTime: 0,
  totalLate: 0,
  totalDefaults: 0,
  lenderCount: 0,
  mostRecentSettlementAt: null,
  updatedAt: now,
})

const totals = { ON_TIME: 'totalOnTime', LATE: 'totalLate', DEFAULT: 'totalDefaults' } as const satisfies Record<Outcome, keyof KeptSignals>

/** The signals with one repayment more, or one fewer; of lenders and the last settlement the caller knows. */
export const counted = (signals: KeptSignals, { outcome }: Pick<Repayment, 'outcome'>, by: 1 | -1): KeptSignals => {
  const total = totals[outcome]
  return { ...signals, [total]: signals[total] + by }
}

/** The later of two times, where there are any. */
export const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

/** A repayment as operators see it, with what undid it. */
export const repaymentView = (repayment: Repayment, reversal: Reversal | undefined) => ({
  ...pick(repayment, 'id', 'merchantId', 'lenderId', 'loanRef', 'outcome'),
  amountUsd: usdOf(repayment.amountUsd),
  ...isoTimes(pick(repayment, 'dueAt', 'settledAt')),
  ...pick(repayment, 'source', 'recordedBy'),
  ...isoTimes(pick(repayment, 'recordedAt')),
  reversal: reversal ? { ...pick(reversal, 'id', 'reason', 'recordedBy'), ...isoTimes(pick(reversal, 'recordedAt')) } : null,
})
export type RepaymentView = ReturnType<typeof repaymentView>
