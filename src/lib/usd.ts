/** Dollars as fields whose name ends in `Usd` have them: JSON numbers with at most two decimals, kept as whole cents. */

/**
 * @param dollars at most 10^13
 * @returns cents; undefined for a number of more than two decimals, which is not rounded
 */
export function centsOfUsd(dollars: number): number | undefined {
  const cents = Math.round(dollars * 100)
  // A number of so many decimals is the one nearest to that quotient, and no other is.
  return cents / 100 === dollars ? cents : undefined
}

export const usdOfCents = (cents: number): number => cents / 100
