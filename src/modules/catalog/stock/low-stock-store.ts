import { desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { stockHistory } from '../../../../db/schema/catalog.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { LowStock } from '../products/domain.ts'

/** In a shop with more products, the query starts from the instance's low-stock index instead. */
const productsMax = 10_000

/**
 * Builds the FROM clause in the form that the partial index of low stock matches. The query starts either from the
 * shop's products or from the index. CROSS JOIN fixes the join order on SQLite.
 */
const lowStockFrom = (
  shopId: string,
  byProduct: boolean,
) => sql`from ${byProduct ? sql`products p cross join variants v` : sql`variants v cross join products p`}
  where v.low_stock_at is not null and v.on_hand <= v.low_stock_at and v.track_inventory
    and p.id = v.product_id and p.shop_id = ${shopId} and p.status <> 'ARCHIVED'`

async function lowStockClause(read: Pick<Reader, 'rows'>, shopId: string): Promise<SQL> {
  const [size] = await read.rows<{ n: number | string }>(
    sql`select count(*) as n from (select 1 from products where shop_id = ${shopId} limit ${productsMax + 1}) as first_ones`,
  )
  return lowStockFrom(shopId, Number(size?.n ?? 0) <= productsMax)
}

export const lowStockStore = {
  /** Counts them up to `most`. */
  async count(read: Pick<Reader, 'rows'>, shopId: string, most: number): Promise<number> {
    const low = await lowStockClause(read, shopId)
    const [row] = await read.rows<{ n: number | string }>(sql`select count(*) as n from (select 1 ${low} limit ${most}) as first_ones`)
    return Number(row?.n ?? 0)
  },
  /** Lowest stock first. An export goes by variant id, because stock changes while it is read. */
  async list(
    read: Pick<Reader, 'rows'>,
    shopId: string,
    { limit, offset, after }: PageSlice,
  ): Promise<{ rows: LowStock[]; total: number }> {
    const isWhole = after !== undefined
    const low = await lowStockClause(read, shopId)
    const [totals] = isWhole ? [] : await read.rows<{ n: number | string }>(sql`select count(*) as n ${low}`)
    const beyond = typeof after === 'string' ? sql`and v.id < ${after}` : sql``
    const rows = await read.rows<LowStock>(sql`
      select p.id as "productId", v.id as "variantId", p.title as title, v.title as "variantTitle", v.sku as sku,
        v.on_hand as "onHand", v.reserved as reserved, v.low_stock_at as "lowStockAt"
      ${low} ${beyond} order by ${isWhole ? sql`v.id desc` : sql`v.on_hand, v.id`} limit ${limit} offset ${offset}`)
    return { rows, total: Number(totals?.n ?? 0) }
  },
  /** Newest first. */
  history: (from: Pick<Reader, 'select'>, variantId: string, slice: PageSlice) =>
    selectSlice(from, stockHistory, { where: eq(stockHistory.variantId, variantId), order: [desc(stockHistory.id)], ...slice }),
}
