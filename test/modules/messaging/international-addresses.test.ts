/** Tests that all spellings of an international mail address are one address. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { carts } from '../../../db/schema/selling.ts'
import { testApp } from '../../support/app.ts'
import { mailServer } from '../../support/mail-server.ts'
import { mailRows, queueTestMail, sendMails } from '../../support/mails.ts'
import { ok, sellingIn } from '../../support/selling.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const spellings = ['ann@exämple.de', 'ANN@EXÄMPLE.DE', 'ann@exa\u0308mple.de', 'ann@xn--exmple-cua.de']
const normal = 'ann@xn--exmple-cua.de'
/** The test's mail server decodes the domain of an address. */
const shownByServer = 'ann@exämple.de'
const password = 'a password of mine'

describe('international mail addresses', () => {
  test('all spellings of an international address are one customer of a shop', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const shopName = shop.shop.name
    const [first = '', ...others] = spellings
    const created = ok(await app.call('POST', '/customer/signup', { body: { shopName, email: first, password } }))
    expect(created.body.email).toBe(normal)
    for (const email of others) {
      expect((await app.call('POST', '/customer/signup', { body: { shopName, email, password } })).status).toBe(409)
      expect((await shop.post('/customer', { email })).status).toBe(409)
      expect((await app.call('POST', '/customer/login', { body: { shopName, email, password } })).status).toBe(200)
      for (const query of ['email', 'q'])
        expect((await shop.get(`/customer?${query}=${encodeURIComponent(email)}`)).body.data.map(({ id }: { id: string }) => id)).toEqual([
          created.body.id,
        ])
    }
    const file = `Email\n${spellings.join('\n')}\nж@пример.рф\n`
    const imported = await app.call('POST', '/customer/import', { key: shop.secretKey, raw: file, headers: { 'content-type': 'text/csv' } })
    expect(imported.body).toMatchObject({ created: 1, failed: 0 })
  })

  test('failed logins with different spellings of an international address count against one account', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const statuses: number[] = []
    for (let nth = 0; nth < 12; nth++) {
      const email = spellings[nth % spellings.length]
      statuses.push((await app.call('POST', '/customer/login', { body: { shopName: shop.shop.name, email, password } })).status)
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
  })

  test('all spellings of an international address are one merchant and one staff invitation', async () => {
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const shop = await sellingIn(app)
    const invited = ok(await app.call('POST', '/shops/v2/staff', { token: shop.token, body: { email: 'Ж@Пример.рф', role: 'MANAGER' } }))
    expect(invited.body.email).toBe('ж@xn--e1afmkfd.xn--p1ai')
    const repeated = await app.call('POST', '/shops/v2/staff', {
      token: shop.token,
      body: { email: 'ж@xn--e1afmkfd.xn--p1ai', role: 'READ_ONLY' },
    })
    expect([repeated.status, repeated.body.id]).toEqual([201, invited.body.id])
    const signup = { email: spellings[0], password, shopName: 'ann-shop', country: 'DE', currency: 'EUR' }
    ok(await app.call('POST', '/merchant/signup', { body: signup }))
    expect((await app.call('POST', '/merchant/signup', { body: { ...signup, email: spellings[1], shopName: 'other' } })).status).toBe(409)
    for (const email of spellings) expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
  })

  test('orders, proof and erasure of a guest match every spelling of an international address', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    for (const email of spellings) {
      const { id } = await shop.placeOrder({ email })
      ok(await shop.post(`/v2/orders/${id}/fulfil`, {}))
    }
    for (const email of spellings)
      expect((await shop.get(`/v2/orders?email=${encodeURIComponent(email)}`)).body.data).toHaveLength(spellings.length)
    const customer = ok(
      await app.call('POST', '/customer/signup', { body: { shopName: shop.shop.name, email: 'Ann@Exämple.de', password } }),
    ).body
    const session = ok(await app.call('POST', '/customer/login', { body: { shopName: shop.shop.name, email: normal, password } })).body.data
    ok(await app.call('POST', '/customer/verify/send', { token: session.accessToken }), 202, 204)
    await sendMails(app)
    expect(new Set(server.received.flatMap(({ to }) => to))).toEqual(new Set([shownByServer]))
    const token = /\/pages\/verify\/([\w-]{43})/.exec(server.received.map(({ text }) => text).join('\n'))?.[1]
    expect((await app.call('POST', '/customer/verify', { token: session.accessToken, body: { token } })).status).toBe(204)
    expect((await app.call('GET', '/customer/me/orders', { token: session.accessToken })).body.total).toBe(spellings.length)
    await shop.cart({ email: spellings[2] ?? '' })
    ok(await shop.post(`/customer/${customer.id}/erase`, {}))
    expect((await shop.get(`/v2/orders?email=${encodeURIComponent(normal)}`)).body.data).toEqual([])
    expect((await app.deps.db.read.select().from(carts)).filter(({ email }) => email !== null)).toEqual([])
  })

  test('a once-per-customer discount applies once across all spellings of an international address', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const discount = { title: 'Once', code: 'ONCE', kind: 'PERCENT', valueBps: 1_000, perCustomerLimit: 1, status: 'ACTIVE' }
    ok(await shop.post('/discounts', discount))
    const placeOrder = async (email: string) => {
      const cart = await shop.cart({ email })
      const applied = await app.call('PATCH', `/cart/${cart}/discount`, { key: shop.publishableKey, body: { code: 'ONCE' } })
      return applied.status === 200 ? (await shop.checkout(cart)).status : applied.status
    }
    const [first = '', ...others] = spellings
    expect(await placeOrder(first)).toBe(201)
    for (const email of others) expect(await placeOrder(email)).not.toBe(201)
  })

  test('mail that needs SMTPUTF8 is sent by a server that offers it, and fails with the reason otherwise', async () => {
    await using able = await mailServer()
    await using unable = await mailServer({ hideSMTPUTF8: true })
    for (const server of [able, unable]) {
      await using app = await testApp(server.settings)
      await queueTestMail(app, 'test', {}, { key: 'local', to: 'Ж@пример.рф' })
      await queueTestMail(app, 'test', {}, { key: 'domain', to: 'ann@exämple.de' })
      await queueTestMail(app, 'test', {}, { key: 'plain', to: 'ann@example.com' })
      await sendMails(app)
      const rows = await mailRows(app)
      const local = rows.find(({ key }) => key === 'local')
      if (server === able) expect(local).toMatchObject({ status: 'SENT', lastError: null })
      else expect(local).toMatchObject({ status: 'FAILED', attempts: 1, lastError: expect.stringContaining('SMTPUTF8') })
      expect(rows.filter(({ status }) => status === 'SENT')).toHaveLength(server === able ? 3 : 2)
      expect(server.received.map(({ to }) => to[0])).toContain(shownByServer)
    }
    expect(able.received.map(({ to }) => to[0])).toContain('ж@пример.рф')
  })
})
