import { Database as Sqlite, type Statement } from 'bun:sqlite'
import type { SQL } from 'drizzle-orm'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import {
  binder,
  type Compiled,
  type Database,
  DatabaseFull,
  type DatabaseStats,
  DatabaseUnavailable,
  engineErrorCode,
  type Reader,
  type Writer,
} from './engine.ts'
import { once } from './prepared.ts'
import { assertOpen, asWork, newWork, refuseNestedWrite, type Work } from './work.ts'

type Job = { work: (tx: Writer) => Promise<unknown>; resolve: (value: never) => void; reject: (error: unknown) => void }

export type SqliteOptions = {
  /** Called once when the disk returned an I/O error: what the process believes of the file is no longer safe. */
  onFatal?: (error: unknown) => void
  /** OFF only to measure what durability costs. */
  synchronous?: 'FULL' | 'OFF'
  /** Another process may be serving this file: closing must not hold up its writes. */
  besideServer?: boolean
}

const worksPerCommitMax = 512
/** Writes that wait: at some thousand a second, those behind would wait longer than anybody does. */
const queueMax = 20_000
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
  pragmas.push('cache_size = -4000', 'journal_size_limit = 67108864', 'trusted_schema = 0', 'temp_store = MEMORY')
  for (const pragma of pragmas) connection.run(`PRAGMA ${pragma}`)
}

/**
 * drizzle prepares every statement anew; most of them are the same few hundred texts. What falls out is left to the
 * garbage collector: somebody may still hold it.
 */
function statementCache(connection: Sqlite): (text: string) => Statement {
  const statements = new Map<string, Statement>()
  return (text) => {
    const statement = statements.get(text) ?? connection.prepare(text)
    // The last used stands last, so that the first is the one to forget.
    statements.delete(text)
    statements.set(text, statement)
    if (statements.size > preparedStatementsMax) statements.delete(statements.keys().next().value ?? '')
    return statement
  }
}

/** What of a connection drizzle uses. */
const clientOf = (prepare: (text: string) => Statement) => ({ prepare }) as unknown as Sqlite

const rowsOn = (queries: BunSQLiteDatabase) => ({ rows: async <T>(query: SQL): Promise<T[]> => queries.all<T>(query) })

function readerOn(connection: Sqlite): Reader {
  const queries = drizzle({ client: clientOf(statementCache(connection)) })
  const prepared = <Row>(query: Compiled) =>
    once(() => {
      const { sql, params } = query.toSQL()
      return { statement: connection.prepare<Row, never[]>(sql), bound: binder(params) as (values: Record<string, unknown>) => never[] }
    })
  const begin = connection.prepare('BEGIN')
  const commit = connection.prepare('COMMIT')
  return Object.assign(queries as unknown as Reader, rowsOn(queries), {
    one<Row>(query: Compiled) {
      const made = prepared<Row>(query)
      return (values: Record<string, unknown>) => {
        const { statement, bound } = made()
        return statement.get(...bound(values)) ?? undefined
      }
    },
    many<Row>(query: Compiled) {
      const made = prepared<Row>(query)
      return (values: Record<string, unknown>) => {
        const { statement, bound } = made()
        return statement.all(...bound(values))
      }
    },
    together<T>(reads: () => T): T {
      begin.run()
      try {
        return reads()
      } finally {
        // An I/O error ends it by itself.
        if (connection.inTransaction) commit.run()
      }
    },
  })
}

