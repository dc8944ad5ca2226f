/** Suggestions for misspelled words of the command line. */

/** The maximum distance of a suggestion, relative to the word's length. */
const distanceShare = 0.4
/** Longer words are not repeated in messages: they may be a misplaced secret. */
const wordMaxLength = 20

/** Returns `Unknown WHAT "word". Did you mean "nearest"?`; omits a word that may be a secret. */
export function unknownText(what: string, word: string, candidates: readonly string[]): string {
  const isShown = /^[a-z-]+$/i.test(word) && word.length <= wordMaxLength
  const nearest = isShown ? nearestOf(word, candidates) : undefined
  return `Unknown ${what}${isShown ? ` "${word}"` : ''}.${nearest === undefined ? '' : ` Did you mean "${nearest}"?`}`
}

/** Returns the known word with the fewest typing errors, if there is a similar one. */
export function nearestOf(word: string, candidates: readonly string[]): string | undefined {
  const max = Math.max(1, Math.floor(word.length * distanceShare))
  const [best] = candidates
    .map((one) => ({ one, distance: typingErrors(word.toLowerCase(), one) }))
    .filter(({ distance }) => distance <= max)
    .sort((a, b) => a.distance - b.distance)
  return best?.one
}

/** Counts inserted, missing, wrong and swapped letters (optimal string alignment). */
function typingErrors(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)]
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          cell(i - 1, j) + 1,
          cell(i, j - 1) + 1,
          cell(i - 1, j - 1) + (isSame ? 0 : 1),
          isSwapped ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return cell(a.length, b.length)
}
