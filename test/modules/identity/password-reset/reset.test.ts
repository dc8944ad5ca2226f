/** A new password by mail: for whoever reads it, once, and nothing learnt by anybody else. */
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
const reset = (app: TestApp, token: string, chosen = password) =>
  app.call('POST', '/auth/password/reset', { body: { token, password: chosen } })
/** Of the last such mail: others, as of an order, may arrive behind it. */
const tokenIn = (server: Server): string =>
  server.received.flatMap(({ text }) => /\/pages\/reset\/([\w-]{43})/.exec(text ?? '')?.[1] ?? []).at(-1) ?? ''

async function mailed(app: TestApp, server: Server, body: { email: string; shopName?: string }): Promise<string> {
  expect((await forgot(app, body)).status).toBe(202)
  await sendMails(app)
  return tokenIn(server)
}

describe('whoever has forgotten a password', () => {
  test('a merchant chooses another one by the mail, and every session of theirs is over', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const merchant = await app.merchant()
    const token = await mailed(app, server, { email: merchant.email.toUpperCase() })
    expect(server.received[0]?.to).toEqual([merchant.email])
    expect((await reset(app, token)).status).toBe(204)
    expect((await app.call('GET', '/merchant/me', { token: merchant.token })).status).toBe(401)
    expect((await app.call('POST', '/auth/refresh', { body: { refreshToken: merchant.refreshToken } })).status).toBe(401)
    const login = (tried: string) => app.call('POST', '/merchant/login', { body: { email: merchant.email, password: tried } })
    expect((await login(merchant.password)).status).toBe(401)
    expect((await login(password)).status).toBe(200)
    const rows = await app.deps.db.read.select().from(auditLog)
    expect(rows.find(({ action }) => action === 'password.reset')).toMatchObject({ actor: merchant.id, subject: merchant.id })
    expect(JSON.stringify([rows, app.logged, await mailRows(app)])).not.toContain(token)
  })

  test('an operator does, too, and a customer of one shop does for that shop alone', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const root = await app.superAdmin()
    expect((await reset(app, await mailed(app, server, { email: root.email }))).status).toBe(204)
    expect((await app.call('POST', '/merchant/login', { body: { email: root.email, password } })).status).toBe(200)
    const [one, other] = [await app.merchant(), await app.merchant()]
    const email = 'ann@example.com'
    for (const { shop } of [one, other])
      await app.call('POST', '/customer/signup', { body: { shopName: shop.name, email, password: 'the first password' } })
    const token = await mailed(app, server, { email, shopName: one.shop.name })
    expect(server.received.at(-1)?.headers.get('from')).toContain('"shop-1"')
    expect((await reset(app, token)).status).toBe(204)
    const login = (shopName: string, tried: string) => app.call('POST', '/customer/login', { body: { shopName, email, password: tried } })
    expect((await login(one.shop.name, password)).status).toBe(200)
    expect((await login(other.shop.name, password)).status).toBe(401)
    expect((await login(other.shop.name, 'the first password')).status).toBe(200)
  })

  test('a customer whom the shop has made gets their first password so', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop } = await app.merchant()
    const by = { shop: { id: shop.id, currency: 'USD', mode: 'TEST' as const }, actor: system }
    await createCustomer(app.deps, by, { email: 'made@example.com', name: 'Made', phone: null, acceptsMarketing: false })
    const token = await mailed(app, server, { email: 'made@example.com', shopName: shop.name })
    expect((await reset(app, token)).status).toBe(204)
    const body = { shopName: shop.name, email: 'made@example.com', password }
    expect((await app.call('POST', '/customer/login', { body })).status).toBe(200)
  })
})

