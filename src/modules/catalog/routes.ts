import { publicationInMs } from '../../core/publication.ts'
import { publicJson } from '../../http/caching.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { routes } from '../../http/routes.ts'
import { errorResponses, notModified, RecordId } from '../../http/schema.ts'
import { assertOriginOf, assertShopOrigin, shopNamed } from '../../http/shop.ts'
import { uploads } from '../../http/upload.ts'
import { pageOf, sliceOf } from '../../lib/page.ts'
import {
  archiveProduct,
  type CatalogDeps,
  changeProduct,
  createProduct,
  importProducts,
  listProducts,
  publicProducts,
  publishedCollection,
  readProduct,
  readPublicProduct,
} from './index.ts'
import {
  ChangeProduct,
  CreateProduct,
  ImportQuery,
  ImportReport,
  ListManaged,
  ListPublic,
  ManagedProduct,
  ManagedProducts,
  PublicProduct,
  PublicProducts,
} from './model.ts'

export const publicCatalogRoutes = (deps: HttpDeps & CatalogDeps) =>
  routes(deps, 'Catalog')
    .get(
      '/product-v2/public/:id',
      async ({ params, request }) => {
        const { document, etag, shopId } = await readPublicProduct(deps, params.id)
        if (request.headers.has('origin')) assertShopOrigin(request.headers, (await deps.identity.shop(shopId))?.origins ?? [])
        return publicJson(request, document, etag) as never
      },
      {
        access: 'public',
        response: { 200: PublicProduct, 304: notModified, ...errorResponses(403, 404) },
        detail: { summary: 'A product', description: 'Only products that are ACTIVE and whose publication date has passed.' },
      },
    )
    .get(
      '/product-v2/public/shop/:shopName',
      async ({ params, query, request }) => {
        await assertOriginOf(deps, params.shopName, request)
        return deps.answers.respond(request, async () => {
          const shop = await shopNamed(deps, params.shopName)
          const slice = sliceOf(query)
          const { sort, q, tag, collection } = query
          const within = collection === undefined ? undefined : await publishedCollection(deps, shop, collection)
          if (collection !== undefined && !within) return JSON.stringify(pageOf([], 0, slice))
          const { documents, total, totalCapped } = await publicProducts(
            deps,
            { shopId: shop.id, sort, q, tag, collectionId: within?.id },
            slice,
          )
          const envelope = JSON.stringify({ ...pageOf([], total, slice), ...(totalCapped ? { totalCapped } : {}) })
          // The documents are JSON already.
          return envelope.replace('[]', () => `[${documents.join(',')}]`)
        }) as never
      },
      {
        access: 'public',
        query: ListPublic,
        response: { 200: PublicProducts, 304: notModified, ...errorResponses(403, 404) },
        detail: {
          summary: 'Products of a shop',
          description: 'A page past the end is empty. With `q`, the order is newest first whatever `sort` says.',
        },
      },
    )

export const catalogRoutes = (deps: HttpDeps & CatalogDeps) =>
  routes(deps, 'Catalog')
    .use(uploads())
    .post(
      '/product-v2',
      ({ body, shop, actor, once }) => once(201, (write) => createProduct(deps, { shop, actor, write }, publicationInMs(body))),
      {
        access: 'management',
        idempotent: true,
        largeJson: true,
        body: CreateProduct,
        response: { 201: ManagedProduct, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Create a product',
          description: 'Without `handle` one is made from the title. Without `variants` the product has one, at price 0.',
        },
      },
    )
    .get('/product-v2', ({ query, shop }) => listProducts(deps, shop, query.status, sliceOf(query)), {
      access: 'management',
      query: ListManaged,
      response: { 200: ManagedProducts, ...errorResponses(401, 403, 404) },
      detail: { summary: "The shop's products", description: 'In every status, newest first, with cost and stock.' },
    })
    .get('/product-v2/:id', ({ params, shop }) => readProduct(deps, shop, params.id), {
      access: 'management',
      params: RecordId,
      response: { 200: ManagedProduct, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A product of the shop' },
    })
    .patch(
      '/product-v2/:id',
      ({ params, body, shop, actor, once }) =>
        once(200, (write) => changeProduct(deps, { shop, actor, write }, params.id, publicationInMs(body)), {
          sees: () => readProduct(deps, shop, params.id),
        }),
      {
        access: 'management',
        idempotent: true,
        params: RecordId,
        largeJson: true,
        body: ChangeProduct,
        response: { 200: ManagedProduct, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Change a product', description: 'Fields that are left out stay as they are; lists are replaced whole.' },
      },
    )
    .delete('/product-v2/:id', ({ params, shop, actor }) => archiveProduct(deps, { shop, actor }, params.id), {
      access: 'management',
      params: RecordId,
      response: { 200: ManagedProduct, ...errorResponses(401, 403, 404) },
      detail: { summary: 'Archive a product', description: 'It leaves the storefront and stays on record.' },
    })
    .post(
      '/product-v2/import',
      async ({ query, shop, actor, upload }) => {
        const file = await upload.bytes()
        const options = {
          dryRun: query.dryRun === 'true',
          overwrite: query.overwrite === 'true',
          currency: query.currency ?? shop.currency,
        }
        return importProducts(deps, { shop, actor }, () => onePart(file), options)
      },
      {
        access: 'management',
        upload: { types: ['text/csv'], bytesMax: 20 * 1024 * 1024 },
        query: ImportQuery,
        response: { 200: ImportReport, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          summary: 'Import a Shopify product CSV',
          description:
            'The body is the file (`text/csv`, at most 20 MB), in the old or the new dialect. Rows that share a handle are one product. A product with a bad row is left out and named; the others are stored. Importing again changes nothing twice.',
        },
      },
    )

async function* onePart(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield file
}
