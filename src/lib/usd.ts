/** Dollars as the API has them: JSON numbers with at most two decimals. Whole cents are what anything is computed with. */

/** Amounts are below it: up to there a JSON number holds every amount of cents, and no two of them are the same number. */
export const usdEnd = 1e13
/** The same in cents, for sums of them. */
export const centsEnd = usdEnd * 100

/**
 * A figure in units of `10 ** -decimals`, exactly. Undefined when it has more decimals, is negative, or is too large for that to be
 * known.
 */
export function unitsOf(value: number, decimals: number): number | undefined {
  const units = Math.round(value * 10 ** decimals)
  // A number of so many decimals is the one nearest to that quotient, and no other is.
  const isExact = value >= 0 && units <= 10 ** 15 && units / 10 ** decimals === value
  // Never -0, which JSON has and nothing means.
  return isExact ? units + 0 : undefined
}

/** Whole cents of an amount in dollars; undefined when it has more than two decimals, is negative, or is not below `usdEnd`. */
export const centsOf = (usd: number): number | undefined => (usd < usdEnd ? unitsOf(usd, 2) : undefined)

/** Whole cents as dollars. */
export const usdOf = (cents: number): number => cents / 100
