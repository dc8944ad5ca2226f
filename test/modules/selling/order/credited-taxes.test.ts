/** The taxes of all credit notes add up to those of the order, for refunds of any kind in any order. */
import { expect, test } from 'bun:test'
import { storedTaxRate } from '../../../../src/lib/tax-rate.ts'
import { creditedTaxes, taxTotalsOf } from '../../../../src/modules/selling/order/index.ts'

let state = 34
/** Returns a pseudo-random integer from 0 to `max` - 1. */
function randomBelow(max: number): number {
  state = (state * 48_271) % 2_147_483_647
  return state % max
}

function randomOrder() {
  const rates = [0, 500, 887.5, 2_000]
  const lines = Array.from({ length: 1 + randomBelow(6) }, (_, n) => {
    const total = randomBelow(10_000)
    const discount = randomBelow(total + 1)
    const rateBps = rates[randomBelow(rates.length)] ?? 0
    const taxInclusive = randomBelow(2) === 1
    const base = total - discount
    const taxAmount = Math.round(taxInclusive ? (base * rateBps) / (10_000 + rateBps) : (base * rateBps) / 10_000)
    return { id: `line_${n}`, giftCard: randomBelow(5) === 0, total, discount, taxInclusive, taxAmount, ...storedTaxRate(rateBps) }
  })
  const shippingTotal = randomBelow(2) * randomBelow(3_000)
  const order = {
    ...{ shippingTotal, shippingTax: Math.round(shippingTotal * 0.2), shippingTaxInclusive: false },
    shippingTaxHundredths: shippingTotal > 0 ? 200_000 : 0,
  }
  return { order, lines, total: sum(taxTotalsOf(order, lines)) }
}
const sum = (taxes: readonly { net: number; tax: number }[]): number => taxes.reduce((all, { net, tax }) => all + net + tax, 0)

test('credits exactly the net amounts and taxes of the order when everything is refunded', () => {
  for (let n = 0; n < 2_000; n++) {
    const { order, lines, total } = randomOrder()
    const refunds: Parameters<typeof creditedTaxes>[2][number][] = []
    for (let left = total; left > 0; ) {
      const line = lines[randomBelow(lines.length)]
      const amount = randomBelow(3) === 0 ? left : 1 + randomBelow(left)
      const refundedLines =
        line && randomBelow(2) === 1 ? [{ lineId: line.id, quantity: 1, amount: 1 + randomBelow(amount), restock: false }] : []
      const giftCardAmount = randomBelow(amount + 1)
      refunds.push({ amount: amount - giftCardAmount, giftCardAmount, lines: refundedLines })
      left -= amount
    }
    const credited = creditedTaxes(order, lines, refunds)
    expect(credited.map(sum)).toEqual(refunds.map(({ amount, giftCardAmount }) => amount + giftCardAmount))
    for (const { net, tax } of credited.flat()) expect([net >= -1, tax >= 0]).toEqual([true, true])
    const totals = new Map<string, [number, number]>()
    for (const { rateBps, inclusive, net, tax } of credited.flat()) {
      const [nets, taxes] = totals.get(`${rateBps}/${inclusive}`) ?? [0, 0]
      totals.set(`${rateBps}/${inclusive}`, [nets + net, taxes + tax])
    }
    const expected = taxTotalsOf(order, lines).filter(({ net, tax }) => net + tax > 0)
    expect(new Map(expected.map(({ rateBps, inclusive, net, tax }) => [`${rateBps}/${inclusive}`, [net, tax]]))).toEqual(totals as never)
    // A later refund does not change earlier credit notes.
    expect(creditedTaxes(order, lines, refunds.slice(0, -1))).toEqual(credited.slice(0, -1))
  }
})

test('credits a refunded line at its own rate, and an amount beyond the order without tax', () => {
  const order = { shippingTotal: 500, shippingTax: 100, shippingTaxHundredths: 200_000, shippingTaxInclusive: false }
  const line = { giftCard: false, total: 1_000, discount: 0, taxInclusive: true, taxAmount: 91, ...storedTaxRate(1_000) }
  const lines = [
    { ...line, id: 'a' },
    { ...line, id: 'b', taxInclusive: false, taxAmount: 200, ...storedTaxRate(2_000) },
  ]
  const refund = (amount: number, lineId?: string) => ({
    ...{ amount, giftCardAmount: 0 },
    lines: lineId === undefined ? [] : [{ lineId, quantity: 1, amount, restock: false }],
  })
  expect(creditedTaxes(order, lines, [refund(1_000, 'a'), refund(1_900)])).toEqual([
    [{ rateBps: 1_000, inclusive: true, net: 909, tax: 91 }],
    [
      { rateBps: 0, inclusive: false, net: 100, tax: 0 },
      { rateBps: 2_000, inclusive: false, net: 1_500, tax: 300 },
    ],
  ])
})

test('credits an amount on goods and shipping before it credits gift cards, which an amount leaves in use', () => {
  const order = { shippingTotal: 0, shippingTax: 0, shippingTaxHundredths: 0, shippingTaxInclusive: false }
  const line = { total: 1_100, discount: 0, taxInclusive: true, taxAmount: 100, ...storedTaxRate(1_000) }
  const lines = [
    { ...line, id: 'goods', giftCard: false },
    { ...line, id: 'card', giftCard: true, taxAmount: 0, ...storedTaxRate(0) },
  ]
  const refund = { amount: 1_100, giftCardAmount: 0, lines: [] }
  expect(creditedTaxes(order, lines, [refund, refund])).toEqual([
    [{ rateBps: 1_000, inclusive: true, net: 1_000, tax: 100 }],
    [{ rateBps: 0, inclusive: true, net: 1_100, tax: 0 }],
  ])
})
