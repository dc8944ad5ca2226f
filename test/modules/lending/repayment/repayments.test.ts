/** Tests recording and reversing repayments, and the stored signals of each merchant. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { merchantRepaymentSignals, repaymentReversals, repayments } from '../../../../db/schema/lending.ts'
import { checkRepayments } from '../../../../src/modules/lending/repayment/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { createRepayment, instalmentBody, lenderIn, previewOf, recordRepayment, reverseRepayment } from '../../../support/repayments.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const now = '2026-01-06T12:00:00.000Z'

async function setUp(app: TestApp) {
  const operator = await app.superAdmin()
  const merchant = await app.merchant()
  return { operator, token: operator.token, merchantId: merchant.id, lenderId: await lenderIn(app, operator) }
}

/** Lists the problems that `souk check` finds. */
async function findProblems({ deps }: TestApp): Promise<string[]> {
  const found: string[] = []
  for await (const { problems } of checkRepayments(deps.db)) found.push(...problems)
  return found
}

test('a repayment is recorded exactly, for a lender in any status, and listed newest first by its filters', async () => {
  await using app = await testApp()
  const { operator, token, merchantId, lenderId } = await setUp(app)
  for (const status of ['ACTIVE', 'SUSPENDED', 'ARCHIVED'])
    ok(await app.call('PATCH', `/admin/lenders/${lenderId}`, { token, body: { status } }))
  const body = {
    merchantId,
    lenderId,
    loanRef: 'L-1/é',
    outcome: 'LATE',
    amountUsd: 1234.56,
    dueAt: '2025-11-30T23:59:59.999Z',
    settledAt: '2025-12-03T01:00:00+01:00',
  }
  const created = await app.call('POST', '/admin/repayments', { token, body })
  const { id, ...rest } = created.body
  expect([created.status, id]).toEqual([201, expect.stringMatching(/^rep_[0-9a-z]{26}$/)])
  expect(rest).toEqual({
    ...body,
    settledAt: '2025-12-03T00:00:00.000Z',
    source: 'OPERATOR',
    recordedBy: operator.id,
    recordedAt: now,
    reversal: null,
  })
  const other = await createRepayment(app, operator, {
    merchantId: (await app.merchant()).id,
    lenderId,
    outcome: 'DEFAULT',
    settledAt: null,
  })
  const ids = async (query: string) =>
    (await app.call('GET', `/admin/repayments${query}`, { token })).body.data.map((one: { id: string }) => one.id)
  expect(await ids('')).toEqual([other, id])
  expect(await ids(`?merchantId=${merchantId}`)).toEqual([id])
  expect(await ids(`?lenderId=${lenderId}&outcome=DEFAULT`)).toEqual([other])
  expect(await ids(`?loanRef=${encodeURIComponent('L-1/é')}`)).toEqual([id])
  expect(await ids('?lenderId=lend_x')).toEqual([])
  expect((await app.call('GET', '/api/v3/admin/repayments?limit=1&page=2', { token })).body).toMatchObject({
    total: 2,
    pages: 2,
    data: [{ id }],
  })
})

