import { divideHalfEven } from './rounding.ts'

/** A positive number as a fraction of whole numbers: what floats cannot hold exactly. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint }

/** Longer numbers, or larger exponents, are nobody's honest figures. */
const lengthMax = 40
const exponentMax = 20

/** Reads a positive number as JSON has it (`42`, `0.92`, `1.5e-7`), exactly. Undefined when the text is none. */
export function fractionOf(text: string): Fraction | undefined {
  if (text.length > lengthMax) return undefined
  const [, whole, decimals = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text) ?? []
  if (whole === undefined || Math.abs(Number(exponent)) > exponentMax) return undefined
  const digits = BigInt(whole + decimals)
  const scale = decimals.length - Number(exponent)
  return digits === 0n ? undefined : { numerator: digits * tenTo(-scale), denominator: tenTo(scale) }
}

/** A fraction as a plain decimal number of at most so many significant digits, rounded half-even; no zeros at its end. */
export function decimalText({ numerator, denominator }: Fraction, significantDigits: number): string {
  const scaledBy = (scale: number) => divideHalfEven(numerator * tenTo(scale), denominator * tenTo(-scale))
  // The scale that leaves just that many digits before the point, by lengths: these may be one off.
  let scale = significantDigits - (String(numerator).length - String(denominator).length)
  if (String(scaledBy(scale)).length > significantDigits) scale--
  const digits = scaledBy(scale)
  return scale > 0 ? withPoint(String(digits), scale) : String(digits * tenTo(-scale))
}

/** 1 for a negative exponent, so that a fraction's other side can take it. */
const tenTo = (exponent: number): bigint => (exponent > 0 ? 10n ** BigInt(exponent) : 1n)

function withPoint(digits: string, decimals: number): string {
  const padded = digits.padStart(decimals + 1, '0')
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`.replace(/\.?0+$/, '')
}
