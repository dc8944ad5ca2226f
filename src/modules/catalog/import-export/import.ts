import type { Actor } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { Money } from '../../../lib/money.ts'
import { pick } from '../../../lib/objects.ts'
import {
  changedProduct,
  createdProduct,
  type ImageInput,
  type Product,
  type ProductInput,
  type Variant,
  type VariantInput,
  type Whole,
} from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { changeAndCount, clean, createProduct, fittingRecord } from '../products/service.ts'
import { type CsvLimits, type CsvSource, readProducts } from './csv.ts'
import type { CsvItem, ImportedProduct, ImportedVariant, RowNote } from './csv-import-items.ts'

export type ImportOptions = {
  dryRun: boolean
  overwrite: boolean
  /** With `overwrite`: counts and tracking of known variants become the file's. Otherwise they stay. */
  stock?: boolean
  currency: string
  /** Told how many bytes of the second pass were read, and how many rows were stored or refused, and how many products were refused. */
  onProgress?: (bytesRead: number, rows: number, failed: number) => void
  /** Ends the import after the batch that is at work. */
  signal?: AbortSignal
  limits?: CsvLimits
  /** Between two pieces: lets others have the thread, and tells whether they wanted it. */
  rest?: () => Promise<boolean>
}
const nothingYet = { rows: 0, products: 0, created: 0, updated: 0, skipped: 0, failed: 0, variants: 0, images: 0, variantsKept: 0 }
const noStockYet = { counts: 0, tracking: 0, leftAlone: 0 }
/** `complete` is false when it was stopped: what was stored by then stays. */
export type ImportReport = { dryRun: boolean; complete: boolean } & typeof nothingYet & {
    stock: { set: boolean } & typeof noStockYet
    errors: RowNote[]
    errorsTruncated: boolean
    /** Columns and values that were ignored or changed. */
    notices: RowNote[]
    noticesTruncated: boolean
  }

/** So many products share commits; more would hold up other writers. */
const productsAtOnce = 32
/** The same while others want the thread: a request waits for a batch. */
const productsAtOnceAmongOthers = 8

/** A turn of the loop, in which requests of others come in between. */
async function turn(): Promise<boolean> {
  await new Promise((resume) => setImmediate(resume))
  return false
}
const notesMax = 1_000
const columnNameMax = 100

/**
 * Stores the products of a Shopify export. Products are known again by their handle, so that a file can be imported any
 * number of times, and again after a crash. One with a bad row is left out and named in the report; the others are stored.
 * Variants that the file does not name stay.
 * @throws AppError INVALID for a file that is none, or another currency than the shop's; TOO_LARGE past `limits`
 */
