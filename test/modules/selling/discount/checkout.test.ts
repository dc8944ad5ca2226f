import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { bookProblems } from '../../../support/book-problems.ts'
import { usd } from '../../../support/catalog.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const noDiscount = { statusCode: 404, message: 'No such discount', error: 'Not Found', code: 'not_found' }
const percent = { title: 'Spring', kind: 'PERCENT', valueBps: 1_000 }

async function openWorld(settings: Parameters<typeof sellingIn>[1] = {}) {
  const app = await testApp()
  const shop = await sellingIn(app, { onHand: 1_000, ...settings })
  const createDiscount = async (body: Record<string, unknown>) => ok(await shop.post('/discounts', body), 201).body
  const applyCode = (cart: string, value: string | null) =>
    app.call('PATCH', `/cart/${cart}/discount`, { key: shop.publishableKey, body: { code: value } })
  const readCart = async (cart: string) => ok(await app.call('GET', `/cart/${cart}`, { key: shop.publishableKey })).body
  return { app, shop, createDiscount, applyCode, readCart, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

describe('discounts on a cart', () => {
  test('applies an automatic discount to every cart, and the order has the amounts that the cart showed', async () => {
    await using world = await openWorld()
    const { id } = await world.createDiscount(percent)
    const cart = await world.shop.cart({ quantity: 3 })
    const shown = await world.readCart(cart)
    const applied = [{ id, title: 'Spring', code: null, kind: 'PERCENT', amount: usd(300) }]
    expect(shown).toMatchObject({
      discountCode: null,
      discounts: applied,
      notices: [],
      totals: { subtotal: usd(3_000), discount: usd(300), total: usd(2_700) },
    })
    expect(shown.lines).toMatchObject([{ total: usd(3_000), discount: usd(300) }])
    const { order } = ok(await world.shop.checkout(cart)).body
    expect(order).toMatchObject({
      subtotal: usd(3_000),
      discountTotal: usd(300),
      total: usd(2_700),
      discounts: applied,
      status: 'CONFIRMED',
    })
    expect(order.lines).toMatchObject([{ total: usd(3_000), discount: usd(300) }])
    const sold = await world.readCart(cart)
    expect(sold).toMatchObject({ discounts: applied, totals: shown.totals, lines: [{ discount: usd(300) }] })
    const refund = ok(await world.shop.refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }), 201).body
    expect(refund.amount).toEqual(usd(900))
    expect(await bookProblems(world.app)).toEqual([])
  })

  test('applies a discount code in any letter case, replaces the previous code, and removes it on request', async () => {
    await using world = await openWorld()
    await world.createDiscount({ ...percent, code: 'Spring-10' })
    await world.createDiscount({ title: 'Two off', kind: 'FIXED', amount: usd(200), code: 'two' })
    const cart = await world.shop.cart()
    expect((await world.readCart(cart)).totals.discount).toEqual(usd(0))
    const first = ok(await world.applyCode(cart, 'sPRING-10')).body
    expect(first).toMatchObject({ discountCode: 'Spring-10', discounts: [{ code: 'Spring-10' }], totals: { total: usd(900) } })
    expect(ok(await world.applyCode(cart, 'TWO')).body).toMatchObject({ discountCode: 'two', totals: { total: usd(800) } })
    expect(ok(await world.applyCode(cart, null)).body).toMatchObject({ discountCode: null, discounts: [], totals: { total: usd(1_000) } })
  })

  test('keeps a code that does not apply on the cart, with a notice that states the reason', async () => {
    await using world = await openWorld()
    await world.createDiscount(percent)
    await world.createDiscount({ ...percent, valueBps: 500, code: 'FIVE' })
    await world.createDiscount({ ...percent, valueBps: 9_000, minSubtotal: usd(2_000), code: 'MUCH' })
    const cart = await world.shop.cart()
    expect(ok(await world.applyCode(cart, 'five')).body).toMatchObject({
      discountCode: 'FIVE',
      discounts: [{ code: null }],
      notices: [{ code: 'DISCOUNT_NOT_COUNTED', message: 'The discount code FIVE does not apply, because another discount is larger' }],
    })
    const much = ok(await world.applyCode(cart, 'much')).body
    expect(much.notices).toEqual([
      { code: 'DISCOUNT_NOT_COUNTED', message: 'The discount code MUCH requires a minimum purchase of 20.00 USD of its products' },
    ])
    ok(await world.app.call('PATCH', `/cart/${cart}/items/${much.lines[0].id}`, { key: world.shop.publishableKey, body: { quantity: 2 } }))
    expect(await world.readCart(cart)).toMatchObject({ notices: [], totals: { total: usd(200) } })
  })

  test('makes shipping free in addition to another discount, without counting it in the discount total', async () => {
    await using world = await openWorld()
    ok(await world.shop.put('/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', countries: [], price: usd(500) }] }))
    await world.createDiscount(percent)
    const { id } = await world.createDiscount({ title: 'Free', kind: 'FREE_SHIPPING', code: 'FREE', usageLimit: 1 })
    const cart = await world.shop.cart({ shippingAddress: address })
    const withoutShipping = ok(await world.applyCode(cart, 'free')).body
    expect(withoutShipping.notices[0].message).toContain('but the cart has no paid shipping method yet')
    ok(await world.app.call('PATCH', `/cart/${cart}`, { key: world.shop.publishableKey, body: { shippingMethod: 'post' } }))
    const shown = await world.readCart(cart)
    expect(shown.totals).toMatchObject({ discount: usd(100), shipping: usd(0), total: usd(900) })
    expect(shown.discounts).toMatchObject([{ kind: 'PERCENT' }, { id, kind: 'FREE_SHIPPING', amount: usd(500) }])
    const { order } = ok(await world.shop.checkout(cart)).body
    expect(order).toMatchObject({ discountTotal: usd(100), shippingTotal: usd(0), total: usd(900), discounts: shown.discounts })
    expect((await world.shop.get(`/discounts/${id}`)).body).toMatchObject({ used: 1, usedUp: true })
    expect(await bookProblems(world.app)).toEqual([])
  })

  test('applies a discount of a collection to its products only', async () => {
    await using world = await openWorld()
    const cup = await world.shop.add({ title: 'Cup', variants: [{ price: usd(500), onHand: 10 }] })
    const collection = ok(await world.shop.post('/collection-v2', { title: 'Cups' }), 201).body
    ok(await world.shop.put(`/collection-v2/${collection.id}/products`, { productIds: [cup.id] }))
    await world.createDiscount({ ...percent, collectionIds: [collection.id] })
    const cart = await world.shop.cart()
    expect((await world.readCart(cart)).totals.discount).toEqual(usd(0))
    const added = ok(
      await world.app.call('POST', `/cart/${cart}/items`, {
        key: world.shop.publishableKey,
        body: { variantId: cup.variants[0]?.id, quantity: 1 },
      }),
      201,
    ).body
    expect(added.totals.discount).toEqual(usd(50))
    expect(added.lines.map((line: { discount: unknown }) => line.discount)).toEqual([usd(0), usd(50)])
    ok(await world.shop.put(`/collection-v2/${collection.id}/products`, { productIds: [world.shop.productId] }))
    expect((await world.readCart(cart)).totals.discount).toEqual(usd(100))
  })

  test('rejects a checkout after a discount ended or was used up, and names the discount', async () => {
    await using world = await openWorld()
    const ends = new Date(world.app.clock.now() + minute).toISOString()
    await world.createDiscount({ ...percent, code: 'SOON', endsAt: ends })
    const { id } = await world.createDiscount({ ...percent, title: 'Short', valueBps: 500, endsAt: ends })
    const [coded, plain] = [await world.shop.cart(), await world.shop.cart()]
    ok(await world.applyCode(coded, 'soon'))
    world.app.clock.advance(minute)
    const refused = await world.shop.checkout(coded)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'The cart has changed. The discount code SOON has ended. Read the cart again',
    ])
    expect(await world.readCart(coded)).toMatchObject({ discountCode: null, discounts: [], notices: [], totals: { total: usd(1_000) } })
    expect(ok(await world.shop.checkout(coded)).body.order).toMatchObject({ total: usd(1_000), discounts: [] })
    expect((await world.shop.checkout(plain)).body.message).toBe(
      'The cart has changed. The discount “Short” has ended. Read the cart again',
    )
    expect((await world.shop.get(`/discounts/${id}`)).body.ended).toBe(true)
    await world.createDiscount({ ...percent, code: 'ONCE', usageLimit: 1 })
    const [first, second] = [await world.shop.cart(), await world.shop.cart()]
    ok(await world.applyCode(first, 'once'))
    ok(await world.applyCode(second, 'once'))
    ok(await world.shop.checkout(first))
    expect((await world.shop.checkout(second)).body.message).toBe(
      'The cart has changed. The discount code ONCE is used up. Read the cart again',
    )
    expect((await world.applyCode(await world.shop.cart(), 'once')).body).toEqual(noDiscount)
  })

  test('rejects a checkout after an automatic discount begins or changes, like a price change', async () => {
    await using world = await openWorld()
    const cart = await world.shop.cart()
    const { id } = await world.createDiscount(percent)
    const message = 'The cart has changed. Taxes, shipping or discounts have changed, so the total changed. Read the cart again'
    expect((await world.shop.checkout(cart)).body.message).toBe(message)
    ok(await world.shop.patch(`/discounts/${id}`, { valueBps: 2_000 }))
    expect((await world.shop.checkout(cart)).body.message).toBe(message)
    expect(ok(await world.shop.checkout(cart)).body.order.total).toEqual(usd(800))
  })

  test('rejects every unusable code with the same 404, and limits failed attempts like those of gift cards', async () => {
    await using world = await openWorld()
    const later = new Date(world.app.clock.now() + minute).toISOString()
    await world.createDiscount({ ...percent, code: 'LATER', startsAt: later })
    await world.createDiscount({ ...percent, code: 'OFF', status: 'DISABLED' })
    const deleted = await world.createDiscount({ ...percent, code: 'GONE' })
    ok(await world.shop.delete(`/discounts/${deleted.id}`), 204)
    const cart = await world.shop.cart()
    for (const value of ['LATER', 'OFF', 'GONE', 'never was', '%', '“'])
      expect([value, (await world.applyCode(cart, value)).body]).toEqual([value, noDiscount])
    for (let tries = 6; tries < 10; tries++) expect((await world.applyCode(cart, 'wrong')).status).toBe(404)
    const limited = await world.applyCode(cart, 'wrong')
    expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await world.applyCode(await world.shop.cart(), 'wrong')).status).toBe(404)
  })
})

