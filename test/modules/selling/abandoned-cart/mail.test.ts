/** Tests the mail about abandoned carts: its recipients, its time and its links. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { carts } from '../../../../db/schema/selling.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { mailAbandonedCarts } from '../../../../src/modules/selling/abandoned-cart/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { browserOn, formOf } from '../../../support/drafts.ts'
import { mailServer, type Received } from '../../../support/mail-server.ts'
import { mailRows, sendMails } from '../../../support/mails.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hourMs = 3_600_000
/** Two hours and some milliseconds, because each change of a cart gets a unique time. */
const twoHoursMs = 2 * hourMs + 10
const longLogins = { ACCESS_TOKEN_SECONDS: '86400' }
const enableMail = (shop: Selling, afterHours = 2) =>
  shop.app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { abandonedCartMail: { enabled: true, afterHours } } })
const openMailingShop = async (app: TestApp) => {
  const shop = await sellingIn(app)
  ok(await enableMail(shop))
  return shop
}
const changeCart = ({ app, publishableKey: key }: Selling, id: string, body: object) => app.call('PATCH', `/cart/${id}`, { key, body })
async function runMailJob(app: TestApp): Promise<void> {
  await mailAbandonedCarts(app.deps)
  await sendMails(app)
}
const findLink = ({ text }: Received, kind = 'cart'): string =>
  new RegExp(`https://souk\\.example/pages/${kind}/[\\w-]+`).exec(text)?.[0] ?? `none in ${text}`
const findToken = (mail: Received) => findLink(mail).split('/').at(-1) ?? ''

describe('the mail about an abandoned cart', () => {
  test('the mail about an abandoned cart is sent once to a shopper who accepts marketing, after the hours that the shop set', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const id = await shop.cart({ acceptsMarketing: true, quantity: 2 })
    await shop.cart({ email: 'no@example.com' })
    await shop.cart({ email: null, acceptsMarketing: true })
    await shop.cart({ email: 'empty@example.com', acceptsMarketing: true, variants: [] })
    app.clock.advance(2 * hourMs - 1_000)
    await runMailJob(app)
    expect(server.received).toEqual([])
    app.clock.advance(1_010)
    await runMailJob(app)
    await runMailJob(app)
    expect(server.received).toHaveLength(1)
    app.clock.advance(5 * hourMs)
    await runMailJob(app)
    expect(server.received.map(({ to }) => to)).toEqual([['guest@example.com']])
    const [mail] = server.received as [Received]
    expect(mail.text).toContain('Mug')
    expect(mail.html).toContain('20.00')
    expect(mail.headers.get('list-unsubscribe')).toBe(`<${findLink(mail, 'unsubscribe')}>`)
    expect(`${mail.text}${mail.html}`).not.toContain(id)
    expect((await mailRows(app)).map(({ key }) => key).join()).not.toContain(id)
  })

  test('the mail about an abandoned cart is not sent by default, nor for carts older than a day', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const [off, old] = [await sellingIn(app), await openMailingShop(app)]
    await off.cart({ acceptsMarketing: true })
    await old.cart({ acceptsMarketing: true })
    app.clock.advance(26 * hourMs + 10)
    await off.cart({ acceptsMarketing: true })
    await runMailJob(app)
    app.clock.advance(twoHoursMs)
    await runMailJob(app)
    expect(await mailRows(app)).toEqual([])
  })

  test('no mail is sent after the cart was ordered or emptied, after consent was withdrawn, or for a suspended shop', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const [ordered, emptied, withdrawn] = [
      await shop.cart({ acceptsMarketing: true }),
      await shop.cart({ acceptsMarketing: true, email: 'emptied@example.com' }),
      await shop.cart({ acceptsMarketing: true, email: 'withdrawn@example.com' }),
    ]
    app.clock.advance(twoHoursMs)
    await mailAbandonedCarts(app.deps)
    expect(await mailRows(app)).toHaveLength(3)
    ok(await shop.checkout(ordered))
    const { body } = ok(await app.call('GET', `/cart/${emptied}`, { key: shop.publishableKey }))
    ok(await app.call('DELETE', `/cart/${emptied}/items/${body.lines[0].id}`, { key: shop.publishableKey }))
    ok(await changeCart(shop, withdrawn, { acceptsMarketing: false }))
    await sendMails(app)
    expect(server.received.map(({ headers }) => headers.get('subject')).filter((subject) => subject?.includes('cart'))).toEqual([])
    await app.deps.db.write((tx) => tx.update(shops).set({ status: 'SUSPENDED' }).where(eq(shops.id, shop.shop.id)))
    await shop.cart({ acceptsMarketing: true, email: 'late@example.com' }).catch(() => undefined)
    app.clock.advance(3 * hourMs)
    await runMailJob(app)
    expect(server.received.map(({ headers }) => headers.get('subject')).filter((subject) => subject?.includes('cart'))).toEqual([])
  })

  test('the mail is delayed again when the cart changes after it was queued, and then goes to the new address only', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const id = await shop.cart({ acceptsMarketing: true, email: 'old@example.com' })
    app.clock.advance(twoHoursMs)
    await mailAbandonedCarts(app.deps)
    ok(await changeCart(shop, id, { email: 'new@example.com' }))
    await sendMails(app)
    await runMailJob(app)
    expect(server.received).toEqual([])
    app.clock.advance(twoHoursMs)
    await runMailJob(app)
    await runMailJob(app)
    expect(server.received.map(({ to }) => to)).toEqual([['new@example.com']])
    ok(await changeCart(shop, id, { email: 'third@example.com' }))
    app.clock.advance(twoHoursMs)
    await runMailJob(app)
    expect(server.received).toHaveLength(1)
  })

  test('the mail is not sent after the shop turned it off, and is sent once when two runs of the job queue it', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const [off, on] = [await openMailingShop(app), await openMailingShop(app)]
    await off.cart({ acceptsMarketing: true, email: 'off@example.com' })
    await on.cart({ acceptsMarketing: true, email: 'once@example.com' })
    app.clock.advance(twoHoursMs)
    await Promise.all([mailAbandonedCarts(app.deps), mailAbandonedCarts(app.deps)])
    ok(await app.call('PUT', '/shops/v2/mail', { token: off.token, body: {} }))
    await runMailJob(app)
    await runMailJob(app)
    expect(server.received.map(({ to }) => to)).toEqual([['once@example.com']])
  })

  test('the mail about an abandoned cart is delayed by the quota of its recipient', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.limitedSettings, ...longLogins, MAIL_TEST_SHOPS: 'true', MAIL_PER_RECIPIENT_HOUR: '2' })
    const shop = await openMailingShop(app)
    for (let nth = 0; nth < 4; nth++) await shop.cart({ acceptsMarketing: true })
    app.clock.advance(twoHoursMs)
    await runMailJob(app)
    expect(server.received).toHaveLength(2)
  })
})

