import { sql } from 'drizzle-orm'
import { bitSet, bool, enumText, index, instant, int, json, money, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import { shops } from './shop.ts'

/** An option of a product, such as Size, with its values in order. */
export type Option = { name: string; values: string[] }
/** A picture of a product. Its size in pixels is null if it is unknown. */
export type Image = { id: string; url: string; alt: string | null; position: number; width: number | null; height: number | null }

/** Filter columns of a document, repeated wherever filtered lists are read, so that a list reads one index. */
const filterColumns = () => ({
  vendor: text('vendor').notNull().default(''),
  type: text('type').notNull().default(''),
  available: bool('available').notNull().default(true),
  /** Lowest and highest price of the variants, in minor units. */
  minPrice: money('min_price').notNull().default(0),
  maxPrice: money('max_price').notNull().default(0),
})
/** One bit per tag, by its hash: without the bit the document lacks the tag. -1: not computed. */
const tagBits = () => bitSet('tag_bits').notNull().default(-1)

export const products = table(
  'products',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    handle: text('handle').notNull(),
    title: text('title').notNull(),
    descriptionHtml: text('description_html').notNull(),
    vendor: text('vendor').notNull(),
    type: text('type').notNull(),
    tags: json<string[]>('tags').notNull(),
    status: enumText('status', ['DRAFT', 'ACTIVE', 'ARCHIVED']).notNull(),
    currency: text('currency').notNull(),
    options: json<Option[]>('options').notNull(),
    images: json<Image[]>('images').notNull(),
    seoTitle: text('seo_title'),
    seoDescription: text('seo_description'),
    publishedAt: instant('published_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Increases with management changes, not with sales and stock. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
    /** Status at creation. */
    createdAs: enumText('created_as', ['DRAFT', 'ACTIVE', 'ARCHIVED']).notNull().default('DRAFT'),
    /** Each unit of a GIFT_CARD that is paid issues a gift card over its price. */
    kind: enumText('kind', ['STANDARD', 'GIFT_CARD']).notNull().default('STANDARD'),
    /** Sort keys, as in the product's document, for the staff's list. The store computes them. */
    titleKey: text('title_key').notNull().default(''),
    priceKey: text('price_key').notNull().default(''),
  },
  (product) => [
    uniqueIndex('products_handle').on(product.shopId, product.handle),
    index('products_shop').on(product.shopId, product.id),
    // Each contains status and id, so that a page of ids reads the index alone.
    index('products_title').on(product.shopId, product.titleKey, product.status, product.id),
    index('products_price').on(product.shopId, product.priceKey, product.status, product.id),
    index('products_created').on(product.createdAt),
  ],
)

export const variants = table(
  'variants',
  {
    id: text('id').primaryKey(),
    productId: reference('product_id', () => products.id, { onDelete: 'cascade' }),
    position: int('position').notNull(),
    sku: text('sku'),
    barcode: text('barcode'),
    title: text('title').notNull(),
    optionValues: json<string[]>('option_values').notNull(),
    price: money('price').notNull(),
    /** False: no price yet, and `price` is 0. A product with such a variant cannot be ACTIVE. */
    hasPrice: bool('has_price').notNull().default(true),
    compareAtPrice: money('compare_at_price'),
    cost: money('cost'),
    weightGrams: int('weight_grams').notNull(),
    /** Whether the variant is shipped. A cart without shipped goods needs no address and no method. */
    requiresShipping: bool('requires_shipping').notNull().default(true),
    taxable: bool('taxable').notNull(),
    /** Null: standard tax rates. */
    taxClass: text('tax_class'),
    trackInventory: bool('track_inventory').notNull(),
    allowBackorder: bool('allow_backorder').notNull(),
    onHand: int('on_hand').notNull(),
    /** Units of `onHand` that unpaid orders hold. */
    reserved: int('reserved').notNull().default(0),
    imageId: text('image_id'),
    /** Low stock threshold: `onHand` at or below it is low. */
    lowStockAt: int('low_stock_at'),
  },
  (variant) => [
    index('variants_product').on(variant.productId, variant.position),
    // Variants with low stock, as `isLow` in the catalog's stock-levels.
    index('variants_low').on(variant.productId).where(sql`low_stock_at is not null and on_hand <= low_stock_at and track_inventory`),
  ],
)

/** Manual and imported stock changes. Append-only; rows outlive their variant. */
export const stockHistory = table(
  'stock_history',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    variantId: text('variant_id').notNull(),
    delta: int('delta').notNull(),
    /** Stock after the change. */
    onHand: int('on_hand').notNull(),
    reason: text('reason'),
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (row) => [index('stock_history_variant').on(row.variantId, row.id)],
)

/**
 * The public JSON of a product, stored in the product's write, so that a read is one row. Products that are not visible
 * now or later (draft, archived, unpublished) have none.
 */
export const productDocuments = table(
  'product_documents',
  {
    productId: reference('product_id', () => products.id, { onDelete: 'cascade' }).primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    document: text('document').notNull(),
    etag: text('etag').notNull(),
    /** `publishedAt`: invisible before. */
    visibleFrom: instant('visible_from').notNull(),
    /** One sort key per order, made unique by the product's id; see catalog/domain.ts. */
    newestKey: text('newest_key').notNull(),
    titleKey: text('title_key').notNull(),
    priceKey: text('price_key').notNull(),
    ...filterColumns(),
    /** Decimal digits of the difference of the two prices; 0 if they are equal. */
    spread: int('spread').notNull().default(0),
    tagBits: tagBits(),
  },
  (document) => {
    const { shopId, newestKey, titleKey, priceKey, visibleFrom, vendor, type, available, minPrice, maxPrice, tagBits } = document
    // Each index contains every filter column, so that a filtered page does not read the table.
    return [
      index('product_documents_newest').on(shopId, newestKey, visibleFrom, vendor, type, available, minPrice, maxPrice, tagBits),
      index('product_documents_title').on(shopId, titleKey, visibleFrom, vendor, type, available, minPrice, maxPrice, tagBits),
      index('product_documents_price').on(
        ...[shopId, priceKey, visibleFrom, vendor, type, available, minPrice, maxPrice, tagBits, titleKey],
      ),
      index('product_documents_vendor').on(shopId, vendor, newestKey, visibleFrom, type, available, minPrice, maxPrice, tagBits),
      index('product_documents_type').on(shopId, type, newestKey, visibleFrom, vendor, available, minPrice, maxPrice, tagBits),
      index('product_documents_vendor_title').on(shopId, vendor, titleKey, visibleFrom, type, available, minPrice, maxPrice, tagBits),
      index('product_documents_vendor_price').on(shopId, vendor, priceKey, visibleFrom, type, available, minPrice, maxPrice, tagBits),
      index('product_documents_type_title').on(shopId, type, titleKey, visibleFrom, vendor, available, minPrice, maxPrice, tagBits),
      index('product_documents_type_price').on(shopId, type, priceKey, visibleFrom, vendor, available, minPrice, maxPrice, tagBits),
      index('product_documents_available').on(
        ...[shopId, available, newestKey, visibleFrom, vendor, type, minPrice, maxPrice, tagBits, titleKey],
      ),
      // Products with several prices. Within one spread, those whose prices enclose an amount are adjacent, by either
      // price.
      index('product_documents_spread')
        .on(shopId, document.spread, maxPrice, minPrice, newestKey, visibleFrom, vendor, type, available, tagBits, titleKey)
        .where(sql`spread > 0`),
      index('product_documents_spread_price')
        .on(...[shopId, document.spread, sql`price_key desc`, maxPrice, minPrice, visibleFrom, vendor, type, available, tagBits, titleKey])
        .where(sql`spread > 0`),
      // For pairs of values that few products share. They contain no other columns.
      index('product_documents_vendor_stock').on(shopId, vendor, available, type, document.productId),
      index('product_documents_type_stock').on(shopId, type, available, document.productId),
      // For products found through another table.
      index('product_documents_facts').on(
        ...[document.productId, visibleFrom, vendor, type, available, minPrice, maxPrice, tagBits, titleKey],
      ),
    ]
  },
)

/** The short form of a document for lists. See modules/catalog/products/summary.ts. */
export const productSummaries = table('product_summaries', {
  productId: reference('product_id', () => products.id, { onDelete: 'cascade' }).primaryKey(),
  summary: text('summary').notNull(),
})

/** Number of documents of a shop from this key to the next anchor, by sort order. Deep pages start at an anchor. */
export const listingAnchors = table(
  'listing_anchors',
  {
    shopId: reference('shop_id', () => shops.id),
    sort: enumText('sort', ['newest', 'title', 'price']).notNull(),
    key: text('key').notNull(),
    documents: int('documents').notNull(),
  },
  (anchor) => [primaryKey({ columns: [anchor.shopId, anchor.sort, anchor.key] })],
)

/**
 * Documents added (+1) or removed (-1) since the anchors were counted. Append-only, so that writes do not contend; a
 * job folds the changes into the anchors.
 */
export const listingChanges = table(
  'listing_changes',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    newestKey: text('newest_key').notNull(),
    titleKey: text('title_key').notNull(),
    priceKey: text('price_key').notNull(),
    documents: int('documents').notNull(),
  },
  (change) => [index('listing_changes_shop').on(change.shopId, change.id)],
)

