/** The state of the product form: signals and their operations. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Schema } from '../../lib/api/api.ts'
import { type Draft, draftOf, fill, textsOf } from '../../lib/forms/draft.ts'
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
  freshKey,
  missingCombinations,
  type OptionText,
  optionsMax,
  placeByTexts,
  refitRows,
  textsAt,
  type VariantPlacement,
  variantsMax,
} from './options.domain.ts'

type Product = Schema<'Product'>
export type VariantRow = VariantPlacement & { readonly draft: Draft<VariantText>; readonly isOpen: Signal<boolean> }
type ProductPicture = Omit<PictureText, 'alt'> & { readonly alt: Signal<string> }

export type ProductEditor = {
  readonly base: Draft<BaseText>
  readonly options: ReadonlySignal<readonly OptionText[]>
  readonly rows: ReadonlySignal<readonly VariantRow[]>
  readonly pictures: Signal<readonly ProductPicture[]>
  /** Variants to delete on save. */
  readonly removed: ReadonlySignal<readonly VariantRow[]>
  readonly wrong: Signal<FieldErrors>
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
  takeBack(key: string): void
  /** A variant is deleted. */
  gone(id: string): void
  /** Sets the saved product as the base and assigns ids to new rows. */
  settle(product: Product): void
  /** Merges another person's version: deleted variants disappear, or become new ones if they were edited. */
  meet(theirs: Product): void
  addPicture(media: Pick<Schema<'Media'>, 'url' | 'width' | 'height'>): boolean
}

const variantJson = (row: ProductText['rows'][number] | undefined): string => {
  const { key: _, id: __, places: ___, ...text } = row ?? { key: '', places: {} }
  return JSON.stringify(text)
}
const picturesText = (of: ProductText['pictures']): string => JSON.stringify(of.map(({ key, alt }) => [key, alt]))
const createRow = (placed: VariantPlacement, text: VariantText): VariantRow => ({ ...placed, draft: draftOf(text), isOpen: signal(false) })

/**
 * @param known undefined for a new product
 * @param zone the shop's time zone
 */
