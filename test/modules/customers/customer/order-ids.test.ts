import { expect, setDefaultTimeout, test } from 'bun:test'
import { orders } from '../../../../db/schema/selling.ts'
import { countOrder } from '../../../../src/modules/customers/customer/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const zeroTotals = {
  subtotal: 0,
  discountTotal: 0,
  shippingTotal: 0,
  taxTotal: 0,
  taxIncluded: 0,
  giftCardTotal: 0,
  total: 0,
  amountDue: 0,
}
const zeroPayments = { capturedTotal: 0, refundedTotal: 0, giftCardRefundedTotal: 0 }
const placedState = { status: 'PENDING_PAYMENT', paymentStatus: 'PENDING', fulfilmentStatus: 'UNFULFILLED' } as const
let lastNumber = 0

/** Inserts orders of a customer directly. Returns their ids, oldest first. */
async function insertOrders(
  app: TestApp,
  { shopId, customerId, currency = 'USD' }: { shopId: string; customerId: string; currency?: string },
  n: number,
) {
  const rows = Array.from({ length: n }, () => ({
    ...zeroTotals,
    ...zeroPayments,
    ...placedState,
    id: app.deps.newId('order'),
    shopId,
    number: ++lastNumber,
    cartId: app.deps.newId('cart'),
    customerId,
    email: 'zq9@example.com',
    currency,
    expiresAt: 0,
    createdAt: 0,
    updatedAt: 0,
  }))
  await app.deps.db.write(async (tx) => {
    for (const row of rows) {
      await tx.insert(orders).values(row)
      await countOrder(tx, { customerId, currency, mode: 'TEST' })
    }
  })
  return rows.map(({ id }) => id)
}

async function createCustomerWithOrders(app: TestApp, n: number) {
  const shop = await shopIn(app)
  const { body: customer } = await shop.post('/customer', { email: 'a@example.com' })
  const owner = { shopId: shop.shop.id, customerId: String(customer.id) }
  const oldestFirst = await insertOrders(app, owner, n)
  return { ...shop, whose: owner, newestFirst: oldestFirst.toReversed(), path: `/customer/${customer.id}/order-ids` }
}

test("lists only the ids of a customer's orders in every currency, newest first, in pages with a total", async () => {
  await using app = await testApp()
  const { whose: owner, newestFirst, path, get } = await createCustomerWithOrders(app, 23)
  const [newest] = await insertOrders(app, { ...owner, currency: 'KWD' }, 1)
  const { body: other } = await (await shopIn(app)).post('/customer', { email: 'a@example.com' })
  await insertOrders(app, { shopId: other.shopId, customerId: other.id }, 2)
  const ids = [newest, ...newestFirst]
  const first = await get(path)
  expect([first.status, first.body]).toEqual([200, { customerId: owner.customerId, orderIds: ids.slice(0, 20), total: 24 }])
  expect(first.headers.get('cache-control')).toBe('no-store')
  expect(first.text).not.toContain('zq9@')
  expect((await get(`${path}?page=2`)).body).toEqual({ customerId: owner.customerId, orderIds: ids.slice(20), total: 24 })
  expect((await get(`${path}?page=3&limit=5`)).body.orderIds).toEqual(ids.slice(10, 15))
})

test('returns an empty page past the end, and for a customer without orders', async () => {
  await using app = await testApp()
  const { path, post, get } = await createCustomerWithOrders(app, 1)
  expect((await get(`${path}?page=2`)).body).toMatchObject({ orderIds: [], total: 1 })
  expect((await get(`${path}?page=999999999&limit=1000`)).body).toMatchObject({ orderIds: [], total: 1 })
  const { body: customer } = await post('/customer', { email: 'b@example.com' })
  expect((await get(`/customer/${customer.id}/order-ids`)).body).toEqual({ customerId: customer.id, orderIds: [], total: 0 })
})

test('clamps the limit to 1..1,000, and rejects page or limit values that are not numbers', async () => {
  await using app = await testApp()
  const { newestFirst, path, get } = await createCustomerWithOrders(app, 1_002)
  for (const [limit, length] of [
    [1_002, 1_000],
    [1_000, 1_000],
    [999, 999],
    [0, 1],
    [-5, 1],
  ] as const)
    expect((await get(`${path}?limit=${limit}`)).body).toMatchObject({ orderIds: newestFirst.slice(0, length), total: 1_002 })
  expect((await get(`${path}?limit=1000&page=2`)).body.orderIds).toEqual(newestFirst.slice(1_000))
  for (const [field, query] of [
    ['page', 'page=zq9'],
    ['page', 'page=0'],
    ['limit', 'limit=zq9'],
    ['limit', 'limit=1.5'],
  ] as const) {
    const answer = await get(`${path}?${query}`)
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(`${field}:`)])
    expect(answer.text).not.toContain('zq9')
  }
})
