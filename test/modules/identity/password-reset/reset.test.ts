/** Tests password resets by mail: a token works once, and responses reveal nothing about accounts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mails, oneTimeTokens } from '../../../../db/schema/mail.ts'
import { auditLog, customers } from '../../../../db/schema/people.ts'
import { system } from '../../../../src/core/command-context.ts'
import { createCustomer } from '../../../../src/modules/customers/customer/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { customerIn } from '../../../support/customers.ts'
import { mailServer, type mailServer as serve } from '../../../support/mail-server.ts'
import { mailRows, sendMails } from '../../../support/mails.ts'
import { sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Server = Awaited<ReturnType<typeof serve>>
const minute = 60_000
const password = 'another password of mine'

const forgot = (app: TestApp, body: { email: string; shopName?: string }, from?: string) =>
  app.call('POST', '/auth/password/forgot', { body, ...(from ? { from } : {}) })
const reset = (app: TestApp, token: string, newPassword = password) =>
  app.call('POST', '/auth/password/reset', { body: { token, password: newPassword } })
/** Returns the token in the last reset mail. Other mails, such as those of orders, may arrive later. */
const lastTokenIn = (server: Server): string =>
  server.received.flatMap(({ text }) => /\/pages\/reset\/([\w-]{43})/.exec(text ?? '')?.[1] ?? []).at(-1) ?? ''

async function requestToken(app: TestApp, server: Server, body: { email: string; shopName?: string }): Promise<string> {
  expect((await forgot(app, body)).status).toBe(202)
  await sendMails(app)
  return lastTokenIn(server)
}

describe('a password reset', () => {
  test('lets a merchant set a new password by the mailed link, and ends all their sessions', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const merchant = await app.merchant()
    const token = await requestToken(app, server, { email: merchant.email.toUpperCase() })
    expect(server.received[0]?.to).toEqual([merchant.email])
    expect((await reset(app, token)).status).toBe(204)
    expect((await app.call('GET', '/merchant/me', { token: merchant.token })).status).toBe(401)
    expect((await app.call('POST', '/auth/refresh', { body: { refreshToken: merchant.refreshToken } })).status).toBe(401)
    const login = (candidate: string) => app.call('POST', '/merchant/login', { body: { email: merchant.email, password: candidate } })
    expect((await login(merchant.password)).status).toBe(401)
    expect((await login(password)).status).toBe(200)
    const rows = await app.deps.db.read.select().from(auditLog)
    expect(rows.find(({ action }) => action === 'password.reset')).toMatchObject({ actor: merchant.id, subject: merchant.id })
    expect(JSON.stringify([rows, app.logged, await mailRows(app)])).not.toContain(token)
  })

  test('works for an operator, and for a customer only in that shop', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const root = await app.superAdmin()
    expect((await reset(app, await requestToken(app, server, { email: root.email }))).status).toBe(204)
    expect((await app.call('POST', '/merchant/login', { body: { email: root.email, password } })).status).toBe(200)
    const [one, other] = [await app.merchant(), await app.merchant()]
    const email = 'ann@example.com'
    for (const { shop } of [one, other])
      await app.call('POST', '/customer/signup', { body: { shopName: shop.name, email, password: 'the first password' } })
    const token = await requestToken(app, server, { email, shopName: one.shop.name })
    expect(server.received.at(-1)?.headers.get('from')).toContain('"shop-1"')
    expect((await reset(app, token)).status).toBe(204)
    const login = (shopName: string, candidate: string) =>
      app.call('POST', '/customer/login', { body: { shopName, email, password: candidate } })
    expect((await login(one.shop.name, password)).status).toBe(200)
    expect((await login(other.shop.name, password)).status).toBe(401)
    expect((await login(other.shop.name, 'the first password')).status).toBe(200)
  })

  test('sets the first password of a customer that the shop created', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop } = await app.merchant()
    const context = { shop: { id: shop.id, currency: 'USD', mode: 'TEST' as const }, actor: system }
    await createCustomer(app.deps, context, { email: 'made@example.com', name: 'Made', phone: null, acceptsMarketing: false })
    const token = await requestToken(app, server, { email: 'made@example.com', shopName: shop.name })
    expect((await reset(app, token)).status).toBe(204)
    const body = { shopName: shop.name, email: 'made@example.com', password }
    expect((await app.call('POST', '/customer/login', { body })).status).toBe(200)
  })
})

