import { type Static, t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { publicationInMs } from '../../../core/publication.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { importMaxMs, runImport } from '../../../http/import-request.ts'
import { publicJson } from '../../../http/public-cache.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified, pageQuery, RecordId } from '../../../http/schema.ts'
import { assertOriginOf, assertShopOrigin, shopNamed } from '../../../http/shop.ts'
import { uploads } from '../../../http/upload.ts'
import { pageOf, sliceOf } from '../../../lib/page.ts'
import { type LiveDeps, runReportedImport } from '../../messaging/live-events/index.ts'
import { findPublicShopByName, type ShopDeps } from '../../shop/shop/index.ts'
import { productTable } from '../import-export/csv-export.ts'
import {
  archiveProduct,
  type CatalogDeps,
  changeProduct,
  changeStock,
  createProduct,
  findPublishedCollection,
  importProducts,
  importStoppedError,
  listLowStock,
  listProducts,
  listPublicProducts,
  listStockHistory,
  readProduct,
  readProductChunk,
  readPublicProduct,
  readPublicProductByHandle,
  removeVariant,
} from './index.ts'
import {
  ChangeProduct,
  ChangeStock,
  CreateProduct,
  HandleParams,
  ImportQuery,
  ImportReport,
  ListManaged,
  ListPublic,
  LowStock,
  ManagedProduct,
  ManagedProducts,
  ManagedVariant,
  PublicProduct,
  PublicProducts,
  StockHistory,
  VariantParams,
} from './model.ts'
import { summaryImagesMax, summaryTagsMax, summaryVariantsMax } from './summary.ts'

export const publicCatalogRoutes = (deps: HttpDeps & CatalogDeps & ShopDeps) =>
  routes(deps, 'Catalog')
    .get(
      '/product-v2/public/:id',
      async ({ params, request }) => {
        const { document, etag, shopId } = await readPublicProduct(deps, params.id)
        if (request.headers.has('origin')) assertShopOrigin(request.headers, (await deps.identity.shop(shopId))?.origins ?? [])
        return publicJson(request, document, etag) as never
      },
      {
        fastRead: 'record',
        access: 'public',
        response: { 200: PublicProduct, 304: notModified, ...errorResponses(403, 404) },
        detail: { summary: 'A product', description: 'Only products that are ACTIVE and whose publication date has passed.' },
      },
    )
    .get(
      '/product-v2/public/shop/:shopName/handle/:handle',
      async ({ params, request }) => {
        await assertOriginOf(deps, params.shopName, request)
        const shop = await shopNamed(deps, params.shopName)
        const { document, etag } = await readPublicProductByHandle(deps, shop, params.handle)
        return publicJson(request, document, etag) as never
      },
      {
        access: 'public',
        params: HandleParams,
        response: { 200: PublicProduct, 304: notModified, ...errorResponses(403, 404) },
        detail: { summary: 'A product by its handle', description: 'The same record as by its id.' },
      },
    )
    .get(
      '/product-v2/public/shop/:shopName',
      async ({ params, query, request }) => {
        await assertOriginOf(deps, params.shopName, request)
        return deps.answers.respond(request, async () => {
          const shop = await findPublicShopByName(deps, params.shopName)
          const slice = sliceOf(query)
          const { sort, q, tag, collection, vendor, type, minPrice, maxPrice, available } = query
          const within = collection === undefined ? undefined : await findPublishedCollection(deps, shop, collection)
          if (collection !== undefined && !within) return JSON.stringify(pageOf([], 0, slice))
          const { summaries, total, totalCapped } = await listPublicProducts(
            deps,
            {
              ...{ shopId: shop.id, showQuantity: shop.showQuantity, sort, q, tag, collectionId: within?.id, vendor, type },
              minPrice: minPrice === undefined ? undefined : Number(minPrice),
              maxPrice: maxPrice === undefined ? undefined : Number(maxPrice),
              available: available === undefined ? undefined : available === 'true',
            },
            slice,
          )
          const envelope = JSON.stringify({ ...pageOf([], total, slice), ...(totalCapped ? { totalCapped } : {}) })
          // The summaries are JSON already.
          return envelope.replace('[]', () => `[${summaries.join(',')}]`)
        }) as never
      },
      {
        access: 'public',
        query: ListPublic,
        response: { 200: PublicProducts, 304: notModified, ...errorResponses(403, 404) },
        detail: {
          summary: 'Products of a shop',
          description: `Items are summaries: the record without \`descriptionHtml\` and \`seo\`, with at most ${summaryTagsMax} tags, the first ${summaryVariantsMax} variants and \`variantsCount\`, the first ${summaryImagesMax} images and \`imagesCount\`. The answer has at most 1 MB (1,048,576 bytes): on a page that would exceed it, the largest items have fewer variants, tags, option values and images.

Filters narrow each other; \`total\` counts what meets all of them. With \`q\` or any filter, \`total\` is exact up to 1,000, then 1,000 with \`totalCapped: true\`, and nothing lies past it. Without, \`total\` is exact. A page past the end is empty. With \`q\`, the order is newest first whatever \`sort\` says.

In a large shop, several conditions may each match many products and together only few. A list then looks at the first 20,000 products of its order; if that does not suffice, and no single condition matches at most 100,000 products, it answers what it found with \`totalCapped: true\`. With \`q\`, it looks at the newest 5,000 products that hold the words, or the newest 40,000 where at most 1,000 products meet the other filters.`,
        },
      },
    )

export const catalogRoutes = (deps: HttpDeps & LiveDeps & CatalogDeps) =>
  routes(deps, 'Catalog')
    .use(uploads(deps))
    .post(
      '/product-v2',
      ({ body, shop, actor, once }) => once(201, (write) => createProduct(deps, { shop, actor, write }, publicationInMs(body))),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        largeJson: true,
        body: CreateProduct,
        response: { 201: ManagedProduct, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Create a product',
          description:
            'Without `handle` one is made from the title. Without `variants` the product has one without a price, which cannot be bought until it has one; 0 is a price.',
        },
      },
    )
    .get('/product-v2', ({ query: { page, limit, ...query }, shop }) => listProducts(deps, shop, query, sliceOf({ page, limit })), {
      access: 'catalogRead',
      csv: csvOf(
        'products',
        ManagedProducts,
        ({ shop, query: { page: _, limit: __, ...query } }: ListRequest<Static<typeof ListManaged>>, slice) =>
          readProductChunk(deps, shop, query, slice),
        { table: productTable(() => deps.clock.now()), order: 'asc' },
      ),
      query: ListManaged,
      response: { 200: ManagedProducts, ...errorResponses(401, 403, 404) },
      detail: {
        summary: "The shop's products",
        description:
          'In every status, newest first, with cost and stock; of several filters all count. With a filter `total` is exact up to 1,000, then 1,000 with `totalCapped: true`, and nothing lies past it. Without one `total` is exact, and a page at the end costs what the first does. After an upgrade from a version that had no such search, a job makes what is there findable: until it is through, what it has not come to yet is missing from what `q`, `tag` and `sku` find; `status`, `vendor` and `type` find all of up to 10,000 products at once, and `totalCapped: true` says so.',
      },
    })
    .get('/product-v2/low-stock', ({ query, shop }) => listLowStock(deps, shop, sliceOf(query)), {
      access: 'catalogRead',
      csv: csvOf('low-stock', LowStock, ({ shop }, slice) => listLowStock(deps, shop, slice), { keyOf: ({ variantId }) => variantId }),
      query: t.Object(pageQuery),
      response: { 200: LowStock, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'Variants of which there are few',
        description:
          'Those that are counted, with as many on hand as their `lowStockAt` or fewer, the fewest first; not of archived products. What is promised to orders that are not complete counts as on hand, since they may come to nothing. The webhook event `stock.low` tells of each when it comes to that.',
      },
    })
    .get(
      '/product-v2/:id/variants/:variantId/stock',
      ({ params, query, shop }) => listStockHistory(deps, shop, { productId: params.id, variantId: params.variantId }, sliceOf(query)),
      {
        access: 'catalogRead',
        params: VariantParams,
        csv: csvOf(
          'stock-history',
          StockHistory,
          ({ shop, params: { id: productId, variantId } }: ListRequest<object, { id: string; variantId: string }>, slice) =>
            listStockHistory(deps, shop, { productId, variantId }, slice),
        ),
        query: t.Object(pageQuery),
        response: { 200: StockHistory, ...errorResponses(401, 403, 404) },
        detail: {
          summary: 'The stock history of a variant',
          description: 'What was changed by hand and by imports, newest first. Orders leave no rows here: they are their own record.',
        },
      },
    )
    .get('/product-v2/:id', ({ params, shop }) => readProduct(deps, shop, params.id), {
      access: 'catalogRead',
      versioned: true,
      params: RecordId,
      response: { 200: ManagedProduct, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A product of the shop' },
    })
    .patch(
      '/product-v2/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeProduct(deps, { shop, actor, expected, write }, params.id, publicationInMs(body)), {
          sees: () => readProduct(deps, shop, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        largeJson: true,
        body: ChangeProduct,
        response: { 200: ManagedProduct, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Change a product',
          description:
            'Fields that are left out stay as they are. Of `variants`, those that are not named stay too; where all are named, theirs is the order of the product, else new ones come last. All other lists are replaced whole. The stock of a variant that is there already has a route of its own. `allowBackorder: false` is accepted with any stock: while less is on hand than is reserved, nothing more is sold.',
        },
      },
    )
    .delete('/product-v2/:id', ({ params, shop, actor, expected }) => archiveProduct(deps, { shop, actor, expected }, params.id), {
      access: 'management',
      versioned: true,
      params: RecordId,
      response: { 200: ManagedProduct, ...errorResponses(401, 403, 404) },
      detail: { summary: 'Archive a product', description: 'It leaves the storefront and stays on record.' },
    })
    .post(
      '/product-v2/:id/variants/:variantId/stock',
      ({ params, body, shop, actor, expected, once }) =>
        once(
          200,
          (write) => changeStock(deps, { shop, actor, expected, write }, { productId: params.id, variantId: params.variantId }, body),
          { sees: () => readProduct(deps, shop, params.id) },
        ),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: VariantParams,
        body: ChangeStock,
        response: { 200: ManagedVariant, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Change the stock of a variant',
          description:
            "By exactly one of `delta` and `counted`. A change that leaves fewer units than orders have reserved, or a negative count, is 409, unless the variant takes backorders. More units are always accepted. A row of its history says who changed it, by how much and why. The product's version stays as it is.",
        },
      },
    )
    .delete(
      '/product-v2/:id/variants/:variantId',
      ({ params, shop, actor, expected }) => removeVariant(deps, { shop, actor, expected }, params.id, params.variantId),
      {
        access: 'management',
        versioned: true,
        params: VariantParams,
        response: { 200: ManagedProduct, ...errorResponses(401, 403, 404, 409) },
        detail: {
          summary: 'Remove a variant',
          description:
            'Answers the product without it. 409 while orders under way were promised some of it, and for the last variant: a product has one at least.',
        },
      },
    )
    .post(
      '/product-v2/import',
      ({ query, shop, actor, upload, request }) =>
        runImport(deps, { slot: [shop.id], request, upload }, async ({ file, bytes, signal, rest }) => {
          const dryRun = query.dryRun === 'true'
          const report = await runReportedImport(deps, { shopId: shop.id, kind: 'products', dryRun, bytes }, (onProgress) =>
            importProducts(deps, { shop, actor }, file, {
              dryRun,
              overwrite: query.overwrite === 'true',
              stock: query.stock === 'true',
              currency: query.currency ?? shop.currency,
              signal,
              limits: importLimits,
              rest,
              onProgress,
            }),
          )
          if (!report.complete) throw importStoppedError(report)
          return report
        }),
      {
        access: 'management',
        upload: { types: ['text/csv'], bytesMax: 20 * 1024 * 1024 },
        query: ImportQuery,
        response: { 200: ImportReport, ...errorResponses(401, 403, 404, 413, 415, 429) },
        detail: {
          summary: 'Import a product CSV of Shopify or WooCommerce',
          description: `The body is the file (\`text/csv\`, at most 20 MB, ${importLimits.rows} rows and ${importLimits.products} products; larger ones by the command \`souk import\`), in the old or the new dialect. Cells are separated by commas, semicolons or tabs. Rows that share a handle are one product. A product with a bad row is left out and named by its row and handle; the others are stored. Rows are counted as in a spreadsheet: the header is row 1. A blank price is refused, at the row in which its product starts; without a price column new products are drafts. \`notices\` names columns that are not imported, gift cards, which are skipped, and unlisted products, which become drafts. Importing again changes nothing twice. With \`overwrite\`, variants that the file does not name stay, and so do counts and tracking unless \`stock\` is asked for.

Files of WooCommerce's exporter are recognised by their header (\`Type\` and \`Name\`), in English and the languages that are most used there. Variations may stand before or after their product, which they name by SKU or \`id:\`. Handles come from names: of products that give the same one, the second gets \`-1\`, the third \`-2\`, and so on. Descriptions keep their paragraphs. A sale price that is not below the regular one is not imported. Grouped and external products, variations for any value of an attribute or counted with their product, and blank prices are refused by row; \`virtual\` needs no shipping; a variation that is switched off is counted, and there is none; a sale price with dates is left out with a notice, since it would stay for ever; what is hidden from the catalogue is a draft; \`zero-rate\` is not taxable; the last name of the first category becomes the type, and all categories become tags.

One import of a shop at a time: 429 meanwhile. It stops when its client leaves, and after ${importMaxMs / 1_000} seconds with 503: what was stored by then stays. Sending the file again goes on; with \`overwrite\` it begins anew, so send the rest of it.`,
        },
      },
    )

const importLimits = { rows: 100_000, products: 50_000 }
