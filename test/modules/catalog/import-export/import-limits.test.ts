/** Tests the limits of imports over HTTP. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { count, eq } from 'drizzle-orm'
import { products, stockHistory, variants } from '../../../../db/schema/catalog.ts'
import { system } from '../../../../src/core/command-context.ts'
import { importProducts, importStoppedError } from '../../../../src/modules/catalog/import-export/import.ts'
import { contextOf } from '../../../../src/modules/shop/shop/service.ts'
import { type Answer, type Json, type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { rawConnection, serveTestApp } from '../../../support/server.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const lines = (...rows: string[]) => `${rows.join('\n')}\n`
const batch = 32

const send = (app: TestApp, key: string, raw: string, query = ''): Promise<Answer> =>
  app.call('POST', `/product-v2/import${query}`, { key, raw, headers: { 'content-type': 'text/csv' } })

const requestHead = (key: string, length: number) =>
  `POST /product-v2/import HTTP/1.1\r\nHost: localhost\r\ncontent-type: text/csv\r\nx-service-api-key: ${key}\r\ncontent-length: ${length}\r\n\r\n`

const nextTurn = () => new Promise((resume) => setImmediate(resume))

async function countProducts({ deps: { db } }: TestApp): Promise<number> {
  const [row] = await db.read.select({ n: count() }).from(products)
  return Number(row?.n)
}

/** Returns whether the shop imports now. Releases the slot that it takes at once. */
function isImporting({ deps }: TestApp, shopId: string): boolean {
  try {
    deps.importSlots.take(shopId)()
    return false
  } catch {
    return true
  }
}

/** Waits until a condition is met, turn by turn of the event loop. The timeout of the test limits the wait. */
async function waitUntil(isMet: () => Promise<boolean>): Promise<void> {
  while (!(await isMet())) await nextTurn()
}

test('stops an upload of 19 MB within a few batches when its client leaves, and accepts the next one', async () => {
  await using app = await testApp()
  await using served = serveTestApp(app)
  const { secretKey } = await shopIn(app)
  const all = 20_000
  const description = `<p>${'Made to last. '.repeat(66)}</p>`
  const file = lines('Handle,Title,Body (HTML)', ...Array.from({ length: all }, (_, nth) => `p-${nth},Product ${nth},${description}`))
  expect(file.length).toBeGreaterThan(19_000_000)
  expect(file.length).toBeLessThan(20 * 1024 * 1024)
  const connection = await rawConnection(served.port)
  connection.send(requestHead(secretKey, file.length) + file)
  await waitUntil(async () => (await countProducts(app)) >= batch)
  const before = await countProducts(app)
  connection.close()
  await waitUntil(async () => app.deps.requestCounts.inFlight() === 0)
  const after = await countProducts(app)
  expect(after - before).toBeLessThanOrEqual(3 * batch)
  for (let turns = 0; turns < 100; turns++) await nextTurn()
  expect(await countProducts(app)).toBe(after)
  expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
  expect((await send(app, secretKey, lines('Handle,Title', 'p-0,Again', 'new,New'))).body).toMatchObject({ created: 1, skipped: 1 })
})

test('a second import of the same shop is 429 before its body is read; other shops can import', async () => {
  await using app = await testApp()
  await using served = serveTestApp(app)
  const [shop, other] = [await shopIn(app), await shopIn(app)]
  const connection = await rawConnection(served.port)
  const file = lines('Title', 'Tea')
  connection.send(requestHead(shop.secretKey, file.length) + file.slice(0, 3))
  await waitUntil(async () => isImporting(app, shop.shop.id))
  const refused = await send(app, shop.secretKey, 'Title\n"a quote that is never closed')
  expect([refused.status, refused.body.message, refused.headers.get('retry-after')]).toEqual([
    429,
    'An import of this shop is running: try again later',
    '5',
  ])
  expect((await send(app, other.secretKey, file)).body.created).toBe(1)
  connection.send(file.slice(3))
  const answer = await connection.answer()
  connection.close()
  expect([answer.status, JSON.parse(answer.body).created]).toEqual([200, 1])
  expect((await send(app, shop.secretKey, file)).body.skipped).toBe(1)
})

test('20 stalled uploads use bounded memory and do not block another shop; the oldest is ended with 408', async () => {
  await using app = await testApp()
  await using served = serveTestApp(app)
  const mb = 1024 * 1024
  const chunk = new Uint8Array(mb).fill(120)
  const stalled = []
  for (let nth = 0; nth < 20; nth++) {
    const { secretKey, shop } = await shopIn(app)
    const connection = await rawConnection(served.port)
    connection.send(requestHead(secretKey, 20 * mb))
    await waitUntil(async () => isImporting(app, shop.id))
    stalled.push(connection)
  }
  const honest = await shopIn(app)
  expect((await send(app, honest.secretKey, lines('Title', 'Tea'))).body).toMatchObject({ created: 1 })
  const { budget } = app.deps.uploading
  for (const connection of stalled) {
    const { bytes } = budget.usage()
    for (let sent = 0; sent < 15; sent++) connection.send(chunk)
    // Everything has arrived before the next connection sends.
    await waitUntil(async () => budget.usage().bodies < 20 || budget.usage().bytes >= bytes + 15 * mb)
    if (budget.usage().bodies < 20) break
  }
  expect(budget.usage().bodies).toBeLessThan(20)
  expect(budget.usage().bytes).toBeLessThanOrEqual(64 * mb)
  stalled[0]?.send('x')
  expect((await stalled[0]?.answer())?.status).toBe(408)
  expect((await send(app, honest.secretKey, lines('Title', 'Mug'))).body).toMatchObject({ created: 1 })
  for (const connection of stalled) connection.close()
  await waitUntil(async () => app.deps.requestCounts.inFlight() === 0)
  expect(budget.usage()).toEqual({ bodies: 0, bytes: 0 })
})

