import type { Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { sanitize } from '../../../core/html.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertPublicationDate } from '../../../core/publication.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { freeName } from '../../../lib/names.ts'
import { isoTimes, type Optional } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { handleOf } from '../../../lib/search-terms.ts'
import { bytesOf, publicRecordsBytesMax, shortenTexts } from '../../../lib/shorten-texts.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { firstProductsMax, productsPerCollectionMax } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { summariesFor } from '../products/public-reads.ts'
import { shortSummary } from '../products/summary.ts'
import type { Collection } from './collections-store.ts'

type Shop = Pick<ShopContext, 'id'>
type CollectionDeps = Pick<CatalogDeps, 'collectionStore' | 'db' | 'clock' | 'newId'>
/** `publishedAt` is in milliseconds. */
type CollectionInput = Optional<
  Pick<Collection, 'title' | 'handle' | 'descriptionHtml' | 'publishedAt'> & {
    image: { url: string; alt?: string | null | undefined } | null
  }
>

const noSuchCollection = () => new AppError('NOT_FOUND', 'No such collection')
const handleTaken = refuseTaken('another collection has this handle', 'handle')

/** Renders a collection for its shop and for the public. */
const collectionView = ({ version: _, publishedAt, createdAt, updatedAt, ...rest }: Collection) => ({
  ...rest,
  ...isoTimes({ publishedAt, createdAt, updatedAt }),
})
export type CollectionView = ReturnType<typeof collectionView>
/** Adds the version that `If-Match` compares. */
const managedView = (collection: Collection) => ({ ...collectionView(collection), version: collection.version })
type ManagedCollection = ReturnType<typeof managedView>
type CollectionWithProducts = ManagedCollection & { productIds: string[] }

const collectionDifference = (before: Collection | undefined, after: Collection | undefined): Difference =>
  differenceOf(before, after, ['title', 'handle', 'image', 'publishedAt'])

/** Limits the ids to the size of an audit row, and adds their total. */
const auditedProducts = (ids: readonly string[]) => ({ products: ids.length, productIds: ids.slice(0, 50) })

const normalizeImage = (image: CollectionInput['image']) => (image ? { url: image.url, alt: image.alt ?? null } : null)

/**
 * Creates a collection. Without `publishedAt` it is published now; null keeps it unpublished.
 * @throws AppError CONFLICT if the given handle is taken
 */
export async function createCollection(
  deps: CollectionDeps,
  by: CommandContext,
  input: CollectionInput & { title: string },
): Promise<ManagedCollection> {
  assertPublicationDate(input.publishedAt)
  const { collectionStore: store, clock, newId } = deps
  const now = clock.now()
  const draft: Collection = {
    id: newId('collection'),
    shopId: by.shop.id,
    handle: input.handle ?? (handleOf(input.title) || 'collection'),
    title: input.title,
    descriptionHtml: sanitize(input.descriptionHtml ?? '', 'descriptionHtml'),
    image: normalizeImage(input.image),
    publishedAt: input.publishedAt === undefined ? now : input.publishedAt,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  return audited(deps, by, { action: 'collection.created', subject: draft.id }, async (tx, setDifference) => {
    const handle = input.handle ?? (await freeName(draft.handle, draft.id, (names) => store.takenHandles(tx, by.shop.id, names)))
    const collection = { ...draft, handle }
    await store.insert(tx, collection)
    setDifference(collectionDifference(undefined, collection))
    return managedView(collection)
  }).catch(handleTaken)
}

/** @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED; CONFLICT when the handle is taken */
export async function changeCollection(
  deps: CollectionDeps,
  by: CommandContext,
  id: string,
  input: CollectionInput,
): Promise<ManagedCollection> {
  assertPublicationDate(input.publishedAt)
  const change: Partial<Collection> = {}
  if (input.title !== undefined) change.title = input.title
  if (input.handle !== undefined) change.handle = input.handle
  if (input.descriptionHtml !== undefined) change.descriptionHtml = sanitize(input.descriptionHtml, 'descriptionHtml')
  if (input.image !== undefined) change.image = normalizeImage(input.image)
  if (input.publishedAt !== undefined) change.publishedAt = input.publishedAt
  return audited(deps, by, { action: 'collection.changed', subject: id }, async (tx, setDifference) => {
    const { before, after } = await update(tx, deps, by, { id, change })
    setDifference(collectionDifference(before, after))
    return managedView(after)
  }).catch(handleTaken)
}

/** Reads the collection for a change. @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED */
async function findToChange(
  tx: Writer,
  { collectionStore }: CollectionDeps,
  { shop, expected }: CommandContext,
  id: string,
): Promise<Collection> {
  const collection = await collectionStore.find(shop.id, id, tx)
  if (!collection) throw noSuchCollection()
  assertVersion(expected, collection.version)
  return collection
}

async function update(
  tx: Writer,
  deps: CollectionDeps,
  by: CommandContext,
  { id, change }: { id: string; change: Partial<Collection> },
): Promise<{ before: Collection; after: Collection }> {
  const before = await findToChange(tx, deps, by, id)
  const changes = { ...change, updatedAt: deps.clock.now(), version: before.version + 1 }
  return { before, after: assertNotStale(await deps.collectionStore.update(tx, before, changes)) }
}

/** @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED */
export const removeCollection = (deps: CollectionDeps, by: CommandContext, id: string): Promise<void> =>
  audited(deps, by, { action: 'collection.removed', subject: id }, async (tx, setDifference) => {
    const before = await findToChange(tx, deps, by, id)
    assertNotStale(await deps.collectionStore.remove(tx, before))
    setDifference(collectionDifference(before, undefined))
  })

function firstDuplicate(ids: readonly string[]): number {
  const seen = new Set<string>()
  return ids.findIndex((id) => seen.size === seen.add(id).size)
}

/** Refuses the product at index `at`; does nothing for -1. */
function refuseRow(at: number, rule: string): void {
  if (at >= 0) throw invalidField(`productIds.${at}`, rule)
}

/**
 * Sets the products of a collection, in this order.
 * @throws AppError NOT_FOUND; PRECONDITION_FAILED; INVALID for a repeated or unknown product id
 */
export async function setCollectionProducts(
  deps: CollectionDeps,
  by: CommandContext,
  id: string,
  productIds: readonly string[],
): Promise<CollectionWithProducts> {
  refuseRow(firstDuplicate(productIds), 'must not be repeated')
  const { collectionStore: store } = deps
  return audited(deps, by, { action: 'collection.products_set', subject: id }, async (tx, setDifference) => {
    const { after: collection } = await update(tx, deps, by, { id, change: {} })
    const existing = await store.existingProducts(tx, by.shop.id, productIds)
    refuseRow(
      productIds.findIndex((productId) => !existing.has(productId)),
      'must be a product of the shop',
    )
    const before = await store.productIds(id, productsPerCollectionMax, tx)
    await store.setProducts(tx, id, productIds)
    setDifference({ before: auditedProducts(before), after: auditedProducts(productIds) })
    return { ...managedView(collection), productIds: [...productIds] }
  })
}

/**
 * Lists the shop's collections, published or not, newest first.
 * @param filter with `product`, only the collections of this product
 */
export async function listCollections(
  { collectionStore }: CollectionDeps,
  shop: Shop,
  slice: PageSlice,
  { product }: { product?: string | undefined } = {},
): Promise<Page<CollectionView>> {
  const { rows: collections, total } = await collectionStore.list(shop.id, slice, product)
  return pageOf(collections.map(collectionView), total, slice)
}

/** @throws AppError NOT_FOUND, also for another shop's */
export async function readCollection({ collectionStore }: CollectionDeps, shop: Shop, id: string): Promise<CollectionWithProducts> {
  const collection = await collectionStore.find(shop.id, id)
  if (!collection) throw noSuchCollection()
  return { ...managedView(collection), productIds: await collectionStore.productIds(id, productsPerCollectionMax) }
}

/** Finds a published collection by id or handle. */
export async function findPublishedCollection(
  { collectionStore, clock }: CollectionDeps,
  shop: Shop,
  idOrHandle: string,
): Promise<CollectionView | undefined> {
  const collection = await collectionStore.findPublished(shop.id, idOrHandle, clock.now())
  return collection && collectionView(collection)
}

type PublicReadDeps = CollectionDeps & Pick<CatalogDeps, 'catalogStore' | 'config' | 'life'>
type PublicShop = Shop & { readonly showQuantity: boolean }

/** Builds the JSON of a public collection from summaries that are JSON already. */
const collectionJson = (view: CollectionView & Record<string, unknown>, summaries: readonly string[]): string =>
  JSON.stringify({ ...view, products: [] }).replace(/\[\]\}$/, () => `[${summaries.join(',')}]}`)

/**
 * Returns a published collection as JSON, with a page of its visible products.
 * @throws AppError NOT_FOUND
 */
export async function readPublishedCollection(
  deps: PublicReadDeps,
  shop: PublicShop,
  idOrHandle: string,
  slice: PageSlice,
): Promise<string> {
  const { collectionStore: store, clock } = deps
  const view = await findPublishedCollection(deps, shop, idOrHandle)
  if (!view) throw noSuchCollection()
  const now = clock.now()
  const productsCount = (await store.countVisible([view.id], now)).get(view.id) ?? 0
  const ids = (await store.visibleProducts([view.id], now, slice)).get(view.id) ?? []
  const { data: _, ...envelope } = pageOf([], productsCount, slice)
  const record = { ...view, productsCount, ...envelope }
  const summaries = await summariesFor(deps, ids, shop.showQuantity, publicRecordsBytesMax - bytesOf(JSON.stringify(record)))
  return collectionJson(record, summaries)
}

/**
 * Returns a page of the public collections as JSON, newest first, each with summaries of its first visible products.
 */
export async function listPublishedCollections(
  deps: PublicReadDeps,
  shop: PublicShop,
  slice: PageSlice,
): Promise<{ collections: string[]; total: number }> {
  const { collectionStore: store, clock } = deps
  const now = clock.now()
  const { rows, total } = await store.listPublished(shop.id, now, slice)
  const ids = rows.map(({ id }) => id)
  const counts = await store.countVisible(ids, now)
  const products = await store.visibleProducts(ids, now, { limit: firstProductsMax, offset: 0 })
  const collections = await Promise.all(
    rows.map(async (collection) => ({
      view: { ...collectionView(collection), productsCount: counts.get(collection.id) ?? 0 },
      summaries: await summariesFor(deps, products.get(collection.id) ?? [], shop.showQuantity),
    })),
  )
  const texts = collections.map(({ view, summaries }) => collectionJson(view, summaries))
  const fits = texts.reduce((sum, text) => sum + bytesOf(text) + 1, 0) <= publicRecordsBytesMax
  const share = Math.floor(publicRecordsBytesMax / Math.max(1, collections.length)) - 1
  return { collections: fits ? texts : collections.map((one) => shortCollection(one, share)), total }
}

/** Shortens a collection (JSON) to `most` bytes: drops a long description, then shortens and drops summaries. */
function shortCollection({ view, summaries }: { view: CollectionView; summaries: readonly string[] }, most: number): string {
  const long = collectionJson(view, summaries)
  if (bytesOf(long) <= most) return long
  const short = bytesOf(view.descriptionHtml) * 4 > most ? { ...view, descriptionHtml: '' } : view
  const left = most - bytesOf(collectionJson(short, [])) - summaries.length
  const fitting = shortenTexts(summaries, left, shortSummary)
  while (fitting.reduce((sum, text) => sum + bytesOf(text), 0) > left) fitting.pop()
  return collectionJson(short, fitting)
}
