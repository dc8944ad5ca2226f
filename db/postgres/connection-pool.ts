/** A pool of connections. Callers get one in the order in which they asked. */
import { DatabaseUnavailable, type PoolFigures } from '../engine.ts'

export type ConnectionPool<T> = {
  /** @throws DatabaseUnavailable when there is none in time; what opening throws */
  take(): Promise<T>
  /** @param broken it is not used again */
  giveBack(one: T, broken: boolean): void
  figures(): Pick<PoolFigures, 'open' | 'idle' | 'waiting'>
  /** Closes idle connections now, and the others when they are returned. */
  end(): void
}

export type ConnectionPoolOptions<T> = {
  /** How many at most. */
  max: number
  /** How long somebody may wait for one, milliseconds. */
  waitMs: number
  /** Idle connections are closed after this time, in milliseconds. */
  restMs: number
  open(): Promise<T>
  close(one: T, broken: boolean): void
  /** Whether it has broken since it was given back. */
  isBroken(one: T): boolean
}

type PoolWaiter<T> = { readonly until: number } & PromiseWithResolvers<T>

export function createConnectionPool<T>({ max, waitMs, restMs, open, close, isBroken }: ConnectionPoolOptions<T>): ConnectionPool<T> {
  /** The one that was used last is used next: it is the warmest, and the others may be closed. */
  const resting: { readonly one: T; readonly since: number }[] = []
  const waiting: PoolWaiter<T>[] = []
  /** Open, or being opened. */
  let count = 0
  let isOver = false
  let waitTimer: ReturnType<typeof setTimeout> | undefined
  let restTimer: ReturnType<typeof setTimeout> | undefined

  async function opened(): Promise<T> {
    count++
    try {
      return await open()
    } catch (error) {
      count--
      openForNext()
      throw error
    }
  }

  function drop(one: T, broken: boolean): void {
    count--
    close(one, broken)
    openForNext()
  }

  /** Somebody may wait for what does not come back. */
  function openForNext(): void {
    const next = count < max ? waiting.shift() : undefined
    if (next) opened().then(next.resolve, next.reject)
  }

  function refuseLate(): void {
    waitTimer = undefined
    const now = performance.now()
    while (waiting[0] && waiting[0].until <= now) waiting.shift()?.reject(new DatabaseUnavailable('no connection to the database is free'))
    const [next] = waiting
    if (next) waitTimer = setTimeout(refuseLate, next.until - now).unref()
  }

  function closeRested(): void {
    restTimer = undefined
    const before = performance.now() - restMs
    while (resting[0] && resting[0].since <= before) drop((resting.shift() as { one: T }).one, false)
    if (resting.length > 0) restTimer = setTimeout(closeRested, restMs).unref()
  }

  return {
    async take() {
      for (let last = resting.pop(); last; last = resting.pop()) {
        if (!isBroken(last.one)) return last.one
        drop(last.one, true)
      }
      if (count < max) return opened()
      const mine = { until: performance.now() + waitMs, ...Promise.withResolvers<T>() }
      waiting.push(mine)
      if (!waitTimer) waitTimer = setTimeout(refuseLate, waitMs).unref()
      return mine.promise
    },
    giveBack(one, broken) {
      if (broken || isBroken(one)) return drop(one, true)
      const next = waiting.shift()
      if (next) return next.resolve(one)
      if (isOver) return drop(one, false)
      resting.push({ one, since: performance.now() })
      restTimer ??= setTimeout(closeRested, restMs).unref()
    },
    figures: () => ({ open: count, idle: resting.length, waiting: waiting.length }),
    end() {
      isOver = true
      clearTimeout(restTimer)
      for (const { one } of resting.splice(0)) drop(one, false)
    },
  }
}
