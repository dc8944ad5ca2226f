import { expect, test } from 'bun:test'
import { createKeyedScheduler } from '../../../src/core/limits/scheduler.ts'

test('callers with shares of their own do not wait for each other, rest for others alone, and are refused beyond their queue', async () => {
  const state = { now: 0, asked: 0, pauses: 0 }
  const shares = createKeyedScheduler({
    now: () => state.now,
    turn: async () => undefined,
    sleep: async (ms) => {
      state.pauses++
      state.now += ms
    },
    activityCount: () => state.asked,
    ...{ othersShare: 3, atOnce: 1, waitingMax: 2, waitMaxMs: 1_000 },
    full: () => new Error('full'),
  })
  const order: string[] = []
  const ask = (key: string, ms: number) => {
    state.asked++
    return shares.run(key, async () => {
      state.now += ms
      order.push(key)
    })
  }
  await ask('a', 10)
  await ask('a', 10)
  // Its own requests are no others.
  expect(state.pauses).toBe(0)
  const answers = [ask('a', 10), ask('a', 0), ask('a', 10), ask('b', 1)]
  expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(order.slice(2)).toEqual(['a', 'b', 'a'])
  expect(state.pauses).toBeGreaterThan(0)
})

/** Queues that rest for nobody, and pieces that a test ends. */
function queues(atOnce: number, waitingMax = 8) {
  const state = { now: 0, asked: 0 }
  const shares = createKeyedScheduler({
    ...{ now: () => state.now, activityCount: () => state.asked, othersShare: 0 },
    ...{ turn: async () => undefined, sleep: async () => undefined },
    ...{ atOnce, waitingMax, waitMaxMs: 1_000, full: () => new Error('full') },
  })
  const begun: string[] = []
  const endings = new Map<string, () => void>()
  const ask = (key: string, name: string) =>
    shares.run(key, async () => {
      begun.push(name)
      await new Promise<void>((resolve) => endings.set(name, resolve))
    })
  const settle = async () => {
    for (let nth = 0; nth < 10; nth++) await new Promise((resume) => setImmediate(resume))
  }
  const end = async (name: string) => {
    endings.get(name)?.()
    await settle()
  }
  return { state, begun, ask, settle, end }
}

test('runs as many pieces of each caller at once as it may, whatever other callers ask for in between', async () => {
  const { begun, ask, settle, end } = queues(4)
  // With one counter for all callers, every piece of `a` had the same queue.
  const asked = ['1', '2', '3', '4', '5'].flatMap((nth) => [
    ask('a', `a${nth}`),
    ask('b', `b${nth}`),
    ask('c', `c${nth}`),
    ask('d', `d${nth}`),
  ])
  await settle()
  expect(begun.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4'])
  expect(begun.length).toBe(16)
  await end('a3')
  const sixth = ask('a', 'a6')
  await settle()
  // The longest waiting piece takes the free place.
  expect(begun.slice(16)).toEqual(['a5'])
  for (const key of ['a', 'b', 'c', 'd']) for (const nth of ['1', '2', '3', '4', '5', '6']) await end(`${key}${nth}`)
  await Promise.all([...asked, sixth])
})

test('refuses a piece without running it once it has been queued too long', async () => {
  const { state, begun, ask, settle, end } = queues(1)
  const asked = Promise.allSettled([ask('a', 'slow'), ask('a', 'late'), ask('a', 'later')])
  await settle()
  state.now = 1_001
  const next = ask('a', 'next')
  await end('slow')
  expect(begun).toEqual(['slow', 'next'])
  await end('next')
  await next
  expect((await asked).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
})

test('bounds the pieces of a caller together, however many run at once', async () => {
  const { ask, settle, end } = queues(4, 8)
  const asked = Array.from({ length: 10 }, (_, nth) => ask('a', `a${nth}`).catch((error: Error) => error.message))
  await settle()
  for (let nth = 0; nth < 8; nth++) await end(`a${nth}`)
  expect((await Promise.all(asked)).filter((outcome) => outcome === 'full').length).toBe(2)
})
