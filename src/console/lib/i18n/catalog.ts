/** Languages and text catalogs. Each screen has its own catalog, which loads with it. */
import { isolateBidi } from '../format/bidi-isolate.ts'
import { readStored, writeStored } from '../session/browser-storage.ts'

export const languages = { en: 'English', ar: 'العربية', mn: 'Монгол' } as const
export type Language = keyof typeof languages

const storageKey = 'souk-console-language'
const languageParameter = 'language'
const isLanguage = (tag: string | null): tag is Language => tag !== null && Object.hasOwn(languages, tag)

/** The chosen language, or the first available one of the browser's. English outside a browser, where tests load it. */
export const language: Language = (() => {
  const chosen = readStored('localStorage', storageKey) ?? new URLSearchParams(globalThis.location?.search).get(languageParameter)
  if (isLanguage(chosen)) return chosen
  return navigator.languages?.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en'
})()

/**
 * Sets the language and reloads the page. If the browser stores nothing, a query parameter keeps the language for
 * this page.
 */
export function chooseLanguage(tag: Language): void {
  if (writeStored('localStorage', storageKey, tag)) {
    location.reload()
    return
  }
  const url = new URL(location.href)
  url.searchParams.set(languageParameter, tag)
  location.replace(url)
}

/**
 * Whether the browser's `Intl` knows the language. Chromium lacks Mongolian and would use the system's:
 * lib/format/mongolian.ts replaces it, and the rest falls back to English.
 */
export const isSupportedByIntl = Intl.DateTimeFormat.supportedLocalesOf(language).length > 0
/** The locale for `Intl`. */
export const locale = isSupportedByIntl ? language : 'en'

/** A text with `{name}` placeholders, or plural forms that are selected by `n`. */
export type Message = string | ({ readonly other: string } & Partial<Readonly<Record<Intl.LDMLPluralRule, string>>>)
type Values<Name extends string = string> = Readonly<Record<Name, string | number>>

/** Names of the placeholders of a text, and `n` of plural forms. Any name if a catalog is not `as const`. */
type Placeholder<Text> = Text extends string
  ? Text extends `${string}{${infer Name}}${infer Rest}`
    ? Name | Placeholder<Rest>
    : string extends Text
      ? string
      : never
  : Placeholder<Text[keyof Text]> | 'n'
type ValuesOf<Text> = [Placeholder<Text>] extends [never] ? [] : [values: Values<Placeholder<Text>>]
/** Keys of the texts without placeholders. */
export type PlainKey<Texts> = { [Key in keyof Texts]: ValuesOf<Texts[Key]> extends [] ? Key : never }[keyof Texts]

const plurals = new Intl.PluralRules(locale)
const numbers = new Intl.NumberFormat(locale)

function formatMessage(message: Message, values: Values = {}): string {
  const text = typeof message === 'string' ? message : (message[plurals.select(Number(values['n']))] ?? message.other)
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? numbers.format(value) : isolateBidi(value)
  })
}

/** A catalog in another language: the same keys, and names of the errors that the API itself words in English. */
export type Translation<Texts> = Readonly<Record<keyof Texts, Message>> & { readonly [kind: `refused.${number}`]: Message }

type Loaders<Texts> = { readonly en: () => Promise<{ default: Texts }> } & {
  readonly [Tag in Exclude<Language, 'en'>]: () => Promise<{ default: Translation<Texts> }>
}

/** Loads that are not finished. A load starts when its module is imported. */
const pendingLoads = new Set<() => Promise<void>>()

/**
 * Resolves when everything is loaded that the imported modules need; repeats failed loads.
 * @throws if a load fails
 */
export const textsLoaded = (): Promise<unknown> => Promise.all([...pendingLoads].map((load) => load()))

/**
 * Starts a load that `textsLoaded` waits for.
 * @returns a getter of the result, undefined until it is loaded
 */
function loadEarly<T>(loader: () => Promise<T>): () => T | undefined {
  let result: T | undefined
  let loading: Promise<void> | undefined
  const load = () => {
    loading ??= loader().then(
      (loaded) => {
        result = loaded
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
  return () => result
}

/** Loads a Mongolian replacement of `Intl` if this browser needs it. */
export const mongolianFallback = <T>(loader: () => Promise<T>): (() => T | undefined) =>
  isSupportedByIntl || language !== 'mn' ? () => undefined : loadEarly(loader)

/**
 * Creates a catalog: `const t = catalog({ en: () => import('./en.ts'), … })`, then `t('title')` or `t('items', { n: 3
 * })`.
 * English defines the keys and placeholders; a language that lacks a key and a call that lacks a value do not compile.
 */
export function catalog<Texts extends Readonly<Record<string, Message>>>(loaders: Loaders<Texts>) {
  const loaded = loadEarly<{ default: Readonly<Record<string, Message>> }>(loaders[language])
  const find = (key: string, values?: Values): string | undefined => {
    const messages = loaded()?.default ?? {}
    const message = Object.hasOwn(messages, key) ? messages[key] : undefined
    return message && formatMessage(message, values)
  }
  const t = <Key extends keyof Texts & string>(key: Key, ...[values]: ValuesOf<Texts[Key]>): string => find(key, values) ?? ''
  /** Returns the text of a key from outside, such as a state; undefined if there is none. */
  t.find = (key: string) => find(key)
  return t
}
