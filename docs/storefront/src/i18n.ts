/** Texts of the storefront in the language of its shop, and formats of money and dates. */
import { ar } from './i18n/ar.ts'
import { type Catalog, en } from './i18n/en.ts'
import { mn } from './i18n/mn.ts'

const catalogs: Readonly<Record<string, Catalog>> = { en, ar, mn }

/** Policies of the shop: their texts are in `src/policies`. */
export const policyNames = ['shipping', 'returns', 'privacy', 'terms'] as const
export type PolicyName = (typeof policyNames)[number]

export type Money = { readonly amount: number; readonly currency: string }

export type Words = Catalog & {
  readonly language: string
  readonly direction: 'ltr' | 'rtl'
  money(money: Money): string
  day(instant: string): string
  country(code: string, name?: string): string
}

/** @param country of the shop; determines the format of numbers and dates */
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

/** Currencies with other decimals than two (ISO 4217). The browser's table omits rarely used decimals. */
const decimals: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)])),
)
export const decimalsOf = (currency: string): number => decimals[currency] ?? 2

/** Formats minor units as a decimal without a division, which would round. */
export function decimalOf({ amount, currency }: Money): string {
  const digits = decimalsOf(currency)
  const all = String(Math.abs(amount)).padStart(digits + 1, '0')
  const text = digits === 0 ? all : `${all.slice(0, -digits)}.${all.slice(-digits)}`
  return amount < 0 ? `-${text}` : text
}

/** Parses a decimal to minor units; undefined if it is invalid or has too many decimals. */
export function minorUnitsOf(text: string, currency: string): number | undefined {
  const digits = decimalsOf(currency)
  const [, whole = '', fraction = ''] = /^(\d{1,12})(?:\.(\d*))?$/.exec(text.trim()) ?? []
  return whole === '' || fraction.length > digits ? undefined : Number(whole + fraction.padEnd(digits, '0'))
}

function moneyText(money: Money, locale: string): string {
  const digits = decimalsOf(money.currency)
  const style = { style: 'currency', currency: money.currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const
  // As text, because a number would round large amounts.
  return new Intl.NumberFormat(locale, style).format(decimalOf(money) as `${number}`)
}
