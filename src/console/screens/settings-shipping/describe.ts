/** Methods in words. */
import { money, number } from '../../lib/format/format.ts'
import { countryName } from '../../lib/format/names.ts'
import { isKnownToIntl, locale } from '../../lib/i18n/catalog.ts'
import { t } from './i18n.ts'
import type { Method } from './methods.domain.ts'

const named = 4
// Where the browser does not know the language it is Mongolian, which has a comma before the last one, too.
const list = new Intl.ListFormat(locale, { type: isKnownToIntl ? 'conjunction' : 'unit', style: 'short' })

const namesOf = (codes: readonly string[]): string =>
  codes.length > named
    ? t('andMore', { names: codes.slice(0, named).map(countryName).join(', '), n: codes.length - named })
    : list.format(codes.map(countryName))

/** Where a method goes. */
export function whereOf({ price, countries = [], zones = [] }: Method): string {
  if (price) return countries.length === 0 ? t('everywhere') : namesOf(countries)
  return zones
    .map((zone) =>
      zone.countries === undefined
        ? t('rest')
        : zone.provinces
          ? t('partsOf', { country: namesOf(zone.countries), provinces: list.format(zone.provinces.slice(0, named * 2)) })
          : namesOf(zone.countries),
    )
    .join('; ')
}

/** What it costs. */
export function costsOf({ price, rates = [], freeOver }: Method): string {
  if (price) return money(price)
  const bands = rates.map(({ upToGrams, upToAmount, amount }) =>
    upToGrams !== undefined
      ? t('bandGrams', { amount: money(amount), grams: number(upToGrams) })
      : upToAmount
        ? t('bandAmount', { amount: money(amount), to: money(upToAmount) })
        : rates.length > 1
          ? t('bandRest', { amount: money(amount) })
          : money(amount),
  )
  return [...bands, ...(freeOver ? [t('freeFrom', { amount: money(freeOver) })] : [])].join('; ')
}
