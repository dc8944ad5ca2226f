/** The audit trail as super admins read it. */
import { describe, expect, test } from 'bun:test'
import { auditLog } from '../../../db/schema/people.ts'
import { dayMs } from '../../../src/lib/day.ts'
import type { AuditRow } from '../../../src/modules/audit/domain.ts'
import { exportAudit } from '../../../src/modules/audit/service.ts'
import { type TestApp, testApp } from '../../support/app.ts'
import { ok } from '../../support/selling.ts'

const start = Date.UTC(2026, 0, 1)
const row = (nth: number, change: Partial<AuditRow> = {}): AuditRow => ({
  id: `aud_${String(nth).padStart(26, '0')}`,
  at: start + nth,
  actor: 'mer_1',
  action: 'blog.changed',
  subject: 'blog_1',
  shopId: 'shop_1',
  requestId: 'request',
  address: '203.0.113.7',
  before: { title: 'News' },
  after: { title: 'Old news' },
  ...change,
})
async function insert({ deps }: TestApp, rows: readonly AuditRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 200)
    await deps.db.write((tx) =>
      tx
        .insert(auditLog)
        .values(rows.slice(at, at + 200))
        .then(() => undefined),
    )
}
/** As a super admin reads the trail of January and February. */
async function trailOf(app: TestApp) {
  const { token } = await app.superAdmin()
  const list = (query: string) => app.call('GET', `/admin/audit?${query}`, { token })
  return { list, ids: async (query: string) => ok(await list(query)).body.data.map(({ id }: { id: string }) => Number(id.slice(4))) }
}
const within = 'from=2026-01-01&to=2026-01-05'

describe('GET /admin/audit', () => {
  test('the audit trail is answered newest first, in pages, with all that a row has', async () => {
    await using app = await testApp()
    const { list, ids } = await trailOf(app)
    await insert(
      app,
      Array.from({ length: 45 }, (_, nth) => row(nth)),
    )
    const { body } = ok(await list(within))
    expect([body.page, body.limit, body.total, body.pages, body.data.length, 'totalCapped' in body]).toEqual([1, 20, 45, 3, 20, false])
    expect(body.data[0]).toEqual({ ...row(44), at: '2026-01-01T00:00:00.044Z' })
    expect(Object.keys(body.data[0])).toEqual([
      'id',
      'at',
      'actor',
      'action',
      'subject',
      'shopId',
      'address',
      'requestId',
      'before',
      'after',
    ])
    expect(await ids(`${within}&page=3`)).toEqual([4, 3, 2, 1, 0])
    expect(await ids(`${within}&page=4`)).toEqual([])
    expect(await ids(`${within}&page=999999999999999`)).toEqual([])
    expect(await ids(`${within}&limit=2`)).toEqual([44, 43])
  })

  test('rows of the same moment have one order, and every row is on one page', async () => {
    await using app = await testApp()
    const { ids } = await trailOf(app)
    await insert(
      app,
      Array.from({ length: 9 }, (_, nth) => row(nth, { at: start })),
    )
    expect([...(await ids(`${within}&limit=5`)), ...(await ids(`${within}&limit=5&page=2`))]).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  test('the filters of the audit trail must all hold, and the days are inclusive, UTC', async () => {
    await using app = await testApp()
    const { ids } = await trailOf(app)
    await insert(app, [
      row(1, { actor: 'mer_2' }),
      row(2, { action: 'blog.removed' }),
      row(3, { subject: 'blog_2' }),
      row(4, { shopId: 'shop_2' }),
      row(5, { shopId: null, actor: 'mer_2', action: 'blog.removed' }),
      row(6, { at: start + dayMs - 1 }),
      row(7, { at: start + dayMs }),
      row(8, { at: start + 2 * dayMs }),
    ])
    expect(await ids(`${within}&actor=mer_2`)).toEqual([5, 1])
    expect(await ids(`${within}&action=blog.removed`)).toEqual([5, 2])
    expect(await ids(`${within}&subject=blog_2`)).toEqual([3])
    expect(await ids(`${within}&shopId=shop_2`)).toEqual([4])
    expect(await ids(`${within}&actor=mer_2&action=blog.removed`)).toEqual([5])
    expect(await ids(`${within}&actor=mer_2&shopId=shop_1&subject=blog_1&action=blog.changed`)).toEqual([1])
    expect(await ids(`${within}&actor=mer_2&shopId=shop_2`)).toEqual([])
    expect(await ids('from=2026-01-01&to=2026-01-01')).toEqual([6, 5, 4, 3, 2, 1])
    expect(await ids('from=2026-01-02&to=2026-01-02')).toEqual([7])
    expect(await ids('to=2026-01-02&actor=mer_1&subject=blog_1')).toEqual([7, 6, 4, 2])
    expect(await ids('from=2026-01-03&to=2026-01-05')).toEqual([8])
  })

  test('what is no day, a window that ends before it begins and one over a year are 400', async () => {
    await using app = await testApp()
    const { list } = await trailOf(app)
    for (const query of ['from=2026-02-30', 'to=yesterday', 'from=2026-01-02&to=2026-01-01', 'from=2025-01-01&to=2026-01-01', 'actor=']) {
      const answer = await list(query)
      expect([query, answer.status]).toEqual([query, 400])
      expect(answer.body.message).toMatch(/^(from|to|actor) \(query\): /)
    }
    expect((await list('from=2025-01-01&to=2025-12-31')).status).toBe(200)
    expect((await list('from=2020-01-01')).status).toBe(200)
  })

  test('ten thousand rows are counted and reached, and that there are more is told; fewer are counted exactly', async () => {
    await using app = await testApp()
    const { list, ids } = await trailOf(app)
    await insert(
      app,
      Array.from({ length: 10_000 }, (_, nth) => row(nth)),
    )
    expect(ok(await list(`${within}&limit=100`)).body).toMatchObject({ total: 10_000, pages: 100 })
    expect('totalCapped' in (await list(within)).body).toBe(false)
    expect(await ids(`${within}&limit=2&page=5000`)).toEqual([1, 0])
    await insert(app, [row(10_000), row(10_001, { actor: 'mer_2' })])
    expect(ok(await list(within)).body).toMatchObject({ total: 10_000, totalCapped: true, pages: 500 })
    expect(await ids(`${within}&limit=2&page=5001`)).toEqual([])
    expect(await ids(`${within}&actor=mer_2&action=blog.changed`)).toEqual([10_001])
  })
})

test('the export has every row between two days once, oldest first, in pieces, also those of one moment', async () => {
  await using app = await testApp()
  await insert(
    app,
    Array.from({ length: 1_700 }, (_, nth) => row(nth, { at: start + Math.floor(nth / 600) * dayMs })),
  )
  const exported = async (days: { from?: string; to?: string }) => {
    const pieces = await Array.fromAsync(exportAudit(app.deps, days))
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(500)
    return pieces.flat().map(({ id }) => Number(id.slice(4)))
  }
  const range = (first: number, end: number) => Array.from({ length: end - first }, (_, nth) => first + nth)
  expect(await exported({})).toEqual(range(0, 1_700))
  expect(await exported({ from: '2026-01-02', to: '2026-01-02' })).toEqual(range(600, 1_200))
  expect(await exported({ from: '2026-01-03' })).toEqual(range(1_200, 1_700))
  expect(await exported({ to: '2025-12-31' })).toEqual([])
})
