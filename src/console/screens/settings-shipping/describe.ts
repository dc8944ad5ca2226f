/** Shipping methods as text. */
import { money, number } from '../../lib/format/format.ts'
import { countryName } from '../../lib/format/names.ts'
import { isSupportedByIntl, locale } from '../../lib/i18n/catalog.ts'
import { t } from './i18n.ts'
import type { Method } from './methods.domain.ts'

const namesMax = 4
// If `Intl` lacks the language, it is Mongolian, whose lists have a comma before the last item too.
const list = new Intl.ListFormat(locale, { type: isSupportedByIntl ? 'conjunction' : 'unit', style: 'short' })

const namesOf = (codes: readonly string[]): string =>
  codes.length > namesMax
    ? t('andMore', { names: codes.slice(0, namesMax).map(countryName).join(', '), n: codes.length - namesMax })
    : list.format(codes.map(countryName))

/** Describes where a method ships. */
export function describeDestinations({ price, countries = [], zones = [] }: Method): string {
  if (price) return countries.length === 0 ? t('everywhere') : namesOf(countries)
  return zones
    .map((zone) =>
      zone.countries === undefined
        ? t('rest')
        : zone.provinces
          ? t('partsOf', { country: namesOf(zone.countries), provinces: list.format(zone.provinces.slice(0, namesMax * 2)) })
          : namesOf(zone.countries),
    )
    .join('; ')
}

/** Describes a method's prices. */
export function describeCosts({ price, rates = [], freeOver }: Method): string {
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
