/** Retries of an interrupted checkout under its key answer with the order that it placed, if any. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { DatabaseOutcomeUnknown } from '../../../../db/engine.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor } from '../../../support/sandbox.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Longer than the lease of a key or of a payment. */
const leasesMs = 31_000

/** Loses the outcome of every commit after the first `writes` until the returned function is called. */
function loseAfter({ deps: { db } }: TestApp, writes: number) {
  const { write } = db
  let left = writes
  const lose = () => Promise.reject(new DatabaseOutcomeUnknown('lost'))
  db.write = (work, options) => (left-- > 0 ? write(work, options) : write(lose, options))
  return () => {
    db.write = write
  }
}

/** Interrupts a checkout after `commits` commits, including the claim of its key. Returns a function to retry it. */
async function interruptCheckout(app: TestApp, shop: Selling, cartId: string, commits: number, body = {}) {
  await app.deps.instanceKeys.of('CLIENT_ADDRESSES')
  await app.deps.orderLinks.ready()
  const restore = loseAfter(app, commits)
  expect((await shop.checkout(cartId, body, 'the-one')).status).toBe(503)
  restore()
  return () => shop.checkout(cartId, body, 'the-one')
}

const cancelCheckout = (app: TestApp, { publishableKey: key }: Selling, cartId: string) =>
  app.call('DELETE', `/cart/${cartId}/checkout`, { key })

for (const addedItems of [0, 3])
  test(`answers the key of a cancelled checkout with its CANCELLED order${addedItems ? ', also when the cart has new items' : ''}`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const retry = await interruptCheckout(app, shop, cartId, 2, { paymentToken: 'tok_action' })
    app.clock.advance(leasesMs)
    ok(await cancelCheckout(app, shop, cartId), 200)
    const item = { variantId: shop.variantId, quantity: addedItems }
    if (addedItems > 0) ok(await app.call('POST', `/cart/${cartId}/items`, { key: shop.publishableKey, body: item }))
    const resumed = ok(await retry(), 201)
    expect(resumed.body).toMatchObject({ order: { number: 1, status: 'CANCELLED', total: shop.usd(1_000) }, payment: { status: 'VOIDED' } })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey })).body.status).toBe('OPEN')
    expect((await retry()).text).toBe(resumed.text)
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

test('answers the key of a cancelled checkout with its own order after another key bought the cart', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  const retry = await interruptCheckout(app, shop, cartId, 2, { paymentToken: 'tok_action' })
  app.clock.advance(leasesMs)
  ok(await cancelCheckout(app, shop, cartId), 200)
  ok(await shop.checkout(cartId, {}, 'another'), 201)
  expect(ok(await retry(), 201).body).toMatchObject({ order: { number: 1, status: 'CANCELLED' }, payment: { status: 'VOIDED' } })
  expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
})

test('answers the key of a second payment with the cancelled order that it belongs to', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }, 'declined'))
  let restore: (() => void) | undefined
  changeProcessor(app, ({ create }) => ({
    async create(payment) {
      const answer = await create(payment)
      restore ??= loseAfter(app, 0)
      return answer
    },
  }))
  const send = () => shop.checkout(cartId, { paymentToken: 'tok_action' }, 'the-one')
  expect((await send()).status).toBe(503)
  restore?.()
  app.clock.advance(leasesMs)
  ok(await cancelCheckout(app, shop, cartId), 200)
  expect(ok(await send(), 201).body.order).toMatchObject({ number: 1, status: 'CANCELLED' })
})

for (const price of [0, 1_000])
  test(`rejects an interrupted checkout without an order after another key bought the cart${price ? '' : ' for free'}`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { price })
    const cartId = await shop.cart()
    const retry = await interruptCheckout(app, shop, cartId, 1)
    ok(await shop.checkout(cartId, {}, 'another'), 201)
    const refused = await retry()
    expect([refused.status, refused.body.message]).toEqual([409, 'This cart was already ordered (order 1)'])
    expect(refused.text).not.toContain('guest@example.com')
  })

