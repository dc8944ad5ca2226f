/** Who is at work on something that many may want at once, so that latecomers can wait for them instead of being refused. */
export type Turns = {
  /** Begins work on all of these. What it returns ends it. */
  begin(keys: readonly string[]): () => void
  /** Resolves when somebody at work on one of these is done. Undefined when nobody is, or when too many wait. */
  next(keys: readonly string[]): Promise<void> | undefined
}

/** @param waitingMax how many may wait at once */
export function createTurns(waitingMax: number): Turns {
  const atWork = new Map<string, number>()
  let waiting: { keys: ReadonlySet<string>; resume: () => void }[] = []

  const change = (key: string, by: number) => {
    const count = (atWork.get(key) ?? 0) + by
    if (count > 0) atWork.set(key, count)
    else atWork.delete(key)
  }

  return {
    begin(keys) {
      for (const key of keys) change(key, 1)
      return () => {
        for (const key of keys) change(key, -1)
        const woken = waiting.filter((one) => keys.some((key) => one.keys.has(key)))
        waiting = waiting.filter((one) => !woken.includes(one))
        for (const { resume } of woken) resume()
      }
    },
    next(keys) {
      if (waiting.length >= waitingMax || !keys.some((key) => atWork.has(key))) return undefined
      return new Promise((resume) => waiting.push({ keys: new Set(keys), resume }))
    },
  }
}
