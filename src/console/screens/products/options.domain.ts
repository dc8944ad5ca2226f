/** Options of a product, and the variants that their combinations are. Values are known by keys, so that one may be called otherwise. */

export const optionsMax = 3
export const variantsMax = 250

export type OptionText = {
  readonly key: string
  readonly name: string
  readonly values: readonly { readonly key: string; readonly text: string }[]
}
/** A variant's place: its value of each option, by their keys. */
export type Placed = { readonly key: string; readonly id?: string | undefined; readonly places: Readonly<Record<string, string>> }

let made = 0
/** A name of the page's own, for what souk has given none. */
export const freshKey = (): string => `new-${++made}`

const active = (options: readonly OptionText[]) => options.filter(({ values }) => values.length > 0)

/** Options as they stand in the fields. */
export const optionsOf = (options: readonly { name: string; values: readonly string[] }[]): readonly OptionText[] =>
  options.map(({ name, values }) => ({ key: freshKey(), name, values: values.map((text) => ({ key: freshKey(), text })) }))

/** Options as they are sent: those without a value are none. */
export const valuesOf = (options: readonly OptionText[]): { name: string; values: string[] }[] =>
  active(options).map(({ name, values }) => ({ name: name.trim(), values: values.map(({ text }) => text.trim()) }))

/** Where each of these variants stands. */
export const placesOf = (
  options: readonly OptionText[],
  variants: readonly { id: string; optionValues: readonly string[] }[],
): readonly Placed[] =>
  variants.map(({ id, optionValues }) => ({
    key: id,
    id,
    places: Object.fromEntries(
      options.map(({ key, values }, at) => [key, values.find(({ text }) => text === optionValues[at])?.key ?? '']),
    ),
  }))

/** Every combination of the options' values, as places; the last option changes first. Without options there is one. */
export function combinations(options: readonly OptionText[], max = Number.POSITIVE_INFINITY): readonly Placed['places'][] {
  let found: Placed['places'][] = [{}]
  for (const { key, values } of active(options))
    found = found.flatMap((places) => values.map((value) => ({ ...places, [key]: value.key }))).slice(0, max)
  return found
}

const nameOf = (options: readonly OptionText[], places: Placed['places']): string =>
  JSON.stringify(active(options).map(({ key }) => places[key] ?? null))

export type Fitted<Row> = { readonly rows: readonly Row[]; readonly gone: readonly Row[] }

/**
 * The variants that fit other options, in the order of these. Where an option is new, a variant has its first value; where an option is gone,
 * one of those that are alike now stays; whose value is gone, goes. One stays in any case: it is what the product is.
 */
export function refitted<Row extends Placed>(options: readonly OptionText[], rows: readonly Row[]): Fitted<Row> {
  const seen = new Map<string, Row>()
  const gone: Row[] = []
  // Those that souk knows have a past: they stay before those that were never saved.
  for (const row of [...rows].sort((a, b) => Number(a.id === undefined) - Number(b.id === undefined))) {
    const places: Record<string, string> = {}
    for (const { key, values } of active(options)) {
      const held = row.places[key]
      const place = held === undefined ? values[0]?.key : values.find((value) => value.key === held)?.key
      if (place !== undefined) places[key] = place
    }
    const name = nameOf(options, places)
    if (Object.keys(places).length < active(options).length || seen.has(name)) gone.push(row)
    else seen.set(name, { ...row, places })
  }
  const [first] = gone
  const [place] = combinations(options, 1)
  if (seen.size === 0 && first && place) {
    seen.set(nameOf(options, place), { ...first, places: place })
    gone.shift()
  }
  const order = new Map(placeNames(options))
  const sorted = [...seen].sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0)).map(([, row]) => row)
  return { rows: sorted, gone }
}

/** The order of combinations, without making them all: by the numbers of their values. */
function* placeNames(options: readonly OptionText[]): Generator<[string, number]> {
  // Three options of 250 values are too many to name; what is beyond is sorted last, as it came.
  let at = 0
  for (const places of combinations(options, 20_000)) yield [nameOf(options, places), at++]
}

/** Combinations of which there is no variant, up to so many as there may be. */
export function missing<Row extends Placed>(options: readonly OptionText[], rows: readonly Row[]): readonly Placed['places'][] {
  const held = new Set(rows.map(({ places }) => nameOf(options, places)))
  return combinations(options, 20_000).filter((places) => !held.has(nameOf(options, places)))
}

/** A row's place among options by the texts of its values; those that are not there any more are put back. */
export function placedBy(
  options: readonly OptionText[],
  texts: readonly string[],
): { readonly options: readonly OptionText[]; readonly places: Placed['places'] } {
  const places: Record<string, string> = {}
  const left = [...texts]
  const withValues = options.map((option) => {
    const text = option.values.length > 0 ? left.shift() : undefined
    if (text === undefined) return option
    const known = option.values.find((value) => value.text.trim() === text)
    const value = known ?? { key: freshKey(), text }
    places[option.key] = value.key
    return known ? option : { ...option, values: [...option.values, value] }
  })
  return { options: withValues, places }
}

/** A variant's values, one for each option that has any. */
export const textsAt = (options: readonly OptionText[], { places }: Pick<Placed, 'places'>): readonly string[] =>
  active(options).map(({ key, values }) => (values.find((value) => value.key === places[key])?.text ?? '').trim())

/** What a variant is called by its values; empty where there are no options. */
export const rowName = (options: readonly OptionText[], row: Pick<Placed, 'places'>): string => textsAt(options, row).join(' / ')
