import { lineTaxRate, shippingTaxRate } from '../../../lib/tax-rate.ts'
import type { Order, OrderLine } from './domain.ts'
import { netAmountOf } from './refunds/refund-lines.ts'

/** What an order was taxed at one rate, in minor units: the net amount of goods and shipping, and the tax on it. */
export type TaxTotal = { rateBps: number; inclusive: boolean; net: number; tax: number }

type TaxedOrder = Pick<Order, 'shippingTotal' | 'shippingTax' | 'shippingTaxHundredths' | 'shippingTaxInclusive'>
type TaxedOrderLine = Parameters<typeof netAmountOf>[0] & Pick<OrderLine, 'taxRateWholeBps' | 'taxRateHundredths'>

/**
 * Sums up an order's tax by rate, lowest rate first, with discounts taken off and shipping included. Untaxed goods and
 * shipping are at rate 0. The taxes add up to `taxTotal` + `taxIncluded`, and with the net amounts to `total`.
 */
export const taxTotalsOf = (order: TaxedOrder, lines: readonly TaxedOrderLine[]): TaxTotal[] => sumTaxes(taxesOfParts(order, lines))

/** Returns the tax of each line, in the order of `lines`, and then of shipping if there is any. */
export function taxesOfParts(order: TaxedOrder, lines: readonly TaxedOrderLine[]): TaxTotal[] {
  const { shippingTotal, shippingTax, shippingTaxInclusive } = order
  const ofShipping = shippingTaxRate(order) ?? { rateBps: 0, inclusive: false }
  const shipping = { ...ofShipping, net: shippingTotal - (shippingTaxInclusive ? shippingTax : 0), tax: shippingTax }
  const goods = lines.map((line) => {
    const rate = { rateBps: lineTaxRate(line), inclusive: line.taxInclusive }
    return { ...rate, net: netAmountOf(line), tax: line.taxAmount }
  })
  return shippingTotal > 0 ? [...goods, shipping] : goods
}

/** Sums up taxes by rate, lowest rate first. */
export function sumTaxes(parts: readonly TaxTotal[]): TaxTotal[] {
  const byRate = new Map<string, TaxTotal>()
  for (const { rateBps, inclusive, net, tax } of parts) {
    const total = byRate.getOrInsertComputed(`${rateBps}/${inclusive}`, () => ({ rateBps, inclusive, net: 0, tax: 0 }))
    total.net += net
    total.tax += tax
  }
  return [...byRate.values()].sort((a, b) => a.rateBps - b.rateBps || Number(a.inclusive) - Number(b.inclusive))
}
