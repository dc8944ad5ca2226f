import { expect, test } from 'bun:test'
import { createImportPauses } from '../../src/http/import-pauses.ts'

test('whoever left an import waits with the next one three times as long as that was worked at, a second at most, and nobody else does', async () => {
  let now = 5_000
  const slept: number[] = []
  const pauses = createImportPauses(
    () => now,
    async (ms) => void slept.push(ms),
  )
  await pauses.wait('shop')
  pauses.start('shop', 200)
  await pauses.wait('other')
  await pauses.wait('shop')
  now += 400
  await pauses.wait('shop')
  now += 200
  await pauses.wait('shop')
  pauses.start('shop', 60_000)
  await pauses.wait('shop')
  expect(slept).toEqual([600, 200, 1_000])
})
