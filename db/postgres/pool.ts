/** Connection pools of the pg driver with their session settings. A pooler such as PgBouncer may be in between. */
import type { Writable } from 'node:stream'
import pg from 'pg'
import { DatabaseUnavailable, type PoolFigures } from '../engine.ts'
import { takesNoWrites } from './errors.ts'
import { reachMs, refuseStandby, type Servers } from './primary.ts'

// Every bigint that we store fits a JavaScript number; without this the driver returns text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Milliseconds. */
export type Timeouts = {
  /** Limit of one statement, including its wait for locks. */
  statement: number
  /** Longer than `idleInTransaction`, so that a waiter outlasts a frozen process. */
  lock: number
  /** Maximum idle time inside a transaction. PostgreSQL then closes the connection and releases its locks. */
  idleInTransaction: number
  /** Limit after which PostgreSQL closes a connection whose client acknowledges no data. */
  unacknowledged: number
  /** Limit of opening a connection, and of waiting for a free one. */
  connect: number
  /** Limit of the wait for a response; longer than `statement`. The connection is closed then. */
  answer: number
}

/** A request is answered within 28 seconds. The waits for a connection and for a response are shorter together. */
export const defaults: Timeouts = {
  statement: 12_000,
  lock: 8_000,
  idleInTransaction: 5_000,
  unacknowledged: 15_000,
  connect: 10_000,
  answer: 15_000,
}

/** For commands, whose statements have no time limit. */
export const unhurried: Partial<Timeouts> = { statement: 0, answer: 0 }

/** A statement of the driver. With `name`, the server keeps its plan for the connection. */
export type Statement = Omit<pg.QueryConfig, 'values'> & {
  readonly values?: readonly unknown[]
  readonly rowMode?: string | undefined
}
/** Rows of a statement, and its command tag such as `UPDATE`. */
export type QueryResult = { readonly rows: unknown[]; readonly command: string }
/** Runs a statement. drizzle passes the values separately. */
export type Query = (statement: Statement, values?: unknown[]) => Promise<QueryResult>

/** A connection that is reserved until it is released. Statements are sent without waiting for earlier responses. */
export type Session = {
  readonly query: Query
  /** Whether a pooler may change the connection after each transaction. Session settings are lost then. */
  readonly isPooled: boolean
  /** Begins a transaction, and sets its timeouts if the connection could not. */
  begin(mode: string): Promise<unknown>
  /** Returns the connection to the pool, or closes it if it is broken. */
  release(): void
}

/** Connections to the primary, opened on demand. */
export type Pool = {
  /** @throws DatabaseUnavailable if no connection is free or can be opened in time */
  session(): Promise<Session>
  figures(): Pick<PoolFigures, 'open' | 'idle' | 'waiting'>
  end(): Promise<void>
}

/** Members of the driver's client that its types omit. Its version is pinned. */
type InternalClient = pg.ClientBase & { readonly processID: number | null; readonly connection: { readonly stream: Writable } }

/** Returns a function that joins all writes until the end of the turn: one system call instead of one a statement. */
function corkTurn(stream: Writable): () => void {
  let isCorked = false
  return () => {
    if (isCorked) return
    isCorked = true
    stream.cork()
    process.nextTick(() => {
      isCorked = false
      stream.uncork()
    })
  }
}

/** Idle connections are closed after this time, in milliseconds. */
const idleMs = 10_000

type PoolOptions = {
  /** The candidates. All connections are to the primary. */
  readonly servers: Servers
  /** Maximum number of connections. */
  readonly max: number
  readonly timeouts?: Partial<Timeouts> | undefined
  /** Refuses changes outside a transaction, such as those after a failed BEGIN. */
  readonly changesNeedBegin?: boolean
}

