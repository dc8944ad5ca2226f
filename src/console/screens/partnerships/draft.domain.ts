/** The form values of partnerships, which are replaced as a whole. */
import type { Schema } from '../../lib/api/api.ts'
import type { Choice } from '../../lib/forms/choice.ts'

export type Partnership = Schema<'Partnership'>
export type PartnershipText = {
  readonly name: string
  readonly processor: Partnership['defaultCardProcessor']
  readonly shops: readonly Choice[]
}

/** Builds the `data` of a request that replaces all partnerships. Order matters. */
export const bodyOf = (input: readonly PartnershipText[]): Partnership[] =>
  input.map(({ name, processor, shops }) => ({ name: name.trim(), defaultCardProcessor: processor, shopIds: shops.map(({ id }) => id) }))

/** Returns the names of shops in several partnerships; the API allows one each. */
export function findDuplicateShops(input: readonly PartnershipText[]): readonly string[] {
  const seen = new Map<string, { readonly text: string; times: number }>()
  for (const { shops } of input)
    for (const { id, text } of shops) {
      const entry = seen.get(id) ?? { text, times: 0 }
      entry.times++
      seen.set(id, entry)
    }
  return [...seen.values()].filter(({ times }) => times > 1).map(({ text }) => text)
}

/** Describes a partnership in one line, for conflicts. */
const describePartnership = ({ defaultCardProcessor, shopIds }: Partnership, { processor, shop }: PartnershipNames): string =>
  [processor(defaultCardProcessor), ...shopIds.map(shop).toSorted()].join(', ')

/** Names of processors and shops. */
type PartnershipNames = {
  readonly processor: (id: Partnership['defaultCardProcessor']) => string
  readonly shop: (id: string) => string
}

const byId: PartnershipNames = { processor: (id) => id, shop: (id) => id }

/** Lists the differing partnerships of a conflict, by name. */
export function differencesOf(
  mine: readonly Partnership[],
  theirs: readonly Partnership[],
  names: PartnershipNames,
): [name: string, yours: string, theirs: string][] {
  const allNames = [...new Set([...mine, ...theirs].map(({ name }) => name))]
  const describe = (list: readonly Partnership[], name: string, shownNames: PartnershipNames) =>
    list
      .filter((partnership) => partnership.name === name)
      .map((partnership) => describePartnership(partnership, shownNames))
      .join('; ')
  // Compares by id and shows ids only if the names are equal.
  return allNames
    .filter((name) => describe(mine, name, byId) !== describe(theirs, name, byId))
    .map((name) => {
      const shownNames = describe(mine, name, names) === describe(theirs, name, names) ? { ...names, shop: byId.shop } : names
      return [name, describe(mine, name, shownNames), describe(theirs, name, shownNames)]
    })
}
