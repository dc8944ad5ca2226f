/** Cleans text of others for display. */

/** Control characters, including those that change the text direction, and characters without width. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]+/gu

/**
 * Returns a text on one line without invisible characters, with at most `max` UTF-16 units; a longer one ends with `…`.
 * @returns '' if nothing is visible
 */
export function plainText(text: string, max: number): string {
  // Cut first, because long texts must not be searched.
  const plain = text
    .slice(0, 4 * max)
    .toWellFormed()
    .replace(unseen, ' ')
    .replace(/\s+/gu, ' ')
    .trim()
  if (plain.length <= max) return plain
  // Do not split a surrogate pair.
  return `${plain.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
