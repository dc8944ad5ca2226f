import { desc, eq, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/engine.ts'
import { stockHistory } from '../../../db/schema/catalog.ts'
import { selectSlice } from '../../../db/slice.ts'
import type { Slice } from '../../lib/page.ts'
import type { LowStock } from './domain.ts'

/** Spelt out, as the index of those has it; from there, since they are few. */
const lowOf = (shopId: string) => sql`from variants v cross join products p
  where v.low_stock_at is not null and v.on_hand <= v.low_stock_at and v.track_inventory
    and p.id = v.product_id and p.shop_id = ${shopId} and p.status <> 'ARCHIVED'`

export const lowStockStore = {
  /** The fewest first; of the whole list, by variant: how many there are changes while it is read. */
  async list(read: Pick<Reader, 'rows'>, shopId: string, { limit, offset, after }: Slice): Promise<{ rows: LowStock[]; total: number }> {
    const isWhole = after !== undefined
    const [totals] = isWhole ? [] : await read.rows<{ n: number | string }>(sql`select count(*) as n ${lowOf(shopId)}`)
    const beyond = typeof after === 'string' ? sql`and v.id < ${after}` : sql``
    const rows = await read.rows<LowStock>(sql`
      select p.id as "productId", v.id as "variantId", p.title as title, v.title as "variantTitle", v.sku as sku,
        v.on_hand as "onHand", v.reserved as reserved, v.low_stock_at as "lowStockAt"
      ${lowOf(shopId)} ${beyond} order by ${isWhole ? sql`v.id desc` : sql`v.on_hand, v.id`} limit ${limit} offset ${offset}`)
    return { rows, total: Number(totals?.n ?? 0) }
  },
  /** Newest first. */
  history: (from: Pick<Reader, 'select'>, variantId: string, slice: Slice) =>
    selectSlice(from, stockHistory, { where: eq(stockHistory.variantId, variantId), order: [desc(stockHistory.id)], ...slice }),
}
