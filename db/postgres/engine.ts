import type { SQL } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { assertEngine } from '../columns.ts'
import {
  type Database,
  DatabaseFull,
  DatabaseOutcomeUnknown,
  type DatabaseStats,
  DatabaseUnavailable,
  engineErrorCode,
  type Prepared,
  type Reader,
  type Values,
  type WriteOptions,
  type Writer,
} from '../engine.ts'
import { assertOpen, asWork, newWork, refuseNestedWrite, type Work } from '../work.ts'

const connectionsMax = 10
/** Writes under way or waiting for a connection. */
const queueMax = 5_000
const attemptsMax = 30
const backoffMaxMs = 200
/** serialization_failure and deadlock_detected: nothing happened, the same work may run again. */
const retryable = new Set(['40001', '40P01'])
/** The server is unreachable, starting, stopping, out of connections, or a time-out of a statement, a lock or a transaction has struck. */
const unavailable = /^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|08|53|57P0|57014|55P03|25P03|25P04)/
const diskFull = '53100'

// Every bigint that we store fits a JavaScript number; without this the driver answers text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

const rowsOn = (queries: NodePgDatabase) => ({
  rows: async <T>(query: SQL): Promise<T[]> => (await queries.execute(query)).rows as T[],
})

/** The driver gives a connection that broke off no code, but says so in the message. */
function isUnavailable(error: unknown): boolean {
  const code = engineErrorCode(error)
  if (code !== undefined) return unavailable.test(code)
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error && /^Connection terminated|^Client has encountered a connection error|^timeout exceeded/.test(cause.message)
}

/** What a caller is told of an error by which nothing was kept. */
function refusalOf(error: unknown): unknown {
  if (engineErrorCode(error) === diskFull) return new DatabaseFull('the disk of the database server is full', { cause: error })
  return isUnavailable(error) ? new DatabaseUnavailable('the database server does not answer, or not in time', { cause: error }) : error
}

type Query = (query: pg.QueryConfig | string, values?: unknown[]) => Promise<pg.QueryResult>

/** A prepared query as the driver takes it. The server keeps its plan by its name, one a connection. */
const boundTo = <Row>({ compiled: { name, text, bind } }: Prepared<Row>, values: Values = {}): pg.QueryConfig => ({
  name,
  text,
  values: bind(values),
})

/** Reads prepared queries. */
function readingOn(query: Query) {
  async function all<Row>(prepared: Prepared<Row>, values?: Values): Promise<Row[]> {
    const { rows } = await query(boundTo(prepared, values))
    return rows.map(prepared.compiled.finish)
  }
  return { all, first: async <Row>(query: Prepared<Row>, values?: Values): Promise<Row | undefined> => (await all(query, values))[0] }
}

/** What of a connection drizzle uses. */
const clientOf = (query: Query) => ({ query }) as unknown as pg.PoolClient

function readerOn(pool: pg.Pool): Reader {
  const query: Query = (query, values) =>
    pool.query(query as pg.QueryConfig, values).catch((error: unknown) => {
      throw refusalOf(error)
    })
  const queries = drizzle({ client: clientOf(query) })
  return Object.assign(queries as unknown as Reader, rowsOn(queries), readingOn(query), { together: <T>(reads: () => T): T => reads() })
}

/**
 * A transaction under way. Its queries are sent one behind the other without waiting: the server takes them in their order, and after
 * one has failed it refuses the rest, so that the first failure is the cause of every later one.
 */
type Transaction = { readonly query: Query; failed: { error: unknown } | undefined }

function begin(client: pg.PoolClient, how: string): Transaction {
  const transaction: Transaction = {
    failed: undefined,
    query: (query, values) =>
      client.query(query as pg.QueryConfig, values).catch((error: unknown) => {
        transaction.failed ??= { error }
        throw transaction.failed.error
      }),
  }
  unawaited(transaction.query(how))
  return transaction
}

/** For what nobody waits for, because the transaction remembers its failure. */
const unawaited = (sent: Promise<unknown>): void => void sent.catch(() => undefined)

