/** Merchants who file their business for verification (KYB), and operators who decide. */
import type { Answer, TestApp } from './app.ts'
import { ok } from './selling.ts'

export const business = {
  cohort: 'US_COMPANY',
  legalName: 'Planted Trading LLC',
  registrationNumber: 'Planted-4711',
  country: 'US',
  owners: [
    { name: 'Planted Haddad', share: 60 },
    { name: 'Planted Okafor', share: 40 },
  ],
}

type Merchant = { readonly token: string }

/** Files a business for verification. Returns the record. */
export const fileBusiness = async (app: TestApp, { token }: Merchant, change: object = {}): Promise<Answer['body']> =>
  ok(await app.call('POST', '/kyb', { token, body: { ...business, ...change } }), 201).body

/** Files a merchant's business and approves it. Returns the record. */
export async function approveBusiness(app: TestApp, merchant: Merchant, operator: Merchant, change: object = {}): Promise<Answer['body']> {
  const { id } = await fileBusiness(app, merchant, change)
  return ok(await app.call('POST', `/admin/kyb/${id}/decision`, { token: operator.token, body: { decision: 'APPROVED' } })).body
}
