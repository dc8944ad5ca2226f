/**
 * A process that dies right after any commit on an order's way, forwards or back, leaves nothing half-done: the next one goes on
 * to the very state that a run without a crash ends in, and whoever sends the request again is answered as if there had been none.
 * On Postgres a process dies for each commit; on SQLite one goes through and keeps the files as each commit left them, and one dies
 * to show that they are the same.
 */
import { afterAll, expect, test } from 'bun:test'
import { constants } from 'node:os'
import { join } from 'node:path'
import { engine } from '../../db/columns.ts'
import { workMessages } from '../../src/modules/order/inbox.ts'
import { resumeOrders } from '../../src/modules/order/resuming.ts'
import { sandboxSignature } from '../../src/modules/sandbox/service.ts'
import type { Act, ActRequest } from '../support/act-until-killed.ts'
import { type CallOptions, type TestApp, testApp } from '../support/app.ts'
import { type Books, booksOf, comparable, violationsAtRest, violationsOf } from '../support/books.ts'
import { usd } from '../support/catalog.ts'
import { copyOf, type TestDatabase, temporaryDir, testDatabase } from '../support/database.ts'
import { startChild } from '../support/process.ts'
import { changeProcessor, confirmAtSandbox, lost } from '../support/sandbox.ts'
import { address, customerOf, ok, sellingIn } from '../support/selling.ts'

/** Longer than the lease of an idempotency key, shorter than any order waits. */
const restartMs = 40_000
const hourMs = 60 * 60 * 1000
const childrenMax = navigator.hardwareConcurrency + 1
const killedCode = 128 + constants.signals.SIGKILL
/** No run of a scenario writes as often. */
const writesMax = 40

type Scenario = {
  name: string
  /** Brings the shop to where the process begins that will die. Returns what it is sent; undefined: it closes orders. */
  prepare: (shop: Shop) => Promise<ActRequest | undefined>
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
      changeProcessor(app, () => ({ void: () => Promise.reject(lost()), find: () => Promise.reject(lost()) }))
      await app.jobs.closeOrders()
      await confirmAtSandbox(app, paymentId)
      return messageAbout(paymentId)
    },
    status: 200,
    order: { status: 'EXPIRED', paymentStatus: 'REFUNDED' },
    ...givenBack,
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
    order: { status: 'CONFIRMED', paymentStatus: 'REFUNDED', refundedTotal: 7_349, giftCardRefundedTotal: 750 },
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
    name: 'sending an order',
    prepare: async ({ bought, action }) => action(await bought(), 'fulfil', { trackingNumber: 'Z1' }),
    status: 200,
    order: { status: 'FULFILLED', fulfilmentStatus: 'FULFILLED' },
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
  const request = (path: string, options: CallOptions, key = 'the-one'): ActRequest => ({
    method: 'POST',
    path,
    options: { ...options, headers: { 'idempotency-key': key } },
  })
  const send = ({ method, path, options }: ActRequest) => app.call(method, path, options)

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
  const placed = async (cartId: string, paymentToken: string) => ok(await send(checkoutOf(cartId, paymentToken, 'before'))).body.order

  return {
    app,
    token,
    send,
    cartPaidBy,
    checkoutOf,
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
    async messageAbout(paymentId: string): Promise<ActRequest> {
      const raw = JSON.stringify({ type: 'payment.captured', payment: { id: paymentId } })
      const headers = { 'content-type': 'application/json', 'sandbox-signature': await sandboxSignature(app.deps, raw) }
      return { method: 'POST', path: '/webhooks/payments/sandbox', options: { raw, headers } }
    },
  }
}

/** The program that dies, compiled into one file: it starts in a third of the time, and there are a hundred of it. */
async function bundle(): Promise<string> {
  const entrypoint = join(import.meta.dir, '../support/act-until-killed.ts')
  const { outputs } = await Bun.build({
    entrypoints: [entrypoint],
    outdir: temporaryDir(),
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    external: ['pg-native'],
  })
  return outputs.find(({ kind }) => kind === 'entry-point')?.path ?? entrypoint
}
let program: Promise<string> | undefined

