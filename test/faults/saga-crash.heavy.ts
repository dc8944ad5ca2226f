/**
 * Stops the process after every commit of an order. The next process must end in the same state as a run without a
 * crash, and a repeated request must get the same response.
 */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../db/columns.ts'
import { sandboxSignature } from '../../src/modules/payments/sandbox/service.ts'
import type { OperationRequest } from '../support/act-until-killed.ts'
import { type CallOptions, type TestApp, testApp } from '../support/app.ts'
import { type Books, booksOf, normalizedBooks, violationsAtRest, violationsOf } from '../support/books.ts'
import { usd } from '../support/catalog.ts'
import {
  type CrashMethod,
  type CrashScenario,
  crash,
  type RecoveryStep,
  recoverWithoutRun,
  runLimited,
  runUninterrupted,
} from '../support/crash.ts'
import { copyOf, type TestDatabase, testDatabase } from '../support/database.ts'
import { browserOn, formOf, formRequest } from '../support/drafts.ts'
import { bankTransfer } from '../support/manual-payments.ts'
import { changeProcessor, confirmAtSandbox, connectionLost } from '../support/sandbox.ts'
import { address, customerOf, ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hourMs = 60 * 60 * 1000
const atOnce = navigator.hardwareConcurrency
/** No run of a scenario writes as often. */
const writesMax = 40

type Scenario = {
  name: string
  /** Brings the shop to where the process begins that will die. Returns what it is sent; undefined: it closes orders. */
  prepare: (shop: Shop) => Promise<OperationRequest | undefined>
  /** Whether what was asked for has begun: what comes before gives up, at the processor, what it takes the place of, and does so again. */
  begun?: (books: Books) => boolean
  /** What the request is answered with, however often it is sent. */
  status?: number
  /** The order in the end. */
  order: Partial<Books['orders'][number]>
  /** What has become of its stock and gift cards then. */
  holds: Books['orders'][number]['holds']
  stock: { onHand: number; reserved: number }
  /** What the gift cards hold in the end. */
  cards: readonly number[]
  /** Of one the process is really killed; all others stop in this one, which costs a tenth. */
  way?: CrashMethod
}

/** How an unpaid order ends: with everything given back. */
const givenBack = { holds: 'RELEASED', stock: { onHand: 10, reserved: 0 }, cards: [300, 450] } as const
const sold = { holds: 'COMMITTED', stock: { onHand: 8, reserved: 0 }, cards: [0, 0] } as const
const confirmed = { status: 'CONFIRMED', paymentStatus: 'CAPTURED' } as const

const scenarios: Scenario[] = [
  {
    name: 'a checkout',
    prepare: async ({ checkoutOf, cartPaidBy }) => checkoutOf(await cartPaidBy(300, 450)),
    status: 201,
    order: confirmed,
    ...sold,
    way: 'process',
  },
  {
    name: 'a checkout whose capture is never answered',
    prepare: async ({ checkoutOf, cartPaidBy }) => checkoutOf(await cartPaidBy(300, 450), 'tok_crash'),
    status: 201,
    order: confirmed,
    ...sold,
  },
  {
    name: 'a checkout that gift cards pay for',
    prepare: async ({ checkoutOf, cartPaidBy }) => checkoutOf(await cartPaidBy(3_000, 10_000)),
    status: 201,
    order: { ...confirmed, amountDue: 0 },
    ...sold,
    cards: [0, 4_901],
  },
  {
    name: 'a draft that is paid on its page',
    prepare: async ({ formOfDraft }) => formOfDraft(300, 450),
    status: 303,
    order: confirmed,
    ...sold,
  },
  {
    name: 'a payment after one that was declined',
    async prepare({ app, send, checkoutOf, cartPaidBy }) {
      const cartId = await cartPaidBy(300, 450)
      await send(checkoutOf(cartId, 'tok_decline', 'declined'))
      app.clock.advance(1_000)
      return checkoutOf(cartId)
    },
    begun: ({ payments }) => payments.length > 1,
    status: 201,
    order: confirmed,
    ...sold,
  },
  {
    name: "the shopper's return from the processor",
    async prepare({ app, unpaid, token }) {
      const { cartId, paymentId } = await unpaid('tok_action')
      await confirmAtSandbox(app, paymentId)
      return { method: 'POST', path: `/cart/${cartId}/complete`, options: { token } }
    },
    status: 200,
    order: confirmed,
    ...sold,
  },
  {
    name: "a processor's message",
    async prepare({ app, unpaid, messageAbout }) {
      const { paymentId } = await unpaid('tok_action')
      await confirmAtSandbox(app, paymentId)
      return messageAbout(paymentId)
    },
    status: 200,
    order: confirmed,
    ...sold,
  },
  {
    name: 'the expiry of an order whose payment was declined',
    async prepare({ app, unpaid }) {
      await unpaid('tok_decline')
      app.clock.advance(hourMs)
      return undefined
    },
    order: { status: 'EXPIRED', paymentStatus: 'FAILED' },
    ...givenBack,
  },
  {
    name: 'the expiry of an order whose shopper went away',
    async prepare({ app, unpaid }) {
      await unpaid('tok_action')
      app.clock.advance(hourMs)
      return undefined
    },
    order: { status: 'EXPIRED' },
    ...givenBack,
  },
  {
    name: 'the capture of a payment whose order has expired',
    async prepare({ app, unpaid, messageAbout }) {
      const { paymentId } = await unpaid('tok_action')
      app.clock.advance(hourMs)
      changeProcessor(app, () => ({ void: () => Promise.reject(connectionLost()), find: () => Promise.reject(connectionLost()) }))
      await app.jobs.closeOrders()
      await confirmAtSandbox(app, paymentId)
      return messageAbout(paymentId)
    },
    status: 200,
    order: { status: 'EXPIRED', paymentStatus: 'REFUNDED' },
    ...givenBack,
  },
  {
    name: 'a checkout that is paid by bank transfer',
    prepare: async ({ manualCheckoutOf, cartPaidBy }) => manualCheckoutOf(await cartPaidBy(300, 450)),
    status: 201,
    order: { status: 'PENDING_PAYMENT', paymentStatus: 'PENDING', resumeAt: null },
    holds: 'HELD',
    stock: { onHand: 10, reserved: 2 },
    cards: [0, 0],
  },
  {
    name: 'marking an order as paid',
    prepare: async ({ manual, action }) => action((await manual()).orderId, 'mark-paid', { reference: 'SEPA 1' }),
    status: 200,
    order: confirmed,
    ...sold,
  },
  {
    name: 'cancelling an order that awaits a bank transfer',
    prepare: async ({ manual, action }) => action((await manual()).orderId, 'cancel'),
    status: 200,
    order: { status: 'CANCELLED', paymentStatus: 'VOIDED' },
    ...givenBack,
  },
  {
    name: 'the expiry of an order that awaits a bank transfer',
    async prepare({ app, manual }) {
      await manual()
      app.clock.advance(7 * 24 * hourMs)
      return undefined
    },
    order: { status: 'EXPIRED', paymentStatus: 'VOIDED' },
    ...givenBack,
  },
  {
    name: 'a refund of a bank transfer',
    async prepare({ send, manual, action }) {
      const { orderId } = await manual()
      ok(await send(action(orderId, 'mark-paid')))
      return action(orderId, 'refunds', { all: true })
    },
    status: 201,
    order: { status: 'FULFILLED', paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: 0, giftCardRefundedTotal: 750 },
    ...sold,
    cards: [300, 450],
  },
  {
    name: 'cancelling an order that is not paid',
    prepare: async ({ unpaid, action }) => action((await unpaid('tok_action')).orderId, 'cancel'),
    status: 200,
    order: { status: 'CANCELLED' },
    ...givenBack,
  },
  {
    name: 'cancelling a confirmed order',
    prepare: async ({ bought, action }) => action(await bought(), 'cancel'),
    status: 200,
    order: { status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: 7_349 },
    ...givenBack,
    holds: 'COMMITTED',
  },
  {
    name: 'cancelling an order that is paid and not confirmed',
    prepare: async ({ paid, action }) => action(await paid(), 'cancel'),
    status: 200,
    order: { status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: 7_349 },
    ...givenBack,
  },
  {
    name: 'a refund of all',
    prepare: async ({ bought, action }) => action(await bought(), 'refunds', { all: true }),
    status: 201,
    order: { status: 'FULFILLED', paymentStatus: 'REFUNDED', refundedTotal: 7_349, giftCardRefundedTotal: 750 },
    ...sold,
    cards: [300, 450],
  },
  {
    name: 'a refund of a part',
    prepare: async ({ bought, action }) => action(await bought(), 'refunds', { amount: usd(7_500) }),
    status: 201,
    order: { status: 'CONFIRMED', paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: 7_349, giftCardRefundedTotal: 151 },
    ...sold,
    cards: [0, 151],
  },
  {
    name: 'a refund of lines that go back on the shelf',
    async prepare({ app, bought, action }) {
      const orderId = await bought()
      const line = (await booksOf(app)).lines.find(({ tracked }) => tracked)
      return action(orderId, 'refunds', { lines: [{ lineId: line?.id, quantity: 1, restock: true }] })
    },
    status: 201,
    order: { status: 'CONFIRMED', paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: 1_072, giftCardRefundedTotal: 0 },
    ...sold,
    stock: { onHand: 9, reserved: 0 },
  },
  {
    name: 'receiving a return',
    async prepare({ app, send, bought, action }) {
      const orderId = await bought()
      const line = (await booksOf(app)).lines.find(({ tracked }) => tracked)
      ok(await send(action(orderId, 'fulfil')))
      const { id } = ok(await send(action(orderId, 'returns', { lines: [{ lineId: line?.id, quantity: 1, reason: 'Too small' }] }))).body
      ok(await send(action(orderId, `returns/${id}/approve`)))
      return action(orderId, `returns/${id}/receive`, { restock: true, refund: true })
    },
    status: 200,
    order: { status: 'FULFILLED', paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: 1_072, giftCardRefundedTotal: 0 },
    ...sold,
    stock: { onHand: 9, reserved: 0 },
  },
  {
    name: 'sending an order',
    prepare: async ({ bought, action }) => action(await bought(), 'fulfil', { trackingNumber: 'Z1' }),
    status: 200,
    order: { status: 'FULFILLED', fulfilmentStatus: 'FULFILLED' },
    ...sold,
  },
  {
    name: 'sending a part of an order',
    // All of a line: sent a second time it would be refused.
    async prepare({ app, bought, action }) {
      const orderId = await bought()
      const line = (await booksOf(app)).lines.find(({ tracked }) => tracked)
      return action(orderId, 'fulfilments', { lines: [{ lineId: line?.id, quantity: 2 }], trackingNumber: 'Z1' })
    },
    status: 201,
    order: { status: 'CONFIRMED', fulfilmentStatus: 'PARTIALLY_FULFILLED', trackingNumber: 'Z1' },
    ...sold,
  },
]

/** What is known of the shop that every scenario begins with. */
type Ground = { database: TestDatabase; secretKey: string; token: string; variants: string[] }
type Shop = ReturnType<typeof shopIn>

let ground: Promise<Ground> | undefined

/** A shop with taxes, shipping, a partner and an endpoint, a customer, and two products of which one is counted. */
async function layGround(): Promise<Ground> {
  const database = await testDatabase()
  await using app = await testApp({}, { database })
  const shop = await sellingIn(app)
  const print = await shop.add({ title: 'Print', variants: [{ price: shop.money(2_499) }] })
  ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 725, inclusive: false }] }))
  ok(await shop.put('/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', price: shop.money(594), countries: ['US'] }] }))
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { manual: [bankTransfer] } }))
  ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
  const events = ['order.confirmed', 'order.refunded', 'order.cancelled', 'order.fulfilled']
  ok(await shop.post('/webhook-endpoints', { url: 'https://receiver.example/hook', events }))
  const { token } = await customerOf(app, shop.shop.name)
  return { database, secretKey: shop.secretKey, token, variants: [shop.variantId, print.variants[0]?.id ?? ''] }
}

