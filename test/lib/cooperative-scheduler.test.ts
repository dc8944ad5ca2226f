import { describe, expect, test } from 'bun:test'
import { createCooperativeScheduler } from '../../src/lib/cooperative-scheduler.ts'

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
  const pace = createCooperativeScheduler({
    now: () => state.now,
    activityCount: () => state.seen,
    othersShare,
    turn: () => pass(0.05),
    pause: () => pass(1),
  })
  return { state, pace }
}

describe('long work on the thread that answers everybody', () => {
  test('while requests come, long work gives them three times as long as its piece took, and says that they wanted it', async () => {
    const { state, pace } = thread({ requestsWaiting: 1_000 })
    const work = await pace.enter()
    for (const pieceMs of [10, 4]) {
      const [before, { seen }] = [state.now + pieceMs, { ...state }]
      state.now += pieceMs
      expect(await work.rest()).toBe(true)
      expect([state.now - before, state.seen - seen]).toEqual([3 * pieceMs, 3 * pieceMs])
    }
  })

  test('while nobody comes, long work goes on at once; and so it does when those who came are served', async () => {
    const { state, pace } = thread({ requestsWaiting: 5 })
    const work = await pace.enter()
    const lost: number[] = []
    for (const came of [true, false, false]) {
      state.now += 1_000
      const before = state.now
      expect(await work.rest()).toBe(came)
      lost.push(Math.round(state.now - before))
    }
    // After somebody came it waits a little for the next one, and then no more.
    expect([state.seen, lost]).toEqual([5, [9, 4, 1]])
  })

  test('a piece too short to be noticed is followed by the next, until they are one that can be', async () => {
    const { state, pace } = thread({ requestsWaiting: 1_000 })
    const work = await pace.enter()
    state.now += 1.5
    expect(await work.rest()).toBe(false)
    expect(state.turns).toBe(0)
    state.now += 1.5
    expect(await work.rest()).toBe(true)
    expect(state.seen).toBe(9)
  })

  test('several do a piece each in turn, so that all of them together leave others as much as one does', async () => {
    const { state, pace } = thread({ requestsWaiting: 1_000 })
    const pieces: string[] = []
    let atWork = 0
    const run = async (name: string, count: number) => {
      const work = await pace.enter()
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
    // And whoever comes afterwards finds it free.
    ;(await pace.enter()).leave()
  })
})
