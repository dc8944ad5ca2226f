/** Those who open streams and never read them: what they cost, whom they keep away, and what is left when they go. */
import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { type TestApp, testApp } from '../../support/app.ts'
import { streamFrom } from '../../support/events.ts'
import { ok, sellingIn } from '../../support/selling.ts'
import { serveTestApp } from '../../support/server.ts'

const mb = 1024 * 1024
const looksMax = 1_000
async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; looks < looksMax && !isSo(); looks++) await Bun.sleep(5)
  expect(isSo()).toBe(true)
}

/** Asks for a stream, and reads nothing of what comes. */
function silent(port: number, path: string, header: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n`)
  return socket.pause()
}
const toAll = (sockets: readonly Socket[]) => {
  for (const socket of sockets) socket.destroy()
}
const openNow = ({ deps }: TestApp) => deps.live.figures().shop + deps.live.figures().operator

test('hundreds of an address that never read keep nobody else away, are cut off, and leave their places to others', async () => {
  await using app = await testApp()
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  const operator = await app.superAdmin()
  await using server = serveTestApp(app)
  const reads = await streamFrom(server.url, '/v2/events', { key: other.secretKey })
  const ways = [
    ['/v2/events', `x-service-api-key: ${shop.secretKey}`],
    ['/v2/events', `authorization: Bearer ${shop.token}`],
    ['/admin/events', `authorization: Bearer ${operator.token}`],
  ] as const
  const sockets = ways.flatMap(([path, header]) => Array.from({ length: 100 }, () => silent(server.port, path, header)))
  // Twenty of each account, and one of somebody who reads.
  await until(() => openNow(app) === 61)
  expect((await streamFrom(server.url, '/v2/events', { key: shop.secretKey })).status).toBe(429)
  expect((await fetch(`${server.url}/v2/orders`, { headers: { 'x-service-api-key': shop.secretKey } })).status).toBe(200)

  Bun.gc(true)
  const before = process.memoryUsage.rss()
  const big = 'x'.repeat(400_000)
  let told = 0
  // More than the system takes for each of them: forty times so much would be a gigabyte.
  for (; told < 100 && app.deps.live.figures().shop > 1; told++) {
    app.deps.liveNotes.note({ name: 'import.started', shopId: shop.shop.id, data: { told, big } })
    if (told % 10 === 0) app.deps.liveNotes.note({ name: 'import.started', shopId: other.shop.id, data: { told } })
    await app.deps.liveNotes.idle()
    await app.deps.live.tickNow()
    await Bun.sleep(1)
  }
  Bun.gc(true)
  expect((process.memoryUsage.rss() - before) / mb).toBeLessThan(300)
  expect(app.deps.live.figures().ended.get('slow')).toBeGreaterThanOrEqual(40)
  const mine = Math.ceil(told / 10)
  await reads.until(() => reads.told.length === mine)
  expect(reads.told.map(({ data }) => data['told'])).toEqual(Array.from({ length: mine }, (_, nth) => nth * 10))

  toAll(sockets)
  await until(() => openNow(app) === 1)
  for (const [path, login] of [
    ['/v2/events', { key: shop.secretKey }],
    ['/admin/events', { token: operator.token }],
  ] as const) {
    const again = await streamFrom(server.url, path, login)
    expect([path, again.status]).toEqual([path, 200])
    await again.close()
  }
  await reads.close()
})

test('a suspended shop’s stream ends once, and goes on for those who go on managing the shop', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token } = await app.superAdmin()
  ok(await app.call('PATCH', `/admin/shops/${shop.shop.id}`, { token, body: { status: 'SUSPENDED' } }))
  await using server = serveTestApp(app)
  expect((await app.call('GET', '/v2/orders', { token: shop.token })).status).toBe(200)
  const stream = await streamFrom(server.url, '/v2/events', { token: shop.token })
  expect(stream.status).toBe(200)
  app.deps.liveNotes.note({ name: 'import.started', shopId: shop.shop.id, data: { nth: 1 } })
  await app.deps.liveNotes.idle()
  await app.deps.live.tickNow()
  await stream.until(() => stream.told.some(({ event }) => event === 'import.started'))
  await stream.close()
})
