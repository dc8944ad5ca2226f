import { expect, test } from 'bun:test'
import { createShare, createShares } from '../../src/lib/share.ts'

function shared() {
  const state = { now: 0, seen: 0, slept: [] as number[], running: 0, mostRunning: 0 }
  const share = createShare({
    now: () => state.now,
    sleep: async (ms) => void state.slept.push(ms),
    seen: () => state.seen,
    times: 8,
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
  const shares = createShares({
    now: () => state.now,
    sleep: async (ms) => void state.slept.push(ms),
    seen: () => state.asked,
    times: 3,
    restMinMs: 2,
    waitingMax: 2,
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
