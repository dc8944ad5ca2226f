import { divideHalfEven } from './rounding.ts'

/** A positive number as an exact fraction. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint }

/** Limits of accepted numbers. */
const lengthMax = 40
const exponentMax = 20

/** Parses a positive JSON number exactly; undefined for other text. */
export function fractionOf(text: string): Fraction | undefined {
  if (text.length > lengthMax) return undefined
  const [, integer, decimals = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text) ?? []
  if (integer === undefined || Math.abs(Number(exponent)) > exponentMax) return undefined
  const digits = BigInt(integer + decimals)
  const scale = decimals.length - Number(exponent)
  return digits === 0n ? undefined : { numerator: digits * tenTo(-scale), denominator: tenTo(scale) }
}

/** Formats a fraction as a decimal with at most `significantDigits`, rounded half-even, without trailing zeros. */
export function decimalText({ numerator, denominator }: Fraction, significantDigits: number): string {
  const scaledBy = (scale: number) => divideHalfEven(numerator * tenTo(scale), denominator * tenTo(-scale))
  // The estimate by lengths may be one too large.
  let scale = significantDigits - (String(numerator).length - String(denominator).length)
  if (String(scaledBy(scale)).length > significantDigits) scale--
  const digits = scaledBy(scale)
  return scale > 0 ? withPoint(String(digits), scale) : String(digits * tenTo(-scale))
}

/** Returns 1 for a negative exponent: the other side of the fraction takes it. */
const tenTo = (exponent: number): bigint => (exponent > 0 ? 10n ** BigInt(exponent) : 1n)

function withPoint(digits: string, decimals: number): string {
  const padded = digits.padStart(decimals + 1, '0')
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`.replace(/\.?0+$/, '')
}
