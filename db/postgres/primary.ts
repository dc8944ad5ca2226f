/** Of several servers that a URL names, the one that takes writes: it is not in recovery. */
import pg from 'pg'
import { serversOf } from '../hosts.ts'

/** How long one of several servers has to be reached, milliseconds: the others are to be asked as well. */
export const reachMs = 2_000
/** Between two times that all of them are asked, however many wait for it. */
const pauseMs = 250
/** For how long the one that took writes until now is waited for once another says that it does, milliseconds. */
const stayMs = 100

/** A server answered, and another one takes the writes. */
export class InRecovery extends Error {
  override readonly name = 'InRecovery'
  /** As of a statement that was to write there. */
  readonly code = '25006'
}

export const inRecovery = 'select pg_is_in_recovery() as standby'

/** @throws InRecovery where the server that the client has reached takes no writes */
export async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>(inRecovery)
  if (rows[0]?.standby) throw new InRecovery('the database server is in recovery: another one takes the writes')
}

export type Servers = {
  readonly urls: readonly string[]
  /** The one that took writes when it was last asked. */
  nth(): number
  /**
   * Asks all of them at once which one it is, a few times a second at most: whoever wants to know meanwhile is told the
   * same.
   */
  find(): Promise<boolean>
}

export function serversAt(url: string): Servers {
  const urls = serversOf(url)
  let current = 0
  let finding: Promise<boolean> | undefined
  let askedAt = Number.NEGATIVE_INFINITY

  async function look(): Promise<boolean> {
    const early = askedAt + pauseMs - performance.now()
    if (early > 0) await Bun.sleep(early)
    askedAt = performance.now()
    try {
      const answers = urls.map(probeServer)
      const first = await Promise.any(answers.map((answer, nth) => answer.then(() => nth)))
      // Should two of them take writes, which somebody must mend, nobody goes to and fro.
      const stays = answers[current]?.then(
        () => true,
        () => false,
      )
      if (!(await Promise.race([stays, Bun.sleep(stayMs)]))) current = first
      return true
    } catch {
      return false
    }
  }

  return {
    urls,
    nth: () => current,
    find() {
      finding ??= look().finally(() => {
        finding = undefined
      })
      return finding
    },
  }
}

/** @throws where it does not answer, or is in recovery */
async function probeServer(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: reachMs, query_timeout: reachMs })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await refuseStandby(client)
  } finally {
    // A server that is gone is not waited for.
    client.end().catch(() => undefined)
  }
}

/**
 * A connection of the driver to the server that takes writes, for as long as `use` runs.
 * @throws what the first server said, where none can be reached; InRecovery where all of them are standbys
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
  // The queries fail by themselves when the connection is lost. Unhandled, the event would end the process.
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
      // Of servers that are away, the first; of one that is there and is a standby, that.
      throw other instanceof InRecovery ? other : error
    })
  }
}
