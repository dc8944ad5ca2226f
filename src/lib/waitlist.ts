/** Who is at work on something that many may want at once, so that latecomers can wait for them instead of being refused. */
export type Waitlist = {
  /** Begins work on all of these. What it returns ends it. */
  begin(keys: readonly string[]): () => void
  /** Looks on from now, so that no end is missed while the caller finds out whether there is room. */
  watch(keys: readonly string[]): Watch
}

export type Watch = {
  /** Resolves when somebody at work on one of these is done, or was since the watch began; one waiter for each. Undefined when nobody is, `full` when too many wait. */
  next(): Promise<void> | 'full' | undefined
  stop(): void
}

type Watcher = { readonly keys: ReadonlySet<string>; ended: boolean; resume: (() => void) | undefined }

/** @param waitingMax how many may wait at once: for the same key, and in all */
export function createWaitlist(waitingMax: { readonly key: number; readonly all: number }): Waitlist {
  const atWork = new Map<string, number>()
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
   * One end makes room for one: it wakes who waits the longest, and everybody where nobody is left whose end could wake them. Who
   * does not wait yet must look again in any case.
   */
  function wake(keys: readonly string[]): void {
    let woken = false
    for (const watcher of watchers) {
      const left = keys.filter((key) => watcher.keys.has(key))
      if (left.length === 0) continue
      const isNext = watcher.resume !== undefined && !woken
      if (isNext) woken = true
      if (isNext || !watcher.resume || left.some((key) => !atWork.has(key))) end(watcher)
    }
  }

  function next(watcher: Watcher): Promise<void> | 'full' | undefined {
    if (watcher.ended) return Promise.resolve()
    const keys = [...watcher.keys]
    if (!keys.some((key) => atWork.has(key))) return undefined
    if (waiting >= waitingMax.all || keys.some((key) => (waitingFor.get(key) ?? 0) >= waitingMax.key)) return 'full'
    waiting++
    change(waitingFor, watcher.keys, 1)
    return new Promise((resume) => {
      watcher.resume = resume
    })
  }

  return {
    begin(keys) {
      change(atWork, keys, 1)
      return () => {
        change(atWork, keys, -1)
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