describe('a request for a reset', () => {
  test('for an unknown account gets the same response with the same writes, and sends no mail', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const merchant = await app.merchant()
    const requestReset = async (body: { email: string; shopName?: string }) => {
      const before = app.deps.db.stats.writes
      const { status, text } = await forgot(app, body)
      return { status, text, writes: app.deps.db.stats.writes - before }
    }
    const knownResponse = await requestReset({ email: merchant.email })
    expect(knownResponse.status).toBe(202)
    expect(await requestReset({ email: 'nobody@example.com' })).toEqual(knownResponse)
    expect(await requestReset({ email: 'nobody@example.com', shopName: merchant.shop.name })).toEqual(knownResponse)
    await sendMails(app)
    expect(server.received.map(({ to }) => to)).toEqual([[merchant.email]])
    const statuses = (await mailRows(app)).map(({ status, sealed }) => [status, sealed])
    expect(statuses).toEqual([
      ['SENT', null],
      ['DROPPED', null],
      ['DROPPED', null],
    ])
  })

  test('without a mail server is 202 with the same body for every address, and queues no mail', async () => {
    await using app = await testApp()
    const { email } = await app.merchant()
    const answers = [await forgot(app, { email }), await forgot(app, { email: 'nobody@example.com' })]
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    expect(answers[0]?.body).toEqual(answers[1]?.body)
    expect((await app.deps.db.read.select().from(mails)).length).toBe(0)
  })

  test('is mailed at most five times an hour per account, and a network address gets 429 after 30 requests', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    for (let nth = 0; nth < 8; nth++) expect((await forgot(app, { email })).status).toBe(202)
    expect((await mailRows(app)).length).toBe(5)
    for (let nth = 8; nth < 30; nth++) await forgot(app, { email: `a${nth}@example.com` })
    const limited = await forgot(app, { email: 'more@example.com' })
    expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await forgot(app, { email: 'more@example.com' }, '198.51.100.7')).status).toBe(202)
    app.clock.advance(61 * minute)
    await forgot(app, { email })
    expect((await mailRows(app)).filter(({ status }) => status === 'PENDING').length).toBe(29)
  })

  test('is refused for an invalid address, and from an origin that the shop does not list', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    for (const email of ['a@b.example\r\nBcc: c@d.example', 'a@b.example\n', 'a', `${'a'.repeat(250)}@b.example`])
      expect((await forgot(app, { email })).status).toBe(400)
    await app.call('PATCH', '/shops/v2', { token: merchant.token, body: { storefrontOrigins: ['https://shop.example'] } })
    const from = (origin: string) =>
      app.call('POST', '/auth/password/forgot', { body: { email: 'a@b.example', shopName: merchant.shop.name }, headers: { origin } })
    expect((await from('https://evil.example')).status).toBe(403)
    expect((await from('https://shop.example')).status).toBe(202)
  })
})

