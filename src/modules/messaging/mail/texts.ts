import { decimalOf, decimalsOf, type Money } from '../../../lib/money.ts'
import type { MailLanguage } from './domain.ts'
import { ar } from './texts-ar.ts'
import { type Catalog, en } from './texts-en.ts'
import { mn } from './texts-mn.ts'

export const catalogs: Readonly<Record<MailLanguage, Catalog>> = { en, ar, mn }

/** A language with its formats. */
export type Phrasebook = {
  readonly language: MailLanguage
  readonly direction: 'ltr' | 'rtl'
  readonly say: Catalog
  money(amount: Money): string
  count(number: number): string
  /** Formats a share of 1, with up to four decimals of a percent. */
  percent(share: number): string
  /** Formats a day in a time zone. */
  day(at: number, timeZone: string): string
  minutes(number: number): string
  hours(number: number): string
  days(number: number): string
  /** Returns the name of a country. */
  country(code: string): string
}

const cache = new Map<string, Phrasebook>()
const cachedMax = 500
/** Limit of cached formats, because time zones can be spelled in any case. */
const zonesMax = 50

/** @param country of the shop; selects digits and date order */
export function phrasebookOf(language: MailLanguage, country: string): Phrasebook {
  const locale = /^[A-Z]{2}$/.test(country) ? `${language}-${country}` : language
  const cached = cache.get(locale)
  if (cached) return cached
  const words = createPhrasebook(language, locale)
  if (cache.size >= cachedMax) cache.clear()
  cache.set(locale, words)
  return words
}

function createPhrasebook(language: MailLanguage, locale: string): Phrasebook {
  const currencies = new Map<string, Intl.NumberFormat>()
  const numbers = new Intl.NumberFormat(locale)
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 4 })
  const days = new Map<string, Intl.DateTimeFormat>()
  const countries = new Intl.DisplayNames([language], { type: 'region', fallback: 'code' })
  const unit = (name: string) => new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'long' })
  function formatOf(currency: string): Intl.NumberFormat {
    // Decimals by ISO 4217: Intl drops those of some currencies.
    const digits = decimalsOf(currency)
    return new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    })
  }
  return {
    language,
    direction: language === 'ar' ? 'rtl' : 'ltr',
    say: catalogs[language],
    money({ amount, currency }) {
      const format = currencies.getOrInsertComputed(currency, () => formatOf(currency))
      // Passed as a decimal string, because a number would round large amounts.
      return format.format(decimalOf(amount, decimalsOf(currency)) as `${number}`)
    },
    count: (number) => numbers.format(number),
    percent: (share) => percents.format(share),
    day(at, timeZone) {
      if (days.size >= zonesMax) days.clear()
      return days.getOrInsertComputed(timeZone, () => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone })).format(at)
    },
    minutes: (number) => unit('minute').format(number),
    hours: (number) => unit('hour').format(number),
    days: (number) => unit('day').format(number),
    country: (code) => countries.of(code) ?? code,
  }
}