test('the seventeenth concurrent import is 429, also when its upload began earlier', async () => {
  await using app = await testApp()
  await using served = serveTestApp(app)
  const [first, second] = [await shopIn(app), await shopIn(app)]
  const file = lines('Title', 'Tea')
  const connection = await rawConnection(served.port)
  connection.send(requestHead(first.secretKey, file.length) + file.slice(0, 3))
  await waitUntil(async () => isImporting(app, first.shop.id))
  const releases = Array.from({ length: 16 }, (_, nth) => app.deps.runningImports.take(`shop ${nth}`))
  connection.send(file.slice(3))
  const answer = await connection.answer()
  connection.close()
  const refused = await send(app, second.secretKey, file)
  const message = 'Too many imports are running: try again later'
  expect([answer.status, JSON.parse(answer.body).message, refused.status, refused.body.message]).toEqual([429, message, 429, message])
  releases[3]?.()
  expect((await send(app, second.secretKey, file)).body.created).toBe(1)
  expect((await send(app, first.secretKey, file)).body.created).toBe(1)
})

test('imports over HTTP run in turns: one stores nothing while another has its turn', async () => {
  await using app = await testApp()
  const { secretKey } = await shopIn(app)
  const other = await app.deps.scheduler.enter()
  const work = send(app, secretKey, lines('Title', 'Tea'))
  for (let turns = 0; turns < 50; turns++) await nextTurn()
  expect([app.deps.requestCounts.inFlight(), await countProducts(app)]).toEqual([1, 0])
  other.leave()
  expect((await work).body).toMatchObject({ created: 1 })
  // A failed import gives its turn back as well.
  expect((await send(app, secretKey, 'Title\n"never closed')).status).toBe(400)
  expect((await send(app, secretKey, lines('Title', 'Tea'))).body).toMatchObject({ skipped: 1 })
})

test('a client that disconnects while sending, and an empty file, allow the next import of the shop', async () => {
  await using app = await testApp()
  await using served = serveTestApp(app)
  const { secretKey, shop } = await shopIn(app)
  const connection = await rawConnection(served.port)
  connection.send(`${requestHead(secretKey, 1_000)}Title\nTea`)
  await waitUntil(async () => isImporting(app, shop.id))
  connection.close()
  await waitUntil(async () => !isImporting(app, shop.id))
  expect((await send(app, secretKey, '')).status).toBe(400)
  expect((await send(app, secretKey, 'Title\nTea')).status).toBe(200)
})

test('a file above the limit of rows or products is 413, names the limit and stores nothing', async () => {
  await using app = await testApp()
  const { secretKey } = await shopIn(app)
  const rows = Array.from({ length: 100_001 }, (_, nth) => `p-${nth % 10_000},${nth < 10_000 ? 'Tea' : ''}`)
  const many = await send(app, secretKey, lines('Handle,Title', ...rows))
  expect([many.status, many.body.message]).toEqual([413, expect.stringContaining('more than 100000 rows')])
  const titles = Array.from({ length: 50_001 }, (_, nth) => `Tea ${nth}`)
  const wide = await send(app, secretKey, lines('Title', ...titles))
  expect([wide.status, wide.body.message]).toEqual([413, expect.stringContaining('more than 50000 products')])
  expect(await countProducts(app)).toBe(0)
})

test('the error of a stopped import says that its products stay, and of a dry run that nothing was stored', () => {
  const report = { created: 3, updated: 2, skipped: 1 }
  expect(importStoppedError({ dryRun: false, ...report })).toMatchObject({ kind: 'UNAVAILABLE', retryAfterSeconds: 1 })
  expect(importStoppedError({ dryRun: false, ...report }).message).toContain(
    '3 products were created, 2 changed and 1 skipped, and are stored',
  )
  expect(importStoppedError({ dryRun: true, ...report }).message).toContain(
    '3 products would be created, 2 changed and 1 skipped until there; nothing was stored',
  )
})

