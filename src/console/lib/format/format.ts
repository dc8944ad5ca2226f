/** Numbers, money and moments in the reader's language, in the shop's currency and time zone. */
import { decimalsOf } from '../../../lib/money.ts'
import { type Money, moneyText } from '../forms/amounts.ts'
import { language, locale, mongolianFallback } from '../i18n/catalog.ts'
import { shop } from '../session/current-shop.ts'
import { serverNow } from './server-clock.ts'
import { wallTimeAt } from './zoned-time.ts'

export { type Money, moneyText, parseMoney } from '../forms/amounts.ts'

const mongolian = mongolianFallback(() => import('./mongolian.ts'))

const memoize = <T>(make: (key: string) => T) => {
  const made = new Map<string, T>()
  return (key: string): T => {
    const known = made.get(key)
    if (known !== undefined) return known
    const fresh = make(key)
    made.set(key, fresh)
    return fresh
  }
}

/** Made when it is asked for first: each takes some tenths of a millisecond. */
const lazy = <T>(make: () => T) => {
  let made: T | undefined
  return () => (made ??= make())
}

const moneyFormat = memoize((currency) => {
  const decimals = decimalsOf(currency)
  return numbers({ style: 'currency', currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals })
})

/** A sign such as US$ stays together in a text that goes from right to left, and goes as its own letters do. */
const sign = language === 'ar' ? (text: string) => `\u2068${text}\u2069` : (text: string) => text

const amountText = (parts: readonly Intl.NumberFormatPart[], currency: string): string =>
  mongolian()?.moneyInParts(parts, currency) ?? parts.map(({ type, value }) => (type === 'currency' ? sign(value) : value)).join('')

/** An amount of minor units, exactly: it is formatted as a decimal text and never becomes a fraction. */
export const money = ({ amount, currency }: Money): string =>
  amountText(moneyFormat(currency).formatToParts(moneyText({ amount, currency }) as unknown as number), currency)

const numbers = (options: Intl.NumberFormatOptions): Intl.NumberFormat => new Intl.NumberFormat(locale, options)
// Those of the first screen are made while it is waited for.
const plainNumber = numbers({})
const ratio = numbers({ style: 'percent', maximumFractionDigits: 1 })
const signedPercent = numbers({ style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' })
/** A count, with the reader's digits and marks. */
export const number = (value: number): string => plainNumber.format(value)
/** A part of one, such as 0.034, as a percentage. */
export const percent = (value: number): string => ratio.format(value)
/** The same of a change, with its sign where the language has it. */
export const percentChange = (value: number): string => signedPercent.format(value)

const dollars = lazy(() => numbers({ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' }))
/** Dollars as a number of the API's `…Usd` fields. */
export const usd = (value: number): string => amountText(dollars().formatToParts(value), 'USD')

/** With all the decimals that the API has. */
const exactPercent = lazy(() => numbers({ style: 'percent', maximumFractionDigits: 6 }))
/** Hundredths of a percent: 1250 is 12.5 %. */
export const percentOfBps = (bps: number): string => exactPercent().format(bps / 10_000)
/** An owner's share, which is in percent: 33.3333. */
export const percentOfShare = (share: number): string => exactPercent().format(share / 100)

/** By which clock moments are shown and typed: the shop's, where the page is about one; else the browser's. */
export const timeZone = (): string => shop.value?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone

/** In that time zone, or in UTC where this browser knows no such one: it may be older than the server. */
const dateFormat = (options: Intl.DateTimeFormatOptions) =>
  memoize((timeZone) => {
    try {
      return new Intl.DateTimeFormat(locale, { ...options, timeZone })
    } catch {
      return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
    }
  })
const moments = dateFormat({ dateStyle: 'medium', timeStyle: 'short' })
const days = dateFormat({ dateStyle: 'medium' })
const daysAnywhere = days('UTC')
/** A moment of the API, with its time. */
export const moment = (iso: string): string =>
  mongolian()?.momentText(wallTimeAt(Date.parse(iso), timeZone())) ?? moments(timeZone()).format(new Date(iso))
/** The day of a moment, by that clock. */
export const dayOf = (iso: string): string =>
  mongolian()?.dayText(wallTimeAt(Date.parse(iso), timeZone())) ?? days(timeZone()).format(new Date(iso))
/** A day of the API, `2026-11-23`, which is one everywhere. */
export function day(text: string): string {
  const at = new Date(`${text}T00:00:00Z`)
  return mongolian()?.dayText(wallTimeAt(at.getTime(), 'UTC')) ?? daysAnywhere.format(at)
}
const shortDays = lazy(() => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }))
/** The same without its year. */
export function shortDay(text: string): string {
  const at = new Date(`${text}T00:00:00Z`)
  return mongolian()?.shortDayText(wallTimeAt(at.getTime(), 'UTC')) ?? shortDays().format(at)
}

const relative = lazy(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
/** How long ago, or ahead, by the server's clock where that is known. */
export function ago(iso: string, now: number = serverNow()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000
  const [unit, size] = steps.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
  const away = Math.round(seconds / size)
  return mongolian()?.agoText(away, unit, number) ?? relative().format(away, unit)
}

/** Of bytes the short name has no plural. */
const spans = memoize((unit) => numbers({ style: 'unit', unit, unitDisplay: unit === 'byte' ? 'long' : 'short', maximumFractionDigits: 1 }))
const tenths = lazy(() => numbers({ maximumFractionDigits: 1 }))
function span(value: number, unit: string): string {
  const word = mongolian()?.units[unit]
  return word === undefined ? spans(unit).format(value) : `${tenths().format(value)} ${word}`
}
/** How long something took. */
export function duration(ms: number): string {
  if (ms < 1_000) return span(Math.round(ms), 'millisecond')
  if (ms < 120_000) return span(ms / 1_000, 'second')
  return ms < 7_200_000 ? span(ms / 60_000, 'minute') : span(ms / 3_600_000, 'hour')
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
/** A size of a file. */
export function bytes(size: number): string {
  const step = Math.min(units.length - 1, size < 1 ? 0 : Math.floor(Math.log10(size) / 3))
  const unit = units[step] ?? 'byte'
  return span(size / 1000 ** step, unit)
}
