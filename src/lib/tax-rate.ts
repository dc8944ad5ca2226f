/** Tax rates: basis points with at most two decimals, computed as whole hundredths of a basis point. */

/** The hundredths of a basis point in a rate of 100 %. */
export const hundredthsOfWhole = 1_000_000
/** The highest rate: 100 %. */
export const taxRateMaxBps = 10_000

/** Returns a rate in hundredths of a basis point, exactly: 887.5 is 88750. */
export const hundredthsOf = (rateBps: number): number => Math.round(rateBps * 100)

/** Returns whether a rate has at most two decimals. */
export const isTaxRate = (rateBps: number): boolean => hundredthsOf(rateBps) / 100 === rateBps

/** A rate as an order's line stores it. */
type StoredRate = { taxRateWholeBps: number; taxRateHundredths: number }

/** Splits a rate into whole basis points and hundredths. */
export function storedTaxRate(rateBps: number): StoredRate {
  const all = hundredthsOf(rateBps)
  const taxRateHundredths = all % 100
  return { taxRateWholeBps: (all - taxRateHundredths) / 100, taxRateHundredths }
}

/** Returns the rate of a stored line in basis points. */
export const lineTaxRate = ({ taxRateWholeBps, taxRateHundredths }: StoredRate): number => (taxRateWholeBps * 100 + taxRateHundredths) / 100

/** The tax on shipping as an order stores its rate. */
type StoredShippingRate = { shippingTaxHundredths: number; shippingTaxInclusive: boolean }

/** Returns the tax rate of an order's shipping; null for untaxed shipping. */
export const shippingTaxRate = ({ shippingTaxHundredths, shippingTaxInclusive }: StoredShippingRate) =>
  shippingTaxHundredths === 0 ? null : { rateBps: shippingTaxHundredths / 100, inclusive: shippingTaxInclusive }
