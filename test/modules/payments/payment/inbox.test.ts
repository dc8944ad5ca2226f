/** The inbox of processor messages and callbacks: verified ones lead to a query, and others are not stored. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { paymentMessages, payments as paymentRows } from '../../../../db/schema/payments.ts'
import { type ProcessorMessage, ProcessorUnavailable } from '../../../../src/clients/processors/processor.ts'
import { callbackTokenOf } from '../../../../src/modules/payments/payment/callbacks.ts'
import { identityOf } from '../../../../src/modules/payments/processor-account/account-fields.ts'
import { accountSeal } from '../../../../src/modules/payments/processor-account/domain.ts'
import { startPaypal } from '../../../clients/processors/paypal-server.ts'
import { startQpayServer } from '../../../clients/processors/qpay-server.ts'
import { signature, startStripe } from '../../../clients/processors/stripe-server.ts'
import { startTapServer } from '../../../clients/processors/tap-server.ts'
import { type Answer, type TestApp, type TestAppOptions, testApp } from '../../../support/app.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { paymentAnswer, scriptedProcessor, sellingWithProcessor } from '../../../support/test-processor.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const hour = 60 * minute
const dayMs = 24 * hour

const saveCard = async (app: TestApp, { token }: Selling, card: object) =>
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token, body: { card: { enabled: true, ...card } } }))

/** Starts an app whose instance account is with a stand-in for Stripe. */
async function withStripe(options: TestAppOptions = {}) {
  let app: TestApp | undefined
  const stripe = await startStripe({ now: () => app?.clock.now() ?? 0 })
  app = await testApp(
    {
      STRIPE_PUBLISHABLE_KEY: 'pk_test_own',
      STRIPE_SECRET_KEY: 'sk_test_standin',
      STRIPE_WEBHOOK_SECRET: 'whsec_standin',
      STRIPE_API_URL: stripe.url,
    },
    options,
  )
  const { deps, clock, call } = app

  /** Adds a Stripe account of a shop with another webhook secret. */
  async function addAccount(
    shop: Selling,
    webhookSecret: string,
    { replaces = false, rolls }: { replaces?: boolean; rolls?: string } = {},
  ): Promise<string> {
    const { processorAccountStore: store, keyring, newId } = deps
    const id = newId('processorAccount')
    const accountKey = { shopId: shop.shop.id, processor: 'stripe', mode: 'TEST' } as const
    const publishableKey = `pk_test_${webhookSecret}`
    const sealed = { secretKey: 'sk_test_standin', webhookSecret }
    await deps.db.write(async (tx) => {
      const before = replaces || rolls ? await store.findLive(accountKey, tx) : undefined
      if (before) await store.retire(tx, before.id, clock.now())
      await store.insert(tx, {
        id,
        ...accountKey,
        accountId: rolls ?? id,
        identity: identityOf('stripe', { publishableKey }),
        publishable: { publishableKey },
        sealedSettings: keyring.seal(JSON.stringify(sealed), accountSeal({ id, shopId: shop.shop.id, processor: 'stripe' })),
        apiUrl: null,
        names: [],
        version: (await store.lastVersion(tx, accountKey)) + 1,
        checkedAt: clock.now(),
        createdAt: clock.now(),
        retiredAt: null,
      })
    })
    return id
  }

  /** Places an order whose payment waits for the shopper on Stripe's page. */
  async function placeOrder(shop: Selling) {
    await saveCard(app as TestApp, shop, { processor: 'stripe' })
    const cartId = await shop.cart()
    const { order } = ok(await shop.checkout(cartId, { processor: 'stripe' }), 201).body
    const payment = await paymentRow(app as TestApp, order.payments[0].id)
    return { cartId, orderId: order.id as string, paymentId: payment.id, reference: payment.processorReference ?? '' }
  }

  function post(path: string, event: unknown, secret = 'whsec_standin', at = clock.now()): Promise<Answer> {
    const raw = typeof event === 'string' ? event : JSON.stringify(event)
    const headers = { 'stripe-signature': signature(Buffer.from(raw), { at, secret }) }
    return call('POST', `/webhooks/payments/${path}`, { raw, headers })
  }

  return {
    app,
    stripe,
    addAccount,
    placeOrder,
    post,
    async [Symbol.asyncDispose]() {
      await app?.close()
      await stripe.close()
    },
  }
}

