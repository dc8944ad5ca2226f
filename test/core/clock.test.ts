import { expect, test } from 'bun:test'
import { watchClock } from '../../src/core/clock.ts'

const minute = 60_000

/** Creates a wall clock that can be set, and a monotonic clock. */
function createClocks() {
  let now = Date.UTC(2026, 0, 6)
  let elapsed = 0
  const jumps: number[] = []
  const clock = { now: () => now, monotonic: () => elapsed }
  return {
    watch: watchClock(clock, (byMs) => jumps.push(byMs)),
    jumps,
    advance(ms: number) {
      now += ms
      elapsed += ms
    },
    jump(by: number) {
      now += by
    },
  }
}

test('a clock that advances with the monotonic clock is steady, however rarely it is checked', () => {
  const { watch, advance, jumps } = createClocks()
  for (const ms of [0, 1, minute, 24 * 60 * minute, 400 * 24 * 60 * minute]) {
    advance(ms)
    expect(watch.isSteady()).toBe(true)
  }
  expect(jumps).toEqual([])
})

test.each([30 * 24 * 60 * minute, -30 * 24 * 60 * minute, 61_000, -61_000])(
  'a jump by %p ms is reported once, and the clock is steady again 15 minutes later',
  (by) => {
    const { watch, advance, jump, jumps } = createClocks()
    advance(minute)
    jump(by)
    expect(watch.isSteady()).toBe(false)
    advance(15 * minute - 1)
    expect(watch.isSteady()).toBe(false)
    advance(1)
    expect(watch.isSteady()).toBe(true)
    expect(jumps).toEqual([by])
  },
)

test('correcting the clock starts the 15 minutes again', () => {
  const { watch, advance, jump, jumps } = createClocks()
  jump(60 * minute)
  watch.isSteady()
  advance(14 * minute)
  jump(-60 * minute)
  expect(watch.isSteady()).toBe(false)
  advance(14 * minute)
  expect(watch.isSteady()).toBe(false)
  advance(minute)
  expect(watch.isSteady()).toBe(true)
  expect(jumps).toEqual([60 * minute, -60 * minute])
})

test('small corrections by a time server are not jumps', () => {
  const { watch, advance, jump } = createClocks()
  for (let nth = 0; nth < 1_000; nth++) {
    advance(minute)
    jump(nth % 2 === 0 ? 900 : -500)
    expect(watch.isSteady()).toBe(true)
  }
})
