import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Writer } from '../../../../db/engine.ts'
import { affiliateClicks, commissions } from '../../../../db/schema/ledger.ts'
import { approveCommissions } from '../../../../jobs/approve-commissions.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { attributeOrder, removeCommission, reverseCommission } from '../../../../src/modules/selling/affiliate/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { shopIn } from '../../../support/catalog.ts'
import { insertOrder } from '../../../support/order-rows.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function openShopWithAffiliate(app: TestApp) {
  const shop = await shopIn(app)
  const { body: affiliate } = await shop.post('/affiliates', { name: 'Ann', code: 'ann', rateBps: 1_000 })
  /** Inserts an order of 100.00 less a discount of 20.00, just referred by the affiliate's code. */
  const order = (fields: Parameters<typeof insertOrder>[2] = {}) =>
    insertOrder(app, shop.shop.id, {
      currency: 'EUR',
      subtotal: 10_000,
      discountTotal: 2_000,
      total: 9_000,
      affiliateCode: 'ann',
      affiliateAt: app.clock.now(),
      ...fields,
    })
  return { ...shop, affiliate, order }
}

type Order = Awaited<ReturnType<typeof insertOrder>>
const attribute = (app: TestApp, order: Order) => app.deps.db.write((tx) => attributeOrder(tx, app.deps, order))
const refund = (app: TestApp, orderId: string, refunded: number, of = 9_000) =>
  app.deps.db.write((tx) => reverseCommission(tx, app.deps, { orderId, refunded, of }))

async function commissionOf(app: TestApp, orderId: string) {
  const [row] = await app.deps.db.read.select().from(commissions).where(eq(commissions.orderId, orderId))
  return row
}

describe('attribution of orders to affiliates', () => {
  test('stores a commission on the goods less discounts, pending for fourteen days', async () => {
    await using app = await testApp()
    const { shop, affiliate, order } = await openShopWithAffiliate(app)
    const placed = await order()
    const now = app.clock.now()
    expect(await attribute(app, placed)).toBe(affiliate.id)
    expect(await commissionOf(app, placed.id)).toEqual({
      orderId: placed.id,
      affiliateId: affiliate.id,
      shopId: shop.id,
      currency: 'EUR',
      amount: 800,
      reversed: 0,
      status: 'PENDING',
      approvesAt: now + 14 * dayMs,
      createdAt: now,
      updatedAt: now,
    })
  })

  test('attributes an order up to thirty days after the click, to the millisecond, even if it runs later', async () => {
    await using app = await testApp()
    const { affiliate, order } = await openShopWithAffiliate(app)
    const clickedAt = app.clock.now()
    app.clock.advance(30 * dayMs)
    const inTime = await order({ affiliateAt: clickedAt })
    app.clock.advance(1)
    const tooLate = await order({ affiliateAt: clickedAt })
    app.clock.advance(5 * dayMs)
    expect(await attribute(app, inTime)).toBe(affiliate.id)
    expect(await commissionOf(app, inTime.id)).toMatchObject({ approvesAt: app.clock.now() + 14 * dayMs })
    expect(await attribute(app, tooLate)).toBeUndefined()
    expect(await commissionOf(app, tooLate.id)).toBeUndefined()
  })

  test('attributes no order without a code, or with an unknown, inactive or foreign code', async () => {
    await using app = await testApp()
    const { affiliate, order, patch } = await openShopWithAffiliate(app)
    const other = await openShopWithAffiliate(app)
    expect(await attribute(app, await order({ affiliateCode: null, affiliateAt: null }))).toBeUndefined()
    expect(await attribute(app, await order({ affiliateCode: 'nobody' }))).toBeUndefined()
    expect(await attribute(app, await order({ affiliateCode: 'ANN' }))).toBe(affiliate.id)
    await patch(`/affiliates/${affiliate.id}`, { active: false })
    expect(await attribute(app, await order())).toBeUndefined()
    expect(await attribute(app, await other.order())).toBe(other.affiliate.id)
    expect(await app.deps.db.read.select().from(commissions)).toHaveLength(2)
  })

  test('keeps a stored commission when an order is attributed again after the affiliate changed', async () => {
    await using app = await testApp()
    const { affiliate, order, patch } = await openShopWithAffiliate(app)
    const placed = await order()
    await attribute(app, placed)
    const before = await commissionOf(app, placed.id)
    app.clock.advance(1_000)
    await patch(`/affiliates/${affiliate.id}`, { active: false, rateBps: 5_000 })
    expect(await attribute(app, placed)).toBe(affiliate.id)
    expect(await commissionOf(app, placed.id)).toEqual(before)
  })

  test('stores a commission of zero for a free order, and removes the commission of an order that fails', async () => {
    await using app = await testApp()
    const { affiliate, order } = await openShopWithAffiliate(app)
    const freeOrder = await order({ subtotal: 0, discountTotal: 0, total: 0 })
    expect(await attribute(app, freeOrder)).toBe(affiliate.id)
    expect(await commissionOf(app, freeOrder.id)).toMatchObject({ amount: 0, status: 'PENDING' })
    await app.deps.db.write((tx) => removeCommission(tx, freeOrder.id))
    await app.deps.db.write((tx) => removeCommission(tx, freeOrder.id))
    expect(await commissionOf(app, freeOrder.id)).toBeUndefined()
  })

  test('rolls an attribution back with its write, and is safe to repeat', async () => {
    await using app = await testApp()
    const { affiliate, order } = await openShopWithAffiliate(app)
    const placed = await order()
    const work = (tx: Writer) => attributeOrder(tx, app.deps, placed)
    const failed = app.deps.db.write(async (tx) => {
      await work(tx)
      throw new Error('the write fails')
    })
    await expect(failed).rejects.toThrow('the write fails')
    expect(await commissionOf(app, placed.id)).toBeUndefined()
    expect(await app.deps.db.write(work)).toBe(affiliate.id)
    expect(await app.deps.db.write(work)).toBe(affiliate.id)
  })

  test('stores one commission when an order is attributed several times at once', async () => {
    await using app = await testApp()
    const { affiliate, order } = await openShopWithAffiliate(app)
    const placed = await order()
    const found = await Promise.all(Array.from({ length: 8 }, () => attribute(app, placed)))
    expect(found).toEqual(Array.from({ length: 8 }, () => affiliate.id))
    expect(await app.deps.db.read.select().from(commissions)).toHaveLength(1)
  })
})

