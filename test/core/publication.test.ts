import { expect, test } from 'bun:test'
import { assertPublicationDate, publicationInMs } from '../../src/core/publication.ts'

test('a publication date is optional, and must be between 1970 and 2199', () => {
  const last = Date.UTC(2200, 0, 1) - 1
  for (const ms of [undefined, null, 0, last]) expect(() => assertPublicationDate(ms)).not.toThrow()
  for (const ms of [-1, last + 1, Number.NaN])
    expect(() => assertPublicationDate(ms)).toThrow(
      expect.objectContaining({ kind: 'INVALID', message: 'publishedAt: must be a time between 1970 and 2199' }),
    )
})

test('publicationInMs converts the publication date to milliseconds and changes nothing else', () => {
  const inMs = (publishedAt: string | null) => publicationInMs({ title: 'Tea', publishedAt })
  expect(inMs('1970-01-01T00:00:01Z')).toEqual({ title: 'Tea', publishedAt: 1_000 })
  expect(inMs('1970-02-30T00:00:00Z')).toEqual({ title: 'Tea', publishedAt: Number.NaN })
  expect(inMs(null)).toEqual({ title: 'Tea', publishedAt: null })
})
