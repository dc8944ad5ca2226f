/** Texts that somebody outside wrote, and that are shown to somebody here. */

/** Controls, also those that turn the direction of a line, and what has no width: a text must look like what it says. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]+/gu

/**
 * A text on one line, without what cannot be seen, and of at most so many characters (UTF-16), the last of them `…` where it was longer.
 * @returns '' of a text that holds nothing else
 */
export function plainText(text: string, max: number): string {
  // Cut first: a text of megabytes must not be searched.
  const plain = text
    .slice(0, 4 * max)
    .toWellFormed()
    .replace(unseen, ' ')
    .replace(/\s+/gu, ' ')
    .trim()
  if (plain.length <= max) return plain
  // A character may be two: half of one is none.
  return `${plain.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
