import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import { refuseTaken, retryOnConflict } from '../../../core/conflict.ts'
import type { Deps } from '../../../core/deps.ts'
import { sanitize } from '../../../core/html.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { etagOf } from '../../../lib/etag.ts'
import { freeName } from '../../../lib/names.ts'
import { pick } from '../../../lib/objects.ts'
import { audited } from '../../operations/audit/index.ts'
import { recordProduct, recordProductRemoval } from '../../operations/kpi/index.ts'
import { type ResolvedImages, recordPictureUses, resolvePictures, withImageUrls } from '../media/index.ts'
import { publishLowStock } from '../stock/low-stock.ts'
import { type StockChange, stockHistoryStore } from '../stock/stock-history-store.ts'
import { adminProductStore } from './admin-products-store.ts'
import { productDifference } from './audit-changes.ts'
import { copyProduct, handleOfCopy } from './copy-product.ts'
import {
  applyProductChange,
  assertNoStockCounts,
  buildProduct,
  findVariant,
  isListed,
  isLowStock,
  noSuchProduct,
  type Product,
  type ProductDocument,
  type ProductInput,
  type ProductWithVariants,
  type ProductWriteContext,
  removeVariantFrom,
  searchWords,
} from './domain.ts'
import { adminSearchTerms } from './listing.ts'
import type { CatalogDeps } from './providers.ts'
import { collectionColumns, type ListingChange } from './store.ts'
import { assertRecordFits, type RenderedProduct, renderProduct } from './summary.ts'
import { managementView, publicView, variantIdsOf, withQuantities } from './view.ts'

export type ManagementProduct = ReturnType<typeof managementView>
type Shop = Pick<ShopContext, 'id'>
/** Prices are in the currency of this shop. */
export type ProductChange = CommandContext<Pick<ShopContext, 'id' | 'currency'>>

/** Renders a product with current picture URLs. */
export function managementViewWithUrls(deps: Pick<CatalogDeps, 'config' | 'life'>, record: ProductWithVariants): ManagementProduct {
  const view = managementView(record)
  return { ...view, images: withImageUrls(deps, view.images) }
}

/** Resolves pictures before a product is stored. @throws AppError INVALID */
async function resolveProductPictures(
  tx: Writer,
  deps: CatalogDeps,
  { product, variants }: ProductWithVariants,
  before: Product['images'],
): Promise<{ record: ProductWithVariants; pictures: ResolvedImages<Product['images'][number]> }> {
  const pictures = await resolvePictures(tx, deps, product, before)
  return { record: { product: { ...product, images: pictures.images }, variants }, pictures }
}

const handleTaken = refuseTaken('another product has this handle', 'handle')

/**
 * Renders the public record of a product that is written.
 * @param before the product before the change
 * @throws AppError INVALID if the public record would be too large
 */
export function renderFittingRecord(record: ProductWithVariants, before?: ProductWithVariants): RenderedProduct {
  const rendered = renderProduct(record)
  assertRecordFits(rendered.document.document, () => before && JSON.stringify(publicView(before)))
  return rendered
}

const writeContextFor = ({ newId, clock }: Deps, { currency }: ProductChange['shop'], input: ProductInput): ProductWriteContext => ({
  productId: newId('product'),
  variantIds: Array.from({ length: Math.max(1, input.variants?.length ?? 0) }, () => newId('variant')),
  imageIds: Array.from({ length: input.images?.length ?? 0 }, () => newId('image')),
  currency,
  now: clock.now(),
})

/** Sanitises the description. @throws AppError INVALID */
export const sanitizeInput = <Input extends ProductInput>(input: Input): Input =>
  input.descriptionHtml === undefined ? input : { ...input, descriptionHtml: sanitize(input.descriptionHtml, 'descriptionHtml') }

/**
 * Creates a product. A handle made from the title gets a number if it is taken.
 * @throws AppError INVALID, naming the field; CONFLICT if the given handle is taken
 */
export async function createProduct(
  deps: CatalogDeps,
  by: ProductChange,
  input: ProductInput & { title: string },
): Promise<ManagementProduct> {
  const { catalogStore: store, listingCounts } = deps
  const { shop } = by
  const draft = buildProduct(sanitizeInput(input), shop.id, writeContextFor(deps, shop, input))
  const { id, handle: baseHandle } = draft.product
  const create = () =>
    audited(deps, by, { action: 'product.created', subject: id }, async (tx, setDifference) => {
      const handle = input.handle ?? (await freeName(baseHandle, id, (names) => store.takenHandles(tx, shop.id, names)))
      const record = await storeNewProduct(tx, deps, { ...draft, product: { ...draft.product, handle } })
      setDifference(productDifference(undefined, record))
      return managementViewWithUrls(deps, record)
    })
  // Another write may take the generated handle between its choice and the commit.
  return (input.handle === undefined ? retryOnConflict(create) : create())
    .catch(handleTaken)
    .finally(() => listingCounts.countWrite(shop.id))
}

