/** Tests the CSV exports of the lists of a merchant. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { parse } from 'csv-parse/sync'
import { lendingApplications } from '../../db/schema/lending.ts'
import { customers } from '../../db/schema/people.ts'
import { searchFills } from '../../db/schema/search-index.ts'
import { orderNumbers } from '../../db/schema/selling.ts'
import { createApp } from '../../src/app.ts'
import type { CsvList } from '../../src/core/csv-list.ts'
import { csvChunks } from '../../src/core/csv-list.ts'
import { accessRules } from '../../src/http/access-rules.ts'
import { csvTableOf } from '../../src/lib/csv-table.ts'
import { reindexOrder } from '../../src/modules/selling/order/index.ts'
import { type Answer, type TestApp, testApp } from '../support/app.ts'
import { storeIn } from '../support/carts.ts'
import { acceptedCredentials } from '../support/credentials.ts'
import { insertOrder } from '../support/order-rows.ts'
import { drawPng } from '../support/pictures.ts'
import { serveTestApp } from '../support/server.ts'
import { longTestMs } from '../support/timeouts.ts'
import { accessManifest } from './access-manifest.ts'

setDefaultTimeout(longTestMs)

const csv = { accept: 'text/csv' }
const everythingOn = { LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' }
type Rows = Record<string, string>[]
const rowsOfText = (text: string): Rows => parse(text, { columns: true, bom: false }) as Rows
const rowsOf = ({ text }: Answer): Rows => rowsOfText(text)

/** Returns whether merchants may call a route that is about their shop, not about their account. */
const isForMerchants = (route: string): boolean => {
  const access = accessManifest[route]
  return (
    access !== undefined &&
    access !== 'public' &&
    acceptedCredentials(access).includes('merchant') &&
    accessRules[access].roles !== 'account'
  )
}

/** Returns the routes that take a page, with their CSV lists. */
function listsIn(app: TestApp) {
  return createApp(app.deps)
    .routes.filter(({ method, path }) => method === 'GET' && isForMerchants(`GET ${path}`))
    .flatMap(({ path, hooks }) => {
      const { query, detail } = hooks as { query?: { properties?: object }; detail?: { 'x-csv'?: CsvList } }
      return query?.properties && 'page' in query.properties ? [{ path, list: detail?.['x-csv'] }] : []
    })
}

test('every merchant list has a CSV export with a unique name', async () => {
  await using app = await testApp(everythingOn)
  const lists = listsIn(app)
  expect(lists.length).toBeGreaterThan(12)
  expect(lists.filter(({ list }) => !list).map(({ path }) => path)).toEqual([])
  const names = lists.map(({ list }) => list?.name ?? '')
  expect(new Set(names).size).toBe(names.length)
})

test('every list writes money as one column of major units', async () => {
  await using app = await testApp(everythingOn)
  const headers = listsIn(app).flatMap(({ path, list }) => (list?.table.header ?? []).map((name) => `${path} ${name}`))
  expect(headers.filter((name) => /\.(amount|currency)$/.test(name))).toEqual([])
  const { token } = await fullShop(app)
  const [bob] = rowsOf(await app.call('GET', '/customer', { token, headers: csv }))
  expect(bob).toMatchObject({ name: 'Bob', totalSpent: '0.00', currency: 'USD' })
})

