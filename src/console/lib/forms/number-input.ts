/** Converts Arabic and Persian digits and separators to `0`–`9`, point and comma. */
export const toLatinDigits = (text: string): string =>
  text
    .trim()
    .replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replaceAll('٫', '.')
    .replaceAll('٬', ',')

/** Parses a whole number of at most `digitsMax` digits; undefined if invalid. */
export function wholeNumber(text: string, digitsMax = 10): number | undefined {
  const digits = toLatinDigits(text)
  return /^\d+$/.test(digits) && digits.length <= digitsMax ? Number(digits) : undefined
}
