/** Decimals as processors answer them, `"10.00"` or 10, read by their digits and never as a float. */

/**
 * A decimal in units of so many decimals: `"10.50"` at two is 1050.
 * @returns undefined for anything else than a plain number, one that is below zero, too large, or not a whole number of units
 */
export function unitsOf(value: unknown, decimals: number): number | undefined {
  const read = digitsOf(value, decimals)
  return read?.exact ? read.units : undefined
}

/** The same, without what is less than a unit: for sums that somebody else has rounded to decimals of their own. */
export const wholeUnitsOf = (value: unknown, decimals: number): number | undefined => digitsOf(value, decimals)?.units

function digitsOf(value: unknown, decimals: number): { units: number; exact: boolean } | undefined {
  const text = typeof value === 'number' ? String(value) : value
  const [, whole, fraction = ''] = (typeof text === 'string' && /^(\d{1,15})(?:\.(\d{0,40}))?$/.exec(text)) || []
  if (whole === undefined) return undefined
  const units = Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return Number.isSafeInteger(units) ? { units, exact: !/[1-9]/.test(fraction.slice(decimals)) } : undefined
}
