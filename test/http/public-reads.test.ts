/** Tests the limits of public reads: queues by address, response size, and unread bytes. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../db/columns.ts'
import { AppError } from '../../src/core/errors.ts'
import { createBodyBudget } from '../../src/core/limits/body-budget.ts'
import { createKeyedScheduler } from '../../src/core/limits/scheduler.ts'
import { publicReads } from '../../src/http/public-reads.ts'
import { createRouteTable } from '../../src/http/route-table.ts'
import { publicAnswerBytesMax } from '../../src/lib/shorten-texts.ts'
import { testApp } from '../support/app.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { serveTestApp } from '../support/server.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const nextTurn = () => new Promise<void>((resume) => setImmediate(resume))
const path = '/things/one'
const json = (bytes: number) => new Response(JSON.stringify('x'.repeat(bytes - 2)), { headers: { 'content-type': 'application/json' } })

/** Serves a public and a private route with the responses of a test. */
function serveReads(
  answer: (request: Request) => Response | Promise<Response>,
  setup: { budget?: ReturnType<typeof createBodyBudget>; waitingMax?: number; cached?: string } = {},
) {
  const routeTable = createRouteTable()
  routeTable.fill([
    { method: 'GET', path: '/things/:id', hooks: { detail: { 'x-access': 'public' } } },
    { method: 'GET', path: '/own/:id', hooks: { detail: { 'x-access': 'merchant' } } },
  ])
  const logged: unknown[] = []
  const nothing = () => undefined
  const ofRequest = ({ headers }: Request) => headers.get('x-from') ?? 'a'
  const scheduler = createKeyedScheduler({
    now: () => performance.now(),
    turn: nextTurn,
    sleep: nextTurn,
    activityCount: () => 0,
    ...{ othersShare: 1, atOnce: 1, waitMaxMs: 10_000, waitingMax: setup.waitingMax ?? 100 },
    full: () => new AppError('RATE_LIMITED', 'full', { retryAfterSeconds: 1 }),
  })
  const read = publicReads({
    handle: answer,
    routeTable,
    isCached: ({ url }) => setup.cached !== undefined && url.endsWith(setup.cached),
    turns: scheduler,
    budget: setup.budget ?? createBodyBudget(),
    turnKey: ofRequest,
    senderOf: ofRequest,
    log: { debug: nothing, info: nothing, warn: nothing, error: (event, fields) => void logged.push([event, fields]) },
  })
  const get = async (from = 'a', { at = path, ...options }: RequestInit & { at?: string } = {}) =>
    read(new Request(`http://localhost${at}`, { headers: { 'x-from': from }, ...options }))
  return { get, logged }
}

