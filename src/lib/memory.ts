/** What a process remembers of records that it read: bounded, and never older than the record. */
export type Memory<Value> = {
  /** Whether anything can be kept at all. */
  isOn(): boolean
  /**
   * What is kept under `key`, else what `read` gives. It is kept if it came at once: then no commit of this process can lie between
   * the reading and the keeping, and `forget` drops what any later one changes.
   */
  recall(key: string, read: () => Value | undefined | Promise<Value | undefined>): Value | undefined | Promise<Value | undefined>
  /** The record changed: called after the commit, before anybody is told of it. */
  forget(key: string): void
  /** The same for all those that `isStale` picks. */
  forgetWhere(isStale: (value: Value) => boolean): void
}

export type MemoryOptions<Value> = {
  /** Changes with every commit of another process, which may have changed anything; undefined: nobody can tell, and nothing is kept. */
  foreignVersion: () => number | undefined
  entriesMax: number
  /** How many characters all values may have together; by default they are not counted. */
  charactersMax?: number
  charactersOf?: (value: Value) => number
}

/** Remembers what was read last: the oldest makes room. */
export function createMemory<Value>({
  foreignVersion,
  entriesMax,
  charactersMax = 0,
  charactersOf = () => 0,
}: MemoryOptions<Value>): Memory<Value> {
  const kept = new Map<string, Value>()
  let characters = 0
  let seenForeign = foreignVersion()

  function isOn(): boolean {
    const foreign = foreignVersion()
    if (foreign !== seenForeign) {
      seenForeign = foreign
      kept.clear()
      characters = 0
    }
    return foreign !== undefined
  }

  function forget(key: string): void {
    const value = kept.get(key)
    if (value === undefined) return
    characters -= charactersOf(value)
    kept.delete(key)
  }

  function keep(key: string, value: Value): void {
    const more = charactersOf(value)
    if (more > charactersMax) return
    for (const oldest of kept.keys()) {
      if (kept.size < entriesMax && characters + more <= charactersMax) break
      forget(oldest)
    }
    kept.set(key, value)
    characters += more
  }

  return {
    isOn,
    recall(key, read) {
      if (!isOn()) return read()
      const known = kept.get(key)
      if (known !== undefined) return known
      const found = read()
      if (found !== undefined && !(found instanceof Promise)) keep(key, found)
      return found
    },
    forget,
    forgetWhere(isStale) {
      for (const [key, value] of kept) if (isStale(value)) forget(key)
    },
  }
}
