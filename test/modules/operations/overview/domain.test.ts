/** Tests the percentage changes of the overview. */
import { expect, test } from 'bun:test'
import { changeSince } from '../../../../src/modules/operations/overview/domain.ts'

test('a change needs a previous value, and is null if refunds exceed sales', () => {
  expect(changeSince(150, 100)).toBe(50)
  expect(changeSince(-50, 100)).toBe(-150)
  expect(changeSince(0, 100)).toBe(-100)
  // A percentage from a loss to a gain would read as a fall.
  for (const total of [50, -50, -200, 0]) expect(changeSince(total, -100)).toBeNull()
  expect(changeSince(50, 0)).toBeNull()
})
