import { LRUCache } from 'lru-cache'

/** What a process keeps of what it read: bounded, and never older than what is stored. */
export type Cache<Value extends object | string> = {
  /** Whether anything can be kept at all. */
  isOn(): boolean
  /** What is kept under `key`. */
  get(key: string): Value | undefined
  /** Whether a value of so many characters can be kept without another having to go. */
  hasRoom(characters: number): boolean
  /** Keeps a value that was read just now, without a turn of the loop between. False if there is no room for it. */
  keep(key: string, value: Value): boolean
  /**
   * What is kept under `key`, else what `read` gives. It is kept if it came at once: then no commit of this process can lie between
   * the reading and the keeping, and `forget` drops what any later one changes.
   */
  recall(key: string, read: () => Value | undefined | Promise<Value | undefined>): Value | undefined | Promise<Value | undefined>
  /** Reads anew, and takes its time. What it gives is kept if the version is the same before and after. */
  renew(key: string, read: () => Promise<Value>): Promise<Value>
  /** The record changed: called after the commit, before anybody is told of it. */
  forget(key: string): void
  /** The same for all those that `isStale` picks. */
  forgetWhere(isStale: (value: Value) => boolean): void
}

export type CacheOptions<Value> = {
  /**
   * All is dropped when this changes; undefined: nobody can tell, and nothing is kept. With the database's `version` no commit at
   * all goes unnoticed. With its `foreignVersion` those of this process do, and whoever writes calls `forget`.
   */
  version: () => number | undefined
  entriesMax: number
  /** How many characters all values may have together; by default each counts as one. */
  charactersMax?: number
  charactersOf?: (value: Value) => number
  /** How many characters one value may have; by default as many as all. */
  entryCharactersMax?: number
  /** Told of each value that is no longer kept. */
  dropped?: (value: Value, key: string) => void
}

/** Keeps what was read last: the oldest makes room. */
export function createCache<Value extends object | string>({
  version,
  entriesMax,
  charactersMax = entriesMax,
  charactersOf = () => 1,
  entryCharactersMax = charactersMax,
  dropped,
}: CacheOptions<Value>): Cache<Value> {
  // Room for all of them is taken at once: not before there is one.
  const room = () =>
    new LRUCache<string, Value>({
      max: entriesMax,
      maxSize: charactersMax,
      maxEntrySize: entryCharactersMax,
      ...(dropped ? { dispose: dropped } : {}),
    })
  let kept: LRUCache<string, Value> | undefined
  let seenVersion = version()

  function isOn(): boolean {
    const now = version()
    if (now !== seenVersion) {
      seenVersion = now
      kept?.clear()
    }
    return now !== undefined
  }

  // Not `get`: to note each hit as the latest use would slow down the hits, which are most of what is asked.
  const get = (key: string) => (isOn() ? kept?.peek(key) : undefined)

  function keep(key: string, value: Value): boolean {
    // The library takes no size of nothing.
    const size = Math.max(1, charactersOf(value))
    kept ??= room()
    kept.set(key, value, { size })
    return size <= entryCharactersMax
  }

  return {
    isOn,
    get,
    hasRoom: (characters) => (kept?.size ?? 0) < entriesMax && (kept?.calculatedSize ?? 0) + characters <= charactersMax,
    keep,
    recall(key, read) {
      const known = get(key)
      if (known !== undefined) return known
      const found = read()
      if (found !== undefined && !(found instanceof Promise) && seenVersion !== undefined) keep(key, found)
      return found
    },
    async renew(key, read) {
      const before = isOn() ? seenVersion : undefined
      const value = await read()
      if (before !== undefined && isOn() && seenVersion === before) keep(key, value)
      return value
    },
    forget: (key) => void kept?.delete(key),
    forgetWhere(isStale) {
      for (const [key, value] of [...(kept?.entries() ?? [])]) if (isStale(value)) kept?.delete(key)
    },
  }
}