/** Stores a new product with everything that is derived from it. @throws AppError INVALID */
async function storeNewProduct(tx: Writer, deps: CatalogDeps, draft: ProductWithVariants): Promise<ProductWithVariants> {
  const { record, pictures } = await resolveProductPictures(tx, deps, draft, [])
  const rendered = renderFittingRecord(record)
  await deps.catalogStore.insert(tx, record)
  await recordPictureUses(tx, deps, record.product.id, pictures)
  await recordProduct(tx, record.product)
  await adminProductStore.put(tx, record)
  await updateListing(tx, deps, record, rendered)
  return record
}

/**
 * Creates a draft copy of a product, in the same collections. See `copyProduct` for what it has.
 * @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED
 */
export function duplicateProduct(deps: CatalogDeps, by: ProductChange, id: string): Promise<ManagementProduct> {
  const { shop } = by
  const { catalogStore: store, collectionStore, newId, clock } = deps
  const productId = newId('product')
  const duplicate = () =>
    audited(deps, by, { action: 'product.duplicated', subject: productId }, async (tx, setDifference) => {
      const original = await findToChange(tx, deps, by, id)
      const handle = await freeName(handleOfCopy(original.product.handle), productId, (names) => store.takenHandles(tx, shop.id, names))
      const record = await storeNewProduct(tx, deps, copyProduct(original, { productId, handle, newId, now: clock.now() }))
      await collectionStore.copyMemberships(tx, { from: id, to: productId, now: clock.now() })
      const { after } = productDifference(undefined, record)
      setDifference({ before: null, after: { ...after, copyOf: id } })
      return managementViewWithUrls(deps, record)
    })
  return retryOnConflict(duplicate)
    .catch(handleTaken)
    .finally(() => deps.listingCounts.countWrite(shop.id))
}

/**
 * Changes a product. Undefined fields and unnamed variants stay.
 * @throws AppError INVALID, also for the count of an existing variant; NOT_FOUND (also for another shop's);
 * PRECONDITION_FAILED; CONFLICT if the handle is taken or fewer units would be left than are reserved
 */
export async function changeProduct(deps: CatalogDeps, by: ProductChange, id: string, input: ProductInput): Promise<ManagementProduct> {
  assertNoStockCounts(input)
  return changeProductAndStock(deps, by, id, input)
}

/**
 * Changes a product including the stock of existing variants.
 * @throws AppError as `changeProduct`, except for counts
 */
export async function changeProductAndStock(
  deps: CatalogDeps,
  by: ProductChange,
  id: string,
  input: ProductInput,
): Promise<ManagementProduct> {
  const cleaned = sanitizeInput(input)
  return rewriteProduct(deps, by, { id, action: 'product.changed' }, (before) =>
    applyProductChange(before, cleaned, writeContextFor(deps, by.shop, input)),
  ).catch(handleTaken)
}

/**
 * Removes a variant from a product.
 * @throws AppError NOT_FOUND; PRECONDITION_FAILED; CONFLICT for the last one and while orders have reserved some
 */
export const removeVariant = (deps: CatalogDeps, by: ProductChange, id: string, variantId: string): Promise<ManagementProduct> =>
  rewriteProduct(deps, by, { id, variantId, action: 'product.variant_removed' }, (before) =>
    removeVariantFrom(before, findVariant(before, variantId), deps.clock.now()),
  )

/**
 * Reads the product for a change.
 * @param variantId the variant that is changed, if it is one
 * @throws AppError NOT_FOUND, also for another shop's; then PRECONDITION_FAILED
 */
export async function findToChange(
  tx: Writer,
  { catalogStore }: CatalogDeps,
  { shop, expected }: ProductChange,
  id: string,
  variantId?: string,
): Promise<ProductWithVariants> {
  const record = await catalogStore.findProduct(shop.id, id, tx)
  if (!record) throw noSuchProduct()
  if (variantId !== undefined) findVariant(record, variantId)
  assertVersion(expected, record.product.version)
  return record
}

