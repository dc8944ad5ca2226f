import { index, instant, int, money, primaryKey, table, text, uniqueIndex, word } from '../columns.ts'
import { products } from './catalog.ts'
import { shops } from './shop.ts'

const shopId = () =>
  text('shop_id')
    .notNull()
    .references(() => shops.id)

/** Pictures by their content, each once in the instance, whoever has it. Nothing of it ever changes. */
export const pictures = table('pictures', {
  /** HMAC of the SHA-256 of its bytes under a key of the instance, in hex: who has not handed it in cannot ask whether somebody else has. */
  hash: text('hash').primaryKey(),
  type: text('type').notNull(),
  width: int('width').notNull(),
  height: int('height').notNull(),
  frames: int('frames').notNull(),
  /** Of the picture itself, without its sizes: what counts of a quota. */
  bytes: money('bytes').notNull(),
  createdAt: instant('created_at').notNull(),
})

/** The files of a picture: itself, of width 0, and its sizes by their widths. */
export const pictureFiles = table(
  'picture_files',
  {
    hash: text('hash')
      .notNull()
      .references(() => pictures.hash),
    width: int('width').notNull(),
    height: int('height').notNull(),
    type: text('type').notNull(),
    bytes: money('bytes').notNull(),
    /** SHA-256 of its bytes in hex. */
    digest: text('digest').notNull(),
    /** Where it lies: the data directory, or an S3-compatible store. */
    store: word('store', ['MEDIA_FILES', 'MEDIA_S3']).notNull(),
    storageName: text('storage_name').notNull(),
  },
  (file) => [primaryKey({ columns: [file.hash, file.width] }), uniqueIndex('picture_files_storage').on(file.storageName)],
)

/** What a shop has handed in, one row a picture. */
export const media = table(
  'media',
  {
    id: text('id').primaryKey(),
    shopId: shopId(),
    hash: text('hash')
      .notNull()
      .references(() => pictures.hash),
    createdAt: instant('created_at').notNull(),
  },
  (row) => [
    uniqueIndex('media_picture').on(row.shopId, row.hash),
    index('media_shop').on(row.shopId, row.id),
    index('media_hash').on(row.hash),
  ],
)

/** What the pictures of a shop add up to: what its quota is held against. */
export const mediaUsage = table('media_usage', {
  shopId: text('shop_id')
    .primaryKey()
    .references(() => shops.id),
  pictures: int('pictures').notNull(),
  bytes: money('bytes').notNull(),
})

/** Which pictures a product shows, kept in its own write: one that is shown cannot go. */
export const mediaUses = table(
  'media_uses',
  {
    mediaId: text('media_id')
      .notNull()
      .references(() => media.id),
    productId: text('product_id')
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
  },
  (use) => [primaryKey({ columns: [use.mediaId, use.productId] }), index('media_uses_product').on(use.productId)],
)

/** Where pictures of a shop were fetched from: what was fetched once is not fetched again. */
export const mediaSources = table(
  'media_sources',
  {
    shopId: shopId(),
    /** SHA-256 of the address, in hex. */
    address: text('address').notNull(),
    mediaId: text('media_id')
      .notNull()
      .references(() => media.id, { onDelete: 'cascade' }),
  },
  (source) => [primaryKey({ columns: [source.shopId, source.address] }), index('media_sources_media').on(source.mediaId)],
)
