/** So much of a name stands in a sentence or on a button: whoever gave it may have made it very long. */
const defaultLength = 80

/** The beginning of a name, which says by its dots that it goes on. @param most in UTF-16 units; no character is cut in two */
export const truncate = (text: string, most = defaultLength): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`

/** So much of a long text is shown beside another, with so much of what both say before they differ. */
const [shownMax, before] = [200, 40]

/** Two texts where they differ for the first time, for whoever compares them: of long ones the same part of both. */
export function diffExcerpts(one: string, other: string): readonly [string, string] {
  if (Math.max(one.length, other.length) <= shownMax) return [one, other]
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  const from = Math.max(0, same - before)
  const part = (text: string) => `${from > 0 ? '…' : ''}${truncate(text.slice(from).replace(/^[\udc00-\udfff]/, ''), shownMax)}`
  return [part(one), part(other)]
}
