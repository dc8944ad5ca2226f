/** Tests the verification of email addresses, which assigns earlier guest orders to the customer. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { orders } from '../../../../db/schema/selling.ts'
import { guestOrdersPerWrite } from '../../../../src/modules/selling/order/placing/guest-orders.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { shopIn } from '../../../support/catalog.ts'
import { customerIn } from '../../../support/customers.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows, sendMails } from '../../../support/mails.ts'
import { type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Server = Awaited<ReturnType<typeof mailServer>>
type Customer = Awaited<ReturnType<typeof customerIn>>
const minute = 60_000

/** Returns the token in the last mail of a kind to an address. Mails to several addresses arrive in any order. */
const tokenOf = (server: Server, kind: 'verify' | 'reset', email: string): string =>
  server.received
    .filter(({ to }) => to.includes(email))
    .flatMap(({ text }) => new RegExp(`/pages/${kind}/([\\w-]{43})`).exec(text ?? '')?.[1] ?? [])
    .at(-1) ?? ''
const send = (customer: Customer) => customer.post('/customer/verify/send', {})
const verify = (customer: Customer, token: string) => customer.post('/customer/verify', { token })
const readAccount = async (customer: Customer) => (await customer.get('/customer/me')).body

async function requestToken(app: TestApp, server: Server, customer: Customer): Promise<string> {
  expect((await send(customer)).status).toBe(204)
  await sendMails(app)
  return tokenOf(server, 'verify', (await readAccount(customer)).email)
}
const spentOf = async (customer: Customer) => {
  const { ordersCount, totalSpent } = await readAccount(customer)
  return [ordersCount, totalSpent.amount]
}
const expectConsistentBooks = async (app: TestApp) => expect(violationsOf(await booksOf(app))).toEqual([])

describe("verification of a customer's email address", () => {
  test('assigns paid guest orders of the shop to a customer who verifies their address, with correct totals', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const [shop, other] = [await sellingIn(app, { onHand: 20 }), await sellingIn(app)]
    const customer = await customerIn(app, shop.shop)
    const guest = { email: customer.email.toUpperCase() }
    const [one, two] = [await shop.placeOrder(guest), await shop.placeOrder({ ...guest, quantity: 2 })]
    await shop.refund(two.id, { amount: shop.money(500) })
    await other.placeOrder(guest)
    await shop.placeOrder({ email: `x${customer.email}` })
    expect([(await readAccount(customer)).emailVerified, ...(await spentOf(customer))]).toEqual([false, 0, 0])
    expect((await customer.get(`/v2/orders/${one.id}`)).status).toBe(404)
    const token = await requestToken(app, server, customer)
    expect(server.received.find(({ text }) => text?.includes(token))?.to).toEqual([customer.email])
    expect((await verify(customer, token)).status).toBe(204)
    expect([(await readAccount(customer)).emailVerified, ...(await spentOf(customer))]).toEqual([true, 2, 2_500])
    const { data } = (await customer.get('/customer/me/orders')).body
    expect(data.map(({ id }: { id: string }) => id)).toEqual([two.id, one.id])
    expect((await shop.get(`/v2/orders/${one.id}`)).body.customerId).toBe(customer.id)
    // Later refunds count as well, and a token works once.
    await shop.refund(one.id)
    expect(await spentOf(customer)).toEqual([2, 1_500])
    expect((await verify(customer, token)).status).toBe(404)
    await expectConsistentBooks(app)
  })

  test('assigns later guest orders at the next login, and more orders than one write holds', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app, { onHand: 10 })
    const customer = await customerIn(app, shop.shop)
    const { id, number } = await shop.placeOrder({ email: customer.email })
    const [row] = (await app.deps.db.read.select().from(orders)).filter((one) => one.id === id)
    if (!row) throw new Error('no order')
    const copies = Array.from({ length: guestOrdersPerWrite + 5 }, (_, nth) => ({
      ...row,
      id: app.deps.newId('order'),
      cartId: `${row.cartId}${nth}`,
      number: number + nth + 1,
    }))
    await app.deps.db.write(async (tx) => {
      for (const copy of copies) await tx.insert(orders).values(copy)
    })
    await verify(customer, await requestToken(app, server, customer))
    expect(await spentOf(customer)).toEqual([guestOrdersPerWrite + 6, (guestOrdersPerWrite + 6) * 1_000])
    expect((await customer.get('/customer/me/orders?limit=1')).body.total).toBe(guestOrdersPerWrite + 6)
    await app.deps.db.write((tx) => tx.insert(orders).values({ ...row, id: app.deps.newId('order'), cartId: 'later', number: 9_999 }))
    const body = { shopName: shop.shop.name, email: customer.email, password: customer.password }
    expect((await app.call('POST', '/customer/login', { body })).status).toBe(200)
    expect(await spentOf(customer)).toEqual([guestOrdersPerWrite + 7, (guestOrdersPerWrite + 7) * 1_000])
  })

  test('assigns guest orders after a password reset by mail, also for accounts that the shop created', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const email = 'made@example.com'
    const { id } = (await shop.post('/customer', { email, name: 'Made' })).body
    await shop.placeOrder({ email })
    const signup = (address: string) =>
      app.call('POST', '/customer/signup', { body: { shopName: shop.shop.name, email: address, password: 'a stranger writes this' } })
    const existing = await customerIn(app, shop.shop)
    const [claim, duplicate] = [await signup(email), await signup(existing.email)]
    expect([claim.status, claim.body]).toEqual([409, duplicate.body])
    await app.call('POST', '/auth/password/forgot', { body: { email, shopName: shop.shop.name } })
    await sendMails(app)
    const token = tokenOf(server, 'reset', email)
    await app.call('POST', '/auth/password/reset', { body: { token, password: 'a password of mine' } })
    expect((await shop.get(`/customer/${id}`)).body).toMatchObject({ emailVerified: true, ordersCount: 1, totalSpent: { amount: 1_000 } })
    await expectConsistentBooks(app)
  })

  test("asks for the account's password on the verification page before it assigns guest orders", async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const customer = await customerIn(app, shop.shop)
    await shop.placeOrder({ email: customer.email })
    const path = `/pages/verify/${await requestToken(app, server, customer)}`
    const page = await app.call('GET', path)
    expect([page.status, page.text.includes('type="password"')]).toEqual([200, true])
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const submit = (password: string) => app.call('POST', path, { raw: new URLSearchParams({ password }).toString(), headers: form })
    for (const wrongPassword of ['', 'not this one']) {
      expect((await submit(wrongPassword)).text).toContain('role="alert"')
      expect((await readAccount(customer)).emailVerified).toBe(false)
    }
    expect((await submit(customer.password)).text).toContain('Email address confirmed')
    expect(await spentOf(customer)).toEqual([1, 1_000])
    expect((await submit(customer.password)).text).toContain('This link has expired')
  })
})

