/** KYB records: filed by merchants, listed and decided by operators. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { kybCohorts } from '../../../../src/modules/shop/kyb/domain.ts'
import { approvedCohortOf } from '../../../../src/modules/shop/kyb/index.ts'
import { openShop } from '../../../../src/modules/shop/shop/index.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness, business, fileBusiness } from '../../../support/kyb.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const unknownId = 'kyb_00000000000000000000000000'
const now = '2026-01-06T12:00:00.000Z'
const statusOf = async (app: TestApp, token: string): Promise<string> => ok(await app.call('GET', '/shops/v2', { token })).body.status
const decide = (
  app: TestApp,
  { token }: { token: string },
  id: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> => app.call('POST', `/admin/kyb/${id}/decision`, { token, body, headers })

describe('filing', () => {
  test('filing creates a PENDING record, which the merchant can read', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const filedRecord = await app.call('POST', '/kyb', { token: merchant.token, body: business })
    const { id, ...rest } = filedRecord.body
    expect(filedRecord.status).toBe(201)
    expect(id).toMatch(/^kyb_[0-9a-z]{26}$/)
    expect(rest).toEqual({
      ...business,
      merchantId: merchant.id,
      status: 'PENDING',
      reason: null,
      decidedAt: null,
      createdAt: now,
      updatedAt: now,
    })
    const read = await app.call('GET', '/kyb', { token: merchant.token })
    expect([read.status, read.text, read.headers.get('etag')]).toEqual([200, filedRecord.text, filedRecord.headers.get('etag')])
    expect(read.headers.get('cache-control')).toBe('no-store')
    expect((await app.call('GET', '/merchant/me', { token: merchant.token })).body.kyb).toEqual(filedRecord.body)
    expect(await statusOf(app, merchant.token)).toBe('ACTIVE')
  })

  test('a merchant without a record gets 404, and null in their account', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const { status, body } = await app.call('GET', '/kyb', { token })
    expect([status, body.message]).toEqual([404, 'No KYB record was filed yet'])
    expect((await app.call('GET', '/merchant/me', { token })).body.kyb).toBeNull()
  })

  test('filing accepts every cohort, and shares with four decimals', async () => {
    await using app = await testApp()
    const owners = [33.3333, 33.3333, 33.3334].map((share) => ({ name: 'A', share }))
    for (const cohort of kybCohorts) {
      const merchant = await app.merchant()
      expect(await fileBusiness(app, merchant, { cohort, owners })).toMatchObject({ cohort, owners })
    }
  })

  test('filing refuses invalid fields, naming the field but not its value', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const owner = (share: unknown, name: unknown = 'A') => ({ owners: [{ name, share }] })
    const cases: [change: object, message: RegExp][] = [
      [{ cohort: 'MARS_LTD' }, /^cohort: must be one of UAE_MAINLAND, /],
      [{ cohort: undefined }, /^cohort:/],
      [{ country: 'XX' }, /^country: must be an ISO 3166-1 country code$/],
      [{ country: 'XK' }, /^country: must be an ISO 3166-1 country code$/],
      [{ country: 'us' }, /^country:/],
      [{ legalName: ' ' }, /^legalName: must be text that is not blank$/],
      [{ legalName: 'z'.repeat(201) }, /^legalName:/],
      [{ registrationNumber: '' }, /^registrationNumber:/],
      [{ registrationNumber: 'z'.repeat(101) }, /^registrationNumber:/],
      [{ owners: [] }, /^owners:/],
      [{ owners: Array.from({ length: 51 }, () => ({ name: 'A', share: 1 })) }, /^owners:/],
      [owner(0), /^owners\.0\.share:/],
      [owner(-0), /^owners\.0\.share:/],
      [owner(-1), /^owners\.0\.share:/],
      [owner(100.0001), /^owners\.0\.share:/],
      [owner(1e308), /^owners\.0\.share:/],
      [owner('50'), /^owners\.0\.share:/],
      [owner(null), /^owners\.0\.share:/],
      [owner(33.33333), /^owners\.0\.share: must have at most 4 decimals$/],
      [owner(50, '  '), /^owners\.0\.name:/],
      [owner(50, 'z'.repeat(201)), /^owners\.0\.name:/],
      [{ owners: [...business.owners, { name: 'A', share: 0.0001 }] }, /^owners: must have shares that add up to at most 100$/],
      [{ owners: [{ name: 'A', share: 1, shares: 2 }] }, /^unknown field: owners\.\d*\.?shares$/],
      [{ status: 'APPROVED' }, /^unknown field: status$/],
      [{ merchantId: 'mer_x' }, /^unknown field: merchantId$/],
    ]
    for (const [change, message] of cases) {
      const answer = await app.call('POST', '/kyb', { token, body: { ...business, ...change } })
      expect([JSON.stringify(change).slice(0, 80), answer.status]).toEqual([JSON.stringify(change).slice(0, 80), 400])
      expect(answer.body.message).toMatch(message)
      expect(answer.text).not.toMatch(/MARS|zzz|Planted/)
    }
    const raw = JSON.stringify({ ...business, ...owner(1) }).replace('"share":1', '"share":99.99999999999999999999')
    const rounded = await app.call('POST', '/kyb', { token, raw, headers: { 'content-type': 'application/json' } })
    expect([rounded.status, rounded.body.message]).toEqual([400, 'owners.0.share: has too many digits to be exact'])
    expect((await app.call('GET', '/kyb', { token })).status).toBe(404)
  })

  test('filing gets 409 while a record is pending or approved, and is accepted again after a rejection', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const merchant = await app.merchant()
    const fileAgain = () => app.call('POST', '/kyb', { token: merchant.token, body: { ...business, cohort: 'UK_LTD' } })
    const first = await fileBusiness(app, merchant)
    expect([(await fileAgain()).status, (await fileAgain()).body.message]).toEqual([
      409,
      'The merchant already has a pending or approved KYB record',
    ])
    ok(await decide(app, operator, first.id, { decision: 'REJECTED', reason: 'The register says otherwise' }))
    const rejected = ok(await app.call('GET', '/kyb', { token: merchant.token })).body
    expect(rejected).toMatchObject({ id: first.id, status: 'REJECTED', reason: 'The register says otherwise', decidedAt: now })
    const second = ok(await fileAgain()).body
    expect([second.id === first.id, second.status, second.reason]).toEqual([false, 'PENDING', null])
    expect(ok(await app.call('GET', '/kyb', { token: merchant.token })).body).toEqual(second)
    ok(await decide(app, operator, second.id, { decision: 'APPROVED' }))
    expect((await fileAgain()).status).toBe(409)
    expect(ok(await app.call('GET', '/kyb', { token: merchant.token })).body).toMatchObject({ id: second.id, status: 'APPROVED' })
    const all = ok(await app.call('GET', '/admin/kyb', { token: operator.token })).body
    expect(all.data.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
      [second.id, 'APPROVED'],
      [first.id, 'REJECTED'],
    ])
  })

  test('sort=oldest lists the oldest records first', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const ids: string[] = []
    for (let nth = 0; nth < 5; nth++) ids.push((await fileBusiness(app, await app.merchant())).id)
    ok(await decide(app, operator, ids[1] ?? '', { decision: 'REJECTED' }))
    const listed = async (query: string) => {
      const { body } = ok(await app.call('GET', `/admin/kyb?${query}`, { token: operator.token }))
      return [body.data.map(({ id }: { id: string }) => ids.indexOf(id)), body.total]
    }
    expect(await listed('status=PENDING&sort=oldest&limit=2')).toEqual([[0, 2], 4])
    expect(await listed('status=PENDING&sort=oldest&limit=2&page=2')).toEqual([[3, 4], 4])
    expect(await listed('sort=oldest')).toEqual([[0, 1, 2, 3, 4], 5])
    expect(await listed('sort=newest')).toEqual([[4, 3, 2, 1, 0], 5])
    expect(await listed('status=PENDING')).toEqual([[4, 3, 2, 0], 4])
    expect((await app.call('GET', '/admin/kyb?sort=name', { token: operator.token })).status).toBe(400)
  })

  test('one of several parallel filings of a merchant succeeds', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const { token } = await app.merchant()
    const answers = await Promise.all(Array.from({ length: 6 }, () => app.call('POST', '/kyb', { token, body: business })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    expect(ok(await app.call('GET', '/admin/kyb', { token: operator.token })).body.total).toBe(1)
  })

  test('filing under an idempotency key happens once, and the response is replayed with its ETag', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const send = (body: object) => app.call('POST', '/kyb', { token, body, headers: { 'idempotency-key': 'once' } })
    const first = ok(await send(business))
    const fileAgain = ok(await send(business))
    expect([fileAgain.status, fileAgain.text, fileAgain.headers.get('etag'), fileAgain.headers.get('idempotent-replayed')]).toEqual([
      201,
      first.text,
      first.headers.get('etag'),
      'true',
    ])
    expect((await send({ ...business, country: 'GB' })).status).toBe(422)
  })

  test("a merchant cannot read another merchant's record, or the routes and fields of operators", async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    const { id } = await approveBusiness(app, merchant, operator)
    for (const path of ['/kyb', '/merchant/me', '/shops/v2'])
      expect((await app.call('GET', path, { token: other.token })).text).not.toMatch(/Planted|kyb_/)
    for (const [method, path] of [
      ['GET', '/admin/kyb'],
      ['GET', `/admin/kyb/${id}`],
      ['POST', `/admin/kyb/${id}/decision`],
    ] as const)
      for (const { token } of [merchant, other]) {
        const answer = await app.call(method, path, { token, ...(method === 'POST' ? { body: { decision: 'REJECTED' } } : {}) })
        expect([path, answer.status, answer.text.includes('Planted')]).toEqual([path, 403, false])
      }
    const ownRecord = await app.call('GET', '/kyb', { token: merchant.token })
    expect(ownRecord.body).not.toHaveProperty('events')
    expect(ownRecord.text).not.toContain(operator.id)
    // The public sees only that the shop is verified.
    expect((await app.call('GET', `/shops/v2/public/name/${merchant.shop.name}`)).text).not.toMatch(/Planted|US_COMPANY|kyb_/)
  })
})

describe('KYB records for operators', () => {
  test('operators list records newest first, by status and by page, with events that have actor, time and reason', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const merchants = [await app.merchant(), await app.merchant(), await app.merchant()]
    const records = []
    for (const merchant of merchants) records.push(await fileBusiness(app, merchant))
    app.clock.advance(60_000)
    ok(await decide(app, operator, records[1].id, { decision: 'REJECTED', reason: 'Not legible' }))
    const list = async (query: string) => ok(await app.call('GET', `/admin/kyb${query}`, { token: operator.token })).body
    const idsOf = ({ data }: Answer['body']) => data.map(({ id }: { id: string }) => id)
    const all = await list('')
    expect([idsOf(all), all.page, all.limit, all.total, all.pages]).toEqual([records.map(({ id }) => id).reverse(), 1, 20, 3, 1])
    expect(idsOf(await list('?status=PENDING'))).toEqual([records[2].id, records[0].id])
    expect(await list('?status=PENDING&limit=1&page=2')).toMatchObject({ data: [{ id: records[0].id }], total: 2, pages: 2 })
    expect(await list('?status=APPROVED')).toMatchObject({ data: [], total: 0, pages: 0 })
    expect(await list('?page=9')).toMatchObject({ data: [], total: 3 })
    const [rejected] = (await list('?status=REJECTED')).data
    expect(rejected.events).toEqual([
      { type: 'FILED', at: now, actor: merchants[1]?.id, reason: null },
      { type: 'REJECTED', at: '2026-01-06T12:01:00.000Z', actor: operator.id, reason: 'Not legible' },
    ])
    const read = ok(await app.call('GET', `/admin/kyb/${records[1].id}`, { token: operator.token }))
    expect(read.body).toEqual(rejected)
    for (const query of ['?status=OPEN', '?state=PENDING', '?page=0'])
      expect([query, (await app.call('GET', `/admin/kyb${query}`, { token: operator.token })).status]).toEqual([query, 400])
  })

  test('reading or deciding an unknown record gets 404, also with a wrong version', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const refused = [
      await app.call('GET', `/admin/kyb/${unknownId}`, { token: operator.token }),
      await decide(app, operator, unknownId, { decision: 'APPROVED' }),
      await decide(app, operator, unknownId, { decision: 'APPROVED' }, { 'if-match': '"v9"' }),
    ]
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual(refused.map(() => [404, 'No such KYB record']))
  })
})

describe('the decision', () => {
  test('an approval verifies every shop of the merchant, also one that is opened later, and no other shops', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    const open = (name: string) =>
      app.deps.db.write((tx) => openShop(tx, app.deps, { merchantId: merchant.id, name, country: 'AE', currency: 'AED' }))
    const second = await open('second-shop')
    expect(second).toMatchObject({ status: 'ACTIVE', verifiedAt: null })
    const before = ok(await app.call('GET', '/shops/v2', { token: merchant.token }))
    const record = await approveBusiness(app, merchant, operator)
    expect(record).toMatchObject({ status: 'APPROVED', decidedAt: now, reason: null })
    const third = await open('third-shop')
    const shops = ok(await app.call('GET', '/merchant/me', { token: merchant.token })).body.shops
    expect(shops.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
      [merchant.shop.id, 'KYB_VERIFIED'],
      [second.id, 'KYB_VERIFIED'],
      [third.id, 'KYB_VERIFIED'],
    ])
    expect((await app.call('GET', '/shops/v2', { token: merchant.token })).headers.get('etag')).not.toBe(before.headers.get('etag'))
    expect((await app.call('GET', `/shops/v2/public/name/${second.name}`)).body.verified).toBe(true)
    expect(await statusOf(app, other.token)).toBe('ACTIVE')
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'shop.verified'))
    expect(rows.map(({ shopId, actor, before: was, after }) => [shopId, actor, was?.['status'], after?.['status']]).sort()).toEqual(
      [merchant.shop.id, second.id].sort().map((id) => [id, operator.id, 'ACTIVE', 'KYB_VERIFIED']),
    )
  })

  test('a rejection does not change the shops, and the merchant can read its reason', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const merchant = await app.merchant()
    const { id } = await fileBusiness(app, merchant)
    const { body } = ok(await decide(app, operator, id, { decision: 'REJECTED', reason: 'No such number' }))
    expect(body).toMatchObject({ status: 'REJECTED', reason: 'No such number' })
    expect(await statusOf(app, merchant.token)).toBe('ACTIVE')
    expect((await app.call('GET', '/kyb', { token: merchant.token })).body.reason).toBe('No such number')
    expect(await approvedCohortOf(app.deps, merchant.id)).toBeUndefined()
  })

  test('approvedCohortOf returns the filed cohort after the approval, and nothing before', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const merchant = await app.merchant()
    const { id } = await fileBusiness(app, merchant, { cohort: 'KUWAIT_WLL', country: 'KW' })
    expect(await approvedCohortOf(app.deps, merchant.id)).toBeUndefined()
    ok(await decide(app, operator, id, { decision: 'APPROVED' }))
    expect(await approvedCohortOf(app.deps, merchant.id)).toBe('KUWAIT_WLL')
    expect(await app.deps.db.write((tx) => approvedCohortOf(app.deps, merchant.id, tx))).toBe('KUWAIT_WLL')
    expect(await approvedCohortOf(app.deps, 'mer_nobody')).toBeUndefined()
  })

  test('a decision is final: another one gets 409 and changes nothing', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    for (const decision of ['APPROVED', 'REJECTED']) {
      const { id } = await fileBusiness(app, await app.merchant())
      const first = ok(await decide(app, operator, id, { decision, reason: 'First' }))
      for (const other of ['APPROVED', 'REJECTED']) {
        const answer = await decide(app, operator, id, { decision: other, reason: 'Second' })
        expect([answer.status, answer.body.message]).toEqual([409, 'The KYB record was already decided'])
      }
      expect((await app.call('GET', `/admin/kyb/${id}`, { token: operator.token })).text).toBe(first.text)
    }
  })

  test('one of several parallel decisions succeeds, and the events, the shops and the audit log agree with it', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    for (let round = 0; round < 5; round++) {
      const merchant = await app.merchant()
      const { id } = await fileBusiness(app, merchant)
      const decisions = ['APPROVED', 'REJECTED', 'APPROVED', 'REJECTED']
      // The result must not depend on which decision comes first.
      const order = round % 2 === 0 ? decisions : decisions.toReversed()
      const answers = await Promise.all(order.map((decision, nth) => decide(app, operator, id, { decision, reason: `No. ${nth}` })))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
      const winner = answers.find(({ status }) => status === 200)?.body
      const { body } = ok(await app.call('GET', `/admin/kyb/${id}`, { token: operator.token }))
      expect(body).toEqual(winner)
      expect(body.events.map(({ type }: { type: string }) => type)).toEqual(['FILED', body.status])
      expect(await statusOf(app, merchant.token)).toBe(body.status === 'APPROVED' ? 'KYB_VERIFIED' : 'ACTIVE')
      const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, id))
      expect(rows.map(({ action }) => action).sort()).toEqual([`kyb.${body.status.toLowerCase()}`, 'kyb.filed'].sort())
    }
  })

  test('shops that are opened in parallel with the approval are verified, too', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    for (let round = 0; round < 5; round++) {
      const merchant = await app.merchant()
      const { id } = await fileBusiness(app, merchant)
      const open = (nth: number) =>
        app.deps.db.write((tx) =>
          openShop(tx, app.deps, { merchantId: merchant.id, name: `branch-${round}-${nth}`, country: 'US', currency: 'USD' }),
        )
      await Promise.all([open(1), open(2), decide(app, operator, id, { decision: 'APPROVED' }), open(3), open(4)])
      const { shops } = ok(await app.call('GET', '/merchant/me', { token: merchant.token })).body
      expect(shops.map(({ status }: { status: string }) => status)).toEqual(Array.from({ length: 5 }, () => 'KYB_VERIFIED'))
    }
  })

  test('an invalid decision gets 400, and an outdated version gets 412 even after the decision', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const { id } = await fileBusiness(app, await app.merchant())
    const invalidBodies = [
      {},
      { decision: 'PENDING' },
      { decision: 'approved' },
      { decision: 'APPROVED', reason: 7 },
      { decision: 'APPROVED', why: '' },
    ]
    for (const body of [...invalidBodies, { decision: 'APPROVED', reason: 'z'.repeat(2_001) }])
      expect([body, (await decide(app, operator, id, body)).status]).toEqual([body, 400])
    const etag = (await app.call('GET', `/admin/kyb/${id}`, { token: operator.token })).headers.get('etag') ?? ''
    expect((await decide(app, operator, id, { decision: 'APPROVED' }, { 'if-match': '"v9"' })).status).toBe(412)
    const decided = ok(await decide(app, operator, id, { decision: 'APPROVED', reason: null }, { 'if-match': etag }))
    expect(decided.headers.get('etag')).not.toBe(etag)
    expect((await decide(app, operator, id, { decision: 'APPROVED' }, { 'if-match': etag })).status).toBe(412)
    expect((await decide(app, operator, id, { decision: 'APPROVED' }, { 'if-match': '*' })).status).toBe(409)
  })

  test('the audit log contains no names, registration numbers or reasons', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const merchant = await app.merchant()
    const { id } = await fileBusiness(app, merchant)
    ok(await decide(app, operator, id, { decision: 'REJECTED', reason: 'Planted: no such number' }))
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, id)).orderBy(auditLog.id)
    expect(JSON.stringify(rows)).not.toContain('Planted')
    expect(rows.map(({ actor, shopId, after }) => [actor, shopId, after?.['status'], after?.['cohort'] ?? null])).toEqual([
      [merchant.id, merchant.shop.id, 'PENDING', 'US_COMPANY'],
      [operator.id, null, 'REJECTED', null],
    ])
  })
})
