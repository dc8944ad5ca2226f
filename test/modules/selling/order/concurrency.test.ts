/** Parallel requests and jobs: each effect happens at most once. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { sandboxPayments } from '../../../../db/schema/sandbox.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { type Books, booksOf, violationsAtRest, violationsOf } from '../../../support/books.ts'
import { changeProcessor, confirmAtSandbox, connectionLost, sandboxMessage, withInstantTimeout } from '../../../support/sandbox.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hourMs = 60 * 60 * 1000
const times = <T>(count: number, make: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => make(nth))
const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort()
const eventTypes = ({ events }: Books) => events.map(({ type }) => type)
const countEvents = (books: Books, type: string) => eventTypes(books).filter((one) => one === type).length

/** Places an order whose payment waits for the shopper. */
async function placeUnpaidOrder(shop: Selling) {
  const cartId = await shop.cart()
  const { order } = ok(await shop.checkout(cartId, { paymentToken: 'tok_action' })).body
  return { cartId, orderId: order.id as string, paymentId: order.payments[0].id as string }
}

const complete = (app: TestApp, shop: Selling, cartId: string) => app.call('POST', `/cart/${cartId}/complete`, { key: shop.publishableKey })
const cancel = (shop: Selling, orderId: string, key?: string) =>
  shop.post(`/v2/orders/${orderId}/cancel`, {}, key === undefined ? {} : { 'idempotency-key': key })
const fulfil = (shop: Selling, orderId: string) => shop.post(`/v2/orders/${orderId}/fulfil`, {})

describe('parallel checkouts', () => {
  test('sells the last unit to one of many parallel checkouts, rejects the others, and skips no order number', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 1 })
    const carts = await Promise.all(times(20, () => shop.cart()))
    const answers = await Promise.all(carts.map((cartId) => shop.checkout(cartId)))
    expect(statusesOf(answers)).toEqual([201, ...times(19, () => 409)])
    for (const { body } of answers.filter(({ status }) => status === 409)) expect(body.message).toContain('Mug')
    expect(await shop.stock()).toEqual({ onHand: 0, reserved: 0 })
    ok(await shop.count(shop.productId, shop.variantId, { counted: 5 }))
    expect((await shop.placeOrder()).number).toBe(2)
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('places all parallel checkouts when stock suffices, with consecutive order numbers', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 40 })
    const carts = await Promise.all(times(20, () => shop.cart({ quantity: 2 })))
    const tokens = ['tok_success', 'tok_crash', 'tok_decline', 'tok_action']
    const answers = await Promise.all(carts.map((cartId, nth) => shop.checkout(cartId, { paymentToken: tokens[nth % tokens.length] })))
    expect(statusesOf(answers)).toEqual(times(20, () => 201))
    expect(await shop.stock()).toEqual({ onHand: 20, reserved: 20 })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('draws from one gift card in parallel checkouts only while it covers the order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { code } = await shop.giftCard(2_500)
    const carts = await Promise.all(times(5, () => shop.cart()))
    for (const cartId of carts) ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code, cartId } }))
    const answers = await Promise.all(carts.map((cartId) => shop.checkout(cartId)))
    const { orders, cards, ...books } = await booksOf(app)
    expect(violationsAtRest({ orders, cards, ...books })).toEqual([])
    // The card showed enough for each of the five carts, but covers only two orders.
    expect(orders.map(({ giftCardTotal }) => giftCardTotal)).toEqual([1_000, 1_000])
    expect(statusesOf(answers)).toEqual([201, 201, 409, 409, 409])
    expect(cards.map(({ balance }) => balance)).toEqual([500])
  })

  test('places one order for parallel checkouts of one cart under different keys', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const answers = await Promise.all(times(10, (nth) => shop.checkout(cartId, {}, `key-${nth}`)))
    expect(statusesOf(answers)).toEqual([201, ...times(9, () => 409)])
    const books = await booksOf(app)
    expect(books.orders).toHaveLength(1)
    expect(books.sandbox.map(({ captured }) => captured)).toEqual([1_000])
    expect(violationsAtRest(books)).toEqual([])
  })

  test('places one order for parallel checkouts under one key, and tells the others to retry', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const answers = await Promise.all(times(5, () => shop.checkout(cartId, {}, 'once')))
    const bought = answers.filter(({ status }) => status === 201)
    const waiting = answers.filter(({ status }) => status === 409)
    expect(bought.length).toBeGreaterThan(0)
    expect(bought.length + waiting.length).toBe(5)
    expect(new Set(bought.map(({ text }) => text)).size).toBe(1)
    for (const { body, headers } of waiting) {
      expect(body.message).toContain('still being processed')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await shop.checkout(cartId, {}, 'once')).text).toBe(bought[0]?.text ?? '')
    expect((await booksOf(app)).orders).toHaveLength(1)
  })

  test('starts one payment for parallel checkouts after a decline', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }))
    const answers = await Promise.all(times(10, (nth) => shop.checkout(cartId, {}, `key-${nth}`)))
    expect(statusesOf(answers)).toEqual([201, ...times(9, () => 409)])
    const books = await booksOf(app)
    expect(books.payments.map(({ status }) => status)).toEqual(['FAILED', 'CAPTURED'])
    expect(books.sandbox.map(({ captured }) => captured).sort()).toEqual([0, 1_000])
    expect(violationsAtRest(books)).toEqual([])
  })
})

