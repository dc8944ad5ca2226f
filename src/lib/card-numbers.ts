/** Digits as they are printed on cards, in groups or in one piece; not a part of a longer number or word. */
const written = /(?<!\w|\d\.)\d(?:[ -]?\d){12,18}(?!\w|\.\d)/g

/**
 * Whether a text holds what looks like a card's number: 13 to 19 digits that begin as those of the card networks do, with a check digit that
 * is right (ISO/IEC 7812-1, annex B).
 * @param text of bounded length
 */
export const holdsCardNumber = (text: string): boolean =>
  (text.match(written) ?? [])
    .map((found) => found.replace(/[ -]/g, ''))
    .some((digits) => /^(?:[3-6]|2[2-7])/.test(digits) && isChecked(digits))

function isChecked(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((all, digit, nth) => {
    const doubled = Number(digit) * (nth % 2 === 0 ? 1 : 2)
    return all + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}