export async function importProducts(
  deps: CatalogDeps,
  { shop, actor }: { shop: ShopContext; actor: Actor },
  source: CsvSource,
  options: ImportOptions,
): Promise<ImportReport> {
  const { dryRun, currency, onProgress, signal, limits, rest = turn } = options
  if (currency !== shop.currency) throw new AppError('INVALID', "currency (query): not the shop's currency")
  if (options.stock && !options.overwrite) throw new AppError('INVALID', 'stock (query): only with overwrite')
  const stock = { set: options.stock === true, ...noStockYet }
  const report: ImportReport = {
    ...{ dryRun, complete: true, ...nothingYet, stock },
    ...{ errors: [], errorsTruncated: false, notices: [], noticesTruncated: false },
  }
  const reader = readProducts(source, {
    currency,
    signal,
    limits,
    rest,
    onUnusedColumns: (names) => {
      const listed = names.map((name) => name.trim().slice(0, columnNameMax)).join(', ')
      note(report, [{ row: 1, message: `These columns are not imported: ${listed}.` }])
    },
    ...(onProgress ? { onProgress: (bytes: number) => onProgress(bytes, report.rows, report.failed) } : {}),
  })
  let batch: CsvItem[] = []
  let atOnce = productsAtOnce
  const store = async () => {
    await Promise.all(batch.map((item) => importItem(deps, { shop, actor }, item, options, report)))
    batch = []
    atOnce = (await rest()) ? productsAtOnceAmongOthers : productsAtOnce
    signal?.throwIfAborted()
  }
  try {
    for await (const item of reader) {
      batch.push(item)
      if (batch.length >= atOnce) await store()
    }
    await store()
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) throw error
    report.complete = false
  }
  if (!dryRun) await deps.folds.foldAll(shop.id)
  // Products are stored at the same time.
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
  if (item.kind === 'rejected') return fail(report, item.errors)
  const { product } = item
  const { row, handle } = product
  if (product.isGiftCard) {
    report.skipped++
    return note(report, [{ row, handle, message: 'Gift cards are not imported: issue them with POST /giftcard.' }])
  }
  try {
    const known = await deps.catalogStore.findByHandle(shop.id, product.handle)
    if (known && !options.overwrite) {
      report.skipped++
      return
    }
    // A new product needs a title; a known one may be without the column.
    if (known ? product.title === null : !product.title)
      return fail(report, [{ row, handle, column: 'Title', message: 'Must not be blank.' }])
    const unpriced = unpricedVariant(product, known)
    if (unpriced) return fail(report, [unpriced])
    const write = { shop: { id: shop.id, currency: options.currency }, actor }
    const stored = known ? await update(deps, write, known, product, options) : await create(deps, write, product, options)
    report[known ? 'updated' : 'created']++
    report.variants += stored.variants
    report.images += stored.images
    note(report, product.notices ?? [])
    if (staysDraft(product, known)) note(report, [{ row, handle, message: 'Left a draft: the file has no prices for it.' }])
    if (known) tellOfKnown(report, known, product)
  } catch (error) {
    // What is wrong with one product must not keep the others out; what is wrong with us must.
    if (!(error instanceof AppError) || (error.code !== 'INVALID' && error.code !== 'CONFLICT')) throw error
    fail(report, [{ row, handle, message: error.message.replaceAll(' (body)', '') }])
  }
}

/** What is said of an import over HTTP that was stopped before the end of its file. */
export function importStopped({
  dryRun,
  created,
  updated,
  skipped,
}: Pick<ImportReport, 'dryRun' | 'created' | 'updated' | 'skipped'>): AppError {
  const done = dryRun
    ? `${created} products would be created, ${updated} changed and ${skipped} skipped until there; nothing was stored: look at smaller files, or use the command souk import`
    : `${created} products were created, ${updated} changed and ${skipped} skipped, and that stays: send the rest of the file, or use the command souk import`
  return new AppError('UNAVAILABLE', `The import took too long and was stopped. ${done}`, { retryAfterSeconds: 1 })
}

function fail(report: ImportReport, errors: readonly RowNote[]): void {
  report.failed++
  const room = notesMax - report.errors.length
  report.errors.push(...errors.slice(0, room))
  if (errors.length > room) report.errorsTruncated = true
}

function note(report: ImportReport, notices: readonly RowNote[]): void {
  const room = notesMax - report.notices.length
  report.notices.push(...notices.slice(0, room))
  if (notices.length > room) report.noticesTruncated = true
}

/**
 * Finds a variant without a price: its cell is blank, or the variant is new to a known product and the file has no
 * price column. The whole product is refused, at the row in which it starts.
 */
function unpricedVariant(product: ImportedProduct, known: Whole | undefined): RowNote | undefined {
  const { row, handle, variants } = product
  if (known && !saysVariants(known, product)) return undefined
  const at = variants.findIndex((one) => {
    const old = known && knownVariant(known, one)
    return one.price === null ? old?.hasPrice !== false : one.price === undefined && known && !old
  })
  const variant = variants[at]
  if (!variant) return undefined
  const which = variants.length === 1 ? '' : ` of variant ${at + 1} (row ${variant.row})`
  return {
    row,
    handle,
    column: 'Variant Price',
    message: `The price${which} must not be blank. Write 0 for a free product.`,
  }
}

