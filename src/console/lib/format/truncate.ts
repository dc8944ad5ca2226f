/** Default length of names in sentences and buttons. */
const defaultLength = 80

/**
 * Truncates a text with an ellipsis and does not split a surrogate pair.
 * @param maxLength length in UTF-16 units
 */
export const truncate = (text: string, maxLength = defaultLength): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`

/** Length of an excerpt, and how much equal text precedes the first difference. */
const [excerptLength, contextLength] = [200, 40]

/** Returns excerpts of two texts around their first difference. */
export function diffExcerpts(one: string, other: string): readonly [string, string] {
  if (Math.max(one.length, other.length) <= excerptLength) return [one, other]
  let prefixLength = 0
  while (prefixLength < one.length && one[prefixLength] === other[prefixLength]) prefixLength++
  const from = Math.max(0, prefixLength - contextLength)
  const excerpt = (text: string) => `${from > 0 ? '…' : ''}${truncate(text.slice(from).replace(/^[\udc00-\udfff]/, ''), excerptLength)}`
  return [excerpt(one), excerpt(other)]
}