export function createProductEditor(known: Product | undefined, zone: string): ProductEditor {
  const base = draftOf<BaseText>(blankBase)
  const options = signal<readonly OptionText[]>([])
  const rows = signal<readonly VariantRow[]>([])
  const pictures = signal<readonly ProductPicture[]>([])
  const removed = signal<readonly VariantRow[]>([])
  const wrong = signal<FieldErrors>({})
  const before = signal<ProductText>({ ...blankBase, options: [], rows: [], pictures: [] })

  const text = computed<ProductText>(() => ({
    ...textsOf(base),
    options: options.value,
    rows: rows.value.map(({ key, id, places, draft }) => ({ key, ...(id !== undefined && { id }), places, ...textsOf(draft) })),
    pictures: pictures.value.map(({ alt, ...rest }) => ({ ...rest, alt: alt.value })),
  }))
  const isDirty = computed(() => removed.value.length > 0 || JSON.stringify(text.value) !== JSON.stringify(before.value))

  function fillFields(now: ProductText): void {
    fill(base, now)
    options.value = now.options
    rows.value = now.rows.map(({ key, id, places, ...rest }) => createRow({ key, id, places }, rest))
    pictures.value = now.pictures.map(({ alt, ...rest }) => ({ ...rest, alt: signal(alt) }))
    removed.value = []
    wrong.value = {}
    before.value = text.value
  }
  /** Copies the first variant, without its unique fields. */
  function newRow(places: VariantPlacement['places']): VariantRow {
    const first = rows.value[0]
    const like = first ? { ...textsOf(first.draft), sku: '', barcode: '', onHand: '', picture: '' } : blankVariant
    return createRow({ key: freshKey(), places }, like)
  }
  function fitRows(next: readonly OptionText[], all: readonly VariantRow[]): void {
    const { rows: kept, gone } = refitRows(next, all)
    options.value = next
    rows.value = kept
    removed.value = [...removed.value, ...gone.filter(({ id }) => id !== undefined)]
  }
  function addRows(places: readonly VariantPlacement['places'][]): boolean {
    if (rows.value.length + places.length > variantsMax) return false
    fitRows(options.value, [...rows.value, ...places.map(newRow)])
    return true
  }

  if (known) fillFields(textOf(known, zone))
  else fillFields({ ...blankBase, options: [], rows: [{ key: freshKey(), places: {}, ...blankVariant }], pictures: [] })

  return {
    ...{ base, options, rows, pictures, removed, wrong, text, isDirty },
    before: () => before.value,
    load: (product) => fillFields(textOf(product, zone)),
    setOptions: (next) => fitRows(next, rows.value),
    addValue(option, value) {
      const key = freshKey()
      fitRows(
        options.value.map((one) => (one.key === option ? { ...one, values: [...one.values, { key, text: value }] } : one)),
        rows.value,
      )
      return addRows(missingCombinations(options.value, rows.value).filter((places) => places[option] === key))
    },
    addOption() {
      if (options.value.length < optionsMax) options.value = [...options.value, { key: freshKey(), name: '', values: [] }]
    },
    addMissing() {
      addRows(missingCombinations(options.value, rows.value).slice(0, variantsMax - rows.value.length))
    },
    removeRow(key) {
      const row = rows.value.find((one) => one.key === key)
      rows.value = rows.value.filter((one) => one !== row)
      if (row?.id !== undefined) removed.value = [...removed.value, row]
    },
    takeBack(key) {
      const row = removed.value.find((one) => one.key === key)
      if (!row) return
      removed.value = removed.value.filter((one) => one !== row)
      const { options: had, rows: were } = before.value
      const was = were.find(({ id }) => id === row.id)
      // Restores removed option values; with other options the variant is placed anew.
      const texts = was && had.length === options.value.length ? textsAt(had, was) : undefined
      const placed = texts ? placeByTexts(options.value, texts) : { options: options.value, places: row.places }
      fitRows(placed.options, [...rows.value, { ...row, places: placed.places }])
    },
    gone(id) {
      removed.value = removed.value.filter((one) => one.id !== id)
    },
    settle(product) {
      const now = text.value
      const taken = new Set([...rows.value, ...removed.value].map(({ id }) => id))
      const fresh = product.variants.filter(({ id }) => !taken.has(id))
      rows.value = rows.value.map((row) => (row.id === undefined ? { ...row, id: variantOf(now, row, fresh)?.id } : row))
      before.value = textOf(product, zone)
    },
    meet(theirs) {
      const now = textOf(theirs, zone)
      const there = new Map([...now.rows, ...now.pictures].map((one) => [one.id, one]))
      const isThere = ({ id }: { id?: string | undefined }) => id === undefined || there.has(id)
      const { rows: were, pictures: shown } = before.value
      if (picturesText(text.value.pictures) !== picturesText(shown))
        pictures.value = pictures.value.map((one) => (isThere(one) ? one : { ...one, id: undefined }))
      removed.value = removed.value.filter(isThere)
      if (rows.value.every(isThere)) return
      const isTyped = ({ id, draft }: VariantRow) => JSON.stringify(textsOf(draft)) !== variantJson(were.find((was) => was.id === id))
      const kept = rows.value.filter((row) => isThere(row) || isTyped(row))
      rows.value = (kept.length > 0 ? kept : rows.value).map((row) => (isThere(row) ? row : { ...row, id: undefined }))
      const places = new Map(now.rows.map((row) => [row.id, row.places]))
      // Places the previous rows among the present options, so that the body names each one's place.
      const rowsThere = were.filter(isThere).map((row) => ({ ...row, places: places.get(row.id) ?? {} }))
      before.value = { ...before.value, options: now.options, rows: rowsThere }
    },
    addPicture({ url, width, height }) {
      if (pictures.value.some((one) => one.url === url)) return false
      pictures.value = [...pictures.value, { key: freshKey(), url, width, height, alt: signal('') }]
      return true
    },
  }
}
