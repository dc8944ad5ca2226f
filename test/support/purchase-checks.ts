/** Checks of a purchase and its refunds. */
import { expect } from 'bun:test'
import { hundredthsOf, storedTaxRate } from '../../src/lib/tax-rate.ts'
import { pricedAsSeen } from '../../src/modules/selling/cart/pricing.ts'
import { type OrderGiftCard, type OrderLine, type Refund, refundable, refundParts } from '../../src/modules/selling/order/domain.ts'
import { linesToRefund } from '../../src/modules/selling/order/refunds/refund-lines.ts'
import { taxTotalsOf } from '../../src/modules/selling/order/tax-totals.ts'
import { expectedOf, type Purchase, snapshotOf } from './random-purchases.ts'

const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0)

/** Prices a purchase, compares it with the oracle, and refunds it in parts and then completely. */
export function checkPurchase(purchase: Purchase): void {
  const { lines, totals, draws, shippingRate } = pricedAsSeen(snapshotOf(purchase), 1_000)
  const expected = expectedOf(purchase)
  const exact = Object.fromEntries(Object.entries(totals).map(([name, amount]) => [name, BigInt(amount)]))
  expect(exact).toEqual(expected.totals)
  expect(
    lines.map(({ total, discount, taxRateBps, taxInclusive, taxAmount }) => ({
      total: BigInt(total),
      off: BigInt(discount),
      rateBps: taxRateBps,
      inclusive: taxInclusive,
      tax: BigInt(taxAmount),
    })),
  ).toEqual(expected.lines)
  expect(shippingRate).toEqual(expected.shippingRate)
  const added = sumOf([
    ...lines.map(({ total, discount }) => total - discount),
    totals.shipping,
    ...lines.map(({ taxInclusive, taxAmount }) => (taxInclusive ? 0 : taxAmount)),
    shippingRate?.inclusive ? 0 : totals.shippingTax,
  ])
  expect(totals.total).toBe(added)

  const orderLines = lines.map(({ taxRateBps, ...line }) => ({ ...line, ...storedTaxRate(taxRateBps) }) as unknown as OrderLine)
  const shippingTax = {
    shippingTotal: totals.shipping,
    shippingTax: totals.shippingTax,
    shippingTaxHundredths: hundredthsOf(shippingRate?.rateBps ?? 0),
    shippingTaxInclusive: shippingRate?.inclusive ?? false,
  }
  const byRate = taxTotalsOf(shippingTax, orderLines)
  expect(sumOf(byRate.map(({ tax }) => tax))).toBe(totals.tax + totals.taxIncluded)
  expect(sumOf(byRate.map(({ net, tax }) => net + tax))).toBe(totals.total)
  expect(new Set(byRate.map(({ rateBps, inclusive }) => `${rateBps}/${inclusive}`)).size).toBe(byRate.length)

  const cards = draws.map(({ giftCardId, last4, amount }): OrderGiftCard => {
    return { orderId: 'order_1', giftCardId, last4, amount, refunded: 0, settledAt: null }
  })
  const before: Pick<Refund, 'status' | 'purpose' | 'lines' | 'amount' | 'giftCards'>[] = []
  const order = { capturedTotal: totals.amountDue }
  const refund = (asked: number | undefined, ofLines: Refund['lines'], status: Refund['status']) => {
    const parts = refundParts(refundable(order, cards, before), asked)
    if (!parts) throw new Error('the lines cost more than the order')
    before.push({ status, purpose: 'REFUND', lines: ofLines, amount: parts.amount, giftCards: parts.giftCards })
  }
  for (const { line: nth, quantity, succeeds } of purchase.refunds) {
    const line = orderLines[nth]
    const gone = before.filter(({ status }) => status === 'SUCCEEDED').flatMap((one) => one.lines)
    const left = line ? line.quantity - sumOf(gone.filter(({ lineId }) => lineId === line.id).map((one) => one.quantity)) : 0
    if (!line || left === 0) continue
    const scope = [{ lineId: line.id, quantity: Math.min(quantity, left), restock: false }]
    const ofLines = linesToRefund(orderLines, before, scope)
    refund(sumOf(ofLines.map(({ amount }) => amount)), ofLines, succeeds ? 'SUCCEEDED' : 'FAILED')
  }
  refund(undefined, [], 'SUCCEEDED')
  const done = before.filter(({ status }) => status === 'SUCCEEDED')
  expect(sumOf(done.map(({ amount }) => amount))).toBe(totals.amountDue)
  const backTo = (id: string) =>
    sumOf(done.flatMap(({ giftCards }) => giftCards.filter(({ giftCardId }) => giftCardId === id).map(({ amount }) => amount)))
  for (const { giftCardId, amount } of cards) expect(backTo(giftCardId)).toBe(amount)
}
