import { expect, test } from 'bun:test'
import { moneyOf } from '../../src/lib/money.ts'
import { isoTimes, pick, withoutUndefined } from '../../src/lib/objects.ts'

test('pick returns the named properties in the given order', () => {
  expect(JSON.stringify(pick({ secret: 1, a: null, b: 2 }, 'b', 'a'))).toBe('{"b":2,"a":null}')
})

test('withoutUndefined removes only undefined properties', () => {
  expect(Object.entries(withoutUndefined({ a: undefined, b: null, c: 0, d: '', e: false }))).toEqual([
    ['b', null],
    ['c', 0],
    ['d', ''],
    ['e', false],
  ])
})

test('isoTimes writes times as ISO text and keeps null', () => {
  expect(JSON.stringify(isoTimes({ b: 0, a: null }))).toBe('{"b":"1970-01-01T00:00:00.000Z","a":null}')
})

test('moneyOf adds the currency of the record to amounts', () => {
  const record = { total: 5, tax: 1, currency: 'EUR', other: 2 }
  expect(JSON.stringify(moneyOf(record, 'tax', 'total'))).toBe(
    '{"tax":{"amount":1,"currency":"EUR"},"total":{"amount":5,"currency":"EUR"}}',
  )
})
