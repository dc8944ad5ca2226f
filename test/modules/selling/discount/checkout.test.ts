import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { usd } from '../../../support/catalog.ts'
import { findings } from '../../../support/discounts.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const noDiscount = { statusCode: 404, message: 'No such discount', error: 'Not Found', code: 'not_found' }
const percent = { title: 'Spring', kind: 'PERCENT', valueBps: 1_000 }

async function shopWith(settings: Parameters<typeof sellingIn>[1] = {}) {
  const app = await testApp()
  const shop = await sellingIn(app, { onHand: 1_000, ...settings })
  const discount = async (body: Record<string, unknown>) => ok(await shop.post('/discounts', body), 201).body
  const code = (cart: string, value: string | null) =>
    app.call('PATCH', `/cart/${cart}/discount`, { key: shop.publishableKey, body: { code: value } })
  const read = async (cart: string) => ok(await app.call('GET', `/cart/${cart}`, { key: shop.publishableKey })).body
  return { app, shop, discount, code, read, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

describe('discounts on a cart', () => {
  test('applies an automatic discount to every cart, and the order has the amounts that the cart showed', async () => {
    await using s = await shopWith()
    const { id } = await s.discount(percent)
    const cart = await s.shop.cart({ quantity: 3 })
    const shown = await s.read(cart)
    const counted = [{ id, title: 'Spring', code: null, kind: 'PERCENT', amount: usd(300) }]
    expect(shown).toMatchObject({
      discountCode: null,
      discounts: counted,
      notices: [],
      totals: { subtotal: usd(3_000), discount: usd(300), total: usd(2_700) },
    })
    expect(shown.lines).toMatchObject([{ total: usd(3_000), discount: usd(300) }])
    const { order } = ok(await s.shop.checkout(cart)).body
    expect(order).toMatchObject({
      subtotal: usd(3_000),
      discountTotal: usd(300),
      total: usd(2_700),
      discounts: counted,
      status: 'CONFIRMED',
    })
    expect(order.lines).toMatchObject([{ total: usd(3_000), discount: usd(300) }])
    const sold = await s.read(cart)
    expect(sold).toMatchObject({ discounts: counted, totals: shown.totals, lines: [{ discount: usd(300) }] })
    const back = ok(await s.shop.refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }), 201).body
    expect(back.amount).toEqual(usd(900))
    expect(await findings(s.app)).toEqual([])
  })

  test('applies a discount code in any letter case, replaces the previous code, and removes it on request', async () => {
    await using s = await shopWith()
    await s.discount({ ...percent, code: 'Spring-10' })
    await s.discount({ title: 'Two off', kind: 'FIXED', amount: usd(200), code: 'two' })
    const cart = await s.shop.cart()
    expect((await s.read(cart)).totals.discount).toEqual(usd(0))
    const first = ok(await s.code(cart, 'sPRING-10')).body
    expect(first).toMatchObject({ discountCode: 'Spring-10', discounts: [{ code: 'Spring-10' }], totals: { total: usd(900) } })
    expect(ok(await s.code(cart, 'TWO')).body).toMatchObject({ discountCode: 'two', totals: { total: usd(800) } })
    expect(ok(await s.code(cart, null)).body).toMatchObject({ discountCode: null, discounts: [], totals: { total: usd(1_000) } })
  })

  test('keeps a code that does not apply on the cart, with a notice that states the reason', async () => {
    await using s = await shopWith()
    await s.discount(percent)
    await s.discount({ ...percent, valueBps: 500, code: 'FIVE' })
    await s.discount({ ...percent, valueBps: 9_000, minSubtotal: usd(2_000), code: 'MUCH' })
    const cart = await s.shop.cart()
    expect(ok(await s.code(cart, 'five')).body).toMatchObject({
      discountCode: 'FIVE',
      discounts: [{ code: null }],
      notices: [{ code: 'DISCOUNT_NOT_COUNTED', message: 'The discount code FIVE does not apply, because another discount is larger' }],
    })
    const much = ok(await s.code(cart, 'much')).body
    expect(much.notices).toEqual([
      { code: 'DISCOUNT_NOT_COUNTED', message: 'The discount code MUCH requires a minimum purchase of 20.00 USD of its products' },
    ])
    ok(await s.app.call('PATCH', `/cart/${cart}/items/${much.lines[0].id}`, { key: s.shop.publishableKey, body: { quantity: 2 } }))
    expect(await s.read(cart)).toMatchObject({ notices: [], totals: { total: usd(200) } })
  })

  test('makes shipping free in addition to another discount, without counting it in the discount total', async () => {
    await using s = await shopWith()
    ok(await s.shop.put('/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', countries: [], price: usd(500) }] }))
    await s.discount(percent)
    const { id } = await s.discount({ title: 'Free', kind: 'FREE_SHIPPING', code: 'FREE', usageLimit: 1 })
    const cart = await s.shop.cart({ shippingAddress: address })
    const early = ok(await s.code(cart, 'free')).body
    expect(early.notices[0].message).toContain('but the cart has no paid shipping method yet')
    ok(await s.app.call('PATCH', `/cart/${cart}`, { key: s.shop.publishableKey, body: { shippingMethod: 'post' } }))
    const shown = await s.read(cart)
    expect(shown.totals).toMatchObject({ discount: usd(100), shipping: usd(0), total: usd(900) })
    expect(shown.discounts).toMatchObject([{ kind: 'PERCENT' }, { id, kind: 'FREE_SHIPPING', amount: usd(500) }])
    const { order } = ok(await s.shop.checkout(cart)).body
    expect(order).toMatchObject({ discountTotal: usd(100), shippingTotal: usd(0), total: usd(900), discounts: shown.discounts })
    expect((await s.shop.get(`/discounts/${id}`)).body).toMatchObject({ used: 1, usedUp: true })
    expect(await findings(s.app)).toEqual([])
  })

  test('applies a discount of a collection to its products only', async () => {
    await using s = await shopWith()
    const cup = await s.shop.add({ title: 'Cup', variants: [{ price: usd(500), onHand: 10 }] })
    const collection = ok(await s.shop.post('/collection-v2', { title: 'Cups' }), 201).body
    ok(await s.shop.put(`/collection-v2/${collection.id}/products`, { productIds: [cup.id] }))
    await s.discount({ ...percent, collectionIds: [collection.id] })
    const cart = await s.shop.cart()
    expect((await s.read(cart)).totals.discount).toEqual(usd(0))
    const added = ok(
      await s.app.call('POST', `/cart/${cart}/items`, {
        key: s.shop.publishableKey,
        body: { variantId: cup.variants[0]?.id, quantity: 1 },
      }),
      201,
    ).body
    expect(added.totals.discount).toEqual(usd(50))
    expect(added.lines.map((line: { discount: unknown }) => line.discount)).toEqual([usd(0), usd(50)])
    ok(await s.shop.put(`/collection-v2/${collection.id}/products`, { productIds: [s.shop.productId] }))
    expect((await s.read(cart)).totals.discount).toEqual(usd(100))
  })

  test('rejects a checkout after a discount ended or was used up, and names the discount', async () => {
    await using s = await shopWith()
    const ends = new Date(s.app.clock.now() + minute).toISOString()
    await s.discount({ ...percent, code: 'SOON', endsAt: ends })
    const { id } = await s.discount({ ...percent, title: 'Short', valueBps: 500, endsAt: ends })
    const [coded, plain] = [await s.shop.cart(), await s.shop.cart()]
    ok(await s.code(coded, 'soon'))
    s.app.clock.advance(minute)
    const refused = await s.shop.checkout(coded)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'The cart has changed. The discount code SOON has ended. Read the cart again',
    ])
    expect(await s.read(coded)).toMatchObject({ discountCode: null, discounts: [], notices: [], totals: { total: usd(1_000) } })
    expect(ok(await s.shop.checkout(coded)).body.order).toMatchObject({ total: usd(1_000), discounts: [] })
    expect((await s.shop.checkout(plain)).body.message).toBe('The cart has changed. The discount “Short” has ended. Read the cart again')
    expect((await s.shop.get(`/discounts/${id}`)).body.ended).toBe(true)
    await s.discount({ ...percent, code: 'ONCE', usageLimit: 1 })
    const [first, second] = [await s.shop.cart(), await s.shop.cart()]
    ok(await s.code(first, 'once'))
    ok(await s.code(second, 'once'))
    ok(await s.shop.checkout(first))
    expect((await s.shop.checkout(second)).body.message).toBe(
      'The cart has changed. The discount code ONCE is used up. Read the cart again',
    )
    expect((await s.code(await s.shop.cart(), 'once')).body).toEqual(noDiscount)
  })

  test('rejects a checkout after an automatic discount begins or changes, like a price change', async () => {
    await using s = await shopWith()
    const cart = await s.shop.cart()
    const { id } = await s.discount(percent)
    const told = 'The cart has changed. Taxes, shipping or discounts have changed, so the total changed. Read the cart again'
    expect((await s.shop.checkout(cart)).body.message).toBe(told)
    ok(await s.shop.patch(`/discounts/${id}`, { valueBps: 2_000 }))
    expect((await s.shop.checkout(cart)).body.message).toBe(told)
    expect(ok(await s.shop.checkout(cart)).body.order.total).toEqual(usd(800))
  })

  test('rejects every unusable code with the same 404, and limits failed attempts like those of gift cards', async () => {
    await using s = await shopWith()
    const later = new Date(s.app.clock.now() + minute).toISOString()
    await s.discount({ ...percent, code: 'LATER', startsAt: later })
    await s.discount({ ...percent, code: 'OFF', status: 'DISABLED' })
    const gone = await s.discount({ ...percent, code: 'GONE' })
    ok(await s.shop.delete(`/discounts/${gone.id}`), 204)
    const cart = await s.shop.cart()
    for (const value of ['LATER', 'OFF', 'GONE', 'never was', '%', '“'])
      expect([value, (await s.code(cart, value)).body]).toEqual([value, noDiscount])
    for (let tries = 6; tries < 10; tries++) expect((await s.code(cart, 'wrong')).status).toBe(404)
    const limited = await s.code(cart, 'wrong')
    expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await s.code(await s.shop.cart(), 'wrong')).status).toBe(404)
  })
})