describe('email verification tokens', () => {
  test('returns the same 404 for a token that is foreign, expired, invented or for a changed address', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const [shop, otherShop] = [await shopIn(app), await shopIn(app)]
    const [one, other] = [await customerIn(app, shop.shop), await customerIn(app, shop.shop)]
    const foreignCustomer = await customerIn(app, otherShop.shop)
    const token = await requestToken(app, server, one)
    const refusals = [
      await verify(other, token),
      await verify(foreignCustomer, token),
      await verify(one, await requestToken(app, server, foreignCustomer)),
      await verify(one, 'A'.repeat(43)),
      await verify(one, 'x'),
    ]
    const changeEmail = (email: string) => app.call('PATCH', '/customer/me', { token: one.token, body: { email, password: one.password } })
    await changeEmail('elsewhere@example.com')
    refusals.push(await verify(one, token))
    // After a change back to the first address, its earlier token stays invalid.
    await changeEmail(one.email)
    refusals.push(await verify(one, token))
    const expiredToken = await requestToken(app, server, one)
    app.clock.advance(24 * 60 * minute + 1)
    const login = await app.call('POST', '/customer/login', {
      body: { shopName: shop.shop.name, email: one.email, password: one.password },
    })
    const session = { token: login.body.data.accessToken }
    refusals.push(await app.call('POST', '/customer/verify', { ...session, body: { token: expiredToken } }))
    expect(refusals.map(({ status }) => status)).toEqual(refusals.map(() => 404))
    expect(new Set(refusals.map(({ text }) => text)).size).toBe(1)
    expect((await app.call('GET', '/customer/me', session)).body.emailVerified).toBe(false)
  })

  test('limits verification mails to five an hour, and sends none for a verified address or without a mail server', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop } = await shopIn(app)
    const [one, other] = [await customerIn(app, shop), await customerIn(app, shop)]
    for (let nth = 0; nth < 5; nth++) expect((await send(one)).status).toBe(204)
    expect((await send(one)).status).toBe(429)
    expect((await mailRows(app)).length).toBe(5)
    await verify(other, await requestToken(app, server, other))
    const before = (await mailRows(app)).length
    expect((await send(other)).status).toBe(204)
    expect((await mailRows(app)).length).toBe(before)
    await using withoutMail = await testApp()
    const third = await customerIn(withoutMail, (await shopIn(withoutMail)).shop)
    expect((await send(third)).status).toBe(204)
    expect((await mailRows(withoutMail)).length).toBe(0)
  })

  test('limits verification mails to five an hour per address, even if several accounts have it in turn', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop } = await shopIn(app)
    const moveTo = async ({ token, password }: Customer, email: string) =>
      expect((await app.call('PATCH', '/customer/me', { token, body: { email, password } })).status).toBe(200)
    const answers: number[] = []
    for (const capitals of ['Stranger', 'stranger', 'STRANGER']) {
      const customer = await customerIn(app, shop)
      await moveTo(customer, `${capitals}@example.com`)
      for (let nth = 0; nth < 3; nth++) answers.push((await send(customer)).status)
      await moveTo(customer, customer.email)
      expect((await send(customer)).status).toBe(204)
    }
    expect(answers).toEqual([204, 204, 204, 204, 204, 429, 429, 429, 429])
    // Mails about a changed address do not count.
    expect((await mailRows(app)).filter(({ template }) => template === 'email-verify').length).toBe(5 + 3)
  })

  test('accepts a verification token once when it is used in parallel, and rate-limits failed attempts', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const customer = await customerIn(app, shop.shop)
    await shop.placeOrder({ email: customer.email })
    const token = await requestToken(app, server, customer)
    const answers = await Promise.all(Array.from({ length: 5 }, () => verify(customer, token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
    expect(await spentOf(customer)).toEqual([1, 1_000])
    for (let nth = 0; nth < 50; nth++) await verify(customer, 'x')
    expect((await verify(customer, 'x')).status).toBe(429)
  })
})

