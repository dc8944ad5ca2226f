import type { Database, Reader, Writer } from '../../db/engine.ts'
import { dayMs, minuteMs } from '../lib/day.ts'
import { type IdKind, idBoundary } from '../lib/ids.ts'
import { locking } from './command-context.ts'
import type { Deps } from './deps.ts'

/** Describes a search index that lacks older records. */
export type SearchBackfill = {
  /** Name of the records in log lines. */
  readonly subject: string
  /** Returns the progress; undefined if the index is complete. */
  readProgress(read: Database['read']): Promise<{ below: string; done: number } | undefined>
  /** Returns the newest ids below `below`. */
  idsBelow(read: Pick<Reader, 'rows'>, below: string, limit: number): Promise<string[]>
  /** Indexes a record, or does nothing if it is indexed. */
  index(tx: Writer, id: string): Promise<void>
  saveProgress(tx: Writer, below: string | undefined, more: number): Promise<void>
  readonly kind: IdKind
  /** Returns ids after `after` that the index lacks, in ascending order. */
  unindexedAfter(read: Pick<Reader, 'rows'>, after: string, limit: number): Promise<string[]>
}

const batchSize = 100
/** Limit of one run. The next run continues. */
const recordsPerRun = 10_000

/**
 * Indexes records that are older than the search index, newest first. Each batch and its progress share one write, so
 * an interrupted run continues where it stopped.
 * @returns the number of records, and whether all are indexed
 */
export async function backfillSearch(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  { subject, readProgress, idsBelow, index, saveProgress }: SearchBackfill,
): Promise<{ filled: number; isDone: boolean }> {
  for (let filled = 0; filled < recordsPerRun; ) {
    const progress = await readProgress(db.read)
    if (!progress) return { filled, isDone: true }
    const ids = await idsBelow(db.read, progress.below, batchSize)
    await db.write(async (tx) => {
      for (const id of ids) await index(tx, id)
      await saveProgress(tx, ids.at(-1), ids.length)
    }, locking)
    filled += ids.length
    if (ids.length === 0) log.info('search.filled', { subject, total: progress.done })
    else if (filled >= recordsPerRun) log.info('search.filling', { subject, done: progress.done + ids.length })
  }
  return { filled: recordsPerRun, isDone: false }
}

/**
 * Interval between two checks, and the age of records that a check covers. The second exceeds the duration of any
 * write.
 */
const [checkIntervalMs, checkWindowMs] = [10 * minuteMs, 30 * minuteMs]
/** Age of records that a process's first check covers: an older version may have run for a while. */
const firstCheckWindowMs = dayMs
const checksByDatabase = new WeakMap<Database, Map<string, number>>()

/**
 * Indexes recent records that a process of an older version created without indexing them. Only PostgreSQL allows two
 * versions at once. The first check covers a day, later ones half an hour.
 * @returns the number of records
 */
export async function indexMissed(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  { subject, kind, readProgress, unindexedAfter, index }: SearchBackfill,
): Promise<number> {
  const now = clock.now()
  const checks = checksByDatabase.get(db) ?? new Map<string, number>()
  checksByDatabase.set(db, checks)
  const last = checks.get(subject)
  if (last !== undefined && last <= now && now < last + checkIntervalMs) return 0
  const windowStart = idBoundary(kind, now - (last === undefined ? firstCheckWindowMs : checkWindowMs))
  const progress = await readProgress(db.read)
  // The backfill covers all older records.
  let after = progress && progress.below > windowStart ? progress.below : windowStart
  for (let filled = 0; ; ) {
    const ids = await unindexedAfter(db.read, after, batchSize)
    if (ids.length > 0)
      await db.write(async (tx) => {
        for (const id of ids) await index(tx, id)
      }, locking)
    filled += ids.length
    after = ids.at(-1) ?? after
    if (ids.length < batchSize) {
      checks.set(subject, now)
      if (filled > 0) log.info('search.unknown_filled', { subject, total: filled })
      return filled
    }
  }
}