test('resumes an interrupted checkout of a free cart with its own order', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 0 })
  const retry = await interruptCheckout(app, shop, await shop.cart(), 2)
  expect(ok(await retry(), 201).body).toMatchObject({
    order: { number: 1, status: 'CONFIRMED', email: 'guest@example.com' },
    payment: { status: 'NOT_REQUIRED' },
  })
})

test('resumes a checkout with its order whose commit took effect only during the resume', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  await app.deps.instanceKeys.of('CLIENT_ADDRESSES')
  await app.deps.orderLinks.ready()
  const { db } = app.deps
  const { write } = db
  let lateCommit: (() => Promise<unknown>) | undefined
  let writes = 0
  db.write = async (work, options) => {
    const nth = ++writes
    // The second write places the order. Its outcome is lost, and it takes effect later.
    if (nth === 2) {
      lateCommit = () => write(work, options)
      return write(() => Promise.reject(new DatabaseOutcomeUnknown('lost')), options)
    }
    // The retry has claimed the key again and has read the cart as open.
    if (nth === 5) {
      await lateCommit?.()
      lateCommit = undefined
    }
    return write(work, options)
  }
  expect((await shop.checkout(cartId, {}, 'the-one')).status).toBe(503)
  const resumed = ok(await shop.checkout(cartId, {}, 'the-one'), 201)
  expect(lateCommit).toBeUndefined()
  expect(resumed.body).toMatchObject({ order: { number: 1, status: 'CONFIRMED' } })
  expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
})

/** Creates a cart whose code another order uses up, before the checkout reads the cart or while it places its order. */
async function cartWithUsedUpCode(app: TestApp, { useUpTime }: { useUpTime: 'before' | 'placing' }) {
  const shop = await sellingIn(app)
  const { publishableKey: key } = shop
  ok(await shop.post('/discounts', { title: 'Once', code: 'ONCE', kind: 'PERCENT', valueBps: 1_000, usageLimit: 1 }), 201)
  const [cartId, other] = [await shop.cart(), await shop.cart({ email: 'other@example.com' })]
  for (const id of [cartId, other]) ok(await app.call('PATCH', `/cart/${id}/discount`, { key, body: { code: 'ONCE' } }))
  const useUp = async () => void ok(await shop.checkout(other), 201)
  if (useUpTime === 'before') await useUp()
  return { shop, cartId, useUp }
}

for (const useUpTime of ['before', 'placing'] as const)
  test(`rejects a checkout with a used-up code (${useUpTime}) the same way on retry, after writes were lost`, async () => {
    await using app = await testApp()
    const { shop, cartId, useUp } = await cartWithUsedUpCode(app, { useUpTime })
    const { instanceKeys } = app.deps
    const { of } = instanceKeys
    await of('CLIENT_ADDRESSES')
    await app.deps.orderLinks.ready()
    // The two commits are the claim of the key and the removal of the code from the cart.
    let lose = useUpTime === 'before' ? loseAfter(app, 2) : undefined
    // This key is read after the cart and before the order is placed.
    if (useUpTime === 'placing')
      instanceKeys.of = async (purpose) => {
        instanceKeys.of = of
        await useUp()
        lose = loseAfter(app, 2)
        return of(purpose)
      }
    const first = await shop.checkout(cartId, {}, 'the-one')
    lose?.()
    expect(first.body).toMatchObject({ statusCode: 409, message: expect.stringContaining('The discount code ONCE is used up') })
    expect((await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey })).body).toMatchObject({ discountCode: null })
    app.clock.advance(leasesMs)
    const retry = await shop.checkout(cartId, {}, 'the-one')
    expect([retry.status, retry.text]).toEqual([409, first.text])
    expect(retry.headers.get('idempotent-replayed')).toBe('true')
    expect(ok(await shop.checkout(cartId, {}, 'another'), 201).body.order).toMatchObject({ total: shop.usd(1_000), discounts: [] })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })
