/** Tests which events each stream gets. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { Glob } from 'bun'
import fc from 'fast-check'
import { jobs, runJob } from '../../../../jobs/index.ts'
import { orderEventTypes } from '../../../../src/modules/messaging/live-events/domain.ts'
import { publishLostImports } from '../../../../src/modules/messaging/live-events/index.ts'
import { OperatorEvents, ShopEvents } from '../../../../src/modules/messaging/live-events/model.ts'
import { paymentStatuses } from '../../../../src/modules/payments/payment/domain.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { followStream, type ReceivedEvent, type Stream, streamIn } from '../../../support/events.ts'
import { approveBusiness } from '../../../support/kyb.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { staffOf } from '../../../support/staff.ts'
import { paymentAnswer, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const names = (stream: Stream) => stream.events.map(({ event }) => event)
/** Waits until the streams have everything that was committed before. */
async function catchUp(app: TestApp, ...streams: Stream[]): Promise<void> {
  await app.deps.liveNotes.idle()
  await app.deps.live.updateNow()
  // Waits until sent events reach the reader.
  for (let turn = 0; turn < 5; turn++) await new Promise((resume) => setImmediate(resume))
  for (const stream of streams) if (stream.isOver()) throw new Error('the stream is over')
}
const isDocumented = (schema: typeof ShopEvents | typeof OperatorEvents, { event, data, id }: ReceivedEvent) =>
  Value.Check(schema, JSON.parse(JSON.stringify({ event, data, id })))
/** Checks every event of a stream against the documented schema. */
function expectDocumented(stream: Stream, schema: typeof ShopEvents | typeof OperatorEvents = ShopEvents): void {
  expect(stream.events.filter((one) => !isDocumented(schema, one))).toEqual([])
}

