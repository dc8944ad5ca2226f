/** Tests listing, searching and exporting the audit trail. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Reader } from '../../../../db/engine.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { type AuditRow, listedMax, scannedMax, searchTermOf } from '../../../../src/modules/operations/audit/domain.ts'
import { auditListStore } from '../../../../src/modules/operations/audit/list-store.ts'
import { exportAudit } from '../../../../src/modules/operations/audit/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

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
/** Reads the audit trail as a super admin. */
async function openTrail(app: TestApp) {
  const { token } = await app.superAdmin()
  const list = (query: string) => app.call('GET', `/admin/audit?${query}`, { token })
  return { list, ids: async (query: string) => ok(await list(query)).body.data.map(({ id }: { id: string }) => Number(id.slice(4))) }
}
const january = 'from=2026-01-01&to=2026-01-05'

describe('GET /admin/audit', () => {
  test('the audit log without parameters returns the newest rows of all shops, days and actions', async () => {
    await using app = await testApp()
    const { list } = await openTrail(app)
    const before = ok(await list('')).body.total
    await insert(app, [row(1), row(2, { shopId: null, action: 'lender.changed' }), row(3, { at: start - 400 * dayMs, shopId: 'shop_2' })])
    const { body } = ok(await list(''))
    expect([body.total, body.data.length]).toEqual([before + 3, before + 3])
    expect(body.data.at(-1)).toMatchObject({ id: row(3).id, shopId: 'shop_2' })
  })

  test('the audit log returns the newest rows first, by page, with all fields', async () => {
    await using app = await testApp()
    const { list, ids } = await openTrail(app)
    await insert(
      app,
      Array.from({ length: 45 }, (_, nth) => row(nth)),
    )
    const { body } = ok(await list(january))
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
    expect(await ids(`${january}&page=3`)).toEqual([4, 3, 2, 1, 0])
    expect(await ids(`${january}&page=4`)).toEqual([])
    expect(await ids(`${january}&page=999999999999999`)).toEqual([])
    expect(await ids(`${january}&limit=2`)).toEqual([44, 43])
  })

  test('rows of the same moment have a stable order, and every row is on one page', async () => {
    await using app = await testApp()
    const { ids } = await openTrail(app)
    await insert(
      app,
      Array.from({ length: 9 }, (_, nth) => row(nth, { at: start })),
    )
    expect([...(await ids(`${january}&limit=5`)), ...(await ids(`${january}&limit=5&page=2`))]).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  test('filters are combined with AND, and days are inclusive and in UTC', async () => {
    await using app = await testApp()
    const { ids } = await openTrail(app)
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
    expect(await ids(`${january}&actor=mer_2`)).toEqual([5, 1])
    expect(await ids(`${january}&action=blog.removed`)).toEqual([5, 2])
    expect(await ids(`${january}&subject=blog_2`)).toEqual([3])
    expect(await ids(`${january}&shopId=shop_2`)).toEqual([4])
    expect(await ids(`${january}&actor=mer_2&action=blog.removed`)).toEqual([5])
    expect(await ids(`${january}&actor=mer_2&shopId=shop_1&subject=blog_1&action=blog.changed`)).toEqual([1])
    expect(await ids(`${january}&actor=mer_2&shopId=shop_2`)).toEqual([])
    expect(await ids('from=2026-01-01&to=2026-01-01')).toEqual([6, 5, 4, 3, 2, 1])
    expect(await ids('from=2026-01-02&to=2026-01-02')).toEqual([7])
    expect(await ids('to=2026-01-02&actor=mer_1&subject=blog_1')).toEqual([7, 6, 4, 2])
    expect(await ids('from=2026-01-03&to=2026-01-05')).toEqual([8])
  })

  test('an invalid day, a reversed range and one over a year are 400', async () => {
    await using app = await testApp()
    const { list } = await openTrail(app)
    for (const query of ['from=2026-02-30', 'to=yesterday', 'from=2026-01-02&to=2026-01-01', 'from=2025-01-01&to=2026-01-01']) {
      const answer = await list(query)
      expect([query, answer.status]).toEqual([query, 400])
      expect(answer.body.message).toMatch(/^(from|to|actor): /)
    }
    expect((await list('from=2025-01-01&to=2025-12-31')).status).toBe(200)
    expect((await list('from=2020-01-01')).status).toBe(200)
  })

  test('up to ten thousand rows are counted exactly and all pages are readable, and more are reported as capped', async () => {
    await using app = await testApp()
    const { list, ids } = await openTrail(app)
    await insert(
      app,
      Array.from({ length: 10_000 }, (_, nth) => row(nth)),
    )
    expect(ok(await list(`${january}&limit=100`)).body).toMatchObject({ total: 10_000, pages: 100 })
    expect('totalCapped' in (await list(january)).body).toBe(false)
    expect(await ids(`${january}&limit=2&page=5000`)).toEqual([1, 0])
    await insert(app, [row(10_000), row(10_001, { actor: 'mer_2' })])
    expect(ok(await list(january)).body).toMatchObject({ total: 10_000, totalCapped: true, pages: 500 })
    expect(await ids(`${january}&limit=2&page=5001`)).toEqual([])
    expect(await ids(`${january}&actor=mer_2&action=blog.changed`)).toEqual([10_001])
  })
})

describe('searching the audit trail', () => {
  const examples = [
    row(1, { actor: 'mer_2', action: 'product.created', subject: 'prod_1' }),
    row(2, { action: 'product.changed', subject: 'prod_1', requestId: 'req-2' }),
    row(3, { action: 'product.changed', subject: 'prod_2', at: start + 1 }),
    row(4, { action: 'production.begun', subject: 'shop_2', shopId: 'shop_2' }),
    row(5, { action: 'kyb.filed', actor: 'mer_2', subject: 'mer_2', requestId: null, at: start + dayMs }),
    row(6, { action: 'kyb.approved', actor: 'usr_1', subject: 'kyb_1', shopId: null, requestId: 'req-6', at: start + 2 * dayMs }),
  ]

  test('an id finds rows by actor, subject and shop once each, a request id its rows, and other text the actions that begin with it', async () => {
    await using app = await testApp()
    const { ids } = await openTrail(app)
    await insert(app, examples)
    const search = (q: string, more = '') => ids(`${january}&q=${encodeURIComponent(q)}${more}`)
    expect(await search('mer_2')).toEqual([5, 1])
    expect(await search('prod_1')).toEqual([2, 1])
    expect(await search('shop_2')).toEqual([4])
    expect(await search('req-2')).toEqual([2])
    expect(await search(' req-6 ')).toEqual([6])
    expect(await search('product.')).toEqual([2, 3, 1])
    expect(await search('product')).toEqual([4, 2, 3, 1])
    expect(await search('product.changed')).toEqual([2, 3])
    expect(await search('kyb.f')).toEqual([5])
    for (const nothing of ['Product', 'prod_', 'eq-2', '%', 'product%', '_yb.filed', 'mer_2 ', 'zebra']) {
      expect([nothing, await search(nothing)]).toEqual([nothing, nothing.trim() === 'mer_2' ? [5, 1] : []])
    }
    expect(await search('', '&limit=2')).toEqual([6, 5])
    expect(await search('product', '&limit=2')).toEqual([4, 2])
    expect(await search('product', '&limit=2&page=2')).toEqual([3, 1])
    expect(await search('product.', '&actor=mer_2')).toEqual([1])
    expect(await search('mer_2', '&action=kyb.filed')).toEqual([5])
    expect(await search('prod_1', '&subject=prod_2')).toEqual([])
    expect(await ids('from=2026-01-02&to=2026-01-02&q=mer_2')).toEqual([5])
    expect(await ids('from=2026-01-02&to=2026-01-03&q=k')).toEqual([6, 5])
  })

  test('an e-mail address finds the rows of its account in any case, and nothing without an account', async () => {
    await using app = await testApp()
    const { ids, list } = await openTrail(app)
    const merchant = await app.merchant()
    await insert(app, [row(1, { actor: merchant.id }), row(2, { subject: merchant.id }), row(3)])
    const typed = encodeURIComponent(merchant.email.toUpperCase())
    expect(await ids(`${january}&q=${typed}`)).toEqual([2, 1])
    expect(ok(await list('q=nobody@example.com')).body).toMatchObject({ data: [], total: 0, pages: 0 })
    expect(ok(await list(`${january}&q=@`)).body.total).toBe(0)
  })

  test('a search counts and pages up to the list limit, also if several columns match', async () => {
    await using app = await testApp()
    const { list, ids } = await openTrail(app)
    await insert(
      app,
      Array.from({ length: 10_001 }, (_, nth) =>
        row(nth, { actor: 'mer_9', subject: 'mer_9', action: nth % 2 ? 'blog.changed' : 'blog.removed' }),
      ),
    )
    for (const q of ['mer_9', 'blog.']) {
      expect(ok(await list(`${january}&q=${q}`)).body).toMatchObject({ total: 10_000, totalCapped: true, pages: 500 })
      expect(await ids(`${january}&q=${q}&limit=2&page=5000`)).toEqual([2, 1])
      expect(await ids(`${january}&q=${q}&limit=2&page=5001`)).toEqual([])
      expect(ok(await list(`from=2025-12-01&to=2025-12-31&q=${q}`)).body.total).toBe(0)
    }
    expect(ok(await list(`${january}&q=blog.r`)).body).toMatchObject({ total: 5_001 })
    expect(ok(await list(`${january}&q=blog.r&actor=mer_9`)).body).toMatchObject({ total: 5_001 })
  })

  test('the result of a search is exported completely as CSV, newest first', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    await insert(app, [
      ...examples,
      ...Array.from({ length: 1_200 }, (_, nth) => row(100 + nth, { action: 'cart.changed', at: start + Math.floor(nth / 7) })),
    ])
    const exportCsv = async (query: string) => {
      const answer = await app.call('GET', `/admin/audit?${january}&${query}`, { token, headers: { accept: 'text/csv' } })
      return { answer, rows: answer.status === 200 ? (parse(answer.text, { columns: true }) as Record<string, string>[]) : [] }
    }
    const { answer, rows } = await exportCsv('q=product.&limit=1')
    expect([
      answer.status,
      answer.headers.get('content-type'),
      answer.headers.get('content-disposition'),
      answer.headers.get('vary'),
    ]).toEqual([200, 'text/csv; charset=utf-8', 'attachment; filename="audit.csv"', 'accept'])
    expect(rows.map(({ id }) => Number(id?.slice(4)))).toEqual([2, 3, 1])
    expect(rows[2]).toEqual({
      ...{ id: row(1).id, at: '2026-01-01T00:00:00.001Z', actor: 'mer_2', action: 'product.created', subject: 'prod_1', shopId: 'shop_1' },
      ...{ address: '203.0.113.7', requestId: 'request', before: '{"title":"News"}', after: '{"title":"Old news"}' },
    })
    for (const query of ['q=cart.', 'action=cart.changed'])
      expect((await exportCsv(query)).rows.map(({ id }) => Number(id?.slice(4)))).toEqual(
        Array.from({ length: 1_200 }, (_, nth) => 1_299 - nth),
      )
    expect((await exportCsv('q=nobody@example.com')).rows).toEqual([])
    // An export occupies a slot until its end.
    const releases = [app.deps.exportSlots.take('audit'), app.deps.exportSlots.take('audit')]
    expect((await exportCsv('q=cart.')).answer.status).toBe(429)
    releases[0]?.()
    for (const _ of [1, 2]) expect((await exportCsv('q=cart.')).rows.length).toBe(1_200)
    expect((await app.call('GET', '/admin/audit?from=2026-02-30', { token, headers: { accept: 'text/csv' } })).status).toBe(400)
  })

  test('with only unselective conditions the newest rows of one are searched and the result is reported as capped; with a selective one all rows are found', async () => {
    await using app = await testApp()
    const { list, ids } = await openTrail(app)
    const old = 50
    await insert(
      app,
      Array.from({ length: scannedMax + old }, (_, nth) =>
        row(nth, {
          at: nth < old ? start + nth : start + dayMs + nth,
          shopId: nth < old ? 'shop_old' : 'shop_1',
          action: nth % 2 ? 'cart.changed' : 'blog.changed',
        }),
      ),
    )
    const totalsOf = async (query: string) => {
      const { total, totalCapped } = ok(await list(query)).body
      return [total, totalCapped]
    }
    expect(await totalsOf(`${january}&actor=mer_1&q=blog.`)).toEqual([listedMax, true])
    expect(await ids(`${january}&actor=mer_1&q=blog.&limit=2`)).toEqual([scannedMax + old - 2, scannedMax + old - 4])
    expect(await ids(`${january}&actor=mer_1&q=blog.&limit=2&page=5000`)).toEqual([old + 2, old])
    // Older rows are found by narrowing the days.
    expect(await totalsOf('from=2026-01-01&to=2026-01-01&actor=mer_1&q=blog.')).toEqual([old / 2, undefined])
    expect(await totalsOf(`${january}&actor=mer_1&q=shop_old`)).toEqual([old, undefined])
    expect(await ids(`${january}&actor=mer_1&action=cart.changed&q=shop_old&limit=2`)).toEqual([old - 1, old - 3])
    expect(await totalsOf(`${january}&actor=mer_1&subject=blog_1&shopId=shop_1`)).toEqual([listedMax, true])
    // Few of the searched rows match, and older ones may match too.
    await insert(app, [row(99_999, { at: start + 3 * dayMs, subject: 'blog_1', requestId: 'blog_1', action: 'a.b' })])
    expect(await totalsOf(`${january}&subject=blog_1&actor=mer_1&action=a.b`)).toEqual([1, undefined])
    // Conditions that exclude each other, or where one includes the other.
    expect(await totalsOf(`${january}&action=cart.changed&q=blog.`)).toEqual([0, undefined])
    expect(await totalsOf(`${january}&actor=mer_1&q=mer_2`)).toEqual([0, undefined])
    expect(await totalsOf(`${january}&action=blog.changed&q=blog.`)).toEqual([listedMax, true])
    expect(await totalsOf(`${january}&actor=mer_1&q=mer_1`)).toEqual([listedMax, true])
    expect(await totalsOf(`from=2026-01-01&to=2026-01-01&action=blog.changed&q=blog.`)).toEqual([old / 2, undefined])
    if (engine === 'postgres') return
    const { read, plans } = recordPlans(app.deps.db.read)
    await auditListStore.list(read, { actor: 'mer_1', searchTerm: searchTermOf('blog.') }, { page: 1, limit: 20, offset: 0 })
    const bounded = (await plans()).filter((plan) => plan.includes('at>?'))
    // One plan for the count and one for the page.
    expect(bounded.length).toBe(2)
    for (const plan of bounded) expect(plan).toContain('INDEX audit_log_actor (actor=? AND at>?)')
  })

  test('every search uses the index of its column', async () => {
    await using app = await testApp()
    await insert(
      app,
      Array.from({ length: 3_000 }, (_, nth) =>
        row(nth, {
          action: nth % 100 ? `a${nth % 60}.done` : 'blog.changed',
          actor: `mer_${nth}`,
          subject: `blog_${nth}`,
          shopId: `shop_${nth}`,
          requestId: `r-${nth}`,
        }),
      ),
    )
    if (engine === 'postgres') await app.deps.db.read.rows(sql`analyze audit_log`)
    const columns = ['action', 'actor', 'subject', 'shop', 'request']
    for (const [filter, offset, expectedIndexes] of [
      [{ searchTerm: searchTermOf('blog.c'), since: start }, 40, columns],
      [{ searchTerm: searchTermOf('mer_7') }, 0, columns.slice(1)],
      [{ searchTerm: searchTermOf('r-7') }, 0, columns.slice(1)],
      [{ actor: 'mer_7', searchTerm: searchTermOf('blog.c') }, 0, ['action', 'actor']],
    ] as const) {
      const { read, plans } = recordPlans(app.deps.db.read)
      await auditListStore.list(read, filter, { page: 1, limit: 20, offset })
      // The found rows are read by their ids.
      const searches = (await plans()).filter((plan) => !/autoindex_audit_log_1 \(id=\?\)|audit_log_pkey/.test(plan))
      expect(new Set(searches.map((plan) => /audit_log_([a-z]+)/.exec(plan)?.[1] ?? plan))).toEqual(new Set(expectedIndexes))
    }
  })
})

/** Creates a reader that records its queries, and returns their query plans for the audit log. */
function recordPlans(read: Reader): { read: Reader; plans: () => Promise<string[]> } {
  const queries: SQL[] = []
  type Builder = Record<string | symbol, unknown> & { getSQL(): SQL }
  const recordQuery = (builder: Builder): Builder =>
    new Proxy(builder, {
      get(target, name) {
        if (name === 'then') queries.push(target.getSQL())
        const value = target[name]
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          const next = value.apply(target, args)
          return ['from', 'where', 'orderBy', 'limit', 'offset'].includes(String(name)) ? recordQuery(next) : next
        }
      },
    })
  const recordingReader = {
    select: (columns: never) => recordQuery((columns ? read.select(columns) : read.select()) as unknown as Builder),
    rows(query: SQL) {
      queries.push(query)
      return read.rows(query)
    },
  } as unknown as Reader
  async function plans(): Promise<string[]> {
    const lines = []
    for (const query of queries)
      lines.push(
        ...(engine === 'sqlite'
          ? (await read.rows<{ detail: string }>(sql`explain query plan ${query}`)).map(({ detail }) => detail)
          : (await read.rows<{ 'QUERY PLAN': string }>(sql`explain ${query}`)).map((one) => one['QUERY PLAN'])),
      )
    return lines.filter((one) => /(SCAN|SEARCH) audit_log|(Seq|Index|Index Only) Scan .*audit_log/.test(one))
  }
  return { read: recordingReader, plans }
}

test('the export contains every row between two days once, oldest first, in batches', async () => {
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
