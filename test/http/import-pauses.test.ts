import { expect, test } from 'bun:test'
import { createImportPauses } from '../../src/http/import-pauses.ts'

test('whoever left an import waits with the next one three times as long as that was worked at, a second at most, and nobody else does', async () => {
  let now = 5_000
  const slept: number[] = []
  const pauses = createImportPauses(
    () => now,
    async (ms) => void slept.push(ms),
  )
  await pauses.over('shop')
  pauses.begin('shop', 200)
  await pauses.over('other')
  await pauses.over('shop')
  now += 400
  await pauses.over('shop')
  now += 200
  await pauses.over('shop')
  pauses.begin('shop', 60_000)
  await pauses.over('shop')
  expect(slept).toEqual([600, 200, 1_000])
})
