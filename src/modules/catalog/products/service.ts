import type { Writer } from '../../../../db/engine.ts'
import type { Change } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import type { Deps } from '../../../core/deps.ts'
import { sanitize } from '../../../core/html.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertExpected, unlessStale } from '../../../core/versions.ts'
import { etagOf } from '../../../lib/etag.ts'
import { freeName } from '../../../lib/names.ts'
import { audited } from '../../operations/audit/index.ts'
import { recordProduct } from '../../operations/kpi/index.ts'
import { noteShown, type ShownPictures, showPictures, withImageAddresses } from '../media/index.ts'
import { tellLow } from '../stock/low-stock.ts'
import { type StockChange, stockHistoryStore } from '../stock/stock-history-store.ts'
import { managedStore } from './admin-products-store.ts'
import { productDifference } from './audit-changes.ts'
import {
  assertNoCounts,
  changedProduct,
  createdProduct,
  type Given,
  isListed,
  isLow,
  noSuchProduct,
  type Product,
  type ProductDocument,
  type ProductInput,
  searchWords,
  variantOf,
  type Whole,
  withoutVariant,
} from './domain.ts'
import { managedWording } from './listing.ts'
import type { CatalogDeps } from './providers.ts'
import type { ListingChange } from './store.ts'
import { assertRecordFits, type Rendered, renderedOf } from './summary.ts'
import { managementView, publicView, variantIdsOf, withQuantities } from './view.ts'

export type ManagementProduct = ReturnType<typeof managementView>
type Shop = Pick<ShopContext, 'id'>
/** Prices are in the currency of the shop that is named. */
export type ProductChange = Change<Pick<ShopContext, 'id' | 'currency'>>

/** A product with the addresses at which its pictures are read. */
export function viewOf(deps: Pick<CatalogDeps, 'config' | 'life'>, whole: Whole): ManagementProduct {
  const view = managementView(whole)
  return { ...view, images: withImageAddresses(deps, view.images) }
}

/** What is to be stored of a product, with its pictures as references, and which they are. @throws AppError INVALID */
async function withPictures(
  tx: Writer,
  deps: CatalogDeps,
  { product, variants }: Whole,
  before: Product['images'],
): Promise<{ whole: Whole; shown: ShownPictures<Product['images'][number]> }> {
  const shown = await showPictures(tx, deps, product, before)
  return { whole: { product: { ...product, images: shown.images }, variants }, shown }
}

const handleTaken = 'handle (body): another product of the shop has it'

/**
 * What the public reads of a product that is written.
 * @param before the product before the change
 * @throws AppError INVALID when its public record would be too large
 */
export function fittingRecord(whole: Whole, before?: Whole): Rendered {
  const rendered = renderedOf(whole)
  assertRecordFits(rendered.document.document, () => before && JSON.stringify(publicView(before)))
  return rendered
}

const givenFor = ({ newId, clock }: Deps, { currency }: ProductChange['shop'], input: ProductInput): Given => ({
  productId: newId('product'),
  variantIds: Array.from({ length: Math.max(1, input.variants?.length ?? 0) }, () => newId('variant')),
  imageIds: Array.from({ length: input.images?.length ?? 0 }, () => newId('image')),
  currency,
  now: clock.now(),
})

/** The input as it is stored. @throws AppError INVALID */
export const clean = <Input extends ProductInput>(input: Input): Input =>
  input.descriptionHtml === undefined ? input : { ...input, descriptionHtml: sanitize(input.descriptionHtml, 'descriptionHtml') }

/**
 * Makes a product. A handle made from the title gets a number when it is taken; a given one is refused.
 * @throws AppError INVALID, naming the field; CONFLICT when the given handle is taken
 */
export async function createProduct(
  deps: CatalogDeps,
  by: ProductChange,
  input: ProductInput & { title: string },
): Promise<ManagementProduct> {
  const { catalogStore: store, folds } = deps
  const { shop } = by
  const made = createdProduct(clean(input), shop.id, givenFor(deps, shop, input))
  const { id, handle: wanted } = made.product
  return audited(deps, by, { action: 'product.created', subject: id }, async (tx, tell) => {
    const handle = input.handle ?? (await freeName(wanted, id, (names) => store.takenHandles(tx, shop.id, names)))
    const { whole, shown } = await withPictures(tx, deps, { ...made, product: { ...made.product, handle } }, [])
    const rendered = fittingRecord(whole)
    await store.insert(tx, whole)
    await noteShown(tx, deps, id, shown)
    await recordProduct(tx, whole.product)
    await managedStore.put(tx, whole)
    await list(tx, deps, whole, rendered)
    tell(productDifference(undefined, whole))
    return viewOf(deps, whole)
  })
    .catch(refuseTaken(handleTaken))
    .finally(() => folds.noteWrite(shop.id))
}