/** Stores what `change` returns, and updates the public document, search and listing. */
function rewriteProduct(
  deps: CatalogDeps,
  by: ProductChange,
  { id, variantId, action }: { id: string; variantId?: string; action: string },
  change: (before: ProductWithVariants) => ProductWithVariants,
): Promise<ManagementProduct> {
  return audited(deps, by, { action, subject: id }, async (tx, setDifference) => {
    const before = await findToChange(tx, deps, by, id, variantId)
    const { record: after, pictures } = await resolveProductPictures(tx, deps, change(before), before.product.images)
    const rendered = renderFittingRecord(after, before)
    assertNotStale(await deps.catalogStore.replace(tx, before, after))
    await recordPictureUses(tx, deps, id, pictures)
    await publishLowStock(tx, deps, variantsFallingLow(before, after))
    await stockHistoryStore.append(tx, stockChangesOf(deps, by, before, after))
    if (!Bun.deepEquals(adminSearchTerms(before), adminSearchTerms(after))) await adminProductStore.put(tx, after)
    await updateListing(tx, deps, after, rendered, before)
    setDifference(productDifference(before, after))
    return managementViewWithUrls(deps, after)
  }).finally(() => deps.listingCounts.countWrite(by.shop.id))
}

/** Returns the existing variants whose stock falls to the threshold by the change. */
function variantsFallingLow(before: ProductWithVariants, after: ProductWithVariants): string[] {
  const notLow = new Set(before.variants.filter((variant) => !isLowStock(variant)).map(({ id }) => id))
  return after.variants.filter((variant) => isLowStock(variant) && notLow.has(variant.id)).map(({ id }) => id)
}

/** Returns the stock history of existing variants. */
function stockChangesOf(
  { newId, clock }: CatalogDeps,
  { shop, actor }: ProductChange,
  before: ProductWithVariants,
  after: ProductWithVariants,
): StockChange[] {
  const onHandBefore = new Map(before.variants.map(({ id, onHand }) => [id, onHand]))
  return after.variants.flatMap(({ id: variantId, onHand }) => {
    const delta = onHand - (onHandBefore.get(variantId) ?? onHand)
    if (delta === 0) return []
    return { id: newId('stockChange'), shopId: shop.id, variantId, delta, onHand, reason: 'import', actor: actor.id, at: clock.now() }
  })
}

/**
 * Deletes a product that was never ordered, and archives any other, because orders refer to it.
 * @returns the product as it was, or archived
 * @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED
 */
export async function deleteProduct(
  deps: CatalogDeps,
  by: ProductChange,
  id: string,
): Promise<ManagementProduct & { readonly deleted: boolean }> {
  const removed = await removeUnorderedProduct(deps, by, id)
  // An ordered product stays ordered, so the second write needs no lock of the first.
  if (!removed) return { ...(await changeProduct(deps, by, id, { status: 'ARCHIVED' })), deleted: false }
  return { ...removed, deleted: true }
}

/** Removes a product unless it was ordered. Its locks are those of orders, so that none is placed meanwhile. */
async function removeUnorderedProduct(deps: CatalogDeps, by: ProductChange, id: string): Promise<ManagementProduct | undefined> {
  const { catalogStore: store, listingCounts, clock } = deps
  return audited(deps, withLocks(deps, by), { action: 'product.deleted', subject: id }, async (tx, setDifference) => {
    await store.lockProduct(tx, await findToChange(tx, deps, by, id))
    const record = await findToChange(tx, deps, by, id)
    if (await store.isOrdered(tx, id)) {
      setDifference(unchanged)
      return undefined
    }
    const hidden: ProductWithVariants = { ...record, product: { ...record.product, status: 'ARCHIVED' } }
    await updateListing(tx, deps, hidden, renderProduct(hidden), record)
    await adminProductStore.remove(tx, id)
    await deps.collectionStore.raiseVersionsOf(tx, id, clock.now())
    await store.remove(tx, record.product)
    await recordProductRemoval(tx, record.product)
    const { after } = productDifference(undefined, record)
    setDifference({ before: after, after: null })
    return managementViewWithUrls(deps, record)
  }).finally(() => listingCounts.countWrite(by.shop.id))
}

const unchanged = { before: null, after: null }

/** Reads a product for the shop's staff. @throws AppError NOT_FOUND, also for another shop's */
export async function readProduct(deps: CatalogDeps, shop: Shop, id: string): Promise<ManagementProduct> {
  const record = await deps.catalogStore.findProduct(shop.id, id)
  if (!record) throw noSuchProduct()
  return managementViewWithUrls(deps, record)
}

