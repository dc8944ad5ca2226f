import { expect, setDefaultTimeout, test } from 'bun:test'
import { outbox, webhookDeliveries, webhookEndpoints } from '../../../../db/schema/outbox.ts'
import { deleteOldMessages } from '../../../../src/modules/messaging/webhook/service.ts'
import { testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { deliver, deliveriesOf, enqueueEvent, loopbackAllowed, receiver, registerEndpoint } from '../../../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const monthMs = 30 * 24 * 60 * 60 * 1000

test('messages, deliveries and removed endpoints are deleted after a month, except unsent messages', async () => {
  await using app = await testApp(loopbackAllowed)
  await using server = receiver()
  const { clock } = app
  const { db } = app.deps
  const shop = await app.merchant()
  const endpoint = await registerEndpoint(app, shop, server.url)
  const removed = await registerEndpoint(app, shop, server.url)
  await enqueueEvent(app, shop, 'old')
  await deliver(app)
  await app.call('DELETE', `/webhook-endpoints/${removed.id}`, { key: shop.secretKey })
  clock.advance(1_000)
  await enqueueEvent(app, shop, 'young')
  await deliver(app)
  const remaining = async () => ({
    messages: (await db.read.select().from(outbox)).map(({ key }) => key).sort(),
    deliveries: (await db.read.select().from(webhookDeliveries)).length,
    endpoints: (await db.read.select().from(webhookEndpoints)).length,
  })

  clock.advance(monthMs - 2_000)
  await deleteOldMessages(app.deps)
  expect(await remaining()).toEqual({ messages: ['old', 'young'], deliveries: 3, endpoints: 2 })
  clock.advance(1_500)
  await deleteOldMessages(app.deps)
  expect(await remaining()).toEqual({ messages: ['young'], deliveries: 1, endpoints: 1 })
  expect(await deliveriesOf(app, shop, endpoint)).toHaveLength(1)
  await enqueueEvent(app, shop, 'unsent')
  clock.advance(2 * monthMs)
  await deleteOldMessages(app.deps)
  expect(await remaining()).toEqual({ messages: ['unsent'], deliveries: 0, endpoints: 1 })
})

test('a delivery that is not made within three days fails, and is deleted with its message a month later', async () => {
  await using app = await testApp(loopbackAllowed)
  await using server = receiver(() => new Response(null, { status: 500 }))
  const shop = await app.merchant()
  const endpoint = await registerEndpoint(app, shop, server.url)
  await enqueueEvent(app, shop, 'one')
  await deliver(app)
  const states = async () => (await deliveriesOf(app, shop, endpoint)).map(({ status, lastError }) => [status, lastError])
  app.clock.advance(monthMs / 10)
  await deleteOldMessages(app.deps)
  expect(await states()).toEqual([['PENDING', 'answered 500']])
  app.clock.advance(1)
  await deleteOldMessages(app.deps)
  expect(await states()).toEqual([['FAILED', 'waited too long']])
  expect(await app.deps.db.read.select().from(outbox)).toHaveLength(1)
  await deliver(app)
  expect(server.received).toHaveLength(1)
  app.clock.advance(monthMs)
  await deleteOldMessages(app.deps)
  expect(await app.deps.db.read.select().from(outbox)).toEqual([])
})

test('a month of many deliveries is deleted in several small writes', async () => {
  await using app = await testApp()
  const { clock } = app
  const { db, newId } = app.deps
  const shop = await app.merchant()
  const { id: endpointId } = await registerEndpoint(app, shop, 'http://hook.example/')
  const now = clock.now()
  const messages = Array.from({ length: 1_200 }, (_, nth) => ({
    ...{ id: newId('message'), key: `key-${nth}`, shopId: shop.shop.id, event: 'order.confirmed', body: '{}' },
    ...{ status: 'DONE' as const, createdAt: now },
  }))
  const deliveries = messages.map(({ id: outboxId, event }) => ({
    ...{ id: newId('delivery'), endpointId, outboxId, event, status: 'DELIVERED' as const, attempts: 1, nextAt: now },
    ...{ lastStatus: 200, lastError: null, createdAt: now, updatedAt: now },
  }))
  await db.write(async (tx) => {
    await tx.insert(outbox).values(messages)
    await tx.insert(webhookDeliveries).values(deliveries)
  })
  clock.advance(monthMs + 1_000)
  const { writes } = db.stats
  await deleteOldMessages(app.deps)
  // One write for expired deliveries, three for deliveries, three for messages, and one for endpoints.
  expect(db.stats.writes - writes).toBe(8)
  expect(await db.read.select().from(outbox)).toEqual([])
  expect(await db.read.select().from(webhookDeliveries)).toEqual([])
})
