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
/** No earlier term shares its beginning, so the index stores it as a whole. */
const rareWord = 'qwertzuiop'

describe('purging a search index', () => {
  test('a purge keeps all search results, also of rows added meanwhile, and erases removed words', async () => {
    await using app = await testApp()
    const { db } = app.deps
    const shop = await sellingIn(app)
    const findCustomers = (word: string) =>
      customerSearch.find(db.read, { shopId: shop.shop.id, words: [word], whole: [], limit: records * 2 })
    const rows = Array.from({ length: records }, (_, nth) => `c${nth}@example.com,Everybody,Person${nth}x`)
    const raw = ['Email,First Name,Last Name', `one@example.com,Everybody,${rareWord}`, ...rows].join('\n')
    const headers = { 'content-type': 'text/csv' }
    ok(await app.call('POST', '/customer/import', { key: shop.secretKey, raw, headers }))
    const countTraces = async () => {
      const blocks = engine === 'sqlite' ? await db.read.rows<{ block: Uint8Array }>(sql`select block from customer_words_data`) : []
      return blocks.filter(({ block }) => Buffer.from(block).includes(rareWord)).length
    }
    const [renamedId = ''] = await findCustomers(rareWord)
    if (engine === 'sqlite') expect(await countTraces()).toBeGreaterThan(0)
    const createdAt = app.clock.now()
    await db.write((tx) =>
      customerSearch.put(tx, { id: renamedId, shopId: shop.shop.id, createdAt }, { words: ['everybody', 'somebody'], whole: [] }),
    )

    let [steps, added] = [0, 0]
    for (let isFirst = true; await db.write((tx) => customerSearch.purge(tx, isFirst)); isFirst = false) {
      expect(++steps).toBeLessThan(500)
      if (added < addedMax) ok(await shop.post('/customer', { email: `new${added++}@example.com`, name: 'Everybody Newcomer' }))
    }
    if (engine === 'sqlite') expect(steps).toBeGreaterThan(1)
    expect(await countTraces()).toBe(0)
    expect((await findCustomers('everybody')).length).toBe(records + 1 + added)
    expect([await findCustomers(rareWord), await findCustomers('somebody')]).toEqual([[], [renamedId]])
    expect([(await findCustomers('person1x')).length, (await findCustomers('newcomer')).length]).toEqual([1, added])
    // Purges again, now that the index has one segment.
    await db.write((tx) => customerSearch.put(tx, { id: renamedId, shopId: shop.shop.id, createdAt }, { words: ['nobody'], whole: [] }))
    for (let isFirst = true; await db.write((tx) => customerSearch.purge(tx, isFirst)); isFirst = false) steps++
    expect([await findCustomers('somebody'), await findCustomers('nobody'), (await findCustomers('everybody')).length]).toEqual([
      [],
      [renamedId],
      records + added,
    ])
  })
})
