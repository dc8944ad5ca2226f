/** What is typed about a product while it is edited: signals, and what changes them together. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Schema } from '../../lib/api/api.ts'
import { type Draft, draftOf, fill, textsOf } from '../../lib/forms/draft.ts'
import {
  type BaseText,
  blankBase,
  blankVariant,
  type PictureText,
  type ProductText,
  textOf,
  type VariantText,
  variantOf,
  type Wrong,
} from './draft.domain.ts'
import { freshKey, missing, type OptionText, optionsMax, type Placed, placedBy, refitted, textsAt, variantsMax } from './options.domain.ts'

type Product = Schema<'Product'>
export type Row = Placed & { readonly draft: Draft<VariantText>; readonly isOpen: Signal<boolean> }
export type Shown = Omit<PictureText, 'alt'> & { readonly alt: Signal<string> }

export type Editor = {
  readonly base: Draft<BaseText>
  readonly options: ReadonlySignal<readonly OptionText[]>
  readonly rows: ReadonlySignal<readonly Row[]>
  readonly pictures: Signal<readonly Shown[]>
  /** Variants of the product that go when it is saved. */
  readonly removed: ReadonlySignal<readonly Row[]>
  readonly wrong: Signal<Wrong>
  readonly text: ReadonlySignal<ProductText>
  readonly isDirty: ReadonlySignal<boolean>
  /** As it was when the fields were filled. */
  before(): ProductText
  /** Fills the fields with a product as it is. */
  load(product: Product): void
  setOptions(options: readonly OptionText[]): void
  /** @returns false where there would be too many variants: only the value is added */
  addValue(option: string, text: string): boolean
  addOption(): void
  addMissing(): void
  removeRow(key: string): void
  takeBack(key: string): void
  /** A variant of the product is gone for good. */
  gone(id: string): void
  /** This much is saved: from here on it is what there was before, and what is new in it has its ids. */
  settle(product: Product): void
  /** Somebody else has made this of it. Variants that they removed are gone, or are new ones where something was typed about them. */
  meet(theirs: Product): void
  addPicture(media: Pick<Schema<'Media'>, 'url' | 'width' | 'height'>): boolean
}

const variantJson = (row: ProductText['rows'][number] | undefined): string => {
  const { key: _, id: __, places: ___, ...text } = row ?? { key: '', places: {} }
  return JSON.stringify(text)
}
const picturesText = (of: ProductText['pictures']): string => JSON.stringify(of.map(({ key, alt }) => [key, alt]))
const rowOf = (placed: Placed, text: VariantText): Row => ({ ...placed, draft: draftOf(text), isOpen: signal(false) })

/** @param known undefined for a new product; `zone` of the shop's clock */
export function createEditor(known: Product | undefined, zone: string): Editor {
  const base = draftOf<BaseText>(blankBase)
  const options = signal<readonly OptionText[]>([])
  const rows = signal<readonly Row[]>([])
  const pictures = signal<readonly Shown[]>([])
  const removed = signal<readonly Row[]>([])
  const wrong = signal<Wrong>({})
  const before = signal<ProductText>({ ...blankBase, options: [], rows: [], pictures: [] })

  const text = computed<ProductText>(() => ({
    ...textsOf(base),
    options: options.value,
    rows: rows.value.map(({ key, id, places, draft }) => ({ key, ...(id !== undefined && { id }), places, ...textsOf(draft) })),
    pictures: pictures.value.map(({ alt, ...rest }) => ({ ...rest, alt: alt.value })),
  }))
  const isDirty = computed(() => removed.value.length > 0 || JSON.stringify(text.value) !== JSON.stringify(before.value))

  function place(now: ProductText): void {
    fill(base, now)
    options.value = now.options
    rows.value = now.rows.map(({ key, id, places, ...rest }) => rowOf({ key, id, places }, rest))
    pictures.value = now.pictures.map(({ alt, ...rest }) => ({ ...rest, alt: signal(alt) }))
    removed.value = []
    wrong.value = {}
    before.value = text.value
  }
  /** New variants are as the first one is, but for what is each one's own. */
  function fresh(places: Placed['places']): Row {
    const first = rows.value[0]
    const like = first ? { ...textsOf(first.draft), sku: '', barcode: '', onHand: '', picture: '' } : blankVariant
    return rowOf({ key: freshKey(), places }, like)
  }
  function fit(next: readonly OptionText[], all: readonly Row[]): void {
    const { rows: kept, gone } = refitted(next, all)
    options.value = next
    rows.value = kept
    removed.value = [...removed.value, ...gone.filter(({ id }) => id !== undefined)]
  }
  function addRows(places: readonly Placed['places'][]): boolean {
    if (rows.value.length + places.length > variantsMax) return false
    fit(options.value, [...rows.value, ...places.map(fresh)])
    return true
  }

  if (known) place(textOf(known, zone))
  else place({ ...blankBase, options: [], rows: [{ key: freshKey(), places: {}, ...blankVariant }], pictures: [] })

  return {
    ...{ base, options, rows, pictures, removed, wrong, text, isDirty },
    before: () => before.value,
    load: (product) => place(textOf(product, zone)),
    setOptions: (next) => fit(next, rows.value),
    addValue(option, value) {
      const key = freshKey()
      fit(
        options.value.map((one) => (one.key === option ? { ...one, values: [...one.values, { key, text: value }] } : one)),
        rows.value,
      )
      return addRows(missing(options.value, rows.value).filter((places) => places[option] === key))
    },
    addOption() {
      if (options.value.length < optionsMax) options.value = [...options.value, { key: freshKey(), name: '', values: [] }]
    },
    addMissing() {
      addRows(missing(options.value, rows.value).slice(0, variantsMax - rows.value.length))
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
      // With its values, where they went; of other options it has another place.
      const texts = was && had.length === options.value.length ? textsAt(had, was) : undefined
      const placed = texts ? placedBy(options.value, texts) : { options: options.value, places: row.places }
      fit(placed.options, [...rows.value, { ...row, places: placed.places }])
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
      const isTyped = ({ id, draft }: Row) => JSON.stringify(textsOf(draft)) !== variantJson(were.find((was) => was.id === id))
      const kept = rows.value.filter((row) => isThere(row) || isTyped(row))
      rows.value = (kept.length > 0 ? kept : rows.value).map((row) => (isThere(row) ? row : { ...row, id: undefined }))
      const places = new Map(now.rows.map((row) => [row.id, row.places]))
      // Those of before stand among their options, so that what is sent says where each stands now.
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