const inbox = ({ deps }: TestApp) => deps.db.read.select().from(paymentMessages).orderBy(paymentMessages.id)
async function paymentRow({ deps }: TestApp, id: string) {
  const found = (await deps.db.read.select().from(paymentRows)).find((row) => row.id === id)
  if (!found) throw new Error('no such payment')
  return found
}
let events = 0
const succeeded = (reference: string, paymentId?: string) => ({
  id: `evt_${++events}`,
  type: 'payment_intent.amount_capturable_updated',
  data: { object: { object: 'payment_intent', id: reference, metadata: paymentId === undefined ? {} : { payment_id: paymentId } } },
})
const disputed = (reference: string) => {
  const dispute = { object: 'dispute', id: 'dp_1', payment_intent: reference, amount: 1_000, currency: 'usd', status: 'needs_response' }
  return { id: `evt_${++events}`, type: 'charge.dispute.created', data: { object: dispute } }
}
const statusOf = async (shop: Selling, orderId: string) => (await shop.order(orderId)).status

describe('a message of a processor', () => {
  test('a repeated message is stored once, acknowledged at once, and confirms the order of a closed browser tab', async () => {
    await using world = await withStripe()
    const { app, stripe } = world
    const shop = await sellingIn(app)
    const { orderId, reference } = await world.placeOrder(shop)
    stripe.page.pay(reference)
    const event = succeeded(reference)
    for (let times = 0; times < 3; times++) expect(ok(await world.post('stripe', event), 200).body).toEqual({ received: true })
    await app.jobs.messages()
    expect(await statusOf(shop, orderId)).toBe('CONFIRMED')
    expect(await inbox(app)).toMatchObject([
      { processor: 'stripe', accountId: 'instance', shopId: null, messageId: event.id, resumeAt: null },
    ])
  })

  test('a message with an invalid signature, an old time or an unknown processor gets the same 401 and is not stored', async () => {
    await using world = await withStripe()
    const { app, stripe, post } = world
    const shop = await sellingIn(app)
    const { orderId, reference } = await world.placeOrder(shop)
    stripe.page.pay(reference)
    const event = succeeded(reference)
    const refused = [
      await post('stripe', event, 'whsec_other'),
      await post('stripe', event, 'whsec_standin', app.clock.now() - 6 * minute),
      await post('stripe', event, ' '),
      await app.call('POST', '/webhooks/payments/stripe', { raw: JSON.stringify(event) }),
      await post(`stripe/${shop.shop.id}`, event),
      await post('stripe/shop_00000000000000000000000000', event),
      await post('paypal', event),
      await post('qpay', event),
      await post('nobody', event),
      await post(`sandbox/${shop.shop.id}`, event),
    ]
    const responses = new Set(refused.map(({ status, body: { requestId: _, ...body } }) => JSON.stringify([status, body])))
    expect([...responses]).toHaveLength(1)
    expect(refused[0]?.status).toBe(401)
    const logged = app.logged.filter((line) => line.event === 'payment_message.not_verified')
    // Messages for processors without an account are not verified, so only four of the ten are logged.
    expect(logged).toMatchObject(Array(4).fill({ level: 'warn', fields: { processor: 'stripe' } }))
    await app.jobs.messages()
    expect(await inbox(app)).toEqual([])
    expect(await statusOf(shop, orderId)).toBe('PENDING_PAYMENT')
  })

  test('a message whose signature cannot be checked now gets 503 and is not stored', async () => {
    await using app = await testApp()
    await sellingWithProcessor(app, {
      readMessage: async () => {
        throw new ProcessorUnavailable('its certificate is not there')
      },
    })
    const answer = await app.call('POST', '/webhooks/payments/scripted', { body: {} })
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([503, true])
    expect(await inbox(app)).toEqual([])
  })

  test("a message of one account reaches no payment of another account, by our id or the processor's", async () => {
    await using world = await withStripe()
    const { app, stripe, addAccount, placeOrder, post } = world
    const [shop, other, none] = [await sellingIn(app), await sellingIn(app), await sellingIn(app)]
    await addAccount(shop, 'whsec_shop')
    await addAccount(other, 'whsec_other')
    const mine = await placeOrder(shop)
    const instances = await placeOrder(none)
    for (const { reference } of [mine, instances]) stripe.page.pay(reference)
    const requestsBefore = stripe.requests.length
    const messagesAbout = ({ reference, paymentId }: typeof mine) => [
      succeeded(reference),
      succeeded(reference, paymentId),
      succeeded('pi_x', paymentId),
    ]
    for (const event of messagesAbout(mine)) {
      ok(await post('stripe', event))
      ok(await post(`stripe/${other.shop.id}`, event, 'whsec_other'))
    }
    for (const event of messagesAbout(instances)) ok(await post(`stripe/${shop.shop.id}`, event, 'whsec_shop'))
    await app.jobs.messages()
    expect(stripe.requests.length).toBe(requestsBefore)
    expect([await statusOf(shop, mine.orderId), await statusOf(none, instances.orderId)]).toEqual(['PENDING_PAYMENT', 'PENDING_PAYMENT'])
    ok(await post(`stripe/${shop.shop.id}`, succeeded(mine.reference), 'whsec_shop'))
    ok(await post('stripe', succeeded(instances.reference)))
    await app.jobs.messages()
    expect([await statusOf(shop, mine.orderId), await statusOf(none, instances.orderId)]).toEqual(['CONFIRMED', 'CONFIRMED'])
  })

  test('a message of a removed account reaches the payments that it took', async () => {
    await using world = await withStripe()
    const { app, stripe, addAccount, placeOrder, post } = world
    const shop = await sellingIn(app)
    const before = await addAccount(shop, 'whsec_before')
    const { orderId, reference } = await placeOrder(shop)
    await addAccount(shop, 'whsec_after', { replaces: true })
    stripe.page.pay(reference)
    ok(await post(`stripe/${shop.shop.id}`, succeeded(reference), 'whsec_before'))
    await app.jobs.messages()
    expect(await statusOf(shop, orderId)).toBe('CONFIRMED')
    expect(await inbox(app)).toMatchObject([{ accountId: before, shopId: shop.shop.id }])
  })

  test('a message signed by replaced keys is accepted for a week, and afterwards only for open payments', async () => {
    await using world = await withStripe()
    const { app, stripe, addAccount, placeOrder, post } = world
    const shop = await sellingIn(app)
    const account = await addAccount(shop, 'whsec_before')
    const [sold, open] = [await placeOrder(shop), await placeOrder(shop)]
    stripe.page.pay(sold.reference)
    const send = (event: unknown) => post(`stripe/${shop.shop.id}`, event, 'whsec_before')
    ok(await send(succeeded(sold.reference)))
    await app.jobs.messages()
    expect(await statusOf(shop, sold.orderId)).toBe('CONFIRMED')
    await addAccount(shop, 'whsec_after', { rolls: account })
    app.clock.advance(7 * dayMs - 1)
    ok(await send(succeeded(sold.reference)))
    app.clock.advance(1)
    const storedCount = (await inbox(app)).length
    for (const event of [succeeded(sold.reference), succeeded('pi_none'), succeeded('pi_none', sold.paymentId), disputed(sold.reference)])
      expect((await send(event)).status).toBe(401)
    expect(await inbox(app)).toHaveLength(storedCount)
    ok(await send(succeeded(open.reference)))
    expect(await inbox(app)).toHaveLength(storedCount + 1)
    expect((await post(`stripe/${shop.shop.id}`, succeeded(open.reference), 'whsec_other')).status).toBe(401)
    ok(await post(`stripe/${shop.shop.id}`, succeeded(sold.reference), 'whsec_after'))
  })

  for (const change of ['was replaced', 'was removed'] as const)
    test(`a message of an account that ${change} is verified by its last keys forever, because disputes come months later`, async () => {
      await using world = await withStripe()
      const { app, stripe, addAccount, placeOrder, post } = world
      const shop = await sellingIn(app)
      const before = await addAccount(shop, 'whsec_before')
      const sold = await placeOrder(shop)
      stripe.page.pay(sold.reference)
      ok(await post(`stripe/${shop.shop.id}`, succeeded(sold.reference), 'whsec_before'))
      await app.jobs.messages()
      if (change === 'was removed') await app.deps.db.write((tx) => app.deps.processorAccountStore.retire(tx, before, app.clock.now()))
      else await addAccount(shop, 'whsec_after', { replaces: true })
      app.clock.advance(120 * dayMs)
      ok(await post(`stripe/${shop.shop.id}`, disputed(sold.reference), 'whsec_before'))
      await app.jobs.messages()
      expect((await shop.order(sold.orderId)).disputes).toMatchObject([{ amount: { amount: 1_000 }, status: 'OPEN' }])
    })

  test('a message of Tap that is signed by a rotated key is queried with the new key', async () => {
    await using tap = await startTapServer()
    await using app = await testApp({ TAP_API_URL: tap.apiUrl, PUBLIC_URL: 'http://localhost' })
    const shop = await sellingIn(app, { currency: 'KWD', country: 'KW' })
    const put = async (secretKey: string) => {
      tap.rotate(secretKey)
      const body = { publishableKey: 'pk_test_shop', secretKey }
      ok(await app.call('PUT', '/shops/v2/processor-accounts/tap', { token: shop.token, body }))
    }
    await put('sk_test_first')
    await saveCard(app, shop, { processor: 'tap' })
    const { order } = ok(await shop.checkout(await shop.cart(), { processor: 'tap', returnUrl: 'https://shop.example/back' }), 201).body
    const { processorReference } = await paymentRow(app, order.payments[0].id)
    tap.pay(processorReference ?? '')
    const { body, headers } = tap.message(processorReference ?? '')
    await put('sk_test_second')
    const message = { raw: body.toString(), headers: Object.fromEntries(headers) }
    ok(await app.call('POST', `/webhooks/payments/tap/${shop.shop.id}`, message))
    await app.jobs.messages()
    expect(await statusOf(shop, order.id)).toBe('CONFIRMED')
  })

  test('a message about an unknown payment is retried for an hour, and one without a payment is finished at once', async () => {
    await using world = await withStripe()
    const { app, stripe, post } = world
    const shop = await sellingIn(app)
    ok(await post('stripe', { id: 'evt_early', type: 'x', data: { object: { object: 'payment_intent', id: 'pi_2' } } }))
    ok(await post('stripe', { id: 'evt_never', type: 'x', data: { object: { object: 'payment_intent', id: 'pi_none' } } }))
    ok(await post('stripe', { id: 'evt_payout', type: 'payout.paid', data: { object: { object: 'payout', id: 'po_1' } } }))
    ok(await post('stripe', 'no json'))
    await app.jobs.messages()
    const left = async () => (await inbox(app)).filter(({ resumeAt }) => resumeAt !== null).map(({ messageId }) => messageId)
    expect(await left()).toEqual(['evt_early', 'evt_never'])
    const { orderId, reference } = await world.placeOrder(shop)
    await app.deps.db.write(async (tx) => void (await tx.update(paymentRows).set({ processorReference: 'pi_2' })))
    // The stand-in does not know the reference 'pi_2', so the query finds nothing.
    expect(reference).not.toBe('pi_2')
    const requestsBefore = stripe.requests.length
    app.clock.advance(15_000)
    await app.jobs.messages()
    expect(stripe.requests.length).toBeGreaterThan(requestsBefore)
    expect(await statusOf(shop, orderId)).toBe('PENDING_PAYMENT')
    for (let runs = 0; runs < 12; runs++) {
      app.clock.advance(30 * minute)
      await app.jobs.messages()
    }
    expect(await left()).toEqual(['evt_early'])
    expect(app.logged.filter(({ event }) => event === 'payment_message.about_nothing')).toHaveLength(1)
  })

  test('the job processes messages that the process did not, for 72 hours while the processor does not answer', async () => {
    await using app = await testApp()
    let [queries, isUnavailable] = [0, true]
    let message: ProcessorMessage = { id: 'one', payment: undefined }
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => {
        queries++
        if (isUnavailable) throw new ProcessorUnavailable('away')
        return paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 })
      },
      readMessage: async () => message,
    })
    const { order } = ok(await shop.buy()).body
    const send = async (id: string) => {
      message = { id, payment: { paymentId: order.payments[0].id, reference: undefined } }
      ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
      await app.jobs.messages()
    }
    await send('one')
    const tries: number[] = []
    for (let minutes = 0; minutes < 74 * 60; minutes += 10) {
      const before = queries
      await app.jobs.messages()
      if (queries > before) tries.push(minutes)
      app.clock.advance(10 * minute)
    }
    expect(tries.length).toBeGreaterThan(70)
    expect(tries.at(-1)).toBeLessThanOrEqual(73 * 60)
    expect(await inbox(app)).toMatchObject([{ resumeAt: null }])
    expect(app.logged.filter(({ event }) => event === 'payment_message.given_up')).toHaveLength(1)
    isUnavailable = false
    await send('two')
    expect((await inbox(app)).map(({ resumeAt }) => resumeAt)).toEqual([null, null])
    expect((await shop.order(order.id)).capturedTotal).toEqual(shop.usd(1_000))
  })

  test('a message of a killed process is processed once by the job when its claim expires', async () => {
    await using app = await testApp()
    let queries = 0
    const shop = await sellingWithProcessor(app, {
      create: async () => paymentAnswer('REQUIRES_ACTION'),
      retrieve: async () => {
        queries++
        return paymentAnswer('REQUIRES_ACTION')
      },
      readMessage: async () => ({ id: 'one', payment: { paymentId: undefined, reference: 'ref' } }),
    })
    ok(await shop.buy())
    const before = queries
    const { start } = app.deps.backgroundTasks
    app.deps.backgroundTasks.start = () => undefined
    ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
    app.deps.backgroundTasks.start = start
    expect(queries).toBe(before)
    await Promise.all([app.jobs.messages(), app.jobs.messages(), app.jobs.messages()])
    expect(await inbox(app)).toMatchObject([{ attempts: 1, resumeAt: null }])
    expect(queries).toBe(before + 1)
  })

  test('a message gives the reference of a payment whose creation was not answered, and the order is confirmed', async () => {
    await using app = await testApp()
    const shop = await sellingWithProcessor(app, {
      capabilities: { ...scriptedProcessor({}).capabilities, createRepeatsMs: 0, findable: false },
      create: async () => {
        throw new ProcessorUnavailable('lost')
      },
      retrieve: async ({ reference }) => {
        if (reference !== 'ref') throw new ProcessorUnavailable('it finds nothing by our id')
        return paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 })
      },
      readMessage: async () => ({ id: 'one', payment: { paymentId, reference: 'ref' } }),
    })
    const { order, payment } = ok(await shop.buy()).body
    const paymentId: string = order.payments[0].id
    expect([payment.status, order.paymentStatus]).toEqual(['PROCESSING', 'PROCESSING'])
    ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
    await app.jobs.messages()
    expect(await shop.order(order.id)).toMatchObject({ status: 'CONFIRMED', payments: [{ processorReference: 'ref', status: 'CAPTURED' }] })
  })

  test('a message is stored without ids that are too long or unprintable, and with its dispute', async () => {
    await using app = await testApp()
    const messages: ProcessorMessage[] = [
      { id: 'x'.repeat(5_000), payment: { paymentId: 'y'.repeat(300), reference: 'a\u0000b' } },
      {
        id: 'dispute',
        payment: { paymentId: undefined, reference: 'ref' },
        dispute: { reference: 'dp_1', amount: 500, currency: 'USD', state: 'OPEN' },
      },
    ]
    await sellingWithProcessor(app, { readMessage: async () => messages.shift() ?? { id: 'none', payment: undefined } })
    for (let times = 0; times < 2; times++) ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
    expect(await inbox(app)).toMatchObject([
      { paymentId: null, reference: null, references: null, dispute: null, resumeAt: null },
      { reference: 'ref', dispute: { reference: 'dp_1', amount: 500, currency: 'USD', state: 'OPEN' } },
    ])
    expect((await inbox(app))[0]?.messageId).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test('a message is deleted after 90 days, and not before', async () => {
    await using app = await testApp()
    await sellingWithProcessor(app, { readMessage: async () => ({ id: 'one', payment: undefined }) })
    const send = async () => ok(await app.call('POST', '/webhooks/payments/scripted', { body: {} }))
    await send()
    const { forgetPaymentMessages } = await import('../../../../src/modules/payments/payment/index.ts')
    app.clock.advance(90 * dayMs)
    await forgetPaymentMessages(app.deps)
    await send()
    expect(await inbox(app)).toHaveLength(1)
    app.clock.advance(1)
    await forgetPaymentMessages(app.deps)
    expect(await inbox(app)).toEqual([])
  })
})

