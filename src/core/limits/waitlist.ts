/**
 * Prevents: parallel guesses of a password beyond its limit, without refusing people who share an address
 * (test/modules/identity/auth/parallel-logins.test.ts).
 */

/** Tracks running work by key, so that others can wait for its end instead of being refused. */
type Waitlist = {
  /** Starts work on all keys. The returned function ends it. */
  begin(keys: readonly string[]): () => void
  /** Starts watching, so that no end is missed while the caller checks for room. */
  watch(keys: readonly string[]): WaitlistWatch
}

type WaitlistWatch = {
  /**
   * Resolves when work on one of the keys ends, or ended since the watch started; one waiter per end. Undefined if no
   * work runs; `full` if too many wait.
   */
  next(): Promise<void> | 'full' | undefined
  stop(): void
}

type Watcher = { readonly keys: ReadonlySet<string>; ended: boolean; resume: (() => void) | undefined }

/**
 * Creates a waitlist.
 * @param waitingMax maximum number of waiters: per key, and in total
 */
export function createWaitlist(waitingMax: { readonly key: number; readonly all: number }): Waitlist {
  const runningFor = new Map<string, number>()
  const waitingFor = new Map<string, number>()
  const watchers = new Set<Watcher>()
  let waiting = 0

  const change = (counts: Map<string, number>, keys: Iterable<string>, by: number) => {
    for (const key of keys) {
      const count = (counts.get(key) ?? 0) + by
      if (count > 0) counts.set(key, count)
      else counts.delete(key)
    }
  }

  function end(watcher: Watcher): void {
    watcher.ended = true
    if (!watcher.resume) return
    waiting--
    change(waitingFor, watcher.keys, -1)
    watcher.resume()
    watcher.resume = undefined
  }

  /**
   * Wakes the longest waiter, because one end frees one place. Wakes all waiters whose keys have no running work left.
   * Watchers that do not wait yet check again anyway.
   */
  function wake(keys: readonly string[]): void {
    let woken = false
    for (const watcher of watchers) {
      const left = keys.filter((key) => watcher.keys.has(key))
      if (left.length === 0) continue
      const isNext = watcher.resume !== undefined && !woken
      if (isNext) woken = true
      if (isNext || !watcher.resume || left.some((key) => !runningFor.has(key))) end(watcher)
    }
  }

  function next(watcher: Watcher): Promise<void> | 'full' | undefined {
    if (watcher.ended) return Promise.resolve()
    const keys = [...watcher.keys]
    if (!keys.some((key) => runningFor.has(key))) return undefined
    if (waiting >= waitingMax.all || keys.some((key) => (waitingFor.get(key) ?? 0) >= waitingMax.key)) return 'full'
    waiting++
    change(waitingFor, watcher.keys, 1)
    return new Promise((resume) => {
      watcher.resume = resume
    })
  }

  return {
    begin(keys) {
      change(runningFor, keys, 1)
      return () => {
        change(runningFor, keys, -1)
        wake(keys)
      }
    },
    watch(keys) {
      const watcher: Watcher = { keys: new Set(keys), ended: false, resume: undefined }
      watchers.add(watcher)
      return { next: () => next(watcher), stop: () => void watchers.delete(watcher) }
    },
  }
}
