/** Tests completions and cancellations over REST with idempotency keys. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { amountsOf, buyer, codesOf, fulfillmentTo, paymentWithToken } from '../../../support/agent-calls.ts'
import { agentApp, enableAgents, restCall } from '../../../support/agents.ts'
import type { Json } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function startWorld() {
  const app = await agentApp()
  const shop = await sellingIn(app)
  await enableAgents(app, shop.shop.id)
  const call = (tool: string, id: string | undefined, body?: Json, key: string | null = randomUUID()) =>
    restCall(app, shop.shop.name, tool, id, { body, key })
  return {
    app,
    shop,
    call,
    async ready(): Promise<string> {
      const body = { line_items: [{ item: { id: shop.variantId }, quantity: 1 }], buyer, fulfillment: fulfillmentTo() }
      return ok(await call('create_checkout', undefined, body), 201).body.id
    },
    orders: async () => ok(await shop.get('/v2/orders')).body.total as number,
    async [Symbol.asyncDispose]() {
      await app.close()
    },
  }
}

test('a completion happens once per key, and a retry returns the order', async () => {
  await using here = await startWorld()
  const id = await here.ready()
  const key = randomUUID()
  expect((await here.call('complete_checkout', id, paymentWithToken('tok_success'), null)).body.code).toBe('idempotency_key_missing')
  const completed = await here.call('complete_checkout', id, paymentWithToken('tok_success'), key)
  expect([completed.status, completed.body.status]).toEqual([200, 'completed'])
  const retried = await here.call('complete_checkout', id, paymentWithToken('tok_success'), key)
  expect([retried.status, retried.body]).toEqual([200, completed.body])
  const other = await here.call('complete_checkout', id, paymentWithToken('tok_decline'), key)
  expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict'])
  const closed = await here.call('complete_checkout', id, paymentWithToken('tok_success'))
  expect([closed.status, closed.body.code]).toEqual([409, 'session_closed'])
  const canceled = [await here.call('cancel_checkout', id, {}, key), await here.call('cancel_checkout', id, {}, key)]
  for (const { status, body } of canceled) expect([status, body.code]).toEqual([409, 'session_closed'])
  expect(await here.orders()).toBe(1)
})

test('a retry returns the stored response, or the current state if the payment was undecided', async () => {
  await using here = await startWorld()
  const [declined, waiting] = [await here.ready(), await here.ready()]
  const [first, second] = [randomUUID(), randomUUID()]
  const failed = await here.call('complete_checkout', declined, paymentWithToken('tok_decline'), first)
  expect(codesOf(failed.body)).toEqual(['payment_failed'])
  ok(await here.call('complete_checkout', declined, paymentWithToken('tok_success')))
  expect((await here.call('complete_checkout', declined, paymentWithToken('tok_decline'), first)).body).toEqual(failed.body)
  const undecided = await here.call('complete_checkout', waiting, paymentWithToken('tok_timeout'), second)
  expect(undecided.body.status).toBe('complete_in_progress')
  expect((await here.call('cancel_checkout', waiting)).body.status).toBe('canceled')
  const retried = await here.call('complete_checkout', waiting, paymentWithToken('tok_timeout'), second)
  expect([retried.status, retried.body.status]).toEqual([200, 'canceled'])
})

test('five concurrent requests with the same completion place one order', async () => {
  await using here = await startWorld()
  const id = await here.ready()
  const key = randomUUID()
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => here.call('complete_checkout', id, paymentWithToken('tok_success'), key)),
  )
  for (const { status } of answers) expect([200, 409]).toContain(status)
  expect(answers.some(({ body }) => body.status === 'completed')).toBe(true)
  expect(await here.orders()).toBe(1)
})

test('five concurrent requests with the same creation, replacement or cancellation have one effect', async () => {
  await using here = await startWorld()
  const five = async (tool: string, id: string | undefined, body: Json, status: number) => {
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 5 }, () => here.call(tool, id, body, key)))
    const retry = ok(await here.call(tool, id, body, key), status)
    for (const answer of answers)
      if (answer.status === status) expect(answer.body).toEqual(retry.body)
      else expect([answer.status, answer.body.code]).toEqual([409, 'idempotency_conflict'])
    expect(answers.some((answer) => answer.status === status)).toBe(true)
    return retry.body
  }
  const content = { line_items: [{ item: { id: here.shop.variantId }, quantity: 1 }], buyer, fulfillment: fulfillmentTo() }
  const { id } = await five('create_checkout', undefined, content, 201)
  const [row] = await here.app.deps.db.read.rows<{ count: number }>(sql`select count(*) as count from agent_sessions`)
  expect(Number(row?.count)).toBe(1)
  const replaced = await five('update_checkout', id, { ...content, line_items: [{ item: { id: here.shop.variantId }, quantity: 2 }] }, 200)
  expect(replaced.line_items[0].quantity).toBe(2)
  expect((await five('cancel_checkout', id, {}, 200)).status).toBe('canceled')
})

test('a late duplicate of a replacement does not affect a payment that started after the replacement', async () => {
  await using here = await startWorld()
  const id = await here.ready()
  const { idempotency } = here.app.deps
  const claim = idempotency.claim
  const [release, keyClaimed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  // The duplicate claims its key before the replacement is stored, and then waits.
  idempotency.claim = async (request) => {
    const claimed = await claim(request)
    keyClaimed.resolve()
    await release.promise
    return claimed
  }
  const content = { line_items: [{ item: { id: here.shop.variantId }, quantity: 2 }], buyer, fulfillment: fulfillmentTo() }
  const key = randomUUID()
  const duplicate = here.call('update_checkout', id, content, key)
  await keyClaimed.promise
  idempotency.claim = claim
  ok(await here.call('update_checkout', id, content, key))
  expect((await here.call('complete_checkout', id, paymentWithToken('tok_timeout'))).body.status).toBe('complete_in_progress')
  release.resolve()
  const { status, body } = await duplicate
  expect([status, body.code]).toEqual([409, 'idempotency_conflict'])
  expect((await here.call('get_checkout', id)).body.status).toBe('complete_in_progress')
  expect((await here.shop.get('/v2/orders')).body.data.map((order: Json) => order.status)).toEqual(['PENDING_PAYMENT'])
})

test('a repeated response counts as the last one shown, and no other total is charged', async () => {
  await using here = await startWorld()
  const content = { line_items: [{ item: { id: here.shop.variantId }, quantity: 1 }], buyer, fulfillment: fulfillmentTo() }
  const key = randomUUID()
  const created = ok(await here.call('create_checkout', undefined, content, key), 201).body
  const { id } = created
  const { productId, variantId, money } = here.shop
  const price = (amount: number) => here.shop.patch(`/product-v2/${productId}`, { variants: [{ id: variantId, price: money(amount) }] })
  ok(await price(1_500))
  expect(amountsOf((await here.call('get_checkout', id)).body)['total']).toBe(1_500)
  expect((await here.call('create_checkout', undefined, content, key)).body).toEqual(created)
  const refused = await here.call('complete_checkout', id, paymentWithToken('tok_success'))
  expect([codesOf(refused.body), amountsOf(refused.body)['total']]).toEqual([['price_changed'], 1_500])
  // The same rule applies to a repeated completion.
  const completionKey = randomUUID()
  ok(await price(1_700))
  expect(codesOf((await here.call('complete_checkout', id, paymentWithToken('tok_success'), completionKey)).body)).toEqual([
    'price_changed',
  ])
  const replacementKey = randomUUID()
  const contentOfTwo = { ...content, line_items: [{ item: { id: here.shop.variantId }, quantity: 2 }] }
  ok(await here.call('update_checkout', id, contentOfTwo, replacementKey))
  expect(amountsOf((await here.call('complete_checkout', id, paymentWithToken('tok_success'), completionKey)).body)['total']).toBe(1_700)
  expect(codesOf((await here.call('complete_checkout', id, paymentWithToken('tok_success'))).body)).toEqual(['price_changed'])
  // A repeated response can be paid if its total is still correct.
  ok(await here.call('update_checkout', id, contentOfTwo, replacementKey))
  const completed = await here.call('complete_checkout', id, paymentWithToken('tok_success'))
  expect([completed.body.status, amountsOf(completed.body)['total']]).toEqual(['completed', 3_400])
  ok(await here.call('update_checkout', id, contentOfTwo, replacementKey))
  expect(await here.orders()).toBe(1)
})

test('a retry whose response was erased with its buyer finds nothing, and has no effect', async () => {
  await using here = await startWorld()
  const { app, shop, call } = here
  const content = { line_items: [{ item: { id: shop.variantId }, quantity: 1 }], buyer, fulfillment: fulfillmentTo() }
  const [created, canceled] = [randomUUID(), randomUUID()]
  const { id } = ok(await call('create_checkout', undefined, content, created), 201).body
  ok(await call('cancel_checkout', id, {}, canceled))
  const { id: customerId } = ok(await shop.post('/customer', { email: buyer.email }, {})).body
  ok(await shop.post(`/customer/${customerId}/erase`, {}))
  const repeated = [await call('create_checkout', undefined, content, created), await call('cancel_checkout', id, {}, canceled)]
  for (const { status, body } of repeated) expect([status, body.ucp.status, codesOf(body)]).toEqual([200, 'error', ['not_found']])
  expect((await call('create_checkout', undefined, {}, created)).body.code).toBe('idempotency_conflict')
  expect(Number((await app.deps.db.read.rows<{ count: number }>(sql`select count(*) as count from agent_sessions`))[0]?.count)).toBe(1)
})

test('a card number is refused, and appears in no log and no response', async () => {
  await using here = await startWorld()
  const id = await here.ready()
  const credential = { type: 'card', number: '4242424242424242', cvc: '123' }
  const refused = await here.call('complete_checkout', id, paymentWithToken('', { credential }))
  expect([refused.status, refused.body.code]).toEqual([400, 'raw_card_refused'])
  expect(refused.text).not.toMatch(/\b4242\b|4242.?4242/)
  const named = { line_items: [], buyer: { ...buyer, first_name: '4242 4242 4242 4242' } }
  expect((await here.call('update_checkout', id, named)).body.code).toBe('raw_card_refused')
  const telephone = { line_items: [], buyer: { ...buyer, phone_number: '+4242424242424' } }
  expect((await here.call('update_checkout', id, telephone)).status).toBe(200)
  expect(JSON.stringify(here.app.logged)).not.toMatch(/\b4242\b|4242.?4242/)
})