/** Whether the file has an active product without all its prices: the product is a draft until it has them. */
const staysDraft = (product: ImportedProduct, known?: Whole): boolean =>
  publicationOf(product).status === 'ACTIVE' &&
  (known?.variants.some(({ hasPrice }) => !hasPrice) ?? true) &&
  product.variants.some(({ price }) => price === undefined || price === null)

const asDraft = { status: 'DRAFT', publishedAt: null } as const

type Write = { shop: { id: string; currency: string }; actor: Actor }
type Stored = { variants: number; images: number }

async function create(deps: CatalogDeps, by: Write, product: ImportedProduct, { dryRun, currency }: ImportOptions): Promise<Stored> {
  const input = {
    ...inputOf(product),
    ...(staysDraft(product) ? asDraft : {}),
    title: product.title ?? '',
    images: imagesOf(product, []),
    options: product.options,
    variants: product.variants.map((variant) => ({ ...variantInput(variant, currency, undefined), ...stockOf(variant) })),
  }
  return dryRun
    ? counts(createdProduct(clean(input), by.shop.id, preview(deps, currency)))
    : viewCounts(await createProduct(deps, by, input))
}

async function update(
  deps: CatalogDeps,
  by: Write,
  known: Whole,
  product: ImportedProduct,
  { dryRun, currency, stock }: ImportOptions,
): Promise<Stored> {
  const input: ProductInput = { ...inputOf(product), ...(staysDraft(product, known) ? asDraft : {}) }
  if (product.images || product.variants.some(({ imageUrl }) => imageUrl)) input.images = imagesOf(product, known.product.images)
  // Seen on the storefront again, if it was taken off without becoming a draft.
  if (product.published && known.product.publishedAt === null && !staysDraft(product, known)) input.publishedAt = deps.clock.now()
  if (saysVariants(known, product)) {
    input.options = optionsOf(known, product)
    input.variants = product.variants.map((variant) => {
      const old = knownVariant(known, variant)
      return { ...variantInput(variant, currency, old), ...(old && !stock ? {} : stockOf(variant)) }
    })
  }
  return dryRun
    ? counts(changedProduct(known, clean(input), preview(deps, currency)), known)
    : viewCounts(await changeAndCount(deps, by, known.product.id, input))
}

/** A file without option columns says nothing of a product that has options. */
const saysVariants = (known: Whole, { optionsAbsent }: ImportedProduct): boolean => !optionsAbsent || known.product.options.length === 0

/** Variants that the file does not name keep their values, and those stay among the product's. */
function optionsOf(known: Whole, product: ImportedProduct): Product['options'] {
  const before = known.product.options
  if (unnamed(known, product) === 0 || before.length !== product.options.length) return product.options
  return product.options.map(({ name, values }, nth) => ({ name, values: [...new Set([...(before[nth]?.values ?? []), ...values])] }))
}

/** How many variants of a known product the file does not name. */
function unnamed(known: Whole, product: ImportedProduct): number {
  const named = new Set(product.variants.map((variant) => knownVariant(known, variant)?.id))
  return known.variants.filter(({ id }) => !named.has(id)).length
}

/** Says in the report what became of the stock of a known product, and of variants that the file does not name. */
function tellOfKnown(report: ImportReport, known: Whole, product: ImportedProduct): void {
  if (!saysVariants(known, product)) return
  const { stock } = report
  report.variantsKept += unnamed(known, product)
  for (const variant of product.variants) {
    const old = knownVariant(known, variant)
    const { onHand, trackInventory } = stockOf(variant)
    const counts = old !== undefined && onHand !== undefined && onHand !== old.onHand
    const tracking = old !== undefined && trackInventory !== undefined && trackInventory !== old.trackInventory
    if (!stock.set && (counts || tracking)) stock.leftAlone++
    if (stock.set && counts) stock.counts++
    if (stock.set && tracking) stock.tracking++
  }
}

