/** Partnerships as they are typed. They are replaced as a whole. */
import type { Schema } from '../../lib/api/api.ts'
import type { Choice } from '../../lib/forms/choice.ts'

export type Partnership = Schema<'Partnership'>
export type Typed = { readonly name: string; readonly processor: Partnership['defaultCardProcessor']; readonly shops: readonly Choice[] }

export const bodyOf = (typed: readonly Typed[]): Partnership[] =>
  typed.map(({ name, processor, shops }) => ({ name: name.trim(), defaultCardProcessor: processor, shopIds: shops.map(({ id }) => id) }))

/** Shops that stand in more than one, by what they are called: souk takes each in one at most. */
export function shopsTwice(typed: readonly Typed[]): readonly string[] {
  const seen = new Map<string, { readonly text: string; times: number }>()
  for (const { shops } of typed)
    for (const { id, text } of shops) {
      const known = seen.get(id) ?? { text, times: 0 }
      known.times++
      seen.set(id, known)
    }
  return [...seen.values()].filter(({ times }) => times > 1).map(({ text }) => text)
}

/** What a partnership is in one line, to hold two beside each other. */
const lineOf = ({ defaultCardProcessor, shopIds }: Partnership, { processor, shop }: Names): string =>
  [processor(defaultCardProcessor), ...shopIds.map(shop).toSorted()].join(', ')

/** What processors and shops are called. */
export type Names = { readonly processor: (id: Partnership['defaultCardProcessor']) => string; readonly shop: (id: string) => string }

const byId: Names = { processor: (id) => id, shop: (id) => id }

/** What differs, by name: what one wants to save beside what is there. */
export function differencesOf(
  mine: readonly Partnership[],
  there: readonly Partnership[],
  names: Names,
): [name: string, yours: string, theirs: string][] {
  const both = [...new Set([...mine, ...there].map(({ name }) => name))]
  const of = (list: readonly Partnership[], name: string, called: Names) =>
    list
      .filter((one) => one.name === name)
      .map((one) => lineOf(one, called))
      .join('; ')
  // Two shops may be called the same: what differs is told by their ids, and shown by these where their names do not tell it.
  return both
    .filter((name) => of(mine, name, byId) !== of(there, name, byId))
    .map((name) => {
      const called = of(mine, name, names) === of(there, name, names) ? { ...names, shop: byId.shop } : names
      return [name, of(mine, name, called), of(there, name, called)]
    })
}