/** The embedded engine: one writer whose works share durable commits, one read-only reader. */
export function openSqlite(file: string, { onFatal, synchronous, besideServer = false }: SqliteOptions = {}): Database {
  const writer = new Sqlite(file, { create: true, strict: true })
  configure(writer, synchronous)
  // The loop must not stand still while another process writes: we retry by ourselves.
  writer.run('PRAGMA busy_timeout = 0')
  const reader = new Sqlite(file, { readonly: true, strict: true })
  for (const pragma of ['busy_timeout = 5000', 'cache_size = -8000', 'trusted_schema = 0']) reader.run(`PRAGMA ${pragma}`)

  const prepare = statementCache(writer)
  const prepared = drizzle({ client: clientOf((text) => writer.prepare(text)) }) as unknown as Writer
  const workOf = new WeakMap<Writer, Work>()
  const dataVersion = writer.prepare<{ data_version: number }, []>('PRAGMA data_version')
  const begin = writer.prepare('BEGIN IMMEDIATE')
  const commit = writer.prepare('COMMIT')
  const savepoint = writer.prepare('SAVEPOINT work')
  const release = writer.prepare('RELEASE work')

  const stats: DatabaseStats = { writes: 0, commits: 0, retries: 0, queued: 0 }
  const queue: Job[] = []
  let draining: Promise<void> | undefined
  let closing: Promise<void> | undefined
  let commitsHere = 0
  let commitsElsewhere = 0
  let seenDataVersion = dataVersion.get()?.data_version
  let lookedThisTurn = false

  /** SQLite tells a connection of others' commits. Asked once a turn of the loop: whatever knows of a commit arrives in a later one. */
  function foreignVersion(): number {
    if (lookedThisTurn) return commitsElsewhere
    lookedThisTurn = true
    setImmediate(() => {
      lookedThisTurn = false
    })
    const now = dataVersion.get()?.data_version
    if (now !== seenDataVersion) {
      seenDataVersion = now
      commitsElsewhere++
    }
    return commitsElsewhere
  }

  async function drain(): Promise<void> {
    try {
      while (queue.length > 0) {
        if (await beginOrGiveUp()) await commitTogether()
      }
    } catch (error) {
      rejectAll(queue.splice(0), error)
    } finally {
      draining = undefined
    }
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
      rejectAll(jobs, error)
      // Last: after an I/O error it may fail too, and nobody may be left waiting.
      if (writer.inTransaction) writer.run('ROLLBACK')
      return
    }
    stats.commits++
    stats.writes += jobs.length
    stats.queued = queue.length
    commitsHere++
    for (const settleJob of settle) settleJob()
  }

  /** Returns what to tell the caller once the commit is durable. Throws if the engine lost the whole transaction. */
  async function runInSavepoint(job: Job): Promise<() => void> {
    savepoint.run()
    const work = newWork()
    try {
      const value = await settledInMicrotasks(asWork(work, () => job.work(transactionOf(work))))
      release.run()
      return () => {
        try {
          for (const effect of work.afterCommit) effect()
          job.resolve(value as never)
        } catch (error) {
          // The others of this commit must still be told.
          job.reject(error)
        }
      }
    } catch (error) {
      if (!writer.inTransaction || isFatal(error) || isFull(error)) throw error
      writer.run('ROLLBACK TO work')
      release.run()
      return () => job.reject(error)
    } finally {
      work.open = false
    }
  }

  function transactionOf(work: Work): Writer {
    const client = clientOf((text) => {
      assertOpen(work)
      return prepare(text)
    })
    const queries = drizzle({ client })
    const tx = Object.assign(queries as unknown as Writer, rowsOn(queries), {
      afterCommit: (effect: () => void) => void work.afterCommit.push(effect),
    })
    workOf.set(tx, work)
    return tx
  }

  function rejectAll(jobs: Job[], error: unknown): void {
    const reason = isFull(error) ? new DatabaseFull('the disk is full', { cause: error }) : error
    for (const job of jobs) job.reject(reason)
    stats.queued = queue.length
    if (isFatal(error)) onFatal?.(error)
  }

  async function closeAll(): Promise<void> {
    await draining
    reader.close()
    try {
      writer.run('PRAGMA busy_timeout = 2000')
      writer.run(`PRAGMA wal_checkpoint(${besideServer ? 'PASSIVE' : 'TRUNCATE'})`)
    } catch {
      // A full disk, say: the log stays, and the next start reads it.
    }
    writer.close()
  }

  const isFull = (error: unknown) => engineErrorCode(error) === 'SQLITE_FULL'
  const isFatal = (error: unknown) => engineErrorCode(error)?.startsWith('SQLITE_IOERR') ?? false

  return {
    read: readerOn(reader),
    statement(build) {
      const query = once(() => build(prepared).prepare())
      return async (tx, values) => {
        assertOpen(workOf.get(tx))
        return query().execute(values)
      }
    },
    write: (work) =>
      new Promise((resolve, reject) => {
        refuseNestedWrite()
        if (closing) throw new DatabaseUnavailable('the database is closed')
        if (queue.length >= queueMax) throw new DatabaseUnavailable('too many writes are waiting')
        queue.push({ work, resolve: resolve as Job['resolve'], reject })
        stats.queued = queue.length
        draining ??= new Promise<void>((resume) => setImmediate(resume)).then(drain)
      }),
    version: () => commitsHere + foreignVersion(),
    foreignVersion,
    stats,
    async checkpoint() {
      const page = writer.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0
      // Not inside a batch: its transaction is open while its works take turns.
      await draining
      try {
        const state = writer.query<{ log: number }, []>('PRAGMA wal_checkpoint(PASSIVE)').get()
        return Math.max(0, state?.log ?? 0) * page
      } catch (error) {
        // A disk that fails is often noticed here first: a COMMIT says nothing of the checkpoint that it sets off.
        if (isFatal(error)) onFatal?.(error)
        throw error
      }
    },
    close: () => (closing ??= closeAll()),
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