/** Nothing is stored: ids do not matter. */
const preview = ({ clock }: CatalogDeps, currency: string) => ({
  productId: '',
  variantIds: [],
  imageIds: [],
  currency,
  now: clock.now(),
})
function counts(whole: Whole, before?: Whole): Stored {
  fittingRecord(whole, before)
  return { variants: whole.variants.length, images: whole.product.images.length }
}
const viewCounts = ({ variants, images }: { variants: unknown[]; images: unknown[] }): Stored => ({
  variants: variants.length,
  images: images.length,
})

/** Variants are known again by their option values, in either Unicode form. */
function knownVariant(known: Whole, { optionValues }: ImportedVariant): Variant | undefined {
  const combination = combinationOf(optionValues)
  return known.variants.find((variant) => combinationOf(variant.optionValues) === combination)
}

const combinationOf = (optionValues: readonly string[]): string => JSON.stringify(optionValues).normalize('NFC')

/** Columns that are absent say nothing (undefined); blank cells clear. */
const cleared = <T>(value: T | null | undefined, blank: T): T | undefined => (value === null ? blank : value)

const inputOf = (product: ImportedProduct): ProductInput => ({
  handle: product.handle,
  title: product.title ?? undefined,
  descriptionHtml: cleared(product.descriptionHtml, ''),
  vendor: cleared(product.vendor, ''),
  type: cleared(product.type, ''),
  tags: cleared(product.tags, []),
  seo: { title: product.seoTitle, description: product.seoDescription },
  ...publicationOf(product),
})

/** `Published` true without a `Status` column means ACTIVE, published now; false keeps an active product off the storefront. */
function publicationOf({ status, published }: ImportedProduct): Pick<ProductInput, 'status' | 'publishedAt'> {
  if (status === undefined && published === undefined) return {}
  if (status === undefined) return published ? { status: 'ACTIVE' } : { status: 'DRAFT', publishedAt: null }
  return { status: status ?? 'DRAFT', ...(published === false ? { publishedAt: null } : {}) }
}

/** The file's images, else those there are; and every variant's picture among them. Known ones keep what the file does not say of them. */
function imagesOf(product: ImportedProduct, known: Whole['product']['images']): ImageInput[] {
  const knownByUrl = new Map(known.map((image) => [image.url, image]))
  const images: ImageInput[] = product.images
    ? product.images.map(({ position: _, ...said }) => ({ ...knownByUrl.get(said.url), ...said }))
    : [...known]
  for (const { imageUrl } of product.variants) {
    if (imageUrl && !images.some(({ url }) => url === imageUrl)) images.push({ url: imageUrl })
  }
  return images
}

function variantInput(variant: ImportedVariant, currency: string, known: Variant | undefined): VariantInput {
  const amount = (value: number | null | undefined): Money | null | undefined =>
    value === null || value === undefined ? value : { amount: value, currency }
  return {
    ...pick(variant, 'optionValues', 'imageUrl', 'sku', 'barcode', 'lowStockAt'),
    id: known?.id,
    // Without a price column a known variant keeps its price, and a new product is a draft without prices.
    price: amount(variant.price) ?? undefined,
    compareAtPrice: amount(variant.compareAtPrice),
    cost: amount(variant.cost),
    weightGrams: cleared(variant.weightGrams, 0),
    requiresShipping: cleared(variant.requiresShipping, true),
    taxable: cleared(variant.taxable, true),
    taxClass: variant.taxClass,
    allowBackorder: cleared(variant.allowBackorder, false),
  }
}

/** How many there are, and whether they are counted at all. */
const stockOf = ({ trackInventory, onHand }: ImportedVariant) => ({
  trackInventory: cleared(trackInventory, false),
  onHand: cleared(onHand, 0),
})
