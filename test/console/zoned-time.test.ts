/** Moments on the clock of a time zone. */
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

describe('a moment on the wall', () => {
  test('is what the clock there shows', () => {
    expect(wallTimeText('2026-11-23T16:30:59.999Z', 'Asia/Kuwait')).toBe('2026-11-23T19:30')
    expect(wallTimeText('2026-12-31T23:00:00.000Z', 'Asia/Kathmandu')).toBe('2027-01-01T04:45')
    expect(wallTimeText('2026-07-01T00:00:00.000Z', 'UTC')).toBe('2026-07-01T00:00')
    expect(wallTimeText(null, 'UTC')).toBe('')
  })

  test('is read back as the same one', () => {
    const minutes = fc.integer({ min: Date.UTC(2000, 0) / 60_000, max: Date.UTC(2050, 0) / 60_000 })
    fc.assert(
      fc.property(minutes, fc.constantFrom(...zones), (minute, zone) => {
        const iso = new Date(minute * 60_000).toISOString()
        const text = wallTimeText(iso, zone)
        const read = parseWallTime(text, zone)
        // Of an hour that is there twice, the first.
        expect(wallTimeText(read as string, zone)).toBe(text)
        expect(Date.parse(read as string)).toBeLessThanOrEqual(Date.parse(iso))
        expect(Date.parse(iso) - Date.parse(read as string)).toBeLessThanOrEqual(3_600_000)
      }),
      { numRuns: 400 },
    )
  })

  test('that is there twice is the first, and one that is left out the time after it', () => {
    expect(parseWallTime('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z')
    expect(parseWallTime('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
    expect(wallTimeText('2026-03-29T01:30:00.000Z', 'Europe/Berlin')).toBe('2026-03-29T03:30')
  })

  test('is by UTC in a zone that this browser does not know', () => {
    expect(wallTimeText('2026-11-23T16:30:59.999Z', 'Asia/Nowhere')).toBe('2026-11-23T16:30')
    expect(parseWallTime('2026-11-23T16:30', 'Asia/Nowhere')).toBe('2026-11-23T16:30:00.000Z')
  })

  test('is nothing where nothing was typed, and none where it is no moment', () => {
    expect(parseWallTime('  ', 'UTC')).toBeNull()
    for (const text of ['tomorrow', '2026-11-23', '2026-11-23T1:00', '20261123T10:00']) expect(parseWallTime(text, 'UTC')).toBeUndefined()
  })
})