describe('limits of a discount', () => {
  test('allows as many parallel checkouts with a code as its usage limit, and rejects the others', async () => {
    await using world = await openWorld()
    const { id } = await world.createDiscount({ ...percent, code: 'FEW', usageLimit: 3 })
    const carts = await Promise.all(Array.from({ length: 8 }, (_, at) => world.shop.cart({ email: `guest${at}@example.com` })))
    for (const cart of carts) ok(await world.applyCode(cart, 'few'))
    const answers = await Promise.all(carts.map((cart) => world.shop.checkout(cart)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
    for (const { status, body } of answers) if (status === 409) expect(body.message).toContain('The discount code FEW is used up')
    expect((await world.shop.get(`/discounts/${id}`)).body).toMatchObject({ used: 3, usedUp: true })
    expect(await bookProblems(world.app)).toEqual([])
  })

  test('enforces the total and per-customer limits across two processes', async () => {
    await using world = await openWorld()
    await using second = await testApp({}, { database: world.app.database, startAt: world.app.clock.now(), as: 'command' })
    const { id } = await world.createDiscount({ ...percent, code: 'FEW', usageLimit: 3 })
    await world.createDiscount({ ...percent, code: 'ONE', perCustomerLimit: 1 })
    const boughtAtOnce = async (code: string, emailOf: (at: number) => string) => {
      const carts = await Promise.all(Array.from({ length: 8 }, (_, at) => world.shop.cart({ email: emailOf(at) })))
      for (const cart of carts) ok(await world.applyCode(cart, code))
      const buy = (cart: string, at: number) =>
        (at % 2 ? second : world.app).call('POST', `/cart/${cart}/checkout`, {
          key: world.shop.publishableKey,
          body: { method: 'card' },
          headers: { 'idempotency-key': `${code}-${at}` },
        })
      return (await Promise.all(carts.map(buy))).map(({ status }) => status).sort()
    }
    expect(await boughtAtOnce('FEW', (at) => `guest${at}@example.com`)).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
    expect(await boughtAtOnce('ONE', () => 'guest@example.com')).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
    expect((await world.shop.get(`/discounts/${id}`)).body).toMatchObject({ used: 3, usedUp: true })
    expect(await bookProblems(world.app)).toEqual([])
  })

  test('counts uses per customer by account or by email address in any letter case, also in parallel', async () => {
    await using world = await openWorld()
    await world.createDiscount({ ...percent, code: 'ONE', perCustomerLimit: 1 })
    const carts = await Promise.all(
      Array.from({ length: 4 }, (_, at) => world.shop.cart({ email: at % 2 ? 'Guest@Example.com' : 'guest@example.com' })),
    )
    for (const cart of carts) ok(await world.applyCode(cart, 'one'))
    const answers = await Promise.all(carts.map((cart) => world.shop.checkout(cart)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    for (const { status, body } of answers)
      if (status === 409)
        expect(body.message).toContain('The discount code ONE was already used the maximum number of times by this customer')
    const ownCart = await world.shop.cart({ email: 'GUEST@example.com' })
    expect((await world.applyCode(ownCart, 'one')).status).toBe(404)
    const other = await world.shop.cart({ email: 'other@example.com' })
    ok(await world.applyCode(other, 'one'))
    // With the first shopper's address the cart loses the discount and gets a notice.
    const ownedCart = ok(
      await world.app.call('PATCH', `/cart/${other}`, { key: world.shop.publishableKey, body: { email: 'guest@example.com' } }),
    ).body
    expect(ownedCart).toMatchObject({ discounts: [], notices: [{ code: 'DISCOUNT_NOT_COUNTED' }] })
  })

  test('frees a use when the order fails, but not after a refund', async () => {
    await using world = await openWorld()
    const { id } = await world.createDiscount({ ...percent, code: 'BACK', usageLimit: 2, perCustomerLimit: 2 })
    const used = async () => (await world.shop.get(`/discounts/${id}`)).body.used
    const cart = await world.shop.cart()
    ok(await world.applyCode(cart, 'back'))
    const declined = ok(await world.shop.checkout(cart, { paymentToken: 'tok_decline' })).body
    expect([declined.order.paymentStatus, await used()]).toEqual(['FAILED', 1])
    ok(await world.app.call('DELETE', `/cart/${cart}/checkout`, { key: world.shop.publishableKey }))
    expect(await used()).toBe(0)
    expect((await world.readCart(cart)).discountCode).toBe('BACK')
    ok(await world.shop.checkout(cart, { paymentToken: 'tok_decline' }))
    world.app.clock.advance(61 * minute)
    await world.app.jobs.closeOrders()
    expect(await used()).toBe(0)
    const other = await world.shop.cart()
    ok(await world.applyCode(other, 'back'))
    const { order } = ok(await world.shop.checkout(other)).body
    ok(await world.shop.refund(order.id), 201)
    expect(await used()).toBe(1)
    expect(await bookProblems(world.app)).toEqual([])
  })

  test('frees the use of an order that cost nothing when the order is cancelled', async () => {
    await using world = await openWorld()
    const { id } = await world.createDiscount({ ...percent, valueBps: 10_000, code: 'ALL', usageLimit: 1, perCustomerLimit: 1 })
    const used = async () => (await world.shop.get(`/discounts/${id}`)).body.used
    const cart = await world.shop.cart()
    ok(await world.applyCode(cart, 'all'))
    const { order } = ok(await world.shop.checkout(cart)).body
    expect([order.status, order.total, await used()]).toEqual(['CONFIRMED', usd(0), 1])
    expect(ok(await world.shop.post(`/v2/orders/${order.id}/cancel`, {}), 200).body).toMatchObject({
      status: 'CANCELLED',
      paymentStatus: 'REFUNDED',
      refunds: [],
    })
    expect(await used()).toBe(0)
    ok(await world.applyCode(await world.shop.cart(), 'all'))
    expect(await bookProblems(world.app)).toEqual([])
  })

  test('counts earlier orders when a usage limit is set later', async () => {
    await using world = await openWorld()
    const { id } = await world.createDiscount({ ...percent, code: 'LATE' })
    for (let orders = 0; orders < 2; orders++) {
      const cart = await world.shop.cart({ email: `guest${orders}@example.com` })
      ok(await world.applyCode(cart, 'late'))
      ok(await world.shop.checkout(cart))
    }
    expect((await world.shop.get(`/discounts/${id}`)).body.used).toBeNull()
    expect(ok(await world.shop.patch(`/discounts/${id}`, { usageLimit: 2 })).body).toMatchObject({ used: 2, usedUp: true })
    expect(await bookProblems(world.app)).toEqual([])
  })
})
