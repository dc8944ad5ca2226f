/** Cleans text of others for display. */

/** Control characters, including those that change the text direction, and characters without width. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]+/gu

/** Most texts. Classes of Unicode take ten times as long. */
const printableAscii = /^[ -~]*$/

/** Returns the lines of a text that are not blank, each without invisible characters. */
export const plainLines = (text: string): string[] =>
  text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => plainText(line, line.length))
    .filter((line) => line !== '')

/**
 * Returns a text on one line without invisible characters, with at most `max` UTF-16 units; a longer one ends with `…`.
 * @returns '' if nothing is visible
 */
export function plainText(text: string, max: number): string {
  // Cut first, because long texts must not be searched.
  const cut = text.slice(0, 4 * max)
  const visible = printableAscii.test(cut) ? cut : cut.toWellFormed().replace(invisibleCharacters, ' ')
  const plain = visible.replace(/\s+/gu, ' ').trim()
  if (plain.length <= max) return plain
  // Do not split a surrogate pair.
  return `${plain.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Control characters except line ends, line separators, and characters that override or isolate the text direction. */
const disruptive = /[^\P{Cc}\n]|[\u2028-\u202e\u2066-\u2069]/gu

/**
 * Splits a text at blank lines. Line ends in a paragraph stay; joiners and direction marks too, since scripts and emoji
 * need them.
 */
export const plainParagraphs = (text: string): string[] =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(disruptive, ' ')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'" }

/** Returns the text of sanitised HTML, with a line for each block and at most `max` UTF-16 units. */
export function plainTextOfHtml(html: string, max: number): string {
  // Markup is longer than its text, but long texts must not be searched.
  const text = html
    .slice(0, 8 * max)
    .replace(/<(?:br|\/?(?:p|div|li|ul|ol|h[1-6]|tr|table|blockquote|pre|section))\b[^<>]*>/gi, '\n')
    .replace(/<[^<>]*>?/g, '')
    .replace(/&(#?\w{1,6});/g, (entity, name: string) => entities[name] ?? entity)
  const plain = plainLines(text).join('\n')
  return plain.length <= max ? plain : `${plain.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
