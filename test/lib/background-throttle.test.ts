import { expect, test } from 'bun:test'
import { createKeyedThrottle, createThrottle } from '../../src/lib/background-throttle.ts'

function shared() {
  const state = { now: 0, seen: 0, slept: [] as number[], running: 0, mostRunning: 0 }
  const share = createThrottle({
    now: () => state.now,
    sleep: async (ms) => void state.slept.push(ms),
    activityCount: () => state.seen,
    restFactor: 8,
  })
  const piece = (ms: number, others = 0) =>
    share.run(async () => {
      state.mostRunning = Math.max(state.mostRunning, ++state.running)
      await Promise.resolve()
      state.now += ms
      state.seen += others
      state.running--
      return ms
    })
  return { state, piece, share }
}

test('work rests in proportion to its pieces while others come, and not while nobody does', async () => {
  const { state, piece } = shared()
  expect(await piece(5)).toBe(5)
  expect(await piece(10, 3)).toBe(10)
  expect(await piece(20)).toBe(20)
  await piece(1)
  expect(state.slept.slice(0, 3)).toEqual([0, 80, 0])
})

test('a piece that waited long is not rested from for ever, and one that fails lets the next have its turn', async () => {
  const { state, piece, share } = shared()
  await piece(60_000, 1)
  expect(share.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await piece(1)).toBe(1)
  expect(state.slept[0]).toBe(1_000)
})

test('one piece at a time, in the order in which they were asked for', async () => {
  const { state, piece } = shared()
  expect(await Promise.all([piece(1), piece(2), piece(3)])).toEqual([1, 2, 3])
  expect(state.mostRunning).toBe(1)
})

test('callers with shares of their own do not wait for each other, rest for others alone, and are refused beyond their queue', async () => {
  const state = { now: 0, asked: 0, slept: [] as number[] }
  const shares = createKeyedThrottle({
    now: () => state.now,
    sleep: async (ms) => void state.slept.push(ms),
    activityCount: () => state.asked,
    restFactor: 3,
    restMinMs: 2,
    ...{ atOnce: 1, waitingMax: 2, waitMaxMs: 1_000 },
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
  expect(state.slept.every((ms) => ms === 0)).toBe(true)
  state.slept.length = 0
  const answers = [ask('a', 10), ask('a', 0), ask('a', 10), ask('b', 1)]
  expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(order.slice(2)).toEqual(['a', 'b', 'a'])
  expect(state.slept.some((ms) => ms >= 2)).toBe(true)
})

/** Queues that rest for nobody, and pieces that a test ends. */
function queues(atOnce: number, waitingMax = 8) {
  const state = { now: 0, asked: 0 }
  const shares = createKeyedThrottle({
    ...{ now: () => state.now, sleep: async () => undefined, activityCount: () => state.asked, restFactor: 0 },
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
  // The queue that is free takes the next one.
  expect(begun).toContain('a6')
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
