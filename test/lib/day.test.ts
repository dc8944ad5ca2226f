import { expect, test } from 'bun:test'
import { addDays, dayOf, isDay, monthsBefore } from '../../src/lib/day.ts'

test('dayOf returns the UTC day of a moment, exact to the millisecond', () => {
  expect(dayOf(Date.UTC(2026, 0, 6))).toBe('2026-01-06')
  expect(dayOf(Date.UTC(2026, 0, 6) - 1)).toBe('2026-01-05')
})

test('days are added across months and leap days', () => {
  expect(addDays('2024-02-28', 1)).toBe('2024-02-29')
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31')
  expect(addDays('2026-03-29', 7)).toBe('2026-04-05')
})

test('isDay refuses impossible days and other formats', () => {
  for (const day of ['2026-01-06', '2024-02-29']) expect([day, isDay(day)]).toEqual([day, true])
  for (const text of ['2026-02-29', '2026-13-01', '2026-1-6', '2026-01-06T00:00:00Z', '', 'today', '02026-01-06'])
    expect([text, isDay(text)]).toEqual([text, false])
})

test('subtracting months keeps the day and time, or uses the last day of a shorter month', () => {
  const before = (text: string, months = 12) => new Date(monthsBefore(Date.parse(text), months)).toISOString()
  expect(before('2026-01-06T12:00:00.123Z')).toBe('2025-01-06T12:00:00.123Z')
  expect(before('2028-02-29T23:59:59.999Z')).toBe('2027-02-28T23:59:59.999Z')
  expect(before('2029-02-28T00:00:00.000Z')).toBe('2028-02-28T00:00:00.000Z')
  expect(before('2029-03-01T00:00:00.000Z')).toBe('2028-03-01T00:00:00.000Z')
  expect(before('2028-02-29T00:00:00.000Z', 48)).toBe('2024-02-29T00:00:00.000Z')
  expect(before('2100-02-28T00:00:00.000Z', 48)).toBe('2096-02-28T00:00:00.000Z')
  expect(before('2026-03-31T06:00:00.000Z', 1)).toBe('2026-02-28T06:00:00.000Z')
  expect(before('2026-01-31T06:00:00.000Z', 2)).toBe('2025-11-30T06:00:00.000Z')
})
