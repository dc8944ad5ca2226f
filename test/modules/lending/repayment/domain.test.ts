import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, dayNumberOf } from '../../../../src/lib/day.ts'
import { blockOf, splitWindow } from '../../../../src/modules/lending/repayment/domain.ts'

test('the parts of a window count each moment within it exactly once', () => {
  const moment = fc.oneof(
    fc.integer({ min: 0, max: 900 * dayMs }),
    // Moments around midnights, also those where blocks begin.
    fc.tuple(fc.nat({ max: 900 }), fc.integer({ min: -2, max: 2 })).map(([day, ms]) => Math.max(0, day * dayMs + ms)),
  )
  const window = fc.tuple(moment, fc.integer({ min: dayMs, max: 500 * dayMs })).map(([after, length]) => ({ after, upTo: after + length }))
  fc.assert(
    fc.property(window, fc.array(moment, { maxLength: 60 }), ({ after, upTo }, moments) => {
      const all = [...moments, after, after + 1, upTo, upTo + 1]
      const { daysBefore, blocks, daysAfter, firstDay, lastDay } = splitWindow({ after, upTo })
      const isWithin = (value: number, [from, end]: readonly [number, number]) => value >= from && value < end
      const countOf = (at: number) =>
        [
          isWithin(dayNumberOf(at), daysBefore),
          isWithin(blockOf(dayNumberOf(at)), blocks),
          isWithin(dayNumberOf(at), daysAfter),
          at > firstDay[0] && at <= firstDay[1],
          at > lastDay[0] && at <= lastDay[1],
        ].filter(Boolean).length
      for (const at of all) expect([at, countOf(at)]).toEqual([at, at > after && at <= upTo ? 1 : 0])
    }),
    { numRuns: 500 },
  )
})

test('a window of a year has at most fifty-three rows of counts', () => {
  for (let day = 0; day < 64; day++) {
    const { daysBefore, blocks, daysAfter } = splitWindow({ after: day * dayMs, upTo: (day + 366) * dayMs })
    const rows = [daysBefore, blocks, daysAfter].reduce((sum, [from, end]) => sum + end - from, 0)
    expect(rows).toBeLessThanOrEqual(53)
  }
})
