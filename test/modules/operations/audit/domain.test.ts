import { expect, test } from 'bun:test'
import { auditView, differenceOf, limitLength, redacted } from '../../../../src/modules/operations/audit/domain.ts'

type One = { id: string; shopId: string; title: string; email: string | null; tags: string[]; note?: string; updatedAt: number }
const one: One = { id: 'a', shopId: 's', title: 'Lamp', email: 'ada@example.com', tags: ['a'], updatedAt: 1 }

test('a difference has exactly the changed fields: open ones by value, others only as changed', () => {
  const after = { ...one, title: 'Cup', email: 'eve@example.com', updatedAt: 2 }
  expect(differenceOf(one, after, ['title', 'tags'])).toEqual({
    before: { title: 'Lamp', email: redacted },
    after: { title: 'Cup', email: redacted },
  })
})

test('a difference shows that a personal value was set or removed, but not the value', () => {
  expect(differenceOf(one, { ...one, email: null, note: 'hers' }, [])).toEqual({
    before: { email: redacted, note: null },
    after: { email: null, note: redacted },
  })
})

test('a difference of a created or removed record has the fields that it had', () => {
  const values = { title: 'Lamp', email: redacted, tags: ['a'] }
  expect(differenceOf(undefined, one, ['title', 'tags'])).toEqual({ before: null, after: values })
  expect(differenceOf(one, undefined, ['title', 'tags'])).toEqual({ before: values, after: null })
  expect(differenceOf<One>(undefined, { ...one, email: null }, [])).toEqual({ before: null, after: { title: redacted, tags: redacted } })
})

test('a difference of unchanged values is empty, even with new list objects and a later time', () => {
  expect(differenceOf(one, { ...one, tags: ['a'], updatedAt: 2 }, ['tags'])).toEqual({ before: null, after: null })
})

test('values of a row are limited, each and together', () => {
  expect(limitLength(null)).toBeNull()
  expect(limitLength({ title: 'Lamp', options: ['x'.repeat(3_000)], gone: undefined })).toEqual({
    title: 'Lamp',
    options: '[too long]',
    gone: null,
  })
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, nth) => [`field${nth}`, 'x'.repeat(1_000)]))
  expect(JSON.stringify(limitLength(many)).length).toBeLessThan(1_000)
  expect(Object.keys(limitLength(many) ?? {})).toEqual(Object.keys(many))
})

test('a row shows times within changes in the format of its own time, and other numbers unchanged', () => {
  const at = Date.UTC(2026, 0, 6, 12)
  const row = { id: 'aud_1', at, actor: 'a', action: 'b', subject: 'c', shopId: null, requestId: null, address: null }
  const view = auditView({ ...row, before: null, after: { publishedAt: at, endedAt: null, onHand: 5, At: 7, format: at } })
  expect([view.at, view.before]).toEqual(['2026-01-06T12:00:00.000Z', null])
  expect(view.after).toEqual({ publishedAt: '2026-01-06T12:00:00.000Z', endedAt: null, onHand: 5, At: 7, format: at })
})

test("a row shows amounts as dollars under the API's names, though they are stored in cents", () => {
  const row = { id: 'aud_1', at: 0, actor: 'a', action: 'b', subject: 'c', shopId: null, requestId: null, address: null }
  const { before, after } = auditView({
    ...row,
    before: { requestedAmountUsd: null },
    after: { requestedAmountUsd: 2_500_050, amountUsd: 1_234 },
  })
  expect([before, after]).toEqual([{ requestedAmountUsd: null }, { requestedAmountUsd: 25_000.5, amountUsd: 12.34 }])
})