/** Finds a product by its handle. */
export async function findProductByHandle(deps: CatalogDeps, shop: Shop, handle: string): Promise<ManagementProduct | undefined> {
  const record = await deps.catalogStore.findByHandle(shop.id, handle)
  return record && managementViewWithUrls(deps, record)
}

/** Reads the public document of a product. @throws AppError NOT_FOUND, also if it is not visible yet */
export async function readPublicProduct(
  { documents, catalogStore, clock }: Pick<CatalogDeps, 'documents' | 'catalogStore' | 'clock'>,
  id: string,
): Promise<{ document: string; etag: string; shopId: string }> {
  const found = await documents.find(id)
  if (!found || found.visibleFrom > clock.now()) throw noSuchProduct()
  const { shopId } = found
  if (!found.showQuantity) return { document: found.document, etag: found.etag, shopId }
  const document = withQuantities(found.document, await catalogStore.stocksOf(variantIdsOf(found.document)))
  return { document, etag: etagOf(document), shopId }
}

/** Reads a public document by handle. @throws AppError NOT_FOUND */
export async function readPublicProductByHandle(
  deps: Pick<CatalogDeps, 'documents' | 'catalogStore' | 'clock'>,
  shop: Shop,
  handle: string,
): Promise<{ document: string; etag: string; shopId: string }> {
  const id = await deps.catalogStore.idOfHandle(shop.id, handle)
  if (id === undefined) throw noSuchProduct()
  return readPublicProduct(deps, id)
}

/** Drops a shop's cached documents after a commit that changes the shop. */
export const invalidateShopDocuments = (tx: Writer, { documents }: Pick<CatalogDeps, 'documents'>, shopId: string): void =>
  tx.afterCommit(() => documents.invalidateShop(shopId))

/** Folds listings with many changes, including those that another process or a crash left. */
export async function foldListings({ catalogStore, listingCounts }: Pick<CatalogDeps, 'catalogStore' | 'listingCounts'>): Promise<void> {
  for (const shopId of await catalogStore.shopsWithChanges(unfoldedChangesMax)) await listingCounts.foldAll(shopId)
}

/** Fewer changes cost a reader almost nothing. */
const unfoldedChangesMax = 64

/**
 * Updates the public side inside the product's write: document, search entry and tags, and appends listing changes.
 * @param recordBefore the product before the change
 */
async function updateListing(
  tx: Writer,
  { catalogStore, documents, newId }: CatalogDeps,
  record: ProductWithVariants,
  rendered: RenderedProduct,
  recordBefore?: ProductWithVariants,
): Promise<void> {
  const { id: productId } = record.product
  const before = await catalogStore.documentOf(tx, productId)
  const after = isListed(record.product) ? rendered.document : undefined
  if (!before && !after) return
  tx.afterCommit(() => documents.invalidate(productId))
  // Writing the search entry again would add 0.8 ms to the 2.7 ms of a price change.
  const isSearchKept =
    before?.visibleFrom === after?.visibleFrom &&
    recordBefore !== undefined &&
    Bun.deepEquals(searchedFields(recordBefore), searchedFields(record))
  if (before && !isSearchKept) await catalogStore.removeFromSearch(tx, productId)
  if (after && !isSearchKept) await catalogStore.addToSearch(tx, after, searchWords(record), record.product.tags)
  if (after) await catalogStore.putDocument(tx, rendered, record)
  else await catalogStore.removeDocument(tx, productId)
  if (collectionColumns.some((name) => before?.[name] !== after?.[name])) await catalogStore.updateCollections(tx, productId, after)
  if (before && after && haveSameSortKeys(before, after)) return
  const changes = [
    ...(before ? [listingChangeOf(newId('change'), before, -1)] : []),
    ...(after ? [listingChangeOf(newId('change'), after, 1)] : []),
  ]
  await catalogStore.appendChanges(tx, changes)
}

/** The fields that `searchWords` reads, and the tags. */
const searchedFields = ({ product, variants }: ProductWithVariants) => [
  pick(product, 'title', 'vendor', 'type', 'tags', 'options', 'descriptionHtml'),
  variants.map(({ sku }) => sku),
]

const haveSameSortKeys = (a: ProductDocument, b: ProductDocument) =>
  a.newestKey === b.newestKey && a.titleKey === b.titleKey && a.priceKey === b.priceKey

const listingChangeOf = (id: string, { shopId, newestKey, titleKey, priceKey }: ProductDocument, documents: 1 | -1): ListingChange => ({
  id,
  shopId,
  newestKey,
  titleKey,
  priceKey,
  documents,
})
