/** What the storefront says, in the language of its shop, and how money and days are written there. */
import type { Schema } from './api.ts'
import { ar } from './words/ar.ts'
import { type Catalog, en } from './words/en.ts'
import { mn } from './words/mn.ts'

const catalogs: Readonly<Record<string, Catalog>> = { en, ar, mn }

export type Words = Catalog & {
  readonly language: string
  readonly direction: 'ltr' | 'rtl'
  money(money: Schema<'Money'>): string
  day(instant: string): string
  country(code: string, name?: string): string
}

/** @param country of the shop: by it numbers and days are written as is usual there */
export function wordsOf(language: string, country: string): Words {
  const known = Object.hasOwn(catalogs, language) ? language : 'en'
  const locale = `${known}-${country}`
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })
  const countries = new Intl.DisplayNames([locale], { type: 'region', fallback: 'none' })
  return {
    ...(catalogs[known] ?? en),
    language: known,
    direction: known === 'ar' ? 'rtl' : 'ltr',
    money: (money) => moneyText(money, locale),
    day: (instant) => days.format(new Date(instant)),
    country: (code, name) => countries.of(code) ?? name ?? code,
  }
}

/** Currencies whose smallest unit is not a hundredth (ISO 4217). The browser's own table drops decimals that are not usual in shops. */
const decimals: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)])),
)
export const decimalsOf = (currency: string): number => decimals[currency] ?? 2

/** Minor units as a decimal, by moving the point: a division would round. */
export function decimalOf({ amount, currency }: Schema<'Money'>): string {
  const digits = decimalsOf(currency)
  const all = String(Math.abs(amount)).padStart(digits + 1, '0')
  const text = digits === 0 ? all : `${all.slice(0, -digits)}.${all.slice(-digits)}`
  return amount < 0 ? `-${text}` : text
}

/** The minor units that somebody typed as a decimal; undefined where it is none, or finer than the currency. */
export function minorUnitsOf(text: string, currency: string): number | undefined {
  const digits = decimalsOf(currency)
  const [, whole = '', fraction = ''] = /^(\d{1,12})(?:\.(\d*))?$/.exec(text.trim()) ?? []
  return whole === '' || fraction.length > digits ? undefined : Number(whole + fraction.padEnd(digits, '0'))
}

function moneyText(money: Schema<'Money'>, locale: string): string {
  const digits = decimalsOf(money.currency)
  const style = { style: 'currency', currency: money.currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const
  // As text, not as a number: that would round large amounts.
  return new Intl.NumberFormat(locale, style).format(decimalOf(money) as `${number}`)
}
