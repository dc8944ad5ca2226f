/** Tests resuming, ending and limiting event streams. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { engine } from '../../../../db/columns.ts'
import { liveEvents } from '../../../../db/schema/live.ts'
import type { AppError } from '../../../../src/core/errors.ts'
import { pick } from '../../../../src/lib/objects.ts'
import { createEventCursors } from '../../../../src/modules/messaging/live-events/event-cursor.ts'
import { createHub } from '../../../../src/modules/messaging/live-events/hub.ts'
import { deleteOldEvents } from '../../../../src/modules/messaging/live-events/index.ts'
import { unreadBytesMax } from '../../../../src/modules/messaging/live-events/listener.ts'
import { createLiveStore } from '../../../../src/modules/messaging/live-events/store.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { testDatabase } from '../../../support/database.ts'
import { followStream, type Stream, streamFrom, streamIn } from '../../../support/events.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { serveTestApp } from '../../../support/server.ts'
import { staffOf } from '../../../support/staff.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const path = '/v2/events'
const waitTurns = async (count = 5) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resume) => setImmediate(resume))
}
async function catchUp({ deps }: Pick<TestApp, 'deps'>): Promise<void> {
  await deps.liveNotes.idle()
  await deps.live.updateNow()
  await waitTurns()
}
const soldBy = (stream: Stream) => stream.events.flatMap(({ event, data }) => (event === 'order.confirmed' ? [Number(data['number'])] : []))
const names = (stream: Stream) => stream.events.map(({ event }) => event)
const untilOver = async ({ deps }: TestApp, stream: Stream) => {
  for (let looks = 0; looks < 500 && !stream.isOver(); looks++) {
    await deps.live.updateNow()
    await Bun.sleep(2)
  }
  return stream.isOver()
}

describe('resuming a stream', () => {
  test('a stream resumed from any event id gets exactly the later events, once each', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const stream = await streamIn(app, path, { token: shop.token })
    const startId = stream.lastId()
    for (let nth = 0; nth < 3; nth++) {
      await shop.placeOrder()
      await catchUp(app)
    }
    await stream.close()
    const orders = stream.events.filter(({ event }) => event.startsWith('order.'))
    const ids = [startId, ...stream.events.flatMap(({ id }) => (id === undefined ? [] : [id]))]
    expect(ids.length).toBeGreaterThan(3)
    for (const [nth, lastEventId] of ids.entries()) {
      const resumed = await streamIn(app, path, { token: shop.token, lastEventId })
      await catchUp(app)
      await resumed.close()
      const at = nth === 0 ? 0 : stream.events.findIndex(({ id }) => id === lastEventId) + 1
      const rest = stream.events.slice(at).filter(({ event }) => event.startsWith('order.'))
      const resumedOrders = resumed.events.filter(({ event }) => event.startsWith('order.'))
      expect(resumedOrders.map(({ event, data }) => [event, data['orderId']])).toEqual(
        rest.map(({ event, data }) => [event, data['orderId']]),
      )
    }
    expect(orders.length).toBeGreaterThanOrEqual(9)
  })

  test('a stream resumes after a crash of its process and gets the events from before the crash', async () => {
    const database = await testDatabase()
    const first = await testApp({}, { database })
    const shop = await sellingIn(first)
    const stream = await streamIn(first, path, { key: shop.secretKey })
    await shop.placeOrder()
    await catchUp(first)
    const lastEventId = stream.lastId()
    await shop.placeOrder()
    await first.abandon()
    const second = await testApp({}, { database, startAt: first.clock.now() + minute })
    const resumed = await streamIn(second, path, { key: shop.secretKey, lastEventId })
    await catchUp(second)
    expect(soldBy(resumed)).toEqual([2])
    expect(names(resumed)).not.toContain('resync')
    await resumed.close()
    await second.close()
    await database.drop()
  })

  test('a stream resumed after a role change of its account gets a resync, and streams of other shops do not', async () => {
    await using app = await testApp()
    const [shop, other] = [await sellingIn(app), await sellingIn(app)]
    const staff = await staffOf(app, shop, 'MANAGER')
    const stream = await streamIn(app, path, { token: staff.token })
    const lastEventId = stream.lastId()
    await stream.close()
    ok(await app.call('PATCH', `/shops/v2/staff/${staff.staffId}`, { token: shop.token, body: { role: 'FULFILMENT' } }))
    const [staffStream, otherStream] = [
      await streamIn(app, path, { token: staff.token, lastEventId }),
      await streamIn(app, path, { token: other.token, lastEventId }),
    ]
    await shop.placeOrder()
    await other.placeOrder()
    await catchUp(app)
    expect([names(staffStream).filter((name) => name === 'resync').length, soldBy(staffStream).length]).toEqual([1, 1])
    expect([names(otherStream).includes('resync'), soldBy(otherStream).length]).toEqual([false, 1])
    await staffStream.close()
    await otherStream.close()
  })

  test('an event id that is expired, forged, foreign or truncated gets one resync and then new events', async () => {
    await using app = await testApp()
    await using other = await testApp({ JWT_SECRET: 'another-jwt-secret-0123456789abcdefgh' })
    const [shop, foreign] = [await sellingIn(app), await sellingIn(other)]
    const foreignStream = await streamIn(other, path, { key: foreign.secretKey })
    const stream = await streamIn(app, path, { key: shop.secretKey })
    const [ownId = '', foreignId = ''] = [stream.lastId(), foreignStream.lastId()]
    await stream.close()
    await foreignStream.close()
    for (const lastEventId of [
      foreignId,
      'made-up',
      '',
      `${ownId}0`,
      ownId.slice(0, -1),
      ownId.replace(/_.*_/, '_9-x.9-x.9-x_'),
      'x'.repeat(20_000),
    ]) {
      const resumed = await streamIn(app, path, { key: shop.secretKey, lastEventId })
      await shop.placeOrder()
      await catchUp(app)
      expect([names(resumed)[0], names(resumed).filter((name) => name === 'resync').length]).toEqual(['resync', 1])
      expect(soldBy(resumed)).toHaveLength(1)
      await resumed.close()
      if (shop.variantId) ok(await shop.post(`/product-v2/${shop.productId}/variants/${shop.variantId}/stock`, { delta: 1 }))
    }
    app.clock.advance(59 * minute)
    const inTime = await streamIn(app, path, { key: shop.secretKey, lastEventId: ownId })
    await catchUp(app)
    expect(names(inTime)).not.toContain('resync')
    await inTime.close()
    app.clock.advance(2 * minute)
    const late = await streamIn(app, path, { key: shop.secretKey, lastEventId: ownId })
    expect(names(late)).toEqual(['resync'])
    await late.close()
  })

  test('heartbeats advance the event id of a quiet stream, so it can be resumed an hour after it was left', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const stream = await streamIn(app, path, { key: shop.secretKey })
    const first = stream.lastId()
    for (let minutes = 0; minutes < 90; minutes++) {
      app.clock.advance(minute)
      await catchUp(app)
    }
    const lastEventId = stream.lastId()
    expect(lastEventId).not.toBe(first)
    expect(stream.events).toEqual([])
    await stream.close()
    await shop.placeOrder()
    const resumed = await streamIn(app, path, { key: shop.secretKey, lastEventId })
    await catchUp(app)
    expect(soldBy(resumed)).toEqual([1])
    await resumed.close()
  })

  test('events older than an hour are deleted, and later events can still be resumed', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const stream = await streamIn(app, path, { key: shop.secretKey })
    const note = (nth: number) => app.deps.liveNotes.note({ name: 'import.started', shopId: shop.shop.id, data: { nth } })
    note(1)
    await catchUp(app)
    const lastEventId = stream.lastId()
    await stream.close()
    app.clock.advance(50 * minute)
    note(2)
    await app.deps.liveNotes.idle()
    await deleteOldEvents(app.deps)
    const resumed = await streamIn(app, path, { key: shop.secretKey, lastEventId })
    await catchUp(app)
    expect(resumed.events.map(({ data }) => data['nth'])).toEqual([2])
    await resumed.close()
    app.clock.advance(3 * 60 * minute)
    note(3)
    note(4)
    await app.deps.liveNotes.idle()
    await deleteOldEvents(app.deps)
    const left = await app.deps.liveStore.since(await app.deps.liveStore.now(), { limit: 10, notBefore: 0 })
    expect(left?.groups).toEqual([])
  })

  test('stored events are deleted after two hours, except the last one, which cursors refer to', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    for (let nth = 0; nth < 3; nth++) app.deps.liveNotes.note({ name: 'import.started', shopId: shop.shop.id, data: { nth } })
    await app.deps.liveNotes.idle()
    const stored = async () => (await app.deps.db.read.select().from(liveEvents)).length
    app.clock.advance(119 * minute)
    await deleteOldEvents(app.deps)
    expect(await stored()).toBe(3)
    app.clock.advance(2 * minute)
    await deleteOldEvents(app.deps)
    expect(await stored()).toBe(1)
  })

  test.skipIf(engine !== 'postgres')('streams of another process get the events of all processes and can be moved there', async () => {
    const database = await testDatabase()
    const here = await testApp({}, { database })
    const otherProcess = await testApp({}, { database })
    const shop = await sellingIn(here, { onHand: 50 })
    const [stream, otherStream] = [
      await streamIn(here, path, { key: shop.secretKey }),
      await streamIn(otherProcess, path, { key: shop.secretKey }),
    ]
    for (let nth = 0; nth < 5; nth++) await shop.placeOrder()
    await catchUp(here)
    await catchUp(otherProcess)
    expect(soldBy(otherStream)).toEqual([1, 2, 3, 4, 5])
    expect(soldBy(stream)).toEqual([1, 2, 3, 4, 5])
    const lastEventId = stream.lastId()
    await stream.close()
    // Many events at once, from any process, while the stream moves to the other process.
    const buying = Promise.all(Array.from({ length: 20 }, () => shop.placeOrder()))
    const moved = await streamIn(otherProcess, path, { key: shop.secretKey, lastEventId })
    await buying
    await catchUp(otherProcess)
    expect(soldBy(moved).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, nth) => nth + 6))
    await moved.close()
    await otherStream.close()
    await here.close()
    await otherProcess.close()
    await database.drop()
  })

  test('clients that reconnect during many purchases lose no event and get none twice', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 200 })
    let isBuying = true
    const buying = (async () => {
      for (let round = 0; round < 6; round++) await Promise.all(Array.from({ length: 6 }, () => shop.placeOrder()))
      isBuying = false
    })()
    const seen: number[] = []
    let lastEventId: string | undefined
    let stream = await streamIn(app, path, { key: shop.secretKey })
    const first = soldBy(stream)
    while (isBuying) {
      await waitTurns(20)
      await app.deps.live.updateNow()
      await stream.close()
      seen.push(...soldBy(stream))
      lastEventId = stream.lastId()
      stream = await streamIn(app, path, { key: shop.secretKey, lastEventId })
    }
    await buying
    await catchUp(app)
    await stream.close()
    seen.push(...soldBy(stream))
    expect(first).toEqual([])
    const from = Math.min(...seen)
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 36 - from + 1 }, (_, nth) => nth + from))
    expect(from).toBe(1)
  })
})

describe('the end of a stream', () => {
  test('a stream ends when its access token expires', async () => {
    await using app = await testApp({ ACCESS_TOKEN_SECONDS: '3600' })
    const shop = await sellingIn(app)
    const stream = await streamIn(app, path, { token: shop.token })
    app.clock.advance(59 * minute)
    await catchUp(app)
    expect(stream.isOver()).toBe(false)
    app.clock.advance(minute)
    expect(await untilOver(app, stream)).toBe(true)
    expect(app.deps.live.figures().ended.get('token')).toBe(1)
    expect((await streamIn(app, path, { token: shop.token })).status).toBe(401)
  })

  test('a stream ends when its role changes, its account leaves, its shop is suspended or its session ends', async () => {
    const endings: Record<string, (app: TestApp, shop: Selling, staff: Awaited<ReturnType<typeof staffOf>>) => Promise<unknown>> = {
      session: (app, _shop, staff) =>
        app.call('DELETE', '/auth/sessions', { token: staff.token }).then(async () => {
          const { body } = await app.call('GET', '/auth/sessions', { token: staff.token })
          for (const { id } of body.data ?? body) await app.call('DELETE', `/auth/sessions/${id}`, { token: staff.token })
        }),
      role: async (app, shop, staff) =>
        ok(await app.call('PATCH', `/shops/v2/staff/${staff.staffId}`, { token: shop.token, body: { role: 'FULFILMENT' } })),
      leaves: async (app, shop, staff) => ok(await app.call('DELETE', `/shops/v2/staff/${staff.staffId}`, { token: shop.token }), 204),
      suspended: async (app, shop) =>
        ok(
          await app.call('PATCH', `/admin/shops/${shop.shop.id}`, { token: (await app.superAdmin()).token, body: { status: 'SUSPENDED' } }),
        ),
    }
    for (const [reason, end] of Object.entries(endings)) {
      await using app = await testApp()
      const shop = await sellingIn(app)
      const staff = await staffOf(app, shop, 'MANAGER')
      const stream = await streamIn(app, path, { token: staff.token })
      const unaffected = await streamIn(app, path, { token: shop.token })
      await end(app, shop, staff)
      if (reason === 'session') app.clock.advance(30_000)
      expect([reason, await untilOver(app, stream)]).toEqual([reason, true])
      expect([reason, unaffected.isOver()]).toEqual([reason, reason === 'suspended'])
      await unaffected.close()
    }
  })

  test('a stream ends when its secret key is rotated', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const stream = await streamIn(app, path, { key: shop.secretKey })
    ok(
      await app.call('POST', '/shops/v2/private-key/rotate', {
        token: shop.token,
        body: { graceSeconds: 0 },
        headers: { 'idempotency-key': 'one' },
      }),
    )
    app.clock.advance(30_000)
    expect(await untilOver(app, stream)).toBe(true)
  })

  test('streams end at once when the server stops, a client that does not read delays nothing, and new ones are 503', async () => {
    const app = await testApp()
    const shop = await sellingIn(app)
    const server = serveTestApp(app)
    const streams = await Promise.all(Array.from({ length: 8 }, () => streamFrom(server.url, path, { key: shop.secretKey })))
    // A client that does not read must not delay the stop.
    const stuck = connect(server.port, '127.0.0.1')
    stuck.on('error', () => undefined)
    stuck.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-service-api-key: ${shop.secretKey}\r\n\r\n`)
    stuck.pause()
    while (app.deps.live.figures().shop < 9) await Bun.sleep(5)
    const stopping = server.stop()
    await Promise.all(streams.map((stream) => stream.ended()))
    expect(app.deps.live.figures().shop).toBe(0)
    await stopping
    stuck.destroy()
    expect((await streamIn(app, path, { key: shop.secretKey })).status).toBe(503)
    await app.close()
  })

  test('a stream whose client does not read is cut off at the limit, and can be resumed without loss', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    await using server = serveTestApp(app)
    const reader = await streamFrom(server.url, path, { key: shop.secretKey })
    const before = reader.lastId()
    const stuck = connect(server.port, '127.0.0.1')
    stuck.on('error', () => undefined)
    stuck.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-service-api-key: ${shop.secretKey}\r\n\r\n`)
    stuck.pause()
    while (app.deps.live.figures().shop < 2) await Bun.sleep(5)
    // Socket buffers hold some megabytes before the stream counts as unread.
    const big = 'x'.repeat(100_000)
    let sent = 0
    for (; sent < 400 && app.deps.live.figures().shop === 2; sent++) {
      app.deps.liveNotes.note({ name: 'import.started', shopId: shop.shop.id, data: { nth: sent, big } })
      await app.deps.liveNotes.idle()
      await app.deps.live.updateNow()
      await reader.until(() => reader.events.length === sent + 1)
    }
    expect(app.deps.live.figures().ended.get('slow')).toBe(1)
    expect(app.deps.live.figures().shop).toBe(1)
    expect(sent * big.length).toBeGreaterThan(unreadBytesMax)
    const resumed = await streamFrom(server.url, path, { key: shop.secretKey, lastEventId: before })
    await resumed.until(() => resumed.events.length === sent)
    expect(resumed.events.map(({ data }) => data['nth'])).toEqual(Array.from({ length: sent }, (_, nth) => nth))
    stuck.destroy()
    await resumed.close()
    await reader.close()
  })
})

describe('limits and cost of streams', () => {
  test('the twenty-first stream of a key is 429, and closing one frees its slot', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const streams = await Promise.all(Array.from({ length: 20 }, () => streamIn(app, path, { key: shop.secretKey })))
    const refused = await streamIn(app, path, { key: shop.secretKey })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '15'])
    const other = await streamIn(app, path, { token: shop.token })
    expect(other.status).toBe(200)
    await streams[0]?.close()
    expect((await streamIn(app, path, { key: shop.secretKey })).status).toBe(200)
    app.deps.live.stop()
  })

  /** Creates a separate hub whose reads are counted. */
  function createCountingHub({ deps }: TestApp, limits?: Parameters<typeof createHub>[0]['most']) {
    const reads = { count: 0 }
    const real = createLiveStore(deps.db)
    const liveStore = Object.fromEntries(
      Object.entries(real).map(([name, query]) => [
        name,
        (...args: never[]) => {
          reads.count++
          return (query as (...args: never[]) => unknown)(...args)
        },
      ]),
    ) as unknown as typeof real
    const cursors = createEventCursors({ keyring: deps.keyring, now: deps.clock.now })
    const hub = createHub({
      ...deps,
      liveStore,
      cursors,
      every: () => () => undefined,
      sleep: Bun.sleep,
      ...(limits ? { most: limits } : {}),
    })
    const follow = (shopId: string | undefined, accountId: string) =>
      followStream(
        new Response(
          hub.follow({
            viewer: { shopId, accountId, seesCatalog: true },
            lastEventId: undefined,
            expiresAt: undefined,
            isAuthorised: async () => true,
          }),
        ),
      )
    return { hub, reads, follow }
  }

  test('a thousand streams cost as many reads per order as one, and all get the same events', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    const readsOf = async (count: number) => {
      const { hub, reads, follow } = createCountingHub(app, { ofAccount: 20, ofShop: 2_000, ofAll: 2_000 })
      const streams = Array.from({ length: count }, (_, nth) => follow(shop.shop.id, `account ${nth}`))
      await hub.updateNow()
      await Promise.all(streams.map((stream) => stream.until(() => stream.lastId() !== undefined)))
      reads.count = 0
      await shop.placeOrder()
      await hub.updateNow()
      await Promise.all(streams.map((stream) => stream.until(() => stream.events.some(({ event }) => event === 'order.confirmed'))))
      expect(new Set(streams.map(({ events: told }) => JSON.stringify(told))).size).toBe(1)
      expect(hub.figures().shop).toBe(count)
      hub.stop()
      return reads.count
    }
    const one = await readsOf(1)
    expect(one).toBeLessThan(10)
    expect(await readsOf(1_000)).toBe(one)
  })

  test('nothing is read without streams, and on SQLite nothing is read without writes', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { hub, reads, follow } = createCountingHub(app)
    await shop.placeOrder()
    await hub.updateNow()
    expect(reads.count).toBe(0)
    const stream = follow(shop.shop.id, 'account')
    await hub.updateNow()
    await hub.updateNow()
    const before = reads.count
    for (let nth = 0; nth < 10; nth++) await hub.updateNow()
    if (engine === 'sqlite') expect(reads.count).toBe(before)
    await stream.close()
    await hub.updateNow()
    const after = reads.count
    await shop.placeOrder()
    await hub.updateNow()
    expect(reads.count).toBe(after)
    hub.stop()
  })

  test('a stream above the limit of a shop is refused, as is one above the limit of all, for any account', async () => {
    await using app = await testApp()
    const { hub, follow } = createCountingHub(app, { ofAccount: 5, ofShop: 2, ofAll: 3 })
    const first = follow('shop_a', 'one')
    follow('shop_a', 'two')
    expect(() => follow('shop_a', 'three')).toThrow('2 streams of this shop are open')
    follow('shop_b', 'three')
    expect(() => follow('shop_b', 'four')).toThrow('Too many streams are open')
    // Operators are still admitted and do not count towards the limit of shops.
    for (let nth = 0; nth < 5; nth++) follow(undefined, 'operator')
    expect(() => follow(undefined, 'operator')).toThrow('5 streams of this account are open')
    await first.close()
    follow('shop_b', 'four')
    hub.stop()
    expect(() => follow('shop_c', 'five')).toThrow('The server is stopping')
  })

  test('by default 100 streams of a shop are open, and 2,000 of all shops; one more gets 429 or 503 with Retry-After', async () => {
    await using app = await testApp()
    const { hub, follow } = createCountingHub(app)
    const refusalOf = (shopId: string, accountId: string) => {
      try {
        follow(shopId, accountId)
      } catch (error) {
        return pick(error as AppError, 'code', 'message', 'retryAfterSeconds')
      }
      return undefined
    }
    for (let shop = 0; shop < 20; shop++)
      for (let nth = 0; nth < 100; nth++) expect(refusalOf(`shop ${shop}`, `account ${shop} ${nth}`)).toBeUndefined()
    const ofShop = { code: 'rate_limited', message: '100 streams of this shop are open: close one', retryAfterSeconds: 15 } as const
    expect(refusalOf('shop 0', 'another account')).toEqual(ofShop)
    const ofAll = { code: 'unavailable', message: 'Too many streams are open: try again', retryAfterSeconds: 15 } as const
    expect(refusalOf('another shop', 'another account')).toEqual(ofAll)
    follow(undefined, 'operator')
    hub.stop()
  })

  test('the hundred-first stream of a shop gets 429 over HTTP, also from another account', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const tokens = [shop.token]
    for (let nth = 0; nth < 4; nth++) tokens.push((await staffOf(app, shop, 'MANAGER')).token)
    const streams = await Promise.all(tokens.flatMap((token) => Array.from({ length: 20 }, () => streamIn(app, path, { token }))))
    expect(streams.map(({ status }) => status)).toEqual(Array(100).fill(200))
    const refused = await streamIn(app, path, { key: shop.secretKey })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '15'])
    await streams[0]?.close()
    expect((await streamIn(app, path, { key: shop.secretKey })).status).toBe(200)
    app.deps.live.stop()
  })

  test('a quiet stream gets a heartbeat every 15 seconds, and its authorisation is checked every 25', async () => {
    await using app = await testApp()
    const { hub } = createCountingHub(app)
    let checks = 0
    const isStillAllowed = async () => {
      checks++
      return true
    }
    const viewer = { shopId: 'shop', accountId: 'account', seesCatalog: true }
    const stream = followStream(
      new Response(hub.follow({ viewer, lastEventId: undefined, expiresAt: undefined, isAuthorised: isStillAllowed })),
    )
    const advance = async (ms: number) => {
      app.clock.advance(ms)
      await hub.updateNow()
      await waitTurns()
      return [stream.lastId(), checks] as const
    }
    await advance(0)
    await advance(15_000)
    const [first] = await advance(1_000)
    expect(await advance(8_999)).toEqual([first, 0])
    expect(await advance(1)).toEqual([first, 1])
    const [second] = await advance(5_000)
    expect(second).not.toBe(first)
    expect(await advance(14_999)).toEqual([second, 1])
    expect((await advance(1))[0]).not.toBe(second)
    expect(await advance(4_999)).toMatchObject([expect.any(String), 1])
    expect(await advance(1)).toMatchObject([expect.any(String), 2])
    hub.stop()
  })

  test('a stream ends as unchecked once its authorisation could not be checked for 55 seconds', async () => {
    await using app = await testApp()
    const { hub } = createCountingHub(app)
    let isUnavailable = true
    const isStillAllowed = async () => {
      if (isUnavailable) throw new Error('no database')
      return true
    }
    const open = () => {
      const viewer = { shopId: 'shop', accountId: 'account', seesCatalog: true }
      return followStream(new Response(hub.follow({ viewer, lastEventId: undefined, expiresAt: undefined, isAuthorised: isStillAllowed })))
    }
    const advance = async (ms: number) => {
      app.clock.advance(ms)
      await hub.updateNow()
      await waitTurns()
    }
    const stream = open()
    await advance(0)
    await advance(54_999)
    expect([stream.isOver(), hub.figures().shop]).toEqual([false, 1])
    await advance(1)
    expect([hub.figures().shop, hub.figures().ended.get('unchecked')]).toEqual([0, 1])
    const checkedAgain = open()
    await advance(0)
    await advance(54_999)
    isUnavailable = false
    await advance(0)
    isUnavailable = true
    await advance(54_999)
    expect([checkedAgain.isOver(), hub.figures().shop]).toEqual([false, 1])
    hub.stop()
  })

  test('the metrics count open streams and how streams ended', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const stream = await streamIn(app, path, { key: shop.secretKey })
    const { text } = await app.call('GET', '/metrics')
    expect(text).toContain('souk_event_streams{of="shop"} 1')
    expect(text).toContain('souk_event_streams{of="operator"} 0')
    await stream.close()
    expect((await app.call('GET', '/metrics')).text).toContain('souk_event_streams_ended_total{reason="client"} 1')
  })
})
