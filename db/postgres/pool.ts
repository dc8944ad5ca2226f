/** Connections, what each of them sets, and a pooler that may be in between. */
import pg from 'pg'
import { DatabaseUnavailable, type PoolFigures } from '../engine.ts'
import { createConnectionPool } from './connection-pool.ts'
import { reachMs, refuseStandby, type Servers } from './primary.ts'
import { type FailureScope, type QueryResult, type Statement, type Wire, wireOn } from './wire.ts'

/** Milliseconds. */
export type Timeouts = {
  /** Of one statement, what it waits for locks included. */
  statement: number
  /** Longer than `idleInTransaction`: who waits for a process that stands still outlasts it. */
  lock: number
  /** For how long a process may leave a transaction alone. Its connection ends then, and its locks with it. */
  idleInTransaction: number
  /** For how long a client may leave what the server sent it unacknowledged. */
  unacknowledged: number
  /** Of connecting, and of waiting for a connection. */
  connect: number
  /**
   * For how long we wait for the answer to a statement: longer than the server works at one. The connection ends then.
   */
  answer: number
}

/**
 * A request answers within 28 seconds: waiting for a connection, and then for an answer that does not come, is less.
 */
export const defaults: Timeouts = {
  statement: 12_000,
  lock: 8_000,
  idleInTransaction: 5_000,
  unacknowledged: 15_000,
  connect: 10_000,
  answer: 15_000,
}

/** For commands, whose statements may take as long as they take. */
export const unhurried: Partial<Timeouts> = { statement: 0, answer: 0 }

/** Runs a statement. drizzle hands the values over beside it. */
export type Query = (statement: Omit<Statement, 'values'> & Partial<Statement>, values?: unknown[]) => Promise<QueryResult>

/**
 * A connection that is ours until it is released. Statements are sent at once, behind those that are not answered yet.
 */
export type Session = {
  /** @param within whose failure it is, should it fail */
  query(statement: Parameters<Query>[0], values?: unknown[], within?: FailureScope): Promise<QueryResult>
  /** Whether a pooler hands every transaction to another connection: what is set outlives it, for somebody else. */
  readonly isPooled: boolean
  /** Begins a transaction, and sets for it what cannot be set for the connection. */
  begin(mode: string, within?: FailureScope): Promise<unknown>
  /** `COMMIT` or, when a statement had failed, `ROLLBACK`. */
  commit(): Promise<QueryResult>
  /** Whatever has become of what was sent before. */
  rollBack(): Promise<unknown>
  /** @param broken the connection is not used again */
  release(broken: boolean): void
}

export type Pool = {
  /** @throws DatabaseUnavailable when there is none in time */
  session(): Promise<Session>
  figures(): Pick<PoolFigures, 'open' | 'idle' | 'waiting'>
  end(): Promise<void>
}

/** The mode of a transaction that is begun by itself. */
export const defaultTransactionMode = 'ISOLATION LEVEL READ COMMITTED'

/** Idle connections are closed after this time, in milliseconds. */
const restMs = 10_000

/**
 * @param servers that may take writes: every connection is to the one that does
 * @param max connections at most
 */
export function openPool(servers: Servers, max: number, given: Partial<Timeouts> = {}): Pool {
  const timeouts = { ...defaults, ...given }
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
    // Starting workers takes longer than any statement that somebody waits for here, and takes the processors of
    // others.
    max_parallel_workers_per_gather: 0,
    // JIT compilation takes up to a second, longer than any statement of a request.
    jit: 'off',
  }
  const setForSession = Object.entries(ofSession).map(([name, value]) => `set_config('${name}', '${value}', false)`)

  const isOneOfSeveral = servers.urls.length > 1
  // The driver opens connections and ends them. They are handed on by `kept`, which costs no timer and no event each
  // time.
  const pools = servers.urls.map((connectionString) => {
    const pool = new pg.Pool({
      connectionString,
      max,
      connectionTimeoutMillis: isOneOfSeveral ? Math.min(reachMs, timeouts.connect) : timeouts.connect,
      query_timeout: timeouts.answer,
      keepAlive: true,
      // Unhandled, the event of a connection that is lost would end the process; its queries fail by themselves.
      onConnect: (client) => void client.on('error', () => undefined),
    })
    pool.on('error', () => undefined)
    return pool
  })

  const kept = createConnectionPool<Open>({
    max,
    waitMs: timeouts.connect,
    restMs,
    open,
    close({ client }, broken) {
      // Ended at once: the driver's own queries no longer work on it, and for as long as it were idle it would be
      // handed out as a new one.
      client.release(true)
      if (broken && isOneOfSeveral) void servers.find()
    },
    // What is open to a server that no longer takes writes is of no use, even where it seems to work.
    isBroken: ({ wire, nth }) => wire.isLost() || nth !== servers.nth(),
  })

  /**
   * Looks for the server that takes writes, if the one that did does no longer, for as long as one may wait for a
   * connection.
   */
  async function open(): Promise<Open> {
    if (!isOneOfSeveral) return openAt(0)
    const until = performance.now() + timeouts.connect
    for (let failure: unknown, isFound = true; ; ) {
      try {
        if (isFound) return await openAt(servers.nth())
      } catch (error) {
        failure = error
      }
      if (performance.now() >= until) throw failure
      isFound = await servers.find()
    }
  }

  /**
   * Sets the time-outs, but only on a connection that is ours: the number of the process at the other end is what the
   * server said it was. A pooler makes that number up, and would hand on to others what is set. (It refuses such
   * settings at the start, too.)
   */
  async function openAt(nth: number): Promise<Open> {
    const client = await (pools[nth] as pg.Pool).connect().catch((error: unknown) => {
      throw new DatabaseUnavailable('the database server does not answer', { cause: error })
    })
    try {
      if (isOneOfSeveral) await refuseStandby(client)
      const { processID } = client as pg.ClientBase as pg.ClientBase & { processID: number | null }
      const { rowCount } = await client.query(`select ${setForSession.join(', ')} where pg_backend_pid() = ${Number(processID)}`)
      const isPooled = rowCount === 0
      const wire = wireOn(client, timeouts.answer)
      const opened: Open = { client, wire, nth, session: sessionOn(wire, isPooled, (broken) => kept.giveBack(opened, broken)) }
      return opened
    } catch (error) {
      client.release(true)
      throw new DatabaseUnavailable('the database server does not answer', { cause: error })
    }
  }

  function sessionOn(wire: Wire, isPooled: boolean, release: Session['release']): Session {
    // Behind a pooler the next transaction may be on a connection that knows no plan by that name.
    const nameOf = (name: string | undefined) => (isPooled ? undefined : name)
    return {
      query: ({ text, name, values, rowMode, types }, given, within) =>
        wire.run({ text, name: nameOf(name), values: given ?? values ?? [], rowMode, types }, within),
      isPooled,
      begin: (mode, within) =>
        isPooled ? wire.runApart(`BEGIN ${mode}${setLocal.join('')}`, within) : wire.begin(mode, mode === defaultTransactionMode, within),
      commit: () => (isPooled ? wire.run({ text: 'COMMIT', values: [] }) : wire.commit()),
      rollBack: () => wire.runApart('ROLLBACK'),
      release,
    }
  }

  return {
    session: async () => (await kept.take()).session,
    figures: kept.figures,
    async end() {
      kept.end()
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

type Open = { readonly client: pg.PoolClient; readonly wire: Wire; readonly nth: number; readonly session: Session }