/**
 * Changes a product; what `input` leaves undefined stays, and so do variants that it does not name.
 * @throws AppError INVALID, also for the count of a known variant; NOT_FOUND (also for another shop's); PRECONDITION_FAILED; CONFLICT
 *   when the handle is taken or less would be left than orders were promised
 */
export async function changeProduct(deps: CatalogDeps, by: ProductChange, id: string, input: ProductInput): Promise<ManagementProduct> {
  assertNoCounts(input)
  return changeAndCount(deps, by, id, input)
}

/**
 * The same, where a count of a known variant is what is there now.
 * @throws AppError as `changeProduct` does, but for counts
 */
export async function changeAndCount(deps: CatalogDeps, by: ProductChange, id: string, input: ProductInput): Promise<ManagementProduct> {
  const cleaned = clean(input)
  return rewrite(deps, by, { id, action: 'product.changed' }, (before) =>
    changedProduct(before, cleaned, givenFor(deps, by.shop, input)),
  ).catch(refuseTaken(handleTaken))
}

/**
 * Takes a variant out of a product.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED, CONFLICT for the last one and while orders are promised some of it
 */
export const removeVariant = (deps: CatalogDeps, by: ProductChange, id: string, variantId: string): Promise<ManagementProduct> =>
  rewrite(deps, by, { id, variantId, action: 'product.variant_removed' }, (before) =>
    withoutVariant(before, variantOf(before, variantId), deps.clock.now()),
  )

/**
 * The product as it is before a change.
 * @param variantId the one that is to be changed, if it is one
 * @throws AppError NOT_FOUND, also for another shop's; then PRECONDITION_FAILED
 */
export async function findToChange(
  tx: Writer,
  { catalogStore }: CatalogDeps,
  { shop, expected }: ProductChange,
  id: string,
  variantId?: string,
): Promise<Whole> {
  const whole = await catalogStore.findWhole(shop.id, id, tx)
  if (!whole) throw noSuchProduct()
  if (variantId !== undefined) variantOf(whole, variantId)
  assertExpected(expected, whole.product.version)
  return whole
}

/** Puts what `change` makes of a product in its place, and keeps what the public sees true. */
function rewrite(
  deps: CatalogDeps,
  by: ProductChange,
  { id, variantId, action }: { id: string; variantId?: string; action: string },
  change: (before: Whole) => Whole,
): Promise<ManagementProduct> {
  return audited(deps, by, { action, subject: id }, async (tx, tell) => {
    const before = await findToChange(tx, deps, by, id, variantId)
    const { whole: after, shown } = await withPictures(tx, deps, change(before), before.product.images)
    const rendered = fittingRecord(after, before)
    unlessStale(await deps.catalogStore.replace(tx, before, after))
    await noteShown(tx, deps, id, shown)
    await tellLow(tx, deps, turnedLow(before, after))
    await stockHistoryStore.append(tx, countsOf(deps, by, before, after))
    if (!Bun.deepEquals(managedWording(before), managedWording(after))) await managedStore.put(tx, after)
    await list(tx, deps, after, rendered)
    tell(productDifference(before, after))
    return viewOf(deps, after)
  }).finally(() => deps.folds.noteWrite(by.shop.id))
}

/** Those that were there already, and of which there are few since the change. */
function turnedLow(before: Whole, after: Whole): string[] {
  const fine = new Set(before.variants.filter((variant) => !isLow(variant)).map(({ id }) => id))
  return after.variants.filter((variant) => isLow(variant) && fine.has(variant.id)).map(({ id }) => id)
}

