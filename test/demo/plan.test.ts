import { describe, expect, test } from 'bun:test'
import { demoShops } from '../../src/demo/fill.ts'
import { planOf } from '../../src/demo/plan.ts'
import { dayMs } from '../../src/lib/day.ts'
import { codeLength, codeOf } from '../../src/modules/selling/gift-card/domain.ts'

/** Years that begin on each day of the week, because the number of orders depends on it. */
const starts = Array.from({ length: 7 }, (_, day) => Date.UTC(2025, 2, 10) + day * dayMs)
const years = starts.flatMap((start) => demoShops.map((shop) => ({ day: new Date(start).getUTCDay(), name: shop.name, shop, start })))

describe.each(years)('the year of $name from weekday $day', ({ shop, start }) => {
  const plan = planOf(shop, start)

  test('planning a year again gives the same plan', () => {
    expect(planOf(shop, start)).toEqual(plan)
  })

  test('a planned year has the expected number of orders, in order, with unique ids and of products already on sale', () => {
    const { orders, products } = plan
    expect(orders).toHaveLength(shop.ordersInYear)
    expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length)
    expect(orders.map(({ id }) => id)).toEqual(orders.map(({ id }) => id).toSorted())
    const onSaleAt = new Map(products.filter(({ status }) => status === 'ACTIVE').map(({ handle, at }) => [handle, at]))
    for (const { at, lines } of orders) {
      expect([start + shop.opensDay * dayMs < at, at < start + 365 * dayMs]).toEqual([true, true])
      expect(lines.length).toBeGreaterThan(0)
      for (const { handle } of lines) expect(onSaleAt.get(handle) ?? Number.POSITIVE_INFINITY).toBeLessThan(at)
    }
  })

  test('a planned year has an order of every customer, and uses each gift card that it plans to use while it is valid', () => {
    const buyers = new Set(plan.orders.map(({ buyer }) => buyer.email))
    for (const { email } of plan.customers) expect(buyers).toContain(email)
    for (const [nth, card] of plan.cards.entries()) {
      expect(codeOf(card.chance)).toHaveLength(codeLength)
      const order = plan.orders.find(({ id }) => id === card.orderId)
      expect(order !== undefined).toBe(shop.cards[nth]?.used !== undefined)
      if (!order) continue
      expect(order.at).toBeGreaterThan(card.issuedAt)
      expect(order.at).toBeLessThan(Math.min(card.expiresAt ?? Number.POSITIVE_INFINITY, card.disabledAt ?? Number.POSITIVE_INFINITY))
    }
  })
})
