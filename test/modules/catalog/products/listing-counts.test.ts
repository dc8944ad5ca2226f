/** Tests when the changes of a shop's listing are folded. */
import { expect, test } from 'bun:test'
import type { Log } from '../../../../src/lib/log.ts'
import { createListingCounts } from '../../../../src/modules/catalog/products/listing-counts.ts'

test('a listing is folded after 256 writes of a shop; a failure is logged as catalog.fold_failed, and later writes retry', async () => {
  const logged: unknown[] = []
  const warn: Log['warn'] = (event, fields) => void logged.push([event, fields])
  const failure = new Error('no connection')
  let foldCount = 0
  const db = {
    async write() {
      foldCount++
      throw failure
    },
  }
  const counts = createListingCounts({ db, log: { warn }, catalogStore: {} } as unknown as Parameters<typeof createListingCounts>[0])
  const write = async (times: number, shopId = 'shop') => {
    for (let nth = 0; nth < times; nth++) counts.countWrite(shopId)
    await Bun.sleep(0)
    return foldCount
  }
  expect([await write(255), await write(255, 'other')]).toEqual([0, 0])
  expect(await write(1)).toBe(1)
  expect(logged).toEqual([['catalog.fold_failed', { error: failure }]])
  expect([await write(255), await write(1)]).toEqual([1, 2])
})
