import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../db/engine.ts'
import { inParallel } from '../lib/parallel.ts'

/** An item to process. Its lane is its processor; null if none is involved. */
export type DueItem = { readonly id: string; readonly processor: string | null }

/** Names of the lanes that jobs of this process are working on. */
export type BusyLanes = Set<string>

/** Concurrent items of one processor. */
const laneConcurrency = 8

/**
 * Selects at most `limit` due items per processor, oldest first.
 * @param rows a table with a condition: `orders where resume_at <= 5`
 */
export const selectDue = (
  read: Pick<Reader, 'rows'>,
  rows: SQL,
  since: 'resume_at' | 'expires_at' | 'ask_at',
  limit: number,
): Promise<DueItem[]> =>
  read.rows<DueItem>(
    sql`select id, processor from (
          select id, processor, row_number() over (partition by processor order by ${sql.raw(since)}) as nth from ${rows}) as due
        where nth <= ${limit} order by nth`,
  )

/**
 * Runs due items in one lane per processor, so that a slow processor delays only its own items. Skips lanes that are
 * still busy.
 * @param what kind of work, part of the lane's name
 * @returns the number of lanes that ran
 */
export async function runInLanes(
  { busyLanes }: { readonly busyLanes: BusyLanes },
  what: string,
  due: readonly DueItem[],
  run: (id: string) => Promise<void>,
): Promise<number> {
  const lanes = Map.groupBy(due, ({ processor }) => `${what} ${processor}`)
  const free = [...lanes].filter(([lane]) => !busyLanes.has(lane))
  await Promise.all(
    free.map(async ([lane, items]) => {
      busyLanes.add(lane)
      try {
        await inParallel(items, laneConcurrency, ({ id }) => run(id))
      } finally {
        busyLanes.delete(lane)
      }
    }),
  )
  return free.length
}
