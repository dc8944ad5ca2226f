/** Tests removing deleted words from a search index during writes. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { customerSearch } from '../../db/search.ts'
import { testApp } from '../support/app.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const records = 2_000
const addedMax = 10
/** Nothing before it among the terms begins as it does, so that it stands there whole. */
const unheard = 'qwertzuiop'

describe('purging a search index', () => {
  test('a purge keeps all search results, also of rows added meanwhile, and erases removed words', async () => {
    await using app = await testApp()
    const { db } = app.deps
    const shop = await sellingIn(app)
    const found = (word: string) => customerSearch.find(db.read, { shopId: shop.shop.id, words: [word], whole: [], limit: records * 2 })
    const rows = Array.from({ length: records }, (_, nth) => `c${nth}@example.com,Everybody,Person${nth}x`)
    const raw = ['Email,First Name,Last Name', `one@example.com,Everybody,${unheard}`, ...rows].join('\n')
    const headers = { 'content-type': 'text/csv' }
    ok(await app.call('POST', '/customer/import', { key: shop.secretKey, raw, headers }))
    const traces = async () => {
      const blocks = engine === 'sqlite' ? await db.read.rows<{ block: Uint8Array }>(sql`select block from customer_words_data`) : []
      return blocks.filter(({ block }) => Buffer.from(block).includes(unheard)).length
    }
    const [gone = ''] = await found(unheard)
    if (engine === 'sqlite') expect(await traces()).toBeGreaterThan(0)
    const createdAt = app.clock.now()
    await db.write((tx) =>
      customerSearch.put(tx, { id: gone, shopId: shop.shop.id, createdAt }, { words: ['everybody', 'somebody'], whole: [] }),
    )

    let [steps, added] = [0, 0]
    for (let isFirst = true; await db.write((tx) => customerSearch.purge(tx, isFirst)); isFirst = false) {
      expect(++steps).toBeLessThan(500)
      if (added < addedMax) ok(await shop.post('/customer', { email: `new${added++}@example.com`, name: 'Everybody Newcomer' }))
    }
    if (engine === 'sqlite') expect(steps).toBeGreaterThan(1)
    expect(await traces()).toBe(0)
    expect((await found('everybody')).length).toBe(records + 1 + added)
    expect([await found(unheard), await found('somebody')]).toEqual([[], [gone]])
    expect([(await found('person1x')).length, (await found('newcomer')).length]).toEqual([1, added])
    // Once more, of an index that is one piece by now.
    await db.write((tx) => customerSearch.put(tx, { id: gone, shopId: shop.shop.id, createdAt }, { words: ['nobody'], whole: [] }))
    for (let isFirst = true; await db.write((tx) => customerSearch.purge(tx, isFirst)); isFirst = false) steps++
    expect([await found('somebody'), await found('nobody'), (await found('everybody')).length]).toEqual([[], [gone], records + added])
  })
})
