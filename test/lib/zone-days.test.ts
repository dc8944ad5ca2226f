/** Tests days of time zones with and without daylight-saving time. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, dayNumberOf, dayText, hourMs, startOfDay } from '../../src/lib/day.ts'
import { dayIn, dayNumberIn, dayRunsIn, endOfDayIn, startOfDayIn } from '../../src/lib/zone-days.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const zones = [
  ...['UTC', 'Asia/Kuwait', 'Asia/Ulaanbaatar', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe'],
  ...['Asia/Beirut', 'America/St_Johns', 'Pacific/Kiritimati', 'Pacific/Apia', 'Pacific/Marquesas'],
]
const iso = (ms: number) => new Date(ms).toISOString()

test('a day begins at local midnight and has 23, 24 or 25 hours', () => {
  const hours = (zone: string, day: string) => (endOfDayIn(zone, day) - startOfDayIn(zone, day)) / hourMs
  expect(iso(startOfDayIn('Asia/Kuwait', '2026-11-30'))).toBe('2026-11-29T21:00:00.000Z')
  expect(['2026-03-28', '2026-03-29', '2026-10-25'].map((day) => hours('Europe/Berlin', day))).toEqual([24, 23, 25])
  expect(['2026-03-08', '2026-11-01'].map((day) => hours('America/New_York', day))).toEqual([23, 25])
  expect([hours('Australia/Lord_Howe', '2026-04-05'), hours('UTC', '2026-03-29')]).toEqual([24.5, 24])
})

test('where the clock skips midnight, the day begins at the first moment of its date', () => {
  expect(iso(startOfDayIn('Asia/Beirut', '2021-03-28'))).toBe('2021-03-27T22:00:00.000Z')
  expect(dayIn('Asia/Beirut', startOfDayIn('Asia/Beirut', '2021-03-28') - 1)).toBe('2021-03-27')
})

test('the last day of the calendar has an end', () => {
  for (const zone of zones) expect(endOfDayIn(zone, '9999-12-31')).toBeGreaterThan(startOfDayIn(zone, '9999-12-31'))
})

test('every moment belongs to the one day whose bounds contain it', () => {
  const minutes = fc.integer({ min: Date.UTC(2012, 0) / 60_000, max: Date.UTC(2050, 0) / 60_000 })
  fc.assert(
    fc.property(minutes, fc.constantFrom(...zones), (minute, zone) => {
      const at = minute * 60_000
      const day = dayIn(zone, at)
      expect(startOfDayIn(zone, day)).toBeLessThanOrEqual(at)
      expect(endOfDayIn(zone, day)).toBeGreaterThan(at)
      expect(dayText(dayNumberIn(zone, at))).toBe(day)
    }),
    { numRuns: 500 },
  )
})

test('runs cover the days without gaps, and a moment is in the day that its run computes', () => {
  const days = fc.integer({ min: dayNumberOf(Date.UTC(2011, 10)), max: dayNumberOf(Date.UTC(2040, 0)) })
  fc.assert(
    fc.property(
      days,
      fc.integer({ min: 0, max: 400 }),
      fc.constantFrom(1, 8, 1000),
      fc.constantFrom(...zones),
      (from, more, most, zone) => {
        const runs = dayRunsIn(zone, from, from + more, most)
        expect([runs[0]?.since, runs.at(-1)?.until]).toEqual([startOfDayIn(zone, dayText(from)), endOfDayIn(zone, dayText(from + more))])
        runs.forEach(({ day, since, until, length }, nth) => {
          if (nth > 0) expect(since).toBe(runs[nth - 1]?.until ?? 0)
          expect((until - since) % length).toBe(0)
          expect((until - since) / length).toBeLessThanOrEqual(most)
          for (const at of [since, until - 1, Math.floor((since + until) / 2)])
            expect(dayText(day + Math.floor((at - since) / length))).toBe(dayIn(zone, at))
        })
      },
    ),
    { numRuns: 150 },
  )
})

test('UTC has one run, from midnight', () => {
  const from = dayNumberOf(startOfDay('2026-01-01'))
  expect(dayRunsIn('UTC', from, from + 2, 1000)).toEqual([{ day: from, since: from * dayMs, until: (from + 3) * dayMs, length: dayMs }])
})

test('a day that a zone skipped over the date line is in no run', () => {
  const from = dayNumberOf(startOfDay('2011-12-29'))
  const runs = dayRunsIn('Pacific/Apia', from, from + 2, 1)
  expect(runs.map(({ day }) => dayText(day))).toEqual(['2011-12-29', '2011-12-31'])
})
