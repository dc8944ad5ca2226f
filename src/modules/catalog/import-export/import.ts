import type { Actor } from '../../../core/command-context.ts'
import {
  addErrors,
  addNotices,
  emptyNoticeReport,
  emptyRowReport,
  type NoticeReport,
  type RowImportOptions,
  type RowReport,
  storeInBatches,
} from '../../../core/csv-import.ts'
import type { RowNote } from '../../../core/csv-records.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { Money } from '../../../lib/money.ts'
import { pick } from '../../../lib/objects.ts'
import { optionText } from '../product-options/domain.ts'
import {
  applyProductChange,
  buildProduct,
  type ImageInput,
  type Product,
  type ProductInput,
  type ProductWithVariants,
  type Variant,
  type VariantInput,
} from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { changeProductAndStock, createProduct, renderFittingRecord, sanitizeInput } from '../products/service.ts'
import type { CsvLimits, CsvSource } from './csv.ts'
import type { CsvItem, ImportedProduct, ImportedVariant } from './csv-import-items.ts'

type ImportOptions = RowImportOptions & {
  dryRun: boolean
  overwrite: boolean
  /** With `overwrite`: also sets the stock and tracking of existing variants from the file. */
  stock?: boolean
  currency: string
  limits?: CsvLimits
}
const zeroCounts = { products: 0, created: 0, updated: 0, skipped: 0, variants: 0, images: 0, variantsKept: 0 }
const zeroStockCounts = { counts: 0, tracking: 0, leftAlone: 0 }
export type ImportReport = RowReport &
  NoticeReport & { dryRun: boolean } & typeof zeroCounts & { stock: { set: boolean } & typeof zeroStockCounts }

/** Products whose writes share commits. */
const batchSizes = { batchSize: 32, busyBatchSize: 8 }
const columnNameMax = 100

/**
 * Imports the products of a Shopify or WooCommerce export. Products are matched by handle, so an import can be
 * repeated, also after a crash. Products with a bad row are skipped and reported. Variants that are not in the file
 * stay.
 * @throws AppError INVALID for an unusable file or another currency than the shop's; TOO_LARGE past `limits`
 */
export async function importProducts(
  deps: CatalogDeps,
  { shop, actor }: { shop: ShopContext; actor: Actor },
  source: CsvSource,
  options: ImportOptions,
): Promise<ImportReport> {
  const { dryRun, currency, onProgress, signal, limits, rest } = options
  if (currency !== shop.currency) throw invalidField('currency', "must be the shop's currency")
  if (options.stock && !options.overwrite) throw invalidField('stock', 'allowed only with overwrite')
  const stock = { set: options.stock === true, ...zeroStockCounts }
  const report: ImportReport = { dryRun, ...emptyRowReport(), ...emptyNoticeReport(), ...zeroCounts, stock }
  // Loaded on demand: it contains the names of columns in many languages.
  const { readProducts } = await import('./csv.ts')
  const reader = readProducts(source, {
    currency,
    signal,
    limits,
    rest,
    onUnusedColumns: (names) => {
      const listed = names.map((name) => name.trim().slice(0, columnNameMax)).join(', ')
      addNotices(report, [{ row: 1, message: `These columns are not imported: ${listed}.` }])
    },
    onProgress: (bytes) => onProgress?.(bytes, report.rows, report.failed),
  })
  const store = (item: CsvItem) => importItem(deps, { shop, actor }, item, options, report)
  report.complete = await storeInBatches(reader, { ...batchSizes, signal, rest, store: (batch) => Promise.all(batch.map(store)) })
  if (!dryRun) await deps.listingCounts.foldAll(shop.id)
  // Products of a batch finish in any order.
  for (const notes of [report.errors, report.notices]) notes.sort((a, b) => a.row - b.row)
  return report
}

