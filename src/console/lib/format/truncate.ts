/** Default length of names in sentences and buttons. */
const defaultLength = 80

/**
 * Truncates a text with an ellipsis and does not split a surrogate pair.
 * @param most length in UTF-16 units
 */
export const truncate = (text: string, most = defaultLength): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`

/** Length of an excerpt, and how much equal text precedes the first difference. */
const [shownMax, before] = [200, 40]

/** Returns excerpts of two texts around their first difference. */
export function diffExcerpts(one: string, other: string): readonly [string, string] {
  if (Math.max(one.length, other.length) <= shownMax) return [one, other]
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  const from = Math.max(0, same - before)
  const part = (text: string) => `${from > 0 ? '…' : ''}${truncate(text.slice(from).replace(/^[\udc00-\udfff]/, ''), shownMax)}`
  return [part(one), part(other)]
}