describe('a message that PayPal verifies itself', () => {
  async function withPaypal(settings = {}) {
    let app: TestApp | undefined
    const paypal = await startPaypal({ clientId: 'client', secret: 'secret', now: () => app?.clock.now() ?? 0 })
    const paypalSettings = {
      PAYPAL_CLIENT_ID: 'client',
      PAYPAL_SECRET: 'secret',
      PAYPAL_WEBHOOK_ID: 'WH-STANDIN',
      PAYPAL_API_URL: paypal.url,
    }
    app = await testApp({ ...paypalSettings, TRUSTED_PROXIES: '127.0.0.1', ...settings })
    const send = ({ body, headers }: ReturnType<typeof paypal.sent>, from = '198.51.100.1') =>
      (app as TestApp).call('POST', '/webhooks/payments/paypal', {
        raw: body.toString(),
        headers: { ...Object.fromEntries(headers), 'x-forwarded-for': from },
      })
    const forged = () => ({ ...paypal.sent({}), body: Buffer.from('{"event_type":"X"}') })
    const verifications = () => paypal.requests.filter(({ path }) => path.endsWith('/verify-webhook-signature')).length
    return {
      app,
      paypal,
      send,
      forged,
      verifications,
      async [Symbol.asyncDispose]() {
        await app?.close()
        await paypal.close()
      },
    }
  }

  test('an address with thirty invalid messages within a minute gets 429, and others are served', async () => {
    await using world = await withPaypal()
    const { app, paypal, send, forged, verifications } = world
    const good = () => paypal.sent({ id: `WH-${++events}`, event_type: 'X' })
    for (let times = 0; times < 35; times++) ok(await send(good()))
    for (let times = 0; times < 30; times++) expect((await send(forged())).status).toBe(401)
    const before = verifications()
    const refused = await send(good())
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    // A malformed message is not counted and costs no call.
    expect((await send({ ...forged(), body: Buffer.from('{}') })).status).toBe(401)
    expect(verifications()).toBe(before)
    ok(await send(good(), '203.0.113.9'))
    app.clock.advance(minute)
    ok(await send(good()))
  })

  test('few messages are verified at once, and networks take turns', async () => {
    await using world = await withPaypal()
    const { paypal, send, forged, verifications } = world
    let most = 0
    let [open, resume] = [0, () => {}]
    const released = new Promise<void>((go) => {
      resume = go
    })
    const { messageTurns } = world.app.deps
    const { acquire } = messageTurns
    let waitingCount = 0
    const senders: (string | undefined)[] = []
    messageTurns.acquire = async (path) => {
      // All messages are in the queue before the first verification ends.
      if (++waitingCount === 21) resume()
      const end = await acquire(path)
      senders.push(path[1])
      most = Math.max(most, ++open)
      await released
      return () => {
        open--
        end()
      }
    }
    const flood = Array.from({ length: 20 }, () => send(forged()))
    const good = send(paypal.sent({ id: 'WH-good', event_type: 'X' }), '203.0.113.9')
    ok(await good)
    await Promise.all(flood)
    expect(senders.indexOf('203.0.113.9')).toBeWithin(0, 6)
    expect([most, verifications()]).toEqual([4, 21])
  })

  test('unknown messages and keys do not open the breaker of PayPal, and an open breaker stops verification', async () => {
    await using world = await withPaypal()
    const { app, paypal, send, verifications } = world
    const message = () => paypal.sent({ id: `WH-${++events}`, event_type: 'X' })
    const name = 'INVALID_RESOURCE_ID'
    for (let times = 0; times < 7; times++) {
      paypal.fail('verify-webhook-signature', { status: 404, json: { name } })
      expect((await send(message())).status).toBe(401)
    }
    for (let times = 0; times < 7; times++) {
      paypal.fail(
        'verify-webhook-signature',
        { status: 401, json: { error: 'invalid_token' } },
        { status: 401, json: { error: 'invalid_token' } },
      )
      expect((await send(message())).status).toBe(503)
    }
    const breaker = { processor: 'paypal', host: new URL(paypal.url).host } as const
    expect(app.deps.breakers.passes(breaker)).toBe(true)
    ok(await send(message()))
    for (let times = 0; times < 5; times++) app.deps.breakers.failed(breaker)
    const before = verifications()
    expect((await send(message())).status).toBe(503)
    expect(verifications()).toBe(before)
  })
})

