/** The product form's values and request bodies. Runs without a browser. */

import type { Schema } from '../../lib/api/api.ts'
import { isSameJson, pickChanges } from '../../lib/api/changed-fields.ts'
import { parseWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'
import { moneyText, parseMoney } from '../../lib/forms/amounts.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'
import type { paths } from '../../lib/schema.d.ts'
import {
  type OptionText,
  rowName,
  toApiOptions,
  toOptionTexts,
  type VariantCombination,
  valueTexts,
  variantCombinations,
} from './options.domain.ts'

type Product = Schema<'Product'>
type Variant = Schema<'Variant'>
type CreateBody = NonNullable<paths['/product-v2']['post']['requestBody']>['content']['application/json']
export type ChangeBody = NonNullable<paths['/product-v2/{id}']['patch']['requestBody']>['content']['application/json']
type VariantBody = NonNullable<CreateBody['variants']>[number]
type VariantChange = NonNullable<ChangeBody['variants']>[number]

export type VariantText = {
  readonly price: string
  readonly compareAt: string
  readonly cost: string
  readonly sku: string
  readonly barcode: string
  readonly weight: string
  readonly taxClass: string
  readonly taxable: boolean
  readonly shipping: boolean
  readonly track: boolean
  readonly backorder: boolean
  readonly lowStockAt: string
  /** For new variants only. */
  readonly onHand: string
  /** Key of a product picture; empty for none. */
  readonly picture: string
}
export type RowText = VariantCombination & VariantText
/** @property key the image's id, or a local key for a new image */
export type PictureText = {
  readonly key: string
  readonly id?: string | undefined
  readonly url: string
  readonly alt: string
  readonly width: number | null
  readonly height: number | null
}
/** Publication: once active, from a time on, or never. */
type Publication = 'auto' | 'at' | 'never'
export type BaseText = {
  readonly title: string
  readonly handle: string
  readonly descriptionHtml: string
  readonly vendor: string
  readonly type: string
  readonly tags: readonly string[]
  readonly status: Product['status']
  readonly kind: 'STANDARD' | 'GIFT_CARD'
  readonly publication: Publication
  /** `datetime-local` value in the shop's time zone. */
  readonly publishedAt: string
  readonly seoTitle: string
  readonly seoDescription: string
}
export type ProductText = BaseText & {
  readonly options: readonly OptionText[]
  readonly rows: readonly RowText[]
  readonly pictures: readonly PictureText[]
}
/** Errors by field, such as `title` or `rows.KEY.price`. */
export type FieldErrors = Readonly<Record<string, 'required' | 'notAmount' | 'notNumber' | 'notMoment' | 'twice' | 'empty'>>

export const blankVariant: VariantText = {
  price: '',
  compareAt: '',
  cost: '',
  sku: '',
  barcode: '',
  weight: '',
  taxClass: '',
  taxable: true,
  shipping: true,
  track: true,
  backorder: false,
  lowStockAt: '',
  onHand: '',
  picture: '',
}
export const blankBase: BaseText = {
  title: '',
  handle: '',
  descriptionHtml: '',
  vendor: '',
  type: '',
  tags: [],
  status: 'ACTIVE',
  kind: 'STANDARD',
  publication: 'auto',
  publishedAt: '',
  seoTitle: '',
  seoDescription: '',
}

const amountText = (money: Variant['cost']): string => (money ? moneyText(money) : '')
const numberText = (value: number | null): string => (value === null ? '' : String(value))

const variantText = (variant: Variant): VariantText => ({
  price: variant.hasPrice ? amountText(variant.price) : '',
  compareAt: amountText(variant.compareAtPrice),
  cost: amountText(variant.cost),
  sku: variant.sku ?? '',
  barcode: variant.barcode ?? '',
  weight: variant.weightGrams === 0 ? '' : String(variant.weightGrams),
  taxClass: variant.taxClass ?? '',
  taxable: variant.taxable,
  shipping: variant.requiresShipping,
  track: variant.trackInventory,
  backorder: variant.allowBackorder,
  lowStockAt: numberText(variant.lowStockAt),
  onHand: '',
  picture: variant.imageId ?? '',
})

const publicationOf = ({ publishedAt, status }: Pick<Product, 'publishedAt' | 'status'>): Publication =>
  publishedAt !== null ? 'at' : status === 'ACTIVE' ? 'never' : 'auto'

/**
 * Returns the form's values of a product.
 * @param zone the shop's time zone
 */
export function textOf(product: Product, zone: string): ProductText {
  const { title, handle, descriptionHtml, vendor, type, tags, status, kind = 'STANDARD', publishedAt, seo, images } = product
  const options = toOptionTexts(product.options)
  const combinations = variantCombinations(options, product.variants)
  return {
    ...{ title, handle, descriptionHtml, vendor, type, tags, status, kind },
    publication: publicationOf(product),
    publishedAt: wallTimeText(publishedAt, zone),
    seoTitle: seo.title ?? '',
    seoDescription: seo.description ?? '',
    options,
    rows: product.variants.map((variant, index) => ({ ...(combinations[index] as VariantCombination), ...variantText(variant) })),
    pictures: images.map(({ id, url, alt, width, height }) => ({ key: id, id, url, alt: alt ?? '', width, height })),
  }
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

/** Builds a variant's body without its options; reports errors by field. */
function variantBody(text: VariantText, currency: string, addError: (field: keyof VariantText, wrong: FieldErrors[string]) => void) {
  const money = (field: 'price' | 'compareAt' | 'cost') => {
    if (text[field].trim() === '') {
      if (field === 'price') addError(field, 'required')
      return null
    }
    const parsed = parseMoney(text[field], currency)
    if (!parsed) addError(field, 'notAmount')
    return parsed ?? null
  }
  const parseWhole = (field: 'weight' | 'lowStockAt' | 'onHand') => {
    if (text[field].trim() === '') return null
    const parsed = wholeNumber(text[field])
    if (parsed === undefined) addError(field, 'notNumber')
    return parsed ?? null
  }
  const onHand = parseWhole('onHand')
  return {
    price: money('price') ?? { amount: 0, currency },
    compareAtPrice: money('compareAt'),
    cost: money('cost'),
    sku: orNull(text.sku),
    barcode: orNull(text.barcode),
    weightGrams: parseWhole('weight') ?? 0,
    taxClass: orNull(text.taxClass),
    taxable: text.taxable,
    requiresShipping: text.shipping,
    trackInventory: text.track,
    allowBackorder: text.backorder,
    lowStockAt: parseWhole('lowStockAt'),
    ...(onHand !== null && { onHand }),
  } satisfies VariantBody
}

/** Null: unpublished. Undefined: published when active, or unchanged. */
function readPublication(
  { publication, publishedAt }: BaseText,
  zone: string,
  addError: (wrong: FieldErrors[string]) => void,
): string | null | undefined {
  if (publication === 'auto') return undefined
  if (publication === 'never') return null
  const at = parseWallTime(publishedAt, zone)
  if (at) return at
  addError('notMoment')
  return undefined
}

/** Returns the publication time for "when active": now for an active product; a past publication time stays. */
function publishWhenActive({ status }: BaseText, before: BaseText, { zone, now }: ShopTerms): string | null | undefined {
  const at = before.publication === 'at' ? parseWallTime(before.publishedAt, zone) : null
  if (at && Date.parse(at) <= now) return undefined
  return status === 'ACTIVE' ? new Date(now).toISOString() : null
}

function baseBody(text: ProductText) {
  const { title, descriptionHtml, vendor, type, tags, status, kind } = text
  return {
    ...{ title, descriptionHtml, vendor, type, tags: [...tags], status, kind },
    seo: { title: orNull(text.seoTitle), description: orNull(text.seoDescription) },
    options: toApiOptions(text.options),
    images: text.pictures.map(({ id, url, alt, width, height }) => ({ ...(id && { id }), url, alt: orNull(alt), width, height })),
  }
}

const hasPrice = ({ price }: VariantText): boolean => price.trim() !== ''

type BodyResult<Body> = { readonly body: Body; readonly errors: FieldErrors }

/** Returns the id of a stored picture. A new picture has none before the product is saved. */
const savedPictureId = (text: ProductText, row: RowText): string | null => text.pictures.find(({ key }) => key === row.picture)?.id ?? null

function readRows(text: ProductText, currency: string, errors: Record<string, FieldErrors[string]>) {
  text.options.forEach((option, index) => {
    if (option.values.length > 0 && option.name.trim() === '') errors[`options.${option.key}.name`] = 'required'
    if (
      text.options.slice(0, index).some(({ name }) => name.trim() !== '' && name.trim().toLowerCase() === option.name.trim().toLowerCase())
    )
      errors[`options.${option.key}.name`] = 'twice'
  })
  for (const { key, values: optionValues } of text.options) {
    const texts = optionValues.map((value) => value.text.trim())
    if (texts.some((value) => value === '')) errors[`options.${key}.values`] = 'empty'
    if (new Set(texts).size < texts.length) errors[`options.${key}.values`] = 'twice'
  }
  if (text.rows.length === 0) errors['rows'] = 'required'
  return text.rows.map((row) => ({
    row,
    body: {
      ...variantBody(row, currency, (field, what) => {
        errors[`rows.${row.key}.${field}`] = what
      }),
      imageId: savedPictureId(text, row),
      optionValues: [...valueTexts(text.options, row)],
    },
  }))
}

/** The shop's currency and time zone, and the server time in milliseconds. */
export type ShopTerms = { readonly currency: string; readonly zone: string; readonly now: number }

/** Builds the body of a new product. */
export function createBody(text: ProductText, { currency, zone }: ShopTerms): BodyResult<CreateBody> {
  const errors: Record<string, FieldErrors[string]> = {}
  if (text.title.trim() === '') errors['title'] = 'required'
  const rows = readRows(text, currency, errors)
  const publishedAt = readPublication(text, zone, (what) => {
    errors['publishedAt'] = what
  })
  const { handle } = text
  const body: CreateBody = {
    ...baseBody(text),
    ...(handle.trim() !== '' && { handle: handle.trim() }),
    ...(publishedAt !== undefined && { publishedAt }),
    variants: rows.map(({ body: variant }) => variant),
  }
  return { body, errors }
}

/**
 * Builds a body of the changed fields, so that other people's changes stay.
 * @param before values when the form was filled
 */
export function changeBody(text: ProductText, before: ProductText, terms: ShopTerms): BodyResult<ChangeBody> {
  const { currency, zone } = terms
  const errors: Record<string, FieldErrors[string]> = {}
  if (text.title.trim() === '') errors['title'] = 'required'
  if (text.handle.trim() === '') errors['handle'] = 'required'
  const rows = readRows(text, currency, errors)
  const requested = readPublication(text, zone, (what) => {
    errors['publishedAt'] = what
  })
  const publishedAt = text.publication === 'auto' ? publishWhenActive(text, before, terms) : requested
  const hasOtherPublication = !isSameJson([text.publication, text.publishedAt], [before.publication, before.publishedAt])
  const previousRows = new Map(readRows(before, currency, {}).map((input) => [input.row.id, input]))
  const variants = rows.map(({ row, body }): VariantChange => {
    const previous = row.id === undefined ? undefined : previousRows.get(row.id)
    if (!previous || row.id === undefined) return body
    const { price, ...others } = pickChanges(body, previous.body)
    const hadPrice = hasPrice(previous.row)
    // A draft product can lack prices.
    if (!hadPrice && !hasPrice(row) && text.status !== 'ACTIVE') delete errors[`rows.${row.key}.price`]
    return { id: row.id, ...others, ...(hasPrice(row) && (price || !hadPrice) && { price: body.price }) }
  })
  const ids = (text: ProductText) => text.rows.map(({ id }) => id)
  const hasOtherVariants =
    variants.some((variant) => Object.keys(variant).some((name) => name !== 'id')) || !isSameJson(ids(text), ids(before))
  const body: ChangeBody = {
    ...pickChanges({ ...baseBody(text), handle: text.handle.trim() }, { ...baseBody(before), handle: before.handle }),
    ...(hasOtherPublication && publishedAt !== undefined && { publishedAt }),
    ...(hasOtherVariants && { variants }),
  }
  return { body, errors }
}

/**
 * Builds the first request if all variants are replaced: a product needs one at any time, so the new ones are added
 * under an extra option value.
 * Undefined if a variant stays or no option distinguishes the new ones.
 * @param body the whole change
 */
export function addBeforeRemoveBody(body: ChangeBody, text: ProductText, before: ProductText): ChangeBody | undefined {
  const [first, ...others] = toApiOptions(text.options)
  if (!first || text.rows.some(({ id }) => id !== undefined)) return undefined
  const values = [...first.values]
  const old = before.rows.flatMap(({ id, ...row }): VariantChange[] => {
    let name = rowName(before.options, row) || '–'
    while (values.includes(name)) name += ' –'
    values.push(name)
    return id === undefined ? [] : [{ id, optionValues: [name, ...others.map((option) => option.values[0] ?? '')] }]
  })
  return { ...body, options: [{ ...first, values }, ...others], variants: [...(body.variants ?? []), ...old] }
}

/** Returns the variant of a row. */
export function variantOf<One extends { readonly id: string; readonly optionValues: readonly string[] }>(
  { options }: Pick<ProductText, 'options'>,
  row: VariantCombination,
  variants: readonly One[],
): One | undefined {
  if (row.id !== undefined) return variants.find(({ id }) => id === row.id)
  const optionTexts = JSON.stringify(valueTexts(options, row))
  return variants.find(({ optionValues }) => JSON.stringify(optionValues) === optionTexts)
}

/** Assigns new pictures to variants, after the pictures have ids. */
export function pendingPictures(text: ProductText, product: Product): NonNullable<ChangeBody['variants']> {
  const newPictureIds = new Map(text.pictures.map(({ key, id }, index) => [key, id === undefined ? product.images[index]?.id : undefined]))
  return text.rows.flatMap((row) => {
    const imageId = newPictureIds.get(row.picture)
    const variant = imageId && variantOf(text, row, product.variants)
    return imageId && variant ? [{ id: variant.id, imageId }] : []
  })
}
