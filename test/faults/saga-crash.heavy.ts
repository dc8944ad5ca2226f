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
/** More writes than any scenario has. */
const writesMax = 40

type Scenario = {
  name: string
  /** Prepares the shop. Returns the request during which the process stops, or undefined if a job closes orders. */
  prepare: (shop: Shop) => Promise<OperationRequest | undefined>
  /** Returns whether the request has had an effect. Before that it only voids the payment that it replaces. */
  hasBegun?: (books: Books) => boolean
  /** The status of the response to the request and to its repetitions. */
  status?: number
  /** The final state of the order. */
  order: Partial<Books['orders'][number]>
  /** The final state of its holds on stock and gift cards. */
  holds: Books['orders'][number]['holds']
  stock: { onHand: number; reserved: number }
  /** The final balances of the gift cards. */
  cards: readonly number[]
  /** How the process stops. One scenario kills a real process. The others stop inside this one, which is faster. */
  crashMethod?: CrashMethod
}

/** The end of an unpaid order: everything is released. */
const released = { holds: 'RELEASED', stock: { onHand: 10, reserved: 0 }, cards: [300, 450] } as const
const committed = { holds: 'COMMITTED', stock: { onHand: 8, reserved: 0 }, cards: [0, 0] } as const
const confirmed = { status: 'CONFIRMED', paymentStatus: 'CAPTURED' } as const

const scenarios: Scenario[] = [
  {
    name: 'a checkout',
    prepare: async ({ checkoutOf, cartPaidBy }) => checkoutOf(await cartPaidBy(300, 450)),
    status: 201,
    order: confirmed,
    ...committed,
    crashMethod: 'process',
  },
  {
    name: 'a checkout whose capture is never answered',
    prepare: async ({ checkoutOf, cartPaidBy }) => checkoutOf(await cartPaidBy(300, 450), 'tok_crash'),
    status: 201,
    order: confirmed,
    ...committed,
  },
  {
    name: 'a checkout that gift cards pay for',
    prepare: async ({ checkoutOf, cartPaidBy }) => checkoutOf(await cartPaidBy(3_000, 10_000)),
    status: 201,
    order: { ...confirmed, amountDue: 0 },
    ...committed,
    cards: [0, 4_901],
  },
  {
    name: 'a draft that is paid on its page',
    prepare: async ({ formOfDraft }) => formOfDraft(300, 450),
    status: 303,
    order: confirmed,
    ...committed,
  },
  {
    name: 'a payment after one that was declined',
    async prepare({ app, send, checkoutOf, cartPaidBy }) {
      const cartId = await cartPaidBy(300, 450)
      await send(checkoutOf(cartId, 'tok_decline', 'declined'))
      app.clock.advance(1_000)
      return checkoutOf(cartId)
    },
    hasBegun: ({ payments }) => payments.length > 1,
    status: 201,
    order: confirmed,
    ...committed,
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
    ...committed,
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
    ...committed,
  },
  {
    name: 'the expiry of an order whose payment was declined',
    async prepare({ app, unpaid }) {
      await unpaid('tok_decline')
      app.clock.advance(hourMs)
      return undefined
    },
    order: { status: 'EXPIRED', paymentStatus: 'FAILED' },
    ...released,
  },
  {
    name: 'the expiry of an order whose shopper went away',
    async prepare({ app, unpaid }) {
      await unpaid('tok_action')
      app.clock.advance(hourMs)
      return undefined
    },
    order: { status: 'EXPIRED' },
    ...released,
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
    ...released,
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
    ...committed,
  },
  {
    name: 'cancelling an order that awaits a bank transfer',
    prepare: async ({ manual, action }) => action((await manual()).orderId, 'cancel'),
    status: 200,
    order: { status: 'CANCELLED', paymentStatus: 'VOIDED' },
    ...released,
  },
  {
    name: 'the expiry of an order that awaits a bank transfer',
    async prepare({ app, manual }) {
      await manual()
      app.clock.advance(7 * 24 * hourMs)
      return undefined
    },
    order: { status: 'EXPIRED', paymentStatus: 'VOIDED' },
    ...released,
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
    ...committed,
    cards: [300, 450],
  },
  {
    name: 'cancelling an order that is not paid',
    prepare: async ({ unpaid, action }) => action((await unpaid('tok_action')).orderId, 'cancel'),
    status: 200,
    order: { status: 'CANCELLED' },
    ...released,
  },
  {
    name: 'cancelling a confirmed order',
    prepare: async ({ buyPaid, action }) => action(await buyPaid(), 'cancel'),
    status: 200,
    order: { status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: 7_349 },
    ...released,
    holds: 'COMMITTED',
  },
  {
    name: 'cancelling an order that is paid and not confirmed',
    prepare: async ({ paid, action }) => action(await paid(), 'cancel'),
    status: 200,
    order: { status: 'CANCELLED', paymentStatus: 'REFUNDED', refundedTotal: 7_349 },
    ...released,
  },
  {
    name: 'a refund of all',
    prepare: async ({ buyPaid, action }) => action(await buyPaid(), 'refunds', { all: true }),
    status: 201,
    order: { status: 'FULFILLED', paymentStatus: 'REFUNDED', refundedTotal: 7_349, giftCardRefundedTotal: 750 },
    ...committed,
    cards: [300, 450],
  },
  {
    name: 'a refund of a part',
    prepare: async ({ buyPaid, action }) => action(await buyPaid(), 'refunds', { amount: usd(7_500) }),
    status: 201,
    order: { status: 'CONFIRMED', paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: 7_349, giftCardRefundedTotal: 151 },
    ...committed,
    cards: [0, 151],
  },
  {
    name: 'a refund of lines that go back on the shelf',
    async prepare({ app, buyPaid, action }) {
      const orderId = await buyPaid()
      const line = (await booksOf(app)).lines.find(({ tracked }) => tracked)
      return action(orderId, 'refunds', { lines: [{ lineId: line?.id, quantity: 1, restock: true }] })
    },
    status: 201,
    order: { status: 'CONFIRMED', paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: 1_072, giftCardRefundedTotal: 0 },
    ...committed,
    stock: { onHand: 9, reserved: 0 },
  },
  {
    name: 'receiving a return',
    async prepare({ app, send, buyPaid, action }) {
      const orderId = await buyPaid()
      const line = (await booksOf(app)).lines.find(({ tracked }) => tracked)
      ok(await send(action(orderId, 'fulfil')))
      const { id } = ok(await send(action(orderId, 'returns', { lines: [{ lineId: line?.id, quantity: 1, reason: 'Too small' }] }))).body
      ok(await send(action(orderId, `returns/${id}/approve`)))
      return action(orderId, `returns/${id}/receive`, { restock: true, refund: true })
    },
    status: 200,
    order: { status: 'FULFILLED', paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: 1_072, giftCardRefundedTotal: 0 },
    ...committed,
    stock: { onHand: 9, reserved: 0 },
  },
  {
    name: 'sending an order',
    prepare: async ({ buyPaid, action }) => action(await buyPaid(), 'fulfil', { trackingNumber: 'Z1' }),
    status: 200,
    order: { status: 'FULFILLED', fulfilmentStatus: 'FULFILLED' },
    ...committed,
  },
  {
    name: 'sending a part of an order',
    // Fulfils all units of a line, so that a second fulfilment would be refused.
    async prepare({ app, buyPaid, action }) {
      const orderId = await buyPaid()
      const line = (await booksOf(app)).lines.find(({ tracked }) => tracked)
      return action(orderId, 'fulfilments', { lines: [{ lineId: line?.id, quantity: 2 }], trackingNumber: 'Z1' })
    },
    status: 201,
    order: { status: 'CONFIRMED', fulfilmentStatus: 'PARTIALLY_FULFILLED', trackingNumber: 'Z1' },
    ...committed,
  },
]

