/** Numbers, money and moments in the reader's language, in the shop's currency and time zone. */
import { decimalsOf } from '../../lib/money.ts'
import { type Money, moneyText } from './amounts.ts'
import { serverNow } from './clock.ts'
import { shop } from './shop.ts'
import { language } from './words.ts'

export { type Money, moneyText, parseMoney } from './amounts.ts'

const kept = <T>(make: (key: string) => T) => {
  const made = new Map<string, T>()
  return (key: string): T => {
    const known = made.get(key)
    if (known !== undefined) return known
    const fresh = make(key)
    made.set(key, fresh)
    return fresh
  }
}

const moneyFormat = kept((currency) => {
  const decimals = decimalsOf(currency)
  return numbers({ style: 'currency', currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals })
})

/** A sign such as US$ stays together in a text that goes from right to left. */
const sign = language === 'ar' ? (text: string) => `\u2066${text}\u2069` : (text: string) => text

/** An amount of minor units, exactly: it is formatted as a decimal text and never becomes a fraction. */
export const money = ({ amount, currency }: Money): string =>
  moneyFormat(currency)
    .formatToParts(moneyText({ amount, currency }) as unknown as number)
    .map(({ type, value }) => (type === 'currency' ? sign(value) : value))
    .join('')

const numbers = (options: Intl.NumberFormatOptions): Intl.NumberFormat => new Intl.NumberFormat(language, options)
// Those of the first screen are made while it is waited for: each takes some tenths of a millisecond.
const plain = numbers({})
const ratio = numbers({ style: 'percent', maximumFractionDigits: 1 })
const signed = numbers({ style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' })
/** A count, with the reader's digits and marks. */
export const number = (value: number): string => plain.format(value)
/** A part of one, such as 0.034, as a percentage. */
export const percent = (value: number): string => ratio.format(value)
/** The same of a change, with its sign where the language has it. */
export const percentChange = (value: number): string => signed.format(value)

// Narrow: letters of the sign would be torn apart in texts from right to left.
const dollars = kept((currency) => numbers({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' }))
/** Dollars as a number of the API's `…Usd` fields. */
export const usd = (value: number): string => dollars('USD').format(value)

/** Hundredths of a percent, as it is typed: 1250 is `12.5`. */
export const percentOfBps = (bps: number): string => numbers({ style: 'percent', maximumFractionDigits: 2 }).format(bps / 10_000)

/** By which clock moments are shown and typed: the shop's, where the page is about one; else the browser's. */
export const timeZone = (): string => shop.value?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone

/** In that time zone, or in UTC where this browser knows no such one: it may be older than the server. */
const dated = (options: Intl.DateTimeFormatOptions) =>
  kept((timeZone) => {
    try {
      return new Intl.DateTimeFormat(language, { ...options, timeZone })
    } catch {
      return new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' })
    }
  })
const moments = dated({ dateStyle: 'medium', timeStyle: 'short' })
const days = dated({ dateStyle: 'medium' })
const daysAnywhere = days('UTC')
/** A moment of the API, with its time. */
export const moment = (iso: string): string => moments(timeZone()).format(new Date(iso))
/** The day of a moment, by that clock. */
export const dayOf = (iso: string): string => days(timeZone()).format(new Date(iso))
/** A day of the API, `2026-11-23`, which is one everywhere. */
export const day = (text: string): string => daysAnywhere.format(new Date(`${text}T00:00:00Z`))

const relative = kept((language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }))
const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
/** How long ago, or ahead, by the server's clock where that is known. */
export function ago(iso: string, now: number = serverNow()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000
  const [unit, size] = steps.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
  return relative(language).format(Math.round(seconds / size), unit)
}

const spans = kept((unit) => numbers({ style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }))
/** How long something took. */
export function duration(ms: number): string {
  if (ms < 1_000) return spans('millisecond').format(Math.round(ms))
  if (ms < 120_000) return spans('second').format(ms / 1_000)
  return ms < 7_200_000 ? spans('minute').format(ms / 60_000) : spans('hour').format(ms / 3_600_000)
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
/** A size of a file. */
export function bytes(size: number): string {
  const step = Math.min(units.length - 1, size < 1 ? 0 : Math.floor(Math.log10(size) / 3))
  const unit = units[step] ?? 'byte'
  return spans(unit).format(size / 1000 ** step)
}

const regions = kept((language) => new Intl.DisplayNames(language, { type: 'region' }))
/** A country by its code, in the reader's language. */
export const country = (code: string): string => {
  try {
    return regions(language).of(code) ?? code
  } catch {
    return code
  }
}
