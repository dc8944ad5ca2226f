import { Elysia, t } from 'elysia'
import { publicationInMs } from '../../core/publication.ts'
import { access } from '../../http/access.ts'
import { actorOf } from '../../http/actor.ts'
import { idempotency } from '../../http/idempotency.ts'
import { notModified, pageQuery, RecordId, refusals } from '../../http/schema.ts'
import { assertOriginOf, shopNamed } from '../../http/shop.ts'
import { pageOf, sliceOf } from '../../lib/page.ts'
import {
  changeCollection,
  collectionView,
  createCollection,
  noSuchCollection,
  removeCollection,
  setCollectionProducts,
} from './collections.ts'
import {
  ChangeCollection,
  CollectionRecord,
  Collections,
  CollectionWithIds,
  CreateCollection,
  PublishedCollections,
  SetProducts,
} from './collections-model.ts'
import { productsPerCollectionMax } from './domain.ts'
import type { CatalogRouteDeps } from './routes.ts'

const firstProducts = 12

export const publicCollectionRoutes = (deps: CatalogRouteDeps) =>
  new Elysia({ tags: ['Catalog'] }).use(access(deps)).get(
    '/collection-v2/published/:shopName',
    async ({ params, query, request }) => {
      await assertOriginOf(deps, params.shopName, request)
      return deps.answers.respond(request, async () => {
        const shop = await shopNamed(deps, params.shopName)
        const now = deps.clock.now()
        const slice = sliceOf(query)
        const { collections, total } = await deps.collectionStore.listPublished(shop.id, now, slice)
        const data = await Promise.all(
          collections.map(async (collection) => {
            const documents = await deps.collectionStore.firstDocuments(collection.id, now, firstProducts)
            // The documents are JSON already.
            return JSON.stringify({ ...collectionView(collection), products: [] }).replace(/\[\]\}$/, () => `[${documents.join(',')}]}`)
          }),
        )
        return JSON.stringify(pageOf([], total, slice)).replace('[]', () => `[${data.join(',')}]`)
      }) as never
    },
    {
      access: 'public',
      query: t.Object(pageQuery),
      response: { 200: PublishedCollections, 304: notModified, ...refusals(403, 404) },
      detail: {
        summary: 'Published collections of a shop',
        description: `Each with its first ${firstProducts} visible products; the rest by \`GET /product-v2/public/shop/{shopName}?collection=\`.`,
      },
    },
  )

export const collectionRoutes = (deps: CatalogRouteDeps) =>
  new Elysia({ tags: ['Catalog'] })
    .use(access(deps))
    .use(idempotency(deps))
    .post(
      '/collection-v2',
      ({ body, shop, principal, request, once }) =>
        once(201, (keep) => createCollection(deps, { shop, actor: actorOf(principal, request), keep }, publicationInMs(body))),
      {
        access: 'management',
        idempotent: true,
        body: CreateCollection,
        response: { 201: CollectionRecord, ...refusals(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Create a collection' },
      },
    )
    .get(
      '/collection-v2',
      async ({ query, shop }) => {
        const slice = sliceOf(query)
        const { collections, total } = await deps.collectionStore.list(shop.id, slice)
        return pageOf(collections.map(collectionView), total, slice)
      },
      {
        access: 'management',
        query: t.Object(pageQuery),
        response: { 200: Collections, ...refusals(401, 403, 404) },
        detail: { summary: "The shop's collections", description: 'Published or not, newest first.' },
      },
    )
    .get(
      '/collection-v2/:id',
      async ({ params, shop }) => {
        const collection = await deps.collectionStore.find(shop.id, params.id)
        if (!collection) throw noSuchCollection()
        return { ...collectionView(collection), productIds: await deps.collectionStore.productIds(collection.id, productsPerCollectionMax) }
      },
      {
        access: 'management',
        params: RecordId,
        response: { 200: CollectionWithIds, ...refusals(401, 403, 404) },
        detail: { summary: 'A collection of the shop' },
      },
    )
    .patch(
      '/collection-v2/:id',
      ({ params, body, shop, principal, request, once }) =>
        once(200, (keep) => changeCollection(deps, { shop, actor: actorOf(principal, request), keep }, params.id, publicationInMs(body))),
      {
        access: 'management',
        idempotent: true,
        params: RecordId,
        body: ChangeCollection,
        response: { 200: CollectionRecord, ...refusals(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Change a collection' },
      },
    )
    .delete(
      '/collection-v2/:id',
      async ({ params, shop, principal, request, set }) => {
        await removeCollection(deps, { shop, actor: actorOf(principal, request) }, params.id)
        set.status = 204
      },
      {
        access: 'management',
        params: RecordId,
        response: { 204: t.Void({ description: 'The collection is gone; its products stay' }), ...refusals(401, 403, 404) },
        detail: { summary: 'Remove a collection' },
      },
    )
    .put(
      '/collection-v2/:id/products',
      ({ params, body, shop, principal, request }) =>
        setCollectionProducts(deps, { shop, actor: actorOf(principal, request) }, params.id, body.productIds),
      {
        access: 'management',
        params: RecordId,
        body: SetProducts,
        response: { 200: CollectionWithIds, ...refusals(401, 403, 404, 413, 415) },
        detail: { summary: "Set a collection's products", description: 'Exactly these, in this order.' },
      },
    )
