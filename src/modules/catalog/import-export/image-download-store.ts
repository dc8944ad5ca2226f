import { and, asc, count, eq, gt, like } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import { products } from '../../../../db/schema/catalog.ts'

/** Of the JSON that is kept of images: one of them is on somebody else's server. */
const hasOutside = like(products.images, '%"url":"http%')

/** Products that show pictures of other people's servers. */
export const fetchingStore = {
  async count(read: Pick<Reader, 'select'>, shopId: string): Promise<number> {
    const [row] = await read
      .select({ n: count() })
      .from(products)
      .where(and(eq(products.shopId, shopId), hasOutside))
    return Number(row?.n ?? 0)
  },
  /** The next ones by their id. */
  async page(read: Pick<Reader, 'select'>, shopId: string, after: string, limit: number): Promise<string[]> {
    const rows = await read
      .select({ id: products.id })
      .from(products)
      .where(and(eq(products.shopId, shopId), gt(products.id, after), hasOutside))
      .orderBy(asc(products.id))
      .limit(limit)
    return rows.map(({ id }) => id)
  },
}
