/** Streams of events: what is told, to whom, and from where it goes on. */
import { expect, test } from 'bun:test'
import { testApp } from '../../support/app.ts'
import { streamIn } from '../../support/events.ts'
import { ok, sellingIn } from '../../support/selling.ts'

test('a sale is told to its shop as it happens: placed, paid, confirmed, and what is left', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const stream = await streamIn(app, '/v2/events', { token: shop.token })
  expect(stream.status).toBe(200)
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(stream.headers.get('cache-control')).toContain('no-store')
  expect(stream.headers.get('x-accel-buffering')).toBe('no')
  const sold = ok(await shop.checkout(await shop.cart()), 200, 201)
  await app.deps.live.tickNow()
  await stream.until(() => stream.told.some(({ event }) => event === 'stock.changed'))
  const names = stream.told.map(({ event }) => event)
  expect(names).toContain('order.placed')
  expect(names).toContain('order.confirmed')
  const confirmed = stream.told.find(({ event }) => event === 'order.confirmed')
  expect(confirmed?.data).toMatchObject({ orderId: sold.body.order?.id ?? sold.body.id, number: 1, status: 'CONFIRMED', mode: 'TEST' })
  const stock = stream.told.findLast(({ event }) => event === 'stock.changed')
  expect(stock?.data).toMatchObject({ variantId: shop.variantId, onHand: 9, reserved: 0, available: 9 })
  expect(JSON.stringify(stream.told)).not.toContain('guest@example.com')
  await stream.close()
})
