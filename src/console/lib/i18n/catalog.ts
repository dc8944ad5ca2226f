/** The languages of the console. A catalog is one object a language; a screen has its own, which is loaded with it. */
import { isolateBidi } from '../format/bidi-isolate.ts'
import { readStored, writeStored } from '../session/browser-storage.ts'

export const languages = { en: 'English', ar: 'العربية', mn: 'Монгол' } as const
export type Language = keyof typeof languages

const storageKey = 'souk-console-language'
const languageParameter = 'language'
const isLanguage = (tag: string | null): tag is Language => tag !== null && Object.hasOwn(languages, tag)

/** What was chosen, else the first of the browser's that there is. */
export const language: Language = (() => {
  const chosen = readStored('localStorage', storageKey) ?? new URLSearchParams(location.search).get(languageParameter)
  if (isLanguage(chosen)) return chosen
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en'
})()

/**
 * Whatever has been said in another language is said anew: the page begins again. Where the browser keeps nothing, the address of that page says
 * it, and the page speaks it for as long as it lasts; no link carries it on, so the next page that is loaded is in the browser's language again.
 */
export function chooseLanguage(tag: Language): void {
  if (writeStored('localStorage', storageKey, tag)) {
    location.reload()
    return
  }
  const address = new URL(location.href)
  address.searchParams.set(languageParameter, tag)
  location.replace(address)
}

/**
 * Whether this browser's `Intl` knows the language. Chromium's knows no Mongolian, and takes that of the machine in its place: what `Intl` is to
 * say in it is said by lib/mongolian.ts, and where that has no word, as in English.
 */
export const isKnownToIntl = Intl.DateTimeFormat.supportedLocalesOf(language).length > 0
/** The language to ask `Intl` for. */
export const locale = isKnownToIntl ? language : 'en'

/** A text with `{name}` where a value goes; or several by number, which `n` decides. */
export type Message = string | ({ readonly other: string } & Partial<Readonly<Record<Intl.LDMLPluralRule, string>>>)
export type Values = Readonly<Record<string, string | number>>

const plurals = new Intl.PluralRules(locale)
const numbers = new Intl.NumberFormat(locale)

export function formatMessage(message: Message, values: Values = {}): string {
  const text = typeof message === 'string' ? message : (message[plurals.select(Number(values['n']))] ?? message.other)
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? numbers.format(value) : isolateBidi(value)
  })
}

/** A catalog in another language than English: the same texts, and of refusals what kind they are, which souk says in English itself. */
export type Translation<Texts> = Readonly<Record<keyof Texts, Message>> & { readonly [kind: `refused.${number}`]: Message }

type Loaders<Words> = { readonly en: () => Promise<{ default: Words }> } & {
  readonly [Tag in Exclude<Language, 'en'>]: () => Promise<{ default: Translation<Words> }>
}

/** Loads what is not there yet: it begins to come as soon as somebody imports it. */
const pendingLoads = new Set<() => Promise<void>>()

/** Resolves when all that comes with the files imported so far is there; what could not be loaded is asked for again. @throws where it cannot be */
export const textsLoaded = (): Promise<unknown> => Promise.all([...pendingLoads].map((load) => load()))

/** What a file needs of another that is not for everybody: there once `wordsLoaded`. @returns it, or undefined until then */
export function loadEarly<T>(loader: () => Promise<T>): () => T | undefined {
  let here: T | undefined
  let loading: Promise<void> | undefined
  const load = () => {
    loading ??= loader().then(
      (loaded) => {
        here = loaded
        pendingLoads.delete(load)
      },
      (error) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
  pendingLoads.add(load)
  load().catch(() => undefined)
  return () => here
}

/** What says in Mongolian what this browser's `Intl` does not: it never comes where that does, or in another language. */
export const mongolianFallback = <T>(loader: () => Promise<T>): (() => T | undefined) =>
  isKnownToIntl || language !== 'mn' ? () => undefined : loadEarly(loader)

/**
 * A catalog: `const w = catalog({ en: () => import('./en.ts'), … })`, once `wordsLoaded` used as `w('title')`, `w('items', { n: 3 })`.
 * The English one says which texts there are; another that lacks one does not compile.
 */
export function catalog<Texts extends Readonly<Record<string, Message>>>(loaders: Loaders<Texts>) {
  const loaded = loadEarly<{ default: Readonly<Record<keyof Texts, Message>> }>(loaders[language])
  const t = (key: keyof Texts & string, values?: Values): string => {
    const message = loaded()?.default[key]
    return message === undefined ? '' : formatMessage(message, values)
  }
  /** Whether there is such a text, for keys that come from outside, such as states. */
  t.has = (key: string): key is keyof Texts & string => Object.hasOwn(loaded()?.default ?? {}, key)
  return t
}
