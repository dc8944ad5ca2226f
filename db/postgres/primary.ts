/** Finds the primary among the servers of a URL: the one that is not in recovery. */
import pg from 'pg'
import { serversOf } from '../hosts.ts'

/** Timeout of a connection to one of several servers, in milliseconds. */
export const reachMs = 2_000
/** Minimum interval between probes of all servers, in milliseconds. */
const pauseMs = 250
/** Time in which the current primary may respond after another server claims to be one, in milliseconds. */
const stayMs = 100

/** The server is a standby: another one accepts writes. */
class InRecovery extends Error {
  override readonly name = 'InRecovery'
  /** SQLSTATE of a refused write (read_only_sql_transaction). */
  readonly code = '25006'
}

const inRecovery = 'select pg_is_in_recovery() as standby'

/**
 * Checks that the client is connected to a primary.
 * @throws InRecovery if the server is a standby
 */
export async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>(inRecovery)
  if (rows[0]?.standby) throw new InRecovery('the database server is in recovery: another one takes the writes')
}

/** The servers of a URL, and which of them is the primary. */
export type Servers = {
  readonly urls: readonly string[]
  /** Returns the index of the last known primary. */
  nth(): number
  /**
   * Probes all servers at once for the primary, a few times a second at most. Concurrent callers share a probe.
   */
  find(): Promise<boolean>
}

/** Parses a URL with one host, or several separated by commas. Connects to none before `find`. */
export function serversAt(url: string): Servers {
  const urls = serversOf(url)
  let current = 0
  let runningProbe: Promise<boolean> | undefined
  let probedAt = Number.NEGATIVE_INFINITY

  async function probeAll(): Promise<boolean> {
    const waitMs = probedAt + pauseMs - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
    probedAt = performance.now()
    try {
      const answers = urls.map(probeServer)
      const first = await Promise.any(answers.map((answer, nth) => answer.then(() => nth)))
      // If two servers accept writes, which needs an operator, the current one stays.
      const currentResponds = answers[current]?.then(
        () => true,
        () => false,
      )
      if (!(await Promise.race([currentResponds, Bun.sleep(stayMs)]))) current = first
      return true
    } catch {
      return false
    }
  }

  return {
    urls,
    nth: () => current,
    find() {
      runningProbe ??= probeAll().finally(() => {
        runningProbe = undefined
      })
      return runningProbe
    },
  }
}

/**
 * Checks that a server responds and is a primary.
 * @throws if not
 */
async function probeServer(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: reachMs, query_timeout: reachMs })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await refuseStandby(client)
  } finally {
    // Does not wait, because the server may be unreachable.
    client.end().catch(() => undefined)
  }
}

/**
 * Runs `use` with a connection to the primary.
 * @throws the first server's error if none can be reached; InRecovery if all are standbys
 */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const urls = serversOf(url)
  const client = await connectToPrimary(urls[0] ?? url, urls.slice(1))
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

async function connectToPrimary(url: string, others: readonly string[], isOneOfSeveral = others.length > 0): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: isOneOfSeveral ? reachMs : 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  // Queries report a lost connection. Unhandled, the event would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    if (isOneOfSeveral) await refuseStandby(client)
    return client
  } catch (error) {
    client.end().catch(() => undefined)
    const [next, ...rest] = others
    if (next === undefined) throw error
    return connectToPrimary(next, rest, true).catch((other: unknown) => {
      // Reports a standby if there is one, otherwise the first server's error.
      throw other instanceof InRecovery ? other : error
    })
  }
}