test('a stopped import reports its progress, keeps what it stored, and can be sent again', async () => {
  await using app = await testApp()
  const merchant = await shopIn(app)
  const shop = contextOf(merchant.shop)
  const all = 1_000
  const bytes = new TextEncoder().encode(
    lines('Handle,Title,Body (HTML)', ...Array.from({ length: all }, (_, nth) => `p-${nth},P ${nth},${'x'.repeat(100)}`)),
  )
  const stop = new AbortController()
  async function* file() {
    yield bytes
  }
  const options = { dryRun: false, overwrite: false, currency: 'USD' }
  const report = await importProducts(app.deps, { shop, actor: system }, file, {
    ...options,
    signal: stop.signal,
    onProgress: (_, rows) => {
      if (rows > 200) stop.abort()
    },
  })
  expect(report).toMatchObject({ complete: false, failed: 0, created: await countProducts(app) })
  expect(report.created).toBeGreaterThan(200)
  expect(report.created).toBeLessThan(all)
  const repeated = await importProducts(app.deps, { shop, actor: system }, file, options)
  expect(repeated).toMatchObject({ complete: true, created: all - report.created, skipped: report.created })
})

const header = 'Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant Inventory Tracker,Variant Inventory Qty'
const tee = lines(header, 'tee,Tee,Size,S,10,shopify,5', 'tee,,,M,11,shopify,6')

test('overwriting keeps stock counts and tracking of known variants unless requested, and reports so', async () => {
  await using app = await testApp()
  const { secretKey, get } = await shopIn(app)
  await send(app, secretKey, tee)
  const stock = async () =>
    (await get('/product-v2')).body.data[0].variants.map(({ onHand, trackInventory, price }: Json) => [
      onHand,
      trackInventory,
      price.amount,
    ])
  const file = lines(header, 'tee,Tee,Size,S,20,shopify,9', 'tee,,,M,21,,0', 'tee,,,L,22,shopify,4')
  const unchanged = { set: false, counts: 0, tracking: 0, leftAlone: 2 }
  expect((await send(app, secretKey, file, '?overwrite=true&dryRun=true')).body).toMatchObject({ updated: 1, stock: unchanged })
  expect((await send(app, secretKey, file, '?overwrite=true')).body).toMatchObject({ updated: 1, stock: unchanged, variantsKept: 0 })
  // A new variant gets its count from the file.
  expect(await stock()).toEqual([
    [5, true, 2_000],
    [6, true, 2_100],
    [4, true, 2_200],
  ])
  expect(await app.deps.db.read.select().from(stockHistory)).toEqual([])
  const set = { set: true, counts: 2, tracking: 1, leftAlone: 0 }
  expect((await send(app, secretKey, file, '?overwrite=true&stock=true&dryRun=true')).body.stock).toEqual(set)
  expect(await stock()).toEqual([
    [5, true, 2_000],
    [6, true, 2_100],
    [4, true, 2_200],
  ])
  expect((await send(app, secretKey, file, '?overwrite=true&stock=true')).body.stock).toEqual(set)
  expect(await stock()).toEqual([
    [9, true, 2_000],
    [0, false, 2_100],
    [4, true, 2_200],
  ])
  const history = await app.deps.db.read.select().from(stockHistory).orderBy(stockHistory.id)
  expect(history.map(({ delta, onHand, reason }) => [delta, onHand, reason])).toEqual([
    [4, 9, 'import'],
    [-6, 0, 'import'],
  ])
})

test('an import never removes variants: it keeps and counts those that the file does not name', async () => {
  await using app = await testApp()
  const { secretKey, get } = await shopIn(app)
  await send(app, secretKey, tee)
  const partialFile = lines(header, 'tee,Tee,Size,L,30,shopify,1')
  expect((await send(app, secretKey, partialFile, '?overwrite=true')).body).toMatchObject({ updated: 1, variants: 3, variantsKept: 2 })
  const [product] = (await get('/product-v2')).body.data
  expect([product.options, product.variants.map(({ title }: Json) => title)]).toEqual([
    [{ name: 'Size', values: ['S', 'M', 'L'] }],
    ['S', 'M', 'L'],
  ])
  // A file with all variants sets their order.
  const completeFile = lines(header, 'tee,Tee,Size,L,30,shopify,1', 'tee,,,S,10,shopify,5', 'tee,,,M,11,shopify,6')
  expect((await send(app, secretKey, completeFile, '?overwrite=true')).body).toMatchObject({ updated: 1, variantsKept: 0 })
  expect((await get('/product-v2')).body.data[0].variants.map(({ title }: Json) => title)).toEqual(['L', 'S', 'M'])
})

test('refuses a product whose options do not fit its remaining variants, and says what to do', async () => {
  await using app = await testApp()
  const { secretKey, add, get } = await shopIn(app)
  await add({ title: 'Mug', handle: 'mug', variants: [{ price: usd(100), onHand: 3 }] })
  const report = await send(app, secretKey, lines(header, 'mug,Mug,Size,S,1,shopify,1'), '?overwrite=true')
  expect(report.body).toMatchObject({
    updated: 0,
    failed: 1,
    errors: [
      {
        row: 2,
        message: 'options: some variants lack values for these options: send them with new optionValues, or delete them first',
      },
    ],
  })
  const [mug] = (await get('/product-v2')).body.data
  const rows = await app.deps.db.read.select().from(variants).where(eq(variants.productId, mug.id))
  expect(rows.map(({ onHand }) => onHand)).toEqual([3])
})