describe('parallel notifications of a payment', () => {
  test.each([
    ['before', false],
    ['during', true],
  ])('completes a payment once when it is confirmed %s many messages, shopper visits and jobs', async (_, isParallel) => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { cartId, paymentId } = await placeUnpaidOrder(shop)
    const confirm = () => confirmAtSandbox(app, paymentId)
    if (!isParallel) expect(await confirm()).toBe(200)
    const types = ['payment.captured', 'payment.authorized', 'payment.captured']
    const answers = await Promise.all([
      ...types.map((type) => sandboxMessage(app, paymentId, type)),
      ...times(3, () => complete(app, shop, cartId)),
      ...(isParallel ? [confirm().then((status) => ({ status }) as Answer), confirm().then((status) => ({ status }) as Answer)] : []),
      ...types.map((type) => sandboxMessage(app, paymentId, type)),
      ...times(3, () => complete(app, shop, cartId)),
      app.jobs.resume().then(() => ({ status: 200 }) as Answer),
    ])
    expect(new Set(statusesOf(answers))).toEqual(new Set([200]))
    // Queries that came too early did not see the payment yet.
    app.clock.advance(2_000)
    expect(ok(await complete(app, shop, cartId)).body.order.status).toBe('CONFIRMED')
    const books = await booksOf(app)
    expect(eventTypes(books)).toEqual(['PLACED', 'PAYMENT_REQUIRES_ACTION', 'PAYMENT_CAPTURED', 'CONFIRMED'])
    expect(books.sandbox).toMatchObject([{ captured: 1_000, refunded: 0 }])
    expect(books.outbox.map(({ event, status }) => [event, status])).toEqual([['order.confirmed', 'PENDING']])
    expect(books.movements.map(({ kind, amount }) => [kind, amount])).toEqual([['CAPTURE', 1_000]])
    expect(violationsAtRest(books)).toEqual([])
  })

  test('either sells or refunds an order whose payment completes while it is cancelled or expires', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 20 })
    const all: Awaited<ReturnType<typeof placeUnpaidOrder>>[] = []
    for (let nth = 0; nth < 8; nth++) all.push(await placeUnpaidOrder(shop))
    app.clock.advance(hourMs)
    await Promise.all([
      ...all.map(({ paymentId }) => confirmAtSandbox(app, paymentId)),
      ...all.slice(4).map(({ orderId }) => cancel(shop, orderId)),
      app.jobs.closeOrders(),
      ...all.map(({ paymentId }) => sandboxMessage(app, paymentId)),
      ...all.map(({ cartId }) => complete(app, shop, cartId)),
    ])
    for (const { paymentId } of all) ok(await sandboxMessage(app, paymentId))
    await app.jobs.closeOrders()
    const books = await booksOf(app)
    expect(violationsAtRest(books)).toEqual([])
    for (const { status, capturedTotal, refundedTotal } of books.orders) {
      expect(['CONFIRMED', 'CANCELLED', 'EXPIRED']).toContain(status)
      expect(capturedTotal - refundedTotal).toBe(status === 'CONFIRMED' ? 1_000 : 0)
    }
  })
})

