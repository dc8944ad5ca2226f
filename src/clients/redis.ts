/**
 * Shares state between processes in Redis. It may be lost at any time and nothing waits for it: each command has a
 * deadline, and none is sent while Redis is away.
 * A lost connection is replaced, because Bun's reconnecting leaves clients that never respond (oven-sh/bun issues
 * 19131, 24019, 34374).
 */
import { RedisClient } from 'bun'
import type { SharedState } from '../core/shared-state.ts'
import type { Log } from '../lib/log.ts'

/** The deadline of a command. */
const commandMs = 50
const connectMs = 1_000
/** Failures in a row that end a connection. A single one may be caused by this process being busy. */
const failuresMax = 3
const pauseMs = 500
const pauseMaxMs = 10_000

const claimScript = "return redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) and 1 or 0"

type RedisOptions = { readonly url: string; readonly log: Log; readonly prefix?: string; readonly timeoutMs?: number | undefined }

/** Connects and waits for the result, at most one second. */
export async function openRedis({ url, log, prefix = 'souk:', timeoutMs = commandMs }: RedisOptions): Promise<SharedState> {
  let client: RedisClient | undefined
  let isClosed = false
  /** Undefined until the first attempt ends, so that each state is logged once. */
  let wasConnected: boolean | undefined
  let failuresInARow = 0
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
      if (client === next) handleLoss('the connection was closed')
    }
    try {
      await next.connect()
      // A connected client may still be refused, or Redis may be loading its data.
      await withTimeout(next.send('PING', []), connectMs)
    } catch (error) {
      next.close()
      return handleLoss(reasonOf(error))
    }
    if (isClosed) return next.close()
    client = next
    failuresInARow = 0
    pause = pauseMs
    if (wasConnected !== true) log.info('redis.here', {})
    wasConnected = true
  }

  /** Continues without Redis and reconnects later. */
  function handleLoss(cause: string): void {
    const lostClient = client
    client = undefined
    lostClient?.close()
    if (isClosed) return
    if (wasConnected !== false)
      log.warn('redis.away', { cause, advice: 'limits and breakers are counted by each process until it is back' })
    wasConnected = false
    clearTimeout(timer)
    timer = setTimeout(() => void connect(), pause)
    timer.unref()
    pause = Math.min(pause * 2, pauseMaxMs)
  }

  async function send(command: string, args: string[]): Promise<unknown> {
    const currentClient = client
    if (!currentClient) return undefined
    try {
      const answer = await withTimeout(currentClient.send(command, args), timeoutMs)
      failuresInARow = 0
      return answer
    } catch (error) {
      failures++
      if (++failuresInARow >= failuresMax && client === currentClient) handleLoss(reasonOf(error))
      return undefined
    }
  }

  const run: SharedState['run'] = (script, keys, args) =>
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

/** Applies a timeout. If this process was blocked, responses that have arrived meanwhile count. */
async function withTimeout<T>(answer: Promise<T>, ms: number): Promise<T> {
  answer.catch(() => undefined)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => setImmediate(() => setImmediate(() => late.reject(new Error('no answer in time')))), ms)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Redis's error code (`WRONGPASS`, `LOADING`) at most, never the command. */
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message.slice(0, 80) : 'unknown')
