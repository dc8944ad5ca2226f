import { sql } from 'drizzle-orm'
import type { Reader } from '../../../../../db/engine.ts'

/** Of what is unfinished in one status: how many there are, since when the oldest, and since when the first waits to be gone on with. */
export type Unfinished = { readonly status: string; readonly count: number; readonly oldestAt: number; readonly dueAt: number }

/** What of orders and of their refunds is unfinished. */
export type UnfinishedFigures = {
  readonly sagas: readonly Unfinished[]
  readonly refunds: readonly Unfinished[]
  /** Messages of processors that are still to be worked. */
  readonly messages: number
}

/** Entries of an index that are counted before others have the thread: about a millisecond. */
const pieceRows = 2_000
/** Of what is unfinished so many are looked at, those that are due first. */
const unfinishedMax = 10_000

type Place = { shopId: string; status: string; last: number }

/**
 * Counts all orders by status: along an index that holds no more than that, some thousand at a time. What moves on meanwhile may be counted
 * in neither status, or in both.
 */
export async function ordersByStatus(read: Reader): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  let after: Place = { shopId: '', status: '', last: 0 }
  for (let seen = pieceRows; seen === pieceRows; ) {
    const rows = await read.rows<Place & { n: number | string }>(
      sql`select shop_id as "shopId", status, count(*) as n, max(number) as last from (
            select shop_id, status, number from orders where (shop_id, status, number) > (${after.shopId}, ${after.status}, ${after.last})
            order by shop_id, status, number limit ${pieceRows}
          ) piece group by shop_id, status order by shop_id, status`,
    )
    seen = 0
    for (const { status, n } of rows) {
      counts.set(status, (counts.get(status) ?? 0) + Number(n))
      seen += Number(n)
    }
    after = rows.at(-1) ?? after
    await new Promise((resume) => setImmediate(resume))
  }
  return counts
}

/** Along the index of what is to be gone on with. */
async function unfinishedIn(read: Reader, table: 'orders' | 'refunds'): Promise<Unfinished[]> {
  const rows = await read.rows<Record<keyof Unfinished, string>>(
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

export async function unfinishedOf(read: Reader): Promise<UnfinishedFigures> {
  const [waiting] = await read.rows<{ n: number | string }>(sql`select count(*) as n from payment_messages where resume_at is not null`)
  const [sagas, refunds] = [await unfinishedIn(read, 'orders'), await unfinishedIn(read, 'refunds')]
  return { sagas, refunds, messages: Number(waiting?.n ?? 0) }
}
