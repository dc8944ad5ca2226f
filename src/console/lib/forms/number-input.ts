/** Numbers as they are typed, in the digits and with the marks of whichever keyboard. */

/** The same with the digits `0` to `9`: Arabic and Persian ones, and the marks that go with them, a point and a comma. */
export const latinOf = (text: string): string =>
  text
    .trim()
    .replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replaceAll('٫', '.')
    .replaceAll('٬', ',')

/** A whole number of at most so many digits; undefined where it is none. */
export function wholeNumber(text: string, digitsMax = 10): number | undefined {
  const plain = latinOf(text)
  return /^\d+$/.test(plain) && plain.length <= digitsMax ? Number(plain) : undefined
}
