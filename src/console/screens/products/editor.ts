/** The state of the product form: signals and their operations. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Schema } from '../../lib/api/api.ts'
import { createDraft, type Draft, draftValues, setFields } from '../../lib/forms/draft.ts'
import {
  type BaseText,
  blankBase,
  blankVariant,
  type FieldErrors,
  type PictureText,
  type ProductText,
  textOf,
  type VariantText,
  variantOf,
} from './draft.domain.ts'
import {
  combinationOfTexts,
  missingCombinations,
  newKey,
  type OptionText,
  optionsMax,
  refitRows,
  type VariantCombination,
  valueTexts,
  variantsMax,
} from './options.domain.ts'

type Product = Schema<'Product'>
export type VariantRow = VariantCombination & { readonly draft: Draft<VariantText>; readonly isOpen: Signal<boolean> }
type ProductPicture = Omit<PictureText, 'alt'> & { readonly alt: Signal<string> }

export type ProductEditor = {
  readonly base: Draft<BaseText>
  readonly options: ReadonlySignal<readonly OptionText[]>
  readonly rows: ReadonlySignal<readonly VariantRow[]>
  readonly pictures: Signal<readonly ProductPicture[]>
  /** Variants to delete on save. */
  readonly removed: ReadonlySignal<readonly VariantRow[]>
  readonly errors: Signal<FieldErrors>
  readonly text: ReadonlySignal<ProductText>
  readonly isDirty: ReadonlySignal<boolean>
  /** Values when the form was filled. */
  before(): ProductText
  /** Fills the form. */
  load(product: Product): void
  setOptions(options: readonly OptionText[]): void
  /** @returns false if there would be too many variants; then only the value is added */
  addValue(option: string, text: string): boolean
  addOption(): void
  addMissing(): void
  removeRow(key: string): void
  restoreRow(key: string): void
  /** A variant is deleted. */
  confirmDeleted(id: string): void
  /** Sets the saved product as the base and assigns ids to new rows. */
  markSaved(product: Product): void
  /** Merges another person's version: deleted variants disappear, or become new ones if they were edited. */
  mergeTheirs(theirs: Product): void
  addPicture(media: Pick<Schema<'Media'>, 'url' | 'width' | 'height'>): boolean
}

const variantJson = (row: ProductText['rows'][number] | undefined): string => {
  const { key: _, id: __, combination: ___, ...text } = row ?? { key: '', combination: {} }
  return JSON.stringify(text)
}
const picturesText = (pictures: ProductText['pictures']): string => JSON.stringify(pictures.map(({ key, alt }) => [key, alt]))
const createRow = (row: VariantCombination, text: VariantText): VariantRow => ({ ...row, draft: createDraft(text), isOpen: signal(false) })

/**
 * @param initialProduct undefined for a new product
 * @param zone the shop's time zone
 */
