import { and, asc, desc, eq, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { countRows } from '../../../../db/page-query.ts'
import { insertOf, rowsOf } from '../../../../db/prepared.ts'
import { media, mediaSources, mediaUsage, mediaUses, pictureFiles, pictures } from '../../../../db/schema/media.ts'
import { pick } from '../../../lib/objects.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { Media, Picture, PictureFile, ShopPicture } from './domain.ts'

const filesOfPicture = rowsOf(pictureFiles, ['hash'], asc(pictureFiles.width))
const byStorageName = rowsOf(pictureFiles, ['storageName'])
const byId = rowsOf(media, ['id', 'shopId'])

const shopPictureColumns = {
  ...pick(media, 'id', 'shopId', 'hash', 'createdAt'),
  ...pick(pictures, 'type', 'width', 'height', 'frames', 'bytes'),
}

/** The limits of a shop. */
type Quota = { readonly bytes: number; readonly pictures: number }

export const createMediaStore = ({ read }: Pick<Database, 'read'>) => ({
  files: (hash: string): Promise<PictureFile[]> => Promise.resolve(read.all(filesOfPicture, { hash })),
  fileNamed: async (storageName: string): Promise<PictureFile | undefined> => read.first(byStorageName, { storageName }),
  async ownByHashes(shopId: string, hashes: readonly string[], from: Pick<Reader, 'select'> = read): Promise<ShopPicture[]> {
    return from
      .select(shopPictureColumns)
      .from(media)
      .innerJoin(pictures, eq(pictures.hash, media.hash))
      .where(and(eq(media.shopId, shopId), inArray(media.hash, [...hashes])))
  },
  async list(shopId: string, { offset, limit, after }: PageSlice): Promise<{ rows: ShopPicture[]; total: number }> {
    const where = and(eq(media.shopId, shopId), typeof after === 'string' ? lt(media.id, after) : undefined)
    const total = after === undefined ? await countRows(read, media, where) : 0
    const rows = await read
      .select(shopPictureColumns)
      .from(media)
      .innerJoin(pictures, eq(pictures.hash, media.hash))
      .where(where)
      .orderBy(desc(media.id))
      .limit(limit)
      .offset(offset)
    return { rows, total }
  },
  find: async (tx: Writer, shopId: string, id: string): Promise<Media | undefined> => tx.first(byId, { id, shopId }),
  /** Returns how much a shop stores. */
  async usage(shopId: string): Promise<{ pictures: number; bytes: number }> {
    const [row] = await read.select().from(mediaUsage).where(eq(mediaUsage.shopId, shopId)).limit(1)
    return { pictures: row?.pictures ?? 0, bytes: row?.bytes ?? 0 }
  },
  /**
   * Inserts a picture and locks its row for the write, so that a removal at the same time is repeated.
   * @returns whether `files` are used; false if the picture had files
   */
  async putPicture(tx: Writer, picture: Picture, files: readonly PictureFile[]): Promise<boolean> {
    await tx
      .insert(pictures)
      .values(picture)
      .onConflictDoUpdate({ target: pictures.hash, set: { type: sql`excluded.type` } })
    const existing = await tx
      .select({ name: pictureFiles.storageName })
      .from(pictureFiles)
      .where(eq(pictureFiles.hash, picture.hash))
      .limit(1)
    if (existing.length > 0) return false
    await tx.insert(pictureFiles).values([...files])
    return true
  },
  putMedia: insertOf(media),
  /** Adds one picture to the usage. Returns false beyond the quota. */
  async addUsage(tx: Writer, shopId: string, bytes: number, quota: Quota): Promise<boolean> {
    await tx.insert(mediaUsage).values({ shopId, pictures: 0, bytes: 0 }).onConflictDoNothing()
    const rows = await tx
      .update(mediaUsage)
      .set({ pictures: sql`${mediaUsage.pictures} + 1`, bytes: sql`${mediaUsage.bytes} + ${bytes}` })
      .where(and(eq(mediaUsage.shopId, shopId), lte(mediaUsage.bytes, quota.bytes - bytes), lte(mediaUsage.pictures, quota.pictures - 1)))
      .returning({ shopId: mediaUsage.shopId })
    return rows.length === 1
  },
  /** Returns a product that shows the picture. */
  async shownBy(tx: Writer, mediaId: string): Promise<string | undefined> {
    const [row] = await tx.select({ id: mediaUses.productId }).from(mediaUses).where(eq(mediaUses.mediaId, mediaId)).limit(1)
    return row?.id
  },
  /** Removes it from a shop. @returns the files to delete if no other shop has the picture */
  async remove(tx: Writer, { id, shopId, hash }: Media): Promise<PictureFile[]> {
    const [picture] = await tx.select({ bytes: pictures.bytes }).from(pictures).where(eq(pictures.hash, hash)).limit(1)
    await tx.delete(media).where(eq(media.id, id))
    await tx
      .update(mediaUsage)
      .set({ pictures: sql`${mediaUsage.pictures} - 1`, bytes: sql`${mediaUsage.bytes} - ${picture?.bytes ?? 0}` })
      .where(eq(mediaUsage.shopId, shopId))
    const others = await tx.select({ id: media.id }).from(media).where(eq(media.hash, hash)).limit(1)
    if (others.length > 0) return []
    const files = await tx.delete(pictureFiles).where(eq(pictureFiles.hash, hash)).returning()
    await tx.delete(pictures).where(eq(pictures.hash, hash))
    return files
  },
  async setUses(tx: Writer, productId: string, mediaIds: readonly string[]): Promise<void> {
    await tx.delete(mediaUses).where(eq(mediaUses.productId, productId))
    if (mediaIds.length > 0) await tx.insert(mediaUses).values(mediaIds.map((mediaId) => ({ mediaId, productId })))
  },
  async recordSource(tx: Writer, row: typeof mediaSources.$inferSelect): Promise<void> {
    const target = [mediaSources.shopId, mediaSources.address]
    await tx
      .insert(mediaSources)
      .values(row)
      .onConflictDoUpdate({ target, set: { mediaId: row.mediaId } })
  },
  async fetchedFrom(shopId: string, address: string): Promise<string | undefined> {
    const [row] = await read
      .select({ hash: media.hash })
      .from(mediaSources)
      .innerJoin(media, eq(media.id, mediaSources.mediaId))
      .where(and(eq(mediaSources.shopId, shopId), eq(mediaSources.address, address)))
      .limit(1)
    return row?.hash
  },
  countFiles: (): Promise<number> => countRows(read, pictureFiles),
  /** Returns the next files by storage name. */
  async filePage(after: string, limit: number): Promise<PictureFile[]> {
    return read.select().from(pictureFiles).where(gt(pictureFiles.storageName, after)).orderBy(asc(pictureFiles.storageName)).limit(limit)
  },
  /** Finds shops whose usage differs from their pictures, pictures without an owner, and products with wrong uses. */
  async differences(): Promise<{ shops: { shop: string; counted: string; stored: string }[]; unowned: string[]; uses: string[] }> {
    const shops = await read.rows<{ shop: string; counted: string; stored: string }>(sql`
      with stored as (select m.shop_id as shop, count(*) as n, sum(p.bytes) as b from media m join pictures p on p.hash = m.hash group by m.shop_id),
        named as (select shop from stored union select shop_id from media_usage)
      select named.shop as shop,
        cast(coalesce(u.pictures, 0) as text) || ' of ' || cast(coalesce(u.bytes, 0) as text) || ' bytes' as counted,
        cast(coalesce(t.n, 0) as text) || ' of ' || cast(coalesce(t.b, 0) as text) || ' bytes' as stored
      from named left join stored t on t.shop = named.shop left join media_usage u on u.shop_id = named.shop
      where coalesce(u.pictures, 0) <> coalesce(t.n, 0) or coalesce(u.bytes, 0) <> coalesce(t.b, 0) order by named.shop limit 20`)
    const unowned = await read.rows<{ hash: string }>(
      sql`select p.hash as hash from pictures p where not exists (select 1 from media m where m.hash = p.hash)
        or not exists (select 1 from picture_files f where f.hash = p.hash and f.width = 0) order by p.hash limit 20`,
    )
    const uses = await read.rows<{ product: string }>(
      sql`select u.product_id as product from media_uses u join media m on m.id = u.media_id join products p on p.id = u.product_id
        where m.shop_id <> p.shop_id or p.images not like '%"/media/' || m.hash || '"%'
        union select p.id from products p where p.images like '%"url":"/media/%' and not exists (select 1 from media_uses u where u.product_id = p.id)
        order by 1 limit 20`,
    )
    return { shops, unowned: unowned.map(({ hash }) => hash), uses: uses.map(({ product }) => product) }
  },
})