describe('parallel refunds', () => {
  test('creates one of several parallel full refunds', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await shop.placeOrder()
    const answers = await Promise.all(times(5, () => shop.refund(id)))
    expect(statusesOf(answers)).toEqual([201, 409, 409, 409, 409])
    const books = await booksOf(app)
    expect(books.sandbox).toMatchObject([{ captured: 1_000, refunded: 1_000 }])
    expect(violationsAtRest(books)).toEqual([])
  })

  test('creates parallel partial refunds only up to the captured amount', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await shop.placeOrder()
    const answers = await Promise.all(times(10, () => shop.refund(id, { amount: shop.usd(150) })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(6)
    expect(await shop.order(id)).toMatchObject({ refundedTotal: shop.usd(900), paymentStatus: 'PARTIALLY_REFUNDED' })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('creates one refund for parallel requests under one key', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await shop.placeOrder()
    const answers = await Promise.all(times(5, () => shop.refund(id, { amount: shop.usd(150) }, 'once')))
    expect(statusesOf(answers).every((status) => status === 201 || status === 409)).toBe(true)
    expect((await shop.order(id)).refundedTotal).toEqual(shop.usd(150))
  })

  test('returns all money exactly once when refunds and a cancellation run in parallel', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await shop.placeOrder()
    const [cancelled] = await Promise.all([cancel(shop, id), ...times(4, () => shop.refund(id, { amount: shop.usd(300) }))])
    // A cancellation is refused while refunds are in flight, and accepted afterwards.
    expect([200, 409]).toContain(cancelled.status)
    if (cancelled.status === 409) expect((await cancel(shop, id)).status).toBe(200)
    const books = await booksOf(app)
    expect(books.orders).toMatchObject([{ status: 'CANCELLED', capturedTotal: 1_000, refundedTotal: 1_000 }])
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(violationsAtRest(books)).toEqual([])
  })
})

test('accepts one of several parallel cancellations and fulfilments of an order', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { onHand: 20 })
  for (let round = 0; round < 5; round++) {
    const { id } = await shop.placeOrder()
    const actions = [() => cancel(shop, id), () => fulfil(shop, id), () => cancel(shop, id), () => fulfil(shop, id)]
    const answers = await Promise.all((round % 2 === 0 ? actions : actions.toReversed()).map((action) => action()))
    expect(statusesOf(answers)).toEqual([200, 409, 409, 409])
  }
  const books = await booksOf(app)
  expect(countEvents(books, 'CANCELLED') + countEvents(books, 'FULFILLED')).toBe(5)
  expect((await shop.stock()).onHand).toBe(20 - countEvents(books, 'FULFILLED'))
  expect(violationsAtRest(books)).toEqual([])
})

test('expires each order once when several jobs run in parallel', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  for (let nth = 0; nth < 3; nth++) await placeUnpaidOrder(shop)
  app.clock.advance(hourMs)
  await Promise.all(times(3, () => app.jobs.closeOrders()))
  const books = await booksOf(app)
  expect(countEvents(books, 'EXPIRED')).toBe(3)
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  expect(violationsAtRest(books)).toEqual([])
  expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
})

