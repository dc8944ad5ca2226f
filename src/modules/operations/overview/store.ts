import { sql } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import { numberOrUndefined } from '../../../lib/objects.ts'
import type { Period, ShopCurrency } from '../kpi/domain.ts'
import { cartsMax } from './domain.ts'

type From = Pick<Reader, 'rows'>

export const overviewStore = {
  /** Counts carts that shoppers started, and those that became orders. `isCapped`: there are more. */
  async carts(
    read: From,
    { shopId, since }: { shopId: string; since: number },
    period: Period,
  ): Promise<{ begun: number; converted: number; isCapped: boolean }> {
    const [row] = await read.rows<{ begun: string | number; converted: string | number | null }>(sql`
      select count(*) as begun, sum(case when status = 'CONVERTED' then 1 else 0 end) as converted
      from (
        select status from carts
        where shop_id = ${shopId} and created_at >= ${Math.max(period.since, since)} and created_at < ${period.until} and draft is null
        limit ${cartsMax + 1}) first_ones`)
    const begun = Number(row?.begun ?? 0)
    return { begun: Math.min(begun, cartsMax), converted: Number(row?.converted ?? 0), isCapped: begun > cartsMax }
  },

  /** Returns when the shop got its first keys of a mode; undefined if those keys were removed. */
  async keysSince(read: From, shopId: string, mode: ShopCurrency['mode']): Promise<number | undefined> {
    const [row] = await read.rows<{ since: string | number | null }>(
      sql`select min(created_at) as since from api_keys where shop_id = ${shopId} and mode = ${mode}`,
    )
    return numberOrUndefined(row?.since)
  },
}
