/** Reads decimals of answers, `"10.00"` or 10, by their digits and never as floats. */

/**
 * Converts a decimal to units: `"10.50"` with two decimals is 1050.
 * @returns undefined for anything but a plain number that is not negative, not too large, and a whole number of units
 */
export function unitsOf(value: unknown, decimals: number): number | undefined {
  const read = digitsOf(value, decimals)
  return read?.exact ? read.units : undefined
}

/** Does `unitsOf`, and drops what is less than a unit: for sums that were rounded to other decimals. */
export const truncatedUnitsOf = (value: unknown, decimals: number): number | undefined => digitsOf(value, decimals)?.units

function digitsOf(value: unknown, decimals: number): { units: number; exact: boolean } | undefined {
  const text = typeof value === 'number' ? String(value) : value
  const [, integer, fraction = ''] = (typeof text === 'string' && /^(\d{1,15})(?:\.(\d{0,40}))?$/.exec(text)) || []
  if (integer === undefined) return undefined
  const units = Number(integer + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return Number.isSafeInteger(units) ? { units, exact: !/[1-9]/.test(fraction.slice(decimals)) } : undefined
}
