import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sandboxSignature } from '../../../../src/modules/payments/sandbox/service.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { serveTestApp } from '../../../support/server.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const path = '/webhooks/payments/sandbox'

async function post(app: TestApp, message: unknown, signature?: string): Promise<Answer> {
  const raw = typeof message === 'string' ? message : JSON.stringify(message)
  const headers = { 'content-type': 'application/json', 'sandbox-signature': signature ?? (await sandboxSignature(app.deps, raw)) }
  const answer = await app.call('POST', path, { raw, headers })
  await app.jobs.messages()
  return answer
}

const messageAbout = (payment: string, type = 'payment.captured') => ({ type, payment: { id: payment } })

/** Places an order whose payment waits for the shopper. */
async function placeUnpaidOrder(app: TestApp) {
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_action' })).body
  const { url, secret } = await app.deps.sandbox.open()
  const confirm = () =>
    fetch(`${url}/payments/${order.payments[0].id}/confirm`, { method: 'POST', headers: { authorization: `Bearer ${secret}` }, body: '{}' })
  return { shop, cartId, order, payment: order.payments[0].id as string, confirm }
}

test("confirms an order once by the sandbox's repeated, late and unordered messages", async () => {
  await using app = await testApp()
  await using serving = serveTestApp(app)
  app.deps.sandbox.tell(`http://127.0.0.1:${serving.port}${path}`)
  const { shop, order, confirm } = await placeUnpaidOrder(app)
  expect((await confirm()).status).toBe(200)
  let current = await shop.order(order.id)
  for (let reads = 0; current.status !== 'CONFIRMED' && reads < 200; reads++) {
    await new Promise((resolve) => setImmediate(resolve))
    current = await shop.order(order.id)
  }
  expect(current).toMatchObject({ status: 'CONFIRMED', capturedTotal: shop.usd(1_000) })
  expect(current.events.filter(({ type }: { type: string }) => type === 'CONFIRMED')).toHaveLength(1)
  expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
})

describe('webhooks of the sandbox', () => {
  test('queries the processor on a webhook, so that an untrue webhook changes nothing', async () => {
    await using app = await testApp()
    const { shop, order, payment } = await placeUnpaidOrder(app)
    expect((await post(app, messageAbout(payment))).body).toEqual({ received: true })
    expect(await shop.order(order.id)).toMatchObject({ status: 'PENDING_PAYMENT', capturedTotal: shop.usd(0) })
  })

  test('ignores replayed webhooks of a processor', async () => {
    await using app = await testApp()
    const { shop, order, payment, confirm } = await placeUnpaidOrder(app)
    await confirm()
    expect((await post(app, messageAbout(payment))).status).toBe(200)
    const confirmed = await shop.order(order.id)
    expect(confirmed.status).toBe('CONFIRMED')
    for (const type of ['payment.captured', 'payment.authorized', 'payment.captured'])
      expect((await post(app, messageAbout(payment, type))).status).toBe(200)
    expect(await shop.order(order.id)).toEqual(confirmed)
  })

  test('rejects an unsigned, wrongly signed or altered webhook with 401', async () => {
    await using app = await testApp()
    const { shop, order, payment, confirm } = await placeUnpaidOrder(app)
    await confirm()
    const raw = JSON.stringify(messageAbout(payment))
    const signature = await sandboxSignature(app.deps, raw)
    const unsigned = await app.call('POST', path, { raw, headers: { 'content-type': 'application/json' } })
    expect(unsigned.status).toBe(401)
    expect((await post(app, raw, '0'.repeat(64))).status).toBe(401)
    expect((await post(app, raw.replace('captured', 'capturod'), signature)).status).toBe(401)
    expect((await post(app, `${raw} `, signature)).status).toBe(401)
    expect((await shop.order(order.id)).status).toBe('PENDING_PAYMENT')
    expect((await post(app, raw, signature)).status).toBe(200)
    expect((await shop.order(order.id)).status).toBe('CONFIRMED')
  })

  test('accepts and ignores webhooks of other types and about unknown payments', async () => {
    await using app = await testApp()
    const { shop, order, payment } = await placeUnpaidOrder(app)
    for (const message of [
      messageAbout(payment, 'payout.paid'),
      messageAbout('pay_00000000000000000000000000'),
      { type: 'payment.captured' },
      {},
    ])
      expect((await post(app, message)).status).toBe(200)
    expect((await shop.order(order.id)).status).toBe('PENDING_PAYMENT')
  })

  test('rejects webhooks of a processor that is not set up, and for a shop account that does not exist, with 401', async () => {
    await using app = await testApp()
    const { payment, shop } = await placeUnpaidOrder(app)
    const raw = JSON.stringify(messageAbout(payment))
    const headers = { 'content-type': 'application/json', 'sandbox-signature': await sandboxSignature(app.deps, raw) }
    expect((await app.call('POST', '/webhooks/payments/stripe', { raw, headers })).status).toBe(401)
    expect((await app.call('POST', `${path}/${shop.shop.id}`, { raw, headers })).status).toBe(401)
  })
})
