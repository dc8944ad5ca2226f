import type { SQL } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import {
  binder,
  type Compiled,
  type Database,
  type DatabaseStats,
  DatabaseUnavailable,
  engineErrorCode,
  type Reader,
  type Writer,
} from '../engine.ts'
import { assertOpen, asWork, newWork, refuseNestedWrite, type Work, workUnderWay } from '../work.ts'

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

type Query = (query: pg.QueryConfig, values?: unknown[]) => Promise<pg.QueryResult>

/** Under which name the server keeps the plan of a statement, one a connection. */
const planOf = (text: string): string => Bun.hash(text).toString(36)

/** What of a connection drizzle uses. */
const clientOf = (query: Query) => ({ query }) as unknown as pg.PoolClient

/** Refuses queries that come once the work has settled: the connection serves somebody else by then. */
function transactionOn(client: pg.PoolClient, work: Work): Writer {
  const guarded = clientOf((query, values) => {
    assertOpen(work)
    return client.query(query, values)
  })
  const queries = drizzle({ client: guarded })
  return Object.assign(queries as unknown as Writer, rowsOn(queries), {
    afterCommit: (effect: () => void) => void work.afterCommit.push(effect),
  })
}

/** Any Postgres-wire engine: serializable transactions, run again when the engine says so. */
export function openPostgres(url: string, random: () => number): Database {
  const pool = new pg.Pool({ connectionString: url, max: connectionsMax, connectionTimeoutMillis: 10_000 })
  // A connection that the server closed, idle or at work, is replaced; its queries fail by themselves. Unhandled, the event would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const readQueries = drizzle({ client: clientOf((query, values) => beforeCommit(() => pool.query(query, values))) })
  const clientOfWork = new WeakMap<Work, pg.PoolClient>()
  const workOf = new WeakMap<Writer, Work>()
  // Prepared before there is a transaction: they find the connection of the work that they run in.
  const prepared = drizzle({ client: clientOf(async (query, values) => connectionUnderWay().query(query, values)) }) as unknown as Writer
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

  function connectionUnderWay(): pg.PoolClient {
    const work = workUnderWay()
    assertOpen(work)
    const client = work && clientOfWork.get(work)
    if (!client) throw new Error('a work has no connection')
    return client
  }

  async function attempt<T>(work: (tx: Writer) => Promise<T>, scope: Work): Promise<T> {
    const client = await connect()
    let broken = false
    try {
      const value = await beforeCommit(async () => {
        await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE')
        const tx = transactionOn(client, scope)
        clientOfWork.set(scope, client)
        workOf.set(tx, scope)
        return asWork(scope, () => work(tx))
      })
      const { command } = await client.query('COMMIT')
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

  function many<Row>(query: Compiled): (values: Record<string, unknown>) => Promise<Row[]> {
    const { sql: text, params } = query.toSQL()
    const name = planOf(text)
    const bound = binder(params)
    return async (values) => (await beforeCommit(() => pool.query({ name, text, values: bound(values) }))).rows as Row[]
  }

  return {
    read: Object.assign(readQueries as unknown as Reader, rowsOn(readQueries), {
      many,
      together: <T>(reads: () => T): T => reads(),
      one<Row>(query: Compiled) {
        const rows = many<Row>(query)
        return async (values: Record<string, unknown>) => (await rows(values))[0]
      },
    }),
    statement(build) {
      const query = build(prepared)
      // The types are SQLite's, where a statement has no name.
      const prepare = query.prepare.bind(query) as (name: string) => ReturnType<typeof query.prepare>
      const statement = prepare(planOf(query.toSQL().sql))
      return async (tx, values) => {
        assertOpen(workOf.get(tx))
        return statement.execute(values)
      }
    },
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
