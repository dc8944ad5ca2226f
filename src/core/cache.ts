import { LRUCache } from 'lru-cache'

/** An in-memory cache with a size limit. An entry is never older than the database. */
export type Cache<Value extends object | string> = {
  /** Returns false if nothing can be cached, because no version is cached. */
  isEnabled(): boolean
  get(key: string): Value | undefined
  /** Checks whether a value of `characters` fits without an eviction. */
  hasRoom(characters: number): boolean
  /** Caches a value that was read in the same turn of the event loop. Returns false if it is too large. */
  set(key: string, value: Value): boolean
  /**
   * Returns the cached value, or calls `read`. Caches a synchronous result only: no commit of this process can fall
   * between the read and the insert.
   */
  getOrLoad(key: string, read: () => Value | undefined | Promise<Value | undefined>): Value | undefined | Promise<Value | undefined>
  /** Reads asynchronously, and caches the result if the version is the same before and after. */
  reload(key: string, read: () => Promise<Value>): Promise<Value>
  /** Removes an entry. Call it after the commit that changed the record, before callers learn of the commit. */
  delete(key: string): void
  /** Removes all entries for which `isStale` returns true. */
  deleteWhere(isStale: (value: Value) => boolean): void
}

/** What ends the validity of entries, and the limits. */
export type CacheOptions<Value> = {
  /**
   * All entries are dropped when this value changes; undefined disables the cache. The database's `version` covers
   * every commit. `foreignVersion` covers other processes only: writers of this process call `delete`.
   */
  version: () => number | undefined
  entriesMax: number
  /** Limit of the characters of all values. By default each value counts as one. */
  charactersMax?: number
  charactersOf?: (value: Value) => number
  /** Limit of the characters of one value. Default: `charactersMax`. */
  entryCharactersMax?: number
  /** Called for each value that leaves the cache. */
  onEvict?: (value: Value, key: string) => void
}

/** Creates a cache that evicts the least recently inserted entries. */
export function createCache<Value extends object | string>({
  version,
  entriesMax,
  charactersMax = entriesMax,
  charactersOf = () => 1,
  entryCharactersMax = charactersMax,
  onEvict,
}: CacheOptions<Value>): Cache<Value> {
  // LRUCache allocates all slots at once, so it is created with the first entry.
  const createEntries = () =>
    new LRUCache<string, Value>({
      max: entriesMax,
      maxSize: charactersMax,
      maxEntrySize: entryCharactersMax,
      ...(onEvict ? { dispose: onEvict } : {}),
    })
  let entries: LRUCache<string, Value> | undefined
  let seenVersion = version()

  function isEnabled(): boolean {
    const now = version()
    if (now !== seenVersion) {
      seenVersion = now
      entries?.clear()
    }
    return now !== undefined
  }

  // `peek`, because `get` would update the recency at each hit, which slows down hits.
  const get = (key: string) => (isEnabled() ? entries?.peek(key) : undefined)

  function set(key: string, value: Value): boolean {
    // LRUCache refuses a size of 0.
    const size = Math.max(1, charactersOf(value))
    entries ??= createEntries()
    entries.set(key, value, { size })
    return size <= entryCharactersMax
  }

  return {
    isEnabled,
    get,
    hasRoom: (characters) => (entries?.size ?? 0) < entriesMax && (entries?.calculatedSize ?? 0) + characters <= charactersMax,
    set,
    getOrLoad(key, read) {
      const cached = get(key)
      if (cached !== undefined) return cached
      const found = read()
      if (found !== undefined && !(found instanceof Promise) && seenVersion !== undefined) set(key, found)
      return found
    },
    async reload(key, read) {
      const before = isEnabled() ? seenVersion : undefined
      const value = await read()
      if (before !== undefined && isEnabled() && seenVersion === before) set(key, value)
      return value
    },
    delete: (key) => void entries?.delete(key),
    deleteWhere(isStale) {
      for (const [key, value] of [...(entries?.entries() ?? [])]) if (isStale(value)) entries?.delete(key)
    },
  }
}