/** Creates a shop with at least two records in every list. */
async function fullShop(app: TestApp) {
  const store = await storeIn(app)
  const { token } = store
  const create = async (path: string, body: object, more: object = {}) => {
    const answer = await app.call('POST', path, { token, body, ...more })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
    return answer.body
  }
  const lamp = await create('/product-v2', {
    title: 'Lamp',
    variants: [{ price: store.price(1_000), trackInventory: true, lowStockAt: 9, onHand: 5 }],
  })
  await create('/product-v2', { title: '=cmd|x', variants: [{ price: store.price(200), trackInventory: true, lowStockAt: 2, onHand: 1 }] })
  const variantId = lamp.variants[0].id as string
  for (const delta of [1, 2]) await app.call('POST', `/product-v2/${lamp.id}/variants/${variantId}/stock`, { token, body: { delta } })
  for (const n of [1, 2]) {
    await create('/collection-v2', { title: `Collection ${n}` })
    await create('/blogs', { title: `Blog ${n}`, slug: `blog-${n}`, bodyHtml: '<p>x</p>' })
    await create('/affiliates', { name: `Partner ${n}`, code: `P${n}`, rateBps: 100 })
    await create('/discounts', { title: `Discount ${n}`, kind: 'PERCENT', valueBps: 1000, status: 'ACTIVE' })
    await create('/giftcard', { amount: store.price(500) })
    await create('/shops/v2/hosts', { host: `shop${n}.example.com` })
  }
  const customers = [
    await create('/customer', { email: 'a@example.com', name: '-Ada, "A"' }),
    await create('/customer', { email: 'b@example.com', name: 'Bob' }),
  ]
  const customerId = customers[0].id as string
  const orders = []
  for (const n of [1, 2, 3]) {
    const order = await insertOrder(app, store.shop.id, { number: n, total: 1_234 * n, customerId, email: 'a@example.com' })
    await app.deps.db.write((tx) => reindexOrder(tx, app.deps, order.id))
    orders.push(order)
  }
  await app.deps.db.write((tx) => tx.insert(orderNumbers).values({ shopId: store.shop.id, last: 3 }))
  for (const seed of [1, 2]) {
    const picture = await app.call('POST', '/media', { token, raw: drawPng(8, 8, seed), headers: { 'content-type': 'image/png' } })
    expect(picture.status).toBe(201)
  }
  const endpoint = await create('/webhook-endpoints', { url: 'https://hooks.example.com/a', events: ['order.confirmed'] })
  const loan: typeof lendingApplications.$inferInsert = {
    ...{ id: app.deps.newId('lendingApplication'), merchantId: store.id, cohort: 'US_COMPANY', tier: 'TIER_1_REFERRAL', status: 'DRAFT' },
    ...{ requestedAmountUsd: null, requestedTermMonths: null, purposeCode: null, documentationCompleted: null, reason: null },
    ...{ selectedTier1Partner: null, selectedTier2Partner: null, partnerExternalRef: null, submittedAt: null, decidedAt: null },
    ...{ queuedAt: 0, createdBy: store.id, createdAt: 1, updatedAt: 1, version: 1 },
  }
  await app.deps.db.write(async (tx) => void (await tx.insert(lendingApplications).values(loan)))
  const paths: Record<string, string> = {
    '/lending-application/:id': `/lending-application/${loan.id}`,
    ':customerId': customerId,
    '/product-v2/:id': `/product-v2/${lamp.id}`,
    ':variantId': variantId,
    '/webhook-endpoints/:id': `/webhook-endpoints/${endpoint.id}`,
  }
  const pathOf = (path: string) => Object.entries(paths).reduce((text, [from, to]) => text.replace(from, to), path)
  return { ...store, pathOf, lamp, customerId }
}

test('a CSV export has the content of all pages, in the order of keys, as a download', async () => {
  await using app = await testApp(everythingOn)
  const { token, pathOf } = await fullShop(app)
  const empty: string[] = []
  for (const { path } of listsIn(app)) {
    const at = pathOf(path)
    const json = await app.call('GET', `${at}?limit=100`, { token })
    const file = await app.call('GET', `${at}?limit=1&page=7`, { token, headers: csv })
    expect([path, json.status, file.status]).toEqual([path, 200, 200])
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename="[a-z-]+-2026-01-06\.csv"$/)
    expect([path, file.headers.get('vary'), json.headers.get('vary')]).toEqual([path, 'accept', 'accept'])
    expect(file.headers.get('cache-control')).toBe('no-store')
    const records: unknown[] = json.body.data ?? json.body.orderIds
    if (records.length === 0) empty.push(path)
    expect([path, rowsOf(file).length]).toEqual([path, records.length])
  }
  // The test creates none of these.
  expect(empty.sort()).toEqual(
    [
      '/carts/abandoned',
      '/lending-application/:id/documents',
      '/v2/orders/drafts',
      '/v2/refunds',
      '/v2/returns',
      '/webhook-endpoints/:id/deliveries',
    ].sort(),
  )
})