/** Where a process begins that will die. */
type Stage = { database: TestDatabase; startAt: number; request: ActRequest | undefined }

async function setStage({ prepare }: Scenario): Promise<Stage> {
  ground ??= layGround()
  const { database: first, ...known } = await ground
  const database = await copyOf(first)
  await using app = await testApp({}, { database })
  app.clock.advance(1_000)
  const request = await prepare(shopIn(app, { database: first, ...known }))
  return { database, request, startAt: app.clock.now() + 1_000 }
}

/** Runs a process on a copy of the stage. It prints nothing if it died, as it was to. */
async function actOn(
  { database, ...stage }: Stage,
  killAfter: number,
  keepIn?: string,
): Promise<{ copy: TestDatabase; printed: string | undefined }> {
  const copy = await copyOf(database)
  const act: Act = { ...stage, database: { url: copy.url, dataDir: copy.dataDir }, killAfter, keepIn }
  program ??= bundle()
  await using child = startChild(await program, [JSON.stringify(act)])
  const { value: printed } = await child.lines.next()
  const code = await child.exited
  if (code !== (printed === undefined ? killedCode : 0)) throw new Error(`the process ended with ${code}`)
  return { copy, printed }
}

type Doing = 'resume' | 'sendAgain'

/** What a process leaves that dies after so many commits. */
async function killed(stage: Stage, killAfter: number): Promise<TestDatabase> {
  const { copy, printed } = await actOn(stage, killAfter)
  if (printed !== undefined) throw new Error(`a process that was to die after commit ${killAfter} said ${printed}`)
  return copy
}

const keptOf = (kept: string, commit: number) => copyOf({ url: '', dataDir: join(kept, String(commit)) })

/** Answers what the next process does about one that died: whether it looks for orders first, or is asked first. */
async function crash(stage: Stage, killAfter: number, kept: string | undefined) {
  const copy = await (kept === undefined ? killed(stage, killAfter) : keptOf(kept, killAfter))
  const outcomes = []
  const doings = doingsAfter(killAfter, stage)
  for (const [nth, doing] of doings.entries()) {
    // The last one may have what the others were given a copy of.
    const database = nth === doings.length - 1 ? copy : await copyOf(copy)
    outcomes.push({ ...(await goOn(stage, database, doing)), doing, what: `killed after commit ${killAfter}, then ${doing.join(', ')}` })
    await database.drop()
  }
  return outcomes
}

/** Every crash is followed by either order of things; on Postgres, where a copy of a database takes long, by them in turns. */
function doingsAfter(killAfter: number, { request }: Stage): Doing[][] {
  if (!request) return [['resume']]
  const both: Doing[][] = [
    ['resume', 'sendAgain'],
    ['sendAgain', 'resume'],
  ]
  return engine === 'sqlite' ? both : both.filter((_, nth) => nth === killAfter % both.length)
}

/** What the next process finds, does and leaves, in this order. What was no request is not sent again. */
async function goOn({ request, startAt }: Stage, database: TestDatabase, doing: readonly Doing[]) {
  await using app = await testApp({}, { database, startAt: startAt + restartMs })
  const found = await booksOf(app)
  const answers: number[] = []
  const states: Books[] = []
  for (const what of doing) {
    if (what === 'resume')
      await Promise.all([resumeOrders(app.deps, Number.MAX_SAFE_INTEGER), workMessages(app.deps, Number.MAX_SAFE_INTEGER)])
    if (request && what === 'sendAgain') {
      answers.push((await app.call(request.method, request.path, request.options)).status)
      await app.jobs.messages()
    }
    if (!request) await app.jobs.closeOrders()
    states.push(await booksOf(app))
  }
  return { found, answers, states, errors: app.logged.filter(({ level }) => level === 'error') }
}

