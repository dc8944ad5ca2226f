/**
 * Stops the process at every commit and call of a payment that a processor decides: webhooks, claims and disputes.
 * The next process must end in the same state, with equal books, and no one may pay or be paid twice.
 */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { processorIsolations } from '../../db/schema/payment-methods.ts'
import { processorAccounts } from '../../db/schema/processor-accounts.ts'
import { apiKeys, shopHosts, shops } from '../../db/schema/shop.ts'
import { callbackTokenOf } from '../../src/modules/payments/payment/callbacks.ts'
import type { ProcessorName } from '../../src/modules/payments/payment-method/domain.ts'
import type { OperationRequest } from '../support/act-until-killed.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { type Books, normalizedBooks, violationsAtRest, violationsOf } from '../support/books.ts'
import {
  type CrashScenario,
  crash,
  type Operation,
  openScenario,
  type RecoveryStep,
  runLimited,
  runUninterrupted,
} from '../support/crash.ts'
import { copyOf, type TestDatabase, testDatabase } from '../support/database.ts'
import { approveBusiness } from '../support/kyb.ts'
import { mergedState, newProcessorStates, type ProcessorStates, type SimulatedProcessors } from '../support/persistent-processors.ts'
import { processorSettings } from '../support/processor-settings.ts'
import { processorMismatches, signatureHeaders } from '../support/random-processor.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const atOnce = navigator.hardwareConcurrency

type Scenario = {
  name: string
  /** Prepares the shops. Returns the action during which the process stops. */
  prepare: (scene: Scene) => Promise<Operation>
  /** The status of the response to the request and to its repetitions. */
  status?: number
  /** Rows that exist in the end. */
  end: Partial<Record<'orders' | 'payments' | 'refunds' | 'disputes' | 'messages', object[]>>
  /** True if the next process may reach the end by other steps. Then only `end` is compared. */
  varies?: true
}

const confirmed = { status: 'CONFIRMED', paymentStatus: 'CAPTURED', capturedTotal: 1_000, holds: 'COMMITTED' }
const captured = { status: 'CAPTURED', captured: 1_000 }
const atRest = { resumeAt: null }
/** A claim that may exist is not created again. If its processor does not know it an hour later, it is paid by hand. */
const claimedOrByHand = expect.stringMatching(/^(SUCCEEDED|MANUAL)$/)

