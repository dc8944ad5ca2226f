/** Reads of one client cost the others little: turns by address, a bound for each public answer, and one for what waits to be sent. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createBodyRoom } from '../../src/http/body-room.ts'
import { publicBytesMax, publicReads } from '../../src/http/public-reads.ts'
import { createRouteTable } from '../../src/http/route-table.ts'
import { createShares } from '../../src/lib/share.ts'
import { testApp } from '../support/app.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { serveTestApp } from '../support/server.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const nextTurn = () => new Promise<void>((resume) => setImmediate(resume))
const path = '/things/one'
const json = (bytes: number) => new Response(JSON.stringify('x'.repeat(bytes - 2)), { headers: { 'content-type': 'application/json' } })

/** Public reads of a route that a test answers. */
function reading(
  answer: (request: Request) => Response | Promise<Response>,
  given: { room?: ReturnType<typeof createBodyRoom>; waitingMax?: number } = {},
) {
  const routeTable = createRouteTable()
  routeTable.fill([{ method: 'GET', path: '/things/:id', hooks: { detail: { 'x-access': 'public' } } }])
  const logged: unknown[] = []
  const nothing = () => undefined
  const ofRequest = ({ headers }: Request) => headers.get('x-from') ?? 'a'
  const turns = createShares({
    now: () => performance.now(),
    sleep: nextTurn,
    seen: () => 0,
    times: 1,
    waitingMax: given.waitingMax ?? 100,
    full: () => new Error('full'),
  })
  const read = publicReads({
    handle: answer,
    routeTable,
    turns,
    room: given.room ?? createBodyRoom(),
    turnKey: ofRequest,
    senderOf: ofRequest,
    log: { debug: nothing, info: nothing, warn: nothing, error: (event, fields) => void logged.push([event, fields]) },
  })
  const get = async (from = 'a', options: RequestInit = {}) =>
    read(new Request(`http://localhost${path}`, { headers: { 'x-from': from }, ...options }))
  return { get, logged }
}

describe('turns', () => {
  test('requests of one address are answered one at a time, and another address does not wait for them', async () => {
    let running = 0
    let most = 0
    const order: string[] = []
    const { get } = reading(async ({ headers }) => {
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

  test('an address with too many requests that wait is refused', async () => {
    const { get } = reading(() => json(10), { waitingMax: 3 })
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => get()))
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'])
    await nextTurn()
    expect((await get()).status).toBe(200)
  })

  test('the request of a client that has gone is not worked on', async () => {
    let worked = 0
    const { get } = reading(() => {
      worked++
      return json(10)
    })
    const gone = new AbortController()
    const first = get()
    const second = get('a', { signal: gone.signal })
    gone.abort()
    await expect(second).rejects.toThrow('gone')
    await first
    expect(worked).toBe(1)
  })
})

describe('the bound of a public answer', () => {
  test('an answer of 1 MB goes out whole; a longer one is 500, and logged', async () => {
    const { get, logged } = reading(({ headers }) => json(headers.get('x-from') === 'a' ? publicBytesMax : publicBytesMax + 1))
    const whole = await get('a')
    expect([whole.status, (await whole.bytes()).length]).toEqual([200, publicBytesMax])
    await expect(get('b')).rejects.toThrow('too large')
    expect(logged).toEqual([['answer.too_large', { route: '/things/:id', bytes: publicBytesMax + 1, bytesMax: publicBytesMax }]])
  })
})

describe('bytes that wait for slow readers', () => {
  test('are counted until they are taken, and given back when the client goes', async () => {
    const room = createBodyRoom()
    const { get } = reading(() => json(1_000_000), { room })
    const taken = await get()
    const reader = taken.body?.getReader()
    await reader?.read()
    expect(room.held().bytes).toBe(1_000_000 - 64 * 1024)
    while (!(await reader?.read())?.done) {}
    expect(room.held()).toEqual({ bodies: 0, bytes: 0 })
    const left = (await get()).body?.getReader()
    await left?.read()
    await left?.cancel()
    expect(room.held()).toEqual({ bodies: 0, bytes: 0 })
  })

  test('are bounded for one sender, whose oldest answer breaks off, and for all', async () => {
    const room = createBodyRoom(4_000_000, 0, 2_000_000)
    const { get } = reading(() => json(900_000), { room })
    const begin = async (from: string) => {
      const reader = (await get(from)).body?.getReader()
      await reader?.read()
      return reader
    }
    const [oldest, ...others] = [await begin('a'), await begin('a'), await begin('a')]
    await expect(oldest?.read()).rejects.toBeUndefined()
    expect(room.held().bodies).toBe(2)
    for (const from of ['b', 'b', 'c', 'c']) others.push(await begin(from))
    expect(room.held().bytes).toBeLessThanOrEqual(4_000_000)
    const ends = await Promise.allSettled(others.map((reader) => reader?.read()))
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBe(room.held().bodies)
  })

  test('of a long answer are all given back after a GET and a HEAD to a server', async () => {
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
    const whole = await fetch(`${server.url}/product-v2/public/${product.id}`)
    const text = await whole.text()
    expect([whole.status, JSON.parse(text).id, Buffer.byteLength(text) > 200_000]).toEqual([200, product.id, true])
    const head = await fetch(`${server.url}/product-v2/public/${product.id}`, { method: 'HEAD' })
    expect([head.status, head.headers.get('etag')]).toEqual([200, whole.headers.get('etag')])
    expect(app.deps.answerRoom.held()).toEqual({ bodies: 0, bytes: 0 })
  })
})
