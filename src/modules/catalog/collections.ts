import type { Deps } from '../../core/deps.ts'
import { AppError } from '../../core/errors.ts'
import { sanitize } from '../../core/html.ts'
import type { Keep } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import { assertPublicationDate } from '../../core/publication.ts'
import { freeName } from '../../lib/names.ts'
import { handleOf } from '../../lib/words.ts'
import { type Actor, audit } from '../audit/service.ts'
import { refuseTaken } from '../conflict/service.ts'
import type { Collection, CollectionStore } from './collections-store.ts'

export type CollectionDeps = Deps & { readonly collectionStore: CollectionStore }
export type CollectionInput = {
  title?: string | undefined
  handle?: string | undefined
  descriptionHtml?: string | undefined
  image?: { url: string; alt?: string | null | undefined } | null | undefined
  /** Milliseconds. */
  publishedAt?: number | null | undefined
}
type Write = { shop: Pick<ShopContext, 'id'>; actor: Actor; keep?: Keep }

export const noSuchCollection = () => new AppError('NOT_FOUND', 'No such collection')
const handleTaken = 'handle (body): another collection of the shop has it'

/** A collection as it is answered, to the shop and to the public. */
export const collectionView = ({ publishedAt, createdAt, updatedAt, ...rest }: Collection) => ({
  ...rest,
  publishedAt: publishedAt === null ? null : new Date(publishedAt).toISOString(),
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
})
export type CollectionView = ReturnType<typeof collectionView>

const imageOf = (image: CollectionInput['image']) => (image ? { url: image.url, alt: image.alt ?? null } : null)

/**
 * Makes a collection. Without `publishedAt` it is published now; null keeps it off the storefront.
 * @throws AppError CONFLICT when the given handle is taken
 */
export async function createCollection(
  deps: CollectionDeps,
  { shop, actor, keep }: Write,
  input: CollectionInput & { title: string },
): Promise<CollectionView> {
  assertPublicationDate(input.publishedAt)
  const now = deps.clock.now()
  const made: Collection = {
    id: deps.newId('collection'),
    shopId: shop.id,
    handle: input.handle ?? (handleOf(input.title) || 'collection'),
    title: input.title,
    descriptionHtml: sanitize(input.descriptionHtml ?? '', 'descriptionHtml'),
    image: imageOf(input.image),
    publishedAt: input.publishedAt === undefined ? now : input.publishedAt,
    createdAt: now,
    updatedAt: now,
  }
  const record = audit(deps, actor, { action: 'collection.created', subject: made.id, shopId: shop.id })
  return deps.db
    .write(async (tx) => {
      const handle =
        input.handle ?? (await freeName(made.handle, made.id, (names) => deps.collectionStore.takenHandles(tx, shop.id, names)))
      const collection = { ...made, handle }
      await deps.collectionStore.insert(tx, collection)
      await record(tx)
      const view = collectionView(collection)
      await keep?.(tx, view)
      return view
    })
    .catch(refuseTaken(handleTaken))
}

/** @throws AppError NOT_FOUND, also for another shop's; CONFLICT when the handle is taken */
export async function changeCollection(
  deps: CollectionDeps,
  { shop, actor, keep }: Write,
  id: string,
  input: CollectionInput,
): Promise<CollectionView> {
  assertPublicationDate(input.publishedAt)
  const change: Partial<Collection> = { updatedAt: deps.clock.now() }
  if (input.title !== undefined) change.title = input.title
  if (input.handle !== undefined) change.handle = input.handle
  if (input.descriptionHtml !== undefined) change.descriptionHtml = sanitize(input.descriptionHtml, 'descriptionHtml')
  if (input.image !== undefined) change.image = imageOf(input.image)
  if (input.publishedAt !== undefined) change.publishedAt = input.publishedAt
  const record = audit(deps, actor, { action: 'collection.changed', subject: id, shopId: shop.id })
  return deps.db
    .write(async (tx) => {
      const collection = await deps.collectionStore.update(tx, shop.id, id, change)
      if (!collection) throw noSuchCollection()
      await record(tx)
      const view = collectionView(collection)
      await keep?.(tx, view)
      return view
    })
    .catch(refuseTaken(handleTaken))
}

/** @throws AppError NOT_FOUND, also for another shop's */
export async function removeCollection(deps: CollectionDeps, { shop, actor }: Write, id: string): Promise<void> {
  const record = audit(deps, actor, { action: 'collection.removed', subject: id, shopId: shop.id })
  await deps.db.write(async (tx) => {
    if (!(await deps.collectionStore.remove(tx, shop.id, id))) throw noSuchCollection()
    await record(tx)
  })
}

/**
 * Puts exactly these products into a collection, in this order.
 * @throws AppError NOT_FOUND; INVALID when an id stands twice or is no product of the shop
 */
export async function setCollectionProducts(
  deps: CollectionDeps,
  { shop, actor }: Write,
  id: string,
  productIds: readonly string[],
): Promise<CollectionView & { productIds: string[] }> {
  if (new Set(productIds).size < productIds.length) throw new AppError('INVALID', 'productIds (body): each product may stand once')
  const record = audit(deps, actor, { action: 'collection.products_set', subject: id, shopId: shop.id })
  const updatedAt = deps.clock.now()
  return deps.db.write(async (tx) => {
    const collection = await deps.collectionStore.update(tx, shop.id, id, { updatedAt })
    if (!collection) throw noSuchCollection()
    const known = await deps.collectionStore.countProducts(tx, shop.id, productIds)
    if (known < productIds.length) throw new AppError('INVALID', 'productIds (body): not all of them are products of the shop')
    await deps.collectionStore.setProducts(tx, id, productIds)
    await record(tx)
    return { ...collectionView(collection), productIds: [...productIds] }
  })
}
