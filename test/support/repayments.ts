/** What operators record of lenders and repayments. */
import type { Answer, TestApp } from './app.ts'
import { ok } from './selling.ts'

type Operator = { readonly token: string }

/** Registers a lender, and answers its id. */
export const lenderIn = async (app: TestApp, { token }: Operator, displayName = 'Harbour Bank'): Promise<string> =>
  ok(await app.call('POST', '/admin/lenders', { token, body: { displayName } }), 201).body.id

export type Instalment = {
  merchantId: string
  lenderId: string
  loanRef?: string
  outcome?: string
  amountUsd?: number
  dueAt?: string
  settledAt?: string | null
}

let loans = 0
/** An instalment that was paid on the day it was due, of a loan of its own; what is given stands in its place. */
export const instalmentBody = (given: Instalment) => ({
  loanRef: `loan-${++loans}`,
  outcome: 'ON_TIME',
  amountUsd: 100,
  dueAt: '2025-12-01T00:00:00.000Z',
  settledAt: '2025-12-01T00:00:00.000Z',
  ...given,
})

export const recordRepayment = (app: TestApp, { token }: Operator, given: Instalment): Promise<Answer> =>
  app.call('POST', '/admin/repayments', { token, body: instalmentBody(given) })
/** Records an instalment, and answers its id. */
export const createRepayment = async (app: TestApp, operator: Operator, given: Instalment): Promise<string> =>
  ok(await recordRepayment(app, operator, given), 201).body.id
export const reverseRepayment = (app: TestApp, { token }: Operator, id: string, reason = 'Reported twice'): Promise<Answer> =>
  app.call('POST', `/admin/repayments/${id}/reverse`, { token, body: { reason } })

/** What the public is told of a merchant. */
export const previewOf = (app: TestApp, merchantId: string, headers: Record<string, string> = {}): Promise<Answer> =>
  app.call('GET', `/v2/merchant/credit-tier/upgrade-preview/${merchantId}`, { headers })
