import type { merchantRepaymentSignals, repaymentReversals, repayments } from '../../../db/schema/lending.ts'
import { AppError } from '../../core/errors.ts'
import { dayMs } from '../../lib/day.ts'
import { isoTimes, pick } from '../../lib/records.ts'
import { usdOf } from '../../lib/usd.ts'

export type Repayment = typeof repayments.$inferSelect
export type Reversal = typeof repaymentReversals.$inferSelect
export type KeptSignals = typeof merchantRepaymentSignals.$inferSelect
export type Outcome = Repayment['outcome']

export const outcomes = ['ON_TIME', 'LATE', 'DEFAULT'] as const satisfies readonly Outcome[]
export const loanRefMax = 128
export const reasonMax = 2_000

/** What is recorded of an instalment: whole cents, times in milliseconds. */
export type Draft = Pick<Repayment, 'merchantId' | 'lenderId' | 'loanRef' | 'outcome' | 'amountUsd' | 'dueAt' | 'settledAt'>

/** The days since the epoch by which defaults are counted, UTC. */
export const dayNumberOf = (ms: number): number => Math.floor(ms / dayMs)

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