/** Runs tasks, so many at once; their results are in their order. */
async function inTurns<T>(tasks: readonly (() => Promise<T>)[], most: number): Promise<T[]> {
  const results: T[] = []
  const rest = tasks.entries()
  const worker = async () => {
    for (const [at, task] of rest) results[at] = await task()
  }
  await Promise.all(Array.from({ length: most }, worker))
  return results
}

test.each(scenarios)(
  '$name ends the same whichever commit the process dies after, and is answered the same when it is sent again',
  async (scenario) => {
    const stage = await setStage(scenario)
    const kept = engine === 'sqlite' ? temporaryDir() : undefined
    const { end, writes } = await uninterrupted(scenario, stage, kept)
    const untouched = await unharmed(stage)
    const [before, rested, after] = [untouched.found, ...untouched.states, end].map(comparable)
    expect(before).not.toEqual(after)

    if (kept !== undefined) await expectAsKilled(stage, kept, 1 + (scenarios.indexOf(scenario) % writes))
    const crashes = Array.from({ length: writes }, (_, nth) => () => crash(stage, nth + 1, kept))
    for (const { what, doing, found, answers, states, errors } of (await inTurns(crashes, childrenMax)).flat()) {
      expect(violationsOf(found), what).toEqual([])
      expect(errors, what).toEqual([])
      expect(answers, what).toEqual(scenario.status ? [scenario.status] : [])
      const nothingDone = scenario.begun ? !scenario.begun(found) : Bun.deepEquals(comparable(found), before)
      const ends = states.map(comparable)
      const resumedFirst = doing[0] === 'resume'
      if (resumedFirst) expect(ends[0], what).toEqual(nothingDone ? (scenario.begun ? comparable(found) : rested) : after)
      // An order that was on its way went on by itself, and is another when the request comes.
      const goesOnAlone = resumedFirst && nothingDone && !Bun.deepEquals(before, rested)
      if (!goesOnAlone) expect(ends.at(-1), what).toEqual(after)
    }
    await stage.database.drop()
  },
)

/** The files that are kept of a commit are those that a process leaves which dies right after it: shown for one of each scenario. */
async function expectAsKilled(stage: Stage, kept: string, commit: number): Promise<void> {
  const left = await Promise.all([killed(stage, commit), keptOf(kept, commit)])
  const [one, other] = await Promise.all(
    left.map(async (database) => {
      const { found } = await goOn(stage, database, [])
      await database.drop()
      return comparable(found)
    }),
  )
  expect(one).toEqual(other)
}

/** What a process finds that comes after one that did nothing, and what it does about it by itself. */
async function unharmed(stage: Stage) {
  const copy = await copyOf(stage.database)
  const outcome = await goOn(stage, copy, ['resume'])
  await copy.drop()
  return outcome
}

/** The run without a crash: all the others are held to what it ends in. */
async function uninterrupted(
  { status, order, holds, stock, cards }: Scenario,
  stage: Stage,
  keepIn: string | undefined,
): Promise<{ end: Books; writes: number }> {
  const { copy, printed } = await actOn(stage, 0, keepIn)
  const [answered, writes = 0] = (printed ?? '').split(' ').map(Number)
  if (status) expect(answered).toBe(status)
  expect(writes).toBeGreaterThan(0)
  expect(writes).toBeLessThan(writesMax)
  const { found: end } = await goOn(stage, copy, [])
  await copy.drop()
  expect(violationsAtRest(end)).toEqual([])
  expect(end.orders).toMatchObject([order])
  expect(end.orders.map((one) => one.holds)).toEqual([holds])
  expect(end.variants.find(({ trackInventory }) => trackInventory)).toMatchObject(stock)
  expect(end.cards.map(({ balance }) => balance)).toEqual([...cards])
  return { end, writes }
}
