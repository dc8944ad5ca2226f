import { sql } from 'drizzle-orm'
import type { Reader } from '../../../../../db/engine.ts'

/** Unfinished rows of one status: their count, the age of the oldest, and when the first is due (milliseconds). */
export type UnfinishedCount = { readonly status: string; readonly count: number; readonly oldestAt: number; readonly dueAt: number }

/** Unfinished orders and refunds. */
export type UnfinishedFigures = {
  readonly sagas: readonly UnfinishedCount[]
  readonly refunds: readonly UnfinishedCount[]
  /** Webhooks of processors that are not processed yet. */
  readonly messages: number
}

/** Index entries to count before the thread is yielded: about a millisecond. */
const pieceRows = 2_000
/** Unfinished rows to read at most, those due first. */
const unfinishedMax = 10_000

type OrderCursor = { shopId: string; status: string; last: number }

/**
 * Counts all orders by status along a covering index, in pieces. An order that moves meanwhile may be counted twice or
 * not at all.
 */
export async function ordersByStatus(read: Reader): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  let after: OrderCursor = { shopId: '', status: '', last: 0 }
  for (let rowsRead = pieceRows; rowsRead === pieceRows; ) {
    const rows = await read.rows<OrderCursor & { n: number | string }>(
      sql`select shop_id as "shopId", status, count(*) as n, max(number) as last from (
            select shop_id, status, number from orders where (shop_id, status, number) > (${after.shopId}, ${after.status}, ${after.last})
            order by shop_id, status, number limit ${pieceRows}
          ) piece group by shop_id, status order by shop_id, status`,
    )
    rowsRead = 0
    for (const { status, n } of rows) {
      counts.set(status, (counts.get(status) ?? 0) + Number(n))
      rowsRead += Number(n)
    }
    after = rows.at(-1) ?? after
    await new Promise((resume) => setImmediate(resume))
  }
  return counts
}

/** Reads along the index of rows that are due. */
async function unfinishedIn(read: Reader, table: 'orders' | 'refunds'): Promise<UnfinishedCount[]> {
  const rows = await read.rows<Record<keyof UnfinishedCount, string>>(
    sql`select status, count(*) as count, min(created_at) as "oldestAt", min(resume_at) as "dueAt" from (
          select status, created_at, resume_at from ${sql.raw(table)} where resume_at is not null order by resume_at limit ${unfinishedMax}
        ) due group by status order by status`,
  )
  return rows.map(({ status, count, oldestAt, dueAt }) => ({
    status,
    count: Number(count),
    oldestAt: Number(oldestAt),
    dueAt: Number(dueAt),
  }))
}

/** Reads the unfinished orders, refunds and messages of all shops. */
export async function readUnfinished(read: Reader): Promise<UnfinishedFigures> {
  const [waiting] = await read.rows<{ n: number | string }>(sql`select count(*) as n from payment_messages where resume_at is not null`)
  const [sagas, refunds] = [await unfinishedIn(read, 'orders'), await unfinishedIn(read, 'refunds')]
  return { sagas, refunds, messages: Number(waiting?.n ?? 0) }
}
