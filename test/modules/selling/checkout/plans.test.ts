import { Database as Sqlite } from 'bun:sqlite'
import { expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { testApp } from '../../../support/app.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Matches scans of tables that have only a few rows. */
const scanOfSmallTable = /^SCAN (processor_isolations|CONSTANT ROW|once|\d+-ROW VALUES CLAUSE)/
/** Matches index searches by a state or kind that many rows share. */
const searchByState = /\((kind|mode|processor|status)=\?\)$/

test.skipIf(engine !== 'sqlite')('places an order without a scan of a whole table or of all rows in one state', async () => {
  using prepared = spyOn(Sqlite.prototype, 'prepare')
  await using app = await testApp()
  const { cart, checkout } = await sellingIn(app)
  prepared.mockClear()
  ok(await checkout(await cart()))
  const texts = new Set(prepared.mock.calls.map(([text]) => text).filter((text) => /^(select|insert|update|delete|with)\b/i.test(text)))
  expect(texts.size).toBeGreaterThan(20)
  const expensivePlans: string[] = []
  for (const text of texts) {
    const plan = await app.deps.db.read.rows<{ detail: string }>(sql.raw(`explain query plan ${text.replaceAll('?', '1')}`))
    for (const { detail } of plan)
      if ((detail.startsWith('SCAN ') && !scanOfSmallTable.test(detail)) || searchByState.test(detail))
        expensivePlans.push(`${detail}: ${text}`)
  }
  expect(expensivePlans).toEqual([])
})
