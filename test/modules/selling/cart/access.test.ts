/** Access to carts, and the personal data in them. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Database } from '../../../../db/engine.ts'
import { attempts, auditLog, idempotencyKeys } from '../../../../db/schema/people.ts'
import { carts } from '../../../../db/schema/selling.ts'
import { expireCarts } from '../../../../src/modules/selling/cart/index.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { cartWith, home, shopperOf, storeIn, tryConversion } from '../../../support/carts.ts'
import { customerIn } from '../../../support/customers.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const day = 24 * 60 * 60 * 1000
const notFound = '404 {"statusCode":404,"message":"No such cart","error":"Not Found","code":"not_found"}'
const textOf = ({ status, text }: Answer) => `${status} ${text}`

type Shopper = ReturnType<typeof shopperOf>

/** Sends every kind of cart request. If all of them are refused, the cart stays unchanged. */
async function tryEveryRequest(shopper: Shopper, id: string, lineId: string, variantId: string): Promise<Answer[]> {
  return [
    await shopper.cart(id),
    await shopper.change(id, { email: 'eve@example.com' }),
    await shopper.add(id, variantId),
    await shopper.changeLine(id, lineId, 2),
    await shopper.removeLine(id, lineId),
    await shopper.apply('0000-0000-0000-0000', id),
    await shopper.unapply({ cartId: id }),
  ]
}

async function customersOf(app: TestApp, store: Awaited<ReturnType<typeof storeIn>>) {
  const [ada, eve] = [await customerIn(app, store.shop), await customerIn(app, store.shop)]
  return { ada: { ...ada, ...shopperOf(app, { token: ada.token }) }, eve: shopperOf(app, { token: eve.token }) }
}

/** Converts a cart the way an order does. Returns whether it succeeded. */
async function convert(app: TestApp, id: string, seenAt?: number): Promise<boolean> {
  const updatedAt = seenAt ?? (await app.deps.cartStore.find(id))?.updatedAt ?? 0
  return tryConversion(app, { id, updatedAt })
}
const convertSuccessfully = async (app: TestApp, id: string) => expect(await convert(app, id)).toBe(true)

describe("access to a customer's cart", () => {
  test("opens a customer's cart to the customer and the secret key only, and answers everyone else with 404", async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { ada, eve } = await customersOf(app, store)
    const variantId = await store.variant('Lamp', 1_000)
    const { body: cart } = await ada.begin({ email: 'ada@example.com', shippingAddress: home })
    const { body: before } = await ada.add(cart.id, variantId)
    expect(before.customerId).toBe(ada.id)
    const lineId = before.lines[0].id
    const otherStore = await storeIn(app)
    const stranger = await customersOf(app, otherStore)
    for (const other of [store.guest, eve, otherStore.guest, otherStore.server, stranger.ada]) {
      const answers = await tryEveryRequest(other, cart.id, lineId, variantId)
      expect(answers.map(textOf)).toEqual(Array(7).fill(notFound))
    }
    expect((await ada.cart(cart.id)).body).toEqual(before)
    expect((await store.server.cart(cart.id)).body).toEqual(before)
    const changed = await store.server.changeLine(cart.id, lineId, 2)
    expect([changed.status, changed.body.customerId]).toEqual([200, ada.id])
  })

  test("lets only the shop's own merchant apply and remove gift cards on a customer's cart", async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { ada } = await customersOf(app, store)
    const { body: cart } = await ada.begin()
    const { code } = await store.giftCard()
    const other = await storeIn(app)
    expect(textOf(await other.owner.apply(code, cart.id))).toBe(notFound)
    expect(textOf(await other.owner.unapply({ cartId: cart.id }))).toBe(notFound)
    expect((await store.owner.apply(code, cart.id)).body).toMatchObject({ customerId: ada.id, giftCards: [{ last4: code.slice(-4) }] })
    expect((await store.owner.unapply({ cartId: cart.id })).body).toMatchObject({ customerId: ada.id, giftCards: [] })
    expect((await store.owner.cart(cart.id)).status).toBe(403)
  })
})

describe("access to a guest's cart", () => {
  test("opens a guest's cart to any key of its shop, and assigns it to the customer who changes it, not reads it", async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { ada, eve } = await customersOf(app, store)
    const { id, lineId, variantId } = await cartWith(store)
    expect((await store.server.cart(id)).status).toBe(200)
    expect((await ada.cart(id)).body.customerId).toBeNull()
    expect((await store.guest.cart(id)).status).toBe(200)
    expect((await ada.changeLine(id, lineId, 2)).body.customerId).toBe(ada.id)
    expect(textOf(await store.guest.cart(id))).toBe(notFound)
    expect((await tryEveryRequest(eve, id, lineId, variantId)).map(textOf)).toEqual(Array(7).fill(notFound))
  })

  test("answers 404 for a guest's cart to keys and customers of another shop", async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const other = await storeIn(app)
    const { ada } = await customersOf(app, other)
    const { id, lineId, variantId } = await cartWith(store)
    for (const shopper of [other.guest, other.server, ada])
      expect((await tryEveryRequest(shopper, id, lineId, variantId)).map(textOf)).toEqual(Array(7).fill(notFound))
    expect(textOf(await store.guest.cart('cart_00000000000000000000000000'))).toBe(notFound)
  })
})

