import { decimalOf, decimalsOf, type Money } from '../../../lib/money.ts'
import type { MailLanguage } from './domain.ts'
import { ar } from './texts-ar.ts'
import { type Catalog, en } from './texts-en.ts'
import { mn } from './texts-mn.ts'

const catalogs: Readonly<Record<MailLanguage, Catalog>> = { en, ar, mn }

/** A language as a shop's mails and pages speak it. */
export type Words = {
  readonly language: MailLanguage
  readonly direction: 'ltr' | 'rtl'
  readonly say: Catalog
  money(amount: Money): string
  count(number: number): string
  /** The day of a moment, by the clock of a time zone. */
  day(at: number, timeZone: string): string
  minutes(number: number): string
  hours(number: number): string
  days(number: number): string
}

const made = new Map<string, Words>()
const keptMax = 500
/** Of one language: a time zone may be spelt in any case, and each spelling is one more. */
const zonesMax = 50

/** @param country of the shop: by it numbers have the digits and the days the order that are usual there */
export function wordsOf(language: MailLanguage, country: string): Words {
  const locale = /^[A-Z]{2}$/.test(country) ? `${language}-${country}` : language
  const known = made.get(locale)
  if (known) return known
  const words = createWords(language, locale)
  if (made.size >= keptMax) made.clear()
  made.set(locale, words)
  return words
}

function createWords(language: MailLanguage, locale: string): Words {
  const currencies = new Map<string, Intl.NumberFormat>()
  const numbers = new Intl.NumberFormat(locale)
  const days = new Map<string, Intl.DateTimeFormat>()
  const unit = (name: string) => new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'long' })
  function formatOf(currency: string): Intl.NumberFormat {
    // As ISO 4217 has them: what Intl takes for usual drops decimals of some.
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
      // As a decimal, not as a number: that would round large amounts.
      return format.format(decimalOf(amount, decimalsOf(currency)) as `${number}`)
    },
    count: (number) => numbers.format(number),
    day(at, timeZone) {
      if (days.size >= zonesMax) days.clear()
      return days.getOrInsertComputed(timeZone, () => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone })).format(at)
    },
    minutes: (number) => unit('minute').format(number),
    hours: (number) => unit('hour').format(number),
    days: (number) => unit('day').format(number),
  }
}
