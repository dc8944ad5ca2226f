import { expect, test } from 'bun:test'
import { reachable, sourcesOf, type Transitions } from '../../src/lib/transitions.ts'

const table: Transitions<'DRAFT' | 'SENT' | 'DONE' | 'DROPPED'> = {
  DRAFT: ['SENT', 'DROPPED'],
  SENT: ['DONE', 'DROPPED'],
  DONE: [],
  DROPPED: [],
}

test('a state may be entered from those that name it', () => {
  expect(sourcesOf(table, 'DROPPED')).toEqual(['DRAFT', 'SENT'])
  expect(sourcesOf(table, 'DRAFT')).toEqual([])
})

test('a table with a state that nothing leads to is refused, naming it; any other is handed back', () => {
  expect(reachable('DRAFT', table)).toBe(table)
  expect(() => reachable('SENT', table)).toThrow('unreachable states: DRAFT')
})
