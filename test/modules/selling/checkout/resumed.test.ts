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

/** Loses the database during every commit after so many, until `back` is called. */
function lostAfter({ deps: { db } }: TestApp, writes: number) {
  const { write } = db
  let left = writes
  const lose = () => Promise.reject(new DatabaseOutcomeUnknown('lost'))
  db.write = (work, options) => (left-- > 0 ? write(work, options) : write(lose, options))
  return () => {
    db.write = write
  }
}

/** A checkout whose process vanishes after so many commits, the claim of its key counted in. */
async function vanishing(app: TestApp, shop: Selling, cartId: string, commits: number, body = {}) {
  await app.deps.instanceKeys.of('CLIENT_ADDRESSES')
  await app.deps.orderLinks.ready()
  const back = lostAfter(app, commits)
  expect((await shop.checkout(cartId, body, 'the-one')).status).toBe(503)
  back()
  return () => shop.checkout(cartId, body, 'the-one')
}

const takeBack = (app: TestApp, { publishableKey: key }: Selling, cartId: string) => app.call('DELETE', `/cart/${cartId}/checkout`, { key })

for (const more of [0, 3])
  test(`answers the key of a cancelled checkout with its CANCELLED order${more ? ', also when the cart has new items' : ''}`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const again = await vanishing(app, shop, cartId, 2, { paymentToken: 'tok_action' })
    app.clock.advance(leasesMs)
    ok(await takeBack(app, shop, cartId), 200)
    const item = { variantId: shop.variantId, quantity: more }
    if (more > 0) ok(await app.call('POST', `/cart/${cartId}/items`, { key: shop.publishableKey, body: item }))
    const resumed = ok(await again(), 201)
    expect(resumed.body).toMatchObject({ order: { number: 1, status: 'CANCELLED', total: shop.usd(1_000) }, payment: { status: 'VOIDED' } })
    expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    expect(ok(await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey })).body.status).toBe('OPEN')
    expect((await again()).text).toBe(resumed.text)
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

test('answers the key of a cancelled checkout with its own order after another key bought the cart', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  const again = await vanishing(app, shop, cartId, 2, { paymentToken: 'tok_action' })
  app.clock.advance(leasesMs)
  ok(await takeBack(app, shop, cartId), 200)
  ok(await shop.checkout(cartId, {}, 'another'), 201)
  expect(ok(await again(), 201).body).toMatchObject({ order: { number: 1, status: 'CANCELLED' }, payment: { status: 'VOIDED' } })
  expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
})

test('answers the key of a second payment with the cancelled order that it belongs to', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart()
  ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }, 'declined'))
  let back: (() => void) | undefined
  changeProcessor(app, ({ create }) => ({
    async create(payment) {
      const said = await create(payment)
      back ??= lostAfter(app, 0)
      return said
    },
  }))
  const send = () => shop.checkout(cartId, { paymentToken: 'tok_action' }, 'the-one')
  expect((await send()).status).toBe(503)
  back?.()
  app.clock.advance(leasesMs)
  ok(await takeBack(app, shop, cartId), 200)
  expect(ok(await send(), 201).body.order).toMatchObject({ number: 1, status: 'CANCELLED' })
})

for (const price of [0, 1_000])
  test(`rejects an interrupted checkout without an order after another key bought the cart${price ? '' : ' for free'}`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { price })
    const cartId = await shop.cart()
    const again = await vanishing(app, shop, cartId, 1)
    ok(await shop.checkout(cartId, {}, 'another'), 201)
    const refused = await again()
    expect([refused.status, refused.body.message]).toEqual([409, 'This cart was already ordered (order 1)'])
    expect(refused.text).not.toContain('guest@example.com')
  })

test('resumes an interrupted checkout of a free cart with its own order', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 0 })
  const again = await vanishing(app, shop, await shop.cart(), 2)
  expect(ok(await again(), 201).body).toMatchObject({
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
  let late: (() => Promise<unknown>) | undefined
  let writes = 0
  db.write = async (work, options) => {
    const nth = ++writes
    // The claim of the key, and the order, of which nobody hears.
    if (nth === 2) {
      late = () => write(work, options)
      return write(() => Promise.reject(new DatabaseOutcomeUnknown('lost')), options)
    }
    // The key is handed over and claimed again: by then the cart was read, and was open.
    if (nth === 5) {
      await late?.()
      late = undefined
    }
    return write(work, options)
  }
  expect((await shop.checkout(cartId, {}, 'the-one')).status).toBe(503)
  const resumed = ok(await shop.checkout(cartId, {}, 'the-one'), 201)
  expect(late).toBeUndefined()
  expect(resumed.body).toMatchObject({ order: { number: 1, status: 'CONFIRMED' } })
  expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
})

/** A cart with a code that another has used up by now: before the checkout reads it, or while it places its order. */
async function usedUp(app: TestApp, { when }: { when: 'before' | 'placing' }) {
  const shop = await sellingIn(app)
  const { publishableKey: key } = shop
  ok(await shop.post('/discounts', { title: 'Once', code: 'ONCE', kind: 'PERCENT', valueBps: 1_000, usageLimit: 1 }), 201)
  const [cartId, other] = [await shop.cart(), await shop.cart({ email: 'other@example.com' })]
  for (const id of [cartId, other]) ok(await app.call('PATCH', `/cart/${id}/discount`, { key, body: { code: 'ONCE' } }))
  const useUp = async () => void ok(await shop.checkout(other), 201)
  if (when === 'before') await useUp()
  return { shop, cartId, useUp }
}

for (const when of ['before', 'placing'] as const)
  test(`rejects a checkout with a used-up code (${when}) the same way on retry, after writes were lost`, async () => {
    await using app = await testApp()
    const { shop, cartId, useUp } = await usedUp(app, { when })
    const { instanceKeys } = app.deps
    const { of } = instanceKeys
    await of('CLIENT_ADDRESSES')
    await app.deps.orderLinks.ready()
    // The claim of the key, and the cart without the code.
    let lose = when === 'before' ? lostAfter(app, 2) : undefined
    // Asked for behind the look at the cart, and before the order is placed, which is refused.
    if (when === 'placing')
      instanceKeys.of = async (purpose) => {
        instanceKeys.of = of
        await useUp()
        lose = lostAfter(app, 2)
        return of(purpose)
      }
    const first = await shop.checkout(cartId, {}, 'the-one')
    lose?.()
    expect(first.body).toMatchObject({ statusCode: 409, message: expect.stringContaining('The discount code ONCE is used up') })
    expect((await app.call('GET', `/cart/${cartId}`, { key: shop.publishableKey })).body).toMatchObject({ discountCode: null })
    app.clock.advance(leasesMs)
    const again = await shop.checkout(cartId, {}, 'the-one')
    expect([again.status, again.text]).toEqual([409, first.text])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(ok(await shop.checkout(cartId, {}, 'another'), 201).body.order).toMatchObject({ total: shop.usd(1_000), discounts: [] })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })
