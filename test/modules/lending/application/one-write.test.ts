/**
 * Tests that each change of an application, a document or a repayment is one write, so that a crash leaves all or
 * nothing of it.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { business } from '../../../support/kyb.ts'
import { applicationPath, createCompleteDraft, createDraft, createSubmitted, lendingApp } from '../../../support/lending.ts'
import { documentPath, png } from '../../../support/lending-documents.ts'
import { createRepayment, instalmentBody, lenderIn } from '../../../support/repayments.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('each change of applications, lenders and repayments writes its event and its audit row in one write', async () => {
  await using lending = await lendingApp()
  const { app, merchant, operator } = lending
  const { db } = app.deps
  const write = db.write
  let writes = 0
  Object.assign(db, {
    write: (...args: Parameters<typeof write>) => {
      writes++
      return write(...args)
    },
  })
  const other = await app.merchant()
  const lenderId = await lenderIn(app, operator)
  const id = await createRepayment(app, operator, { merchantId: merchant.id, lenderId })
  const draft = async () => (await createDraft(app, merchant)).id
  const submit = async () => (await createSubmitted(app, merchant)).id
  const figures = { cohort: 'US_COMPANY', monthlyAvgRevenueUsd: 10_000, verifiedCollateralUsd: 20_000, operationalRisk: 'LOW' }
  const file = { raw: png, headers: { 'content-type': 'image/png' } }
  const withFile = await draft()
  const one = instalmentBody({ merchantId: merchant.id, lenderId })
  const line = `${merchant.id},${lenderId},tape,DEFAULT,1,2025-10-01,`
  const tape = `merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt\n${line}\n${line.replace('tape', 'tape-2')}\n`
  const decision = async (name: string, more: object = {}) =>
    ['POST', `/admin${applicationPath(await submit(), '/decision')}`, { body: { decision: name, ...more } }] as const
  const calls: (readonly [method: string, path: string, sent: object])[] = [
    ['POST', '/kyb', { body: business, token: other.token }],
    ['POST', '/lending-application', { body: {} }],
    ['POST', '/lending-application', { body: { merchantId: merchant.id }, token: operator.token }],
    ['PATCH', applicationPath(await draft()), { body: { requestedTermMonths: 12 } }],
    ['POST', applicationPath((await createCompleteDraft(app, merchant)).id, '/submit'), {}],
    ['POST', applicationPath(await draft(), '/withdraw'), {}],
    ['POST', applicationPath(await submit(), '/withdraw'), { body: { reason: 'Found another' } }],
    await decision('APPROVED', { assessment: figures }),
    await decision('REJECTED', { reason: 'No' }),
    await decision('UNDER_REVIEW'),
    ['PUT', documentPath(withFile, 'owner_id'), file],
    ['PUT', documentPath(withFile, 'owner_id'), file],
    ['GET', `/admin${documentPath(withFile, 'owner_id')}`, {}],
    ['DELETE', documentPath(withFile, 'owner_id'), {}],
    ['POST', '/admin/lenders', { body: { displayName: 'Another' } }],
    ['PATCH', `/admin/lenders/${lenderId}`, { body: { status: 'ACTIVE' } }],
    ['POST', '/admin/repayments', { body: one }],
    ['POST', `/admin/repayments/${id}/reverse`, { body: { reason: 'Twice' } }],
    ['POST', '/admin/repayments/import', { raw: tape, headers: { 'content-type': 'text/csv' } }],
  ]
  for (const [method, path, sent] of calls) {
    const { token } = path.startsWith('/admin') ? operator : merchant
    writes = 0
    const { status } = await app.call(method, path, { token, ...sent })
    expect([method, path, status < 300, writes]).toEqual([method, path, true, 1])
  }
  const kyb = ok(await app.call('GET', '/kyb', { token: other.token })).body
  writes = 0
  ok(await app.call('POST', `/admin/kyb/${kyb.id}/decision`, { token: operator.token, body: { decision: 'APPROVED' } }))
  expect(writes).toBe(1)
})
