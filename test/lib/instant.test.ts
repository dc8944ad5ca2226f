import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { instantPattern, parseInstant } from '../../src/lib/instant.ts'

const pattern = new RegExp(instantPattern)
const twoDigits = (part: number) => String(part).padStart(2, '0')

describe('an instant', () => {
  test('an instant needs a valid day and a valid time', () => {
    for (const text of [
      '2021-02-29T00:00:00Z',
      '2021-02-30T00:00:00Z',
      '2021-04-31T12:00:00Z',
      '1900-02-29T00:00:00Z',
      '2021-00-10T00:00:00Z',
      '2021-13-10T00:00:00Z',
      '2021-01-00T00:00:00Z',
      '2021-01-32T00:00:00Z',
      '2021-01-01T24:00:00Z',
      '2021-01-01T23:60:00Z',
      '2021-01-01T23:59:61Z',
      '2021-01-01T00:00:00+24:00',
      '2021-01-01T00:00:00+01:60',
    ])
      expect([text, parseInstant(text)]).toEqual([text, Number.NaN])
    expect(parseInstant('2024-02-29T23:59:59Z')).toBe(Date.UTC(2024, 1, 29, 23, 59, 59))
    expect(parseInstant('2000-02-29T00:00:00Z')).toBe(Date.UTC(2000, 1, 29))
  })

  test('an instant must have a day, a time and a zone', () => {
    for (const text of [
      '2021-01-01',
      '1/1/2020',
      '2021-01-01T00:00:00',
      '2021-01-01 00:00:00Z',
      '2021-01-01T00:00Z',
      '2021-01-01T00:00:00.Z',
      '2021-01-01T00:00:00.0123456789Z',
      '2021-01-01T00:00:00+0100',
      '+002021-01-01T00:00:00Z',
      ' 2021-01-01T00:00:00Z',
      '2021-01-01T00:00:00Z\n',
      '٢٠٢١-01-01T00:00:00Z',
    ])
      expect([text, pattern.test(text)]).toEqual([text, false])
    for (const text of ['2021-01-01t00:00:00z', '2021-01-01T00:00:00.123456789Z', '2021-01-01T01:00:00+01:00', '2020-12-31T18:30:00-05:30'])
      expect([text, pattern.test(text), Math.floor(parseInstant(text) / 1000)]).toEqual([text, true, Date.UTC(2021) / 1000])
    expect(parseInstant('2021-01-01T00:00:00.123456789Z')).toBe(Date.UTC(2021, 0, 1, 0, 0, 0, 123))
  })

  test('an instant equals that of Date for any offset and fraction, and impossible parts are NaN', () => {
    const parts = fc.record({
      year: fc.integer({ min: 100, max: 9999 }),
      month: fc.integer({ min: 0, max: 13 }),
      day: fc.integer({ min: 0, max: 32 }),
      hour: fc.integer({ min: 0, max: 24 }),
      minute: fc.integer({ min: 0, max: 59 }),
      offset: fc.integer({ min: -23 * 60, max: 23 * 60 }),
      fraction: fc.stringMatching(/^\d{3,9}$/),
    })
    fc.assert(
      fc.property(parts, ({ year, month, day, hour, minute, offset, fraction }) => {
        const offsetMinutes = Math.abs(offset)
        const zone =
          offset === 0 ? 'z' : `${offset < 0 ? '-' : '+'}${twoDigits(Math.trunc(offsetMinutes / 60))}:${twoDigits(offsetMinutes % 60)}`
        const text = `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}t${twoDigits(hour)}:${twoDigits(minute)}:07.${fraction}${zone}`
        const local = new Date(Date.UTC(year, month - 1, day, hour, minute, 7, Number(fraction.slice(0, 3))))
        const carried = local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day || local.getUTCHours() !== hour
        expect(pattern.test(text)).toBe(true)
        expect(parseInstant(text)).toBe(carried ? Number.NaN : local.getTime() - offset * 60_000)
      }),
      { numRuns: 2_000 },
    )
  })

  test('an instant written by Date is read unchanged', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }), (date) => {
        expect(parseInstant(date.toISOString())).toBe(date.getTime())
      }),
    )
  })
})
