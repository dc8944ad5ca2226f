/** Digits in the form of card numbers, with or without groups; not part of a longer number or word. */
const written = /(?<!\w|\d\.)\d(?:[ -]?\d){12,18}(?!\w|\.\d)/g

/**
 * Detects card numbers: 13 to 19 digits with a card network's first digits and a valid check digit (ISO/IEC 7812-1,
 * annex B).
 * @param text must have a bounded length
 */
export const holdsCardNumber = (text: string): boolean =>
  (text.match(written) ?? [])
    .map((found) => found.replace(/[ -]/g, ''))
    .some((digits) => /^(?:[3-6]|2[2-7])/.test(digits) && isChecked(digits))

/**
 * Detects card numbers in the texts and numbers of a JSON value. International phone numbers may look like them.
 * @param value must have a bounded size and depth
 */
export function holdsCardNumberWithin(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(holdsCardNumberWithin)
  const isPhone = typeof value === 'string' && value.startsWith('+')
  return !isPhone && (typeof value === 'string' || typeof value === 'number') && holdsCardNumber(String(value))
}

function isChecked(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((all, digit, nth) => {
    const doubled = Number(digit) * (nth % 2 === 0 ? 1 : 2)
    return all + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}
