import { Elysia } from 'elysia'
import { publicationInMs } from '../../core/publication.ts'
import { access, assertShopOrigin } from '../../http/access.ts'
import { actorOf } from '../../http/actor.ts'
import { publicJson } from '../../http/caching.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { idempotency } from '../../http/idempotency.ts'
import { notModified, RecordId, refusals } from '../../http/schema.ts'
import { assertOriginOf, shopNamed } from '../../http/shop.ts'
import { uploads } from '../../http/upload.ts'
import { pageOf, sliceOf } from '../../lib/page.ts'
import type { ShopDeps } from '../shop/service.ts'
import type { CollectionDeps } from './collections.ts'
import { managementView } from './domain.ts'
import { importProducts } from './import.ts'
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
import { publicProducts, type ReadDeps } from './reads.ts'
import { archiveProduct, type CatalogDeps, changeProduct, createProduct, noSuchProduct } from './service.ts'

export type CatalogRouteDeps = HttpDeps & CatalogDeps & ReadDeps & ShopDeps & CollectionDeps

export const publicCatalogRoutes = (deps: CatalogRouteDeps) =>
  new Elysia({ tags: ['Catalog'] })
    .use(access(deps))
    .get(
      '/product-v2/public/:id',
      async ({ params, request }) => {
        const found = await deps.documents.find(params.id)
        if (!found || found.visible_from > deps.clock.now()) throw noSuchProduct()
        if (request.headers.has('origin')) assertShopOrigin(request.headers, (await deps.shopStore.find(found.shop_id))?.origins ?? [])
        return publicJson(request, found.document, found.etag) as never
      },
      {
        access: 'public',
        response: { 200: PublicProduct, 304: notModified, ...refusals(403, 404) },
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
          const within =
            collection === undefined ? undefined : await deps.collectionStore.findPublished(shop.id, collection, deps.clock.now())
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
        response: { 200: PublicProducts, 304: notModified, ...refusals(403, 404) },
        detail: {
          summary: 'Products of a shop',
          description: 'A page past the end is empty. With `q`, the order is newest first whatever `sort` says.',
        },
      },
    )

export const catalogRoutes = (deps: CatalogRouteDeps) =>
  new Elysia({ tags: ['Catalog'] })
    .use(access(deps))
    .use(idempotency(deps))
    .use(uploads())
    .post(
      '/product-v2',
      ({ body, shop, principal, request, once }) =>
        once(201, (keep) => createProduct(deps, { shop, actor: actorOf(principal, request), keep }, publicationInMs(body))),
      {
        access: 'management',
        idempotent: true,
        body: CreateProduct,
        response: { 201: ManagedProduct, ...refusals(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Create a product',
          description: 'Without `handle` one is made from the title. Without `variants` the product has one, at price 0.',
        },
      },
    )
    .get(
      '/product-v2',
      async ({ query, shop }) => {
        const slice = sliceOf(query)
        const { wholes, total } = await deps.catalogStore.list(shop.id, query.status, slice)
        return pageOf(wholes.map(managementView), total, slice)
      },
      {
        access: 'management',
        query: ListManaged,
        response: { 200: ManagedProducts, ...refusals(401, 403, 404) },
        detail: { summary: "The shop's products", description: 'In every status, newest first, with cost and stock.' },
      },
    )
    .get(
      '/product-v2/:id',
      async ({ params, shop }) => {
        const whole = await deps.catalogStore.findWhole(shop.id, params.id)
        if (!whole) throw noSuchProduct()
        return managementView(whole)
      },
      {
        access: 'management',
        params: RecordId,
        response: { 200: ManagedProduct, ...refusals(401, 403, 404) },
        detail: { summary: 'A product of the shop' },
      },
    )
    .patch(
      '/product-v2/:id',
      ({ params, body, shop, principal, request, once }) =>
        once(200, (keep) => changeProduct(deps, { shop, actor: actorOf(principal, request), keep }, params.id, publicationInMs(body))),
      {
        access: 'management',
        idempotent: true,
        params: RecordId,
        body: ChangeProduct,
        response: { 200: ManagedProduct, ...refusals(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Change a product', description: 'Fields that are left out stay as they are; lists are replaced whole.' },
      },
    )
    .delete(
      '/product-v2/:id',
      ({ params, shop, principal, request }) => archiveProduct(deps, { shop, actor: actorOf(principal, request) }, params.id),
      {
        access: 'management',
        params: RecordId,
        response: { 200: ManagedProduct, ...refusals(401, 403, 404) },
        detail: { summary: 'Archive a product', description: 'It leaves the storefront and stays on record.' },
      },
    )
    .post(
      '/product-v2/import',
      async ({ query, shop, principal, request, upload }) => {
        const file = await upload.bytes()
        const options = {
          dryRun: query.dryRun === 'true',
          overwrite: query.overwrite === 'true',
          currency: query.currency ?? shop.currency,
        }
        return importProducts(deps, { shop, actor: actorOf(principal, request) }, () => onePart(file), options)
      },
      {
        access: 'management',
        upload: { types: ['text/csv'], bytesMax: 20 * 1024 * 1024 },
        query: ImportQuery,
        response: { 200: ImportReport, ...refusals(401, 403, 404, 413, 415) },
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
