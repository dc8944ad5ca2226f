/** Tests resending webhook messages. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { webhookDeliveries, webhookEndpoints } from '../../../../db/schema/outbox.ts'
import { leaseMs, retryPausesMs } from '../../../../src/modules/messaging/webhook/domain.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import {
  deliver,
  deliveriesOf,
  enqueueEvent,
  insertFailedDelivery,
  loopbackAllowed,
  receiver,
  registerEndpoint,
  type Shop,
} from '../../../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const resend = (app: TestApp, shop: Shop, endpointId: string, id: string) =>
  app.call('POST', `/webhook-endpoints/${endpointId}/deliveries/${id}/resend`, { key: shop.secretKey, body: {} })

test('resending a delivered message sends the same body and webhook-id, and its retries start over', async () => {
  await using app = await testApp(loopbackAllowed)
  let status = 204
  await using server = receiver(() => new Response(null, { status }))
  const shop = await app.merchant()
  const endpoint = await registerEndpoint(app, shop, server.url)
  await enqueueEvent(app, shop, 'order.confirmed:1')
  await deliver(app)
  const [first] = await deliveriesOf(app, shop, endpoint)
  expect(first).toMatchObject({ status: 'DELIVERED', attempts: 1 })
  app.clock.advance(60_000)
  const answer = await resend(app, shop, endpoint.id, first?.id ?? '')
  expect([answer.status, answer.body.status, answer.body.attempts]).toEqual([200, 'PENDING', 0])
  await deliver(app)
  expect(server.received).toHaveLength(2)
  const [one, two] = server.received
  expect([two?.body, two?.headers.get('webhook-id')]).toEqual([one?.body ?? '', one?.headers.get('webhook-id') ?? ''])
  expect(two?.headers.get('webhook-timestamp')).not.toBe(one?.headers.get('webhook-timestamp') ?? '')
  expect((await deliveriesOf(app, shop, endpoint))[0]).toMatchObject({ status: 'DELIVERED', attempts: 1, lastStatus: 204 })

  status = 500
  expect((await resend(app, shop, endpoint.id, first?.id ?? '')).status).toBe(200)
  await deliver(app)
  expect((await deliveriesOf(app, shop, endpoint))[0]).toMatchObject({ status: 'PENDING', attempts: 1, lastStatus: 500 })
})

test('resending a waiting delivery sends it at once, even to a resting endpoint; one in flight is 409', async () => {
  await using app = await testApp(loopbackAllowed)
  await using server = receiver(() => new Response(null, { status: 500 }))
  const shop = await app.merchant()
  const endpoint = await registerEndpoint(app, shop, server.url)
  await enqueueEvent(app, shop, 'order.confirmed:1')
  for (const pause of [0, retryPausesMs[0] * 2, retryPausesMs[1] * 2]) {
    app.clock.advance(pause)
    await deliver(app)
  }
  const health = async () => (await app.deps.db.read.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, endpoint.id)))[0]
  const [waiting] = await deliveriesOf(app, shop, endpoint)
  expect(waiting).toMatchObject({ status: 'PENDING', attempts: 3 })
  expect((await health())?.retryAt).toBeGreaterThan(app.clock.now())
  const sent = await resend(app, shop, endpoint.id, waiting?.id ?? '')
  expect([sent.status, sent.body.attempts]).toEqual([200, 3])
  await deliver(app)
  expect(server.received).toHaveLength(4)

  const [now] = await deliveriesOf(app, shop, endpoint)
  const lease = new Date(app.clock.now() + leaseMs)
  await app.deps.db.write(async (tx) => {
    await tx
      .update(webhookDeliveries)
      .set({ nextAt: lease.getTime(), updatedAt: app.clock.now() })
      .where(eq(webhookDeliveries.id, now?.id ?? ''))
  })
  const refused = await resend(app, shop, endpoint.id, now?.id ?? '')
  expect([refused.status, refused.body.message]).toEqual([409, 'The delivery is being sent now. Check its result before you send it again'])
})

test('resending to a disabled endpoint is 409, and to a delivery of another shop or endpoint 404', async () => {
  await using app = await testApp()
  const [shop, other] = [await app.merchant(), await app.merchant()]
  const { endpointId, id } = await insertFailedDelivery(app, shop)
  const otherDelivery = await insertFailedDelivery(app, shop)
  expect((await resend(app, other, endpointId, id)).status).toBe(404)
  expect((await resend(app, shop, otherDelivery.endpointId, id)).status).toBe(404)
  await app.deps.db.write((tx) =>
    tx.update(webhookEndpoints).set({ disabledAt: 1, disabledReason: 'GONE' }).where(eq(webhookEndpoints.id, endpointId)),
  )
  expect((await resend(app, shop, endpointId, id)).status).toBe(409)
})

test('resending during a large backlog causes no write conflicts', async () => {
  await using app = await testApp(loopbackAllowed)
  // Some deliveries fail, so that the endpoint's health changes.
  await using server = receiver(() => new Response(null, { status: server.received.length % 3 === 0 ? 500 : 204 }))
  const shop = await app.merchant()
  for (let nth = 0; nth < 4; nth++) await registerEndpoint(app, shop, server.url)
  for (let nth = 0; nth < 100; nth++) await enqueueEvent(app, shop, `order.confirmed:${nth}`)
  const givenUp = await Promise.all(Array.from({ length: 20 }, () => insertFailedDelivery(app, shop)))
  const before = app.deps.db.stats.retries
  const delivering = deliver(app)
  const answers: number[] = []
  for (const { endpointId, id } of givenUp) answers.push((await resend(app, shop, endpointId, id)).status)
  await delivering
  expect(answers).toEqual(givenUp.map(() => 200))
  expect(app.deps.db.stats.retries - before).toBe(0)
})
