/** Digits in the form of card numbers, with or without groups; not part of a longer number or word. */
const written = /(?<!\w|\d\.)\d(?:[\s\p{Pd}]?\d){12,18}(?!\w|\.\d)/gu
const separators = /\D/g
/** An international phone number has at most 15 digits (E.164). */
const phoneNumber = /^\+(?:[ ().-]*\d){7,15}$/

/**
 * Detects card numbers: 13 to 19 digits with a card network's first digits and a valid check digit (ISO/IEC 7812-1,
 * annex B).
 * @param text must have a bounded length
 */
export const holdsCardNumber = (text: string): boolean =>
  (text.normalize('NFKC').match(written) ?? [])
    .map((found) => found.replace(separators, ''))
    .some((digits) => /^(?:[3-6]|2[2-7])/.test(digits) && isChecked(digits))

/**
 * Detects card numbers in the texts, numbers and field names of a JSON value. International phone numbers may look like
 * them.
 * @param value must have a bounded size and depth
 */
export function holdsCardNumberWithin(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsCardNumberWithin)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).some(([name, part]) => holdsCardNumber(name) || holdsCardNumberWithin(part))
  if (typeof value === 'string') return !phoneNumber.test(value) && holdsCardNumber(value)
  return typeof value === 'number' && holdsCardNumber(String(value))
}

function isChecked(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((all, digit, nth) => {
    const doubled = Number(digit) * (nth % 2 === 0 ? 1 : 2)
    return all + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}
