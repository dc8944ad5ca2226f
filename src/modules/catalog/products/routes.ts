import { type Static, t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { publicationInMs } from '../../../core/publication.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { importMaxMs, runImport } from '../../../http/import-request.ts'
import { publicJson } from '../../../http/public-response.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified, pageQuery, RecordId } from '../../../http/schema.ts'
import { assertOriginOf, assertShopOrigin, shopNamed } from '../../../http/shop.ts'
import { pageOf, sliceOf } from '../../../lib/page.ts'
import { type LiveDeps, runReportedImport } from '../../messaging/live-events/index.ts'
import { findPublicShopByName, type ShopDeps } from '../../shop/shop/index.ts'
import { productTable } from '../import-export/csv-export.ts'
import {
  type CatalogDeps,
  changeProduct,
  changeStock,
  createProduct,
  deleteProduct,
  duplicateProduct,
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
  DeletedProduct,
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
        detail: {
          operationId: 'getPublicProduct',
          summary: 'Returns a published product',
          description: 'A product is public when its status is ACTIVE and its publication date has passed.',
        },
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
        detail: {
          operationId: 'getPublicProductByHandle',
          summary: 'Returns a published product by its handle',
          description: 'Returns the same record as `GET /product-v2/public/{id}`.',
        },
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
          operationId: 'listPublicProducts',
          summary: 'Lists published products',
          description: `Returns product summaries: the record without \`descriptionHtml\` and \`seo\`, with at most ${summaryTagsMax} tags, the first ${summaryVariantsMax} variants and \`variantsCount\`, and the first ${summaryImagesMax} images and \`imagesCount\`. A response has at most 1 MB (1,048,576 bytes). On a larger page, the largest products have fewer variants, tags, option values and images.

Products must match all filters. With \`q\` or a filter, \`total\` is exact up to 1,000; above that it is 1,000 with \`totalCapped: true\`, and later pages are empty. Without them, \`total\` is exact. With \`q\`, products are ordered newest first, and \`sort\` is ignored.

If several filters each match more than 100,000 products, the list considers the first 20,000 products in its order, and the response says \`totalCapped: true\`. With \`q\` and filters, it considers the newest 5,000 products that match \`q\`, or the newest 40,000 if at most 1,000 products match the filters.`,
        },
      },
    )

