/** Product options and their combinations. Values have keys, so that they can be renamed. */

export const optionsMax = 3
export const variantsMax = 250

export type OptionText = {
  readonly key: string
  readonly name: string
  readonly values: readonly { readonly key: string; readonly text: string }[]
}
/** The values of a variant by option key. */
export type VariantPlacement = { readonly key: string; readonly id?: string | undefined; readonly places: Readonly<Record<string, string>> }

let made = 0
/** Creates a local key. */
export const freshKey = (): string => `new-${++made}`

const optionsWithValues = (options: readonly OptionText[]) => options.filter(({ values }) => values.length > 0)

export const optionsOf = (options: readonly { name: string; values: readonly string[] }[]): readonly OptionText[] =>
  options.map(({ name, values }) => ({ key: freshKey(), name, values: values.map((text) => ({ key: freshKey(), text })) }))

/** Returns options for the API; drops those without values. */
export const valuesOf = (options: readonly OptionText[]): { name: string; values: string[] }[] =>
  optionsWithValues(options).map(({ name, values }) => ({ name: name.trim(), values: values.map(({ text }) => text.trim()) }))

/** Returns the placement of each variant. */
export const variantPlacements = (
  options: readonly OptionText[],
  variants: readonly { id: string; optionValues: readonly string[] }[],
): readonly VariantPlacement[] =>
  variants.map(({ id, optionValues }) => ({
    key: id,
    id,
    places: Object.fromEntries(
      options.map(({ key, values }, at) => [key, values.find(({ text }) => text === optionValues[at])?.key ?? '']),
    ),
  }))

/** Returns all combinations; the last option varies fastest. Without options there is one. */
export function combinations(options: readonly OptionText[], max = Number.POSITIVE_INFINITY): readonly VariantPlacement['places'][] {
  let found: VariantPlacement['places'][] = [{}]
  for (const { key, values } of optionsWithValues(options))
    found = found.flatMap((places) => values.map((value) => ({ ...places, [key]: value.key }))).slice(0, max)
  return found
}

const combinationKey = (options: readonly OptionText[], places: VariantPlacement['places']): string =>
  JSON.stringify(optionsWithValues(options).map(({ key }) => places[key] ?? null))

type FittedRows<Row> = { readonly rows: readonly Row[]; readonly gone: readonly Row[] }

/**
 * Fits variants to changed options. A new option gives its first value; a removed option merges equal variants; a
 * removed value removes variants. One variant always stays.
 */
export function refitRows<Row extends VariantPlacement>(options: readonly OptionText[], rows: readonly Row[]): FittedRows<Row> {
  const seen = new Map<string, Row>()
  const gone: Row[] = []
  // Stored variants take precedence over new ones.
  for (const row of [...rows].sort((a, b) => Number(a.id === undefined) - Number(b.id === undefined))) {
    const places: Record<string, string> = {}
    for (const { key, values } of optionsWithValues(options)) {
      const current = row.places[key]
      const place = current === undefined ? values[0]?.key : values.find((value) => value.key === current)?.key
      if (place !== undefined) places[key] = place
    }
    const name = combinationKey(options, places)
    if (Object.keys(places).length < optionsWithValues(options).length || seen.has(name)) gone.push(row)
    else seen.set(name, { ...row, places })
  }
  const [first] = gone
  const [place] = combinations(options, 1)
  if (seen.size === 0 && first && place) {
    seen.set(combinationKey(options, place), { ...first, places: place })
    gone.shift()
  }
  const order = new Map(combinationOrder(options))
  const sorted = [...seen].sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0)).map(([, row]) => row)
  return { rows: sorted, gone }
}

/** Yields combination keys with their order. */
function* combinationOrder(options: readonly OptionText[]): Generator<[string, number]> {
  // Three options of 250 values are too many; later combinations keep their order.
  let at = 0
  for (const places of combinations(options, 20_000)) yield [combinationKey(options, places), at++]
}

/** Returns combinations without a variant. */
export function missingCombinations<Row extends VariantPlacement>(
  options: readonly OptionText[],
  rows: readonly Row[],
): readonly VariantPlacement['places'][] {
  const current = new Set(rows.map(({ places }) => combinationKey(options, places)))
  return combinations(options, 20_000).filter((places) => !current.has(combinationKey(options, places)))
}

/** Places a variant by its value texts; restores missing values. */
export function placeByTexts(
  options: readonly OptionText[],
  texts: readonly string[],
): { readonly options: readonly OptionText[]; readonly places: VariantPlacement['places'] } {
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

/** Returns a variant's value texts. */
export const textsAt = (options: readonly OptionText[], { places }: Pick<VariantPlacement, 'places'>): readonly string[] =>
  optionsWithValues(options).map(({ key, values }) => (values.find((value) => value.key === places[key])?.text ?? '').trim())

/** Returns a variant's name; empty without options. */
export const rowName = (options: readonly OptionText[], row: Pick<VariantPlacement, 'places'>): string => textsAt(options, row).join(' / ')
