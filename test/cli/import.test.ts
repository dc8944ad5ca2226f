import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeProcesses, pause, servedOnce, souk, startCommand, withFile } from './souk.ts'

const lines = (...rows: string[]) => `${rows.join('\n')}\n`
const header = 'Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant Inventory Tracker,Variant Inventory Qty'
const productsIn = (database: string): number =>
  withFile(database, (file) => (file.query('select count(*) as n from products').get() as { n: number }).n)

/**
 * Waits until the command has stored a product or has ended. Opens the file only once it has a WAL, and read-only,
 * so that it does not disturb the command.
 */
async function untilProducts(database: string, child: { readonly exitCode: number | null }): Promise<void> {
  while (!existsSync(`${database}-wal`) && child.exitCode === null) await pause()
  if (child.exitCode !== null) return
  const connection = new Sqlite(database, { readonly: true })
  // The command may be recovering the WAL.
  connection.run('pragma busy_timeout = 10000')
  const counted = connection.query<{ n: number }, []>('select count(*) as n from products')
  while (counted.get()?.n === 0 && child.exitCode === null) await pause()
  connection.close()
}

async function withProducts(...rows: string[]) {
  const { dataDir, database } = await servedOnce()
  const file = join(dataDir, 'products.csv')
  writeFileSync(file, lines(header, ...rows))
  return { dataDir, database, file, run: (...args: string[]) => souk(['import', file, '--shop', 'a-shop', ...args], dataDir) }
}

describeProcesses('souk import', () => {
  test('souk import prints notices and errors with row and product', async () => {
    const { file, run } = await withProducts()
    writeFileSync(file, lines('Handle,Title,Variant Price,Status,Metafield', 'a,A,5,unlisted,x', 'b,B,"<p>\n</p>",active,', 'c,C,,active,'))
    for (const args of [['--dry-run'], []]) {
      const { status, stdout, stderr } = await run(...args)
      expect(status).toBe(1)
      expect(stdout).toContain('row 1: These columns are not imported: Metafield.\n')
      expect(stdout).toContain('row 2, a, Status: Unlisted products are imported as drafts.\n')
      expect(stderr).toContain('row 3, b, Variant Price: Must be')
      expect(stderr).toContain('row 4, c, Variant Price: The price must not be blank')
    }
  })

  test('souk import reports before and after what happens to stock, tracking and unnamed variants', async () => {
    const { database, file, run } = await withProducts('tee,Tee,Size,S,10,shopify,5', 'tee,,,M,11,shopify,6')
    const first = await run()
    expect([first.status, first.stdout]).toEqual([
      0,
      '2 rows, 1 product: 1 created, 0 updated, 0 skipped, 0 failed (2 variants, 0 images)\n',
    ])
    writeFileSync(file, lines(header, 'tee,Tee,Size,M,12,,9'))
    const notice =
      'Stock: unchanged for existing variants (1 differ from the file; use --stock to update them). 1 variant not in the file kept.\n'
    for (const args of [['--dry-run'], []]) {
      const { status, stdout } = await run('--overwrite', ...args)
      expect([status, stdout.split('\n').slice(1).join('\n')]).toEqual([0, notice])
    }
    const dry = await run('--overwrite', '--stock', '--dry-run')
    expect(dry.stdout).toContain('Stock: 1 count would be updated, tracking of 1 variant would be changed')
    const real = await run('--overwrite', '--stock')
    expect(real.stdout).toContain('Stock: 1 count updated, tracking of 1 variant changed')
    expect((await run('--overwrite')).stdout).toContain('(0 differ from the file; ')
    // Each import sends events to live clients, as imports over HTTP do. A slow machine also sends progress events.
    const events = withFile(database, (connection) =>
      connection
        .query<{ name: string; data: string }, []>(
          "select name, data from live_events where name in ('import.started', 'import.finished') order by id",
        )
        .all(),
    )
    expect(events.map(({ name }) => name)).toEqual(Array.from({ length: 6 }, () => ['import.started', 'import.finished']).flat())
    expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ kind: 'products', result: 'DONE', updated: 1 })
    const { stdout: help } = await souk(['import', '--help'], file.slice(0, file.lastIndexOf('/')))
    expect(help).toContain('--stock')
    expect(help).toMatch(/--overwrite keeps stock and tracking unless --stock is given/)
  })
  test('souk import names a file that is missing or is a directory', async () => {
    const { dataDir } = await servedOnce()
    const missing = join(dataDir, 'nothing.csv')
    expect((await souk(['import', missing, '--shop', 'a-shop'], dataDir)).stderr).toContain(`File not found: ${missing}`)
    expect((await souk(['import', dataDir, '--shop', 'a-shop'], dataDir)).stderr).toContain(`Not a file: ${dataDir}`)
  })

  test("souk import refuses --stock without --overwrite, and another currency than the shop's", async () => {
    const { run, database } = await withProducts('tee,Tee,Size,S,10,shopify,5')
    const stock = await run('--stock')
    expect([stock.status, stock.stderr]).toEqual([2, expect.stringContaining('--stock needs --overwrite')])
    const currency = await run('--currency', 'EUR')
    expect([currency.status, currency.stderr]).toEqual([1, expect.stringContaining('--currency must be USD')])
    expect(productsIn(database)).toBe(0)
    expect((await run('--currency', 'usd')).status).toBe(0)
  })

  test('Ctrl-C ends souk import with status 130 and a summary, and running it again continues', async () => {
    const all = 1_200
    const { dataDir, database, file, run } = await withProducts(...Array.from({ length: all }, (_, nth) => `p-${nth},P ${nth},Size,S,1,,`))
    const child = startCommand(['import', file, '--shop', 'a-shop'], dataDir)
    await untilProducts(database, child)
    child.kill('SIGINT')
    const [status, stdout, stderr] = await Promise.all([
      child.exited,
      Bun.readableStreamToText(child.stdout),
      Bun.readableStreamToText(child.stderr),
    ])
    const imported = productsIn(database)
    expect([status, stderr]).toEqual([
      130,
      expect.stringContaining('Stopped before the end of the file. Run it again to continue; nothing is created twice.\n'),
    ])
    expect(stdout).toContain(`${imported} created`)
    expect(imported).toBeLessThan(all)
    expect((await run()).stdout).toContain(`${all - imported} created, 0 updated, ${imported} skipped`)
    expect(productsIn(database)).toBe(all)
  })
})
