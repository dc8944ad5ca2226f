import { expect, test } from 'bun:test'
import { pageOf, sliceOf } from '../../src/lib/page.ts'

test('the page starts at 1, and the limit is 1 to 100 and 20 by default', () => {
  expect(sliceOf({})).toEqual({ page: 1, limit: 20, offset: 0 })
  expect(sliceOf({ page: '3', limit: '10' })).toEqual({ page: 3, limit: 10, offset: 20 })
  expect(sliceOf({ limit: '0' }).limit).toBe(1)
  expect(sliceOf({ limit: '-5' }).limit).toBe(1)
  expect(sliceOf({ limit: '101' }).limit).toBe(100)
  expect(sliceOf({ limit: '99999999999' }).limit).toBe(100)
  expect(sliceOf({ limit: '-99999999999' }).limit).toBe(1)
  expect(sliceOf({ limit: '5000' }, 1_000).limit).toBe(1_000)
  expect(sliceOf({ page: '0' }).page).toBe(1)
})

test('a list response counts its pages, and an empty list has none', () => {
  const slice = sliceOf({ limit: '10' })
  expect(pageOf(['a'], 21, slice)).toEqual({ data: ['a'], page: 1, limit: 10, total: 21, pages: 3 })
  expect(pageOf([], 20, slice).pages).toBe(2)
  expect(pageOf([], 0, slice)).toEqual({ data: [], page: 1, limit: 10, total: 0, pages: 0 })
})
