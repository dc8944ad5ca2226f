import { type Static, t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { publicationInMs } from '../../../core/publication.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
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
  ListCollections,
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
        anyQuery: true,
        params: HandleParams,
        query: t.Object(pageQuery),
        response: { 200: PublishedCollectionPage, 304: notModified, ...errorResponses(403, 404) },
        detail: {
          operationId: 'getPublishedCollection',
          summary: 'Returns a published collection',
          description:
            "Accepts the collection's handle or id. The response contains one page of the collection's visible products as summaries, in the collection's order; `page`, `limit`, `total` and `pages` count products. Other parameters are ignored. A response has at most 1 MB (1,048,576 bytes). On a larger page, the largest products have fewer variants, tags, option values and images.",
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
          operationId: 'listPublishedCollections',
          summary: 'Lists published collections',
          description: `Returns published collections, newest first. Each has \`productsCount\` and summaries of its first ${firstProductsMax} visible products; \`GET /collection-v2/published/{shopName}/{handle}\` returns all of them. \`limit\` is at most ${collectionsPerPageMax}. A response has at most 1 MB (1,048,576 bytes). On a larger page, the largest collections have an empty description, fewer details of each product and, if necessary, fewer products.`,
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
        detail: { operationId: 'createCollection', summary: 'Creates a collection' },
      },
    )
    .get('/collection-v2', ({ query, shop }) => listCollections(deps, shop, sliceOf(query), query), {
      access: 'catalogRead',
      query: ListCollections,
      csv: csvOf('collections', Collections, ({ shop, query }: ListRequest<Static<typeof ListCollections>>, slice) =>
        listCollections(deps, shop, slice, query),
      ),
      response: { 200: Collections, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listCollections',
        summary: 'Lists collections',
        description: 'Returns published and unpublished collections, newest first.',
      },
    })
    .get('/collection-v2/:id', ({ params, shop }) => readCollection(deps, shop, params.id), {
      access: 'catalogRead',
      versioned: true,
      params: RecordId,
      response: { 200: CollectionWithIds, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getCollection', summary: 'Returns a collection' },
    })
    .patch(
      '/collection-v2/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeCollection(deps, { shop, actor, expected, write }, params.id, publicationInMs(body)), {
          assertVisible: () => readCollection(deps, shop, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        largeJson: true,
        body: ChangeCollection,
        response: { 200: CollectionRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: { operationId: 'updateCollection', summary: 'Updates a collection' },
      },
    )
    .delete(
      '/collection-v2/:id',
      ({ params, shop, actor, expected, set }) => noContent(set, removeCollection(deps, { shop, actor, expected }, params.id)),
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'The collection was deleted. Its products remain' }), ...errorResponses(401, 403, 404) },
        detail: { operationId: 'deleteCollection', summary: 'Deletes a collection' },
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
        detail: {
          operationId: 'replaceCollectionProducts',
          summary: 'Replaces the products of a collection',
          description: 'Sets the products and their order.',
        },
      },
    )
