/** Compares the documented webhook messages with those of real orders. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020.js'
import { outbox } from '../../../../db/schema/outbox.ts'
import { locking } from '../../../../src/core/command-context.ts'
import type { OpenApi } from '../../../../src/http/openapi.ts'
import type { Schema } from '../../../../src/http/openapi-schema.ts'
import { webhookEvents } from '../../../../src/modules/messaging/webhook/domain.ts'
import { messageData } from '../../../../src/modules/messaging/webhook/messages.ts'
import type { Message } from '../../../../src/modules/messaging/webhook/service.ts'
import { paymentsOf } from '../../../../src/modules/payments/payment/index.ts'
import { recordDispute } from '../../../../src/modules/selling/order/saga/disputes.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { requestedReturnOf } from '../../../support/returns.ts'
import { changeProcessor, manualRefundOf } from '../../../support/sandbox.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Forbids undocumented fields in objects with named fields. */
function withoutExtraFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExtraFields)
  if (typeof value !== 'object' || value === null) return value
  const copy: Schema = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutExtraFields(item)]))
  return copy['type'] === 'object' && copy['properties'] ? { ...copy, additionalProperties: false } : copy
}

/** Creates a validator that returns the error of a message by the OpenAPI document, or undefined. */
async function createValidator(app: TestApp): Promise<(body: string) => string | undefined> {
  const document: OpenApi = (await app.call('GET', '/docs/json')).body
  const formats = { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ }
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, formats })
  const components = { schemas: document.components.schemas }
  const schemaOf = (event: string) => {
    const post = document.webhooks[event]?.post as { requestBody: { content: Record<string, { schema: Schema }> } } | undefined
    return post?.requestBody.content['application/json']?.schema
  }
  const validators = new Map(
    // References point to the components, so each compiled schema includes them.
    webhookEvents.map((event) => {
      const schema = withoutExtraFields({ ...schemaOf(event), $defs: components.schemas }) as object
      return [event as string, ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/')))]
    }),
  )
  return (body) => {
    const message = JSON.parse(body)
    const validate = validators.get(message.type)
    if (!validate) return `no such event: ${message.type}`
    return validate(message) ? undefined : ajv.errorsText(validate.errors)
  }
}

test('the OpenAPI document has exactly the webhook events, each with a named schema', async () => {
  await using app = await testApp()
  const document: OpenApi = (await app.call('GET', '/docs/json')).body
  expect(Object.keys(document.webhooks).sort()).toEqual([...webhookEvents].sort())
  expect(Object.keys(messageData).sort()).toEqual([...webhookEvents].sort())
  for (const event of webhookEvents) {
    const title = String(messageData[event].title)
    expect(document.components.schemas[title]).toBeDefined()
    expect(JSON.stringify(document.webhooks[event])).toContain(`"#/components/schemas/${title}"`)
  }
})

test('every event that orders and stock write to the outbox matches its documented schema', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 50 })
  const customer = await customerOf(app, shop.shop.name)
  for (const token of [undefined, customer.token]) {
    const buyer = token === undefined ? {} : { token }
    const sent = await shop.placeOrder(buyer)
    ok(await shop.refund(sent.id, { amount: shop.usd(300), reason: 'Scratched' }))
    ok(await shop.post(`/v2/orders/${sent.id}/fulfil`, token === undefined ? {} : { trackingNumber: 'T 1', carrier: 'Post' }))
    const partial = await shop.placeOrder({ ...buyer, quantity: 2 })
    const one = { lines: [{ lineId: partial.lines[0].id, quantity: 1 }] }
    const { id } = ok(await shop.post(`/v2/orders/${partial.id}/fulfilments`, one)).body
    ok(await shop.patch(`/v2/orders/${partial.id}/fulfilments/${id}`, { trackingNumber: 'T 2' }))
    ok(await shop.refund(partial.id, one))
    for (const body of [{}, { reason: 'Sold out' }]) ok(await shop.post(`/v2/orders/${(await shop.placeOrder(buyer)).id}/cancel`, body))
  }
  await manualRefundOf(shop)
  changeProcessor(app, () => ({ refund: async () => ({ reference: 'pp_1', state: 'CLAIMABLE', claimUrl: 'https://pay.example.com/c' }) }))
  const claimed = await shop.placeOrder()
  ok(await shop.refund(claimed.id))
  const [payment] = await paymentsOf(app.deps, claimed.id)
  if (!payment) throw new Error('no payment')
  const dispute = { reference: 'dp_1', amount: 1_000, currency: 'USD', state: 'OPEN' } as const
  await app.deps.db.write((tx) => recordDispute(tx, app.deps, { payment, dispute }), locking)
  ok(await shop.patch(`/product-v2/${shop.productId}`, { variants: [{ id: shop.variantId, lowStockAt: 1_000 }] }))
  const { id: erasedId } = ok(await shop.post('/customer', { email: 'gone@example.com' })).body
  ok(await app.call('PATCH', `/customer/${erasedId}`, { key: shop.secretKey, body: { tags: ['VIP'] } }))
  ok(await app.call('PATCH', `/v2/orders/${(await shop.placeOrder()).id}`, { key: shop.secretKey, body: { tags: ['VIP'] } }))
  await requestedReturnOf(shop)
  ok(await shop.post(`/customer/${erasedId}/erase`, {}))
  const messages = await app.deps.db.read.select().from(outbox)
  const validateMessage = await createValidator(app)
  for (const { body } of messages) expect([body, validateMessage(body)]).toEqual([body, undefined])
  expect([...new Set(messages.map(({ event }) => event))].sort()).toEqual([...webhookEvents].sort())
})

test('the compiler checks the data of an enqueued message against its schema', () => {
  const common = { shopId: 'shop_1', key: 'k', held: false }
  const enqueued: Message[] = [
    { ...common, event: 'order.cancelled', data: { orderId: 'order_1', number: 1, reason: null } },
    // @ts-expect-error a field is missing
    { ...common, event: 'order.cancelled', data: { orderId: 'order_1', number: 1 } },
    // @ts-expect-error the data of another event
    { ...common, event: 'order.fulfilled', data: { orderId: 'order_1', number: 1, reason: null } },
    // @ts-expect-error a field that the schema does not know
    { ...common, event: 'order.cancelled', data: { orderId: 'order_1', number: 1, reason: null, more: 1 } },
  ]
  expect(enqueued).toHaveLength(4)
})

test('the message validator of these tests finds missing, mistyped and undocumented fields', async () => {
  await using app = await testApp()
  const validateMessage = await createValidator(app)
  const data = { orderId: 'order_1', number: 1, reason: null }
  const message = { type: 'order.cancelled', timestamp: '2026-01-06T12:00:00.000Z', data }
  const validateChanged = (changed: object) => validateMessage(JSON.stringify({ ...message, ...changed }))
  expect(validateChanged({})).toBeUndefined()
  expect(validateChanged({ data: { orderId: 'order_1', number: 1 } })).toContain('reason')
  expect(validateChanged({ data: { ...data, number: '1' } })).toContain('number')
  expect(validateChanged({ data: { ...data, more: 1 } })).toContain('additional properties')
  expect(validateChanged({ timestamp: 'yesterday' })).toContain('date-time')
  expect(validateChanged({ type: 'order.refunded' })).toBeDefined()
})