describe('a callback of QPay', () => {
  async function withQpay() {
    let app: TestApp | undefined
    const qpay = await startQpayServer({ password: 'pass:word', now: () => app?.clock.now() ?? 0 })
    const { username, password, invoiceCode, apiUrl } = qpay.account
    const settings = { QPAY_USERNAME: username, QPAY_PASSWORD: password, QPAY_INVOICE_CODE: invoiceCode, QPAY_API_URL: apiUrl }
    app = await testApp({ ...settings, PUBLIC_URL: 'http://localhost' })
    const shop = await sellingIn(app, { currency: 'MNT', country: 'MN', price: 100_000 })
    await saveCard(app, shop, { processor: 'qpay', publishableKey: invoiceCode })
    const cartId = await shop.cart()
    const { order } = ok(await shop.checkout(cartId, { processor: 'qpay' }), 201).body
    const payment = await paymentRow(app, order.payments[0].id)
    const reference = payment.processorReference ?? ''
    const address = new URL(qpay.callbackOf(reference, 'p1'))
    return {
      app,
      qpay,
      shop,
      cartId,
      orderId: order.id as string,
      paymentId: payment.id,
      reference,
      path: `${address.pathname}${address.search}`,
      async [Symbol.asyncDispose]() {
        await app?.close()
        await qpay.close()
      },
    }
  }
  const checks = ({ qpay }: Awaited<ReturnType<typeof withQpay>>) => qpay.requests.filter(({ path }) => path === '/v2/payment/check').length

  for (const method of ['GET', 'POST'])
    test(`a callback by ${method} gets SUCCESS whatever its content, has the payment queried, and stores no message`, async () => {
      await using world = await withQpay()
      const { app, qpay, shop, orderId } = world
      qpay.pay(world.reference)
      const answer = await app.call(method, `${world.path}&x=1&x=2`, method === 'POST' ? { raw: '{"not": json' } : {})
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, 'SUCCESS', 'text/plain; charset=utf-8'])
      await app.jobs.messages()
      expect(await statusOf(shop, orderId)).toBe('CONFIRMED')
      expect(await inbox(app)).toEqual([])
    })

  for (const isAfterEnd of [false, true])
    test(`a callback finds an unanswered invoice by the payment that it names${isAfterEnd ? ', also after its order has ended' : ''}`, async () => {
      await using world = await withQpay()
      const { app, qpay, shop } = world
      qpay.fail('POST /v2/invoice', 'lost')
      const { order } = ok(await shop.checkout(await shop.cart(), { processor: 'qpay' }), 201).body
      expect(order.paymentStatus).toBe('PROCESSING')
      const invoice = [...qpay.invoices.values()].at(-1)
      if (isAfterEnd) ok(await shop.post(`/v2/orders/${order.id}/cancel`, {}))
      const address = new URL(qpay.callbackOf(invoice?.id ?? '', qpay.pay(invoice?.id ?? '', { type: 'CARD' })))
      const call = (paid: string) => app.call('GET', `${address.pathname}?qpay_payment_id=${paid}`)
      const invalidNames = ['', '../x', 'x'.repeat(65)]
      for (const name of invalidNames) ok(await call(name))
      const unnamed = app.logged.filter((line) => line.event === 'payment.called_back_without_name')
      expect(unnamed).toMatchObject(invalidNames.map(() => ({ level: 'error', fields: { order: order.id, processor: 'qpay' } })))
      await app.jobs.messages()
      expect((await paymentRow(app, order.payments[0].id)).references).toEqual({})
      ok(await app.call('GET', `${address.pathname}${address.search}`))
      await app.jobs.messages()
      for (let minutes = 0; minutes < 10; minutes++) {
        app.clock.advance(minute)
        await app.jobs.resume()
        await app.jobs.sweep()
      }
      const { status, refunds, capturedTotal } = await shop.order(order.id)
      expect([status, capturedTotal.amount, refunds.map((one: { status: string }) => one.status)]).toEqual([
        isAfterEnd ? 'CANCELLED' : 'CONFIRMED',
        100_000,
        isAfterEnd ? ['SUCCEEDED'] : [],
      ])
      expect((await paymentRow(app, order.payments[0].id)).processorReference).toBe(invoice?.id ?? '')
    })

  test('a callback that names a payment of another invoice finds nothing', async () => {
    await using world = await withQpay()
    const { app, qpay, shop } = world
    qpay.fail('POST /v2/invoice', 'lost')
    const { order } = ok(await shop.checkout(await shop.cart(), { processor: 'qpay' }), 201).body
    const invoice = [...qpay.invoices.values()].at(-1)
    const address = new URL(qpay.callbackOf(invoice?.id ?? '', qpay.pay(world.reference)))
    ok(await app.call('GET', `${address.pathname}${address.search}`))
    await app.jobs.messages()
    expect(await paymentRow(app, order.payments[0].id)).toMatchObject({ status: 'PROCESSING', processorReference: null, captured: 0 })
  })

  test('a callback with an invalid URL gets 404 without a query of the database', async () => {
    await using world = await withQpay()
    const { app, paymentId } = world
    const token = callbackTokenOf(await app.deps.instanceKeys.of('PAYMENT_CALLBACKS'), paymentId)
    let reads = 0
    const { find } = app.deps.paymentStore
    app.deps.paymentStore.find = async (id) => {
      reads++
      return find(id)
    }
    const path = (text: string) => `/webhooks/payments/qpay/callback/${encodeURIComponent(text)}`
    for (const invalidToken of [
      paymentId,
      `${token}0`,
      token.slice(0, -1),
      token.toUpperCase(),
      token.slice(0, 26),
      'é'.repeat(60),
      '%',
      'x'.repeat(2_000),
    ])
      for (const method of ['GET', 'POST'])
        expect([invalidToken, (await app.call(method, path(invalidToken))).status]).toEqual([invalidToken, 404])
    expect(reads).toBe(0)
    expect((await app.call('GET', path(token))).text).toBe('SUCCESS')
    expect(reads).toBe(1)
  })

  test('callbacks and returning shoppers query a payment at most once in two seconds, and no payment is missed', async () => {
    await using world = await withQpay()
    const { app, qpay, shop, cartId, orderId } = world
    const complete = async () => ok(await app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey })).body
    await complete()
    const before = checks(world)
    // The payment is made just after the page's query.
    qpay.pay(world.reference)
    for (let calls = 0; calls < 5; calls++) expect((await app.call('GET', world.path)).text).toBe('SUCCESS')
    await Promise.all([complete(), complete()])
    await app.jobs.messages()
    expect(checks(world)).toBe(before)
    app.clock.advance(2_000)
    await app.jobs.resume()
    expect(await statusOf(shop, orderId)).toBe('CONFIRMED')
  })

  test('a callback about an ended payment has it queried, and money that was paid is refunded', async () => {
    await using world = await withQpay()
    const { app, qpay, shop, orderId } = world
    qpay.pay(world.reference, { type: 'CARD' })
    // The order ended at the moment in which the invoice was paid.
    await app.deps.db.write(async (tx) => {
      await app.deps.orderStore.move(tx, orderId, ['PENDING_PAYMENT'], 'EXPIRED', { resumeAt: null, holds: 'RELEASED' })
      await app.deps.paymentStore.move(tx, world.paymentId, ['REQUIRES_ACTION'], 'FAILED', { endedAt: app.clock.now(), askAt: null })
    })
    app.deps.backgroundTasks.start = () => undefined
    expect((await app.call('GET', world.path)).text).toBe('SUCCESS')
    await app.jobs.sweep()
    expect(await shop.order(orderId)).toMatchObject({
      status: 'EXPIRED',
      capturedTotal: { amount: 100_000 },
      refunds: [{ status: 'SUCCEEDED' }],
    })
  })
})
