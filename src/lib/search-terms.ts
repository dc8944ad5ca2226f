/** Splits text into search terms. Both engines use these terms, so they find the same. */

/** By script extensions, which include the long vowel mark of katakana. */
const single = String.raw`[[\p{L}\p{N}]&&[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]`
const wordPattern = new RegExp(`${single}|[[\\p{L}\\p{N}]--${single}]+`, 'gv')
const wordLengthMax = 40
const handleLengthMax = 120

/** Replacements of letters that Unicode does not decompose. */
const foldedLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ƶ: 'z',
  // Final sigma: inside a longer word the letter is σ.
  ς: 'σ',
  // A modifier letter used as an apostrophe.
  ʼ: "'",
  // Marks that stretch a word or allow a line break.
  ـ: '',
  '\u00ad': '',
  '\u200c': '',
  '\u200d': '',
}
const foldedLetter = new RegExp(`[${Object.keys(foldedLetters).join('')}]`, 'gu')

/** Normalizes text for search: lower case, without diacritics, `ß` as `ss`, `ø` as `o`. */
export const foldText = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(foldedLetter, (letter) => foldedLetters[letter] ?? letter)

/**
 * Returns the distinct terms of a text, without stemming. Scripts without spaces are split into characters.
 * @param most maximum number of terms
 */
export function searchTermsOf(text: string, most: number): string[] {
  const plain = foldText(text)
  const words = new Set<string>()
  for (const [word] of plain.matchAll(wordPattern)) {
    words.add(cut(word, wordLengthMax))
    if (words.size >= most) break
  }
  return [...words]
}

/**
 * Returns whether terms match a query: each word whole, the last one also as a prefix.
 * @param plain terms that match whole words only
 */
export function matchesTerms(query: readonly string[], words: readonly string[], plain: readonly string[] = []): boolean {
  const last = query.length - 1
  return query.every(
    (word, at) => words.includes(word) || plain.includes(word) || (at === last && words.some((one) => one.startsWith(word))),
  )
}

/**
 * Creates a handle from a title: `Café Noir, 2 kg` becomes `cafe-noir-2-kg`. Scripts other than Latin keep their marks,
 * which form other letters: `Синий чайник` becomes `синий-чайник`. Empty without a letter or digit.
 */
export function handleOf(title: string): string {
  const plain = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/([\p{L}--\p{sc=Latn}]\p{M}+)|[\u0300-\u036f]+/gv, (_, letter: string | undefined) => letter ?? '')
    .normalize('NFC')
  const handle = plain.replace(/[^\p{L}\p{M}\p{Nd}]+/gu, '-').replace(/^-|-$/g, '')
  return cut(handle, handleLengthMax).replace(/-$/, '')
}

/** Checks for a handle: lower-case letters and digits of any script with their marks, `-` and `_`. */
export const isHandle = (text: string): boolean => /^[\p{L}\p{M}\p{Nd}_-]+$/u.test(text) && text === text.toLowerCase()

/** Returns the forms in which a handle may be stored. Early versions stored decomposed handles as sent. */
export const storedHandleForms = (handle: string): string[] => [...new Set([handle.normalize('NFC'), handle.normalize('NFD')])]

/**
 * Finds the record of a handle in any stored form; the composed form first.
 * @param find looks up one form. All forms are looked up concurrently
 */
export async function findByHandle<Found>(
  handle: string,
  find: (form: string) => Found | undefined | Promise<Found | undefined>,
): Promise<Found | undefined> {
  return (await Promise.all(storedHandleForms(handle).map(find))).find((one) => one !== undefined)
}

/** Extracts the words of HTML. */
export const textOfHtml = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/&[#\w]+;/g, ' ')

/** Returns the form in which tags are compared: NFC, ignoring case. */
export const tagKeyOf = (tag: string): string => tag.trim().normalize('NFC').toLowerCase()

/** Normalizes tags: no blanks and no duplicates, ignoring case; the first spelling stays. */
export function distinctTags(tags: readonly string[]): string[] {
  const seen = new Set<string>()
  return tags
    .map((tag) => tag.trim().normalize('NFC'))
    .filter((tag) => {
      const key = tag.toLowerCase()
      if (tag === '' || seen.has(key)) return false
      seen.add(key)
      return true
    })
}

/** Cuts a text without splitting a surrogate pair, which neither engine can store. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