test('an invalid repayment is refused by field and stores nothing', async () => {
  await using app = await testApp()
  const { token, merchantId, lenderId } = await setUp(app)
  const invalidChanges: [change: object, message: RegExp][] = [
    [{ amountUsd: 0 }, /^amountUsd:/],
    [{ amountUsd: -1 }, /^amountUsd:/],
    [{ amountUsd: 0.001 }, /^amountUsd: must have at most two decimals$/],
    [{ amountUsd: 10.005 }, /^amountUsd: must have at most two decimals$/],
    [{ amountUsd: 1e13 }, /^amountUsd: must be less than 10000000000000$/],
    [{ amountUsd: '100' }, /^amountUsd:/],
    [{ outcome: 'PAID' }, /^outcome: must be one of ON_TIME, LATE, DEFAULT$/],
    [{ dueAt: '2026-01-06T12:00:00.001Z' }, /^dueAt: must not be in the future$/],
    [{ settledAt: '2026-01-06T12:00:00.001Z' }, /^settledAt: must not be in the future$/],
    [{ dueAt: '1969-12-31T23:59:59.999Z' }, /^dueAt: must not be before 1970$/],
    [{ dueAt: '2025-02-29T00:00:00Z' }, /^dueAt: must be a valid time$/],
    [{ dueAt: '2025-12-01' }, /^dueAt: must be a time with its zone/],
    [{ settledAt: null }, /^settledAt: required, except for the outcome DEFAULT$/],
    [{ settledAt: undefined, outcome: 'LATE' }, /^settledAt: required/],
    [{ loanRef: '' }, /^loanRef:/],
    [{ loanRef: ' L-1' }, /^loanRef: must be one line of text without spaces at its ends$/],
    [{ loanRef: 'x'.repeat(129) }, /^loanRef:/],
    [{ merchantId: 'mer_00000000000000000000000000' }, /^merchantId: must be a merchant of this instance$/],
    [
      { merchantId: (await app.deps.db.read.rows<{ id: string }>(sql`select id from users where role = 'SUPER_ADMIN'`))[0]?.id },
      /^merchantId:/,
    ],
    [{ lenderId: 'lend_00000000000000000000000000' }, /^lenderId: must be a lender of this instance$/],
    [{ reversedAt: null }, /^unknown field: reversedAt$/],
  ]
  for (const [change, message] of invalidChanges) {
    const body = { ...instalmentBody({ merchantId, lenderId }), ...change }
    const answer = await app.call('POST', '/admin/repayments', { token, body })
    expect([change, answer.status, answer.body.message]).toEqual([change, 400, expect.stringMatching(message)])
  }
  expect(await app.deps.db.read.select().from(repayments)).toEqual([])
  // The current moment is not in the future.
  expect((await recordRepayment(app, { token }, { merchantId, lenderId, dueAt: now, settledAt: now })).status).toBe(201)
})