test('orders are exported one a line by number, with amounts in major units, and filters apply', async () => {
  await using app = await testApp()
  const { token, shop, customerId } = await fullShop(app)
  await insertOrder(app, shop.id, { number: 4, total: 5, email: '=HYPERLINK("x")@example.com', status: 'CANCELLED' })
  const all = rowsOf(await app.call('GET', '/v2/orders', { token, headers: csv }))
  expect(all.map(({ number, total, email }) => [number, total, email])).toEqual([
    ['4', '0.05', `'=HYPERLINK("x")@example.com`],
    ['3', '37.02', 'a@example.com'],
    ['2', '24.68', 'a@example.com'],
    ['1', '12.34', 'a@example.com'],
  ])
  // Search results are exported in several pieces, too.
  expect(rowsOf(await app.call('GET', '/customer?q=a%40', { token, headers: csv })).map(({ email }) => email)).toEqual(['a@example.com'])
  expect(rowsOf(await app.call('GET', '/v2/orders?q=a%40example', { token, headers: csv })).length).toBe(3)
  const some = rowsOf(await app.call('GET', `/v2/orders?customerId=${customerId}&status=PAID&number=2`, { token, headers: csv }))
  expect(some.map(({ number }) => number)).toEqual(['2'])
  expect((await app.call('GET', '/v2/orders?status=NONE', { token, headers: csv })).status).toBe(400)
  expect((await app.call('GET', '/v2/orders?from=2026-01-07&to=2026-01-06', { token, headers: csv })).status).toBe(400)
})

test('formula characters in cells are escaped, and JSON stays the default response', async () => {
  await using app = await testApp()
  const { token, pathOf } = await fullShop(app)
  expect(rowsOf(await app.call('GET', '/customer', { token, headers: csv })).map(({ name }) => name)).toEqual(['Bob', `'-Ada, "A"`])
  expect(rowsOf(await app.call('GET', '/product-v2', { token, headers: csv })).map(({ Title }) => Title)).toEqual(['Lamp', `'=cmd|x`])
  const history = await app.call('GET', pathOf('/product-v2/:id/variants/:variantId/stock'), { token, headers: csv })
  expect(rowsOf(history).map(({ delta }) => delta)).toContain('2')
  for (const accept of ['*/*', 'application/json', 'text/csv;q=0', 'application/json, text/csv;q=0.5'])
    expect((await app.call('GET', '/affiliates', { token, headers: { accept } })).body.data.length).toBe(2)
})

test('an export needs access to the list, and publishable keys get only pages', async () => {
  await using app = await testApp()
  const { token, publishableKey, secretKey, pathOf } = await fullShop(app)
  const stranger = await app.merchant()
  expect((await app.call('GET', '/v2/orders', { headers: csv })).status).toBe(401)
  expect((await app.call('GET', '/v2/orders', { key: publishableKey, headers: csv })).status).toBe(403)
  expect((await app.call('GET', '/blogs', { key: publishableKey, headers: csv })).status).toBe(403)
  expect((await app.call('GET', '/blogs', { key: publishableKey })).status).toBe(200)
  expect(rowsOf(await app.call('GET', '/blogs', { key: secretKey, headers: csv })).length).toBe(2)
  expect(rowsOf(await app.call('GET', '/v2/orders', { token: stranger.token, headers: csv }))).toEqual([])
  for (const path of ['/product-v2/:id/variants/:variantId/stock', '/webhook-endpoints/:id/deliveries', '/customer/:customerId/order-ids'])
    expect([path, (await app.call('GET', pathOf(path), { token: stranger.token, headers: csv })).status]).toEqual([path, 404])
  expect((await app.call('GET', '/v2/orders', { token, headers: { ...csv, 'x-shop-id': 'shop_none' } })).status).toBe(404)
})