describe('late money', () => {
  test.each(['EXPIRED', 'CANCELLED'] as const)(
    'refunds late money of an order that is %s, and the order keeps its state',
    async (status) => {
      await using app = await testApp()
      const shop = await sellingIn(app)
      const { cartId, orderId, paymentId } = await placeUnpaidOrder(shop)
      // The shopper pays while the payment is being voided.
      changeProcessor(app, ({ void: voidPayment }) => ({
        async void(name) {
          expect(await confirmAtSandbox(app, paymentId)).toBe(200)
          return voidPayment(name)
        },
      }))
      if (status === 'EXPIRED') {
        app.clock.advance(hourMs)
        await app.jobs.closeOrders()
      } else ok(await cancel(shop, orderId))
      for (let nth = 0; nth < 3; nth++) ok(await sandboxMessage(app, paymentId))
      const order = await shop.order(orderId)
      expect(order).toMatchObject({ status, paymentStatus: 'REFUNDED', capturedTotal: shop.usd(1_000), refundedTotal: shop.usd(1_000) })
      const books = await booksOf(app)
      expect(countEvents(books, 'LATE_CAPTURE')).toBe(1)
      expect(books.sandbox).toMatchObject([{ captured: 1_000, refunded: 1_000 }])
      expect(books.outbox.map(({ event }) => event)).toEqual(status === 'CANCELLED' ? ['order.cancelled'] : [])
      expect(violationsAtRest(books)).toEqual([])
      expect(ok(await complete(app, shop, cartId)).body.order.status).toBe(status)
    },
  )

  test('refunds late money once the processor answers again', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, paymentId } = await placeUnpaidOrder(shop)
    let isUnavailable = true
    const unlessUnavailable =
      <Arguments extends unknown[], T>(call: (...args: Arguments) => Promise<T>) =>
      async (...args: Arguments): Promise<T> => {
        if (isUnavailable) throw connectionLost()
        return call(...args)
      }
    changeProcessor(app, (sandbox) => ({
      void: unlessUnavailable(sandbox.void),
      retrieve: unlessUnavailable(sandbox.retrieve),
      refund: unlessUnavailable(sandbox.refund),
    }))
    app.clock.advance(hourMs)
    await app.jobs.closeOrders()
    expect(await confirmAtSandbox(app, paymentId)).toBe(200)
    ok(await sandboxMessage(app, paymentId))
    expect(await shop.order(orderId)).toMatchObject({ status: 'EXPIRED', capturedTotal: shop.usd(0) })
    isUnavailable = false
    // The message is processed again.
    app.clock.advance(15_000)
    await app.jobs.messages()
    expect(await shop.order(orderId)).toMatchObject({ status: 'EXPIRED', paymentStatus: 'REFUNDED' })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  /** Places an order with a failed payment and a second one. `captureFirstPayment` captures the failed one late. */
  async function placeOrderWithSecondPayment(app: TestApp, shop: Selling, paymentToken = 'tok_success') {
    changeProcessor(app, withInstantTimeout(app))
    const cartId = await shop.cart()
    const declined = ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' })).body.order
    const paymentId: string = declined.payments[0].id
    ok(await shop.checkout(cartId, { paymentToken }))
    const captureFirstPayment = async () => {
      const change = { status: 'CAPTURED', captured: 1_000 } as const
      await app.deps.db.write(async (tx) => void (await tx.update(sandboxPayments).set(change).where(eq(sandboxPayments.id, paymentId))))
      ok(await sandboxMessage(app, paymentId))
    }
    return { orderId: declined.id as string, captureFirstPayment }
  }

  test('confirms an order by a late capture of a failed payment, and voids the payment started meanwhile', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, captureFirstPayment } = await placeOrderWithSecondPayment(app, shop, 'tok_timeout')
    await captureFirstPayment()
    expect(await shop.order(orderId)).toMatchObject({
      status: 'CONFIRMED',
      paymentStatus: 'CAPTURED',
      capturedTotal: shop.usd(1_000),
      payments: [{ status: 'CAPTURED' }, { status: 'VOIDED' }],
    })
    const books = await booksOf(app)
    expect(books.sandbox.map(({ captured, refunded }) => captured - refunded)).toEqual([1_000, 0])
    expect(violationsAtRest(books)).toEqual([])
  })

  test('refunds a late capture of a failed payment when another payment paid the order, which stays unchanged', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, captureFirstPayment } = await placeOrderWithSecondPayment(app, shop)
    await captureFirstPayment()
    const order = await shop.order(orderId)
    expect(order).toMatchObject({
      status: 'CONFIRMED',
      paymentStatus: 'CAPTURED',
      capturedTotal: shop.usd(1_000),
      refundedTotal: shop.usd(0),
    })
    expect(order.payments).toMatchObject([
      { status: 'FAILED', captured: shop.usd(1_000), refunded: shop.usd(1_000) },
      { status: 'CAPTURED', captured: shop.usd(1_000), refunded: shop.usd(0) },
    ])
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('refunds a late capture of a failed payment of a cancelled sale, without counting it in the sale', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { orderId, captureFirstPayment } = await placeOrderWithSecondPayment(app, shop)
    ok(await cancel(shop, orderId))
    await captureFirstPayment()
    expect(await shop.order(orderId)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED' })
    const books = await booksOf(app)
    expect(books.sandbox.map(({ captured, refunded }) => captured - refunded)).toEqual([0, 0])
    expect(violationsAtRest(books)).toEqual([])
  })
})

/** Holds processor calls of one kind until `open` is called. */
function holdCalls(app: TestApp, kind: 'create' | 'capture' | 'refund', where: 'before' | 'after') {
  const reached = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  const wait = async () => {
    reached.resolve()
    await open.promise
  }
  changeProcessor(app, (sandbox) => ({
    async [kind](payment: never) {
      if (where === 'before') await wait()
      const answer = await sandbox[kind](payment)
      if (where === 'after') await wait()
      return answer
    },
  }))
  return { reached: reached.promise, open: () => open.resolve() }
}

describe('cancellation during a call to the processor', () => {
  test.each([
    ['before its create request arrives', 'create', 'before'],
    ['before its create response arrives', 'create', 'after'],
    ['before its capture request arrives', 'capture', 'before'],
    ['before its capture response arrives', 'capture', 'after'],
  ] as const)('leaves no money, stock or authorization when an order is cancelled %s', async (_, kind, where) => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { reached, open } = holdCalls(app, kind, where)
    const checkout = shop.cart().then((cartId) => shop.checkout(cartId))
    await reached
    const [order] = (await booksOf(app)).orders
    ok(await cancel(shop, order?.id ?? ''))
    open()
    expect(ok(await checkout, 201).body.order.status).toBe('CANCELLED')
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })
})

