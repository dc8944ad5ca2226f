/** Tests clients that open event streams and never read them. */
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { liveEvents } from '../../../../db/schema/live.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { followStream, streamFrom, streamIn } from '../../../support/events.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { serveTestApp } from '../../../support/server.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const mb = 1024 * 1024
const looksMax = 1_000
async function until(condition: () => boolean): Promise<void> {
  for (let looks = 0; looks < looksMax && !condition(); looks++) await Bun.sleep(5)
  expect(condition()).toBe(true)
}

/** Opens a stream and never reads from it. */
function openUnreadStream(port: number, path: string, header: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n`)
  return socket.pause()
}
const destroyAll = (sockets: readonly Socket[]) => {
  for (const socket of sockets) socket.destroy()
}
const openStreamCount = ({ deps }: TestApp) => deps.live.figures().shop + deps.live.figures().operator

test('hundreds of clients that never read do not delay others, are cut off, and free their slots', async () => {
  await using app = await testApp()
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  const operator = await app.superAdmin()
  await using server = serveTestApp(app)
  const reader = await streamFrom(server.url, '/v2/events', { key: other.secretKey })
  const logins = [
    ['/v2/events', `x-service-api-key: ${shop.secretKey}`],
    ['/v2/events', `authorization: Bearer ${shop.token}`],
    ['/admin/events', `authorization: Bearer ${operator.token}`],
  ] as const
  const sockets = logins.flatMap(([path, header]) => Array.from({ length: 100 }, () => openUnreadStream(server.port, path, header)))
  // Twenty silent streams of each account, and one that is read.
  await until(() => openStreamCount(app) === 61)
  expect((await streamFrom(server.url, '/v2/events', { key: shop.secretKey })).status).toBe(429)
  expect((await fetch(`${server.url}/v2/orders`, { headers: { 'x-service-api-key': shop.secretKey } })).status).toBe(200)

  Bun.gc(true)
  const before = process.memoryUsage.rss()
  const big = 'x'.repeat(400_000)
  let sent = 0
  // More than the socket buffers hold. Forty times this amount would be a gigabyte.
  for (; sent < 100 && app.deps.live.figures().shop > 1; sent++) {
    app.deps.liveNotes.note({ name: 'import.started', shopId: shop.shop.id, data: { sent, big } })
    if (sent % 10 === 0) app.deps.liveNotes.note({ name: 'import.started', shopId: other.shop.id, data: { sent } })
    await app.deps.liveNotes.idle()
    await app.deps.live.updateNow()
    await Bun.sleep(1)
  }
  Bun.gc(true)
  expect((process.memoryUsage.rss() - before) / mb).toBeLessThan(300)
  expect(app.deps.live.figures().ended.get('slow')).toBeGreaterThanOrEqual(40)
  const expectedCount = Math.ceil(sent / 10)
  await reader.until(() => reader.events.length === expectedCount)
  expect(reader.events.map(({ data }) => data['sent'])).toEqual(Array.from({ length: expectedCount }, (_, nth) => nth * 10))

  destroyAll(sockets)
  await until(() => openStreamCount(app) === 1)
  for (const [path, login] of [
    ['/v2/events', { key: shop.secretKey }],
    ['/admin/events', { token: operator.token }],
  ] as const) {
    const reopened = await streamFrom(server.url, path, login)
    expect([path, reopened.status]).toEqual([path, 200])
    await reopened.close()
  }
  await reader.close()
})

test('the stream of a suspended shop ends once, and can be resumed by its managers', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token } = await app.superAdmin()
  await using server = serveTestApp(app)
  const note = async (nth: number) => {
    app.deps.liveNotes.note({ name: 'import.started', shopId: shop.shop.id, data: { nth } })
    await app.deps.liveNotes.idle()
    await app.deps.live.updateNow()
  }
  const before = await streamFrom(server.url, '/v2/events', { token: shop.token })
  await note(1)
  await before.until(() => before.events.length === 1)
  expect(before.isOver()).toBe(false)
  ok(await app.call('PATCH', `/admin/shops/${shop.shop.id}`, { token, body: { status: 'SUSPENDED' } }))
  await app.deps.live.updateNow()
  await before.ended()
  expect(app.deps.live.figures().ended).toEqual(new Map([['shop', 1]]))
  await note(2)
  expect((await app.call('GET', '/v2/orders', { token: shop.token })).status).toBe(200)
  const after = await streamFrom(server.url, '/v2/events', { token: shop.token, lastEventId: before.lastId() })
  await note(3)
  await after.until(() => after.events.length === 2)
  expect(after.events.map(({ data }) => data['nth'])).toEqual([2, 3])
  await app.deps.live.updateNow()
  expect(after.isOver()).toBe(false)
  expect(app.deps.live.figures().ended).toEqual(new Map([['shop', 1]]))
  await after.close()
})

test('clients that resume from long ago do not delay another shop, and closed streams cost no reads', async () => {
  await using app = await testApp()
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  const first = await streamIn(app, '/v2/events', { key: shop.secretKey })
  const lastEventId = first.lastId()
  await first.close()
  const rows = Array.from({ length: 2_900 }, (_, nth) => ({
    ...{ id: app.deps.newId('event'), name: 'import.progress', shopId: shop.shop.id, data: { nth }, at: app.clock.now() },
  }))
  for (let at = 0; at < rows.length; at += 500)
    await app.deps.db.write(async (tx) => void (await tx.insert(liveEvents).values(rows.slice(at, at + 500))))
  // Blocks reads of past events, which name a shop, until all streams have asked. Reads of new events name none.
  const gate = Promise.withResolvers<void>()
  const read: string[] = []
  const { orderRows } = app.deps.liveStore
  const reading = spyOn(app.deps.liveStore, 'orderRows').mockImplementation(async (ids, shopId) => {
    if (shopId !== undefined) {
      await gate.promise
      read.push(shopId)
    }
    return orderRows(ids, shopId)
  })
  const resumeStream = async (key: string) => {
    const headers = { 'x-service-api-key': key, 'last-event-id': lastEventId ?? '' }
    const request = new Request('http://localhost/v2/events', { headers })
    return followStream(await app.edge.fetch(request, { requestIP: () => ({ address: '127.0.0.1' }) }))
  }
  // Opens the first stream alone, so that it reads when the others arrive.
  const resuming = [await resumeStream(shop.secretKey)]
  await until(() => reading.mock.calls.some(([, shopId]) => shopId === shop.shop.id))
  resuming.push(...(await Promise.all(Array.from({ length: 9 }, () => resumeStream(shop.secretKey)))))
  const waiting = await resumeStream(other.secretKey)
  await until(() => openStreamCount(app) === 11)
  for (const stream of resuming.splice(5)) await stream.close()
  gate.resolve()
  await waiting.until(() => waiting.lastId() !== undefined)
  const pages = read.filter((of) => of === other.shop.id).length
  expect(pages).toBeGreaterThan(0)
  expect(read.length - pages).toBeLessThanOrEqual(pages + 1)
  for (const stream of resuming) await stream.until(() => stream.events.length === rows.length)
  expect(resuming.map(({ events }) => events.at(-1)?.data['nth'])).toEqual(resuming.map(() => rows.length - 1))
  await until(() => read.length >= 6 * pages)
  expect(read.length).toBe(6 * pages)
  reading.mockRestore()
  for (const stream of [...resuming, waiting]) await stream.close()
})
