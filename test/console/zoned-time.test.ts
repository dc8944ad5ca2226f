/** Tests times in a time zone. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { parseWallTime, wallTimeText } from '../../src/console/lib/format/zoned-time.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const zones = [
  'UTC',
  'Asia/Kuwait',
  'Asia/Ulaanbaatar',
  'America/New_York',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Australia/Lord_Howe',
]

describe('a local time', () => {
  test('is that of its time zone', () => {
    expect(wallTimeText('2026-11-23T16:30:59.999Z', 'Asia/Kuwait')).toBe('2026-11-23T19:30')
    expect(wallTimeText('2026-12-31T23:00:00.000Z', 'Asia/Kathmandu')).toBe('2027-01-01T04:45')
    expect(wallTimeText('2026-07-01T00:00:00.000Z', 'UTC')).toBe('2026-07-01T00:00')
    expect(wallTimeText(null, 'UTC')).toBe('')
  })

  test('is parsed back to the same time', () => {
    const minutes = fc.integer({ min: Date.UTC(2000, 0) / 60_000, max: Date.UTC(2050, 0) / 60_000 })
    fc.assert(
      fc.property(minutes, fc.constantFrom(...zones), (minute, zone) => {
        const iso = new Date(minute * 60_000).toISOString()
        const text = wallTimeText(iso, zone)
        const read = parseWallTime(text, zone)
        // In an hour that occurs twice, the first time.
        expect(wallTimeText(read as string, zone)).toBe(text)
        expect(Date.parse(read as string)).toBeLessThanOrEqual(Date.parse(iso))
        expect(Date.parse(iso) - Date.parse(read as string)).toBeLessThanOrEqual(3_600_000)
      }),
      { numRuns: 400 },
    )
  })

  test('that occurs twice is parsed as the first, and one that is skipped as the time after the gap', () => {
    expect(parseWallTime('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z')
    expect(parseWallTime('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
    expect(wallTimeText('2026-03-29T01:30:00.000Z', 'Europe/Berlin')).toBe('2026-03-29T03:30')
  })

  test('is UTC in a time zone that the browser does not support', () => {
    expect(wallTimeText('2026-11-23T16:30:59.999Z', 'Asia/Nowhere')).toBe('2026-11-23T16:30')
    expect(parseWallTime('2026-11-23T16:30', 'Asia/Nowhere')).toBe('2026-11-23T16:30:00.000Z')
  })

  test('is absent for an empty text, and undefined for an invalid one', () => {
    expect(parseWallTime('  ', 'UTC')).toBeNull()
    for (const text of ['tomorrow', '2026-11-23', '2026-11-23T1:00', '20261123T10:00']) expect(parseWallTime(text, 'UTC')).toBeUndefined()
  })
})
