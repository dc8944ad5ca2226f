/** Lenders and repayments that operators record. */
import type { Answer, TestApp } from './app.ts'
import { ok } from './selling.ts'

type Operator = { readonly token: string }

/** Registers a lender. Returns its id. */
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
/** Returns the body of an instalment of a new loan, paid on its due day unless `given` differs. */
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
/** Records an instalment. Returns its id. */
export const createRepayment = async (app: TestApp, operator: Operator, given: Instalment): Promise<string> =>
  ok(await recordRepayment(app, operator, given), 201).body.id
export const reverseRepayment = (app: TestApp, { token }: Operator, id: string, reason = 'Reported twice'): Promise<Answer> =>
  app.call('POST', `/admin/repayments/${id}/reverse`, { token, body: { reason } })

/** Reads the public preview of a merchant's next credit tier. */
export const previewOf = (app: TestApp, merchantId: string, headers: Record<string, string> = {}): Promise<Answer> =>
  app.call('GET', `/v2/merchant/credit-tier/upgrade-preview/${merchantId}`, { headers })