export function createProductEditor(initialProduct: Product | undefined, zone: string): ProductEditor {
  const base = createDraft<BaseText>(blankBase)
  const options = signal<readonly OptionText[]>([])
  const rows = signal<readonly VariantRow[]>([])
  const pictures = signal<readonly ProductPicture[]>([])
  const removed = signal<readonly VariantRow[]>([])
  const errors = signal<FieldErrors>({})
  const before = signal<ProductText>({ ...blankBase, options: [], rows: [], pictures: [] })

  const text = computed<ProductText>(() => ({
    ...draftValues(base),
    options: options.value,
    rows: rows.value.map(({ key, id, combination, draft }) => ({
      key,
      ...(id !== undefined && { id }),
      combination,
      ...draftValues(draft),
    })),
    pictures: pictures.value.map(({ alt, ...rest }) => ({ ...rest, alt: alt.value })),
  }))
  const isDirty = computed(() => removed.value.length > 0 || JSON.stringify(text.value) !== JSON.stringify(before.value))

  function fillFields(now: ProductText): void {
    setFields(base, now)
    options.value = now.options
    rows.value = now.rows.map(({ key, id, combination, ...rest }) => createRow({ key, id, combination }, rest))
    pictures.value = now.pictures.map(({ alt, ...rest }) => ({ ...rest, alt: signal(alt) }))
    removed.value = []
    errors.value = {}
    before.value = text.value
  }
  /** Copies the first variant, without its unique fields. */
  function createSimilarRow(combination: VariantCombination['combination']): VariantRow {
    const first = rows.value[0]
    const template = first ? { ...draftValues(first.draft), sku: '', barcode: '', onHand: '', picture: '' } : blankVariant
    return createRow({ key: newKey(), combination }, template)
  }
  function fitRows(next: readonly OptionText[], all: readonly VariantRow[]): void {
    const { rows: fittedRows, dropped } = refitRows(next, all)
    options.value = next
    rows.value = fittedRows
    removed.value = [...removed.value, ...dropped.filter(({ id }) => id !== undefined)]
  }
  function addRows(combinations: readonly VariantCombination['combination'][]): boolean {
    if (rows.value.length + combinations.length > variantsMax) return false
    fitRows(options.value, [...rows.value, ...combinations.map(createSimilarRow)])
    return true
  }

  if (initialProduct) fillFields(textOf(initialProduct, zone))
  else fillFields({ ...blankBase, options: [], rows: [{ key: newKey(), combination: {}, ...blankVariant }], pictures: [] })

  return {
    ...{ base, options, rows, pictures, removed, errors, text, isDirty },
    before: () => before.value,
    load: (product) => fillFields(textOf(product, zone)),
    setOptions: (next) => fitRows(next, rows.value),
    addValue(option, value) {
      const key = newKey()
      fitRows(
        options.value.map((existing) =>
          existing.key === option ? { ...existing, values: [...existing.values, { key, text: value }] } : existing,
        ),
        rows.value,
      )
      return addRows(missingCombinations(options.value, rows.value).filter((combination) => combination[option] === key))
    },
    addOption() {
      if (options.value.length < optionsMax) options.value = [...options.value, { key: newKey(), name: '', values: [] }]
    },
    addMissing() {
      addRows(missingCombinations(options.value, rows.value).slice(0, variantsMax - rows.value.length))
    },
    removeRow(key) {
      const row = rows.value.find((row) => row.key === key)
      rows.value = rows.value.filter((other) => other !== row)
      if (row?.id !== undefined) removed.value = [...removed.value, row]
    },
    restoreRow(key) {
      const row = removed.value.find((row) => row.key === key)
      if (!row) return
      removed.value = removed.value.filter((other) => other !== row)
      const { options: optionsBefore, rows: rowsBefore } = before.value
      const rowBefore = rowsBefore.find(({ id }) => id === row.id)
      // Restores removed option values; with other options the variant is placed anew.
      const texts = rowBefore && optionsBefore.length === options.value.length ? valueTexts(optionsBefore, rowBefore) : undefined
      const restored = texts ? combinationOfTexts(options.value, texts) : { options: options.value, combination: row.combination }
      fitRows(restored.options, [...rows.value, { ...row, combination: restored.combination }])
    },
    confirmDeleted(id) {
      removed.value = removed.value.filter((row) => row.id !== id)
    },
    markSaved(product) {
      const values = text.value
      const knownIds = new Set([...rows.value, ...removed.value].map(({ id }) => id))
      const newVariants = product.variants.filter(({ id }) => !knownIds.has(id))
      rows.value = rows.value.map((row) => (row.id === undefined ? { ...row, id: variantOf(values, row, newVariants)?.id } : row))
      before.value = textOf(product, zone)
    },
    mergeTheirs(theirs) {
      const now = textOf(theirs, zone)
      const theirsById = new Map([...now.rows, ...now.pictures].map((item) => [item.id, item]))
      const exists = ({ id }: { id?: string | undefined }) => id === undefined || theirsById.has(id)
      const { rows: rowsBefore, pictures: picturesBefore } = before.value
      if (picturesText(text.value.pictures) !== picturesText(picturesBefore))
        pictures.value = pictures.value.map((picture) => (exists(picture) ? picture : { ...picture, id: undefined }))
      removed.value = removed.value.filter(exists)
      if (rows.value.every(exists)) return
      const isEdited = ({ id, draft }: VariantRow) =>
        JSON.stringify(draftValues(draft)) !== variantJson(rowsBefore.find((row) => row.id === id))
      const remainingRows = rows.value.filter((row) => exists(row) || isEdited(row))
      rows.value = (remainingRows.length > 0 ? remainingRows : rows.value).map((row) => (exists(row) ? row : { ...row, id: undefined }))
      const combinations = new Map(now.rows.map((row) => [row.id, row.combination]))
      // Assigns the previous rows to the present options, so that the body names each one's combination.
      const matchingRows = rowsBefore.filter(exists).map((row) => ({ ...row, combination: combinations.get(row.id) ?? {} }))
      before.value = { ...before.value, options: now.options, rows: matchingRows }
    },
    addPicture({ url, width, height }) {
      if (pictures.value.some((picture) => picture.url === url)) return false
      pictures.value = [...pictures.value, { key: newKey(), url, width, height, alt: signal('') }]
      return true
    },
  }
}
