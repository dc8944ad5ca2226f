import { sql } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import type { Period } from '../kpi/domain.ts'
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
}
