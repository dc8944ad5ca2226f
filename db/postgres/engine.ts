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

/** Limits of the connections; both have defaults. */
export type PostgresOptions = {
  /** Maximum number of connections: three fifths for writes, the others for reads. */
  connections?: number
  timeouts?: Partial<Timeouts>
}

/** Maximum number of running and waiting writes. */
const queueMax = 5_000
const attemptsMax = 30
const backoffMaxMs = 200

/** Creates a writer that refuses queries after the work has settled: another write may then use the connection. */
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
 * Opens a PostgreSQL database. Transactions are serializable or lock the rows that they name. They run again after a
 * conflict.
 */
export function openPostgres(url: string, random: () => number, { connections = 20, timeouts }: PostgresOptions = {}): Database {
  assertEngine('postgres')
  // Separate pools, so that writes that wait for locks do not delay reads.
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
  const runningWrites = new Set<Promise<unknown>>()
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

  const commitInGroup = createGroupCommit(writers, stats, (work) => write(work, { isolation: 'locking' }))

  async function closeAll(): Promise<void> {
    await Promise.allSettled(runningWrites)
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
      const done = group === undefined ? write(work, options) : (commitInGroup(work, group) as ReturnType<typeof work>)
      runningWrites.add(done)
      try {
        return await done
      } finally {
        runningWrites.delete(done)
        stats.queued--
      }
    },
    // Slow queries run in the server, not on this thread.
    backgroundReader: () => ({ rows: read.rows, close: () => undefined }),
    // Another process may have just written, and only a query could tell. So nothing is cached.
    version: () => undefined,
    foreignVersion: () => undefined,
    isInPlace: () => true,
    stats,
    file: undefined,
    checkpoint: async () => undefined,
    close: () => (closing ??= closeAll()),
  }
}
