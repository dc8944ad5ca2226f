/** What an operator types of a repayment, and what the API is sent. */
import type { Schema } from '../../lib/api/api.ts'
import type { Outcome } from '../../lib/format/lending-names.ts'
import { usdOf } from '../lending-queue/review.domain.ts'

export type Repayment = Schema<'Repayment'>

export type Typed = {
  readonly loanRef: string
  readonly outcome: Outcome
  readonly amount: string
  /** Days, as a field `date` has them. */
  readonly due: string
  readonly settled: string
}
export const nothingTyped: Typed = { loanRef: '', outcome: 'ON_TIME', amount: '', due: '', settled: '' }

/** What is wrong, by field: `required`, or that it is no amount. */
export type Wrong = { readonly [Name in 'merchant' | 'lender' | 'loanRef' | 'amount' | 'due' | 'settled']?: 'required' | 'amount' }

type Body = Omit<Repayment, 'id' | 'source' | 'recordedBy' | 'recordedAt' | 'reversal'>

/** Days begin where the API's do, in UTC: those of a loan tape are read the same way. */
const momentOf = (day: string): string => `${day}T00:00:00.000Z`

export function bodyOf(
  typed: Typed,
  of: { merchantId?: string | undefined; lenderId?: string | undefined },
): { body: Body } | { wrong: Wrong } {
  const amountUsd = usdOf(typed.amount)
  const loanRef = typed.loanRef.trim()
  const isSettled = typed.settled !== ''
  const wrong: Wrong = {
    ...(!of.merchantId && { merchant: 'required' }),
    ...(!of.lenderId && { lender: 'required' }),
    ...(loanRef === '' && { loanRef: 'required' }),
    ...((amountUsd === undefined || amountUsd === 0) && { amount: 'amount' }),
    ...(typed.due === '' && { due: 'required' }),
    // What nobody paid has no such day.
    ...(!isSettled && typed.outcome !== 'DEFAULT' && { settled: 'required' }),
  }
  if (Object.keys(wrong).length > 0 || !of.merchantId || !of.lenderId || amountUsd === undefined) return { wrong }
  return {
    body: {
      merchantId: of.merchantId,
      lenderId: of.lenderId,
      loanRef,
      outcome: typed.outcome,
      amountUsd,
      dueAt: momentOf(typed.due),
      settledAt: isSettled ? momentOf(typed.settled) : null,
    },
  }
}

/** The columns of a loan tape. */
export const tapeColumns = ['merchantId', 'lenderId', 'loanRef', 'outcome', 'amountUsd', 'dueAt', 'settledAt'] as const