/** Tags of documents with the document's sort keys and filter columns: a list by tag reads one index in list order. */
export const productTags = table(
  'product_tags',
  {
    productId: reference('product_id', () => products.id, { onDelete: 'cascade' }),
    /** Lower case. */
    tag: text('tag').notNull(),
    shopId: reference('shop_id', () => shops.id),
    newestKey: text('newest_key').notNull(),
    titleKey: text('title_key').notNull().default(''),
    priceKey: text('price_key').notNull().default(''),
    visibleFrom: instant('visible_from').notNull().default(0),
    ...filterColumns(),
  },
  ({ productId, tag, shopId, newestKey, titleKey, priceKey, visibleFrom, vendor, type, available, minPrice, maxPrice }) => [
    primaryKey({ columns: [productId, tag] }),
    index('product_tags_newest').on(shopId, tag, newestKey, visibleFrom, vendor, type, available, minPrice, maxPrice),
    index('product_tags_title').on(shopId, tag, titleKey, visibleFrom, vendor, type, available, minPrice, maxPrice),
    index('product_tags_price').on(shopId, tag, priceKey, visibleFrom, vendor, type, available, minPrice, maxPrice),
    index('product_tags_vendor').on(shopId, tag, available, vendor),
    index('product_tags_type').on(shopId, tag, available, type),
  ],
)

