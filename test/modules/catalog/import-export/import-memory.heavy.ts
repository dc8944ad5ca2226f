import { expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../../../db/columns.ts'
import { testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { startChild } from '../../../support/process.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

if (engine !== 'sqlite') process.stderr.write('skipped on Postgres: the memory of the reader does not depend on the engine\n')

test.skipIf(engine !== 'sqlite')('imports a file of 140 MB with less memory than the size of the file', async () => {
  await using app = await testApp()
  const { shop } = await shopIn(app)
  const created = 1_250
  const rowsPerProduct = 4
  // Runs in a process of its own, because memory that other tests use would be counted too.
  await using child = startChild('import-generated.ts', [
    JSON.stringify(app.deps.config),
    shop.name,
    String(created),
    String(rowsPerProduct),
  ])
  const { value } = await child.lines.next()
  const { report, fileBytes, grownBytes } = JSON.parse(value ?? '{}')
  expect(await child.exited).toBe(0)
  const rows = created * rowsPerProduct
  expect(report).toMatchObject({ rows, created, failed: 0, variants: rows })
  expect(fileBytes).toBeGreaterThan(140_000_000)
  expect(grownBytes).toBeLessThan(120_000_000)
})