describe('reversal of commissions by refunds', () => {
  test('reverses the share of all refunds so far, and ignores a repeated or smaller total', async () => {
    await using app = await testApp()
    const { order } = await openShopWithAffiliate(app)
    const placed = await order()
    await attribute(app, placed)
    app.clock.advance(1_000)
    for (const [refunded, reversed] of [
      [3_000, 267],
      [3_000, 267],
      [4_500, 400],
      [3_000, 400],
    ] as const) {
      await refund(app, placed.id, refunded)
      expect(await commissionOf(app, placed.id)).toMatchObject({ amount: 800, reversed, status: 'PENDING', updatedAt: app.clock.now() })
    }
  })

  test('ends a commission at a full refund, before and after approval, and ignores smaller totals afterwards', async () => {
    await using app = await testApp()
    const { order } = await openShopWithAffiliate(app)
    const pending = await order()
    const approved = await order()
    await attribute(app, pending)
    await attribute(app, approved)
    await refund(app, pending.id, 9_000)
    app.clock.advance(14 * dayMs)
    expect((await approveCommissions(app.deps)).approved).toBe(1)
    await refund(app, approved.id, 900)
    expect(await commissionOf(app, approved.id)).toMatchObject({ reversed: 80, status: 'APPROVED' })
    await refund(app, approved.id, 9_000)
    await refund(app, approved.id, 900)
    for (const { id } of [pending, approved]) expect(await commissionOf(app, id)).toMatchObject({ reversed: 800, status: 'REVERSED' })
  })

  test('reverses the commission on refunded goods, and a share of the total for other refund amounts', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { price: 997 })
    ok(
      await shop.put('/shops/v2/tax-rates', {
        data: [
          { country: 'US', rateBps: 825 },
          { country: 'US', class: 'reduced', rateBps: 2_000, inclusive: true },
        ],
      }),
    )
    ok(await shop.put('/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', price: shop.usd(1_500) }] }))
    ok(await shop.post('/discounts', { title: 'Spring', kind: 'PERCENT', valueBps: 1_234 }), 201)
    const other = await shop.add({ title: 'Book', variants: [{ price: shop.usd(2_400), onHand: 10, taxClass: 'reduced' }] })
    ok(await shop.post('/affiliates', { name: 'Ann', code: 'ann', rateBps: 777 }), 201)
    const sold = { affiliateCode: 'ann', shippingAddress: address, shippingMethod: 'post' }
    const placeOrder = () => shop.placeOrder({ ...sold, quantity: 3, variants: [shop.variantId, String(other.variants[0]?.id)] })
    // The commission is on 3 × 9.97 and 3 × 24.00, less 12.34 % and the tax in the second: 26.22 and 52.59.
    const refundAndRead = async (id: string, body: Record<string, unknown>) => {
      ok(await shop.refund(id, body), 201)
      return commissionOf(app, id)
    }
    const piecewise = await placeOrder()
    const [mug, book] = piecewise.lines.map(({ id }: { id: string }) => id)
    expect(await commissionOf(app, piecewise.id)).toMatchObject({ amount: 612, reversed: 0, status: 'PENDING' })
    expect(await refundAndRead(piecewise.id, { lines: [{ lineId: mug, quantity: 1 }] })).toMatchObject({ reversed: 68, status: 'PENDING' })
    expect(await refundAndRead(piecewise.id, { lines: [{ lineId: mug, quantity: 2 }] })).toMatchObject({ reversed: 204, status: 'PENDING' })
    expect(await refundAndRead(piecewise.id, { lines: [{ lineId: book, quantity: 3 }] })).toMatchObject({
      reversed: 612,
      status: 'REVERSED',
    })
    const mixed = await placeOrder()
    expect(mixed.total).toEqual(shop.usd(10_649))
    expect(await refundAndRead(mixed.id, { amount: shop.usd(1_500) })).toMatchObject({ reversed: 86, status: 'PENDING' })
    expect(await refundAndRead(mixed.id, { lines: [{ lineId: mixed.lines[0].id, quantity: 3 }] })).toMatchObject({
      reversed: 290,
      status: 'PENDING',
    })
    expect(await refundAndRead(mixed.id, { all: true })).toMatchObject({ reversed: 612, status: 'REVERSED' })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

  test('ignores refunds of orders without an affiliate', async () => {
    await using app = await testApp()
    const { order } = await openShopWithAffiliate(app)
    const placed = await order({ affiliateCode: null, affiliateAt: null })
    await attribute(app, placed)
    await refund(app, placed.id, 9_000)
    expect(await app.deps.db.read.select().from(commissions)).toEqual([])
  })
})

