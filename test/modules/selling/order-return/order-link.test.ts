/** Returns that the holder of an order's link requests, as JSON and by the form of the page. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { shops } from '../../../../db/schema/shop.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { returnableOf } from '../../../support/returns.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const linkPath = (token: string) => `/v2/orders/public/${token}`
const getPage = async (app: TestApp, token: string) => (await app.call('GET', linkPath(token), { headers: { accept: 'text/html' } })).text
const sendForm = (app: TestApp, token: string, fields: Record<string, string>) =>
  app.call('POST', `/pages/returns/${token}`, {
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

test('the link of an order shows the returnable units and requests a return without a login, and does not show typed text', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token, lineId, orderId } = await returnableOf(shop, { quantity: 2 })
  const body = { lines: [{ lineId, quantity: 1, reason: '<script>1</script>' }] }
  expect(ok(await app.call('GET', linkPath(token))).body).toMatchObject({ returns: [], returnable: [{ lineId, quantity: 2 }] })
  const send = () => app.call('POST', `${linkPath(token)}/returns`, { body, headers: { 'idempotency-key': 'one' } })
  const requested = ok(await send(), 201)
  expect(requested.body).toMatchObject({ status: 'REQUESTED', lines: [{ lineId, quantity: 1 }] })
  expect(ok(await send(), 201).text).toBe(requested.text)
  const { returns, returnable } = ok(await app.call('GET', linkPath(token))).body
  expect([returns, returnable]).toEqual([[requested.body], [{ lineId, quantity: 1 }]])
  expect(await getPage(app, token)).not.toContain('script')
  expect(ok(await shop.get(`/v2/orders/${orderId}/returns`)).body.data).toMatchObject([
    { requestedBy: 'SHOPPER', lines: [{ reason: '<script>1</script>' }] },
  ])
  expect((await app.call('POST', `${linkPath('x'.repeat(60))}/returns`, { body })).status).toBe(404)
})

test('the page of an order has a form without scripts that requests a return once, and shows its status', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token, lineId, orderId } = await returnableOf(shop, { quantity: 2 })
  const html = await getPage(app, token)
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(html) ?? []
  const [, action = ''] = /action="([^"]+)"/.exec(html) ?? []
  expect(new URL(action, `http://shop.example${linkPath(token)}`).pathname).toBe(`/pages/returns/${token}`)
  expect(html).toContain('max="2"')
  const fields = { key, [`quantity.${lineId}`]: '1', reason: 'Too small' }
  for (const nth of [1, 2]) {
    const sent = await sendForm(app, token, fields)
    expect([nth, sent.status, new URL(sent.headers.get('location') ?? '', `http://a.example/pages/returns/${token}`).pathname]).toEqual([
      nth,
      303,
      linkPath(token),
    ])
  }
  expect(ok(await shop.get(`/v2/orders/${orderId}/returns`)).body.data).toHaveLength(1)
  expect(await getPage(app, token)).toContain('Return requested')
  for (const invalid of [
    { ...fields, key: 'two', [`quantity.${lineId}`]: '2' },
    { ...fields, key: 'three', [`quantity.${lineId}`]: '-1' },
    { ...fields, key: 'four', [`quantity.${lineId}`]: '1e3' },
    { ...fields, key: 'five', reason: ' ' },
    { ...fields, key: 'six', [`quantity.${lineId}`]: '0' },
    {},
  ] as Record<string, string>[]) {
    const answer = await sendForm(app, token, invalid)
    expect([answer.status, answer.text.includes('role="alert"')], JSON.stringify(invalid)).toEqual([200, true])
  }
  expect(ok(await shop.get(`/v2/orders/${orderId}/returns`)).body.data).toHaveLength(1)
})

test('a suspended shop and a shop with 0 return days accept no returns', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { token, body } = await returnableOf(shop)
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { returnDays: 0 } }))
  expect(ok(await app.call('GET', linkPath(token))).body.returnable).toEqual([])
  expect(await getPage(app, token)).not.toContain('<form')
  expect((await app.call('POST', `${linkPath(token)}/returns`, { body })).status).toBe(409)
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { returnDays: 30 } }))
  await app.deps.db.write(async (tx) => {
    await tx.update(shops).set({ status: 'SUSPENDED' }).where(eq(shops.id, shop.shop.id))
  })
  expect((await app.call('POST', `${linkPath(token)}/returns`, { body })).body).toMatchObject({ statusCode: 409, code: 'shop_suspended' })
})
