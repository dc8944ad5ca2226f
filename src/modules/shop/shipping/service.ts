import type { ShippingMethod } from '../../../../db/schema/shop.ts'
import { listCountries, loadProvinceTable, type Province, provinceCodes, provinceLists } from '../countries/domain.ts'
import { coverageOf } from './domain.ts'

/** A country that a shop ships to, with the reached provinces, or all of the country. */
export type ServedCountry = { code: string; name: string; provinces: readonly Province[] }

/** Returns the countries that methods reach, by name; all without methods. */
export async function listServedCountries(methods: readonly ShippingMethod[]): Promise<ServedCountry[]> {
  const [all, lists, table] = await Promise.all([listCountries(), provinceLists(), loadProvinceTable()])
  const served = all.flatMap(({ code, name }): ServedCountry[] => {
    const reached = coverageOf(methods, code)
    if (!reached) return []
    const list = lists.get(code) ?? []
    if (reached.whole) return [{ code, name, provinces: list }]
    const codes = new Set(reached.provinces.flatMap((province) => provinceCodes(table, code, province)))
    return [{ code, name, provinces: list.filter((province) => codes.has(province.code)) }]
  })
  return served.sort((a, b) => (a.name < b.name ? -1 : 1))
}
