/** Tests mail about changes of an account. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { mails } from '../../../../db/schema/mail.ts'
import { removeSecondFactor, resetUserPassword } from '../../../../src/modules/identity/merchant/index.ts'
import { issueToken } from '../../../../src/modules/identity/one-time-token/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { customerIn } from '../../../support/customers.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { codeAt, enableTotp } from '../../../support/totp.ts'

setDefaultTimeout(longTestMs)

const withMail = () => testApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Souk <shop@example.com>' })

/** Lists the sent notices with their recipients, in order. */
async function noticesOf(app: TestApp): Promise<[what: string, to: string, shopId: string | null][]> {
  const rows = await app.deps.db.read.select().from(mails).orderBy(asc(mails.id))
  return rows
    .filter(({ template }) => template === 'account-changed')
    .map(({ id, sealed, shopId }) => {
      const { to, data } = JSON.parse(app.deps.keyring.unseal(sealed ?? '', `mail/${id}`))
      return [data.what, to, shopId]
    })
}

test('a merchant gets mail about every new password and about a second factor turned on or off', async () => {
  await using app = await withMail()
  const { id, email, password, token } = await app.merchant()
  const next = 'another long password'
  expect((await app.call('POST', '/auth/password', { token, body: { current: 'not the password', password: next } })).status).toBe(401)
  expect(await noticesOf(app)).toEqual([])
  expect((await app.call('POST', '/auth/password', { token, body: { current: password, password: next } })).status).toBe(204)
  const { secret } = await enableTotp(app, { token, password: next })
  app.clock.advance(30_000)
  const off = { password: next, code: codeAt(secret, app.clock.now()) }
  expect((await app.call('DELETE', '/auth/totp', { token, body: off })).status).toBe(204)
  // A setup that was not completed sends no mail.
  await app.call('POST', '/auth/totp', { token, body: { password: next } })
  expect(await removeSecondFactor(app.deps, email)).toBeDefined()
  await resetUserPassword(app.deps, { email, password })
  const reset = await app.deps.db.write((tx) => issueToken(tx, app.deps, { purpose: 'PASSWORD_RESET', subjectId: id, email }))
  expect((await app.call('POST', '/auth/password/reset', { body: { token: reset, password: next } })).status).toBe(204)
  expect(await noticesOf(app)).toEqual(['password', 'factorOn', 'factorOff', 'password', 'password'].map((what) => [what, email, null]))
})

test('a password reset by mail keeps the second factor on, and the next login requires its code', async () => {
  await using app = await withMail()
  const merchant = await app.merchant()
  const { id, email } = merchant
  const { secret } = await enableTotp(app, merchant)
  const reset = await app.deps.db.write((tx) => issueToken(tx, app.deps, { purpose: 'PASSWORD_RESET', subjectId: id, email }))
  const password = 'another long password'
  expect((await app.call('POST', '/auth/password/reset', { body: { token: reset, password } })).status).toBe(204)
  const challenged = await app.call('POST', '/merchant/login', { body: { email, password } })
  expect([challenged.status, challenged.body.error]).toEqual([401, 'TOTP_REQUIRED'])
  app.clock.advance(30_000)
  const loggedIn = await app.call('POST', '/merchant/login', { body: { email, password, code: codeAt(secret, app.clock.now()) } })
  expect(loggedIn.status).toBe(200)
  const me = await app.call('GET', '/merchant/me', { token: loggedIn.body.data.accessToken })
  expect(me.body.merchant.secondFactor).toBe(true)
})

test('a customer gets mail about a new password, and about a new address at the old one', async () => {
  await using app = await withMail()
  const { shop } = await shopIn(app)
  const { email, password, token } = await customerIn(app, shop)
  const next = 'another long password'
  expect((await app.call('POST', '/auth/password', { token, body: { current: password, password: next } })).status).toBe(204)
  const change = { email: 'elsewhere@example.com', password: next }
  expect((await app.call('PATCH', '/customer/me', { token, body: change })).status).toBe(200)
  expect((await app.call('PATCH', '/customer/me', { token, body: { name: 'Ann' } })).status).toBe(200)
  expect(await noticesOf(app)).toEqual([
    ['password', email, shop.id],
    ['email', email, shop.id],
  ])
})