const scenarios: Scenario[] = [
  {
    name: 'a message that a payment can be taken',
    async prepare({ waiting, pay, messageAbout }) {
      const payment = await waiting('stripe')
      pay('stripe')
      return messageAbout('stripe', payment)
    },
    status: 200,
    end: { orders: [confirmed], payments: [captured], messages: [atRest] },
  },
  {
    name: "QPay's callback",
    async prepare({ app, waiting, pay }) {
      const { id } = await waiting('qpay')
      pay('qpay')
      const token = callbackTokenOf(await app.deps.instanceKeys.of('PAYMENT_CALLBACKS'), id)
      return { method: 'GET', path: `/webhooks/payments/qpay/callback/${token}`, options: {} }
    },
    status: 200,
    end: { orders: [confirmed], payments: [captured] },
  },
  {
    name: 'a dispute',
    prepare: async ({ buyPaid, messageAbout }) => messageAbout('stripe', await buyPaid('stripe'), { state: 'OPEN' }),
    status: 200,
    end: { orders: [confirmed], disputes: [{ status: 'OPEN', amount: 1_000 }], messages: [atRest] },
  },
  {
    name: 'a dispute that is lost after it was won',
    async prepare({ buyPaid, messageAbout, send }) {
      const payment = await buyPaid('stripe')
      await send(messageAbout('stripe', payment, { state: 'WON' }))
      return messageAbout('stripe', payment, { state: 'LOST' })
    },
    status: 200,
    end: { orders: [confirmed], disputes: [{ status: 'LOST', amount: 1_000 }], messages: [atRest, atRest] },
  },
  {
    name: "a refund made at the processor's own page",
    async prepare({ played, buyPaid, messageAbout }) {
      const payment = await buyPaid('stripe')
      played.at.stripe.giveBack(payment.reference, 300)
      return messageAbout('stripe', payment)
    },
    status: 200,
    end: { orders: [{ refundedTotal: 300 }], refunds: [{ purpose: 'ELSEWHERE', status: 'SUCCEEDED', amount: 300 }], messages: [atRest] },
  },
  {
    name: 'a refund that fails after it came through',
    async prepare({ played, buyPaid, refund, send, messageAbout }) {
      const payment = await buyPaid('stripe')
      ok(await send(refund(payment.orderId, { amount: usd(300) }, 'before')))
      played.at.stripe.bounce()
      return messageAbout('stripe', payment)
    },
    status: 200,
    end: { orders: [{ ...confirmed, refundedTotal: 0 }], refunds: [{ status: 'MANUAL', amount: 300, resumeAt: null }], messages: [atRest] },
  },
  {
    name: 'a refund that its shopper claims',
    prepare: async ({ buyPaid, refund }) => refund((await buyPaid('btcpay')).orderId, { all: true }),
    status: 201,
    end: { orders: [{ status: 'FULFILLED' }], refunds: [{ status: claimedOrByHand, amount: 1_000 }] },
    varies: true,
  },
  {
    name: 'a refund that has to be paid by hand',
    prepare: async ({ buyPaid, refund }) => refund((await buyPaid('qpay')).orderId, { amount: { amount: 300, currency: 'MNT' } }),
    status: 201,
    end: { orders: [{ ...confirmed, refundedTotal: 0 }], refunds: [{ status: 'MANUAL', amount: 300 }] },
  },
  {
    name: 'a refund that is said to have been paid by hand',
    async prepare({ buyPaid, refund, send, post }) {
      const { orderId } = await buyPaid('qpay')
      const { body } = ok(await send(refund(orderId, { amount: { amount: 300, currency: 'MNT' } }, 'before')))
      return post('qpay', `/v2/orders/${orderId}/refunds/${body.id}/settled`, { reference: 'bank 1' })
    },
    status: 200,
    end: { orders: [{ refundedTotal: 300 }], refunds: [{ status: 'SUCCEEDED', settledReference: 'bank 1' }] },
  },
  {
    name: 'a checkout that another processor takes over',
    async prepare({ played, checkout }) {
      played.states.mute.push('checkout')
      played.states.isPaid = true
      return checkout('checkout')
    },
    status: 201,
    end: { orders: [confirmed], refunds: [] },
    varies: true,
  },
  {
    name: 'a checkout at a processor that can neither be asked by our id nor told twice',
    async prepare({ played, checkout }) {
      played.states.isPaid = true
      return checkout('qpay')
    },
    status: 201,
    end: { refunds: [] },
    // A payment whose creation was never answered cannot be paid, so the order ends.
    varies: true,
  },
  {
    name: 'a query of a waiting payment, without a message',
    async prepare({ app, waiting, pay }) {
      await waiting('stripe')
      pay('stripe')
      app.clock.advance(minuteMs)
      return 'resume'
    },
    end: { orders: [confirmed], payments: [captured] },
  },
  {
    name: 'the capture of a payment whose processor takes its time',
    async prepare({ app, waiting, pay }) {
      await waiting('checkout')
      pay('checkout')
      app.clock.advance(minuteMs)
      return 'resume'
    },
    end: { orders: [confirmed], payments: [captured] },
  },
  {
    name: 'the sweep that finds money on a payment that was given up',
    async prepare({ app, played, waiting }) {
      await waiting('btcpay')
      app.clock.advance(hourMs)
      await app.jobs.closeOrders()
      // Coins can be sent to an expired invoice.
      for (const one of played.at.btcpay.storedPayments) one.state = 'SEEN'
      app.clock.advance(hourMs)
      return 'sweep'
    },
    end: {
      orders: [{ status: 'EXPIRED', capturedTotal: 1_000, holds: 'RELEASED' }],
      refunds: [{ purpose: 'COMPENSATE', status: claimedOrByHand, amount: 1_000 }],
    },
    varies: true,
  },
  {
    name: 'the first account of a shop',
    prepare: async ({ put }) => put('/shops/v2/processor-accounts/stripe', account('first')),
    status: 200,
    end: {},
    varies: true,
  },
  {
    name: 'other keys of an account through which a payment waits',
    async prepare({ played, put, send, waiting }) {
      ok(await send(put('/shops/v2/processor-accounts/stripe', account('first'))))
      await waiting('stripe')
      played.states.isPaid = true
      return put('/shops/v2/processor-accounts/stripe', { ...account('first'), secretKey: 'sk_test_rotated' })
    },
    status: 200,
    end: { orders: [confirmed], payments: [captured] },
    varies: true,
  },
  {
    name: 'another account in the place of one through which a payment waits',
    async prepare({ played, put, send, waiting }) {
      ok(await send(put('/shops/v2/processor-accounts/stripe', account('first'))))
      await waiting('stripe')
      played.states.isPaid = true
      return put('/shops/v2/processor-accounts/stripe', account('second'))
    },
    status: 200,
    end: { orders: [confirmed], payments: [captured] },
    varies: true,
  },
  {
    name: 'going live',
    prepare: async ({ fixture }) => ({
      method: 'POST',
      path: '/shops/v2/go-live',
      options: { token: fixture.usd.token, headers: { 'idempotency-key': 'the-one' } },
    }),
    status: 200,
    end: {},
  },
  {
    name: 'the proof of a host name that another shop has',
    async prepare({ played, fixture, call }) {
      for (const shop of [fixture.mnt, fixture.usd]) {
        const { txtValue } = await call(shop, 'POST', '/shops/v2/hosts', { host: 'shop.example.com' })
        played.states.txt = [txtValue]
        if (shop === fixture.mnt) await call(shop, 'POST', '/shops/v2/hosts/shop.example.com/verify')
      }
      return { method: 'POST', path: '/shops/v2/hosts/shop.example.com/verify', options: { token: fixture.usd.token } }
    },
    status: 200,
    end: {},
    varies: true,
  },
  {
    name: 'the isolation of a processor',
    prepare: async ({ fixture }) => ({
      method: 'POST',
      path: '/admin/operations/breakers/stripe',
      options: { token: fixture.operator, body: { action: 'isolate' } },
    }),
    status: 200,
    end: {},
    varies: true,
  },
]

