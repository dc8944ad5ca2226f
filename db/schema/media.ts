import { enumText, index, instant, int, money, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import { products } from './catalog.ts'
import { shops } from './shop.ts'

/** Pictures by content, each once per instance. Immutable. */
export const pictures = table('pictures', {
  /** HMAC of the content's SHA-256 in hex. A plain hash would let clients test whether a picture exists. */
  hash: text('hash').primaryKey(),
  type: text('type').notNull(),
  width: int('width').notNull(),
  height: int('height').notNull(),
  frames: int('frames').notNull(),
  /** Bytes of the original, which count towards quotas. */
  bytes: money('bytes').notNull(),
  createdAt: instant('created_at').notNull(),
})

/** Files of a picture: the original with width 0, and its sizes by width. */
export const pictureFiles = table(
  'picture_files',
  {
    hash: reference('hash', () => pictures.hash),
    width: int('width').notNull(),
    height: int('height').notNull(),
    type: text('type').notNull(),
    bytes: money('bytes').notNull(),
    /** SHA-256 of the content in hex. */
    digest: text('digest').notNull(),
    /** Store: the data directory or a bucket. */
    store: enumText('store', ['MEDIA_FILES', 'MEDIA_S3']).notNull(),
    storageName: text('storage_name').notNull(),
  },
  (file) => [primaryKey({ columns: [file.hash, file.width] }), uniqueIndex('picture_files_storage').on(file.storageName)],
)

/** Pictures of a shop. */
export const media = table(
  'media',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    hash: reference('hash', () => pictures.hash),
    createdAt: instant('created_at').notNull(),
  },
  (row) => [
    uniqueIndex('media_picture').on(row.shopId, row.hash),
    index('media_shop').on(row.shopId, row.id),
    index('media_hash').on(row.hash),
  ],
)

/** Total bytes of a shop's pictures, for its quota. */
export const mediaUsage = table('media_usage', {
  shopId: reference('shop_id', () => shops.id).primaryKey(),
  pictures: int('pictures').notNull(),
  bytes: money('bytes').notNull(),
})

/** Pictures that products use, maintained in their writes: a used picture cannot be deleted. */
export const mediaUses = table(
  'media_uses',
  {
    mediaId: reference('media_id', () => media.id),
    productId: reference('product_id', () => products.id, { onDelete: 'cascade' }),
  },
  (use) => [primaryKey({ columns: [use.mediaId, use.productId] }), index('media_uses_product').on(use.productId)],
)

/** URLs from which pictures were imported, so that none is fetched twice. */
export const mediaSources = table(
  'media_sources',
  {
    shopId: reference('shop_id', () => shops.id),
    /** SHA-256 of the URL in hex. */
    address: text('address').notNull(),
    mediaId: reference('media_id', () => media.id, { onDelete: 'cascade' }),
  },
  (source) => [primaryKey({ columns: [source.shopId, source.address] }), index('media_sources_media').on(source.mediaId)],
)
