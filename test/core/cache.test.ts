/** What is cached is bounded, and never older than what is stored. */
import { describe, expect, test } from 'bun:test'
import { type CacheOptions, createCache } from '../../src/core/cache.ts'

/** A cache of a store of texts, which counts how often it is read. */
function cacheOf(options: Partial<CacheOptions<string>> = {}) {
  const stored = new Map<string, string>()
  const state = { version: 0 as number | undefined, reads: 0, late: false }
  const cache = createCache<string>({ version: () => state.version, entriesMax: 3, ...options })
  const recall = (key: string) =>
    cache.getOrLoad(key, () => {
      state.reads++
      return state.late ? Promise.resolve(stored.get(key)) : stored.get(key)
    })
  return { cache, stored, state, recall }
}

test('what was read is not read again, until it is forgotten', () => {
  const { cache, stored, state, recall } = cacheOf()
  stored.set('a', 'first')
  expect([recall('a'), recall('a'), state.reads]).toEqual(['first', 'first', 1])
  stored.set('a', 'second')
  cache.delete('b')
  expect(recall('a')).toBe('first')
  cache.delete('a')
  expect([recall('a'), recall('a'), state.reads]).toEqual(['second', 'second', 2])
})

test('what is not there is asked for again each time', () => {
  const { stored, state, recall } = cacheOf()
  expect([recall('a'), recall('a'), state.reads]).toEqual([undefined, undefined, 2])
  stored.set('a', 'now')
  expect(recall('a')).toBe('now')
})

test('those that are picked are forgotten, and no others', () => {
  const { cache, stored, state, recall } = cacheOf()
  for (const key of ['a', 'b', 'c']) stored.set(key, `text of ${key}`)
  for (const key of stored.keys()) recall(key)
  cache.deleteWhere((value) => value.endsWith('a') || value.endsWith('c'))
  for (const key of stored.keys()) stored.set(key, 'changed')
  expect([recall('a'), recall('b'), recall('c'), state.reads]).toEqual(['changed', 'text of b', 'changed', 5])
})

test('all is forgotten when another process has committed', () => {
  const { stored, state, recall } = cacheOf()
  stored.set('a', 'first')
  recall('a')
  stored.set('a', 'second')
  state.version = 1
  expect([recall('a'), recall('a'), state.reads]).toEqual(['second', 'second', 2])
})

test('nothing is kept where nobody can tell of the commits of others', async () => {
  const { cache, stored, state, recall } = cacheOf()
  stored.set('a', 'first')
  recall('a')
  state.version = undefined
  expect(cache.isEnabled()).toBe(false)
  stored.set('a', 'second')
  expect([recall('a'), recall('a'), state.reads]).toEqual(['second', 'second', 3])
  state.version = 0
  stored.set('a', 'third')
  expect([cache.isEnabled(), recall('a')]).toEqual([true, 'third'])
})

test('what comes later is not kept: a commit may have come between', async () => {
  const { stored, state, recall } = cacheOf()
  state.late = true
  stored.set('a', 'first')
  expect(await recall('a')).toBe('first')
  stored.set('a', 'second')
  expect([await recall('a'), state.reads]).toEqual(['second', 2])
})

describe('the room', () => {
  test('the room is so many entries: the oldest goes', () => {
    const { stored, state, recall } = cacheOf()
    for (const key of ['a', 'b', 'c', 'd']) stored.set(key, key)
    for (const key of stored.keys()) recall(key)
    expect([recall('b'), recall('c'), recall('d'), state.reads]).toEqual(['b', 'c', 'd', 4])
    expect([recall('a'), state.reads]).toEqual(['a', 5])
    expect([recall('c'), recall('d'), state.reads]).toEqual(['c', 'd', 5])
    expect([recall('b'), state.reads]).toEqual(['b', 6])
  })

  test('the room is not taken up by what is not there', () => {
    const { stored, state, recall } = cacheOf()
    for (const key of ['a', 'b', 'c']) stored.set(key, key)
    for (const key of ['a', 'b', 'c', 'none', 'a']) recall(key)
    expect(state.reads).toBe(4)
  })

  test('the room is so many characters: as many of the oldest go as one needs, and one that is larger than all is not kept', () => {
    const { cache, stored, state, recall } = cacheOf({ entriesMax: 100, charactersMax: 10, charactersOf: (text) => text.length })
    for (const [key, length] of Object.entries({ a: 4, b: 4, c: 2, d: 5, e: 11 })) stored.set(key, key.repeat(length))
    for (const key of ['a', 'b', 'c']) recall(key)
    expect([recall('a'), recall('b'), recall('c'), state.reads]).toEqual(['aaaa', 'bbbb', 'cc', 3])
    recall('e')
    expect([recall('e'), recall('a'), state.reads]).toEqual(['e'.repeat(11), 'aaaa', 5])
    recall('d')
    expect([recall('c'), recall('d'), state.reads]).toEqual(['cc', 'ddddd', 6])
    cache.delete('d')
    cache.delete('none')
    recall('a')
    recall('b')
    expect([recall('a'), recall('b'), recall('c'), state.reads]).toEqual(['aaaa', 'bbbb', 'cc', 8])
  })
})
