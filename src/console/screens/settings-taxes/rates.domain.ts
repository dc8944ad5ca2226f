/** Tax rates: as the fields of a form, back as the API takes them, and which of them say the same place twice. */
import type { Schema } from '../../lib/api/api.ts'
import { parsePercent, percentText } from '../../lib/forms/percent.ts'

export type Rate = Schema<'TaxRate'>
export type RateTexts = { country: string; region: string; rate: string; class: string; inclusive: boolean }

export const newRate: RateTexts = { country: '', region: '', rate: '', class: '', inclusive: false }

export const textsOfRate = ({ country, region, rateBps, inclusive, class: taxClass }: Rate): RateTexts => ({
  ...{ country, region: region ?? '', rate: percentText(rateBps), class: taxClass ?? '', inclusive },
})

/** The rate that was typed; undefined where the percentage is none. */
export function rateOf(typed: RateTexts): Rate | undefined {
  const rateBps = parsePercent(typed.rate)
  if (rateBps === undefined) return undefined
  const taxClass = typed.class.trim()
  return {
    ...{ country: typed.country, region: typed.region.trim() || null, rateBps, inclusive: typed.inclusive },
    ...(taxClass ? { class: taxClass } : {}),
  }
}

const spelling = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim()

/** What a rate is of, and by which it is found: one place, and one class there. */
export const placeOf = ({ country, region, class: taxClass }: Pick<Rate, 'country' | 'region' | 'class'>): string =>
  [country, spelling(region ?? '').replace(new RegExp(`^${spelling(country)}-`), ''), taxClass ?? ''].join('/')

/** Another rate of the same place and class, of which souk would take one only. A region by its code and by its name only souk tells apart. */
export const duplicateOf = (rates: readonly Rate[], rate: Rate, except: string | undefined): Rate | undefined =>
  rates.find((one) => placeOf(one) === placeOf(rate) && placeOf(one) !== except)

/** The list with a rate in the place of the one that was there, or at its end. */
export const withRate = (rates: readonly Rate[], place: string | undefined, rate: Rate): readonly Rate[] =>
  rates.some((one) => placeOf(one) === place) ? rates.map((one) => (placeOf(one) === place ? rate : one)) : [...rates, rate]