const usd = (amount: number) => ({ amount, currency: 'USD' })
const account = (name: string) => ({ secretKey: `sk_test_${name}`, publishableKey: `pk_test_${name}`, webhookSecret: `whsec_${name}` })

type ShopKeys = { secretKey: string; publishableKey: string; token: string; variantId: string }
type Fixture = { database: TestDatabase; usd: ShopKeys; mnt: ShopKeys; operator: string }

/** Creates a shop whose cards are processed by Checkout.com or Stripe, and a shop with QPay. */
async function createFixture(): Promise<Fixture> {
  const database = await testDatabase()
  await using app = await testApp(processorSettings, { database })
  const operator = await app.superAdmin()
  const shopPaidBy = async (processor: ProcessorName, currency: string, country: string): Promise<ShopKeys> => {
    const shop = await sellingIn(app, { currency, country })
    const { secretKey, publishableKey, token, variantId } = shop
    ok(await app.call('PUT', '/shops/v2/payment-methods', { token, body: { card: { enabled: true, processor } } }))
    if (currency === 'USD') await approveBusiness(app, shop, operator)
    return { secretKey, publishableKey, token, variantId }
  }
  return { database, usd: await shopPaidBy('checkout', 'USD', 'US'), mnt: await shopPaidBy('qpay', 'MNT', 'MN'), operator: operator.token }
}
let fixture: Promise<Fixture> | undefined
afterAll(async () => (await fixture)?.database.drop())

type Waiting = { id: string; orderId: string; reference: string }
type Scene = ReturnType<typeof createScene>