/**
 * Prices of documents between the lowest and the highest. They decide whether a product matches a range between the
 * two. Most products have none.
 */
export const productInnerPrices = table(
  'product_inner_prices',
  {
    productId: reference('product_id', () => products.id, { onDelete: 'cascade' }),
    price: money('price').notNull(),
    shopId: reference('shop_id', () => shops.id),
  },
  ({ productId, price, shopId }) => [
    primaryKey({ columns: [productId, price] }),
    index('product_inner_prices_price').on(shopId, price, productId),
  ],
)

export const collections = table(
  'collections',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    handle: text('handle').notNull(),
    title: text('title').notNull(),
    descriptionHtml: text('description_html').notNull(),
    image: json<{ url: string; alt: string | null } | null>('image'),
    publishedAt: instant('published_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Increases with management changes, not with sales and stock. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
  },
  (collection) => [
    uniqueIndex('collections_handle').on(collection.shopId, collection.handle),
    index('collections_shop').on(collection.shopId, collection.id),
    index('collections_published').on(collection.shopId, collection.publishedAt, collection.id),
  ],
)

/** Products of a collection in its order, with the columns by which lists are filtered. */
export const collectionProducts = table(
  'collection_products',
  {
    collectionId: reference('collection_id', () => collections.id, { onDelete: 'cascade' }),
    position: int('position').notNull(),
    productId: reference('product_id', () => products.id, { onDelete: 'cascade' }),
    /** `visibleFrom` of the product's document; null without one. The other columns are then meaningless. */
    visibleFrom: instant('visible_from'),
    ...filterColumns(),
    tagBits: tagBits(),
    titleKey: text('title_key').notNull().default(''),
  },
  ({ collectionId, position, productId, visibleFrom, vendor, type, available, minPrice, maxPrice, tagBits, titleKey }) => [
    primaryKey({ columns: [collectionId, productId] }),
    index('collection_products_order').on(
      ...[collectionId, position, visibleFrom, productId, vendor, type, available, minPrice, maxPrice, tagBits, titleKey],
    ),
    index('collection_products_product').on(productId),
  ],
)

export const blogs = table(
  'blogs',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    slug: text('slug').notNull(),
    title: text('title').notNull(),
    excerpt: text('excerpt'),
    bodyHtml: text('body_html').notNull(),
    coverImage: text('cover_image'),
    author: text('author'),
    tags: json<string[]>('tags').notNull(),
    status: enumText('status', ['DRAFT', 'PUBLISHED']).notNull(),
    publishedAt: instant('published_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Increases with management changes, not with sales and stock. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
    /** Search terms as ` word word `. A shop has at most thousands of blogs, so a scan suffices. */
    words: text('words').notNull(),
  },
  (blog) => [
    uniqueIndex('blogs_slug').on(blog.slug),
    index('blogs_shop').on(blog.shopId, blog.createdAt, blog.id),
    index('blogs_published').on(blog.shopId, blog.status, blog.publishedAt, blog.id),
  ],
)
