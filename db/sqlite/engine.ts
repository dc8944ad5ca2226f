import { Database as Sqlite, type Statement } from 'bun:sqlite'
import { statSync } from 'node:fs'
import type { SQL } from 'drizzle-orm'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { assertEngine } from '../columns.ts'
import {
  type Database,
  DatabaseFull,
  type DatabaseStats,
  DatabaseUnavailable,
  engineErrorCode,
  NothingChanged,
  type Prepared,
  type Reader,
  type Values,
  type Writer,
} from '../engine.ts'
import { newStats, note } from '../histogram.ts'
import { assertOpen, asWork, newWork, refuseNestedWrite, type Work } from '../write-work.ts'
import { readAside } from './background-reader.ts'
import { databaseFileAt } from './file.ts'
import { type Watch, watchOfLoop } from './loop-watch.ts'
import { type Guard, statementCache } from './statements.ts'

type Job = { work: (tx: Writer) => Promise<unknown>; resolve: (value: never) => void; reject: (error: unknown) => void }

export type SqliteOptions = {
  /** Called when the disk returned an I/O error or the file turned out to be damaged, on either connection: what the process believes of the file is no longer safe. */
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

/** 'souk' in ASCII: tells our files from any other SQLite file. */
export const applicationId = 0x736f756b

/** Which file has this name at the moment; undefined when none can be seen. */
function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev} ${ino}`
  } catch {
    return undefined
  }
}

/** What every connection to the database file sets; see docs/architecture.md for the reason of each. */
export function configure(connection: Sqlite, synchronous: 'FULL' | 'OFF' = 'FULL'): void {
  const pragmas = ['busy_timeout = 5000', 'journal_mode = WAL', `synchronous = ${synchronous}`, 'foreign_keys = ON']
  pragmas.push('wal_autocheckpoint = 4000', 'cache_size = -4000', 'journal_size_limit = 67108864')
  pragmas.push('trusted_schema = 0', 'temp_store = MEMORY', 'secure_delete = FAST')
  for (const pragma of pragmas) connection.run(`PRAGMA ${pragma}`)
}

/** `SHMSIZE`: there is no room for the index of the log, which is no fault of the disk. */
const isFull = (error: unknown) => ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(engineErrorCode(error) ?? '')
const isFatal = (error: unknown) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(engineErrorCode(error) ?? '') && !isFull(error)

/** What of a connection drizzle uses. */
const clientOf = (prepare: (text: string) => Statement) => ({ prepare }) as unknown as Sqlite

function rowsOn(queries: BunSQLiteDatabase) {
  // Bound now: ours, of the same name, takes its place.
  const all = queries.all.bind(queries)
  return { rows: async <T>(query: SQL): Promise<T[]> => all<T>(query) }
}

/** Runs prepared queries on a connection, which keeps the statement of each as long as the query is there. */
function preparedOn(connection: Sqlite, tell: (error: unknown) => void) {
  const met = new WeakMap<Prepared<unknown>, ReturnType<typeof meet>>()
  function meet({ compiled: { text, bind, finish, told, sure } }: Prepared<unknown>) {
    const statement = connection.prepare<Record<string, unknown>, [never]>(text)
    // As the one argument: spread out, they would be copied twice before SQLite sees them.
    return {
      statement,
      bound: bind as (values: Values) => never,
      finish,
      told,
      mustFind: sure && isRead(text),
      mustChange: sure && !isRead(text),
    }
  }
  function known(query: Prepared<unknown>) {
    const found = met.get(query)
    if (found) return found
    const made = meet(query)
    met.set(query, made)
    return made
  }
  return {
    first<Row>(query: Prepared<Row>, values: Values = {}): Row | undefined {
      try {
        const { statement, bound, finish, told } = known(query)
        if (told) return statement.run(bound(values)).changes > 0 ? ({} as Row) : undefined
        const row = statement.get(bound(values))
        return row ? (finish(row) as Row) : undefined
      } catch (error) {
        tell(error)
        throw error
      }
    },
    all<Row>(query: Prepared<Row>, values: Values = {}): Row[] {
      try {
        const { statement, bound, finish } = known(query)
        return statement.all(bound(values)).map(finish) as Row[]
      } catch (error) {
        tell(error)
        throw error
      }
    },
    run(query: Prepared<never>, values: Values = {}): void {
      try {
        const { statement, bound, mustFind, mustChange } = known(query)
        const isThere = mustFind ? statement.get(bound(values)) !== null : statement.run(bound(values)).changes > 0 || !mustChange
        if (!isThere) throw new NothingChanged('a row is not as it was known')
      } catch (error) {
        tell(error)
        throw error
      }
    },
  }
}

function readerOn(connection: Sqlite, guard: Guard, tell: (error: unknown) => void): Reader {
  const queries = drizzle({ client: clientOf(statementCache(connection, guard)) })
  const { first, all } = preparedOn(connection, tell)
  const begin = connection.prepare('BEGIN')
  const commit = connection.prepare('COMMIT')
  return Object.assign(queries as unknown as Reader, rowsOn(queries), {
    first,
    all,
    together: <T>(reads: () => T): T =>
      guard(() => {
        // What is asked within it belongs to it.
        if (connection.inTransaction) return reads()
        begin.run()
        try {
          return reads()
        } finally {
          // An I/O error ends it by itself.
          if (connection.inTransaction) commit.run()
        }
      }),
  })
}

/** The embedded engine: one writer whose works share durable commits, one read-only reader. */
export function openSqlite(file: string, { onFatal, synchronous, besideServer = false }: SqliteOptions = {}): Database {
  assertEngine('sqlite')
  const writer = new Sqlite(file, { create: true, strict: true })
  configure(writer, synchronous)
  const [identity, ownFile] = [identityOf(file), databaseFileAt(file)]
  // The loop must not stand still while another process writes: we retry by ourselves.
  writer.run('PRAGMA busy_timeout = 0')
  const reader = new Sqlite(file, { readonly: true, strict: true })
  for (const pragma of ['busy_timeout = 5000', 'cache_size = -8000', 'trusted_schema = 0']) reader.run(`PRAGMA ${pragma}`)

  const tell = (error: unknown) => {
    if (isFatal(error)) onFatal?.(error)
  }
  const guard: Guard = (run) => {
    try {
      return run()
    } catch (error) {
      tell(error)
      throw error
    }
  }
  const prepare = statementCache(writer, guard)
  const prepared = preparedOn(writer, tell)
  const dataVersion = writer.prepare<{ data_version: number }, []>('PRAGMA data_version')
  const begin = writer.prepare('BEGIN IMMEDIATE')
  const commit = writer.prepare('COMMIT')
  const savepoint = writer.prepare('SAVEPOINT work')
  const release = writer.prepare('RELEASE work')

  const stats: DatabaseStats = newStats()
  const queue: Job[] = []
  let draining: Promise<void> | undefined
  let closing: Promise<void> | undefined
  let commitsHere = 0
  let commitsElsewhere = 0
  let seenDataVersion = dataVersion.get()?.data_version
  let lookedThisTurn = false
  /** The works that run next have failed without. */
  let inSavepoints = false

  /** SQLite tells a connection of others' commits. Asked once a turn of the loop: whatever knows of a commit arrives in a later one. */
  function foreignVersion(): number {
    if (lookedThisTurn) return commitsElsewhere
    lookedThisTurn = true
    setImmediate(() => {
      lookedThisTurn = false
    })
    const now = guard(() => dataVersion.get())?.data_version
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

  /**
   * Runs queued works in the open transaction, and commits them as one. Savepoints cost as much as a statement or two each, and SQLite
   * copies every page that is changed for the first time in one: there are none until a work fails after it has changed something.
   * Then all of it is undone, and the same works run again, each in its own.
   */
  async function commitTogether(): Promise<void> {
    const jobs: Job[] = []
    const settle: (() => void)[] = []
    const startedAt = performance.now()
    const watch = watchOfLoop()
    const run = inSavepoints ? runInSavepoint : runPlainly
    inSavepoints = false
    try {
      while (queue.length > 0 && jobs.length < worksPerCommitMax && performance.now() - startedAt < commitSliceMs) {
        const job = queue.shift() as Job
        jobs.push(job)
        const done = await run(job, watch)
        if (!done) {
          writer.run('ROLLBACK')
          queue.unshift(...jobs)
          inSavepoints = true
          return
        }
        settle.push(done)
      }
      const askedAt = performance.now()
      commit.run()
      note(stats.commitSeconds, (performance.now() - askedAt) / 1_000)
    } catch (error) {
      rejectAll(jobs, error)
      // Last: after an I/O error it may fail too, and nobody may be left waiting.
      if (writer.inTransaction) writer.run('ROLLBACK')
      return
    } finally {
      watch.end()
    }
    stats.commits++
    stats.writes += jobs.length
    note(stats.commitWorks, jobs.length)
    stats.queued = queue.length
    commitsHere++
    for (const settleJob of settle) settleJob()
  }

  /** As `runInSavepoint`; undefined where the work has failed and left changes behind. */
  async function runPlainly(job: Job, watch: Watch): Promise<(() => void) | undefined> {
    const run = newRun()
    try {
      return told(job, run, await runWork(job, run, watch))
    } catch (error) {
      if (isLost(error)) throw error
      return run.changes ? undefined : () => job.reject(error)
    }
  }

  /** Returns what to tell the caller once the commit is durable. Throws if the engine lost the whole transaction. */
  async function runInSavepoint(job: Job, watch: Watch): Promise<() => void> {
    savepoint.run()
    const run = newRun()
    try {
      const value = await runWork(job, run, watch)
      release.run()
      return told(job, run, value)
    } catch (error) {
      if (isLost(error)) throw error
      writer.run('ROLLBACK TO work')
      release.run()
      return () => job.reject(error)
    }
  }

  async function runWork({ work }: Job, run: Run, watch: Watch): Promise<unknown> {
    try {
      return await watch.settled(asWork(run, () => work(transactionOn(run))))
    } finally {
      run.open = false
    }
  }

  const told = (job: Job, run: Run, value: unknown) => () => {
    try {
      for (const effect of run.afterCommit) effect()
      job.resolve(value as never)
    } catch (error) {
      // The others of this commit must still be told.
      job.reject(error)
    }
  }

  const isLost = (error: unknown) => !writer.inTransaction || isFatal(error) || isFull(error)

  function transactionOn(run: Run): Writer {
    const noted = (query: Prepared<unknown>) => {
      assertOpen(run)
      run.changes ||= !isRead(query.compiled.text)
    }
    // Only few works need them, and they cost as much as a statement.
    let made: BunSQLiteDatabase | undefined
    const builders = () => (made ??= drizzle({ client: clientOf(prepareIn) }))
    const prepareIn = (text: string) => {
      assertOpen(run)
      run.changes ||= !isRead(text)
      return prepare(text)
    }
    const writerOf = {
      select: (...given: []) => builders().select(...given),
      insert: (table: never) => builders().insert(table),
      update: (table: never) => builders().update(table),
      delete: (table: never) => builders().delete(table),
      rows: async <T>(query: SQL): Promise<T[]> => builders().all<T>(query),
      first<Row>(query: Prepared<Row>, values?: Values) {
        noted(query)
        return prepared.first(query, values)
      },
      all<Row>(query: Prepared<Row>, values?: Values) {
        noted(query)
        return prepared.all(query, values)
      },
      run(query: Prepared<never>, values?: Values) {
        noted(query)
        prepared.run(query, values)
      },
      afterCommit: (effect: () => void) => void run.afterCommit.push(effect),
    }
    return writerOf as unknown as Writer
  }

  function rejectAll(jobs: Job[], error: unknown): void {
    const reason = isFull(error) ? new DatabaseFull('the disk is full', { cause: error }) : error
    for (const job of jobs) job.reject(reason)
    stats.queued = queue.length
    tell(error)
  }

  async function closeAll(): Promise<void> {
    await draining
    reader.close()
    ownFile.letLogGo()
    try {
      writer.run('PRAGMA busy_timeout = 2000')
      writer.run(`PRAGMA wal_checkpoint(${besideServer ? 'PASSIVE' : 'TRUNCATE'})`)
    } catch {
      // A full disk, say: the log stays, and the next start reads it.
    }
    writer.close()
  }

  return {
    read: readerOn(reader, guard, tell),
    write: (work) =>
      new Promise((resolve, reject) => {
        refuseNestedWrite()
        if (closing) throw new DatabaseUnavailable('the database is closed')
        if (queue.length >= queueMax) throw new DatabaseUnavailable('too many writes are waiting')
        queue.push({ work, resolve: resolve as Job['resolve'], reject })
        stats.queued = queue.length
        draining ??= new Promise<void>((resume) => setImmediate(resume)).then(drain)
      }),
    aside: () => readAside(file),
    version: () => commitsHere + foreignVersion(),
    foreignVersion,
    isInPlace: () => identityOf(file) === identity,
    stats,
    file: ownFile,
    async checkpoint() {
      const page = writer.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0
      // Not inside a batch: its transaction is open while its works take turns.
      await draining
      try {
        const state = writer.query<{ log: number }, []>('PRAGMA wal_checkpoint(PASSIVE)').get()
        return Math.max(0, state?.log ?? 0) * page
      } catch (error) {
        // A disk that fails is often noticed here first: a COMMIT says nothing of the checkpoint that it sets off.
        tell(error)
        throw error
      }
    },
    close: () => (closing ??= closeAll()),
  }
}

/** A work under way, and whether it has changed anything. */
type Run = Work & { changes: boolean }

const newRun = (): Run => ({ ...newWork(), changes: false })

/** Whether a statement only reads. What is not sure to counts as a change. */
const isRead = (text: string): boolean => text.startsWith('select ')