const action = fc.constantFrom('buy', 'refund', 'refundAll', 'prove', 'login', 'move', 'cancel')

test("keeps a customer's order count and spending correct under parallel purchases, refunds and verifications", async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.array(action, { minLength: 2, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
      async (first, rounds) => {
        const shop: Selling = await sellingIn(app, { onHand: 100 })
        const customer = await customerIn(app, shop.shop)
        const guest = { email: customer.email }
        const orderIds: string[] = []
        for (let nth = 0; nth < first; nth++) orderIds.push((await shop.placeOrder(guest)).id)
        const { id: customerId, email, password } = customer
        const body = { shopName: shop.shop.name, email, password }
        let nth = 0
        const actions = {
          buy: async () => orderIds.push((await shop.placeOrder(guest)).id),
          refund: () => shop.refund(orderIds[nth++ % orderIds.length] ?? '', { amount: shop.money(100) }),
          refundAll: () => shop.refund(orderIds[nth++ % orderIds.length] ?? ''),
          cancel: () => shop.post(`/v2/orders/${orderIds[nth++ % orderIds.length]}/cancel`, {}),
          prove: async () => verify(customer, await issueTokenFor(app, customer, shop.shop.id)),
          login: () => app.call('POST', '/customer/login', { body }),
          move: () => customer.get('/customer/me/orders'),
        }
        for (const round of rounds) {
          await Promise.all(round.map((one) => actions[one]()))
          await expectConsistentBooks(app)
        }
        await actions.prove()
        await actions.login()
        const shopOrders = (await app.deps.db.read.select().from(orders)).filter(({ shopId }) => shopId === shop.shop.id)
        expect(shopOrders.filter((order) => order.customerId !== customerId)).toEqual([])
        const spent = shopOrders
          .filter(({ confirmedAt }) => confirmedAt !== null)
          .reduce((sum, one) => sum + BigInt(one.total) - BigInt(one.refundedTotal) - BigInt(one.giftCardRefundedTotal), 0n)
        expect(await spentOf(customer)).toEqual([shopOrders.length, Number(spent)])
        await expectConsistentBooks(app)
      },
    ),
    { numRuns: 8 },
  )
}, 900_000)

/** Issues a verification token directly, without a mail. */
async function issueTokenFor(app: TestApp, { id: subjectId, email }: Customer, shopId: string): Promise<string> {
  const { issueToken } = await import('../../../../src/modules/identity/one-time-token/index.ts')
  return app.deps.db.write((tx) => issueToken(tx, app.deps, { purpose: 'EMAIL_VERIFY', subjectId, shopId, email }))
}
