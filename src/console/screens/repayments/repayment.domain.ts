/** The form values of a repayment and its body. */
import type { Schema } from '../../lib/api/api.ts'
import type { Outcome } from '../../lib/format/lending-names.ts'
import { parseUsd } from '../lending-queue/review.domain.ts'

export type Repayment = Schema<'Repayment'>

type RepaymentText = {
  readonly loanRef: string
  readonly outcome: Outcome
  readonly amount: string
  /** `date` values. */
  readonly due: string
  readonly settled: string
}
export const blankRepayment: RepaymentText = { loanRef: '', outcome: 'ON_TIME', amount: '', due: '', settled: '' }

/** Errors by field. */
export type FieldErrors = { readonly [Name in 'merchant' | 'lender' | 'loanRef' | 'amount' | 'due' | 'settled']?: 'required' | 'amount' }

type Body = Omit<Repayment, 'id' | 'source' | 'recordedBy' | 'recordedAt' | 'reversal'>

/** Days start in UTC, as in loan tapes. */
const startOfDay = (day: string): string => `${day}T00:00:00.000Z`

/** Builds the body of a repayment, or says which fields are wrong. Days become midnight UTC. */
export function bodyOf(
  input: RepaymentText,
  parties: { merchantId?: string | undefined; lenderId?: string | undefined },
): { body: Body } | { errors: FieldErrors } {
  const amountUsd = parseUsd(input.amount)
  const loanRef = input.loanRef.trim()
  const isSettled = input.settled !== ''
  const errors: FieldErrors = {
    ...(!parties.merchantId && { merchant: 'required' }),
    ...(!parties.lenderId && { lender: 'required' }),
    ...(loanRef === '' && { loanRef: 'required' }),
    ...((amountUsd === undefined || amountUsd === 0) && { amount: 'amount' }),
    ...(input.due === '' && { due: 'required' }),
    // A default has no settlement date.
    ...(!isSettled && input.outcome !== 'DEFAULT' && { settled: 'required' }),
  }
  if (Object.keys(errors).length > 0 || !parties.merchantId || !parties.lenderId || amountUsd === undefined) return { errors }
  return {
    body: {
      merchantId: parties.merchantId,
      lenderId: parties.lenderId,
      loanRef,
      outcome: input.outcome,
      amountUsd,
      dueAt: startOfDay(input.due),
      settledAt: isSettled ? startOfDay(input.settled) : null,
    },
  }
}

/** The columns of a loan tape. */
export const tapeColumns = ['merchantId', 'lenderId', 'loanRef', 'outcome', 'amountUsd', 'dueAt', 'settledAt'] as const
