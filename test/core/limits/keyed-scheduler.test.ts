import { expect, test } from 'bun:test'
import { createKeyedScheduler } from '../../../src/core/limits/scheduler.ts'

test('callers do not wait for each other, rest only for requests of others, and are refused when their queue is full', async () => {
  const state = { now: 0, activity: 0, pauses: 0 }
  const scheduler = createKeyedScheduler({
    now: () => state.now,
    turn: async () => undefined,
    sleep: async (ms) => {
      state.pauses++
      state.now += ms
    },
    activityCount: () => state.activity,
    ...{ othersShare: 3, atOnce: 1, waitingMax: 2, waitMaxMs: 1_000 },
    full: () => new Error('full'),
  })
  const order: string[] = []
  const runPiece = (key: string, ms: number) => {
    state.activity++
    return scheduler.run(key, async () => {
      state.now += ms
      order.push(key)
    })
  }
  await runPiece('a', 10)
  await runPiece('a', 10)
  // The caller's own requests do not make it rest.
  expect(state.pauses).toBe(0)
  const outcomes = [runPiece('a', 10), runPiece('a', 0), runPiece('a', 10), runPiece('b', 1)]
  expect((await Promise.allSettled(outcomes)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(order.slice(2)).toEqual(['a', 'b', 'a'])
  expect(state.pauses).toBeGreaterThan(0)
})

/** Creates queues without rests, whose pieces the test ends. */
function createQueues(atOnce: number, waitingMax = 8) {
  const state = { now: 0, activity: 0 }
  const scheduler = createKeyedScheduler({
    ...{ now: () => state.now, activityCount: () => state.activity, othersShare: 0 },
    ...{ turn: async () => undefined, sleep: async () => undefined },
    ...{ atOnce, waitingMax, waitMaxMs: 1_000, full: () => new Error('full') },
  })
  const started: string[] = []
  const endings = new Map<string, () => void>()
  const runPiece = (key: string, name: string) =>
    scheduler.run(key, async () => {
      started.push(name)
      await new Promise<void>((resolve) => endings.set(name, resolve))
    })
  const settle = async () => {
    for (let nth = 0; nth < 10; nth++) await new Promise((resume) => setImmediate(resume))
  }
  const end = async (name: string) => {
    endings.get(name)?.()
    await settle()
  }
  return { state, started, runPiece, settle, end }
}

test('runs `atOnce` pieces of each caller, whatever the other callers run', async () => {
  const { started, runPiece, settle, end } = createQueues(4)
  // The calls alternate: with one counter for all callers, every piece of `a` would get the same queue.
  const outcomes = ['1', '2', '3', '4', '5'].flatMap((nth) => [
    runPiece('a', `a${nth}`),
    runPiece('b', `b${nth}`),
    runPiece('c', `c${nth}`),
    runPiece('d', `d${nth}`),
  ])
  await settle()
  expect(started.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4'])
  expect(started.length).toBe(16)
  await end('a3')
  const sixth = runPiece('a', 'a6')
  await settle()
  // The longest waiting piece takes the free place.
  expect(started.slice(16)).toEqual(['a5'])
  for (const key of ['a', 'b', 'c', 'd']) for (const nth of ['1', '2', '3', '4', '5', '6']) await end(`${key}${nth}`)
  await Promise.all([...outcomes, sixth])
})

test('refuses a piece that was queued too long, without running it', async () => {
  const { state, started, runPiece, settle, end } = createQueues(1)
  const outcomes = Promise.allSettled([runPiece('a', 'slow'), runPiece('a', 'late'), runPiece('a', 'later')])
  await settle()
  state.now = 1_001
  const next = runPiece('a', 'next')
  await end('slow')
  expect(started).toEqual(['slow', 'next'])
  await end('next')
  await next
  expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
})

test('limits the queued pieces of a caller, however many run at once', async () => {
  const { runPiece, settle, end } = createQueues(4, 8)
  const outcomes = Array.from({ length: 10 }, (_, nth) => runPiece('a', `a${nth}`).catch((error: Error) => error.message))
  await settle()
  for (let nth = 0; nth < 8; nth++) await end(`a${nth}`)
  expect((await Promise.all(outcomes)).filter((outcome) => outcome === 'full').length).toBe(2)
})