describe('events of a shop', () => {
  test('a sale sends the events placed, authorized, paid and confirmed, and the stock that is left', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const stream = await streamIn(app, '/v2/events', { token: shop.token })
    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(stream.headers.get('cache-control')).toBe('no-store, no-transform')
    expect(stream.headers.get('x-accel-buffering')).toBe('no')
    expect(stream.headers.get('access-control-allow-origin')).toBeNull()
    const order = await shop.placeOrder()
    await catchUp(app, stream)
    const ofOrder = ['order.placed', 'order.payment_authorized', 'order.paid', 'order.confirmed']
    expect(names(stream).filter((name) => name.startsWith('order.'))).toEqual(ofOrder)
    const confirmed = stream.events.find(({ event }) => event === 'order.confirmed')
    expect(confirmed?.data).toMatchObject({ orderId: order.id, number: 1, status: 'CONFIRMED', paymentStatus: 'CAPTURED', mode: 'TEST' })
    expect(stream.events.findLast(({ event }) => event === 'stock.changed')?.data).toMatchObject({
      ...{ productId: shop.productId, variantId: shop.variantId, onHand: 9, reserved: 0, available: 9, orderId: order.id },
    })
    expectDocumented(stream)
    await stream.close()
  })

  test('an unpaid order sends order.expired and the stock that it releases', async () => {
    await using app = await testApp()
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => paymentAnswer('REQUIRES_ACTION'),
      void: async () => paymentAnswer('VOIDED'),
    })
    const { order } = ok(await shop.buy(), 200, 201, 202).body
    const stream = await streamIn(app, '/v2/events', { key: shop.secretKey })
    for (let minutes = 0; minutes < 65; minutes += 5) {
      app.clock.advance(5 * 60_000)
      await app.jobs.resume()
      await app.jobs.closeOrders()
    }
    await catchUp(app, stream)
    expect(stream.events.find(({ event }) => event === 'order.expired')?.data).toMatchObject({ orderId: order.id, status: 'EXPIRED' })
    const stock = stream.events.findLast(({ event }) => event === 'stock.changed')?.data
    expect(stock).toMatchObject({ variantId: shop.variantId, orderId: order.id, onHand: 10, reserved: 0, available: 10 })
    expectDocumented(stream)
    await stream.close()
  })

  test('refunds with restock and stock changes send events without personal data', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const stream = await streamIn(app, '/v2/events', { token: shop.token })
    const order = await shop.placeOrder({ email: 'planted@example.com' })
    const lines = [{ lineId: order.lines[0].id, quantity: 1, restock: true }]
    ok(await shop.refund(order.id, { lines, reason: 'planted words' }))
    const other = await shop.placeOrder({ email: 'planted@example.com' })
    const cancel = { body: { reason: 'planted reason' }, headers: { 'idempotency-key': 'one' } }
    ok(await app.call('POST', `/v2/orders/${other.id}/cancel`, { token: shop.token, ...cancel }))
    await catchUp(app, stream)
    expect(names(stream)).toContain('order.refunded')
    expect(names(stream)).toContain('order.cancelled')
    expect(stream.events.findLast(({ event }) => event === 'stock.changed')?.data).toMatchObject({
      orderId: other.id,
      onHand: 10,
      reserved: 0,
    })
    ok(await shop.post(`/product-v2/${shop.productId}/variants/${shop.variantId}/stock`, { delta: 5, reason: 'planted count' }))
    await catchUp(app, stream)
    expect(stream.events.findLast(({ event }) => event === 'stock.changed')?.data).toMatchObject({
      variantId: shop.variantId,
      orderId: null,
      onHand: (await shop.stock()).onHand,
    })
    expect(JSON.stringify(stream.events)).not.toContain('planted')
    expectDocumented(stream)
    await stream.close()
  })

  test('low stock sends an event', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 3 })
    ok(
      await app.call('PATCH', `/product-v2/${shop.productId}`, {
        token: shop.token,
        body: { variants: [{ id: shop.variantId, lowStockAt: 2 }] },
      }),
    )
    const stream = await streamIn(app, '/v2/events', { token: shop.token })
    await shop.placeOrder()
    await catchUp(app, stream)
    expect(stream.events.find(({ event }) => event === 'stock.low')?.data).toMatchObject({ variantId: shop.variantId, lowStockAt: 2 })
    expectDocumented(stream)
    await stream.close()
  })

  test('an import sends events with rows and bytes at its start and end, also when it is refused', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const stream = await streamIn(app, '/v2/events', { token: shop.token })
    const file = `Handle,Title,Variant Price\n${Array.from({ length: 50 }, (_, nth) => `thing-${nth},Thing ${nth},${nth === 7 ? 'planted' : '5.00'}`).join('\n')}\n`
    const send = (raw: string) =>
      app.call('POST', '/product-v2/import', { token: shop.token, raw, headers: { 'content-type': 'text/csv' } })
    ok(await send(file))
    expect((await send('planted\n')).status).toBe(400)
    await catchUp(app, stream)
    const imports = stream.events.filter(({ event }) => event.startsWith('import.'))
    expect(imports.map(({ event, data }) => [event, data['result']])).toEqual([
      ['import.started', undefined],
      ['import.finished', 'DONE'],
      ['import.started', undefined],
      ['import.finished', 'REFUSED'],
    ])
    expect(imports[0]?.data).toMatchObject({ kind: 'products', dryRun: false, bytes: file.length })
    expect(imports[1]?.data).toMatchObject({ importId: imports[0]?.data['importId'], rows: 50, created: 49, failed: 1 })
    expect(JSON.stringify(imports)).not.toContain('planted')
    expectDocumented(stream)
    await stream.close()
  })

  test('fulfilment staff get only order events, read-only staff get all, and others get no stream', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const [sender, reader] = [await staffOf(app, shop, 'FULFILMENT'), await staffOf(app, shop, 'READ_ONLY')]
    const streams = [await streamIn(app, '/v2/events', sender), await streamIn(app, '/v2/events', reader)] as const
    await shop.placeOrder()
    await catchUp(app, ...streams)
    expect(names(streams[0])).toContain('order.confirmed')
    expect(names(streams[0]).filter((name) => !name.startsWith('order.'))).toEqual([])
    expect(names(streams[1])).toContain('stock.changed')
    // The last visible event of a commit has the id, even if later events are hidden from this viewer.
    expect(streams[0].events.at(-1)?.id).toBeString()
    for (const stream of streams) await stream.close()
    expect((await streamIn(app, '/v2/events', {})).status).toBe(401)
    expect((await streamIn(app, '/v2/events', { key: shop.publishableKey })).status).toBe(403)
    expect((await streamIn(app, '/admin/events', { token: shop.token })).status).toBe(403)
  })

  test('a shop never gets events of another shop', async () => {
    await using app = await testApp()
    const shops = [await sellingIn(app, { onHand: 500 }), await sellingIn(app, { onHand: 500 }), await sellingIn(app, { onHand: 500 })]
    const ids = shops.map(({ shop, variantId, productId }) => new Set([shop.id, variantId, productId]))
    const owner = new Map<string, number>()
    const action = fc.record({ shop: fc.nat(2), what: fc.constantFrom('buy', 'stock', 'cancel', 'note') })
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 6 }), fc.nat(2), async (actions, listenerIndex) => {
        const listener = shops[listenerIndex]
        if (!listener) return
        const stream = await streamIn(app, '/v2/events', { key: listener.secretKey })
        const from = stream.lastId()
        let ownActions = 0
        for (const { shop: nth, what } of actions) {
          const shop = shops[nth]
          if (!shop) continue
          if (what === 'stock') ok(await shop.post(`/product-v2/${shop.productId}/variants/${shop.variantId}/stock`, { delta: 1 }))
          else {
            const order = await shop.placeOrder()
            owner.set(order.id, nth)
            if (what === 'cancel')
              await app.call('POST', `/v2/orders/${order.id}/cancel`, {
                token: shop.token,
                body: {},
                headers: { 'idempotency-key': order.id },
              })
          }
          if (nth === listenerIndex) ownActions++
        }
        await catchUp(app, stream)
        await stream.close()
        const resumed = await streamIn(app, '/v2/events', { key: listener.secretKey, lastEventId: from })
        await catchUp(app, resumed)
        await resumed.close()
        for (const { data } of [...stream.events, ...resumed.events]) {
          if (typeof data['orderId'] === 'string') expect(owner.get(data['orderId'])).toBe(listenerIndex)
          if (typeof data['variantId'] === 'string') expect(ids[listenerIndex]?.has(data['variantId'])).toBe(true)
        }
        expect(stream.events.length > 0).toBe(ownActions > 0)
      }),
      { numRuns: 12 },
    )
  })
})