export const catalogRoutes = (deps: HttpDeps & LiveDeps & CatalogDeps) =>
  routes(deps, 'Catalog')
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
          operationId: 'createProduct',
          summary: 'Creates a product',
          description:
            'If you leave out `handle`, it is created from the title. If you leave out `variants`, the product gets one without a price. A variant cannot be bought until it has a price; 0 is a valid price.',
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
        operationId: 'listProducts',
        summary: 'Lists products',
        description: `Returns products of every status, newest first unless \`sort\` says otherwise, with cost and stock. Products must match all filters. With a filter, \`total\` is exact up to 1,000; above that it is 1,000 with \`totalCapped: true\`, and later pages are empty. Without a filter, \`total\` is exact.

After an upgrade from a version without this search, a background job indexes existing products. Until it is done, \`q\`, \`tag\` and \`sku\` find only indexed products, and \`status\`, \`vendor\` and \`type\` miss products if more than 10,000 are not indexed yet. The response then says \`totalCapped: true\`.`,
      },
    })
    .get('/product-v2/low-stock', ({ query, shop }) => listLowStock(deps, shop, sliceOf(query)), {
      access: 'catalogRead',
      csv: csvOf('low-stock', LowStock, ({ shop }, slice) => listLowStock(deps, shop, slice), { keyOf: ({ variantId }) => variantId }),
      query: t.Object(pageQuery),
      response: { 200: LowStock, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listLowStock',
        summary: 'Lists variants with low stock',
        description:
          'Returns variants whose stock is tracked and at or below `lowStockAt`, lowest stock first. Archived products are left out. Units that are reserved for incomplete orders count as on hand. The webhook event `stock.low` reports each variant when it reaches this level.',
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
          operationId: 'listStockChanges',
          summary: 'Lists stock changes of a variant',
          description: 'Returns changes that people and imports made, newest first. Sales are not included: see the orders.',
        },
      },
    )
    .get('/product-v2/:id', ({ params, shop }) => readProduct(deps, shop, params.id), {
      access: 'catalogRead',
      versioned: true,
      params: RecordId,
      response: { 200: ManagedProduct, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getProduct', summary: 'Returns a product' },
    })
    .patch(
      '/product-v2/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeProduct(deps, { shop, actor, expected, write }, params.id, publicationInMs(body)), {
          assertVisible: () => readProduct(deps, shop, params.id),
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
          operationId: 'updateProduct',
          summary: 'Updates a product',
          description:
            'Fields that you leave out keep their values. Variants that you leave out remain. If you send all variants, your order applies; otherwise new ones are added at the end. Every other list is replaced. To change the stock of an existing variant, use `POST /product-v2/{id}/variants/{variantId}/stock`. `allowBackorder: false` is accepted with any stock; while less is on hand than is reserved, the variant cannot be bought.',
        },
      },
    )
    .delete('/product-v2/:id', ({ params, shop, actor, expected }) => deleteProduct(deps, { shop, actor, expected }, params.id), {
      access: 'management',
      versioned: true,
      params: RecordId,
      response: { 200: DeletedProduct, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'deleteProduct',
        summary: 'Deletes or archives a product',
        description:
          'A product that was never ordered is deleted with its variants, and leaves its collections; the response is its last state with `deleted: true`. A product that any order contains, whatever became of the order, is archived, and the response says `deleted: false`. Pictures and the stock history remain. Discounts keep the id in their lists. To archive a product that was never ordered, set `status` with `PATCH /product-v2/{id}`.',
      },
    })
    .post(
      '/product-v2/:id/duplicate',
      ({ params, shop, actor, expected, once }) =>
        once(201, (write) => duplicateProduct(deps, { shop, actor, expected, write }, params.id), {
          assertVisible: () => readProduct(deps, shop, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        response: { 201: ManagedProduct, ...errorResponses(401, 403, 404, 409, 422) },
        detail: {
          operationId: 'duplicateProduct',
          summary: 'Duplicates a product',
          description:
            'Creates a draft with the texts, options, images, tags and variants of the product, at the end of the same collections, except full ones. The title ends in ` (copy)`. The handle ends in `-copy`, with a number if that is taken. SKUs and barcodes are empty and the stock is 0, because they belong to the goods of the original.',
        },
      },
    )
    .post(
      '/product-v2/:id/variants/:variantId/stock',
      ({ params, body, shop, actor, expected, once }) =>
        once(
          200,
          (write) => changeStock(deps, { shop, actor, expected, write }, { productId: params.id, variantId: params.variantId }, body),
          { assertVisible: () => readProduct(deps, shop, params.id) },
        ),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: VariantParams,
        body: ChangeStock,
        response: { 200: ManagedVariant, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'adjustStock',
          summary: 'Adjusts the stock of a variant',
          description:
            "Send either `delta` or `counted`. The response is 409 if the change would leave fewer units than are reserved, or a negative number, unless the variant allows backorders. Adding units always succeeds. The stock history records who made the change, by how much and why. The product's version does not change.",
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
          operationId: 'deleteVariant',
          summary: 'Deletes a variant',
          description:
            "Returns the product. The response is 409 if units are reserved for open orders, or if it is the product's last variant.",
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
          operationId: 'importProducts',
          summary: 'Imports products from a CSV file',
          description: `The request body is a CSV file from Shopify (current or earlier format) or WooCommerce, at most 20 MB, ${importLimits.rows} rows and ${importLimits.products} products. Import larger files with \`souk import\`. Cells are separated by commas, semicolons or tabs. Rows with the same handle are one product. A product with an invalid row is skipped and listed in \`errors\` with its row and handle; the others are stored. Rows are counted as in a spreadsheet: the header is row 1. A blank price is an error, reported at the product's first row. If there is no price column, new products are drafts. \`notices\` lists columns that are not imported, gift cards, which are skipped, and unlisted products, which become drafts. Importing a file twice changes nothing the second time. With \`overwrite\`, variants that are not in the file remain, and existing variants keep their stock and tracking unless you set \`stock\`.

WooCommerce files are recognized by their header (\`Type\` and \`Name\`), in English and the languages most used there. Variations may precede or follow their product, which they name by SKU or \`id:\`. Handles are created from names, with \`-1\`, \`-2\` and so on for equal ones. Descriptions keep their paragraphs. A sale price is imported only if it is below the regular price and has no dates. Grouped and external products, variations for any attribute value, variations without their own stock and blank prices are errors. Virtual products need no shipping. A disabled variation has a stock of 0. Hidden products are drafts. \`zero-rate\` products are not taxable. The last name of the first category becomes the type, and all categories become tags.

A shop can run one import at a time; otherwise the response is 429. An import stops when the client disconnects, or after ${importMaxMs / 1_000} seconds with 503. Products stored by then remain. Send the file again to continue; with \`overwrite\`, send only the remaining rows.`,
        },
      },
    )

const importLimits = { rows: 100_000, products: 50_000 }
