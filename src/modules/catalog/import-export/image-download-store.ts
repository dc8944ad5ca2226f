import { and, asc, eq, gt, like } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import { countRows } from '../../../../db/page-query.ts'
import { products } from '../../../../db/schema/catalog.ts'

/** Matches the stored JSON of images that are on other servers. */
const hasExternalImage = like(products.images, '%"url":"http%')

/** Products with images on other servers. */
export const externalImageStore = {
  count: (read: Pick<Reader, 'select'>, shopId: string): Promise<number> =>
    countRows(read, products, and(eq(products.shopId, shopId), hasExternalImage)),
  /** Returns the next product ids after `after`. */
  async page(read: Pick<Reader, 'select'>, shopId: string, after: string, limit: number): Promise<string[]> {
    const rows = await read
      .select({ id: products.id })
      .from(products)
      .where(and(eq(products.shopId, shopId), gt(products.id, after), hasExternalImage))
      .orderBy(asc(products.id))
      .limit(limit)
    return rows.map(({ id }) => id)
  },
}
