/** Dollar amounts of the API: JSON numbers with at most two decimals. All computation uses whole cents. */

/** Exclusive limit: below it a JSON number represents every amount of cents uniquely. */
export const usdEnd = 1e13
/** The limit in cents, for sums. */
export const centsEnd = usdEnd * 100

/**
 * Converts a number to units of `10 ** -decimals`, exactly. Undefined for negative numbers, more decimals, or numbers
 * too large to be exact.
 */
export function unitsOf(value: number, decimals: number): number | undefined {
  const units = Math.round(value * 10 ** decimals)
  // The quotient is exact if dividing yields the same number.
  const isExact = value >= 0 && units <= 10 ** 15 && units / 10 ** decimals === value
  // Adding 0 turns -0 into 0.
  return isExact ? units + 0 : undefined
}

/**
 * Converts dollars to whole cents; undefined for negative amounts, more than two decimals, or amounts from `usdEnd` on.
 */
export const centsOf = (usd: number): number | undefined => (usd < usdEnd ? unitsOf(usd, 2) : undefined)

/** Converts cents to dollars. */
export const usdOf = (cents: number): number => cents / 100
