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
import { newStats, recordValue } from '../histogram.ts'
import { assertOpen, asWork, newWork, refuseNestedWrite, type Work } from '../write-work.ts'
import { openBackgroundReader } from './background-reader.ts'
import { databaseFileAt } from './file.ts'
import { type Watch, watchOfLoop } from './loop-watch.ts'
import { type Guard, statementCache } from './statements.ts'

type Job = { work: (tx: Writer) => Promise<unknown>; resolve: (value: never) => void; reject: (error: unknown) => void }

/** Options that most callers leave out. */
export type SqliteOptions = {
  /** Called after an I/O error or detected damage: in-memory state of the file is no longer reliable. */
  onFatal?: (error: unknown) => void
  /** OFF only to measure the cost of durability. */
  synchronous?: 'FULL' | 'OFF'
  /** Another process may serve this file, so closing must not block its writes. */
  besideServer?: boolean
}

const worksPerCommitMax = 512
/** Maximum number of waiting writes. */
const queueMax = 20_000
/** Maximum duration of a transaction, so that a second process waits briefly. */
const commitSliceMs = 15
const busyRetryMs = 2
const busyGiveUpMs = 10_000

/** 'souk' in ASCII: identifies our files. */
export const applicationId = 0x736f756b

/** Identifies the file at a path; undefined if there is none. */
function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev} ${ino}`
  } catch {
    return undefined
  }
}

/** Sets the pragmas of every connection; see db/README.md. */
export function configure(connection: Sqlite, synchronous: 'FULL' | 'OFF' = 'FULL'): void {
  const pragmas = ['busy_timeout = 5000', 'journal_mode = WAL', `synchronous = ${synchronous}`, 'foreign_keys = ON']
  pragmas.push('wal_autocheckpoint = 4000', 'cache_size = -4000', 'journal_size_limit = 67108864')
  pragmas.push('trusted_schema = 0', 'temp_store = MEMORY', 'secure_delete = FAST')
  for (const pragma of pragmas) connection.run(`PRAGMA ${pragma}`)
}

/** `SHMSIZE`: no room for the index of the log, which is not a disk fault. */
const isFull = (error: unknown) => ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(engineErrorCode(error) ?? '')
const isFatal = (error: unknown) => /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(engineErrorCode(error) ?? '') && !isFull(error)

const clientOf = (prepare: (text: string) => Statement) => ({ prepare }) as unknown as Sqlite

function rowsOn(queries: BunSQLiteDatabase) {
  // Bound now, because our method of the same name replaces it.
  const all = queries.all.bind(queries)
  return { rows: async <T>(query: SQL): Promise<T[]> => all<T>(query) }
}

/** Runs prepared queries on a connection and caches their statements. */
function preparedOn(connection: Sqlite, reportFatal: (error: unknown) => void) {
  const statements = new WeakMap<Prepared<unknown>, ReturnType<typeof prepareStatement>>()
  function prepareStatement({ compiled: { text, bind, finish, isRowless, sure } }: Prepared<unknown>) {
    const statement = connection.prepare<Record<string, unknown>, [never]>(text)
    // As one argument, because spreading copies the values twice.
    return {
      statement,
      bound: bind as (values: Values) => never,
      finish,
      isRowless,
      mustFind: sure && isRead(text),
      mustChange: sure && !isRead(text),
    }
  }
  function statementOf(query: Prepared<unknown>) {
    const found = statements.get(query)
    if (found) return found
    const made = prepareStatement(query)
    statements.set(query, made)
    return made
  }
  return {
    first<Row>(query: Prepared<Row>, values: Values = {}): Row | undefined {
      try {
        const { statement, bound, finish, isRowless } = statementOf(query)
        if (isRowless) return statement.run(bound(values)).changes > 0 ? ({} as Row) : undefined
        const row = statement.get(bound(values))
        return row ? (finish(row) as Row) : undefined
      } catch (error) {
        reportFatal(error)
        throw error
      }
    },
    all<Row>(query: Prepared<Row>, values: Values = {}): Row[] {
      try {
        const { statement, bound, finish } = statementOf(query)
        return statement.all(bound(values)).map(finish) as Row[]
      } catch (error) {
        reportFatal(error)
        throw error
      }
    },
    run(query: Prepared<never>, values: Values = {}): void {
      try {
        const { statement, bound, mustFind, mustChange } = statementOf(query)
        const isAffected = mustFind ? statement.get(bound(values)) !== null : statement.run(bound(values)).changes > 0 || !mustChange
        if (!isAffected) throw new NothingChanged('a row is not as it was known')
      } catch (error) {
        reportFatal(error)
        throw error
      }
    },
  }
}

function readerOn(connection: Sqlite, guard: Guard, reportFatal: (error: unknown) => void): Reader {
  const queries = drizzle({ client: clientOf(statementCache(connection, guard)) })
  const { first, all } = preparedOn(connection, reportFatal)
  const begin = connection.prepare('BEGIN')
  const commit = connection.prepare('COMMIT')
  return Object.assign(queries as unknown as Reader, rowsOn(queries), {
    first,
    all,
    inSnapshot: <T>(reads: () => T): T =>
      guard(() => {
        // Nested calls belong to the outer snapshot.
        if (connection.inTransaction) return reads()
        begin.run()
        try {
          return reads()
        } finally {
          // An I/O error ends the transaction.
          if (connection.inTransaction) commit.run()
        }
      }),
  })
}

/** Opens the embedded engine: one writer whose writes share durable commits, and one read-only reader. */
export function openSqlite(file: string, { onFatal, synchronous, besideServer = false }: SqliteOptions = {}): Database {
  assertEngine('sqlite')
  const writer = new Sqlite(file, { create: true, strict: true })
  configure(writer, synchronous)
  const [identity, ownFile] = [identityOf(file), databaseFileAt(file)]
  // Retries are ours, so that the event loop continues while another process writes.
  writer.run('PRAGMA busy_timeout = 0')
  const reader = new Sqlite(file, { readonly: true, strict: true })
  for (const pragma of ['busy_timeout = 5000', 'cache_size = -8000', 'trusted_schema = 0']) reader.run(`PRAGMA ${pragma}`)

  const reportFatal = (error: unknown) => {
    if (isFatal(error)) onFatal?.(error)
  }
  const guard: Guard = (run) => {
    try {
      return run()
    } catch (error) {
      reportFatal(error)
      throw error
    }
  }
  const prepare = statementCache(writer, guard)
  const prepared = preparedOn(writer, reportFatal)
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
  /** The next works failed without savepoints. */
  let inSavepoints = false

  /**
   * Detects commits of other processes. Once per turn of the loop, because news of a commit arrives in a later turn.
   */
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

  /** Returns false if another process held the lock for too long; the queue is refused then. */
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
   * Runs queued works in the open transaction and commits them together. Savepoints are expensive, so they are used
   * only after a work failed with changes: everything is rolled back and runs again, each work in its savepoint.
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
      const commitStartedAt = performance.now()
      commit.run()
      recordValue(stats.commitSeconds, (performance.now() - commitStartedAt) / 1_000)
    } catch (error) {
      rejectAll(jobs, error)
      // Last, because it may fail after an I/O error, and all callers must get their errors first.
      if (writer.inTransaction) writer.run('ROLLBACK')
      return
    } finally {
      watch.end()
    }
    stats.commits++
    stats.writes += jobs.length
    recordValue(stats.commitWorks, jobs.length)
    stats.queued = queue.length
    commitsHere++
    for (const settleJob of settle) settleJob()
  }

  /** `runInSavepoint` without a savepoint; undefined if the work failed with changes. */
  async function runPlainly(job: Job, watch: Watch): Promise<(() => void) | undefined> {
    const run = newRun()
    try {
      return settleSuccess(job, run, await runWork(job, run, watch))
    } catch (error) {
      if (isLost(error)) throw error
      return run.changes ? undefined : () => job.reject(error)
    }
  }

  /** Returns the function that settles the caller's promise after the commit. Throws if the transaction is lost. */
  async function runInSavepoint(job: Job, watch: Watch): Promise<() => void> {
    savepoint.run()
    const run = newRun()
    try {
      const value = await runWork(job, run, watch)
      release.run()
      return settleSuccess(job, run, value)
    } catch (error) {
      if (isLost(error)) throw error
      writer.run('ROLLBACK TO work')
      release.run()
      return () => job.reject(error)
    }
  }

  async function runWork({ work }: Job, run: Run, watch: Watch): Promise<unknown> {
    try {
      return await watch.settle(asWork(run, () => work(transactionOn(run))))
    } finally {
      run.open = false
    }
  }

  const settleSuccess = (job: Job, run: Run, value: unknown) => () => {
    try {
      for (const effect of run.afterCommit) effect()
      job.resolve(value as never)
    } catch (error) {
      job.reject(error)
    }
  }

  const isLost = (error: unknown) => !writer.inTransaction || isFatal(error) || isFull(error)

  function transactionOn(run: Run): Writer {
    const recordUse = (query: Prepared<unknown>) => {
      assertOpen(run)
      run.changes ||= !isRead(query.compiled.text)
    }
    // Created on demand: a builder costs as much as a statement.
    let made: BunSQLiteDatabase | undefined
    const builders = () => (made ??= drizzle({ client: clientOf(prepareIn) }))
    const prepareIn = (text: string) => {
      assertOpen(run)
      run.changes ||= !isRead(text)
      return prepare(text)
    }
    const writerOf = {
      select: (...columns: []) => builders().select(...columns),
      insert: (table: never) => builders().insert(table),
      update: (table: never) => builders().update(table),
      delete: (table: never) => builders().delete(table),
      rows: async <T>(query: SQL): Promise<T[]> => builders().all<T>(query),
      first<Row>(query: Prepared<Row>, values?: Values) {
        recordUse(query)
        return prepared.first(query, values)
      },
      all<Row>(query: Prepared<Row>, values?: Values) {
        recordUse(query)
        return prepared.all(query, values)
      },
      run(query: Prepared<never>, values?: Values) {
        recordUse(query)
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
    reportFatal(error)
  }

  async function closeAll(): Promise<void> {
    await draining
    reader.close()
    ownFile.releaseLog()
    try {
      writer.run('PRAGMA busy_timeout = 2000')
      writer.run(`PRAGMA wal_checkpoint(${besideServer ? 'PASSIVE' : 'TRUNCATE'})`)
    } catch {
      // For example on a full disk: the log stays for the next start.
    }
    writer.close()
  }

  return {
    read: readerOn(reader, guard, reportFatal),
    write: (work) =>
      new Promise((resolve, reject) => {
        refuseNestedWrite()
        if (closing) throw new DatabaseUnavailable('the database is closed')
        if (queue.length >= queueMax) throw new DatabaseUnavailable('too many writes are waiting')
        queue.push({ work, resolve: resolve as Job['resolve'], reject })
        stats.queued = queue.length
        draining ??= new Promise<void>((resume) => setImmediate(resume)).then(drain)
      }),
    backgroundReader: () => openBackgroundReader(file),
    version: () => commitsHere + foreignVersion(),
    foreignVersion,
    isInPlace: () => identityOf(file) === identity,
    stats,
    file: ownFile,
    async checkpoint() {
      const page = writer.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0
      // Not inside a batch, whose transaction is open across turns.
      await draining
      try {
        const state = writer.query<{ log: number }, []>('PRAGMA wal_checkpoint(PASSIVE)').get()
        return Math.max(0, state?.log ?? 0) * page
      } catch (error) {
        // A failing disk is often noticed here first: COMMIT does not report errors of its checkpoint.
        reportFatal(error)
        throw error
      }
    },
    close: () => (closing ??= closeAll()),
  }
}

/** A running work, and whether it changed anything. */
type Run = Work & { changes: boolean }

const newRun = (): Run => ({ ...newWork(), changes: false })

/** Returns whether a statement only reads. In doubt it counts as a change. */
const isRead = (text: string): boolean => text.startsWith('select ')
