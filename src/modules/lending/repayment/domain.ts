import type { merchantRepaymentSignals, repaymentReversals, repayments } from '../../../../db/schema/lending.ts'
import { invalidField } from '../../../core/errors.ts'
import { dayMs, dayNumberOf } from '../../../lib/day.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { usdOf } from '../../../lib/usd.ts'

export type Repayment = typeof repayments.$inferSelect
export type Reversal = typeof repaymentReversals.$inferSelect
export type StoredSignals = typeof merchantRepaymentSignals.$inferSelect
type Outcome = Repayment['outcome']

export const outcomes = ['ON_TIME', 'LATE', 'DEFAULT'] as const satisfies readonly Outcome[]
export const loanRefMax = 128
/** One line without blanks at its ends. */
export const loanRefPattern = '^\\S(?:.*\\S)?$'
export const reasonMax = 2_000

/** The totals of a merchant's repayments, and the defaults within a window. */
export type RepaymentSignals = Pick<
  StoredSignals,
  'totalOnTime' | 'totalLate' | 'totalDefaults' | 'lenderCount' | 'mostRecentSettlementAt'
> & {
  readonly defaultsOfWindow: number
}

/** An instalment to record. Amounts are cents, times are milliseconds. */
export type RepaymentDraft = Pick<Repayment, 'merchantId' | 'lenderId' | 'loanRef' | 'outcome' | 'amountUsd' | 'dueAt' | 'settledAt'>

export const daysOfBlock = 16
/** Returns the block of days that contains a day number (days since 1970-01-01, UTC). */
export const blockOf = (day: number): number => Math.floor(day / daysOfBlock)

/**
 * The parts of a window: whole days, whole blocks of days, whole days again, and the partial days at both ends. Ends
 * are excluded.
 */
type WindowParts = {
  readonly daysBefore: readonly [from: number, end: number]
  readonly blocks: readonly [from: number, end: number]
  readonly daysAfter: readonly [from: number, end: number]
  /** Milliseconds, from after the first value up to and including the second. */
  readonly firstDay: readonly [after: number, upTo: number]
  readonly lastDay: readonly [after: number, upTo: number]
}

/**
 * Splits a window into parts that have stored counts and the partial days at its ends.
 * @param window milliseconds; includes `upTo`, excludes `after`; `upTo` is on a later day
 */
export function splitWindow({ after, upTo }: { readonly after: number; readonly upTo: number }): WindowParts {
  const [first, last] = [dayNumberOf(after), dayNumberOf(upTo)]
  const endOf = (day: number) => (day + 1) * dayMs - 1
  const [fromBlock, endBlock] = [blockOf(first + daysOfBlock), blockOf(last)]
  const isShort = fromBlock >= endBlock
  return {
    daysBefore: [first + 1, isShort ? last : fromBlock * daysOfBlock],
    blocks: isShort ? [0, 0] : [fromBlock, endBlock],
    daysAfter: isShort ? [0, 0] : [endBlock * daysOfBlock, last],
    firstDay: [after, endOf(first)],
    lastDay: [endOf(last - 1), upTo],
  }
}

/** A broken rule and its field. */
type RuleViolation = { readonly field: keyof RepaymentDraft; readonly rule: string }

/**
 * Returns the rule that an instalment breaks on its own.
 * @param now milliseconds
 */
export function violationOf({ outcome, amountUsd, dueAt, settledAt }: RepaymentDraft, now: number): RuleViolation | undefined {
  if (amountUsd <= 0) return { field: 'amountUsd', rule: 'must be more than 0' }
  for (const [field, at] of [
    ['dueAt', dueAt],
    ['settledAt', settledAt],
  ] as const) {
    if (at === null) continue
    if (at > now) return { field, rule: 'must not be in the future' }
    if (at < 0) return { field, rule: 'must not be before 1970' }
  }
  if (settledAt === null && outcome !== 'DEFAULT') return { field: 'settledAt', rule: 'required, except for the outcome DEFAULT' }
  return undefined
}

/** @throws AppError INVALID, with the field */
export function assertValid(draft: RepaymentDraft, now: number): void {
  const breach = violationOf(draft, now)
  if (breach) throw invalidField(breach.field, breach.rule)
}

/** Returns the key that identifies an instalment. */
export const keyOf = ({ lenderId, loanRef, dueAt }: Pick<RepaymentDraft, 'lenderId' | 'loanRef' | 'dueAt'>): string =>
  `${lenderId} ${dueAt} ${loanRef}`

const comparedFields = ['merchantId', 'outcome', 'amountUsd', 'settledAt'] as const
/** Returns whether two instalments of the same key are equal. */
export const isSameRepayment = (a: RepaymentDraft, b: RepaymentDraft): boolean => comparedFields.every((name) => a[name] === b[name])

/** Builds a new repayment. It is dated by its settlement, or by its due time if it was not settled. */
export const repaymentOf = (draft: RepaymentDraft, fields: Pick<Repayment, 'id' | 'source' | 'recordedBy' | 'recordedAt'>): Repayment => ({
  ...pick(draft, 'merchantId', 'lenderId', 'loanRef', 'outcome', 'amountUsd', 'dueAt', 'settledAt'),
  ...fields,
  datedAt: draft.settledAt ?? draft.dueAt,
  reversedAt: null,
})

/** Returns the totals before the first repayment. */
export const noSignals = (merchantId: string, now: number): StoredSignals => ({
  merchantId,
  totalOnTime: 0,
  totalLate: 0,
  totalDefaults: 0,
  lenderCount: 0,
  mostRecentSettlementAt: null,
  updatedAt: now,
})

const totals = { ON_TIME: 'totalOnTime', LATE: 'totalLate', DEFAULT: 'totalDefaults' } as const satisfies Record<
  Outcome,
  keyof StoredSignals
>

/** Adds or removes one repayment. The caller sets the lenders and the last settlement. */
export const addToSignals = (signals: StoredSignals, { outcome }: Pick<Repayment, 'outcome'>, change: 1 | -1): StoredSignals => {
  const total = totals[outcome]
  return { ...signals, [total]: signals[total] + change }
}

/** Returns the later of two times; null if both are. */
export const laterTime = (a: number | null, b: number | null): number | null => (a === null || b === null ? (a ?? b) : Math.max(a, b))

/** Renders a repayment as operators see it, with its reversal. */
export const repaymentView = (repayment: Repayment, reversal: Reversal | undefined) => ({
  ...pick(repayment, 'id', 'merchantId', 'lenderId', 'loanRef', 'outcome'),
  amountUsd: usdOf(repayment.amountUsd),
  ...isoTimes(pick(repayment, 'dueAt', 'settledAt')),
  ...pick(repayment, 'source', 'recordedBy'),
  ...isoTimes(pick(repayment, 'recordedAt')),
  reversal: reversal ? { ...pick(reversal, 'id', 'reason', 'recordedBy'), ...isoTimes(pick(reversal, 'recordedAt')) } : null,
})
export type RepaymentView = ReturnType<typeof repaymentView>