/** The database and credentials of the shop with which every scenario begins. */
type Fixture = { database: TestDatabase; secretKey: string; token: string; variants: string[] }
type Shop = ReturnType<typeof createActions>

let fixture: Promise<Fixture> | undefined

/** Creates a shop with taxes, shipping, a partner, an endpoint, a customer and two products. One tracks its stock. */
async function createFixture(): Promise<Fixture> {
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

afterAll(async () => (await fixture)?.database.drop())

/** Returns actions in the shop, with which scenarios are prepared. */
function createActions(app: TestApp, { secretKey, token, variants }: Fixture) {
  const post = async (path: string, options: CallOptions) => ok(await app.call('POST', path, options)).body
  const request = (path: string, options: CallOptions, key = 'the-one'): OperationRequest => ({
    method: 'POST',
    path,
    options: { ...options, headers: { 'idempotency-key': key } },
  })
  const send = ({ method, path, options }: OperationRequest) => app.call(method, path, options)

  /** Creates a cart of two of each product, with gift cards of these amounts. */
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
  const placeOrder = async (cartId: string, paymentToken: string) => ok(await send(checkoutOf(cartId, paymentToken, 'before'))).body.order

  /** Returns the request that pays a draft of two of each product, with gift cards of these amounts. */
  async function formOfDraft(...amounts: number[]): Promise<OperationRequest> {
    const lines = variants.map((variantId) => ({ variantId, quantity: 2, unitPrice: usd(1_200) }))
    const details = { email: 'shopper@example.com', shippingAddress: address, shippingMethod: 'post' }
    const { cartId, payUrl } = await post('/v2/orders/drafts', { key: secretKey, body: { lines, ...details } })
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
    /** Places an order that gift cards pay in part and that waits for a bank transfer. */
    async manual(): Promise<{ cartId: string; orderId: string }> {
      const cartId = await cartPaidBy(300, 450)
      return { cartId, orderId: ok(await send(manualCheckoutOf(cartId, 'before'))).body.order.id }
    },
    action: (orderId: string, what: string, body = {}) => request(`/v2/orders/${orderId}/${what}`, { key: secretKey, body }),
    /** Places an order that gift cards pay in part and whose other payment is not completed. */
    async unpaid(paymentToken: string): Promise<{ cartId: string; orderId: string; paymentId: string }> {
      const cartId = await cartPaidBy(300, 450)
      const { id: orderId, payments } = await placeOrder(cartId, paymentToken)
      return { cartId, orderId, paymentId: payments[0].id }
    },
    buyPaid: async (): Promise<string> => (await placeOrder(await cartPaidBy(300, 450), 'tok_success')).id,
    /** Places a paid order that an error keeps from being confirmed. */
    async paid(): Promise<string> {
      const { affiliateStore } = app.deps
      const findActive = affiliateStore.findActive
      affiliateStore.findActive = async () => {
        throw new Error('a fault')
      }
      const { id, status } = await placeOrder(await cartPaidBy(300, 450), 'tok_success')
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
  fixture ??= createFixture()
  const { database: first, ...credentials } = await fixture
  const database = await copyOf(first)
  await using app = await testApp({}, { database })
  app.clock.advance(1_000)
  const request = await prepare(createActions(app, { database: first, ...credentials }))
  return { database, operation: request ?? 'closeOrders', startAt: app.clock.now() + 1_000 }
}

/** Returns what follows a crash: both orders, or one in turn on PostgreSQL, where copies of a database are slow. */
function doingsAfter(killAfter: number, { status }: Scenario): RecoveryStep[][] {
  if (status === undefined) return [['resume']]
  const sequences: RecoveryStep[][] = [
    ['resume', 'sendAgain'],
    ['sendAgain', 'resume'],
  ]
  return engine === 'sqlite' ? sequences : sequences.filter((_, nth) => nth === killAfter % sequences.length)
}

test.each(scenarios)(
  '$name ends the same whichever commit the process stops after, and a repeat gets the same response',
  async (scenario) => {
    const { status, hasBegun, crashMethod = 'here' } = scenario
    const stage = await setStage(scenario)
    const { end, writes } = await runWithoutCrash(scenario, stage)
    const untouched = await recoverWithoutRun(stage, ['resume'])
    const [before, resumed, after] = [untouched.found, ...untouched.states, end].map(normalizedBooks)
    expect(before).not.toEqual(after)

    const crashes = Array.from({ length: writes }, (_, nth) => () => crash(stage, crashMethod, nth + 1, doingsAfter(nth + 1, scenario)))
    for (const { what, steps, found, answers, states, errors } of (await runLimited(crashes, atOnce)).flat()) {
      expect(violationsOf(found), what).toEqual([])
      expect(errors, what).toEqual([])
      expect(answers, what).toEqual(status ? [status] : [])
      const nothingDone = hasBegun ? !hasBegun(found) : Bun.deepEquals(normalizedBooks(found), before)
      const ends = states.map(normalizedBooks)
      const resumedFirst = steps[0] === 'resume'
      if (resumedFirst) expect(ends[0], what).toEqual(nothingDone ? (hasBegun ? normalizedBooks(found) : resumed) : after)
      // The order continued without the request, so its state differs when the request is repeated.
      const continuedAlone = resumedFirst && nothingDone && !Bun.deepEquals(before, resumed)
      if (!continuedAlone) expect(ends.at(-1), what).toEqual(after)
    }
    await stage.database.drop()
  },
)

/** Runs the scenario without a crash. All other runs are compared with its end. */
async function runWithoutCrash(
  { status, order, holds, stock, cards, crashMethod = 'here' }: Scenario,
  stage: CrashScenario,
): Promise<{ end: Books; writes: number }> {
  const { found: end, status: responseStatus, count: writes } = await runUninterrupted(stage, crashMethod)
  if (status) expect(responseStatus).toBe(status)
  expect(writes).toBeGreaterThan(0)
  expect(writes).toBeLessThan(writesMax)
  expect(violationsAtRest(end)).toEqual([])
  expect(end.orders).toMatchObject([order])
  expect(end.orders.map((one) => one.holds)).toEqual([holds])
  expect(end.variants.find(({ trackInventory }) => trackInventory)).toMatchObject(stock)
  expect(end.cards.map(({ balance }) => balance)).toEqual([...cards])
  return { end, writes }
}