async function importItem(
  deps: CatalogDeps,
  { shop, actor }: { shop: ShopContext; actor: Actor },
  item: CsvItem,
  options: ImportOptions,
  report: ImportReport,
): Promise<void> {
  report.rows += item.rows
  report.products++
  if (item.kind === 'rejected') return addErrors(report, item.errors)
  const { product } = item
  const { row, handle } = product
  try {
    const existing = await deps.catalogStore.findByHandle(shop.id, product.handle)
    if (existing && !options.overwrite) {
      report.skipped++
      return
    }
    // Only a new product needs a title.
    if (existing ? product.title === null : !product.title)
      return addErrors(report, [{ row, handle, column: 'Title', message: 'Must not be blank.' }])
    const unpriced = unpricedVariant(product, existing)
    if (unpriced) return addErrors(report, [unpriced])
    const write = { shop: { id: shop.id, currency: options.currency }, actor }
    const stored = existing
      ? await updateImported(deps, write, existing, product, options)
      : await createImported(deps, write, product, options)
    report[existing ? 'updated' : 'created']++
    report.variants += stored.variants
    report.images += stored.images
    addNotices(report, product.notices ?? [])
    if (mustStayDraft(product, existing))
      addNotices(report, [{ row, handle, message: 'Imported as a draft, because the file has no prices for it.' }])
    if (existing) reportStockChanges(report, existing, product)
  } catch (error) {
    // An invalid product does not stop the import; any other error does.
    if (!(error instanceof AppError) || (error.kind !== 'INVALID' && error.kind !== 'CONFLICT')) throw error
    addErrors(report, [{ row, handle, message: error.message }])
  }
}

/** Creates the error of an import by HTTP that was stopped before the end of its file. */
export function importStoppedError({
  dryRun,
  created,
  updated,
  skipped,
}: Pick<ImportReport, 'dryRun' | 'created' | 'updated' | 'skipped'>): AppError {
  const doneText = dryRun
    ? `${created} products would be created, ${updated} changed and ${skipped} skipped until there; nothing was stored: check a smaller file, or use the command souk import`
    : `${created} products were created, ${updated} changed and ${skipped} skipped, and are stored: send the rest of the file, or use the command souk import`
  return new AppError('UNAVAILABLE', `The import took too long and was stopped. ${doneText}`, { retryAfterSeconds: 1 })
}

/**
 * Finds a variant without a price: a blank cell, or a new variant of an existing product in a file without a price
 * column. The whole product is then rejected.
 */
function unpricedVariant(product: ImportedProduct, existing: ProductWithVariants | undefined): RowNote | undefined {
  const { row, handle, variants } = product
  if (existing && !describesVariants(existing, product)) return undefined
  const index = variants.findIndex((variant) => {
    const existingVariant = existing && matchVariant(existing, variant)
    return variant.price === null ? existingVariant?.hasPrice !== false : variant.price === undefined && existing && !existingVariant
  })
  const variant = variants[index]
  if (!variant) return undefined
  const which = variants.length === 1 ? '' : ` of variant ${index + 1} (row ${variant.row})`
  return {
    row,
    handle,
    column: 'Variant Price',
    message: `The price${which} must not be blank. Write 0 for a free product.`,
  }
}

/** Returns whether the file's active product lacks prices and is not active yet, so that it must stay a draft. */
const mustStayDraft = (product: ImportedProduct, existing?: ProductWithVariants): boolean =>
  publicationFieldsOf(product).status === 'ACTIVE' &&
  existing?.product.status !== 'ACTIVE' &&
  (existing?.variants.some(({ hasPrice }) => !hasPrice) ?? true) &&
  product.variants.some(({ price }) => price === undefined || price === null)

const draftFields = { status: 'DRAFT', publishedAt: null } as const

type ImportWrite = { shop: { id: string; currency: string }; actor: Actor }
type StoredCounts = { variants: number; images: number }

