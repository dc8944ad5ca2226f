/** ISO 4217 money as integer minor units. Amounts are never floats. */
export type Money = { readonly amount: number; readonly currency: Currency }
/** An upper-case ISO 4217 code. */
export type Currency = string

/**
 * Returns whether a JSON schema is of money: by its fields, since a field with a description of its own has no title.
 */
export const isMoneySchema = ({ properties = {} }: { readonly properties?: object }): boolean =>
  Object.keys(properties).sort().join() === 'amount,currency'

/** Active ISO 4217 codes by number of decimals (list one, up to amendment 180). */
const codesByDecimals: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
      CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF
      IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
      MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP
      SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER
      ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

const decimalsByCode: ReadonlyMap<string, number> = new Map(
  Object.entries(codesByDecimals).flatMap(([decimals, codes]) =>
    codes.split(/\s+/).map((code): [string, number] => [code, Number(decimals)]),
  ),
)

/** The currencies that souk accepts, as upper-case ISO 4217 codes. */
export const currencies: readonly Currency[] = [...decimalsByCode.keys()].sort()

/** Returns whether souk accepts a currency. Codes in lower case do not count. */
export const isCurrency = (code: string): code is Currency => decimalsByCode.has(code)

/**
 * Returns the decimals of a currency's minor unit: 2 for USD, 3 for KWD, 0 for JPY.
 * @throws RangeError for an unknown code
 */
export function decimalsOf(currency: Currency): number {
  const decimals = decimalsByCode.get(currency)
  if (decimals === undefined) throw new RangeError('not an ISO 4217 currency')
  return decimals
}

/** The largest amount that souk stores, in minor units: a trillion major units of a currency with two decimals. */
export const amountMax = 100_000_000_000_000

/**
 * Parses a plain decimal (`42`, `42.5`, `42.99`) as minor units of `currency`, exactly.
 * @returns undefined for other text, a negative amount, more decimals than the currency has, or more than `amountMax`
 */
export function parseAmount(text: string, currency: Currency): number | undefined {
  const match = /^(\d{1,15})(?:\.(\d*))?$/.exec(text.trim())
  if (!match) return undefined
  const decimals = decimalsOf(currency)
  const fraction = (match[2] ?? '').replace(/0+$/, '')
  if (fraction.length > decimals) return undefined
  const amount = Number(match[1] + fraction.padEnd(decimals, '0'))
  return amount <= amountMax ? amount : undefined
}

/** Formats minor units as a decimal of major units: 1050 at two decimals is `10.50`, and -5 is `-0.05`. */
export function decimalOf(amount: number, decimals: number): string {
  const digits = String(Math.abs(amount)).padStart(decimals + 1, '0')
  return `${amount < 0 ? '-' : ''}${decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`}`
}

/** Returns the named amounts of a record as money in its currency. */
export function moneyOf<Name extends string>(
  record: { readonly [Field in Name]: number } & { readonly currency: Currency },
  ...names: readonly Name[]
): Record<Name, Money> {
  const { currency } = record
  const amounts = {} as Record<Name, Money>
  for (const name of names) amounts[name] = { amount: record[name], currency }
  return amounts
}
