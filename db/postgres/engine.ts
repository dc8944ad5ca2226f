import type { SQL } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { assertEngine } from '../columns.ts'
import {
  type Database,
  DatabaseOutcomeUnknown,
  type DatabaseStats,
  DatabaseUnavailable,
  engineErrorCode,
  type Prepared,
  type Reader,
  type Values,
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
/** The server is unreachable, starting, stopping or out of connections; disk_full is 53100. */
const unavailable = /^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|08|53|57P0)/

// Every bigint that we store fits a JavaScript number; without this the driver answers text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

const rowsOn = (queries: NodePgDatabase) => ({
  rows: async <T>(query: SQL): Promise<T[]> => (await queries.execute(query)).rows as T[],
})

/** Whatever the connection dies of before a COMMIT, nothing was kept. Of the COMMIT itself nobody could say that. */
async function beforeCommit<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (isLostConnection(error)) throw new DatabaseUnavailable('the database server does not answer', { cause: error })
    throw error
  }
}

/** The driver gives a connection that broke off no code, but says so in the message. */
function isLostConnection(error: unknown): boolean {
  const code = engineErrorCode(error)
  if (code !== undefined) return unavailable.test(code)
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error && /^Connection terminated|^Client has encountered a connection error|^timeout exceeded/.test(cause.message)
}

/** Of a COMMIT that was not answered nobody knows what became of it; one that the server refused did not happen. */
function unlessSaid(error: unknown): never {
  if (isLostConnection(error)) throw new DatabaseOutcomeUnknown('the connection was lost during a commit', { cause: error })
  throw error
}

type Query = (query: pg.QueryConfig, values?: unknown[]) => Promise<pg.QueryResult>

/** Runs prepared queries, whose plans the server keeps by their names, one a connection. */
function preparedOn(query: Query) {
  async function all<Row>({ compiled }: Prepared<Row>, values: Values = {}): Promise<Row[]> {
    const { rows } = await query({ name: compiled.name, text: compiled.text, values: compiled.bind(values) })
    return rows.map(compiled.finish)
  }
  return {
    all,
    first: async <Row>(query: Prepared<Row>, values?: Values): Promise<Row | undefined> => (await all(query, values))[0],
    run: async (query: Prepared<never>, values?: Values): Promise<void> => void (await all(query, values)),
  }
}

/** What of a connection drizzle uses. */
const clientOf = (query: Query) => ({ query }) as unknown as pg.PoolClient

function readerOn(pool: pg.Pool): Reader {
  const query: Query = (query, values) => beforeCommit(() => pool.query(query, values))
  const queries = drizzle({ client: clientOf(query) })
  const { first, all } = preparedOn(query)
  return Object.assign(queries as unknown as Reader, rowsOn(queries), { first, all, together: <T>(reads: () => T): T => reads() })
}

/** Refuses queries that come once the work has settled: the connection serves somebody else by then. */
function transactionOn(client: pg.PoolClient, work: Work): Writer {
  const guarded: Query = async (query, values) => {
    assertOpen(work)
    return client.query(query, values)
  }
  const queries = drizzle({ client: clientOf(guarded) })
  return Object.assign(queries as unknown as Writer, rowsOn(queries), preparedOn(guarded), {
    afterCommit: (effect: () => void) => void work.afterCommit.push(effect),
  })
}

/** Any Postgres-wire engine: serializable transactions, run again when the engine says so. */
export function openPostgres(url: string, random: () => number): Database {
  assertEngine('postgres')
  const pool = new pg.Pool({ connectionString: url, max: connectionsMax, connectionTimeoutMillis: 10_000 })
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

  async function attempt<T>(work: (tx: Writer) => Promise<T>, scope: Work): Promise<T> {
    const client = await connect()
    let broken = false
    try {
      const value = await beforeCommit(async () => {
        await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE')
        return asWork(scope, () => work(transactionOn(client, scope)))
      })
      const { command } = await client.query('COMMIT').catch(unlessSaid)
      // The server answers ROLLBACK, and no error, when a query of the work had failed and the work went on all the same.
      if (command !== 'COMMIT') throw new Error('a database work may not go on after a query of it has failed')
      return value
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {
        broken = true
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  async function write<T>(work: (tx: Writer) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const scope = newWork()
      const done = await attempt(work, scope).then(
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
    async write(work) {
      refuseNestedWrite()
      if (closing) throw new DatabaseUnavailable('the database is closed')
      if (stats.queued >= queueMax) throw new DatabaseUnavailable('too many writes are waiting')
      stats.queued++
      const done = write(work)
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
