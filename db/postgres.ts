import type { SQL } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { type Database, type DatabaseStats, DatabaseUnavailable, engineErrorCode, type Reader, type Writer } from './engine.ts'

const connectionsMax = 10
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

/** Any Postgres-wire engine: serializable transactions, run again when the engine says so. */
export function openPostgres(url: string, random: () => number): Database {
  const pool = new pg.Pool({ connectionString: url, max: connectionsMax, connectionTimeoutMillis: 10_000 })
  // An idle connection that the server closed is replaced by the pool; unhandled, it would end the process.
  pool.on('error', () => undefined)
  const readQueries = drizzle({ client: pool })
  const stats: DatabaseStats = { writes: 0, commits: 0, retries: 0, queued: 0 }

  async function attempt<T>(work: (tx: Writer) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    let broken = false
    try {
      await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE')
      const queries = drizzle({ client })
      const value = await work(Object.assign(queries as unknown as Writer, rowsOn(queries)))
      await client.query('COMMIT')
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
      try {
        const value = await attempt(work)
        stats.writes++
        stats.commits++
        return value
      } catch (error) {
        const code = engineErrorCode(error)
        if (code !== undefined && unavailable.test(code)) throw new DatabaseUnavailable('the database server does not answer', { cause: error })
        if (code === undefined || !retryable.has(code)) throw error
        if (tries >= attemptsMax) throw new DatabaseUnavailable('too many conflicting writes', { cause: error })
        stats.retries++
        await new Promise((resolve) => setTimeout(resolve, random() * Math.min(backoffMaxMs, 2 ** tries)))
      }
    }
  }

  return {
    read: Object.assign(readQueries as unknown as Reader, rowsOn(readQueries)),
    async write(work) {
      stats.queued++
      try {
        return await write(work)
      } finally {
        stats.queued--
      }
    },
    // Another process may have written a moment ago: nothing is cached.
    version: () => undefined,
    stats,
    checkpoint: async () => undefined,
    close: () => pool.end(),
  }
}
