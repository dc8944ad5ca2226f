/** Tests claims of shop-created accounts by mail, and mails to the old address when an email address changes. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { backfillKpis, checkKpis } from '../../../../src/modules/operations/kpi/index.ts'
import { testApp } from '../../../support/app.ts'
import { customerIn } from '../../../support/customers.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows, sendMails } from '../../../support/mails.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const email = 'ann@example.com'

describe('claiming an account that the shop created', () => {
  test('mails a signup with the address of a shop-created account a link to set its password', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    await backfillKpis(app.deps)
    const { id } = ok(await shop.post('/customer', { email, name: 'Ann' })).body
    await sendMails(app)
    expect(server.received).toEqual([])
    const signup = () =>
      app.call('POST', '/customer/signup', {
        body: { shopName: shop.shop.name, email: email.toUpperCase(), password: 'a password of mine' },
      })
    expect((await signup()).status).toBe(409)
    await sendMails(app)
    expect(server.received.map((mail) => [mail.to, mail.headers.get('subject')])).toEqual([[[email], `Your account at ${shop.shop.title}`]])
    const token = /\/pages\/reset\/([\w-]{43})/.exec(server.received[0]?.text ?? '')?.[1]
    const password = 'the password of Ann'
    expect((await app.call('POST', '/auth/password/reset', { body: { token, password } })).status).toBe(204)
    const login = await app.call('POST', '/customer/login', { body: { shopName: shop.shop.name, email, password } })
    expect(login.status).toBe(200)
    expect((await app.call('GET', '/customer/me', { token: login.body.data.accessToken })).body).toMatchObject({ id, emailVerified: true })
    expect(await Array.fromAsync(checkKpis(app.deps.db.read))).toEqual([{ subject: 'figures of the dashboards', problems: [] }])
    // The account now has a password, so that further signups send no mail.
    expect((await signup()).status).toBe(409)
    await sendMails(app)
    expect(server.received).toHaveLength(1)
  })

  test('limits mails about a shop-created account to five an hour, for signups and password requests together', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    ok(await shop.post('/customer', { email }))
    const forgot = () => app.call('POST', '/auth/password/forgot', { body: { email, shopName: shop.shop.name } })
    expect((await forgot()).status).toBe(202)
    await sendMails(app)
    expect(server.received.map((mail) => mail.headers.get('subject'))).toEqual([`Your account at ${shop.shop.title}`])
    for (let nth = 0; nth < 8; nth++)
      await app.call('POST', '/customer/signup', { body: { shopName: shop.shop.name, email, password: 'a password of mine' } })
    expect(await mailRows(app)).toHaveLength(5)
  })

  test('mails the old address when a customer changes it, without the new address', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const customer = await customerIn(app, shop.shop)
    const change = { email: 'another@example.com', password: customer.password }
    ok(await app.call('PATCH', '/customer/me', { token: customer.token, body: { name: 'Ann' } }))
    ok(await app.call('PATCH', '/customer/me', { token: customer.token, body: change }))
    await sendMails(app)
    expect(server.received.map((mail) => [mail.to, mail.headers.get('subject')])).toEqual([
      [[customer.email], `Your account at ${shop.shop.title} was changed`],
    ])
    expect(JSON.stringify(server.received)).not.toContain(change.email)
  })
})