describe('the link in the mail', () => {
  async function mailCart(app: TestApp, server: Awaited<ReturnType<typeof mailServer>>, shop: Selling, options: object = {}) {
    const id = await shop.cart({ acceptsMarketing: true, ...options })
    app.clock.advance(twoHoursMs)
    await runMailJob(app)
    return { id, mail: server.received.at(-1) as Received }
  }

  test('the link in the mail opens a page that sells the cart, and the order is marked as from an abandoned cart', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const { id, mail } = await mailCart(app, server, shop)
    const { look, send } = browserOn(app, findLink(mail))
    const page = await look()
    expect(page.text).toContain('Mug')
    expect(page.text).not.toContain('guest@example.com')
    expect(page.text).not.toContain(id)
    const restored = async () => (await app.deps.db.read.select().from(carts).where(eq(carts.id, id)))[0]?.restoredAt
    // Opening the link alone does not count as restored, because mail scanners open every link.
    expect(await restored()).toBeNull()
    expect((await send(formOf(page, 'pay'))).status).toBe(303)
    expect((await look()).text).toContain('Payment received')
    const { data } = ok(await shop.get('/v2/orders')).body
    expect(data).toMatchObject([{ fromAbandonedCart: true, status: 'CONFIRMED' }])
    const { body } = ok(await shop.get('/carts/abandoned?recovered=true'))
    expect(body.data).toMatchObject([{ email: 'guest@example.com', order: { id: data[0].id, number: 1 } }])
    const csv = await app.call('GET', '/v2/orders', { token: shop.token, headers: { accept: 'text/csv' } })
    expect(csv.text.split('\n')[1]).toEndWith(',true,\r')
    expect(await shop.placeOrder()).toMatchObject({ fromAbandonedCart: false })
  })

  test('the page of the link shows current prices before payment, and the link expires after 14 days', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const { mail } = await mailCart(app, server, shop)
    const product = ok(await shop.get(`/product-v2/${shop.productId}`)).body
    const variants = product.variants.map(({ id }: { id: string }) => ({ id, price: shop.money(1_500) }))
    ok(await app.call('PATCH', `/product-v2/${shop.productId}`, { token: shop.token, body: { variants } }))
    const { look, send } = browserOn(app, findLink(mail))
    await look()
    const page = await look()
    expect(page.text).toContain('15.00')
    expect((await send(formOf(page, 'pay'))).status).toBe(303)
    expect((await look()).text).toContain('Payment received')
    app.clock.advance(14 * 24 * hourMs)
    expect((await look()).text).toContain('expired')
  })

  test("the link leads to the shop's own cart page, which restores the cart with the token", async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { pages: { cart: 'https://shop.example/cart?a=1' } } }))
    const { id, mail } = await mailCart(app, server, shop)
    const url = new URL(/https:\/\/shop\.example\S+/.exec(mail.text)?.[0] ?? '')
    const token = url.searchParams.get('token')
    const restore = (key: string, body: object) => app.call('POST', '/cart/restore', { key, body })
    const cart = ok(await restore(shop.publishableKey, { token }), 200).body
    expect(cart).toMatchObject({ id, status: 'OPEN', acceptsMarketing: true })
    const other = await sellingIn(app)
    for (const [key, sent] of [
      [other.publishableKey, token],
      [shop.publishableKey, 'x'.repeat(43)],
    ] as const)
      expect((await restore(key, { token: sent })).body).toMatchObject({ statusCode: 404, code: 'invalid_link' })
    expect((await restore(shop.publishableKey, { token, more: 1 })).status).toBe(400)
    ok(await shop.checkout(id))
    expect(ok(await shop.get('/v2/orders')).body.data).toMatchObject([{ fromAbandonedCart: true }])
  })

  test("the link of a customer's cart restores it for that customer only", async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const customer = await customerOf(app, shop.shop.name)
    const { id, mail } = await mailCart(app, server, shop, { token: customer.token, email: 'shopper@example.com' })
    const body = { token: findToken(mail) }
    expect((await app.call('POST', '/cart/restore', { key: shop.publishableKey, body })).status).toBe(404)
    expect(ok(await app.call('POST', '/cart/restore', { token: customer.token, body })).body.id).toBe(id)
    expect((await browserOn(app, findLink(mail)).look()).text).toContain('Mug')
  })

  test('the link for unsubscribing withdraws consent for the cart, other carts of the address and the account', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const customer = await customerOf(app, shop.shop.name)
    ok(await app.call('PATCH', '/customer/me', { token: customer.token, body: { acceptsMarketing: true } }))
    const { mail } = await mailCart(app, server, shop, { email: 'Shopper@example.com' })
    await shop.cart({ acceptsMarketing: true, email: 'shopper@example.com' })
    await shop.cart({ acceptsMarketing: true, email: 'other@example.com' })
    const path = new URL(findLink(mail, 'unsubscribe')).pathname
    expect((await app.call('GET', path)).text).toContain('Stop emails like this')
    const isAccepting = async () => ok(await app.call('GET', '/customer/me', { token: customer.token })).body.acceptsMarketing
    expect(await isAccepting()).toBe(true)
    const form = { raw: 'List-Unsubscribe=One-Click', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    for (let nth = 0; nth < 2; nth++) expect((await app.call('POST', path, form)).text).toContain('anymore')
    expect(await isAccepting()).toBe(false)
    app.clock.advance(twoHoursMs)
    await runMailJob(app)
    expect(server.received.map(({ to }) => to[0])).toEqual(['Shopper@example.com', 'other@example.com'])
    expect((await app.call('POST', '/pages/unsubscribe/x', form)).text).toContain('expired')
  })

  test('the link for unsubscribing withdraws consent for other carts of the address also after the cart was ordered', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const customer = await customerOf(app, shop.shop.name)
    ok(await app.call('PATCH', '/customer/me', { token: customer.token, body: { acceptsMarketing: true } }))
    const { id, mail } = await mailCart(app, server, shop, { email: 'Shopper@example.com' })
    await shop.cart({ acceptsMarketing: true, email: 'shopper@example.com' })
    ok(await shop.checkout(id))
    const form = { raw: 'List-Unsubscribe=One-Click', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    expect((await app.call('POST', new URL(findLink(mail, 'unsubscribe')).pathname, form)).text).toContain('anymore')
    expect(ok(await app.call('GET', '/customer/me', { token: customer.token })).body.acceptsMarketing).toBe(false)
    const isReminder = ({ text }: Received) => text.includes('/pages/unsubscribe/')
    const before = server.received.filter(isReminder).length
    app.clock.advance(twoHoursMs)
    await runMailJob(app)
    expect(server.received.filter(isReminder)).toHaveLength(before)
  })

  test('the link no longer works after the customer is erased', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, ...longLogins })
    const shop = await openMailingShop(app)
    const customer = await customerOf(app, shop.shop.name)
    const { mail } = await mailCart(app, server, shop, { token: customer.token, email: 'shopper@example.com' })
    await shop.cart({ token: customer.token, acceptsMarketing: true, email: 'shopper@example.com' })
    app.clock.advance(twoHoursMs)
    await mailAbandonedCarts(app.deps)
    ok(await shop.post(`/customer/${customer.id}/erase`, {}))
    await sendMails(app)
    expect(server.received).toHaveLength(1)
    expect((await browserOn(app, findLink(mail)).look()).text).toContain('expired')
    expect(ok(await shop.get('/carts/abandoned')).body.data).toEqual([])
  })
})