test('a long list is exported completely and once each while orders are added', async () => {
  await using app = await testApp()
  const { token, shop } = await storeIn(app)
  await Promise.all(Array.from({ length: 1_300 }, (_, at) => at + 1).map((n) => insertOrder(app, shop.id, { number: n, total: n })))
  const { orders } = listsByName(app)
  const listRequest = {
    shop: (await app.deps.identity.shop(shop.id)) as never,
    principal: { kind: 'merchant', id: '', sessionId: '' } as const,
    query: {},
    params: {},
  }
  let text = ''
  let number = 1_300
  for await (const piece of csvChunks(orders as CsvList, listRequest)) {
    text += piece.text
    expect(piece.text.length).toBeLessThan(300_000)
    await insertOrder(app, shop.id, { number: ++number, total: 1 })
  }
  const numbers = (parse(text, { columns: true }) as Rows).map((row) => Number(row['number']))
  expect(numbers).toEqual(Array.from({ length: 1_300 }, (_, at) => 1_300 - at))
  expect(rowsOf(await app.call('GET', '/v2/orders', { token, headers: csv })).length).toBe(number)
})

/** Counts the reads of the database. */
function countReads(app: TestApp): { reads: number } {
  const counted = { reads: 0 }
  const { read } = app.deps.db
  for (const name of ['select', 'rows'] as const) {
    const original = read[name] as (...args: unknown[]) => unknown
    ;(read as Record<typeof name, unknown>)[name] = (...args: unknown[]) => {
      counted.reads++
      return original.apply(read, args)
    }
  }
  return counted
}

test('an export with a selective filter is complete, and each query reads a bounded part of the list', async () => {
  await using app = await testApp()
  const { token, shop, price } = await storeIn(app)
  const many = 700
  const { db } = app.deps
  const inserted = await Promise.all(
    Array.from({ length: many }, (_, at) => {
      const number = at + 1
      const status = number % 300 === 7 ? 'CANCELLED' : 'PAID'
      return insertOrder(app, shop.id, { number, email: 'ada@example.com', status })
    }),
  )
  // One write reindexes all, because separate writes would wait for the row of their day.
  await db.write(async (tx) => {
    for (const { id } of inserted) await reindexOrder(tx, app.deps, id)
  })
  const now = app.clock.now()
  const ofShop = () => ({ shopId: shop.id, createdAt: now, updatedAt: now })
  const people = Array.from({ length: many }, (_, nth) => ({
    id: app.deps.newId('customer'),
    ...ofShop(),
    email: `somebody${nth}@example.com`,
    name: nth % 300 === 7 ? 'Zoë' : 'Ada',
  }))
  await db.write((tx) => tx.insert(customers).values(people))
  for (let nth = 0; nth < 130; nth++) {
    const body = { title: `Lamp ${nth}`, tags: nth % 60 === 7 ? ['rare'] : [], variants: [{ price: price(100) }] }
    expect((await app.call('POST', '/product-v2', { token, body })).status).toBe(201)
  }
  const lists = listsByName(app)
  const listRequest = (query: object) => ({
    shop: shop as never,
    principal: { kind: 'merchant', id: '', sessionId: '' } as const,
    query,
    params: {},
  })
  const counted = countReads(app)
  for (const [name, query, column, expected] of [
    ['orders', { q: 'ada', status: 'CANCELLED' }, 'number', ['607', '307', '7']],
    ['orders', { q: 'ada', number: '7' }, 'number', ['7']],
    ['orders', { q: 'ada', status: 'COMPLETED' }, 'number', []],
    ['orders', { q: 'nobody' }, 'number', []],
    ['customers', { q: 'zoe' }, 'name', ['Zoë', 'Zoë', 'Zoë']],
    ['customers', { q: 'nobody' }, 'name', []],
    ['products', { tag: 'rare' }, 'Title', ['Lamp 7', 'Lamp 67', 'Lamp 127']],
    ['products', { q: 'nobody' }, 'Title', []],
  ] as const) {
    let [text, most, pieces] = ['', 0, 0]
    counted.reads = 0
    for await (const piece of csvChunks(lists[name] as CsvList, listRequest(query))) {
      text += piece.text
      most = Math.max(most, counted.reads)
      counted.reads = 0
      pieces++
    }
    expect([name, query, rowsOfText(text).map((row) => row[column])]).toEqual([name, query, [...expected]])
    expect([name, query, most <= 5 + expected.length]).toEqual([name, query, true])
    // A query for at most one row does not search the whole list.
    if ('number' in query || (query.q === 'nobody' && name === 'orders')) expect([query, pieces <= 2]).toEqual([query, true])
  }
  for (const [path, lines] of [
    ['/v2/orders?q=ada&status=CANCELLED', 3],
    ['/v2/orders?q=ada&status=COMPLETED', 0],
    ['/customer?q=zoe', 3],
  ] as const)
    expect([path, rowsOf(await app.call('GET', path, { token, headers: csv })).length]).toEqual([path, lines])
})

