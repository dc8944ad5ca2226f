/** Tests the list of abandoned carts and the setting of their mail. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { getTableColumns, sql } from 'drizzle-orm'
import { cartLines, carts } from '../../../../db/schema/selling.ts'
import { mailAbandonedCarts } from '../../../../src/modules/selling/abandoned-cart/index.ts'
import { testApp } from '../../../support/app.ts'
import { draftsOf } from '../../../support/drafts.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hourMs = 3_600_000
const longLogins = { ACCESS_TOKEN_SECONDS: '86400' }

test('lists open carts with lines and an address that were unchanged for an hour, the last changed first', async () => {
  await using app = await testApp(longLogins)
  const shop = await sellingIn(app)
  const first = await shop.cart({ quantity: 3, acceptsMarketing: true, email: '=1+1@example.com' })
  app.clock.advance(1_000)
  const second = await shop.cart({ email: 'b@example.com' })
  await shop.cart({ variants: [] })
  await shop.cart({ email: null })
  const ordered = await shop.cart()
  ok(await shop.checkout(ordered))
  ok(await draftsOf(shop).create({ email: 'draft@example.com' }), 201)
  await (await sellingIn(app)).cart()
  const list = async (query = '') => ok(await shop.get(`/carts/abandoned${query}`)).body
  app.clock.advance(hourMs - 1_001)
  expect((await list()).data).toEqual([])
  app.clock.advance(1_011)
  const page = await list()
  expect(page).toMatchObject({ page: 1, limit: 20, total: 2, pages: 1 })
  expect(page.data.map(({ id }: { id: string }) => id)).toEqual([second, first])
  expect(page.data[1]).toMatchObject({
    email: '=1+1@example.com',
    acceptsMarketing: true,
    total: shop.money(3_000),
    lines: [{ variantId: shop.variantId, productId: shop.productId, title: 'Mug', quantity: 3, total: shop.money(3_000) }],
    mailedAt: null,
    restoredAt: null,
    order: null,
  })
  expect((await list('?limit=1&page=2')).data).toMatchObject([{ id: first }])
  expect((await list('?mailed=false')).total).toBe(2)
  expect((await list('?mailed=true')).total).toBe(0)
  expect((await list('?recovered=true')).total).toBe(0)
  expect((await shop.get('/carts/abandoned?mailed=maybe')).status).toBe(400)
  const csv = await app.call('GET', '/carts/abandoned', { token: shop.token, headers: { accept: 'text/csv' } })
  const rows = csv.text.trimEnd().split('\r\n')
  expect(rows).toHaveLength(3)
  expect(csv.text).not.toContain(first)
  expect(rows[2]).toContain("'=1+1@example.com")
  app.clock.advance(30 * 24 * hourMs)
  expect((await list()).data).toEqual([])
})

test('exports every cart once, in chunks', async () => {
  await using app = await testApp(longLogins)
  const shop = await sellingIn(app)
  for (let nth = 0; nth < 60; nth++) await shop.cart({ email: `${nth}@example.com` })
  app.clock.advance(hourMs + 10)
  const csv = await app.call('GET', '/carts/abandoned', { token: shop.token, headers: { accept: 'text/csv' } })
  expect(new Set(csv.text.match(/\d+@example/g)).size).toBe(60)
  expect(csv.text.trimEnd().split('\r\n')).toHaveLength(61)
})

test('counts carts exactly up to 2,000, and lists those beyond', async () => {
  await using app = await testApp(longLogins)
  const shop = await sellingIn(app)
  await shop.cart()
  const insertCopies = async (first: number, last: number) => {
    const numbers = sql.raw(`with recursive copy (n) as (select ${first} as n union all select n + 1 from copy where n < ${last})`)
    const copyOf = (table: string, names: readonly string[], expressions: Record<string, string>) =>
      sql`insert into ${sql.raw(`${table} (${names.join(', ')})`)} ${numbers}
        select ${sql.raw(names.map((name) => expressions[name] ?? `r.${name}`).join(', '))} from copy
        cross join (select * from ${sql.raw(table)} order by id limit 1) r`
    const namesOf = (table: Parameters<typeof getTableColumns>[0]) => Object.values(getTableColumns(table)).map(({ name }) => name)
    await app.deps.db.write(async (tx) => {
      await tx.rows(copyOf('carts', namesOf(carts), { id: `'zcart_' || n`, updated_at: 'r.updated_at - n' }))
      await tx.rows(copyOf('cart_lines', namesOf(cartLines), { id: `'zline_' || n`, cart_id: `'zcart_' || n` }))
    })
  }
  const list = async (query = '') => ok(await shop.get(`/carts/abandoned${query}`)).body
  await insertCopies(1, 1_999)
  app.clock.advance(hourMs + 10)
  expect(await list()).toMatchObject({ total: 2_000, pages: 100 })
  expect(await list()).not.toHaveProperty('totalCapped')
  await insertCopies(2_000, 2_050)
  expect(await list()).toMatchObject({ total: 2_000, pages: 100, totalCapped: true })
  const { data, totalCapped } = await list('?page=102')
  expect([data.length, data[0].id, totalCapped]).toEqual([20, 'zcart_2020', true])
  expect((await list('?page=103')).data).toHaveLength(11)
  expect(await list('?mailed=true')).toMatchObject({ total: 0, data: [] })
})

test('shows when a cart was mailed', async () => {
  await using server = await mailServer()
  await using app = await testApp({ ...server.settings, ...longLogins })
  const shop = await sellingIn(app)
  const setting = { abandonedCartMail: { enabled: true } }
  const set = ok(await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: setting })).body
  expect(set.abandonedCartMail).toEqual({ enabled: true, afterHours: 10 })
  const id = await shop.cart({ acceptsMarketing: true })
  app.clock.advance(10 * hourMs + 10)
  await mailAbandonedCarts(app.deps)
  const { data } = ok(await shop.get('/carts/abandoned?mailed=true')).body
  expect(data).toMatchObject([{ id, mailedAt: new Date(app.clock.now()).toISOString() }])
})

test('bounds the setting and names unknown fields', async () => {
  await using app = await testApp(longLogins)
  const { token } = await sellingIn(app)
  const put = (abandonedCartMail: unknown) => app.call('PUT', '/shops/v2/mail', { token, body: { abandonedCartMail } })
  expect(ok(await app.call('GET', '/shops/v2/mail', { token })).body.abandonedCartMail).toEqual({ enabled: false, afterHours: 10 })
  for (const afterHours of [0, 169, 1.5, '2'])
    expect(await put({ enabled: true, afterHours })).toMatchObject({ status: 400, body: { field: 'abandonedCartMail.afterHours' } })
  for (const afterHours of [1, 168]) expect(ok(await put({ enabled: true, afterHours })).body.abandonedCartMail.afterHours).toBe(afterHours)
  expect((await put({ enabled: true, after: 2 })).status).toBe(400)
  expect((await put({})).status).toBe(400)
})

test('reads the list and the due carts by an index', async () => {
  await using app = await testApp(longLogins)
  const shop = await sellingIn(app)
  await shop.cart()
  const isFile = app.deps.config.databaseUrl.startsWith('file:')
  const planOf = async (mailed: string) =>
    JSON.stringify(
      await app.deps.db.read.rows(
        sql`${sql.raw(isFile ? 'explain query plan' : 'explain')} select id from carts
          where shop_id = ${shop.shop.id} and (status = 'OPEN' and email is not null and draft is null) and updated_at <= 1 ${sql.raw(mailed)}
          order by updated_at desc, id desc limit 20`,
      ),
    )
  const plans = [await planOf(''), await planOf('and reminded_at is not null')]
  // PostgreSQL scans a table of one page.
  if (isFile) expect(plans).toEqual([expect.stringContaining('carts_abandoned'), expect.stringContaining('carts_mailed')])
})
