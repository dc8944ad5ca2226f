import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../db/engine.ts'
import { inParallel } from '../lib/parallel.ts'

/** What is to be looked at, and in whose lane; null where no processor is concerned. */
export type Due = { readonly id: string; readonly processor: string | null }

/** What the jobs of this process are at just now, a word a lane. */
export type LanesAtWork = Set<string>

/** Asked at once of one processor. */
const lanePlaces = 8

/**
 * Of rows that are due, so many of each processor, the longest waiting first.
 * @param rows a table and what must hold of it: `orders where resume_at <= 5`
 */
export const dueOf = (read: Pick<Reader, 'rows'>, rows: SQL, since: 'resume_at' | 'expires_at' | 'ask_at', limit: number): Promise<Due[]> =>
  read.rows<Due>(
    sql`select id, processor from (
          select id, processor, row_number() over (partition by processor order by ${sql.raw(since)}) as nth from ${rows}) as due
        where nth <= ${limit} order by nth`,
  )

/**
 * Runs what is due in a lane a processor, so that one that hangs holds up nobody else's; a lane that is still at work is left alone.
 * @param what is done in these lanes
 * @returns how many lanes ran
 */
export async function inLanes(
  { lanesAtWork }: { readonly lanesAtWork: LanesAtWork },
  what: string,
  due: readonly Due[],
  run: (id: string) => Promise<void>,
): Promise<number> {
  const lanes = Map.groupBy(due, ({ processor }) => `${what} ${processor}`)
  const free = [...lanes].filter(([lane]) => !lanesAtWork.has(lane))
  await Promise.all(
    free.map(async ([lane, items]) => {
      lanesAtWork.add(lane)
      try {
        await inParallel(items, lanePlaces, ({ id }) => run(id))
      } finally {
        lanesAtWork.delete(lane)
      }
    }),
  )
  return free.length
}