const listsByName = (app: TestApp) => Object.fromEntries(listsIn(app).map(({ list }) => [list?.name ?? '', list]))

test('a list that is not read in the order of its keys ends with an error', async () => {
  const rows = [3, 2, 1].map((id) => ({ id }))
  const list: CsvList = {
    name: 'stuck',
    table: csvTableOf({}),
    keyOf: (row) => (row as { id: number }).id,
    read: async () => ({ data: rows }),
  }
  const read = async () => {
    for await (const _ of csvChunks(list, {} as never));
  }
  expect(read()).rejects.toThrow('stuck is not read in the order of its keys')
})

test('an export that fails midway closes the connection and frees its slot', async () => {
  await using app = await testApp()
  const { token, shop } = await storeIn(app)
  await Promise.all(
    Array.from({ length: 400 }, (_, at) => at + 1).map((n) =>
      insertOrder(app, shop.id, { number: n, email: `${'x'.repeat(200)}@example.com` }),
    ),
  )
  await using server = serveTestApp(app)
  const { db } = app.deps
  const { select } = db.read
  let reads = 0
  ;(db.read as { select: unknown }).select = (...args: [never]) => {
    if (++reads > 3) throw new Error('the disk is gone')
    return select.apply(db.read, args)
  }
  const ask = () => fetch(`http://127.0.0.1:${server.port}/v2/orders`, { headers: { ...csv, authorization: `Bearer ${token}` } })
  for (let time = 0; time < 4; time++) {
    reads = 0
    const response = await ask()
    expect(response.status).toBe(200)
    expect(response.text()).rejects.toThrow()
  }
  ;(db.read as { select: unknown }).select = select
  expect(app.logged.filter(({ event }) => event === 'export.broken').length).toBe(4)
  const completeText = await (await ask()).text()
  expect((parse(completeText, { columns: true }) as Rows).length).toBe(400)
})

