import type { Writer } from '../../../db/engine.ts'
import type { Deps } from '../../core/deps.ts'
import { AppError } from '../../core/errors.ts'
import { sanitize } from '../../core/html.ts'
import type { Keep } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import { freeName } from '../../lib/names.ts'
import { type Actor, audit } from '../audit/service.ts'
import { refuseTaken } from '../conflict/service.ts'
import type { Documents } from './documents.ts'
import {
  changedProduct,
  createdProduct,
  documentOf,
  type Given,
  isListed,
  managementView,
  type ProductDocument,
  type ProductInput,
  searchWords,
  type Whole,
} from './domain.ts'
import { bucketMax, bucketOf, withChanges } from './listing.ts'
import type { CatalogStore, ListingChange } from './store.ts'

export { prepareStock, type StockLine, type StockWrites, sellables } from './stock.ts'

export type CatalogDeps = Deps & { readonly catalogStore: CatalogStore; readonly documents: Documents; readonly folds: Folds }
export type ManagementProduct = ReturnType<typeof managementView>
/** Who does it, in which shop, and what keeps the answer of an idempotent request. */
export type ProductWrite = { shop: Pick<ShopContext, 'id' | 'currency'>; actor: Actor; keep?: Keep }

export const noSuchProduct = () => new AppError('NOT_FOUND', 'No such product')
const handleTaken = 'handle (body): another product of the shop has it'

