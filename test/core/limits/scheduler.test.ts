import { describe, expect, test } from 'bun:test'
import { createScheduler } from '../../../src/core/limits/scheduler.ts'

/** A thread whose time goes by only with what is done on it. */
function thread({ requestsWaiting = 0, requestMs = 1, othersShare = 3 } = {}) {
  const state = { now: 0, seen: 0, waiting: requestsWaiting, turns: 0 }
  const pass = async (idleMs: number) => {
    state.turns++
    if (state.waiting > 0) {
      state.waiting--
      state.seen++
      state.now += requestMs
    } else state.now += idleMs
  }
  const scheduler = createScheduler({
    now: () => state.now,
    activityCount: () => state.seen,
    othersShare,
    turn: () => pass(0.05),
    sleep: async (ms) => {
      for (let left = ms; left > 0; left--) await pass(1)
    },
  })
  return { state, scheduler }
}

describe('long work on the thread that answers everybody', () => {
  test('while requests come, long work gives them three times as long as its piece took, and says that they wanted it', async () => {
    const { state, scheduler } = thread({ requestsWaiting: 1_000 })
    const work = await scheduler.enter()
    for (const pieceMs of [10, 4]) {
      const [before, { seen }] = [state.now + pieceMs, { ...state }]
      state.now += pieceMs
      expect(await work.rest()).toBe(true)
      expect([state.now - before, state.seen - seen]).toEqual([3 * pieceMs, 3 * pieceMs])
    }
  })

  test('while nobody comes, long work goes on at once; and so it does when those who came are served', async () => {
    const { state, scheduler } = thread({ requestsWaiting: 5 })
    const work = await scheduler.enter()
    const lost: number[] = []
    for (const came of [true, false, false]) {
      state.now += 1_000
      const before = state.now
      expect(await work.rest()).toBe(came)
      lost.push(Math.round(state.now - before))
    }
    // After a request it waits briefly for the next one, then continues.
    expect([state.seen, lost]).toEqual([5, [9, 4, 1]])
  })

  test('a piece too short to be noticed is followed by the next, until they are one that can be', async () => {
    const { state, scheduler } = thread({ requestsWaiting: 1_000 })
    const work = await scheduler.enter()
    state.now += 1.5
    expect(await work.rest()).toBe(false)
    expect(state.turns).toBe(0)
    state.now += 1.5
    expect(await work.rest()).toBe(true)
    expect(state.seen).toBe(9)
  })

  test('several do a piece each in turn, so that all of them together leave others as much as one does', async () => {
    const { state, scheduler } = thread({ requestsWaiting: 1_000 })
    const pieces: string[] = []
    let atWork = 0
    const run = async (name: string, count: number) => {
      const work = await scheduler.enter()
      for (let nth = 0; nth < count; nth++) {
        expect(++atWork).toBe(1)
        pieces.push(name)
        state.now += 10
        atWork--
        await work.rest()
      }
      work.leave()
    }
    await Promise.all([run('a', 3), run('b', 2), run('c', 1)])
    expect(pieces.join('')).toBe('abcaba')
    expect(state.seen).toBe(6 * 30)
    // Later requests find the thread free.
    ;(await scheduler.enter()).leave()
  })
})

describe('pieces of work that wait between themselves', () => {
  test('a piece ends before its rest, and the next one starts after three times its duration', async () => {
    const { state, scheduler } = thread({ requestsWaiting: 1_000 })
    const starts: number[] = []
    const piece = (ms: number) =>
      scheduler.run(async () => {
        starts.push(state.now)
        state.now += ms
        return ms
      })
    expect(await Promise.all([piece(10), piece(20), piece(1)])).toEqual([10, 20, 1])
    // No request arrived before the first piece; those during a rest count for the next one.
    expect(starts).toEqual([0, 11, 91])
  })

  test('a piece rests for one turn while nobody comes, for a second at most, and lets the next have its turn if it fails', async () => {
    const { state, scheduler } = thread()
    const piece = (ms: number) =>
      scheduler.run(async () => {
        state.now += ms
      })
    await Promise.all([piece(10), piece(10)])
    expect(state.turns).toBeLessThanOrEqual(2)
    const failing = scheduler.run(() => Promise.reject(new Error('broken')))
    expect(failing).rejects.toThrow('broken')
    await piece(1)
    state.waiting = 5_000
    state.seen++
    const before = state.now
    await Promise.all([piece(60_000), piece(0)])
    expect(state.now - before).toBeLessThan(61_010)
  })
})