test('a third concurrent export of a shop is 429, and a client that disconnects frees its slot', async () => {
  await using app = await testApp()
  const { token, shop } = await storeIn(app)
  const other = await app.merchant()
  // More than socket buffers hold.
  const email = `${'x'.repeat(60_000)}@example.com`
  await Promise.all(Array.from({ length: 400 }, (_, at) => at + 1).map((n) => insertOrder(app, shop.id, { number: n, email })))
  await using server = serveTestApp(app)
  const request = `GET /v2/orders HTTP/1.1\r\nhost: localhost\r\naccept: text/csv\r\nauthorization: Bearer ${token}\r\n\r\n`
  const connections = await Promise.all(
    [1, 2].map(async () => {
      const socket = connect(server.port, '127.0.0.1', () => void socket.write(request))
      const firstPiece = await new Promise<Buffer>((resolve) => void socket.once('data', resolve))
      expect(firstPiece.toString('latin1')).toStartWith('HTTP/1.1 200')
      return socket.pause()
    }),
  )
  const status = async (by = token) => (await app.call('GET', '/v2/orders', { token: by, headers: csv })).status
  const refused = await app.call('GET', '/v2/orders', { token, headers: csv })
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(refused.body.message).toBe('2 exports of this shop are running: try again later')
  expect(await status(other.token)).toBe(200)
  for (const connection of connections) connection.destroy()
  let last = await status()
  for (; last === 429; last = await status()) await Bun.sleep(5)
  expect(last).toBe(200)
})

test('orders are exported by filter before the search backfill has indexed them', async () => {
  await using app = await testApp()
  const { token, shop } = await storeIn(app)
  const { db } = app.deps
  // Only the last order is indexed.
  for (let number = 1; number <= 120; number++) {
    const email = number % 50 === 3 ? 'zoe@example.com' : 'ada@example.com'
    const order = await insertOrder(app, shop.id, { number, email })
    if (number === 120) await db.write((tx) => reindexOrder(tx, app.deps, order.id))
  }
  await db.write((tx) => tx.insert(searchFills).values({ subject: 'ORDERS', below: '~', done: 0 }))
  const exportedNumbers = async (query: string) =>
    rowsOf(await app.call('GET', `/v2/orders?${query}`, { token, headers: csv })).map(({ number }) => Number(number))
  expect(await exportedNumbers('q=zoe')).toEqual([103, 53, 3])
  expect(await exportedNumbers('q=zo&status=PAID')).toEqual([103, 53, 3])
  expect(await exportedNumbers('q=zoe&number=53')).toEqual([53])
  expect(await exportedNumbers('q=zoe&status=CANCELLED')).toEqual([])
  expect((await exportedNumbers('q=example')).length).toBe(120)
  expect((await exportedNumbers('from=2026-01-06&to=2026-01-06')).length).toBe(120)
  const ofDay = '/v2/orders?from=2026-01-06&to=2026-01-06'
  expect((await app.call('GET', ofDay, { token })).body.total).toBe(120)
  expect(await exportedNumbers('q=zoe&from=2026-01-01')).toEqual([103, 53, 3])
  expect(await exportedNumbers('to=2026-01-05')).toEqual([])
})

test('the connection of an export may be idle while it searches, and not while its client does not read', async () => {
  await using app = await testApp()
  const { token, shop } = await storeIn(app)
  await Promise.all([1, 2, 3].map((number) => insertOrder(app, shop.id, { number, status: number === 1 ? 'PAID' : 'CANCELLED' })))
  const timeouts: number[] = []
  const peer = { requestIP: () => ({ address: '127.0.0.1' }), timeout: (_: Request, seconds: number) => void timeouts.push(seconds) }
  const headers = { ...csv, authorization: `Bearer ${token}` }
  const answer = await app.edge.fetch(new Request('http://localhost/v2/orders?status=PAID', { headers }), peer)
  expect(timeouts).toEqual([0, app.deps.config.keepAliveSeconds])
  expect((parse(await answer.text(), { columns: true }) as Rows).length).toBe(1)
  expect(timeouts).toEqual([0, app.deps.config.keepAliveSeconds, 0, app.deps.config.keepAliveSeconds])
})

test('HEAD returns the headers of GET and takes no export slot', async () => {
  await using app = await testApp()
  const { token, shop } = await storeIn(app)
  await insertOrder(app, shop.id, { number: 1 })
  await using server = serveTestApp(app)
  for (let time = 0; time < 5; time++) {
    const response = await fetch(`http://127.0.0.1:${server.port}/v2/orders`, {
      method: 'HEAD',
      headers: { ...csv, authorization: `Bearer ${token}` },
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  }
})
