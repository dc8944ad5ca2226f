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
export function diffExcerpts(text: string, other: string): readonly [string, string] {
  if (Math.max(text.length, other.length) <= excerptLength) return [text, other]
  let prefixLength = 0
  while (prefixLength < text.length && text[prefixLength] === other[prefixLength]) prefixLength++
  const from = Math.max(0, prefixLength - contextLength)
  const excerpt = (fullText: string) =>
    `${from > 0 ? '…' : ''}${truncate(fullText.slice(from).replace(/^[\udc00-\udfff]/, ''), excerptLength)}`
  return [excerpt(text), excerpt(other)]
}
