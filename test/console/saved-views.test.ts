import { expect, test } from 'bun:test'
import { addView, viewQuery } from '../../src/console/lib/session/saved-views.ts'

test('a view is the query without page and empty values, in one order', () => {
  expect(viewQuery({ status: 'PAID', page: '3', q: '', hide: 'total' })).toBe('hide=total&status=PAID')
  expect(viewQuery({ hide: 'total', status: 'PAID' })).toBe('hide=total&status=PAID')
  expect(viewQuery({ page: '2' })).toBe('')
})

test('a view replaces the one of its name, and the oldest is dropped above twenty', () => {
  const first = addView([{ name: 'Open', query: 'a=1' }], { name: 'Open', query: 'a=2' })
  expect(first).toEqual([{ name: 'Open', query: 'a=2' }])
  const many = Array.from({ length: 20 }, (_, at) => ({ name: String(at), query: '' }))
  expect(addView(many, { name: 'New', query: '' }).map(({ name }) => name)).toEqual([...many.slice(1).map(({ name }) => name), 'New'])
})