describe('closed carts', () => {
  test('shows no personal data of a converted cart, and rejects changes with 409', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id, lineId, variantId } = await cartWith(store)
    await store.guest.change(id, { email: 'ada@example.com', shippingAddress: home, billingAddress: home })
    await convertSuccessfully(app, id)
    const { status, text, body } = await store.guest.cart(id)
    expect([status, body.status, body.lines.length]).toEqual([200, 'CONVERTED', 1])
    expect(text).not.toMatch(/ada@example|Lovelace|Analytical/)
    expect(body).toMatchObject({ email: null, shippingAddress: null, billingAddress: null })
    const [, ...changes] = await tryEveryRequest(store.guest, id, lineId, variantId)
    expect(changes.map((answer) => [answer.status, answer.body.message])).toEqual(Array(6).fill([409, 'The cart was already ordered']))
    const [row] = await app.deps.db.read.select().from(carts)
    expect(row).toMatchObject({ email: null, shippingAddress: null, billingAddress: null })
  })

  test('shows a cart as expired exactly thirty days after its last change', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id, lineId, variantId } = await cartWith(store)
    app.clock.advance(10 * day)
    await store.guest.change(id, { email: 'ada@example.com' })
    app.clock.advance(30 * day - 1)
    expect((await store.guest.cart(id)).body).toMatchObject({ status: 'OPEN', email: 'ada@example.com' })
    app.clock.advance(1)
    expect((await store.guest.cart(id)).body).toMatchObject({ status: 'EXPIRED', email: null })
    const [, ...changes] = await tryEveryRequest(store.guest, id, lineId, variantId)
    expect(changes.map((answer) => answer.status)).toEqual(Array(6).fill(409))
    expect(await convert(app, id)).toBe(false)
  })

  test('expires carts and removes their personal data in a job with several writes, and keeps other carts', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const personalData = { email: 'ada@example.com', shippingAddress: home, billingAddress: home }
    await Promise.all(Array.from({ length: 450 }, () => store.guest.begin(personalData)))
    const { body: convertedCart } = await store.guest.begin(personalData)
    await convertSuccessfully(app, convertedCart.id)
    app.clock.advance(30 * day - 1)
    const { body: open } = await store.guest.begin(personalData)
    app.clock.advance(1)
    let writes = 0
    const write: Database['write'] = (work) => {
      writes++
      return app.deps.db.write(work)
    }
    await expireCarts({ ...app.deps, db: { ...app.deps.db, write } })
    expect(writes).toBe(3)
    const expired = await app.deps.db.read.select().from(carts).where(eq(carts.status, 'EXPIRED'))
    expect(expired.length).toBe(450)
    for (const { email, shippingAddress, billingAddress } of expired)
      expect([email, shippingAddress, billingAddress]).toEqual([null, null, null])
    expect((await store.guest.cart(open.id)).body).toMatchObject({ status: 'OPEN', ...personalData, shippingAddress: { city: home.city } })
    expect((await store.guest.cart(convertedCart.id)).body.status).toBe('CONVERTED')
  })

  test('converts a cart once under parallel attempts, and not when it changed since it was read', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id } = await cartWith(store)
    const [before] = await app.deps.db.read.select().from(carts)
    // The clock does not advance, so the change has the same millisecond.
    await store.guest.change(id, { email: 'ada@example.com' })
    expect(await convert(app, id, before?.updatedAt)).toBe(false)
    const [current] = await app.deps.db.read.select().from(carts)
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => convert(app, id, current?.updatedAt)))
    expect(outcomes.filter(Boolean).length).toBe(1)
  })
})

describe('credentials for carts', () => {
  test('answers cart requests with 401 without a valid credential, and with 403 for a super admin', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id, lineId, variantId } = await cartWith(store)
    const nobody = shopperOf(app, {})
    for (const shopper of [nobody, shopperOf(app, { key: 'pk_test_nonsense' }), shopperOf(app, { token: 'a.b.c' })]) {
      const answers = [...(await tryEveryRequest(shopper, id, lineId, variantId)), await shopper.begin()]
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(401))
    }
    const admin = await app.superAdmin()
    const root = shopperOf(app, { token: admin.token })
    const answers = [...(await tryEveryRequest(root, id, lineId, variantId)), await root.begin()]
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(403))
  })
})

describe('the id of a cart', () => {
  test('keeps the id of a cart out of the log and out of stored idempotent requests', async () => {
    await using app = await testApp()
    const store = await storeIn(app)
    const { id, lineId, variantId } = await cartWith(store)
    await tryEveryRequest(store.guest, id, lineId, variantId)
    await tryEveryRequest(shopperOf(app, {}), id, lineId, variantId)
    await store.guest.call('POST', `/cart/${id}/items`, { variantId, quantity: 1 }, { 'idempotency-key': 'k-1' })
    const lines = app.logged.map((line) => JSON.stringify(line))
    expect(lines.filter((line) => line.includes('/cart/:id/items')).length).toBeGreaterThan(2)
    const suffix = id.slice('cart_'.length)
    expect(lines.filter((line) => line.includes(suffix))).toEqual([])
    const { read } = app.deps.db
    const storedRows = [await read.select().from(idempotencyKeys), await read.select().from(auditLog), await read.select().from(attempts)]
    expect(storedRows[0]?.length).toBe(1)
    expect(JSON.stringify(storedRows)).not.toContain(suffix)
  })

  test('generates random cart ids without a common time prefix', async () => {
    await using app = await testApp()
    const { guest } = await storeIn(app)
    const ids: string[] = []
    for (let nth = 0; nth < 20; nth++) ids.push((await guest.begin()).body.id)
    expect(new Set(ids.map((id) => id.slice(0, 12))).size).toBe(20)
  })
})