/** Refuses queries that come once the work has settled: the connection serves somebody else by then. */
function writerOn({ query }: Transaction, work: Work): Writer {
  const guarded: Query = async (...args) => {
    assertOpen(work)
    return query(...args)
  }
  const queries = drizzle({ client: clientOf(guarded) })
  return Object.assign(queries as unknown as Writer, rowsOn(queries), readingOn(guarded), {
    run(prepared: Prepared<never>, values?: Values): void {
      assertOpen(work)
      unawaited(query(boundTo(prepared, values)))
    },
    afterCommit: (effect: () => void) => void work.afterCommit.push(effect),
  })
}

type Isolation = keyof typeof beginAs
const beginAs = {
  serializable: 'BEGIN ISOLATION LEVEL SERIALIZABLE',
  locking: 'BEGIN ISOLATION LEVEL READ COMMITTED',
} as const

/**
 * Commits, behind whatever was sent before.
 * @throws what a query of the transaction has failed of, or the commit; DatabaseOutcomeUnknown when the server did not say how it ended
 */
async function commit(client: pg.PoolClient, transaction: Transaction): Promise<void> {
  const { command } = await client.query('COMMIT').catch((error: unknown) => {
    for (const failure of [transaction.failed?.error, error]) if (saysNothingWasKept(failure)) throw failure
    throw new DatabaseOutcomeUnknown('the database server went away during a commit', { cause: error })
  })
  // The server answers ROLLBACK, and no error, when a query had failed.
  if (command !== 'COMMIT') throw transaction.failed?.error
}

/** Whether the server has ended the transaction by an error that is not the end of the connection; or the driver never sent the query. */
function saysNothingWasKept(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !/^(08|57P|58|XX)/.test(error.code ?? 'XX')
  return error instanceof Error && /^Client (has encountered a connection error|was closed)/.test(error.message)
}

/** Any Postgres-wire engine: transactions that are serializable or lock what they name, run again when the engine says so. */
export function openPostgres(url: string, random: () => number): Database {
  assertEngine('postgres')
  const pool = new pg.Pool({ connectionString: url, max: connectionsMax, connectionTimeoutMillis: 10_000, pipeline: true })
  // A connection that the server closed, idle or at work, is replaced; its queries fail by themselves. Unhandled, the event would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const stats: DatabaseStats = { writes: 0, commits: 0, retries: 0, queued: 0 }
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  async function connect(): Promise<pg.PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      throw new DatabaseUnavailable('the database server does not answer', { cause: error })
    }
  }

  async function attempt<T>(work: (tx: Writer) => Promise<T>, scope: Work, isolation: Isolation): Promise<T> {
    const client = await connect()
    const transaction = begin(client, beginAs[isolation])
    let broken = false
    try {
      const value = await asWork(scope, () => work(writerOn(transaction, scope)))
      await commit(client, transaction)
      return value
    } catch (error) {
      // Behind whatever was sent and is not answered yet.
      await client.query('ROLLBACK').catch(() => {
        broken = true
      })
      throw refusalOf(error)
    } finally {
      client.release(broken)
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
        for (const effect of scope.afterCommit) effect()
        return done.value
      }
      const code = engineErrorCode(done.error)
      if (code === undefined || !retryable.has(code)) throw done.error
      if (tries >= attemptsMax) throw new DatabaseUnavailable('too many conflicting writes', { cause: done.error })
      stats.retries++
      await new Promise((resolve) => setTimeout(resolve, random() * Math.min(backoffMaxMs, 2 ** tries)))
    }
  }

  async function closeAll(): Promise<void> {
    await Promise.allSettled(underWay)
    await pool.end()
  }

  return {
    read: readerOn(pool),
    async write(work, options = {}) {
      refuseNestedWrite()
      if (closing) throw new DatabaseUnavailable('the database is closed')
      if (stats.queued >= queueMax) throw new DatabaseUnavailable('too many writes are waiting')
      stats.queued++
      const done = write(work, options)
      underWay.add(done)
      try {
        return await done
      } finally {
        underWay.delete(done)
        stats.queued--
      }
    },
    // Another process may have written a moment ago: nothing is cached.
    version: () => undefined,
    foreignVersion: () => undefined,
    stats,
    checkpoint: async () => undefined,
    close: () => (closing ??= closeAll()),
  }
}