describe('whoever has not', () => {
  test('asking about an account that there is not is answered alike, does alike, and sends nothing', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const merchant = await app.merchant()
    const asked = async (body: { email: string; shopName?: string }) => {
      const before = app.deps.db.stats.writes
      const { status, text } = await forgot(app, body)
      return { status, text, writes: app.deps.db.stats.writes - before }
    }
    const known = await asked({ email: merchant.email })
    expect(known.status).toBe(202)
    expect(await asked({ email: 'nobody@example.com' })).toEqual(known)
    expect(await asked({ email: 'nobody@example.com', shopName: merchant.shop.name })).toEqual(known)
    await sendMails(app)
    expect(server.received.map(({ to }) => to)).toEqual([[merchant.email]])
    const statuses = (await mailRows(app)).map(({ status, sealed }) => [status, sealed])
    expect(statuses).toEqual([
      ['SENT', null],
      ['DROPPED', null],
      ['DROPPED', null],
    ])
  })

  test('without a mail server it is 202 and says that nothing is sent', async () => {
    await using app = await testApp()
    const { email } = await app.merchant()
    const answers = [await forgot(app, { email }), await forgot(app, { email: 'nobody@example.com' })]
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    expect(answers[0]?.body).toEqual(answers[1]?.body)
    expect((await app.deps.db.read.select().from(mails)).length).toBe(0)
  })

  test('of one account five are heard within an hour; an address that asks too often is told so', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    for (let nth = 0; nth < 8; nth++) expect((await forgot(app, { email })).status).toBe(202)
    expect((await mailRows(app)).length).toBe(5)
    for (let nth = 8; nth < 30; nth++) await forgot(app, { email: `a${nth}@example.com` })
    const over = await forgot(app, { email: 'more@example.com' })
    expect([over.status, Number(over.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await forgot(app, { email: 'more@example.com' }, '198.51.100.7')).status).toBe(202)
    app.clock.advance(61 * minute)
    await forgot(app, { email })
    expect((await mailRows(app)).filter(({ status }) => status === 'PENDING').length).toBe(29)
  })

  test('an address with a line break is refused, and so is a page of another origin than the shop has listed', async () => {
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
  test('is good once, for 30 minutes, and makes all others of its account useless', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    const first = await mailed(app, server, { email })
    const second = await mailed(app, server, { email })
    expect((await reset(app, second)).status).toBe(204)
    expect((await reset(app, second)).status).toBe(401)
    expect((await reset(app, first)).status).toBe(401)
    const third = await mailed(app, server, { email })
    app.clock.advance(30 * minute)
    expect((await reset(app, third)).status).toBe(401)
    const fourth = await mailed(app, server, { email })
    app.clock.advance(29 * minute)
    expect((await reset(app, fourth)).status).toBe(204)
  })

  test('is good from when its mail is sent, however long that took, and is kept only as a hash', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    await forgot(app, { email })
    app.clock.advance(29 * minute)
    await sendMails(app)
    app.clock.advance(20 * minute)
    const token = tokenIn(server)
    expect(JSON.stringify(await app.deps.db.read.select().from(oneTimeTokens))).not.toContain(token)
    expect((await reset(app, token)).status).toBe(204)
  })

  test('survives a password that is refused, and is of no use for an address that the account has no more', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop } = await app.merchant()
    const customer = await customerIn(app, shop)
    const token = await mailed(app, server, { email: customer.email, shopName: shop.name })
    for (const weak of ['password1234', 'short']) expect((await reset(app, token, weak)).status).toBe(400)
    await app.deps.db.write(async (tx) => void (await tx.update(customers).set({ email: 'changed@example.com' })))
    expect((await reset(app, token)).status).toBe(401)
  })

  test('proves nothing of an address that the account gets while the new password is made', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const customer = await customerIn(app, shop.shop)
    const victim = 'victim@example.com'
    const { id } = await shop.bought({ email: victim })
    const token = await mailed(app, server, { email: customer.email, shopName: shop.shop.name })
    const { passwords } = app.deps
    const { hash } = passwords
    // Another process changes it, and has not seen the token, which was made at the same time.
    passwords.hash = async (...given) => {
      await app.deps.db.write(async (tx) => void (await tx.update(customers).set({ email: victim })))
      return hash(...given)
    }
    const status = (await reset(app, token)).status
    passwords.hash = hash
    const [row] = await app.deps.db.read.select().from(customers)
    expect([status, row?.emailProvenAt]).toEqual([401, null])
    const login = await app.call('POST', '/customer/login', { body: { shopName: shop.shop.name, email: victim, password } })
    expect([login.status, (await shop.order(id)).customerId]).toEqual([401, null])
  })

  test('is used by one of two who have it', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    const token = await mailed(app, server, { email })
    const statuses = (await Promise.all([reset(app, token, 'the one password'), reset(app, token, 'the other password')])).map(
      ({ status }) => status,
    )
    expect(statuses.sort()).toEqual([204, 401])
  })

  test('that is made up is 401, and after fifty of them 429', async () => {
    await using app = await testApp()
    for (let nth = 0; nth < 50; nth++) expect((await reset(app, `${nth}`.padStart(43, 'A'))).status).toBe(401)
    expect((await reset(app, 'B'.repeat(43))).status).toBe(429)
  })
})

describe('our own page', () => {
  const page = (app: TestApp, path: string, form?: Record<string, string>) =>
    app.call(form ? 'POST' : 'GET', path, {
      ...(form ? { raw: new URLSearchParams(form).toString() } : {}),
      headers: form ? { 'content-type': 'application/x-www-form-urlencoded' } : {},
    })

  test('asks for the password, takes it, and a look uses nothing up', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { email } = await app.merchant()
    const path = `/pages/reset/${await mailed(app, server, { email })}`
    for (let look = 0; look < 3; look++) {
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
    const done = await page(app, path, { password })
    expect([done.status, done.text.includes('Password saved')]).toEqual([200, true])
    for (const form of [undefined, { password: 'yet another password' }])
      expect((await page(app, path, form)).text).toContain('This link has expired')
    expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
    expect(JSON.stringify(app.logged)).not.toContain(path.split('/').at(-1) ?? '')
  })

  test('takes a form and nothing else, of a few kilobytes; there is none of a kind that nobody serves', async () => {
    await using app = await testApp()
    const path = `/pages/reset/${'A'.repeat(43)}`
    expect((await app.call('POST', path, { body: { password } })).status).toBe(415)
    expect((await page(app, path, { password: 'x'.repeat(5_000) })).status).toBe(413)
    expect((await page(app, `/pages/nothing/${'A'.repeat(43)}`)).status).toBe(404)
  })
})
