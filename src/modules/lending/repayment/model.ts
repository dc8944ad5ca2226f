import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { fieldsOf, Instant, instantOf, integer, maybe, notBlank, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { usdEnd } from '../../../lib/usd.ts'
import { loanRefMax, loanRefPattern, outcomes, reasonMax } from './domain.ts'

const sources = ['OPERATOR', 'IMPORT', 'ATTESTATION'] as const

export const RepaymentRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'merchantId', 'lenderId', 'loanRef'),
    outcome: oneOf(outcomes),
    amountUsd: Type.Number({ description: 'In US dollars' }),
    dueAt: Instant,
    settledAt: nullable(Instant),
    source: oneOf(sources, { description: 'How it was recorded' }),
    recordedBy: t.String({ description: 'Id of the person who recorded it' }),
    recordedAt: Instant,
    reversal: nullable(
      t.Object(
        {
          ...fieldsOf(t.String(), 'id', 'reason', 'recordedBy'),
          recordedAt: Instant,
        },
        { title: 'RepaymentReversal' },
      ),
    ),
  },
  { title: 'Repayment' },
)
export const Repayments = pageOf(RepaymentRecord)

const loanRef = text(loanRefMax, {
  pattern: loanRefPattern,
  rule: 'one line of text without spaces at its ends',
  description: "The lender's reference of the loan",
})
export const RecordRepayment = t.Object({
  merchantId: text(64),
  lenderId: text(64, { description: 'A lender of any status' }),
  loanRef,
  outcome: oneOf(outcomes),
  amountUsd: Type.Number({
    exclusiveMinimum: 0,
    exclusiveMaximum: usdEnd,
    description: 'Amount of the instalment, in US dollars with at most two decimals',
  }),
  dueAt: instantOf('When it was due. Not in the future'),
  settledAt: maybe(instantOf('When it was settled. Not in the future. Optional for a `DEFAULT`')),
})

export const ReverseRepayment = t.Object({ reason: text(reasonMax, notBlank) })

export const ListRepayments = t.Object({
  ...pageQuery,
  merchantId: t.Optional(text(64)),
  lenderId: t.Optional(text(64)),
  loanRef: t.Optional(text(loanRefMax)),
  outcome: t.Optional(oneOf(outcomes)),
})

const many = integer({ minimum: 0 })
export const TapeReport = t.Object(
  {
    complete: t.Boolean({ description: 'Always true. An import that was stopped is 503' }),
    rows: many,
    recorded: many,
    known: integer({ minimum: 0, description: 'Number of rows that were recorded before with the same values' }),
    failed: many,
    errors: t.Array(t.Object({ row: integer(), column: t.Optional(t.String()), message: t.String() }), {
      description: 'Errors of skipped rows. The header is row 1',
    }),
    errorsTruncated: t.Boolean({ description: 'True if more than 1,000 rows failed' }),
  },
  { title: 'LoanTapeReport' },
)