describe('one repayment per lender, loan and due date counts', () => {
  test('a second one is 409 until the first is reversed, also for another merchant, and a reversal happens once', async () => {
    await using app = await testApp()
    const { operator, token, merchantId, lenderId } = await setUp(app)
    const repayment = { merchantId, lenderId, loanRef: 'L-1' }
    const id = await createRepayment(app, operator, repayment)
    for (const duplicate of [repayment, { ...repayment, outcome: 'LATE' }, { ...repayment, merchantId: (await app.merchant()).id }]) {
      const { status, body } = await recordRepayment(app, operator, duplicate)
      expect([status, body.message]).toEqual([409, expect.stringMatching(/^loanRef: .* exists: reverse it first$/)])
    }
    ok(await recordRepayment(app, operator, { ...repayment, dueAt: '2025-11-01T00:00:00.000Z' }), 201)
    ok(await recordRepayment(app, operator, { ...repayment, lenderId: await lenderIn(app, operator) }), 201)
    app.clock.advance(60_000)
    const reversed = ok(await reverseRepayment(app, operator, id)).body
    expect(reversed).toMatchObject({
      id,
      outcome: 'ON_TIME',
      reversal: {
        id: expect.stringMatching(/^rev_/),
        reason: 'Reported twice',
        recordedBy: operator.id,
        recordedAt: '2026-01-06T12:01:00.000Z',
      },
    })
    const twice = await reverseRepayment(app, operator, id)
    expect([twice.status, twice.body.message]).toEqual([409, 'The repayment was already reversed'])
    const nextId = await createRepayment(app, operator, { ...repayment, outcome: 'DEFAULT' })
    const { data } = (await app.call('GET', '/admin/repayments?loanRef=L-1', { token })).body
    expect(
      data
        .filter((one: { dueAt: string }) => one.dueAt === '2025-12-01T00:00:00.000Z')
        .map((one: { id: string; reversal: unknown }) => [one.id, one.reversal === null]),
    ).toContainEqual([nextId, true])
    expect(data.find((one: { id: string }) => one.id === id)).toEqual(reversed)
    expect((await reverseRepayment(app, operator, 'rep_00000000000000000000000000')).status).toBe(404)
    expect((await app.call('POST', `/admin/repayments/${nextId}/reverse`, { token, body: {} })).body.message).toMatch(/^reason:/)
    expect(await findProblems(app)).toEqual([])
  })

  test('of concurrent records one succeeds, of concurrent reversals one succeeds, and the signals agree', async () => {
    await using app = await testApp()
    const { operator, merchantId, lenderId } = await setUp(app)
    const others = await Promise.all(Array.from({ length: 3 }, async () => (await app.merchant()).id))
    const requests = Array.from({ length: 16 }, (_, nth) => ({
      merchantId: [merchantId, ...others][nth % 4] ?? '',
      lenderId,
      loanRef: 'L-1',
    }))
    const answers = await Promise.all(requests.map((repayment) => recordRepayment(app, operator, repayment)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(15).fill(409)])
    const id = answers.find(({ status }) => status === 201)?.body.id
    const reversals = await Promise.all(Array.from({ length: 8 }, () => reverseRepayment(app, operator, id)))
    expect(reversals.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
    const stored = await app.deps.db.read.select().from(merchantRepaymentSignals)
    expect(
      stored.every(
        ({ totalOnTime, lenderCount, mostRecentSettlementAt }) => totalOnTime === 0 && lenderCount === 0 && mostRecentSettlementAt === null,
      ),
    ).toBe(true)
    expect(await app.deps.db.read.select().from(repaymentReversals)).toHaveLength(1)
    expect(await findProblems(app)).toEqual([])
  })

  test('a reversal with an Idempotency-Key is repeated from its stored response', async () => {
    await using app = await testApp()
    const { operator, token, merchantId, lenderId } = await setUp(app)
    const id = await createRepayment(app, operator, instalmentBody({ merchantId, lenderId }))
    const send = () =>
      app.call('POST', `/admin/repayments/${id}/reverse`, { token, body: { reason: 'Wrong' }, headers: { 'idempotency-key': 'r-1' } })
    const first = ok(await send())
    const repeated = ok(await send())
    expect([repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
  })

  test('a request with an Idempotency-Key records once', async () => {
    await using app = await testApp()
    const { token, merchantId, lenderId } = await setUp(app)
    const body = instalmentBody({ merchantId, lenderId })
    const send = () => app.call('POST', '/admin/repayments', { token, body, headers: { 'idempotency-key': 'one' } })
    const [first, second] = [await send(), await send()]
    expect([first.status, second.status, second.text, second.headers.get('idempotent-replayed')]).toEqual([201, 201, first.text, 'true'])
  })
})

test('the stored signals of a merchant equal the counted repayments, in any order of records and reversals', async () => {
  await using app = await testApp()
  const { operator, lenderId, merchantId } = await setUp(app)
  const second = await lenderIn(app, operator)
  const signals = async () => (await previewOf(app, merchantId)).body.signals
  const none = {
    totalSettledOnTime: 0,
    totalLate: 0,
    totalDefaults: 0,
    trailingTwelveMonthDefaults: 0,
    lenderCount: 0,
    mostRecentSettlementAt: null,
  }
  expect(await signals()).toEqual(none)
  const first = await createRepayment(app, operator, { merchantId, lenderId, settledAt: '2025-12-05T00:00:00.000Z' })
  const late = await createRepayment(app, operator, {
    merchantId,
    lenderId: second,
    outcome: 'LATE',
    settledAt: '2025-12-20T00:00:00.000Z',
  })
  const failed = await createRepayment(app, operator, { merchantId, lenderId: second, outcome: 'DEFAULT', settledAt: null })
  const all = {
    totalSettledOnTime: 1,
    totalLate: 1,
    totalDefaults: 1,
    trailingTwelveMonthDefaults: 1,
    lenderCount: 2,
    mostRecentSettlementAt: '2025-12-20T00:00:00.000Z',
  }
  expect(await signals()).toEqual(all)
  expect(await findProblems(app)).toEqual([])
  ok(await reverseRepayment(app, operator, late))
  expect(await signals()).toEqual({ ...all, totalLate: 0, mostRecentSettlementAt: '2025-12-05T00:00:00.000Z' })
  ok(await reverseRepayment(app, operator, failed))
  expect(await signals()).toEqual({
    ...all,
    totalLate: 0,
    totalDefaults: 0,
    trailingTwelveMonthDefaults: 0,
    lenderCount: 1,
    mostRecentSettlementAt: '2025-12-05T00:00:00.000Z',
  })
  ok(await reverseRepayment(app, operator, first))
  expect(await signals()).toEqual(none)
  expect(await findProblems(app)).toEqual([])
})

test('`souk check` names the wrongly stored signals of a merchant', async () => {
  await using app = await testApp()
  const { operator, lenderId, merchantId } = await setUp(app)
  await createRepayment(app, operator, { merchantId, lenderId, outcome: 'DEFAULT' })
  await app.deps.db.write((tx) =>
    tx.update(merchantRepaymentSignals).set({ totalLate: 3 }).where(eq(merchantRepaymentSignals.merchantId, merchantId)),
  )
  await app.deps.db.write((tx) => tx.rows(sql`update merchant_default_days set defaults = 2 where merchant_id = ${merchantId}`))
  expect(await findProblems(app)).toEqual([
    `Merchant ${merchantId}: the stored totals differ from the repayments`,
    `Merchant ${merchantId}: 2 defaults are stored for day 2025-12-01, but there are 1`,
    `Merchant ${merchantId}: 1 defaults are stored for sixteen days, but 2 for these days one by one`,
  ])
})

test('the database refuses to change, remove or reverse a repayment twice', async () => {
  await using app = await testApp()
  const { operator, lenderId, merchantId } = await setUp(app)
  const id = await createRepayment(app, operator, { merchantId, lenderId })
  ok(await reverseRepayment(app, operator, id))
  const statements = [
    sql`update repayments set amount_usd = 1`,
    sql`update repayments set reversed_at = null`,
    sql`update repayments set reversed_at = 5`,
    sql`delete from repayments`,
    sql`update repayment_reversals set reason = 'x'`,
    sql`delete from repayment_reversals`,
    sql`update lender_status_history set status = 'ACTIVE'`,
    sql`delete from lender_status_history`,
    ...(engine === 'postgres'
      ? [sql`truncate repayment_reversals`, sql`truncate lender_status_history`]
      : [
          sql`insert or replace into repayment_reversals select id, repayment_id, 'x', recorded_by, recorded_at from repayment_reversals`,
          sql`insert or replace into lender_status_history select id || 'x', lender_id, position, 'ACTIVE', actor, at from lender_status_history`,
        ]),
  ]
  for (const statement of statements) await expect(app.deps.db.write((tx) => tx.rows(statement))).rejects.toThrow()
  expect((await app.call('GET', '/admin/repayments', { token: operator.token })).body.data).toMatchObject([{ id, amountUsd: 100 }])
})

test.skipIf(engine === 'postgres')(
  'a filtered list is counted and read by an index in its order, without scanning all repayments',
  async () => {
    await using app = await testApp()
    for (const column of ['merchant_id', 'lender_id', 'loan_ref', 'outcome']) {
      const where = sql`where ${sql.identifier(column)} = 'x'`
      for (const query of [
        sql`select count(*) from repayments ${where}`,
        sql`select * from repayments ${where} order by id desc limit 20`,
      ]) {
        const rows = await app.deps.db.read.rows<{ detail: string }>(sql`explain query plan ${query}`)
        const details = rows.map(({ detail }) => detail)
        expect([column, details.length, details[0]]).toEqual([
          column,
          1,
          expect.stringMatching(/^SEARCH repayments USING .*INDEX repayments_/),
        ])
      }
    }
  },
)
