/** Tests that cached values are bounded and never older than the stored values. */
import { describe, expect, test } from 'bun:test'
import { type CacheOptions, createCache } from '../../src/core/cache.ts'

/** Creates a cache in front of a store of texts, and counts the reads of the store. */
function createTestCache(options: Partial<CacheOptions<string>> = {}) {
  const stored = new Map<string, string>()
  const state = { version: 0 as number | undefined, reads: 0, isAsync: false }
  const cache = createCache<string>({ version: () => state.version, entriesMax: 3, ...options })
  const read = (key: string) =>
    cache.getOrLoad(key, () => {
      state.reads++
      return state.isAsync ? Promise.resolve(stored.get(key)) : stored.get(key)
    })
  return { cache, stored, state, read }
}

test('a cached value is not read again until it is deleted', () => {
  const { cache, stored, state, read } = createTestCache()
  stored.set('a', 'first')
  expect([read('a'), read('a'), state.reads]).toEqual(['first', 'first', 1])
  stored.set('a', 'second')
  cache.delete('b')
  expect(read('a')).toBe('first')
  cache.delete('a')
  expect([read('a'), read('a'), state.reads]).toEqual(['second', 'second', 2])
})

test('a missing value is not cached', () => {
  const { stored, state, read } = createTestCache()
  expect([read('a'), read('a'), state.reads]).toEqual([undefined, undefined, 2])
  stored.set('a', 'now')
  expect(read('a')).toBe('now')
})

test('deleteWhere deletes the matching entries and no others', () => {
  const { cache, stored, state, read } = createTestCache()
  for (const key of ['a', 'b', 'c']) stored.set(key, `text of ${key}`)
  for (const key of stored.keys()) read(key)
  cache.deleteWhere((value) => value.endsWith('a') || value.endsWith('c'))
  for (const key of stored.keys()) stored.set(key, 'changed')
  expect([read('a'), read('b'), read('c'), state.reads]).toEqual(['changed', 'text of b', 'changed', 5])
})

test('a commit of another process clears the cache', () => {
  const { stored, state, read } = createTestCache()
  stored.set('a', 'first')
  read('a')
  stored.set('a', 'second')
  state.version = 1
  expect([read('a'), read('a'), state.reads]).toEqual(['second', 'second', 2])
})

test('nothing is cached while commits of other processes cannot be detected', async () => {
  const { cache, stored, state, read } = createTestCache()
  stored.set('a', 'first')
  read('a')
  state.version = undefined
  expect(cache.isEnabled()).toBe(false)
  stored.set('a', 'second')
  expect([read('a'), read('a'), state.reads]).toEqual(['second', 'second', 3])
  state.version = 0
  stored.set('a', 'third')
  expect([cache.isEnabled(), read('a')]).toEqual([true, 'third'])
})

test('a value that loads asynchronously is not cached, because a commit may have happened meanwhile', async () => {
  const { stored, state, read } = createTestCache()
  state.isAsync = true
  stored.set('a', 'first')
  expect(await read('a')).toBe('first')
  stored.set('a', 'second')
  expect([await read('a'), state.reads]).toEqual(['second', 2])
})

describe('the size limit', () => {
  test('a full cache evicts the entry that was added first', () => {
    const { stored, state, read } = createTestCache()
    for (const key of ['a', 'b', 'c', 'd']) stored.set(key, key)
    for (const key of stored.keys()) read(key)
    expect([read('b'), read('c'), read('d'), state.reads]).toEqual(['b', 'c', 'd', 4])
    expect([read('a'), state.reads]).toEqual(['a', 5])
    expect([read('c'), read('d'), state.reads]).toEqual(['c', 'd', 5])
    expect([read('b'), state.reads]).toEqual(['b', 6])
  })

  test('missing values take no room in the cache', () => {
    const { stored, state, read } = createTestCache()
    for (const key of ['a', 'b', 'c']) stored.set(key, key)
    for (const key of ['a', 'b', 'c', 'none', 'a']) read(key)
    expect(state.reads).toBe(4)
  })

  test('a cache with a limit of characters evicts as many old entries as needed, and does not cache a value above the limit', () => {
    const { cache, stored, state, read } = createTestCache({ entriesMax: 100, charactersMax: 10, charactersOf: (text) => text.length })
    for (const [key, length] of Object.entries({ a: 4, b: 4, c: 2, d: 5, e: 11 })) stored.set(key, key.repeat(length))
    for (const key of ['a', 'b', 'c']) read(key)
    expect([read('a'), read('b'), read('c'), state.reads]).toEqual(['aaaa', 'bbbb', 'cc', 3])
    read('e')
    expect([read('e'), read('a'), state.reads]).toEqual(['e'.repeat(11), 'aaaa', 5])
    read('d')
    expect([read('c'), read('d'), state.reads]).toEqual(['cc', 'ddddd', 6])
    cache.delete('d')
    cache.delete('none')
    read('a')
    read('b')
    expect([read('a'), read('b'), read('c'), state.reads]).toEqual(['aaaa', 'bbbb', 'cc', 8])
  })
})
