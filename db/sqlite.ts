import { Database as Sqlite, type Statement } from 'bun:sqlite'
import type { SQL } from 'drizzle-orm'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { type Database, DatabaseFull, type DatabaseStats, DatabaseUnavailable, engineErrorCode, type Reader, type Writer } from './engine.ts'

type Job = { work: (tx: Writer) => Promise<unknown>; resolve: (value: never) => void; reject: (error: unknown) => void }

export type SqliteOptions = {
  /** Called once when the disk returned an I/O error: what the process believes of the file is no longer safe. */
  onFatal?: (error: unknown) => void
  /** OFF only to measure what durability costs. */
  synchronous?: 'FULL' | 'OFF'
}

const worksPerCommitMax = 512
/** A transaction stays shorter than this, so that a second process waits little for its turn. */
const commitSliceMs = 15
const busyRetryMs = 2
const busyGiveUpMs = 10_000
const preparedStatementsMax = 400

/** 'souk' in ASCII: tells our files from any other SQLite file. */
export const applicationId = 0x736f756b

/** What every connection to the database file sets; see docs/architecture.md for the reason of each. */
export function configure(connection: Sqlite, synchronous: 'FULL' | 'OFF' = 'FULL'): void {
  const pragmas = ['busy_timeout = 5000', 'journal_mode = WAL', `synchronous = ${synchronous}`, 'foreign_keys = ON']
  pragmas.push('cache_size = -32000', 'journal_size_limit = 67108864', 'trusted_schema = 0', 'temp_store = MEMORY')
  for (const pragma of pragmas) connection.run(`PRAGMA ${pragma}`)
}

/** drizzle prepares every statement anew; most of them are the same few hundred texts. */
function withStatementCache(connection: Sqlite): Sqlite {
  const statements = new Map<string, Statement>()
  const prepare = (text: string): Statement => {
    const known = statements.get(text)
    if (known) return known
    if (statements.size >= preparedStatementsMax) {
      const [oldest] = statements.keys()
      if (oldest !== undefined) {
        statements.get(oldest)?.finalize()
        statements.delete(oldest)
      }
    }
    const statement = connection.prepare(text)
    statements.set(text, statement)
    return statement
  }
  return new Proxy(connection, {
    get: (target, name) => (name === 'prepare' ? prepare : typeof Reflect.get(target, name) === 'function' ? Reflect.get(target, name).bind(target) : Reflect.get(target, name)),
  })
}

const rowsOn = (queries: BunSQLiteDatabase) => ({ rows: async <T>(query: SQL): Promise<T[]> => queries.all<T>(query) })

function readerOn(connection: Sqlite): Reader {
  const queries = drizzle({ client: withStatementCache(connection) })
  return Object.assign(queries as unknown as Reader, rowsOn(queries))
}