describe('the job that approves commissions', () => {
  test('approves a commission once, when the refund window has passed, to the millisecond', async () => {
    await using app = await testApp()
    const { order } = await openShopWithAffiliate(app)
    const placed = await order()
    await attribute(app, placed)
    await refund(app, placed.id, 900)
    app.clock.advance(14 * dayMs - 1)
    expect((await approveCommissions(app.deps)).approved).toBe(0)
    app.clock.advance(1)
    expect((await approveCommissions(app.deps)).approved).toBe(1)
    expect(await commissionOf(app, placed.id)).toMatchObject({ status: 'APPROVED', reversed: 80, updatedAt: app.clock.now() })
    expect((await approveCommissions(app.deps)).approved).toBe(0)
  })

  test('does not approve a commission that a full refund has ended', async () => {
    await using app = await testApp()
    const { order } = await openShopWithAffiliate(app)
    const placed = await order()
    await attribute(app, placed)
    await refund(app, placed.id, 9_000)
    app.clock.advance(15 * dayMs)
    expect((await approveCommissions(app.deps)).approved).toBe(0)
    expect(await commissionOf(app, placed.id)).toMatchObject({ status: 'REVERSED' })
  })

  test('deletes only clicks older than thirty days, in small writes', async () => {
    await using app = await testApp()
    const { affiliate } = await openShopWithAffiliate(app)
    const { db, clock, newId } = app.deps
    const click = (at: number) => ({ id: newId('click'), affiliateId: String(affiliate.id), at })
    const edge = clock.now() - 30 * dayMs
    const old = Array.from({ length: 1_200 }, () => click(edge - 1))
    await db.write(async (tx) => void (await tx.insert(affiliateClicks).values([...old, click(edge), click(clock.now())])))
    const { writes } = db.stats
    expect(await approveCommissions(app.deps)).toEqual({ approved: 0, removedClicks: 1_200 })
    // Three writes delete clicks, and one approves commissions.
    expect(db.stats.writes - writes).toBe(4)
    expect((await db.read.select().from(affiliateClicks)).map(({ at }) => at).sort()).toEqual([edge, clock.now()].sort())
  })

  test('approves many commissions in small writes', async () => {
    await using app = await testApp()
    const { shop, affiliate } = await openShopWithAffiliate(app)
    const { db } = app.deps
    const common = {
      affiliateId: String(affiliate.id),
      shopId: shop.id,
      currency: 'USD',
      amount: 1,
      reversed: 0,
      createdAt: 0,
      updatedAt: 0,
    }
    const placed = await Promise.all(Array.from({ length: 520 }, () => insertOrder(app, shop.id)))
    const rows = placed.map(({ id }) => ({ ...common, orderId: id, status: 'PENDING' as const, approvesAt: 0 }))
    await db.write(async (tx) => void (await tx.insert(commissions).values(rows)))
    const { writes } = db.stats
    expect((await approveCommissions(app.deps)).approved).toBe(520)
    expect(db.stats.writes - writes).toBe(3)
  })
})