test('changes of a shop send events to everyone in the shop and to no other shop', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  const staff = await staffOf(app, shop, 'FULFILMENT')
  const stream = await streamIn(app, '/v2/events', { token: staff.token })
  const otherStream = await streamIn(app, '/v2/events', { token: other.token })
  const operatorStream = await streamIn(app, '/admin/events', { token: operator.token })
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { title: 'Renamed' } }))
  await approveBusiness(app, shop, operator)
  ok(await app.call('POST', '/shops/v2/go-live', { token: shop.token }))
  await catchUp(app, stream, otherStream, operatorStream)
  expect(names(stream)).toEqual(['shop.changed', 'shop.verified', 'shop.went_live'])
  expect(stream.events.map(({ data }) => data['shopId'])).toEqual([shop.shop.id, shop.shop.id, shop.shop.id])
  const suspend = (status: string) => app.call('PATCH', `/admin/shops/${shop.shop.id}`, { token: operator.token, body: { status } })
  ok(await suspend('SUSPENDED'))
  await app.deps.live.updateNow()
  await stream.ended()
  ok(await suspend('ACTIVE'))
  const resumed = await streamIn(app, '/v2/events', { token: staff.token, lastEventId: stream.lastId() })
  await catchUp(app, resumed, otherStream, operatorStream)
  expect([...names(stream).slice(3), ...names(resumed)]).toEqual(['shop.suspended', 'shop.restored'])
  expect(names(otherStream)).toEqual([])
  expect(names(operatorStream).filter((name) => name.startsWith('shop.'))).toEqual([
    'shop.verified',
    'shop.went_live',
    'shop.suspended',
    'shop.restored',
  ])
  for (const one of [stream, resumed]) expectDocumented(one)
  for (const one of [resumed, otherStream, operatorStream]) await one.close()
})

