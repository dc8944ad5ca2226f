import type { Database, Reader, Writer } from '../../db/engine.ts'
import { locking } from './change.ts'
import type { Deps } from './deps.ts'

/** Records that are older than their search index. */
export type Filling = {
  /** For the log. */
  readonly subject: string
  /** How far it has come; undefined where nothing is left. */
  fillOf(read: Database['read']): Promise<{ below: string; done: number } | undefined>
  /** The newest ids below one. */
  idsBelow(read: Pick<Reader, 'select'>, below: string, limit: number): Promise<string[]>
  /** Makes one findable that may be so already. */
  index(tx: Writer, id: string): Promise<void>
  noteFill(tx: Writer, below: string | undefined, more: number): Promise<void>
}

const atOnce = 100
/** Of one run: what is left then comes with the next. */
const ofOneRun = 10_000

/**
 * Makes records findable that are older than the search, newest first and in pieces, each in one write with how far it has come: what is broken
 * off goes on there.
 * @returns how many, and whether those were all
 */
export async function fillSearch(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  { subject, fillOf, idsBelow, index, noteFill }: Filling,
): Promise<{ filled: number; isDone: boolean }> {
  for (let filled = 0; filled < ofOneRun; ) {
    const fill = await fillOf(db.read)
    if (!fill) return { filled, isDone: true }
    const ids = await idsBelow(db.read, fill.below, atOnce)
    await db.write(async (tx) => {
      for (const id of ids) await index(tx, id)
      await noteFill(tx, ids.at(-1), ids.length)
    }, locking)
    filled += ids.length
    if (ids.length === 0) log.info('search.filled', { subject, total: fill.done })
    else if (filled >= ofOneRun) log.info('search.filling', { subject, done: fill.done + ids.length })
  }
  return { filled: ofOneRun, isDone: false }
}
