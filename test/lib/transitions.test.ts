import { expect, test } from 'bun:test'
import { reachable, sourcesOf } from '../../src/lib/transitions.ts'

const door = { open: ['shut'], shut: ['open', 'locked'], locked: ['shut'] } as const

test('the sources of a state are those that it may follow, and no others', () => {
  expect(sourcesOf<keyof typeof door>(door, 'shut')).toEqual(['open', 'locked'])
  expect(sourcesOf<keyof typeof door>(door, 'locked')).toEqual(['shut'])
})

test('a table is handed back as it is when each state can be reached, over others too', () => {
  expect(reachable<keyof typeof door>('open', door)).toBe(door)
})

test('a table with states that can never be reached is refused by their names', () => {
  const table = { open: ['shut'], shut: [], melted: ['open'], painted: [] } as const
  expect(() => reachable<keyof typeof table>('open', table)).toThrow(new Error('unreachable states: melted, painted'))
})
