/** Tests circuit breakers as values. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  afterFailure,
  afterProbe,
  afterSuccess,
  type Breaker,
  closedBreaker,
  isClosed,
  isProbeDue,
  startProbe,
} from '../../src/lib/breaker.ts'

const times = (count: number, step: (breaker: Breaker) => Breaker, from: Breaker = closedBreaker) =>
  Array.from({ length: count }).reduce<Breaker>((breaker) => step(breaker), from)
const opened = times(5, (breaker) => afterFailure(breaker, 1_000))

test('five failures in a row open the breaker, and fewer between successes never do', () => {
  expect(isClosed(times(4, (breaker) => afterFailure(breaker, 1_000)))).toBe(true)
  expect(isClosed(opened)).toBe(false)
  expect(isClosed(times(100, (breaker) => afterSuccess(times(4, (one) => afterFailure(one, 0), breaker))))).toBe(true)
})

test('only a probe closes an open breaker: after 30 seconds, doubling with each failure up to ten minutes', () => {
  expect(afterSuccess(opened)).toEqual(opened)
  expect(afterFailure(opened, 2_000)).toEqual(opened)
  expect(isProbeDue(opened, 30_999)).toBe(false)
  expect(isProbeDue(opened, 31_000)).toBe(true)
  const pauses: number[] = []
  let [breaker, now] = [opened, 1_000]
  for (let nth = 0; nth < 8; nth++) {
    const from = now
    while (!isProbeDue(breaker, now)) now += 1_000
    pauses.push((now - from) / 1_000)
    const half = startProbe(breaker, now)
    expect(half.state).toBe('HALF_OPEN')
    expect(isClosed(half)).toBe(false)
    // Only one probe runs at a time.
    expect(isProbeDue(half, now)).toBe(false)
    breaker = afterProbe(half, false, now)
  }
  expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600, 600])
  while (!isProbeDue(breaker, now)) now += 1_000
  expect(afterProbe(startProbe(breaker, now), true, now)).toEqual(closedBreaker)
})

test('a probe that does not end is followed by another after a minute, and a late end changes nothing', () => {
  const half = startProbe(opened, 31_000)
  expect(isProbeDue(half, 90_999)).toBe(false)
  expect(isProbeDue(half, 91_000)).toBe(true)
  expect(afterProbe(closedBreaker, false, 91_000)).toEqual(closedBreaker)
})

test('in any order of events, calls pass exactly while fewer than five failures came since it last closed', () => {
  const events = fc.array(fc.constantFrom('ok', 'fail', 'tick', 'probe ok', 'probe fail'), { maxLength: 200 })
  fc.assert(
    fc.property(events, (sequence) => {
      let breaker: Breaker = closedBreaker
      let [now, inARow, isOpen] = [0, 0, false]
      for (const event of sequence) {
        if (event === 'tick') now += 20_000
        if (event === 'ok') breaker = afterSuccess(breaker)
        if (event === 'fail') breaker = afterFailure(breaker, now)
        if (event === 'ok' && !isOpen) inARow = 0
        if (event === 'fail' && !isOpen && ++inARow >= 5) isOpen = true
        if (event.startsWith('probe')) {
          const half = startProbe(breaker, now)
          const isProbed = half !== breaker
          breaker = isProbed ? afterProbe(half, event === 'probe ok', now) : breaker
          if (isProbed && event === 'probe ok') [inARow, isOpen] = [0, false]
        }
        expect(isClosed(breaker)).toBe(!isOpen)
      }
    }),
    { numRuns: 300 },
  )
})