/** Returns actions in the shops, with which scenarios are prepared. */
function createScene(app: TestApp, played: SimulatedProcessors, fixture: Fixture) {
  let messages = 0
  const shopOf = (name: ProcessorName) => (name === 'qpay' ? fixture.mnt : fixture.usd)
  const send = ({ method, path, options }: OperationRequest) => app.call(method, path, options)
  const call = async (shop: ShopKeys, method: string, path: string, body?: unknown) =>
    ok(await app.call(method, path, { token: shop.token, ...(body === undefined ? {} : { body }) })).body
  const post = (name: ProcessorName, path: string, body: unknown, key = 'the-one'): OperationRequest => ({
    method: 'POST',
    path,
    options: { key: shopOf(name).secretKey, body, headers: { 'idempotency-key': key } },
  })
  async function checkout(name: ProcessorName): Promise<OperationRequest> {
    const { publishableKey: key, variantId } = shopOf(name)
    const { id } = ok(await app.call('POST', '/cart', { key, body: { email: 'shopper@example.com' } })).body
    ok(await app.call('POST', `/cart/${id}/items`, { key, body: { variantId, quantity: 1 } }))
    const paymentMethod = name === 'btcpay' ? { method: 'crypto' } : { method: 'card', processor: name }
    const body = { ...paymentMethod, returnUrl: 'https://shop.example/back' }
    return { method: 'POST', path: `/cart/${id}/checkout`, options: { key, body, headers: { 'idempotency-key': 'the-one' } } }
  }
  /** Places an order whose shopper is on the processor's page. */
  async function waiting(name: ProcessorName): Promise<Waiting> {
    const { order } = ok(await send(await checkout(name)), 201).body
    const { id, processorReference: reference, status } = order.payments[0]
    expect(status).toBe('REQUIRES_ACTION')
    return { id, reference, orderId: order.id }
  }
  /** Pays on the processor's page. */
  const pay = (name: ProcessorName) => {
    for (const { reference } of played.at[name].storedPayments) played.at[name].pay(reference, 1)
  }

  return {
    app,
    played,
    fixture,
    send,
    call,
    post,
    checkout,
    waiting,
    pay,
    async buyPaid(name: ProcessorName): Promise<Waiting> {
      const payment = await waiting(name)
      pay(name)
      for (let looks = 0; looks < 2; looks++) {
        app.clock.advance(minuteMs)
        await app.jobs.resume()
        played.at[name].settle()
      }
      return payment
    },
    refund: (orderId: string, body: unknown, key?: string) =>
      post(JSON.stringify(body).includes('MNT') ? 'qpay' : 'stripe', `/v2/orders/${orderId}/refunds`, body, key),
    put: (path: string, body: unknown): OperationRequest => ({ method: 'PUT', path, options: { token: fixture.usd.token, body } }),
    messageAbout(name: ProcessorName, { id, reference }: Waiting, dispute?: { state: 'OPEN' | 'WON' | 'LOST' }): OperationRequest {
      const about = dispute ? { dispute: { reference: 'dp_1', amount: 1_000, currency: 'USD', ...dispute } } : {}
      const raw = JSON.stringify({ id: `evt_${++messages}`, payment: { paymentId: id, reference }, ...about })
      return { method: 'POST', path: `/webhooks/payments/${name}`, options: { raw, headers: signatureHeaders } }
    },
  }
}

/** Returns the accounts, keys and hosts of shops, without values that differ in each run. */
async function extraRows({ deps: { db } }: TestApp): Promise<unknown> {
  const accounts = await db.read.select().from(processorAccounts).orderBy(processorAccounts.id)
  const hosts = await db.read.select().from(shopHosts).orderBy(shopHosts.shopId)
  const keys = await db.read.select().from(apiKeys).orderBy(apiKeys.id)
  const live = accounts.filter(({ retiredAt }) => retiredAt === null)
  return {
    accounts: live.map(({ shopId, processor, mode, accountId, publishable, names }) => {
      const isFirst = accounts.find((one) => one.processor === processor)?.accountId === accountId
      return { shopId, processor, mode, isFirst, publishable, names }
    }),
    shops: (await db.read.select().from(shops).orderBy(shops.id)).map(({ id, mode, status }) => ({ id, mode, status })),
    keys: keys.map(({ shopId, kind, mode, expiresAt }) => ({ shopId, kind, mode, isEnded: expiresAt !== null })),
    hosts: hosts.map(({ shopId, host, verifiedAt }) => ({ shopId, host, isVerified: verifiedAt !== null })),
    isolated: (await db.read.select().from(processorIsolations)).map(({ processor }) => processor),
  }
}

