import { assertEngine } from '../columns.ts'
import {
  type Database,
  type DatabaseStats,
  DatabaseUnavailable,
  type Prepared,
  type Values,
  type WriteOptions,
  type Writer,
} from '../engine.ts'
import { newStats, recordValue } from '../histogram.ts'
import { assertOpen, asWork, newWork, refuseNestedWrite, type Work } from '../write-work.ts'
import { isRetryable, refusalOf } from './errors.ts'
import { createGroupCommit } from './group-commit.ts'
import { openPool, type Query, type Timeouts, unhurried } from './pool.ts'
import { serversAt } from './primary.ts'
import { bindQuery, buildersOn, preparedReadsOn, readerOn } from './reader.ts'
import { begin, commit, ignoreRejection, type Transaction } from './transaction.ts'

export { unhurried }

export type PostgresOptions = {
  /** Connections at most: three fifths of them write, the others read. */
  connections?: number
  timeouts?: Partial<Timeouts>
}

/** Writes under way or waiting for a connection. */
const queueMax = 5_000
const attemptsMax = 30
const backoffMaxMs = 200

/** Refuses queries that come once the work has settled: the connection serves somebody else by then. */
function writerOn({ query }: Transaction, work: Work): Writer {
  const guarded: Query = async (...args) => {
    assertOpen(work)
    return query(...args)
  }
  return {
    ...buildersOn(guarded),
    ...preparedReadsOn(guarded),
    run(prepared: Prepared<never>, values?: Values): void {
      assertOpen(work)
      ignoreRejection(query(bindQuery(prepared, values)))
    },
    afterCommit: (effect: () => void) => void work.afterCommit.push(effect),
  }
}

type Isolation = keyof typeof beginAs
const beginAs = {
  serializable: 'ISOLATION LEVEL SERIALIZABLE',
  locking: 'ISOLATION LEVEL READ COMMITTED',
} as const

/**
 * Any Postgres-wire engine: transactions that are serializable or lock what they name, run again when the engine says
 * so.
 */
export function openPostgres(url: string, random: () => number, { connections = 20, timeouts }: PostgresOptions = {}): Database {
  assertEngine('postgres')
  // Writes that wait, for a lock or for each other, hold up no read.
  const writersMax = Math.max(1, Math.round(connections * 0.6))
  const servers = serversAt(url)
  const writers = openPool({ servers, max: writersMax, timeouts, changesNeedBegin: true })
  const readersMax = Math.max(1, connections - writersMax)
  const readers = openPool({ servers, max: readersMax, timeouts })
  const stats: DatabaseStats = {
    ...newStats(),
    pools: () => [
      { pool: 'write', max: writersMax, ...writers.figures() },
      { pool: 'read', max: readersMax, ...readers.figures() },
    ],
  }
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  async function attempt<T>(work: (tx: Writer) => Promise<T>, scope: Work, isolation: Isolation): Promise<T> {
    const session = await writers.session()
    const transaction = begin(session, beginAs[isolation])
    try {
      if (session.isPooled) await transaction.begun
      const value = await asWork(scope, () => work(writerOn(transaction, scope)))
      await commit(session, transaction, stats)
      return value
    } catch (error) {
      // Runs after the statements that were sent. A connection that does not roll back is closed.
      await session.query({ text: 'ROLLBACK' }).catch(() => undefined)
      throw refusalOf(error)
    } finally {
      session.release()
    }
  }

  async function write<T>(work: (tx: Writer) => Promise<T>, { isolation = 'serializable' }: WriteOptions): Promise<T> {
    for (let tries = 1; ; tries++) {
      const scope = newWork()
      const done = await attempt(work, scope, isolation).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      if ('value' in done) {
        stats.writes++
        stats.commits++
        recordValue(stats.commitWorks, 1)
        for (const effect of scope.afterCommit) effect()
        return done.value
      }
      if (!isRetryable(done.error)) throw done.error
      if (tries >= attemptsMax) throw new DatabaseUnavailable('too many conflicting writes', { cause: done.error })
      stats.retries++
      await new Promise((resolve) => setTimeout(resolve, random() * Math.min(backoffMaxMs, 2 ** tries)))
    }
  }

  const inGroup = createGroupCommit(writers, stats, (work) => write(work, { isolation: 'locking' }))

  async function closeAll(): Promise<void> {
    await Promise.allSettled(underWay)
    await Promise.all([writers.end(), readers.end()])
  }

  const read = readerOn(readers)
  return {
    read,
    async write(work, options = {}) {
      refuseNestedWrite()
      if (closing) throw new DatabaseUnavailable('the database is closed')
      if (stats.queued >= queueMax) throw new DatabaseUnavailable('too many writes are waiting')
      stats.queued++
      const { group } = options
      const done = group === undefined ? write(work, options) : (inGroup(work, group) as ReturnType<typeof work>)
      underWay.add(done)
      try {
        return await done
      } finally {
        underWay.delete(done)
        stats.queued--
      }
    },
    // The server reads, not this thread.
    backgroundReader: () => ({ rows: read.rows, close: () => undefined }),
    // Another process may have written a moment ago: nothing is cached.
    version: () => undefined,
    foreignVersion: () => undefined,
    isInPlace: () => true,
    stats,
    file: undefined,
    checkpoint: async () => undefined,
    close: () => (closing ??= closeAll()),
  }
}
