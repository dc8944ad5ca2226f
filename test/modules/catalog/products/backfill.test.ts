/** Tests the migration of stored product documents. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../../../db/migrations/index.ts'
import { productDocuments } from '../../../../db/schema/catalog.ts'
import { testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('the migration for filters and variant fields updates an old document to what is rendered now', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  await shop.add({ title: 'A "taxable": lamp', vendor: 'Kiln', type: 'Light', variants: [{ price: usd(1), onHand: 0 }] })
  await shop.add({ title: 'Rug', vendor: 'Mill', variants: [{ price: usd(1), onHand: 3 }] })
  const read = () => app.deps.db.read.select().from(productDocuments).orderBy(productDocuments.productId)
  const now = await read()
  const { statements } = (engine === 'sqlite' ? sqliteMigrations : postgresMigrations).find(({ tag }) => tag.endsWith('_shipping')) ?? {
    statements: '',
  }
  const update = statements.slice(statements.lastIndexOf('UPDATE product_documents')).trim()
  expect(update).toStartWith('UPDATE product_documents SET')
  await app.deps.db.write(async (tx) => {
    await tx.rows(sql`update product_documents set vendor = '', type = '', available = ${engine === 'sqlite' ? sql`1` : sql`true`},
      document = replace(document, '"requiresShipping":true,"taxClass":null,', '') returning 1 as done`)
    await tx.rows(sql.raw(`${update.replace(/;$/, '')} returning 1 as done`))
  })
  const after = await read()
  const etagsOf = (rows: typeof now) => rows.map(({ etag }) => etag)
  expect(after.map((row, nth) => ({ ...row, etag: now[nth]?.etag ?? '' }))).toEqual(now)
  // The ETags change, so that clients do not keep the old text.
  expect(etagsOf(after).every((etag, nth) => etag !== etagsOf(now)[nth] && /^"[^"]+"$/.test(etag))).toBe(true)
})