describe('events of operators', () => {
  test('operators get events of KYB, suspended shops, breakers, and a count of confirmed orders', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const stream = await streamIn(app, '/admin/events', { token: operator.token })
    const shop = await sellingIn(app)
    await approveBusiness(app, shop, operator)
    await shop.placeOrder()
    await shop.placeOrder()
    app.deps.liveNotes.note({ name: 'breaker.opened', shopId: null, data: { processor: 'stripe', host: 'api.stripe.com' } })
    ok(await app.call('PATCH', `/admin/shops/${shop.shop.id}`, { token: operator.token, body: { status: 'SUSPENDED' } }))
    await catchUp(app, stream)
    for (const name of ['kyb.filed', 'kyb.approved', 'shop.suspended', 'breaker.opened']) expect(names(stream)).toContain(name)
    const soldCounts = stream.events.filter(({ event }) => event === 'order.confirmed').map(({ data }) => Number(data['count']))
    expect(soldCounts.reduce((sum, count) => sum + count, 0)).toBe(2)
    expect(JSON.stringify(stream.events)).not.toContain('Planted')
    expect(names(stream).filter((name) => name.startsWith('stock.'))).toEqual([])
    expectDocumented(stream, OperatorEvents)
    await stream.close()
  })

  test('a requested job run sends the events requested, started and finished', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    await app.deps.jobRunner.start(jobs.map((job) => ({ name: job.name, perform: () => runJob(job, app.deps) })))
    const stream = await streamIn(app, '/admin/events', { token: operator.token })
    ok(
      await app.call('POST', '/admin/operations/jobs/fold-listings/run', { token: operator.token, headers: { 'idempotency-key': 'one' } }),
      202,
    )
    await app.deps.jobRunner.heartbeat()
    for (let looks = 0; looks < 200 && !names(stream).includes('job.finished'); looks++) {
      await Bun.sleep(10)
      await catchUp(app, stream)
    }
    const jobEvents = stream.events.filter(({ data }) => data['job'] === 'fold-listings' || data['subject'] === 'fold-listings')
    expect(jobEvents.map(({ event }) => event)).toEqual(['job.requested', 'job.started', 'job.finished'])
    expect(jobEvents.at(-1)?.data).toMatchObject({ result: 'OK' })
    expectDocumented(stream, OperatorEvents)
    await stream.close()
    await app.deps.jobRunner.stop()
  })
})

test('an import whose process was killed is reported as stopped once, and a running one is not', async () => {
  await using app = await testApp()
  const { shop } = await sellingIn(app)
  const noteImport = async (what: string, importId: string, more: object = {}) => {
    app.deps.liveNotes.note({ name: `import.${what}`, shopId: shop.id, data: { importId, kind: 'products', ...more } })
    await app.deps.liveNotes.idle()
  }
  await noteImport('started', 'lost')
  await noteImport('progress', 'lost', { rows: 7, failed: 1 })
  await noteImport('started', 'done')
  await noteImport('finished', 'done', { result: 'DONE' })
  app.clock.advance(3 * 60_000)
  await noteImport('progress', 'going', { rows: 1, failed: 0 })
  for (let times = 0; times < 2; times++) await publishLostImports(app.deps)
  const finished = (await app.deps.liveStore.importsSince(0)).filter(({ name }) => name === 'import.finished').map(({ data }) => data)
  expect(finished).toEqual([
    { importId: 'done', kind: 'products', result: 'DONE' },
    { importId: 'lost', kind: 'products', result: 'STOPPED', rows: 7, created: 0, updated: 0, skipped: 0, failed: 1 },
  ])
})

test('every type of order event in the source is in orderEventTypes', async () => {
  const types = new Set<string>()
  for await (const file of new Glob('src/modules/selling/order/**/*.ts').scan('.')) {
    const text = await Bun.file(file).text()
    for (const [, type = ''] of text.matchAll(/type: '([A-Z_]+)'/g)) types.add(type)
    for (const [, then = '', otherwise = ''] of text.matchAll(/type: [^,}]*\? '([A-Z_]+)' : '([A-Z_]+)'/g))
      for (const type of [then, otherwise]) types.add(type)
    // The type depends on the payment's state.
    if (/type: `PAYMENT_\$\{state\}`/.test(text))
      for (const state of paymentStatuses) if (!['PENDING', 'CAPTURED'].includes(state)) types.add(`PAYMENT_${state}`)
  }
  expect(types.size).toBeGreaterThan(10)
  expect([...types].filter((type) => !(orderEventTypes as readonly string[]).includes(type))).toEqual([])
})

test('a HEAD request opens no stream', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const request = new Request('http://localhost/v2/events', { method: 'HEAD', headers: { authorization: `Bearer ${shop.token}` } })
  const response = await app.edge.fetch(request, { requestIP: () => ({ address: '127.0.0.1' }) })
  expect(response.status).toBe(200)
  // The server sends no body, so the test closes it.
  await followStream(response).close()
  await app.deps.live.updateNow()
  expect(app.deps.live.figures()).toMatchObject({ shop: 0, operator: 0 })
})
