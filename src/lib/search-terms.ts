/** Text as the search index sees it: the same on both engines, because we and not they cut it into words. */

/** By script extensions, which know the long vowel mark of katakana. A word of other letters ends where these begin. */
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
  // Marks that only stretch a word or say where a line may break.
  ـ: '',
  '\u00ad': '',
  '\u200c': '',
  '\u200d': '',
}
const foldedLetter = new RegExp(`[${Object.keys(foldedLetters).join('')}]`, 'gu')

/** Text as it is searched: lower case, without diacritics, and with letters such as ß and ø as `ss` and `o`. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(foldedLetter, (letter) => foldedLetters[letter] ?? letter)

/**
 * The distinct words of a text: folded, no stemming. Scripts that do not part words by spaces
 * are cut into characters.
 * @param most how many words to keep at most
 */
export function wordsOf(text: string, most: number): string[] {
  const plain = folded(text)
  const words = new Set<string>()
  for (const [word] of plain.matchAll(wordPattern)) {
    words.add(cut(word, wordLengthMax))
    if (words.size >= most) break
  }
  return [...words]
}

/**
 * Whether words hold all that is asked for: each of them whole, and of the last one how it begins.
 * @param plain words that are found whole alone
 */
export function holdsWords(asked: readonly string[], words: readonly string[], plain: readonly string[] = []): boolean {
  const last = asked.length - 1
  return asked.every(
    (word, at) => words.includes(word) || plain.includes(word) || (at === last && words.some((one) => one.startsWith(word))),
  )
}

/**
 * Makes a handle of a title: `Café Noir, 2 kg` gives `cafe-noir-2-kg`. Letters of other scripts than Latin keep their
 * marks, which make other letters of them: `Синий чайник` gives `синий-чайник`. Empty if the title has no letter or
 * digit.
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

/** Whether a text is a handle: lower-case letters and digits of any script with their marks, `-` and `_`. */
export const isHandle = (text: string): boolean => /^[\p{L}\p{M}\p{Nd}_-]+$/u.test(text) && text === text.toLowerCase()

/**
 * The forms in which a handle may be stored: versions before souk composed handles stored decomposed ones as they were
 * sent.
 */
export const storedForms = (handle: string): string[] => [...new Set([handle.normalize('NFC'), handle.normalize('NFD')])]

/**
 * Finds what has a handle, in whichever form it is stored; the composed form first.
 * @param find looks for one form. All forms are looked for at once, so that a handle with two forms takes no longer
 *   than others.
 */
export async function inStoredForm<Found>(
  handle: string,
  find: (form: string) => Found | undefined | Promise<Found | undefined>,
): Promise<Found | undefined> {
  return (await Promise.all(storedForms(handle).map(find))).find((one) => one !== undefined)
}

/** What a reader sees of HTML, as far as words go. */
export const textOfHtml = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/&[#\w]+;/g, ' ')

/** Tags in their normal form, without blank and repeated ones, whatever their case; the first spelling stays. */
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

/** The first `length` units of a text, and never half a character: neither engine can store one. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
