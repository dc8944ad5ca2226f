import type { ShippingMethod } from '../../../../db/schema/shop.ts'
import { countries, type Province, provinceCodes, provinceLists, provinces } from '../countries/domain.ts'
import { reachedOf } from './domain.ts'

/** A country that a shop sends to, with its parts: those that it sends to, or all that the country has. */
export type Served = { code: string; name: string; provinces: readonly Province[] }

/** Where a shop's methods go, in the order of the names; everywhere, where it has none. */
export async function servedCountries(methods: readonly ShippingMethod[]): Promise<Served[]> {
  const [all, lists, table] = await Promise.all([countries(), provinceLists(), provinces()])
  const served = all.flatMap(({ code, name }): Served[] => {
    const reached = reachedOf(methods, code)
    if (!reached) return []
    const list = lists.get(code) ?? []
    if (reached.whole) return [{ code, name, provinces: list }]
    const codes = new Set(reached.provinces.flatMap((province) => provinceCodes(table, code, province)))
    return [{ code, name, provinces: list.filter((province) => codes.has(province.code)) }]
  })
  return served.sort((a, b) => (a.name < b.name ? -1 : 1))
}