/** Creates a pool. It opens no connection before the first `session`. */
export function openPool({ servers, max, timeouts: configuredTimeouts, changesNeedBegin = false }: PoolOptions): Pool {
  const timeouts = { ...defaults, ...configuredTimeouts }
  const limits = {
    statement_timeout: timeouts.statement,
    lock_timeout: timeouts.lock,
    idle_in_transaction_session_timeout: timeouts.idleInTransaction,
  }
  const setLocal = Object.entries(limits).map(([name, ms]) => `; SET LOCAL ${name} = ${ms}`)
  const ofSession = {
    ...limits,
    tcp_user_timeout: timeouts.unacknowledged,
    default_transaction_isolation: 'read committed',
    // Starting workers takes longer than any statement of a request, and takes the processors of others.
    max_parallel_workers_per_gather: 0,
    // JIT compilation takes up to a second, longer than any statement of a request.
    jit: 'off',
    ...(changesNeedBegin ? { default_transaction_read_only: 'on' } : {}),
  }
  const setForSession = Object.entries(ofSession).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  const isOneOfSeveral = servers.urls.length > 1
  const sessions = new WeakMap<pg.ClientBase, Session>()

  /** With several servers each has a shorter timeout, so that the others are tried in time. */
  class Client extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionTimeoutMillis: isOneOfSeveral ? Math.min(reachMs, timeouts.connect) : timeouts.connect })
    }
  }

  const pools = servers.urls.map((connectionString) => {
    const pool = new pg.Pool({
      connectionString,
      Client,
      max,
      pipeline: true,
      connectionTimeoutMillis: timeouts.connect,
      idleTimeoutMillis: idleMs,
      query_timeout: timeouts.answer,
      keepAlive: true,
      onConnect: async (client) => void sessions.set(client, await sessionOn(client)),
    })
    // An idle connection was lost. Unhandled, the event would end the process.
    pool.on('error', findServer)
    return pool
  })

  function findServer(): void {
    if (isOneOfSeveral) void servers.find()
  }

  /**
   * Sets the timeouts only if the reported process number is that of the backend. A pooler invents the number, and
   * would pass the settings on to other clients.
   */
  async function sessionOn(client: pg.ClientBase): Promise<Session> {
    // Queries report a lost connection. Unhandled, the event would end the process.
    client.on('error', () => undefined)
    if (isOneOfSeveral) await refuseStandby(client)
    const { processID, connection } = client as InternalClient
    const { rows } = await client.query<{ access: 'on' | 'off' }>(
      `select current_setting('default_transaction_read_only') as access, ${setForSession.join(', ')}
        where pg_backend_pid() = ${Number(processID)}`,
    )
    const isPooled = rows.length === 0
    // A database that its administrator made read-only stays so.
    const access = changesNeedBegin && rows[0]?.access === 'off' ? ' READ WRITE' : ''
    const sendTogether = corkTurn(connection.stream)
    let isBroken = false
    const query: Query = async ({ text, name, values: bound = [], rowMode, types }, values = [...bound]) => {
      sendTogether()
      try {
        // Behind a pooler the next transaction may use a connection without that prepared statement.
        const config = { text, name: isPooled ? undefined : name, values, rowMode, types }
        return await client.query(config)
      } catch (error) {
        // An error that is not the server's leaves the connection in an unknown state.
        isBroken ||= !(error instanceof pg.DatabaseError) || takesNoWrites(error)
        throw error
      }
    }
    return {
      query,
      isPooled,
      begin: (mode) => query({ text: `BEGIN ${mode}${access}${isPooled ? setLocal.join('') : ''}` }),
      release() {
        if (isBroken) findServer()
        ;(client as pg.PoolClient).release(isBroken || client.getTransactionStatus() !== 'I')
      },
    }
  }

  /** Connects to the primary. If that fails, looks for a new primary until the timeout. */
  async function connect(): Promise<pg.PoolClient> {
    const until = performance.now() + timeouts.connect
    let failure: unknown
    for (let isFound = true; ; isFound = await servers.find()) {
      try {
        if (isFound) return await (pools[servers.nth()] as pg.Pool).connect()
      } catch (error) {
        failure = error
      }
      if (!isOneOfSeveral || performance.now() >= until) throw failure
    }
  }

  const sum = (count: (pool: pg.Pool) => number) => pools.reduce((all, pool) => all + count(pool), 0)
  return {
    async session() {
      const client = await connect().catch((error: unknown) => {
        throw new DatabaseUnavailable('the database server does not answer, or no connection is free', { cause: error })
      })
      return sessions.get(client) as Session
    },
    figures: () => ({
      open: sum(({ totalCount }) => totalCount),
      idle: sum(({ idleCount }) => idleCount),
      waiting: sum(({ waitingCount }) => waitingCount),
    }),
    async end() {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}
