import { expect, test } from 'bun:test'
import { inBatches } from '../../src/lib/batches.ts'

test('inBatches repeats until a batch is not full, and returns the total', async () => {
  const pieces = [10, 10, 3, 10]
  expect(await inBatches(10, async () => pieces.shift() ?? 0)).toBe(23)
  expect(pieces).toEqual([10])
  expect(await inBatches(10, async () => 0)).toBe(0)
})
