/** Product options and their combinations. Values have keys, so that they can be renamed. */

export const optionsMax = 3
export const variantsMax = 250

export type OptionText = {
  readonly key: string
  readonly name: string
  readonly values: readonly { readonly key: string; readonly text: string }[]
}
/** The values of a variant by option key. */
export type VariantCombination = {
  readonly key: string
  readonly id?: string | undefined
  readonly combination: Readonly<Record<string, string>>
}

let lastKey = 0
/** Creates a local key. */
export const newKey = (): string => `new-${++lastKey}`

const optionsWithValues = (options: readonly OptionText[]) => options.filter(({ values }) => values.length > 0)

/** Converts options of the API. Each option and value gets a new local key. */
export const toOptionTexts = (options: readonly { name: string; values: readonly string[] }[]): readonly OptionText[] =>
  options.map(({ name, values }) => ({ key: newKey(), name, values: values.map((text) => ({ key: newKey(), text })) }))

/** Returns options for the API; drops those without values. */
export const toApiOptions = (options: readonly OptionText[]): { name: string; values: string[] }[] =>
  optionsWithValues(options).map(({ name, values }) => ({ name: name.trim(), values: values.map(({ text }) => text.trim()) }))

/** Returns the placement of each variant. */
export const variantCombinations = (
  options: readonly OptionText[],
  variants: readonly { id: string; optionValues: readonly string[] }[],
): readonly VariantCombination[] =>
  variants.map(({ id, optionValues }) => ({
    key: id,
    id,
    combination: Object.fromEntries(
      options.map(({ key, values }, index) => [key, values.find(({ text }) => text === optionValues[index])?.key ?? '']),
    ),
  }))

/** Returns all combinations; the last option varies fastest. Without options there is one. */
export function combinations(options: readonly OptionText[], max = Number.POSITIVE_INFINITY): readonly VariantCombination['combination'][] {
  let found: VariantCombination['combination'][] = [{}]
  for (const { key, values } of optionsWithValues(options))
    found = found.flatMap((combination) => values.map((value) => ({ ...combination, [key]: value.key }))).slice(0, max)
  return found
}

const combinationKey = (options: readonly OptionText[], combination: VariantCombination['combination']): string =>
  JSON.stringify(optionsWithValues(options).map(({ key }) => combination[key] ?? null))

type FittedRows<Row> = { readonly rows: readonly Row[]; readonly dropped: readonly Row[] }

/**
 * Fits variants to changed options. A new option gives its first value; a removed option merges equal variants; a
 * removed value removes variants. One variant always stays.
 */
export function refitRows<Row extends VariantCombination>(options: readonly OptionText[], rows: readonly Row[]): FittedRows<Row> {
  const fitted = new Map<string, Row>()
  const dropped: Row[] = []
  // Stored variants take precedence over new ones.
  for (const row of [...rows].sort((a, b) => Number(a.id === undefined) - Number(b.id === undefined))) {
    const combination: Record<string, string> = {}
    for (const { key, values } of optionsWithValues(options)) {
      const current = row.combination[key]
      const valueKey = current === undefined ? values[0]?.key : values.find((value) => value.key === current)?.key
      if (valueKey !== undefined) combination[key] = valueKey
    }
    const name = combinationKey(options, combination)
    if (Object.keys(combination).length < optionsWithValues(options).length || fitted.has(name)) dropped.push(row)
    else fitted.set(name, { ...row, combination })
  }
  const [first] = dropped
  const [firstCombination] = combinations(options, 1)
  if (fitted.size === 0 && first && firstCombination) {
    fitted.set(combinationKey(options, firstCombination), { ...first, combination: firstCombination })
    dropped.shift()
  }
  const order = new Map(combinationOrder(options))
  const sorted = [...fitted].sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0)).map(([, row]) => row)
  return { rows: sorted, dropped }
}

/** Yields combination keys with their order. */
function* combinationOrder(options: readonly OptionText[]): Generator<[string, number]> {
  // Three options of 250 values are too many; later combinations keep their order.
  let at = 0
  for (const combination of combinations(options, 20_000)) yield [combinationKey(options, combination), at++]
}

/** Returns combinations without a variant. */
export function missingCombinations<Row extends VariantCombination>(
  options: readonly OptionText[],
  rows: readonly Row[],
): readonly VariantCombination['combination'][] {
  const current = new Set(rows.map(({ combination }) => combinationKey(options, combination)))
  return combinations(options, 20_000).filter((combination) => !current.has(combinationKey(options, combination)))
}

/** Places a variant by its value texts; restores missing values. */
export function combinationOfTexts(
  options: readonly OptionText[],
  texts: readonly string[],
): { readonly options: readonly OptionText[]; readonly combination: VariantCombination['combination'] } {
  const combination: Record<string, string> = {}
  const remaining = [...texts]
  const withValues = options.map((option) => {
    const text = option.values.length > 0 ? remaining.shift() : undefined
    if (text === undefined) return option
    const existing = option.values.find((value) => value.text.trim() === text)
    const value = existing ?? { key: newKey(), text }
    combination[option.key] = value.key
    return existing ? option : { ...option, values: [...option.values, value] }
  })
  return { options: withValues, combination }
}

/** Returns a variant's value texts. */
export const valueTexts = (options: readonly OptionText[], { combination }: Pick<VariantCombination, 'combination'>): readonly string[] =>
  optionsWithValues(options).map(({ key, values }) => (values.find((value) => value.key === combination[key])?.text ?? '').trim())

/** Returns a variant's name; empty without options. */
export const rowName = (options: readonly OptionText[], row: Pick<VariantCombination, 'combination'>): string =>
  valueTexts(options, row).join(' / ')