async function createImported(
  deps: CatalogDeps,
  by: ImportWrite,
  product: ImportedProduct,
  { dryRun, currency }: ImportOptions,
): Promise<StoredCounts> {
  const input = {
    ...productInputOf(product),
    ...(mustStayDraft(product) ? draftFields : {}),
    title: product.title ?? '',
    images: mergeImages(product, []),
    options: product.options,
    variants: product.variants.map((variant) => ({ ...variantInput(variant, currency, undefined), ...stockFieldsOf(variant) })),
  }
  return dryRun
    ? checkAndCount(buildProduct(sanitizeInput(input), by.shop.id, dryRunContext(deps, currency)))
    : countsOfView(await createProduct(deps, by, input))
}

async function updateImported(
  deps: CatalogDeps,
  by: ImportWrite,
  existing: ProductWithVariants,
  product: ImportedProduct,
  { dryRun, currency, stock }: ImportOptions,
): Promise<StoredCounts> {
  const input: ProductInput = { ...productInputOf(product), ...(mustStayDraft(product, existing) ? draftFields : {}) }
  if (product.images || product.variants.some(({ imageUrl }) => imageUrl)) input.images = mergeImages(product, existing.product.images)
  // Publishes the product again if it was unpublished without becoming a draft.
  if (product.published && existing.product.publishedAt === null && !mustStayDraft(product, existing)) input.publishedAt = deps.clock.now()
  if (describesVariants(existing, product)) {
    input.options = mergeOptions(existing, product)
    input.variants = product.variants.map((variant) => {
      const existingVariant = matchVariant(existing, variant)
      return { ...variantInput(variant, currency, existingVariant), ...(existingVariant && !stock ? {} : stockFieldsOf(variant)) }
    })
  }
  return dryRun
    ? checkAndCount(applyProductChange(existing, sanitizeInput(input), dryRunContext(deps, currency)), existing)
    : countsOfView(await changeProductAndStock(deps, by, existing.product.id, input))
}

/** A file without option columns does not describe the variants of a product that has options. */
const describesVariants = (existing: ProductWithVariants, { optionsAbsent }: ImportedProduct): boolean =>
  !optionsAbsent || existing.product.options.length === 0

/** Keeps the option values of variants that the file does not name. */
function mergeOptions(existing: ProductWithVariants, product: ImportedProduct): Product['options'] {
  const before = existing.product.options
  if (countUnnamedVariants(existing, product) === 0 || before.length !== product.options.length) return product.options
  return product.options.map(({ name, values }, nth) => ({ name, values: [...new Set([...(before[nth]?.values ?? []), ...values])] }))
}

/** Counts the existing variants that the file does not name. */
function countUnnamedVariants(existing: ProductWithVariants, product: ImportedProduct): number {
  const matchedIds = new Set(product.variants.map((variant) => matchVariant(existing, variant)?.id))
  return existing.variants.filter(({ id }) => !matchedIds.has(id)).length
}

/** Adds stock changes and unnamed variants of an existing product to the report. */
function reportStockChanges(report: ImportReport, existing: ProductWithVariants, product: ImportedProduct): void {
  if (!describesVariants(existing, product)) return
  const { stock } = report
  report.variantsKept += countUnnamedVariants(existing, product)
  for (const variant of product.variants) {
    const existingVariant = matchVariant(existing, variant)
    const { onHand, trackInventory } = stockFieldsOf(variant)
    const counts = existingVariant !== undefined && onHand !== undefined && onHand !== existingVariant.onHand
    const tracking = existingVariant !== undefined && trackInventory !== undefined && trackInventory !== existingVariant.trackInventory
    if (!stock.set && (counts || tracking)) stock.leftAlone++
    if (stock.set && counts) stock.counts++
    if (stock.set && tracking) stock.tracking++
  }
}

