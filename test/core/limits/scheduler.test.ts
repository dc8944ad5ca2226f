import { describe, expect, test } from 'bun:test'
import { createScheduler } from '../../../src/core/limits/scheduler.ts'

/** Simulates a thread whose clock advances only by the work on it. */
function simulateThread({ requestsWaiting = 0, requestMs = 1, othersShare = 3 } = {}) {
  const state = { now: 0, requestsSeen: 0, waiting: requestsWaiting, turns: 0 }
  const passTurn = async (idleMs: number) => {
    state.turns++
    if (state.waiting > 0) {
      state.waiting--
      state.requestsSeen++
      state.now += requestMs
    } else state.now += idleMs
  }
  const scheduler = createScheduler({
    now: () => state.now,
    activityCount: () => state.requestsSeen,
    othersShare,
    turn: () => passTurn(0.05),
    sleep: async (ms) => {
      for (let left = ms; left > 0; left--) await passTurn(1)
    },
  })
  return { state, scheduler }
}

describe('long work on the main thread', () => {
  test("after each piece, long work leaves requests three times the piece's duration", async () => {
    const { state, scheduler } = simulateThread({ requestsWaiting: 1_000 })
    const work = await scheduler.enter()
    for (const pieceMs of [10, 4]) {
      const [before, { requestsSeen }] = [state.now + pieceMs, { ...state }]
      state.now += pieceMs
      expect(await work.rest()).toBe(true)
      expect([state.now - before, state.requestsSeen - requestsSeen]).toEqual([3 * pieceMs, 3 * pieceMs])
    }
  })

  test('long work continues at once without requests, and soon after the last request was served', async () => {
    const { state, scheduler } = simulateThread({ requestsWaiting: 5 })
    const work = await scheduler.enter()
    const restsMs: number[] = []
    for (const hasRequests of [true, false, false]) {
      state.now += 1_000
      const before = state.now
      expect(await work.rest()).toBe(hasRequests)
      restsMs.push(Math.round(state.now - before))
    }
    // After a request it waits briefly for the next one, then continues.
    expect([state.requestsSeen, restsMs]).toEqual([5, [9, 4, 1]])
  })

  test('a piece below the minimum duration is followed by the next one without a rest', async () => {
    const { state, scheduler } = simulateThread({ requestsWaiting: 1_000 })
    const work = await scheduler.enter()
    state.now += 1.5
    expect(await work.rest()).toBe(false)
    expect(state.turns).toBe(0)
    state.now += 1.5
    expect(await work.rest()).toBe(true)
    expect(state.requestsSeen).toBe(9)
  })

  test('several works alternate piece by piece, so that together they leave requests as much time as one does', async () => {
    const { state, scheduler } = simulateThread({ requestsWaiting: 1_000 })
    const pieces: string[] = []
    let running = 0
    const run = async (name: string, count: number) => {
      const work = await scheduler.enter()
      for (let nth = 0; nth < count; nth++) {
        expect(++running).toBe(1)
        pieces.push(name)
        state.now += 10
        running--
        await work.rest()
      }
      work.leave()
    }
    await Promise.all([run('a', 3), run('b', 2), run('c', 1)])
    expect(pieces.join('')).toBe('abcaba')
    expect(state.requestsSeen).toBe(6 * 30)
    // Later requests find the thread free.
    ;(await scheduler.enter()).leave()
  })
})

describe('single pieces of work', () => {
  test('a piece ends before its rest, and the next one starts after three times its duration', async () => {
    const { state, scheduler } = simulateThread({ requestsWaiting: 1_000 })
    const starts: number[] = []
    const runPiece = (ms: number) =>
      scheduler.run(async () => {
        starts.push(state.now)
        state.now += ms
        return ms
      })
    expect(await Promise.all([runPiece(10), runPiece(20), runPiece(1)])).toEqual([10, 20, 1])
    // No request arrived before the first piece; those during a rest count for the next one.
    expect(starts).toEqual([0, 11, 91])
  })

  test('a piece without requests rests for one turn, with requests at most a second, and a failing piece lets the next one run', async () => {
    const { state, scheduler } = simulateThread()
    const runPiece = (ms: number) =>
      scheduler.run(async () => {
        state.now += ms
      })
    await Promise.all([runPiece(10), runPiece(10)])
    expect(state.turns).toBeLessThanOrEqual(2)
    const failing = scheduler.run(() => Promise.reject(new Error('broken')))
    expect(failing).rejects.toThrow('broken')
    await runPiece(1)
    state.waiting = 5_000
    state.requestsSeen++
    const before = state.now
    await Promise.all([runPiece(60_000), runPiece(0)])
    expect(state.now - before).toBeLessThan(61_010)
  })
})
