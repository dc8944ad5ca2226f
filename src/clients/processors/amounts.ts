/** Converts amounts to a processor's units by their digits, never as floats. */

/**
 * Converts an amount to units of another size: 500 with no decimals is 50000 with two.
 * @param amount a whole number, not negative
 * @returns undefined if it is not a whole number of units, or too large to be exact
 */
export function rescaleAmount(amount: number, from: number, to: number): number | undefined {
  if (!Number.isSafeInteger(amount) || amount < 0) return undefined
  const digits = String(amount)
  const dropped = Math.max(from - to, 0)
  const remainingDigits = digits.slice(0, Math.max(digits.length - dropped, 0))
  if (/[1-9]/.test(digits.slice(remainingDigits.length))) return undefined
  const scaled = Number(`${remainingDigits || '0'}${'0'.repeat(Math.max(to - from, 0))}`)
  return Number.isSafeInteger(scaled) ? scaled : undefined
}