describe('limits of a discount', () => {
  test('allows as many parallel checkouts with a code as its usage limit, and rejects the others', async () => {
    await using s = await shopWith()
    const { id } = await s.discount({ ...percent, code: 'FEW', usageLimit: 3 })
    const carts = await Promise.all(Array.from({ length: 8 }, (_, at) => s.shop.cart({ email: `guest${at}@example.com` })))
    for (const cart of carts) ok(await s.code(cart, 'few'))
    const answers = await Promise.all(carts.map((cart) => s.shop.checkout(cart)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
    for (const { status, body } of answers) if (status === 409) expect(body.message).toContain('The discount code FEW is used up')
    expect((await s.shop.get(`/discounts/${id}`)).body).toMatchObject({ used: 3, usedUp: true })
    expect(await findings(s.app)).toEqual([])
  })

  test('enforces the total and per-customer limits across two processes', async () => {
    await using s = await shopWith()
    await using second = await testApp({}, { database: s.app.database, startAt: s.app.clock.now(), as: 'command' })
    const { id } = await s.discount({ ...percent, code: 'FEW', usageLimit: 3 })
    await s.discount({ ...percent, code: 'ONE', perCustomerLimit: 1 })
    const boughtAtOnce = async (code: string, emailOf: (at: number) => string) => {
      const carts = await Promise.all(Array.from({ length: 8 }, (_, at) => s.shop.cart({ email: emailOf(at) })))
      for (const cart of carts) ok(await s.code(cart, code))
      const buy = (cart: string, at: number) =>
        (at % 2 ? second : s.app).call('POST', `/cart/${cart}/checkout`, {
          key: s.shop.publishableKey,
          body: { method: 'card' },
          headers: { 'idempotency-key': `${code}-${at}` },
        })
      return (await Promise.all(carts.map(buy))).map(({ status }) => status).sort()
    }
    expect(await boughtAtOnce('FEW', (at) => `guest${at}@example.com`)).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
    expect(await boughtAtOnce('ONE', () => 'guest@example.com')).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
    expect((await s.shop.get(`/discounts/${id}`)).body).toMatchObject({ used: 3, usedUp: true })
    expect(await findings(s.app)).toEqual([])
  })

  test('counts uses per customer by account or by email address in any letter case, also in parallel', async () => {
    await using s = await shopWith()
    await s.discount({ ...percent, code: 'ONE', perCustomerLimit: 1 })
    const carts = await Promise.all(
      Array.from({ length: 4 }, (_, at) => s.shop.cart({ email: at % 2 ? 'Guest@Example.com' : 'guest@example.com' })),
    )
    for (const cart of carts) ok(await s.code(cart, 'one'))
    const answers = await Promise.all(carts.map((cart) => s.shop.checkout(cart)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    for (const { status, body } of answers)
      if (status === 409)
        expect(body.message).toContain('The discount code ONE was already used the maximum number of times by this customer')
    const own = await s.shop.cart({ email: 'GUEST@example.com' })
    expect((await s.code(own, 'one')).status).toBe(404)
    const other = await s.shop.cart({ email: 'other@example.com' })
    ok(await s.code(other, 'one'))
    // The same cart with another's address: it does not count any more, and says so.
    const mine = ok(await s.app.call('PATCH', `/cart/${other}`, { key: s.shop.publishableKey, body: { email: 'guest@example.com' } })).body
    expect(mine).toMatchObject({ discounts: [], notices: [{ code: 'DISCOUNT_NOT_COUNTED' }] })
  })

  test('frees a use when the order fails, but not after a refund', async () => {
    await using s = await shopWith()
    const { id } = await s.discount({ ...percent, code: 'BACK', usageLimit: 2, perCustomerLimit: 2 })
    const used = async () => (await s.shop.get(`/discounts/${id}`)).body.used
    const cart = await s.shop.cart()
    ok(await s.code(cart, 'back'))
    const declined = ok(await s.shop.checkout(cart, { paymentToken: 'tok_decline' })).body
    expect([declined.order.paymentStatus, await used()]).toEqual(['FAILED', 1])
    ok(await s.app.call('DELETE', `/cart/${cart}/checkout`, { key: s.shop.publishableKey }))
    expect(await used()).toBe(0)
    expect((await s.read(cart)).discountCode).toBe('BACK')
    ok(await s.shop.checkout(cart, { paymentToken: 'tok_decline' }))
    s.app.clock.advance(61 * minute)
    await s.app.jobs.closeOrders()
    expect(await used()).toBe(0)
    const other = await s.shop.cart()
    ok(await s.code(other, 'back'))
    const { order } = ok(await s.shop.checkout(other)).body
    ok(await s.shop.refund(order.id), 201)
    expect(await used()).toBe(1)
    expect(await findings(s.app)).toEqual([])
  })

  test('counts earlier orders when a usage limit is set later', async () => {
    await using s = await shopWith()
    const { id } = await s.discount({ ...percent, code: 'LATE' })
    for (let orders = 0; orders < 2; orders++) {
      const cart = await s.shop.cart({ email: `guest${orders}@example.com` })
      ok(await s.code(cart, 'late'))
      ok(await s.shop.checkout(cart))
    }
    expect((await s.shop.get(`/discounts/${id}`)).body.used).toBeNull()
    expect(ok(await s.shop.patch(`/discounts/${id}`, { usageLimit: 2 })).body).toMatchObject({ used: 2, usedUp: true })
    expect(await findings(s.app)).toEqual([])
  })
})
