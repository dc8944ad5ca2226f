import { t } from 'elysia'
import { publicationInMs } from '../../../core/publication.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified, pageQuery, RecordId } from '../../../http/schema.ts'
import { assertOriginOf } from '../../../http/shop.ts'
import { pageOf, sliceOf } from '../../../lib/page.ts'
import { findPublicShopByName, type ShopDeps } from '../../shop/shop/index.ts'
import { collectionsPerPageMax, firstProductsMax } from '../products/domain.ts'
import {
  type CatalogDeps,
  changeCollection,
  createCollection,
  listCollections,
  listPublishedCollections,
  readCollection,
  readPublishedCollection,
  removeCollection,
  setCollectionProducts,
} from '../products/index.ts'
import { HandleParams } from '../products/model.ts'
import {
  ChangeCollection,
  CollectionRecord,
  Collections,
  CollectionWithIds,
  CreateCollection,
  PublishedCollectionPage,
  PublishedCollections,
  SetProducts,
} from './collections-model.ts'

export const publicCollectionRoutes = (deps: HttpDeps & CatalogDeps & ShopDeps) =>
  routes(deps, 'Catalog')
    .get(
      '/collection-v2/published/:shopName/:handle',
      async ({ params, query, request }) => {
        await assertOriginOf(deps, params.shopName, request)
        return deps.answers.respond(request, async () => {
          const shop = await findPublicShopByName(deps, params.shopName)
          return readPublishedCollection(deps, shop, params.handle, sliceOf(query))
        }) as never
      },
      {
        access: 'public',
        params: HandleParams,
        query: t.Object(pageQuery),
        response: { 200: PublishedCollectionPage, 304: notModified, ...errorResponses(403, 404) },
        detail: {
          summary: 'A published collection by its handle',
          description:
            'With a page of its visible products as summaries, in the order of the collection: `page`, `limit`, `total` and `pages` count products. Its id does as well as its handle. The answer has at most 1 MB (1,048,576 bytes): products above their share have fewer variants, tags, option values and images.',
        },
      },
    )
    .get(
      '/collection-v2/published/:shopName',
      async ({ params, query, request }) => {
        await assertOriginOf(deps, params.shopName, request)
        return deps.answers.respond(request, async () => {
          const shop = await findPublicShopByName(deps, params.shopName)
          const slice = sliceOf(query, collectionsPerPageMax)
          const { collections, total } = await listPublishedCollections(deps, shop, slice)
          return JSON.stringify(pageOf([], total, slice)).replace('[]', () => `[${collections.join(',')}]`)
        }) as never
      },
      {
        access: 'public',
        query: t.Object(pageQuery),
        response: { 200: PublishedCollections, 304: notModified, ...errorResponses(403, 404) },
        detail: {
          summary: 'Published collections of a shop',
          description: `Newest first, each with \`productsCount\` and summaries of its first ${firstProductsMax} visible products; all of its products by \`GET /collection-v2/published/{shopName}/{handle}\`. \`limit\` is at most ${collectionsPerPageMax}. The answer has at most 1 MB (1,048,576 bytes): collections above their share have an empty description, and products with fewer variants, tags, option values and images, at last fewer products.`,
        },
      },
    )

export const collectionRoutes = (deps: HttpDeps & CatalogDeps) =>
  routes(deps, 'Catalog')
    .post(
      '/collection-v2',
      ({ body, shop, actor, once }) => once(201, (write) => createCollection(deps, { shop, actor, write }, publicationInMs(body))),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        largeJson: true,
        body: CreateCollection,
        response: { 201: CollectionRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Create a collection' },
      },
    )
    .get('/collection-v2', ({ query, shop }) => listCollections(deps, shop, sliceOf(query)), {
      access: 'catalogRead',
      query: t.Object(pageQuery),
      csv: csvOf('collections', Collections, ({ shop }, slice) => listCollections(deps, shop, slice)),
      response: { 200: Collections, ...errorResponses(401, 403, 404) },
      detail: { summary: "The shop's collections", description: 'Published or not, newest first.' },
    })
    .get('/collection-v2/:id', ({ params, shop }) => readCollection(deps, shop, params.id), {
      access: 'catalogRead',
      versioned: true,
      params: RecordId,
      response: { 200: CollectionWithIds, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A collection of the shop' },
    })
    .patch(
      '/collection-v2/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeCollection(deps, { shop, actor, expected, write }, params.id, publicationInMs(body)), {
          sees: () => readCollection(deps, shop, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        largeJson: true,
        body: ChangeCollection,
        response: { 200: CollectionRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Change a collection' },
      },
    )
    .delete(
      '/collection-v2/:id',
      async ({ params, shop, actor, expected, set }) => {
        await removeCollection(deps, { shop, actor, expected }, params.id)
        set.status = 204
      },
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'The collection is gone; its products stay' }), ...errorResponses(401, 403, 404) },
        detail: { summary: 'Remove a collection' },
      },
    )
    .put(
      '/collection-v2/:id/products',
      ({ params, body, shop, actor, expected }) => setCollectionProducts(deps, { shop, actor, expected }, params.id, body.productIds),
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        largeJson: true,
        body: SetProducts,
        response: { 200: CollectionWithIds, ...errorResponses(401, 403, 404, 413, 415) },
        detail: { summary: "Set a collection's products", description: 'Exactly these, in this order.' },
      },
    )
