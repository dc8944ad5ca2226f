import { expect, test } from 'bun:test'
import { watchClock } from '../../src/core/clock.ts'

const minute = 60_000

/** A clock that somebody sets, and time that goes on. */
function clocks() {
  let now = Date.UTC(2026, 0, 6)
  let elapsed = 0
  const jumps: number[] = []
  const clock = { now: () => now, monotonic: () => elapsed }
  return {
    watch: watchClock(clock, (byMs) => jumps.push(byMs)),
    jumps,
    pass(ms: number) {
      now += ms
      elapsed += ms
    },
    set(by: number) {
      now += by
    },
  }
}

test('a clock that goes on with time is steady, however seldom it is looked at', () => {
  const { watch, pass, jumps } = clocks()
  for (const ms of [0, 1, minute, 24 * 60 * minute, 400 * 24 * 60 * minute]) {
    pass(ms)
    expect(watch.isSteady()).toBe(true)
  }
  expect(jumps).toEqual([])
})

test.each([30 * 24 * 60 * minute, -30 * 24 * 60 * minute, 61_000, -61_000])(
  'a jump by %p ms is told once, and the clock is steady again a quarter of an hour later',
  (by) => {
    const { watch, pass, set, jumps } = clocks()
    pass(minute)
    set(by)
    expect(watch.isSteady()).toBe(false)
    pass(15 * minute - 1)
    expect(watch.isSteady()).toBe(false)
    pass(1)
    expect(watch.isSteady()).toBe(true)
    expect(jumps).toEqual([by])
  },
)

test('a clock that is set right again waits anew from then on', () => {
  const { watch, pass, set, jumps } = clocks()
  set(60 * minute)
  watch.isSteady()
  pass(14 * minute)
  set(-60 * minute)
  expect(watch.isSteady()).toBe(false)
  pass(14 * minute)
  expect(watch.isSteady()).toBe(false)
  pass(minute)
  expect(watch.isSteady()).toBe(true)
  expect(jumps).toEqual([60 * minute, -60 * minute])
})

test('the small steps of a time server are no jumps', () => {
  const { watch, pass, set } = clocks()
  for (let nth = 0; nth < 1_000; nth++) {
    pass(minute)
    set(nth % 2 === 0 ? 900 : -500)
    expect(watch.isSteady()).toBe(true)
  }
})