describe('queues of public reads', () => {
  test('requests of one address run one at a time, and other addresses do not wait', async () => {
    let running = 0
    let most = 0
    const order: string[] = []
    const { get } = serveReads(async ({ headers }) => {
      most = Math.max(most, ++running)
      await nextTurn()
      running--
      order.push(headers.get('x-from') ?? '')
      return json(10)
    })
    const many = Array.from({ length: 24 }, () => get('busy'))
    await Promise.all([...many, get('quiet')])
    expect(most).toBe(2)
    expect(order.indexOf('quiet')).toBeLessThan(3)
  })

  test('reads beyond the queue of an address are 429, readable across origins', async () => {
    const { get, logged } = serveReads(() => json(10), { waitingMax: 3 })
    const answers = await Promise.all(Array.from({ length: 5 }, () => get()))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
    expect(answers[4]?.headers.get('retry-after')).toBe('1')
    expect(answers[4]?.headers.get('access-control-allow-origin')).toBe('*')
    expect(logged).toEqual([])
    await nextTurn()
    expect((await get()).status).toBe(200)
  })

  test('the request of a disconnected client is not processed', async () => {
    let processed = 0
    const { get } = serveReads(() => {
      processed++
      return json(10)
    })
    const controller = new AbortController()
    const first = get()
    const second = get('a', { signal: controller.signal })
    controller.abort()
    expect((await second).status).toBe(503)
    await first
    expect(processed).toBe(1)
  })

  test('cached reads respond at once, whatever is queued', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const { get } = serveReads(
      async ({ url }) => {
        if (url.endsWith('/slow')) await opened
        return json(10)
      },
      { cached: '/cached', waitingMax: 2 },
    )
    const slow = [get('a', { at: '/things/slow' }), get('a', { at: '/things/slow' })]
    for (let nth = 0; nth < 5; nth++) expect((await get('a', { at: '/things/cached' })).status).toBe(200)
    expect((await get('a', { at: '/things/other' })).status).toBe(429)
    open()
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200])
  })

  test('refused reads are not logged as errors, and cached cross-origin reads bypass the queue', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const headers = { origin: 'https://shop.example' }
    const list = `/product-v2/public/shop/${shop.shop.name}`
    const readAll = async (pathOf: (nth: number) => string) => {
      const answers = await Promise.all(Array.from({ length: 200 }, (_, nth) => app.call('GET', pathOf(nth), { headers })))
      return [...new Set(answers.map(({ status }) => status))].sort()
    }
    // PostgreSQL has no version of its data, so responses are not cached there.
    if (engine === 'sqlite') {
      await app.call('GET', list)
      expect(await readAll(() => list)).toEqual([200])
    }
    app.logged.length = 0
    expect(await readAll((nth) => `${list}?q=word${nth}`)).toEqual([200, 429])
    expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('the size limit of public responses', () => {
  test('a response of 1 MB is sent, and a larger one is 500 and logged', async () => {
    const { get, logged } = serveReads(({ headers }) =>
      json(headers.get('x-from') === 'a' ? publicAnswerBytesMax : publicAnswerBytesMax + 1),
    )
    const response = await get('a')
    expect([response.status, (await response.bytes()).length]).toEqual([200, publicAnswerBytesMax])
    expect((await get('b')).status).toBe(500)
    const bytes = publicAnswerBytesMax + 1
    expect(logged).toEqual([['answer.too_large', { route: '/things/:id', bytes, bytesMax: publicAnswerBytesMax }]])
  })
})

describe('the budget of unread response bytes', () => {
  test('unread response bytes are counted until read, and released when the client disconnects', async () => {
    const budget = createBodyBudget()
    const { get } = serveReads(() => json(1_000_000), { budget })
    const unread = await get()
    const reader = unread.body?.getReader()
    await reader?.read()
    expect(budget.usage().bytes).toBe(1_000_000 - 64 * 1024)
    while (!(await reader?.read())?.done) {}
    expect(budget.usage()).toEqual({ bodies: 0, bytes: 0 })
    const left = (await get()).body?.getReader()
    await left?.read()
    await left?.cancel()
    expect(budget.usage()).toEqual({ bodies: 0, bytes: 0 })
  })

  test('unread response bytes are limited for a client, whose oldest response breaks off, and in total', async () => {
    const budget = createBodyBudget(4_000_000, 0, 2_000_000)
    const { get } = serveReads(() => json(900_000), { budget })
    const begin = async (from: string) => {
      const reader = (await get(from)).body?.getReader()
      await reader?.read()
      return reader
    }
    const [oldest, ...others] = [await begin('a'), await begin('a'), await begin('a')]
    await expect(oldest?.read()).rejects.toBeUndefined()
    expect(budget.usage().bodies).toBe(2)
    for (const from of ['b', 'b', 'c', 'c']) others.push(await begin(from))
    expect(budget.usage().bytes).toBeLessThanOrEqual(4_000_000)
    const ends = await Promise.allSettled(others.map((reader) => reader?.read()))
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBe(budget.usage().bodies)
  })

  test('unread response bytes of routes that are not public are not counted', async () => {
    const budget = createBodyBudget(4_000_000, 0, 2_000_000)
    const { get } = serveReads(() => json(1_500_000), { budget })
    const answers = [await get('a', { at: '/own/1' }), await get('a', { at: '/own/2' })]
    const lengths = await Promise.all(answers.map(async (answer) => (await answer.bytes()).length))
    expect([lengths, budget.usage().bodies]).toEqual([[1_500_000, 1_500_000], 0])
  })

  test('unread response bytes of a long response are all released after GET and HEAD to a server', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const values = Array.from({ length: 60 }, (_, nth) => `Size ${nth}`)
    const long = {
      title: 'Long',
      status: 'ACTIVE',
      descriptionHtml: `<p>${'茶'.repeat(65_000)}</p>`,
      options: [{ name: 'Size', values }],
      variants: values.map((value) => ({ optionValues: [value], price: shop.money(100) })),
    }
    const product = ok(await shop.post('/product-v2', long), 201).body
    await using server = serveTestApp(app)
    const response = await fetch(`${server.url}/product-v2/public/${product.id}`)
    const text = await response.text()
    expect([response.status, JSON.parse(text).id, Buffer.byteLength(text) > 200_000]).toEqual([200, product.id, true])
    const head = await fetch(`${server.url}/product-v2/public/${product.id}`, { method: 'HEAD' })
    expect([head.status, head.headers.get('etag')]).toEqual([200, response.headers.get('etag')])
    expect(app.deps.answerBudget.usage()).toEqual({ bodies: 0, bytes: 0 })
  })
})
