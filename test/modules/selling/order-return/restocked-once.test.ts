/** Goods of returns and refunds go back to stock once. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** An order of some mugs of which some were sent, and the steps of its returns and refunds. */
async function sentOrder(shop: Selling, { quantity, sent }: { quantity: number; sent: number }) {
  const { id, lines } = await shop.placeOrder({ quantity })
  const lineId: string = lines[0].id
  ok(await shop.post(`/v2/orders/${id}/fulfilments`, { lines: [{ lineId, quantity: sent }] }))
  return {
    refund: async (units: number) => ok(await shop.refund(id, { lines: [{ lineId, quantity: units, restock: true }] })),
    read: () => shop.order(id),
    /** Requests and approves a return, and answers its receipt. */
    async approvedReturn(units: number) {
      const { id: returnId } = ok(
        await shop.post(`/v2/orders/${id}/returns`, { lines: [{ lineId, quantity: units, reason: 'Torn' }] }),
      ).body
      ok(await shop.post(`/v2/orders/${id}/returns/${returnId}/approve`, {}))
      return async (body: { restock: boolean; refund: boolean }) =>
        ok(await shop.post(`/v2/orders/${id}/returns/${returnId}/receive`, body))
    },
  }
}

test('a refund that restocked a unit leaves nothing for the return of the same unit to restock', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const order = await sentOrder(shop, { quantity: 1, sent: 1 })
  const receive = await order.approvedReturn(1)
  await order.refund(1)
  expect((await shop.stock()).onHand).toBe(10)
  await receive({ restock: true, refund: false })
  expect((await shop.stock()).onHand).toBe(10)
})

test('a return that restocked a unit leaves nothing for a later refund of the same unit to restock', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const order = await sentOrder(shop, { quantity: 3, sent: 2 })
  await (await order.approvedReturn(1))({ restock: true, refund: false })
  expect((await shop.stock()).onHand).toBe(8)
  // The unsent unit, and the one that came back: the shopper has the third.
  await order.refund(2)
  expect((await shop.stock()).onHand).toBe(9)
})

test('a refund shows whether it restocked units, and one that did not leaves them to a later refund', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const order = await sentOrder(shop, { quantity: 3, sent: 3 })
  await (await order.approvedReturn(1))({ restock: true, refund: false })
  const first = (await order.refund(1)).body
  expect([first.lines[0].restock, (await shop.stock()).onHand]).toEqual([false, 8])
  await (await order.approvedReturn(1))({ restock: false, refund: false })
  const second = (await order.refund(1)).body
  expect([second.lines[0].restock, (await shop.stock()).onHand]).toEqual([true, 9])
  expect((await order.read()).refunds).toEqual([first, second])
})

test('a return and a refund of different units restock both, and so does a refund after a return without restocking', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const order = await sentOrder(shop, { quantity: 3, sent: 3 })
  await order.refund(1)
  await (await order.approvedReturn(1))({ restock: true, refund: true })
  expect((await shop.stock()).onHand).toBe(9)
  await (await order.approvedReturn(1))({ restock: false, refund: false })
  expect((await shop.stock()).onHand).toBe(9)
  await order.refund(1)
  expect((await shop.stock()).onHand).toBe(10)
})