describe('a token', () => {
  test('is valid once, for 30 minutes, and its use invalidates all others of the account', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    const first = await requestToken(app, server, { email })
    const second = await requestToken(app, server, { email })
    expect((await reset(app, second)).status).toBe(204)
    expect((await reset(app, second)).status).toBe(401)
    expect((await reset(app, first)).status).toBe(401)
    const third = await requestToken(app, server, { email })
    app.clock.advance(30 * minute)
    expect((await reset(app, third)).status).toBe(401)
    const fourth = await requestToken(app, server, { email })
    app.clock.advance(29 * minute)
    expect((await reset(app, fourth)).status).toBe(204)
  })

  test('is valid from the moment its mail is sent, even if that took long, and only its hash is stored', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    await forgot(app, { email })
    app.clock.advance(29 * minute)
    await sendMails(app)
    app.clock.advance(20 * minute)
    const token = lastTokenIn(server)
    expect(JSON.stringify(await app.deps.db.read.select().from(oneTimeTokens))).not.toContain(token)
    expect((await reset(app, token)).status).toBe(204)
  })

  test('stays valid after a refused password, but not after the account changed its address', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop } = await app.merchant()
    const customer = await customerIn(app, shop)
    const token = await requestToken(app, server, { email: customer.email, shopName: shop.name })
    for (const weak of ['password1234', 'short']) expect((await reset(app, token, weak)).status).toBe(400)
    await app.deps.db.write(async (tx) => void (await tx.update(customers).set({ email: 'changed@example.com' })))
    expect((await reset(app, token)).status).toBe(401)
  })

  test('does not verify an address that the account gets while the new password is hashed', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const customer = await customerIn(app, shop.shop)
    const otherAddress = 'victim@example.com'
    const { id } = await shop.placeOrder({ email: otherAddress })
    const token = await requestToken(app, server, { email: customer.email, shopName: shop.shop.name })
    const { passwords } = app.deps
    const { hash } = passwords
    // Another process changes the address without seeing the token, which was issued at the same time.
    passwords.hash = async (...args) => {
      await app.deps.db.write(async (tx) => void (await tx.update(customers).set({ email: otherAddress })))
      return hash(...args)
    }
    const status = (await reset(app, token)).status
    passwords.hash = hash
    const [row] = await app.deps.db.read.select().from(customers)
    expect([status, row?.emailProvenAt]).toEqual([401, null])
    const login = await app.call('POST', '/customer/login', { body: { shopName: shop.shop.name, email: otherAddress, password } })
    expect([login.status, (await shop.order(id)).customerId]).toEqual([401, null])
  })

  test('is accepted once by two concurrent requests', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    const token = await requestToken(app, server, { email })
    const statuses = (await Promise.all([reset(app, token, 'the one password'), reset(app, token, 'the other password')])).map(
      ({ status }) => status,
    )
    expect(statuses.sort()).toEqual([204, 401])
  })

  test('that is invented is 401, and after fifty attempts 429', async () => {
    await using app = await testApp()
    for (let nth = 0; nth < 50; nth++) expect((await reset(app, `${nth}`.padStart(43, 'A'))).status).toBe(401)
    expect((await reset(app, 'B'.repeat(43))).status).toBe(429)
  })
})

describe('the reset page', () => {
  const page = (app: TestApp, path: string, form?: Record<string, string>) =>
    app.call(form ? 'POST' : 'GET', path, {
      ...(form ? { raw: new URLSearchParams(form).toString() } : {}),
      headers: form ? { 'content-type': 'application/x-www-form-urlencoded' } : {},
    })

  test('asks for a new password and sets it, and opening the page does not use up the token', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    const path = `/pages/reset/${await requestToken(app, server, { email })}`
    for (let visit = 0; visit < 3; visit++) {
      const { status, headers, text } = await page(app, `${path}?utm=mail`)
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(text).toContain('<form method="post">')
      expect(text).not.toContain('<script')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('content-security-policy')).toContain("form-action 'self'")
      expect([headers.get('referrer-policy'), headers.get('cache-control'), headers.get('x-robots-tag')]).toEqual([
        'no-referrer',
        'no-store',
        'noindex, nofollow',
      ])
    }
    for (const weak of ['password1234', 'short']) expect((await page(app, path, { password: weak })).text).toContain('role="alert"')
    const saved = await page(app, path, { password })
    expect([saved.status, saved.text.includes('Password saved')]).toEqual([200, true])
    for (const form of [undefined, { password: 'yet another password' }])
      expect((await page(app, path, form)).text).toContain('This link has expired')
    expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
    expect(JSON.stringify(app.logged)).not.toContain(path.split('/').at(-1) ?? '')
  })

  test('accepts only a form of a few kilobytes, and unknown kinds of pages are 404', async () => {
    await using app = await testApp()
    const path = `/pages/reset/${'A'.repeat(43)}`
    expect((await app.call('POST', path, { body: { password } })).status).toBe(415)
    expect((await page(app, path, { password: 'x'.repeat(5_000) })).status).toBe(413)
    expect((await page(app, `/pages/nothing/${'A'.repeat(43)}`)).status).toBe(404)
  })
})