/** The embedded engine: one writer whose works share durable commits, one read-only reader. */
export function openSqlite(file: string, { onFatal, synchronous }: SqliteOptions = {}): Database {
  const writer = new Sqlite(file, { create: true, strict: true })
  configure(writer, synchronous)
  // The loop must not stand still while another process writes: we retry by ourselves.
  writer.run('PRAGMA busy_timeout = 0')
  const reader = new Sqlite(file, { readonly: true, strict: true })
  for (const pragma of ['busy_timeout = 5000', 'cache_size = -32000', 'trusted_schema = 0']) reader.run(`PRAGMA ${pragma}`)

  const queries = drizzle({ client: withStatementCache(writer) })
  const raw = rowsOn(queries)
  const dataVersion = writer.prepare<{ data_version: number }, []>('PRAGMA data_version')
  const begin = writer.prepare('BEGIN IMMEDIATE')
  const commit = writer.prepare('COMMIT')
  const savepoint = writer.prepare('SAVEPOINT work')
  const release = writer.prepare('RELEASE work')

  const stats: DatabaseStats = { writes: 0, commits: 0, retries: 0, queued: 0 }
  const queue: Job[] = []
  let draining: Promise<void> | undefined
  let closed = false
  let version = 0
  let seenDataVersion = dataVersion.get()?.data_version

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      if (await beginOrGiveUp()) await commitTogether()
    }
    draining = undefined
  }

  /** False when another process held the lock for too long; what was queued is then refused. */
  async function beginOrGiveUp(): Promise<boolean> {
    for (const startedAt = performance.now(); ; stats.retries++) {
      try {
        begin.run()
        return true
      } catch (error) {
        const busy = engineErrorCode(error)?.startsWith('SQLITE_BUSY') ?? false
        if (!busy || performance.now() - startedAt > busyGiveUpMs) {
          const refusal = busy ? new DatabaseUnavailable('another process holds the write lock', { cause: error }) : error
          rejectAll(queue.splice(0), refusal)
          return false
        }
        await new Promise((resolve) => setTimeout(resolve, busyRetryMs))
      }
    }
  }

  /** Runs queued works in the open transaction, each in its own savepoint, and commits them as one. */
  async function commitTogether(): Promise<void> {
    const jobs: Job[] = []
    const settle: (() => void)[] = []
    const startedAt = performance.now()
    try {
      while (queue.length > 0 && jobs.length < worksPerCommitMax && performance.now() - startedAt < commitSliceMs) {
        const job = queue.shift() as Job
        jobs.push(job)
        settle.push(await runInSavepoint(job))
      }
      commit.run()
    } catch (error) {
      if (writer.inTransaction) writer.run('ROLLBACK')
      rejectAll(jobs, error)
      return
    }
    stats.commits++
    stats.writes += jobs.length
    stats.queued = queue.length
    version++
    for (const settleJob of settle) settleJob()
  }

  /** Returns what to tell the caller once the commit is durable. Throws if the engine lost the whole transaction. */
  async function runInSavepoint(job: Job): Promise<() => void> {
    savepoint.run()
    let open = true
    const guard = <A extends unknown[], R>(method: (...args: A) => R) => (...args: A): R => {
      if (!open) throw new Error('a transaction was used after its work had settled')
      return method(...args)
    }
    const tx = {
      select: guard(queries.select.bind(queries) as never),
      insert: guard(queries.insert.bind(queries)),
      update: guard(queries.update.bind(queries)),
      delete: guard(queries.delete.bind(queries)),
      rows: guard(raw.rows),
    } as unknown as Writer
    try {
      const value = await settledInMicrotasks(job.work(tx))
      release.run()
      return () => job.resolve(value as never)
    } catch (error) {
      if (!writer.inTransaction || isFatal(error) || isFull(error)) throw error
      writer.run('ROLLBACK TO work')
      release.run()
      return () => job.reject(error)
    } finally {
      open = false
    }
  }

  function rejectAll(jobs: Job[], error: unknown): void {
    const reason = isFull(error) ? new DatabaseFull('the disk is full', { cause: error }) : error
    for (const job of jobs) job.reject(reason)
    stats.queued = queue.length
    if (isFatal(error)) onFatal?.(error)
  }

  const isFull = (error: unknown) => engineErrorCode(error) === 'SQLITE_FULL'
  const isFatal = (error: unknown) => engineErrorCode(error)?.startsWith('SQLITE_IOERR') ?? false

  return {
    read: readerOn(reader),
    write: (work) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(new DatabaseUnavailable('the database is closed'))
          return
        }
        queue.push({ work, resolve: resolve as Job['resolve'], reject })
        stats.queued = queue.length
        draining ??= new Promise<void>((resume) => setImmediate(resume)).then(drain)
      }),
    version() {
      const now = dataVersion.get()?.data_version
      if (now !== seenDataVersion) {
        seenDataVersion = now
        version++
      }
      return version
    },
    stats,
    async checkpoint() {
      const page = writer.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0
      // Not inside a batch: its transaction is open while its works take turns.
      await draining
      const state = writer.query<{ log: number }, []>('PRAGMA wal_checkpoint(PASSIVE)').get()
      return Math.max(0, state?.log ?? 0) * page
    },
    async close() {
      closed = true
      await draining
      reader.close()
      writer.run('PRAGMA busy_timeout = 2000')
      writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
      writer.close()
    },
  }
}

/**
 * Everything a work awaits is answered by SQLite at once, so it settles before the loop turns. A work that does not
 * (an HTTP call, a timer, a nested write that waits for itself) would hold every other write up: it is refused.
 */
async function settledInMicrotasks<T>(work: Promise<T>): Promise<T> {
  let turned: ReturnType<typeof setImmediate> | undefined
  const loopTurned = new Promise<never>((_, reject) => {
    turned = setImmediate(() => reject(new Error('a database work may await its own queries only')))
  })
  try {
    return await Promise.race([work, loopTurned])
  } finally {
    clearImmediate(turned)
  }
}

