/** A gift card with its transactions. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test("shows a gift card's transactions newest first, and never its code", async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id, code } = await shop.giftCard(5_000)
  const cart = await shop.cart()
  ok(await app.call('PATCH', '/giftcard/apply', { key: shop.secretKey, body: { code, cartId: cart } }))
  const { order } = ok(await shop.checkout(cart)).body
  const refund = ok(await shop.refund(order.id, { amount: { amount: 400, currency: 'USD' } })).body
  const answer = ok(await shop.get(`/giftcard/${id}`))
  const { transactions, ...card } = answer.body
  expect(card).toMatchObject({ id, balance: { amount: 4_400, currency: 'USD' }, initialAmount: { amount: 5_000, currency: 'USD' } })
  const at = expect.any(String)
  const row = (kind: string, amount: number, orderId: string | null, refundId: string | null) => ({
    ...{ id: expect.any(String), kind, amount: { amount, currency: 'USD' }, orderId, refundId, at },
  })
  expect(transactions).toEqual([
    row('REFUND', 400, order.id, refund.id),
    row('HOLD', -1_000, order.id, null),
    row('ISSUE', 5_000, null, null),
  ])
  expect(answer.headers.get('etag')).toBe((await shop.get(`/giftcard/${id}`)).headers.get('etag'))
  expect(answer.text).not.toContain(code)
  expect(answer.text).not.toContain(code.replaceAll('-', ''))
  const other = await sellingIn(app)
  expect((await other.get(`/giftcard/${id}`)).status).toBe(404)
})
