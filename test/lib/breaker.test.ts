/** Circuit breakers, as values. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Breaker, closed, failed, isToProbe, lets, probed, probing, succeeded } from '../../src/lib/breaker.ts'

const times = (count: number, step: (breaker: Breaker) => Breaker, from: Breaker = closed) =>
  Array.from({ length: count }).reduce<Breaker>((breaker) => step(breaker), from)
const opened = times(5, (breaker) => failed(breaker, 1_000))

test('five failures in a row open it, and fewer with an answer between them never do', () => {
  expect(lets(times(4, (breaker) => failed(breaker, 1_000)))).toBe(true)
  expect(lets(opened)).toBe(false)
  expect(lets(times(100, (breaker) => succeeded(times(4, (one) => failed(one, 0), breaker))))).toBe(true)
})

test('once open, only a probe closes it: half a minute later, and each that fails doubles the pause up to ten minutes', () => {
  expect(succeeded(opened)).toEqual(opened)
  expect(failed(opened, 2_000)).toEqual(opened)
  expect(isToProbe(opened, 30_999)).toBe(false)
  expect(isToProbe(opened, 31_000)).toBe(true)
  const pauses: number[] = []
  let [breaker, now] = [opened, 1_000]
  for (let nth = 0; nth < 8; nth++) {
    const from = now
    while (!isToProbe(breaker, now)) now += 1_000
    pauses.push((now - from) / 1_000)
    const half = probing(breaker, now)
    expect(half.state).toBe('HALF_OPEN')
    expect(lets(half)).toBe(false)
    // One at a time.
    expect(isToProbe(half, now)).toBe(false)
    breaker = probed(half, false, now)
  }
  expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600, 600])
  while (!isToProbe(breaker, now)) now += 1_000
  expect(probed(probing(breaker, now), true, now)).toEqual(closed)
})

test('a probe that never ends is followed by another after a minute, and one that ends too late changes nothing', () => {
  const half = probing(opened, 31_000)
  expect(isToProbe(half, 90_999)).toBe(false)
  expect(isToProbe(half, 91_000)).toBe(true)
  expect(probed(closed, false, 91_000)).toEqual(closed)
})

test('whatever happens in whatever order, calls pass exactly while fewer than five failures in a row came since it last closed', () => {
  const events = fc.array(fc.constantFrom('ok', 'fail', 'tick', 'probe ok', 'probe fail'), { maxLength: 200 })
  fc.assert(
    fc.property(events, (happened) => {
      let breaker: Breaker = closed
      let [now, inARow, isOpen] = [0, 0, false]
      for (const what of happened) {
        if (what === 'tick') now += 20_000
        if (what === 'ok') breaker = succeeded(breaker)
        if (what === 'fail') breaker = failed(breaker, now)
        if (what === 'ok' && !isOpen) inARow = 0
        if (what === 'fail' && !isOpen && ++inARow >= 5) isOpen = true
        if (what.startsWith('probe')) {
          const half = probing(breaker, now)
          const isProbed = half !== breaker
          breaker = isProbed ? probed(half, what === 'probe ok', now) : breaker
          if (isProbed && what === 'probe ok') [inARow, isOpen] = [0, false]
        }
        expect(lets(breaker)).toBe(!isOpen)
      }
    }),
    { numRuns: 300 },
  )
})