afterAll(async () => (await ground)?.database.drop())

/** What is done in the shop on the way to where a process will die. */
function shopIn(app: TestApp, { secretKey, token, variants }: Ground) {
  const post = async (path: string, options: CallOptions) => ok(await app.call('POST', path, options)).body
  const request = (path: string, options: CallOptions, key = 'the-one'): OperationRequest => ({
    method: 'POST',
    path,
    options: { ...options, headers: { 'idempotency-key': key } },
  })
  const send = ({ method, path, options }: OperationRequest) => app.call(method, path, options)

  /** A cart of two of each product, with gift cards of these amounts. */
  async function cartPaidBy(...amounts: number[]): Promise<string> {
    const cart = { email: 'shopper@example.com', shippingAddress: address, shippingMethod: 'post', affiliateCode: 'partner' }
    const { id: cartId } = await post('/cart', { token, body: cart })
    for (const variantId of variants) await post(`/cart/${cartId}/items`, { token, body: { variantId, quantity: 2 } })
    for (const amount of amounts) {
      const { code } = await post('/giftcard', { key: secretKey, body: { amount: usd(amount) } })
      ok(await app.call('PATCH', '/giftcard/apply', { token, body: { code, cartId } }))
    }
    return cartId
  }
  const checkoutOf = (cartId: string, paymentToken = 'tok_success', key?: string) =>
    request(`/cart/${cartId}/checkout`, { token, body: { method: 'card', paymentToken } }, key)
  const manualCheckoutOf = (cartId: string, key?: string) =>
    request(`/cart/${cartId}/checkout`, { token, body: { method: 'manual', manualCode: bankTransfer.code } }, key)
  const placed = async (cartId: string, paymentToken: string) => ok(await send(checkoutOf(cartId, paymentToken, 'before'))).body.order

  /** The form by which a draft of two of each product is paid, which has gift cards of these amounts. */
  async function formOfDraft(...amounts: number[]): Promise<OperationRequest> {
    const lines = variants.map((variantId) => ({ variantId, quantity: 2, unitPrice: usd(1_200) }))
    const known = { email: 'shopper@example.com', shippingAddress: address, shippingMethod: 'post' }
    const { cartId, payUrl } = await post('/v2/orders/drafts', { key: secretKey, body: { lines, ...known } })
    for (const amount of amounts) {
      const { code } = await post('/giftcard', { key: secretKey, body: { amount: usd(amount) } })
      ok(await app.call('PATCH', '/giftcard/apply', { token, body: { code, cartId } }))
    }
    const { path, look } = browserOn(app, payUrl)
    return { method: 'POST', path, options: formRequest(formOf(await look(), 'pay')) }
  }

  return {
    app,
    token,
    send,
    formOfDraft,
    cartPaidBy,
    checkoutOf,
    manualCheckoutOf,
    /** An order that gift cards pay in part, and that awaits a bank transfer. */
    async manual(): Promise<{ cartId: string; orderId: string }> {
      const cartId = await cartPaidBy(300, 450)
      return { cartId, orderId: ok(await send(manualCheckoutOf(cartId, 'before'))).body.order.id }
    },
    action: (orderId: string, what: string, body = {}) => request(`/v2/orders/${orderId}/${what}`, { key: secretKey, body }),
    /** An order that gift cards pay in part, and whose payment did not come. */
    async unpaid(paymentToken: string): Promise<{ cartId: string; orderId: string; paymentId: string }> {
      const cartId = await cartPaidBy(300, 450)
      const { id: orderId, payments } = await placed(cartId, paymentToken)
      return { cartId, orderId, paymentId: payments[0].id }
    },
    bought: async (): Promise<string> => (await placed(await cartPaidBy(300, 450), 'tok_success')).id,
    /** An order that something keeps from becoming a sale. */
    async paid(): Promise<string> {
      const { affiliateStore } = app.deps
      const findActive = affiliateStore.findActive
      affiliateStore.findActive = async () => {
        throw new Error('a fault')
      }
      const { id, status } = await placed(await cartPaidBy(300, 450), 'tok_success')
      expect(status).toBe('PAID')
      affiliateStore.findActive = findActive
      return id
    },
    async messageAbout(paymentId: string): Promise<OperationRequest> {
      const raw = JSON.stringify({ type: 'payment.captured', payment: { id: paymentId } })
      const headers = { 'content-type': 'application/json', 'sandbox-signature': await sandboxSignature(app.deps, raw) }
      return { method: 'POST', path: '/webhooks/payments/sandbox', options: { raw, headers } }
    },
  }
}

