import { expect, test } from 'bun:test'
import { createStaleWhileRevalidate } from '../../src/lib/stale-while-revalidate.ts'

/** Figures that are numbered as they are made, and take as long as the clock says. */
function numbered() {
  let now = 0
  let made = 0
  const kept = createStaleWhileRevalidate<number>(() => now)
  const making: PromiseWithResolvers<void>[] = []
  const ask = () =>
    kept.get(async () => {
      const nth = ++made
      const gate = Promise.withResolvers<void>()
      making.push(gate)
      await gate.promise
      return nth
    })
  const pass = (ms: number) => {
    now += ms
  }
  return { ask, pass, end: () => making.shift()?.resolve(), fail: () => making.shift()?.reject(new Error('no')) }
}

test('concurrent callers share one computation, which is kept for 15 seconds', async () => {
  const { ask, pass, end } = numbered()
  const both = [ask(), ask()]
  end()
  expect(await Promise.all(both)).toEqual([1, 1])
  pass(14_999)
  expect(await ask()).toBe(1)
  pass(1)
  const again = ask()
  end()
  expect(await again).toBe(2)
})

test('a slow value is kept a hundred times its computation, and then recomputed in the background', async () => {
  const { ask, pass, end } = numbered()
  const first = ask()
  pass(1_000)
  end()
  expect(await first).toBe(1)
  pass(99_999)
  expect(await ask()).toBe(1)
  pass(1)
  expect([await ask(), await ask()]).toEqual([1, 1])
  end()
  await new Promise((resume) => setImmediate(resume))
  expect(await ask()).toBe(2)
})

test('a failed computation is repeated by the next caller', async () => {
  const { ask, end, fail } = numbered()
  const first = ask()
  fail()
  expect(await first.catch(() => 'failed')).toBe('failed')
  const second = ask()
  end()
  expect(await second).toBe(2)
})
