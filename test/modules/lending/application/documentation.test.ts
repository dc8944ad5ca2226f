import { expect, test } from 'bun:test'
import { AppError } from '../../../../src/core/errors.ts'
import { markRemoved, markUploaded, parseDocumentation } from '../../../../src/modules/lending/application/documentation.ts'

const refusalOf = (sent: object): string => {
  try {
    parseDocumentation(sent as Record<string, unknown>)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'INVALID') return error.message
    throw error
  }
  return 'accepted'
}
const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) })

test('documents are stored as sent, with additional fields next to and within the items', () => {
  const documentation = {
    items: [{ key: 'owner_id', status: 'UPLOADED', note: { by: ['me', 1, null] } }],
    reviewedBy: 'Accountant',
    n: [1, 2],
  }
  expect(parseDocumentation(documentation)).toBe(documentation as never)
  for (const empty of [{}, { items: [] }]) expect(parseDocumentation(empty)).toEqual(empty)
})

test('invalid items are refused by position', () => {
  const item = { key: 'owner_id', status: 'UPLOADED' }
  for (const [items, message] of [
    [{}, 'documentationCompleted.items: must be a list'],
    [null, 'documentationCompleted.items: must be a list'],
    ['owner_id', 'documentationCompleted.items: must be a list'],
    [['owner_id'], 'documentationCompleted.items.0: must be an object'],
    [[item, null], 'documentationCompleted.items.1: must be an object'],
    [[item, [item]], 'documentationCompleted.items.1: must be an object'],
    [[{ status: 'UPLOADED' }], 'documentationCompleted.items.0.key: must be a string'],
    [[{ ...item, key: 1 }], 'documentationCompleted.items.0.key: must be a string'],
    [[{ key: 'owner_id' }], 'documentationCompleted.items.0.status: must be a string'],
    [[{ ...item, status: true }], 'documentationCompleted.items.0.status: must be a string'],
    [[item, { key: 'lease', status: '' }, { ...item, status: 'PENDING' }], 'documentationCompleted.items.2.key: must not be repeated'],
  ] as const)
    expect([items, refusalOf({ items })]).toEqual([items, message])
})

test('documents of up to 64 KB and five levels are accepted', () => {
  const withLength = (bytes: number) => ({ text: 'é'.repeat(1) + 'x'.repeat(bytes - JSON.stringify({ text: '' }).length - 2) })
  expect([refusalOf(withLength(65_536)), refusalOf(withLength(65_537))]).toEqual([
    'accepted',
    'documentationCompleted: must not be larger than 64 KB',
  ])
  const deep = 'documentationCompleted: must not be nested deeper than 5 levels'
  expect([refusalOf(nested(4)), refusalOf(nested(5)), refusalOf({ items: [], a: [[[[[]]]]] })]).toEqual(['accepted', deep, deep])
  expect(refusalOf({ items: [{ key: 'a', status: 'b', more: [{}] }] })).toBe('accepted')
  expect(refusalOf({ items: [{ key: 'a', status: 'b', more: [{ a: {} }] }] })).toBe(deep)
})

test('an uploaded document stays UPLOADED whatever is sent, and everything else stays unchanged', () => {
  expect(markUploaded(null, [])).toBeNull()
  const documentation = {
    items: [
      { key: 'owner_id', status: 'PENDING', note: 'blurred' },
      { key: 'lease_agreement', status: 'PENDING' },
    ],
    by: 'me',
  }
  expect(markUploaded(documentation, [])).toBe(documentation)
  expect(markUploaded(documentation, ['owner_id', 'ein_letter'])).toEqual({
    items: [
      { key: 'owner_id', status: 'UPLOADED', note: 'blurred' },
      { key: 'lease_agreement', status: 'PENDING' },
      { key: 'ein_letter', status: 'UPLOADED' },
    ],
    by: 'me',
  })
  for (const nothing of [null, {}, { items: [] }])
    expect(markUploaded(nothing, ['owner_id'])).toEqual({ items: [{ key: 'owner_id', status: 'UPLOADED' }] })
})

test('removing a document leaves the other documents unchanged', () => {
  const documentation = {
    note: 'mine',
    items: [
      { key: 'a', status: 'UPLOADED', at: 1 },
      { key: 'b', status: 'UPLOADED' },
      { key: 'c', status: 'LATER' },
    ],
  }
  expect(markRemoved(documentation, 'a')).toEqual({
    note: 'mine',
    items: [{ key: 'a', status: 'REMOVED', at: 1 }, ...documentation.items.slice(1)],
  })
  expect(markRemoved(documentation, 'c')).toEqual(documentation)
  expect(markRemoved(null, 'a')).toBeNull()
})