async function setStage({ prepare }: Scenario): Promise<CrashScenario> {
  ground ??= layGround()
  const { database: first, ...known } = await ground
  const database = await copyOf(first)
  await using app = await testApp({}, { database })
  app.clock.advance(1_000)
  const request = await prepare(shopIn(app, { database: first, ...known }))
  return { database, operation: request ?? 'closeOrders', startAt: app.clock.now() + 1_000 }
}

/** Every crash is followed by either order of things; on Postgres, where a copy of a database takes long, by them in turns. */
function doingsAfter(killAfter: number, { status }: Scenario): RecoveryStep[][] {
  if (status === undefined) return [['resume']]
  const both: RecoveryStep[][] = [
    ['resume', 'sendAgain'],
    ['sendAgain', 'resume'],
  ]
  return engine === 'sqlite' ? both : both.filter((_, nth) => nth === killAfter % both.length)
}

test.each(scenarios)(
  '$name ends the same whichever commit the process stops after, and a repeat gets the same response',
  async (scenario) => {
    const { status, begun, way = 'here' } = scenario
    const stage = await setStage(scenario)
    const { end, writes } = await uninterrupted(scenario, stage)
    const untouched = await recoverWithoutRun(stage, ['resume'])
    const [before, rested, after] = [untouched.found, ...untouched.states, end].map(normalizedBooks)
    expect(before).not.toEqual(after)

    const crashes = Array.from({ length: writes }, (_, nth) => () => crash(stage, way, nth + 1, doingsAfter(nth + 1, scenario)))
    for (const { what, steps, found, answers, states, errors } of (await runLimited(crashes, atOnce)).flat()) {
      expect(violationsOf(found), what).toEqual([])
      expect(errors, what).toEqual([])
      expect(answers, what).toEqual(status ? [status] : [])
      const nothingDone = begun ? !begun(found) : Bun.deepEquals(normalizedBooks(found), before)
      const ends = states.map(normalizedBooks)
      const resumedFirst = steps[0] === 'resume'
      if (resumedFirst) expect(ends[0], what).toEqual(nothingDone ? (begun ? normalizedBooks(found) : rested) : after)
      // An order that was on its way went on by itself, and is another when the request comes.
      const goesOnAlone = resumedFirst && nothingDone && !Bun.deepEquals(before, rested)
      if (!goesOnAlone) expect(ends.at(-1), what).toEqual(after)
    }
    await stage.database.drop()
  },
)

/** The run without a crash: all the others are held to what it ends in. */
async function uninterrupted(
  { status, order, holds, stock, cards, way = 'here' }: Scenario,
  stage: CrashScenario,
): Promise<{ end: Books; writes: number }> {
  const { found: end, status: answered, count: writes } = await runUninterrupted(stage, way)
  if (status) expect(answered).toBe(status)
  expect(writes).toBeGreaterThan(0)
  expect(writes).toBeLessThan(writesMax)
  expect(violationsAtRest(end)).toEqual([])
  expect(end.orders).toMatchObject([order])
  expect(end.orders.map((one) => one.holds)).toEqual([holds])
  expect(end.variants.find(({ trackInventory }) => trackInventory)).toMatchObject(stock)
  expect(end.cards.map(({ balance }) => balance)).toEqual([...cards])
  return { end, writes }
}