/** For a dry run: nothing is stored, so ids are blank. */
const dryRunContext = ({ clock }: CatalogDeps, currency: string) => ({
  productId: '',
  variantIds: [],
  imageIds: [],
  currency,
  now: clock.now(),
})
function checkAndCount(record: ProductWithVariants, before?: ProductWithVariants): StoredCounts {
  renderFittingRecord(record, before)
  return { variants: record.variants.length, images: record.product.images.length }
}
const countsOfView = ({ variants, images }: { variants: unknown[]; images: unknown[] }): StoredCounts => ({
  variants: variants.length,
  images: images.length,
})

/** Matches variants by their option values, in either Unicode form and without outer white space. */
function matchVariant(existing: ProductWithVariants, { optionValues }: ImportedVariant): Variant | undefined {
  const combination = combinationKey(optionValues)
  return existing.variants.find((variant) => combinationKey(variant.optionValues) === combination)
}

const combinationKey = (optionValues: readonly string[]): string => JSON.stringify(optionValues.map(optionText))

/** Blank cells (null) clear the value; absent columns (undefined) keep it. */
const valueOrBlank = <T>(value: T | null | undefined, blank: T): T | undefined => (value === null ? blank : value)

const productInputOf = (product: ImportedProduct): ProductInput => ({
  handle: product.handle,
  title: product.title ?? undefined,
  descriptionHtml: valueOrBlank(product.descriptionHtml, ''),
  vendor: valueOrBlank(product.vendor, ''),
  type: valueOrBlank(product.type, ''),
  tags: valueOrBlank(product.tags, []),
  seo: { title: product.seoTitle, description: product.seoDescription },
  ...(product.isGiftCard === undefined ? {} : { kind: product.isGiftCard ? 'GIFT_CARD' : 'STANDARD' }),
  ...publicationFieldsOf(product),
})

/** Without a `Status` column, `Published` true means ACTIVE. False unpublishes an active product. */
function publicationFieldsOf({ status, published }: ImportedProduct): Pick<ProductInput, 'status' | 'publishedAt'> {
  if (status === undefined && published === undefined) return {}
  if (status === undefined) return published ? { status: 'ACTIVE' } : { status: 'DRAFT', publishedAt: null }
  return { status: status ?? 'DRAFT', ...(published === false ? { publishedAt: null } : {}) }
}

/**
 * Returns the file's images, or the existing ones without an image column, plus each variant's image. Existing images
 * keep fields that the file does not have.
 */
function mergeImages(product: ImportedProduct, existing: ProductWithVariants['product']['images']): ImageInput[] {
  const existingByUrl = new Map(existing.map((image) => [image.url, image]))
  const images: ImageInput[] = product.images
    ? product.images.map(({ position: _, ...file }) => ({ ...existingByUrl.get(file.url), ...file }))
    : [...existing]
  for (const { imageUrl } of product.variants) {
    if (imageUrl && !images.some(({ url }) => url === imageUrl)) images.push({ url: imageUrl })
  }
  return images
}

function variantInput(variant: ImportedVariant, currency: string, existing: Variant | undefined): VariantInput {
  const amount = (value: number | null | undefined): Money | null | undefined =>
    value === null || value === undefined ? value : { amount: value, currency }
  return {
    ...pick(variant, 'optionValues', 'imageUrl', 'sku', 'barcode', 'lowStockAt'),
    id: existing?.id,
    // Without a price column, existing variants keep their price, and new products become drafts.
    price: amount(variant.price) ?? undefined,
    compareAtPrice: amount(variant.compareAtPrice),
    cost: amount(variant.cost),
    weightGrams: valueOrBlank(variant.weightGrams, 0),
    requiresShipping: valueOrBlank(variant.requiresShipping, true),
    taxable: valueOrBlank(variant.taxable, true),
    taxClass: variant.taxClass,
    allowBackorder: valueOrBlank(variant.allowBackorder, false),
  }
}

const stockFieldsOf = ({ trackInventory, onHand }: ImportedVariant) => ({
  trackInventory: valueOrBlank(trackInventory, false),
  onHand: valueOrBlank(onHand, 0),
})