async function setStage({ prepare }: Scenario): Promise<CrashScenario> {
  fixture ??= createFixture()
  const sharedFixture = await fixture
  const database = await copyOf(sharedFixture.database)
  const stageStart = { database, startAt: Date.UTC(2026, 0, 6, 12, 1), settings: processorSettings, extraRows }
  const { app, processors } = await openScenario(stageStart, database, newProcessorStates())
  if (!processors) throw new Error('no processors')
  const operation = await prepare(createScene(app, processors, sharedFixture))
  const startAt = app.clock.now() + 1_000
  await app.close()
  return { ...stageStart, operation, startAt, processorStates: processors.states }
}

const alone: RecoveryStep[] = ['resume', 'untilQuiet']
const withRepetition: RecoveryStep[][] = [
  ['sendAgain', 'resume', 'untilQuiet'],
  ['resume', 'sendAgain', 'untilQuiet'],
]

/** Returns what follows a crash: the two orders in turn. A stored message need not be repeated. */
function doingsAfter(stopAfter: number, { status }: Scenario, { operation }: CrashScenario): RecoveryStep[] {
  if (status === undefined || typeof operation === 'string') return alone
  const orders = operation.path.startsWith('/webhooks/') ? [...withRepetition, alone] : withRepetition
  return orders[stopAfter % orders.length] ?? alone
}

/** Returns the violations once no work is left. */
const problemsAtRest = (books: Books, outside: ProcessorStates | undefined, wrong: string[] | undefined) => [
  ...violationsAtRest(books),
  ...processorMismatches(books, mergedState(outside ?? newProcessorStates())),
  ...(wrong ?? []),
]

/** Returns the tables of the books that a scenario compares. */
const comparedTables = (books: Books, end: Scenario['end']) =>
  Object.fromEntries(Object.keys(end).map((table) => [table, books[table as keyof Scenario['end']]]))

test.each(scenarios)('$name ends the same wherever the process stops, and a repeated request gets the same response', async (scenario) => {
  const { status, end, varies } = scenario
  const stage = await setStage(scenario)
  const uninterrupted = await runUninterrupted(stage, 'here', ['untilQuiet'])
  expect(uninterrupted.status).toBe(status)
  expect(uninterrupted.count).toBeGreaterThan(0)
  const last = uninterrupted.states.at(-1) as Books
  expect(problemsAtRest(last, uninterrupted.processorStates, uninterrupted.problems)).toEqual([])
  expect(comparedTables(last, end)).toMatchObject(end)

  const stops = Array.from(
    { length: uninterrupted.count },
    (_, nth) => () => crash(stage, 'here', nth + 1, [doingsAfter(nth + 1, scenario, stage)]),
  )
  for (const { what, steps, found, answers, states, errors, extraRows, problems, processorStates } of (
    await runLimited(stops, atOnce)
  ).flat()) {
    expect(violationsOf(found), what).toEqual([])
    expect(
      errors.filter(({ event }) => !expectedErrors.includes(event)),
      what,
    ).toEqual([])
    expect(answers, what).toEqual(status && steps.includes('sendAgain') ? [status] : [])
    const after = states.at(-1) as Books
    expect(problemsAtRest(after, processorStates, problems), what).toEqual([])
    expect(comparedTables(after, end), what).toMatchObject(end)
    expect(extraRows, what).toEqual(uninterrupted.extraRows)
    if (!varies) expect(normalizedBooks(after), what).toEqual(normalizedBooks(last))
  }
  await stage.database.drop()
})

/** Events that are logged as errors to inform operators, although souk did not fail. */
const expectedErrors = ['refund.manual', 'refund.failed', 'refund.forgotten']
