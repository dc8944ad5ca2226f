/** Formats numbers, money and times in the reader's language and the shop's currency and time zone. */
import { decimalsOf } from '../../../lib/money.ts'
import { type Money, moneyText } from '../forms/amounts.ts'
import { language, locale, mongolianFallback } from '../i18n/catalog.ts'
import { shop } from '../session/current-shop.ts'
import { serverNow } from './server-clock.ts'
import { wallTimeAt } from './zoned-time.ts'

export { type Money, moneyText, parseMoney } from '../forms/amounts.ts'

const mongolian = mongolianFallback(() => import('./mongolian.ts'))

const memoize = <T>(create: (key: string) => T) => {
  const cache = new Map<string, T>()
  return (key: string): T => {
    const cachedValue = cache.get(key)
    if (cachedValue !== undefined) return cachedValue
    const value = create(key)
    cache.set(key, value)
    return value
  }
}

/** Creates a value on first use: a formatter costs tenths of a millisecond. */
const lazy = <T>(create: () => T) => {
  let value: T | undefined
  return () => (value ??= create())
}

const moneyFormat = memoize((currency) => {
  const decimals = decimalsOf(currency)
  return createNumberFormat({ style: 'currency', currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals })
})

/** Isolates a currency sign such as US$ in right-to-left text. */
const isolateSign = language === 'ar' ? (text: string) => `\u2068${text}\u2069` : (text: string) => text

const amountText = (parts: readonly Intl.NumberFormatPart[], currency: string): string =>
  mongolian()?.moneyInParts(parts, currency) ?? parts.map(({ type, value }) => (type === 'currency' ? isolateSign(value) : value)).join('')

/** Formats minor units exactly, as a decimal string without a floating-point value. */
export const money = ({ amount, currency }: Money): string =>
  amountText(moneyFormat(currency).formatToParts(moneyText({ amount, currency }) as unknown as number), currency)

const createNumberFormat = (options: Intl.NumberFormatOptions): Intl.NumberFormat => new Intl.NumberFormat(locale, options)
// The first screen needs these formatters, so they are created while it loads.
const numberFormat = createNumberFormat({})
const percentFormat = createNumberFormat({ style: 'percent', maximumFractionDigits: 1 })
const signedPercentFormat = createNumberFormat({ style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' })
/** Formats a count. */
export const number = (value: number): string => numberFormat.format(value)
/** Formats a fraction, such as 0.034, as a percentage. */
export const percent = (value: number): string => percentFormat.format(value)
/** Formats a change as a percentage with its sign. */
export const percentChange = (value: number): string => signedPercentFormat.format(value)

const dollarFormat = lazy(() => createNumberFormat({ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' }))
/** Formats a number of an API field in dollars (`…Usd`). */
export const usd = (value: number): string => amountText(dollarFormat().formatToParts(value), 'USD')

/** Six decimals, as many as the API has. */
const exactPercentFormat = lazy(() => createNumberFormat({ style: 'percent', maximumFractionDigits: 6 }))
/** Formats basis points: 1250 is 12.5 %. */
export const percentOfBps = (bps: number): string => exactPercentFormat().format(bps / 10_000)
/** Formats an owner's share in percent, such as 33.3333. */
export const percentOfShare = (share: number): string => exactPercentFormat().format(share / 100)

/** Returns the browser's time zone; UTC if it does not know one. */
export function browserTimeZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return timeZone === 'Etc/Unknown' ? 'UTC' : timeZone
}
/** Returns the time zone for display and input: the shop's, or the browser's outside a shop. */
export const timeZone = (): string => shop.value?.timeZone ?? browserTimeZone()

/** Falls back to UTC for a time zone that an older browser does not know. */
const createDateFormat = (options: Intl.DateTimeFormatOptions) =>
  memoize((timeZone) => {
    try {
      return new Intl.DateTimeFormat(locale, { ...options, timeZone })
    } catch {
      return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
    }
  })
const momentFormat = createDateFormat({ dateStyle: 'medium', timeStyle: 'short' })
const dayFormat = createDateFormat({ dateStyle: 'medium' })
const utcDayFormat = dayFormat('UTC')
/** Formats a timestamp of the API with date and time. */
export const moment = (iso: string): string =>
  mongolian()?.momentText(wallTimeAt(Date.parse(iso), timeZone())) ?? momentFormat(timeZone()).format(new Date(iso))
/** Formats the date of a timestamp. */
export const dayOf = (iso: string): string =>
  mongolian()?.dayText(wallTimeAt(Date.parse(iso), timeZone())) ?? dayFormat(timeZone()).format(new Date(iso))
/** Formats a date of the API (`2026-11-23`), which has no time zone. */
export function day(text: string): string {
  const midnight = new Date(`${text}T00:00:00Z`)
  return mongolian()?.dayText(wallTimeAt(midnight.getTime(), 'UTC')) ?? utcDayFormat.format(midnight)
}
const shortDayFormat = lazy(() => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }))
/** Formats a date without its year. */
export function shortDay(text: string): string {
  const midnight = new Date(`${text}T00:00:00Z`)
  return mongolian()?.shortDayText(wallTimeAt(midnight.getTime(), 'UTC')) ?? shortDayFormat().format(midnight)
}

const relativeFormat = lazy(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
const agoUnits = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
/** Formats a timestamp relative to now, by the server's clock. */
export function ago(iso: string, now: number = serverNow()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000
  const [unit, size] = agoUnits.find(([, unitSeconds]) => Math.abs(seconds) >= unitSeconds) ?? ['second', 1]
  const count = Math.round(seconds / size)
  return mongolian()?.agoText(count, unit, number) ?? relativeFormat().format(count, unit)
}

/** The short name of bytes has no plural. */
const unitFormat = memoize((unit) =>
  createNumberFormat({ style: 'unit', unit, unitDisplay: unit === 'byte' ? 'long' : 'short', maximumFractionDigits: 1 }),
)
const tenthsFormat = lazy(() => createNumberFormat({ maximumFractionDigits: 1 }))
function formatUnit(value: number, unit: string): string {
  const unitName = mongolian()?.units[unit]
  return unitName === undefined ? unitFormat(unit).format(value) : `${tenthsFormat().format(value)} ${unitName}`
}
/** Formats a duration. */
export function duration(ms: number): string {
  if (ms < 1_000) return formatUnit(Math.round(ms), 'millisecond')
  if (ms < 120_000) return formatUnit(ms / 1_000, 'second')
  return ms < 7_200_000 ? formatUnit(ms / 60_000, 'minute') : formatUnit(ms / 3_600_000, 'hour')
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
/** Formats a file size. */
export function bytes(size: number): string {
  const step = Math.min(units.length - 1, size < 1 ? 0 : Math.floor(Math.log10(size) / 3))
  const unit = units[step] ?? 'byte'
  return formatUnit(size / 1000 ** step, unit)
}
