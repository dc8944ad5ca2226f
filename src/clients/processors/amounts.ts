/** Amounts as processors write them: minor units of ours under another exponent, or decimals. By their digits, never by a float. */

/**
 * The same amount of money in units of another size: 500 at no decimals is 50000 at two.
 * @param amount a whole number that is not below zero
 * @returns undefined where it is not a whole number of them, or too large to be exact
 */
export function rescaled(amount: number, from: number, to: number): number | undefined {
  if (!Number.isSafeInteger(amount) || amount < 0) return undefined
  const digits = String(amount)
  const dropped = Math.max(from - to, 0)
  const kept = digits.slice(0, Math.max(digits.length - dropped, 0))
  if (/[1-9]/.test(digits.slice(kept.length))) return undefined
  const scaled = Number(`${kept || '0'}${'0'.repeat(Math.max(to - from, 0))}`)
  return Number.isSafeInteger(scaled) ? scaled : undefined
}
