import type { Database, Reader, Writer } from '../../db/engine.ts'
import { type IdKind, idBoundary } from '../lib/ids.ts'
import { locking } from './command-context.ts'
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
  readonly kind: IdKind
  /** Of the ids behind one, the first that no index knows. */
  unknownAfter(read: Pick<Reader, 'rows'>, after: string, limit: number): Promise<string[]>
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

const minute = 60_000
/** How often it is looked, and how far back: longer than whoever begins a write before a look takes to end it. */
const [lookedEveryMs, lookedBackMs] = [10 * minute, 30 * minute]
/** The first look of a process: this version may have been taken back for a while. */
const lookedBackAtFirstMs = 24 * 60 * minute
const lookedAt = new WeakMap<Database, Map<string, number>>()

/**
 * Makes records findable that a process of an older version has made lately, beside those that know the search: where the filling had been before they
 * came. Of the last day at the start of a process, then of the last half hour every ten minutes; on SQLite no two versions run beside each other.
 * @returns how many
 */
export async function fillUnknown(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  { subject, kind, fillOf, unknownAfter, index }: Filling,
): Promise<number> {
  const now = clock.now()
  const looked = lookedAt.get(db) ?? new Map<string, number>()
  lookedAt.set(db, looked)
  const last = looked.get(subject)
  if (last !== undefined && last <= now && now < last + lookedEveryMs) return 0
  const lately = idBoundary(kind, now - (last === undefined ? lookedBackAtFirstMs : lookedBackMs))
  const fill = await fillOf(db.read)
  // What lies below is still to come anyway.
  let after = fill && fill.below > lately ? fill.below : lately
  for (let filled = 0; ; ) {
    const ids = await unknownAfter(db.read, after, atOnce)
    if (ids.length > 0)
      await db.write(async (tx) => {
        for (const id of ids) await index(tx, id)
      }, locking)
    filled += ids.length
    after = ids.at(-1) ?? after
    if (ids.length < atOnce) {
      looked.set(subject, now)
      if (filled > 0) log.info('search.unknown_filled', { subject, total: filled })
      return filled
    }
  }
}
