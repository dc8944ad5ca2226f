/**
 * What processes share, in Redis. It may be lost at any time, and nothing waits for it: each command has a deadline, and while it is away
 * none is sent. A connection that ends is never mended but made anew, because Bun's own reconnecting leaves clients behind that never
 * answer again (oven-sh/bun, issues 19131, 24019 and 34374).
 */
import { RedisClient } from 'bun'
import type { Shared } from '../core/shared-state.ts'
import type { Log } from '../lib/log.ts'

/** Of one command. */
const commandMs = 50
const connectMs = 1_000
/** Failures in a row that end a connection: a single one may be our own process, which was busy. */
const failuresMax = 3
const pauseMs = 500
const pauseMaxMs = 10_000

const claimScript = "return redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) and 1 or 0"

type RedisOptions = { readonly url: string; readonly log: Log; readonly prefix?: string; readonly timeoutMs?: number | undefined }

/** Begins to connect, and waits until that has come to something: a second at most. */
export async function openRedis({ url, log, prefix = 'souk:', timeoutMs = commandMs }: RedisOptions): Promise<Shared> {
  let client: RedisClient | undefined
  let isClosed = false
  /** Undefined until the first connection has come to something, so that each state is told once. */
  let wasHere: boolean | undefined
  let inARow = 0
  let failures = 0
  let pause = pauseMs
  let timer: ReturnType<typeof setTimeout> | undefined

  async function connect(): Promise<void> {
    const next = new RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: connectMs,
      idleTimeout: 0,
    })
    next.onclose = () => {
      if (client === next) lose('the connection was closed')
    }
    try {
      await next.connect()
      // Also whoever has connected may be refused, or told that Redis still loads its data.
      await inTime(next.send('PING', []), connectMs)
    } catch (error) {
      next.close()
      return lose(reasonOf(error))
    }
    if (isClosed) return next.close()
    client = next
    inARow = 0
    pause = pauseMs
    if (wasHere !== true) log.info('redis.here', {})
    wasHere = true
  }

  /** Goes on without it, and comes back by and by. */
  function lose(cause: string): void {
    const gone = client
    client = undefined
    gone?.close()
    if (isClosed) return
    if (wasHere !== false) log.warn('redis.away', { cause, advice: 'limits and breakers are counted by each process until it is back' })
    wasHere = false
    clearTimeout(timer)
    timer = setTimeout(() => void connect(), pause)
    timer.unref()
    pause = Math.min(pause * 2, pauseMaxMs)
  }

  async function send(command: string, args: string[]): Promise<unknown> {
    const asked = client
    if (!asked) return undefined
    try {
      const answer = await inTime(asked.send(command, args), timeoutMs)
      inARow = 0
      return answer
    } catch (error) {
      failures++
      if (++inARow >= failuresMax && client === asked) lose(reasonOf(error))
      return undefined
    }
  }

  const run: Shared['run'] = (script, keys, args) =>
    send('EVAL', [script, String(keys.length), ...keys.map((key) => prefix + key), ...args.map(String)])

  await connect()
  return {
    state: () => (client ? 'here' : 'away'),
    run,
    claim: async (name, ms) => (await run(claimScript, [`claim:${name}`], [ms])) !== 0,
    failures: () => failures,
    close() {
      isClosed = true
      clearTimeout(timer)
      client?.close()
      client = undefined
    },
  }
}

/** What a command gives, unless it takes longer. Where it was our own process that stood still, what has arrived meanwhile counts. */
async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  // Late, nobody waits for it.
  answer.catch(() => undefined)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => setImmediate(() => setImmediate(() => late.reject(new Error('no answer in time')))), ms)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Redis' own word (`WRONGPASS`, `LOADING`) at the most: never what it was asked. */
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message.slice(0, 80) : 'unknown')