test('rejects fulfilling, cancelling or refunding an order that is being cancelled', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  const { reached, open } = holdCalls(app, 'refund', 'after')
  const cancelled = cancel(shop, id)
  await reached
  for (const answer of [await fulfil(shop, id), await cancel(shop, id), await shop.refund(id)]) {
    expect(answer.status).toBe(409)
    expect(answer.body.message).toContain('being cancelled')
  }
  open()
  expect(ok(await cancelled).body.status).toBe('CANCELLED')
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})

describe('calls that a processor does not answer', () => {
  test.each([
    ['capture', 'capture'],
    ['void', 'void'],
  ] as const)('retries an unanswered %s only when it is due', async (_, kind) => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    let calls = 0
    changeProcessor(app, () => ({
      [kind]: async () => {
        calls++
        throw connectionLost()
      },
    }))
    const cartId = await shop.cart()
    const { order } = ok(await shop.checkout(cartId, { paymentToken: kind === 'capture' ? 'tok_success' : 'tok_action' }), 201).body
    if (kind === 'void') ok(await cancel(shop, order.id))
    expect(calls).toBe(1)
    await app.jobs.resume()
    expect(calls).toBe(1)
    app.clock.advance(10 * 60 * 1000)
    await app.jobs.resume()
    expect(calls).toBe(2)
    expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
    expect(violationsOf(await booksOf(app))).toEqual([])
  })

  test('keeps an undecided payment although its shopper checks it every second', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    // The processor decides after a minute.
    const decidesAt = app.clock.now() + 60_000
    changeProcessor(app, (sandbox) => {
      const undecided = async <Payment extends { state: string }>(payment: Promise<Payment>) =>
        app.clock.now() < decidesAt ? { ...(await payment), state: 'PENDING' as const, authorized: 0 } : payment
      return {
        create: (payment) => undecided(sandbox.create(payment)),
        retrieve: async (name) => {
          const payment = await sandbox.retrieve(name)
          return payment && undecided(Promise.resolve(payment))
        },
      }
    })
    const cartId = await shop.cart()
    ok(await shop.checkout(cartId))
    for (let second = 0; second < 65; second++) {
      app.clock.advance(1_000)
      ok(await complete(app, shop, cartId))
    }
    expect(ok(await complete(app, shop, cartId)).body.order.status).toBe('CONFIRMED')
  })
})

describe('a second payment of an order', () => {
  test('gives a second payment as many queries as the first before it is voided', async () => {
    await using app = await testApp()
    changeProcessor(app, withInstantTimeout(app))
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const pay = async () => ok(await shop.checkout(cartId, { paymentToken: 'tok_timeout' })).body.payment.status
    const countQueriesUntilVoided = async () => {
      for (let nth = 1; ; nth++) {
        app.clock.advance(3 * 60 * 1000)
        await app.jobs.resume()
        if ((await booksOf(app)).payments.at(-1)?.status === 'VOIDED') return nth
      }
    }
    expect(await pay()).toBe('PENDING')
    const first = await countQueriesUntilVoided()
    expect(first).toBeGreaterThan(1)
    expect(await pay()).toBe('PENDING')
    expect(await countQueriesUntilVoided()).toBe(first)
  })
})

describe('one idempotency key for different requests', () => {
  test('treats a cancellation under the idempotency key of a refund as a separate request', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await shop.placeOrder()
    ok(await shop.refund(id, { amount: shop.usd(300) }, 'the-same'))
    expect(ok(await cancel(shop, id, 'the-same')).body).toMatchObject({ status: 'CANCELLED', refundedTotal: shop.usd(1_000) })
  })

  test("treats a merchant's refund under the idempotency key of a secret key's refund as a separate request", async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await shop.placeOrder()
    const headers = { 'idempotency-key': 'the-same' }
    ok(await shop.refund(id, { amount: shop.usd(300) }, 'the-same'))
    const merchants = await app.call('POST', `/v2/orders/${id}/refunds`, { token: shop.token, headers, body: { amount: shop.usd(200) } })
    expect(ok(merchants).body.amount).toEqual(shop.usd(200))
    expect((await shop.order(id)).refundedTotal).toEqual(shop.usd(500))
  })
})
