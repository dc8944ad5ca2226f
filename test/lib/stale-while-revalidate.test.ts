import { expect, test } from 'bun:test'
import { createStaleWhileRevalidate } from '../../src/lib/stale-while-revalidate.ts'

/** Creates a cache of numbered values whose computations the test ends. */
function createNumberedCache() {
  let now = 0
  let count = 0
  const cache = createStaleWhileRevalidate<number>(() => now)
  const pending: PromiseWithResolvers<void>[] = []
  const read = () =>
    cache.get(async () => {
      const nth = ++count
      const gate = Promise.withResolvers<void>()
      pending.push(gate)
      await gate.promise
      return nth
    })
  const advance = (ms: number) => {
    now += ms
  }
  return { read, advance, end: () => pending.shift()?.resolve(), fail: () => pending.shift()?.reject(new Error('no')) }
}

test('concurrent callers share one computation, which is kept for 15 seconds', async () => {
  const { read, advance, end } = createNumberedCache()
  const values = [read(), read()]
  end()
  expect(await Promise.all(values)).toEqual([1, 1])
  advance(14_999)
  expect(await read()).toBe(1)
  advance(1)
  const next = read()
  end()
  expect(await next).toBe(2)
})

test('a slow value is kept a hundred times its computation, and then recomputed in the background', async () => {
  const { read, advance, end } = createNumberedCache()
  const first = read()
  advance(1_000)
  end()
  expect(await first).toBe(1)
  advance(99_999)
  expect(await read()).toBe(1)
  advance(1)
  expect([await read(), await read()]).toEqual([1, 1])
  end()
  await new Promise((resume) => setImmediate(resume))
  expect(await read()).toBe(2)
})

test('a failed computation is repeated by the next caller', async () => {
  const { read, end, fail } = createNumberedCache()
  const first = read()
  fail()
  expect(await first.catch(() => 'failed')).toBe('failed')
  const second = read()
  end()
  expect(await second).toBe(2)
})
