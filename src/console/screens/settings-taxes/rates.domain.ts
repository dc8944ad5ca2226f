/** Form values and bodies of tax rates, and duplicates. */
import type { Schema } from '../../lib/api/api.ts'
import { parsePercent, percentText } from '../../lib/forms/percent.ts'

export type Rate = Schema<'TaxRate'>
type RateTexts = { country: string; region: string; rate: string; class: string; inclusive: boolean; shipping: boolean }

/** Of a percentage: two of a basis point. */
const rateDecimals = 4
/** Parses a percentage with up to four decimals as basis points; undefined if it is invalid. */
export const parseRatePercent = (text: string): number | undefined => parsePercent(text, rateDecimals)

export const newRate: RateTexts = { country: '', region: '', rate: '', class: '', inclusive: false, shipping: false }

/** Returns the form's values of a stored rate, in percent. */
export const textsOfRate = ({ country, region, rateBps, inclusive, shipping, class: taxClass }: Rate): RateTexts => ({
  ...{ country, region: region ?? '', rate: percentText(rateBps), class: taxClass ?? '', inclusive, shipping },
})

/** Parses a rate; undefined if the percentage is invalid. */
export function parseRate(input: RateTexts): Rate | undefined {
  const rateBps = parseRatePercent(input.rate)
  if (rateBps === undefined) return undefined
  const taxClass = input.class.trim()
  return {
    ...{ country: input.country, region: input.region.trim() || null, rateBps, inclusive: input.inclusive, shipping: input.shipping },
    ...(taxClass ? { class: taxClass } : {}),
  }
}

const foldSpelling = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim()

/** Returns a rate's key: country, region and tax class. */
export const rateKey = ({ country, region, class: taxClass }: Pick<Rate, 'country' | 'region' | 'class'>): string =>
  [country, foldSpelling(region ?? '').replace(new RegExp(`^${foldSpelling(country)}-`), ''), taxClass ?? ''].join('/')

/** Returns another rate of the same key. Only the API matches region codes with names. */
export const findDuplicate = (rates: readonly Rate[], rate: Rate, except: string | undefined): Rate | undefined =>
  rates.find((existing) => rateKey(existing) === rateKey(rate) && rateKey(existing) !== except)

/** Replaces the rate of a key, or appends it. */
export const replaceRate = (rates: readonly Rate[], key: string | undefined, rate: Rate): readonly Rate[] =>
  rates.some((existing) => rateKey(existing) === key)
    ? rates.map((existing) => (rateKey(existing) === key ? rate : existing))
    : [...rates, rate]