const givenFor = ({ newId, clock }: Deps, input: ProductInput): Given => ({
  productId: newId('product'),
  variantIds: Array.from({ length: Math.max(1, input.variants?.length ?? 0) }, () => newId('variant')),
  imageIds: Array.from({ length: input.images?.length ?? 0 }, () => newId('image')),
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
  { shop, actor, keep }: ProductWrite,
  input: ProductInput & { title: string },
): Promise<ManagementProduct> {
  const made = createdProduct(clean(input), shop, givenFor(deps, input))
  const record = audit(deps, actor, { action: 'product.created', subject: made.product.id, shopId: shop.id })
  const listing = listingWrite(deps)
  return deps.db
    .write(async (tx) => {
      const handle =
        input.handle ??
        (await freeName(made.product.handle, made.product.id, (names) => deps.catalogStore.takenHandles(tx, shop.id, names)))
      const whole = { ...made, product: { ...made.product, handle } }
      await deps.catalogStore.insert(tx, whole)
      await listing(tx, whole)
      await record(tx)
      const view = managementView(whole)
      await keep?.(tx, view)
      return view
    })
    .catch(refuseTaken(handleTaken))
    .finally(() => deps.folds.noteWrite(shop.id))
}

/**
 * Changes a product; what `input` leaves undefined stays.
 * @throws AppError INVALID, NOT_FOUND (also for another shop's), CONFLICT when the handle is taken or less would be left than orders were promised
 */
export async function changeProduct(
  deps: CatalogDeps,
  { shop, actor, keep }: ProductWrite,
  id: string,
  input: ProductInput,
): Promise<ManagementProduct> {
  const given = givenFor(deps, input)
  const cleaned = clean(input)
  const record = audit(deps, actor, { action: 'product.changed', subject: id, shopId: shop.id })
  const listing = listingWrite(deps)
  return deps.db
    .write(async (tx) => {
      const before = await deps.catalogStore.findWhole(shop.id, id, tx)
      if (!before) throw noSuchProduct()
      const after = changedProduct(before, cleaned, given)
      await deps.catalogStore.replace(tx, before, after)
      await listing(tx, after)
      await record(tx)
      const view = managementView(after)
      await keep?.(tx, view)
      return view
    })
    .catch(refuseTaken(handleTaken))
    .finally(() => deps.folds.noteWrite(shop.id))
}

/** Takes a product off the shelves for good; orders keep it. Archiving twice is no error. */
export const archiveProduct = (deps: CatalogDeps, write: ProductWrite, id: string): Promise<ManagementProduct> =>
  changeProduct(deps, write, id, { status: 'ARCHIVED' })

/**
 * Prepares what keeps the public side of a product true: call it inside the write, after the product is stored. It puts,
 * replaces or removes the document, the search entry and the tags, and appends to the listing what came or went.
 */
function listingWrite({ catalogStore, documents, newId }: CatalogDeps): (tx: Writer, whole: Whole) => Promise<void> {
  const changeIds = [newId('change'), newId('change')] as const
  return async (tx, whole) => {
    const { id: productId } = whole.product
    const before = await catalogStore.documentOf(tx, productId)
    const after = isListed(whole.product) ? documentOf(whole) : undefined
    if (!before && !after) return
    tx.afterCommit(() => documents.forget(productId))
    if (before) await catalogStore.forgetSearch(tx, productId)
    if (after) await catalogStore.putDocument(tx, after, searchWords(whole), whole.product.tags)
    else await catalogStore.removeDocument(tx, productId)
    if (before && after && sortedAlike(before, after)) return
    const changes = [...(before ? [changeOf(changeIds[0], before, -1)] : []), ...(after ? [changeOf(changeIds[1], after, 1)] : [])]
    await catalogStore.appendChanges(tx, changes)
  }
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

/** Folds the listing of a shop before its changes grow long. */
export type Folds = {
  /** Something was written to the shop's catalog. */
  noteWrite(shopId: string): void
  /** Folds all there is now. */
  foldAll(shopId: string): Promise<void>
}

const foldAfterWrites = 256
const changesPerFold = 256

/** @param most documents of a bucket before it is parted; even */
export function createFolds(deps: Pick<Deps, 'db' | 'log'> & { catalogStore: CatalogStore }, most = bucketMax): Folds {
  const writes = new Map<string, number>()
  const folding = new Map<string, Promise<void>>()

  async function foldAll(shopId: string): Promise<void> {
    writes.delete(shopId)
    while ((await foldSome(deps, shopId, most)) > 0) await new Promise((resume) => setImmediate(resume))
  }

  return {
    noteWrite(shopId) {
      const count = (writes.get(shopId) ?? 0) + 1
      writes.set(shopId, count)
      if (count < foldAfterWrites || folding.has(shopId)) return
      const work = foldAll(shopId)
        .catch((error: unknown) => deps.log.warn('catalog.fold_failed', { error }))
        .finally(() => folding.delete(shopId))
      folding.set(shopId, work)
    },
    foldAll,
  }
}

/** Adds some changes to the shop's anchors. Returns how many there were; zero when all are folded. */
async function foldSome(
  { db, catalogStore: store }: Pick<Deps, 'db'> & { catalogStore: CatalogStore },
  shopId: string,
  most: number,
): Promise<number> {
  return db.write(async (tx) => {
    const changes = await store.changesOf(tx, shopId, changesPerFold)
    if (changes.length === 0) return 0
    // With every change taken, the anchors count exactly what the index holds, and only then can a bucket be parted.
    const exact = changes.length < changesPerFold
    for (const order of store.sortOrders) {
      const anchors = await store.anchors(tx, shopId, order)
      const buckets = withChanges(
        anchors,
        changes.map((change) => ({ key: change[`${order}Key`], documents: change.documents })),
      )
      const touched = new Set([0, ...changes.map((change) => bucketOf(buckets, change[`${order}Key`]))])
      for (const [at, bucket] of buckets.entries()) {
        if (exact && bucket.documents > most) await part(tx, shopId, order, bucket)
        else if (!touched.has(at)) continue
        else if (bucket.documents === 0 && bucket.key !== '') await store.removeAnchor(tx, shopId, order, bucket.key)
        else await store.putAnchor(tx, shopId, order, bucket)
      }
    }
    await store.removeChanges(
      tx,
      changes.map(({ id }) => id),
    )
    return changes.length
  })

  /** Parts a bucket that grew too large into half-full ones. */
  async function part(
    tx: Writer,
    shopId: string,
    order: (typeof store.sortOrders)[number],
    bucket: { key: string; documents: number },
  ): Promise<void> {
    let { key, documents } = bucket
    while (documents > most) {
      const next = await store.keyAt(tx, shopId, order, key, most / 2)
      if (next === undefined) break
      await store.putAnchor(tx, shopId, order, { key, documents: most / 2 })
      key = next
      documents -= most / 2
    }
    await store.putAnchor(tx, shopId, order, { key, documents })
  }
}