/** What a change by hand says of variants that were there already. */
function countsOf({ newId, clock }: CatalogDeps, { shop, actor }: ProductChange, before: Whole, after: Whole): StockChange[] {
  const known = new Map(before.variants.map(({ id, onHand }) => [id, onHand]))
  return after.variants.flatMap(({ id: variantId, onHand }) => {
    const delta = onHand - (known.get(variantId) ?? onHand)
    if (delta === 0) return []
    return { id: newId('stockChange'), shopId: shop.id, variantId, delta, onHand, reason: 'import', actor: actor.id, at: clock.now() }
  })
}

/** Takes a product off the shelves for good; orders keep it. Archiving twice is no error. */
export const archiveProduct = (deps: CatalogDeps, by: ProductChange, id: string): Promise<ManagementProduct> =>
  changeProduct(deps, by, id, { status: 'ARCHIVED' })

/** A product of the shop, as its own people see it. @throws AppError NOT_FOUND, also for another shop's */
export async function readProduct(deps: CatalogDeps, shop: Shop, id: string): Promise<ManagementProduct> {
  const whole = await deps.catalogStore.findWhole(shop.id, id)
  if (!whole) throw noSuchProduct()
  return viewOf(deps, whole)
}

/** The product of a shop with this handle; undefined when there is none. */
export async function productWithHandle(deps: CatalogDeps, shop: Shop, handle: string): Promise<ManagementProduct | undefined> {
  const whole = await deps.catalogStore.findByHandle(shop.id, handle)
  return whole && viewOf(deps, whole)
}

/** What the public sees of a product, and whose it is. @throws AppError NOT_FOUND, also for one that is not visible yet */
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

/** The same by its handle. @throws AppError NOT_FOUND */
export async function readPublicProductNamed(
  deps: Pick<CatalogDeps, 'documents' | 'catalogStore' | 'clock'>,
  shop: Shop,
  handle: string,
): Promise<{ document: string; etag: string; shopId: string }> {
  const id = await deps.catalogStore.idOfHandle(shop.id, handle)
  if (id === undefined) throw noSuchProduct()
  return readPublicProduct(deps, id)
}

/** The public documents of a shop are there no longer, or again, once the write is done. */
export const forgetDocumentsOf = (tx: Writer, { documents }: Pick<CatalogDeps, 'documents'>, shopId: string): void =>
  tx.afterCommit(() => documents.forgetOf(shopId))

/** Folds the listings of shops whose changes piled up, also those that another process or a crash left. */
export async function foldListings({ catalogStore, folds }: Pick<CatalogDeps, 'catalogStore' | 'folds'>): Promise<void> {
  for (const shopId of await catalogStore.shopsWithChanges(changesMax)) await folds.foldAll(shopId)
}

/** Fewer than these cost a reader next to nothing. */
const changesMax = 64

/**
 * Keeps the public side of a product true, inside the write that stored the product: puts, replaces or removes the document, the
 * search entry and the tags, and appends to the listing what came or went.
 */
async function list(tx: Writer, { catalogStore, documents, newId }: CatalogDeps, whole: Whole, rendered: Rendered): Promise<void> {
  const { id: productId } = whole.product
  const before = await catalogStore.documentOf(tx, productId)
  const isShown = isListed(whole.product)
  const after = isShown ? rendered.document : undefined
  if (!before && !after) return
  tx.afterCommit(() => documents.forget(productId))
  if (before) await catalogStore.forgetSearch(tx, productId)
  if (isShown) await catalogStore.putDocument(tx, rendered, searchWords(whole), whole.product.tags)
  else await catalogStore.removeDocument(tx, productId)
  if (before?.visibleFrom !== after?.visibleFrom) await catalogStore.noteVisibility(tx, productId, after?.visibleFrom ?? null)
  if (before && after && sortedAlike(before, after)) return
  const changes = [...(before ? [changeOf(newId('change'), before, -1)] : []), ...(after ? [changeOf(newId('change'), after, 1)] : [])]
  await catalogStore.appendChanges(tx, changes)
}

const sortedAlike = (a: ProductDocument, b: ProductDocument) =>
  a.newestKey === b.newestKey && a.titleKey === b.titleKey && a.priceKey === b.priceKey

const changeOf = (id: string, { shopId, newestKey, titleKey, priceKey }: ProductDocument, documents: 1 | -1): ListingChange => ({
  id,
  shopId,
  newestKey,
  titleKey,
  priceKey,
  documents,
})
