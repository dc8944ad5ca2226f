import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, pause, serve, servedOnce, signUp, souk, startCommand, withFile } from './souk.ts'

const rowsOf = (text: string) => parse(text, { columns: true }) as Record<string, string>[]
const first = Date.UTC(2026, 0, 1)
// Three batches of 500. On a busy machine an export of 1,000 orders can take half a minute.
const orders = 1_100

/** Inserts orders of the shop, one an hour from 1 January 2026. */
function insertOrders(database: string): void {
  withFile(database, (connection) => {
    connection.run(
      `with recursive nth(n) as (select 1 union all select n + 1 from nth where n < ${orders})
       insert into orders (id, shop_id, number, cart_id, currency, mode, subtotal, discount_total, shipping_total, tax_total, tax_included, gift_card_total,
         total, amount_due, captured_total, refunded_total, gift_card_refunded_total, status, payment_status, fulfilment_status, holds, attempts, expires_at,
         created_at, updated_at, email)
       select printf('order_%026d', n), (select id from shops), n, printf('cart_%026d', n), 'USD', 'TEST', n, 0, 0, 0, 0, 0, n, 0, n, 0, 0, 'PAID', 'CAPTURED',
         'UNFULFILLED', 'NONE', 0, 0, ${first} + (n - 1) * 3600000, 0, '=a@example.com' from nth`,
    )
  })
}

/** Removes progress messages, which appear only on a slow machine. */
const withoutProgress = (stderr: string): string => stderr.replaceAll(/^Exporting: .*\n/gm, '')

describeProcesses('souk export', () => {
  test('souk export writes the whole list of a shop to standard output or a private file, also by days', async () => {
    const { dataDir, database } = await servedOnce()
    insertOrders(database)
    const printed = await souk(['export', 'orders', '--shop', 'a-shop'], dataDir)
    expect([printed.status, withoutProgress(printed.stderr)]).toEqual([0, ''])
    const all = rowsOf(printed.stdout)
    expect(all.map(({ number }) => Number(number))).toEqual(Array.from({ length: orders }, (_, nth) => orders - nth))
    expect([all[0]?.['total'], all[0]?.['email']]).toEqual(['11.00', "'=a@example.com"])
    const file = join(dataDir, 'orders.csv')
    const toFile = await souk(['export', 'orders', file, '--shop', 'a-shop'], dataDir)
    expect([toFile.status, toFile.stdout, withoutProgress(toFile.stderr)]).toEqual([0, '', ''])
    expect(readFileSync(file, 'utf8')).toBe(printed.stdout)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir).filter((name) => name.endsWith('.tmp'))).toEqual([])
    const days = rowsOf(
      (await souk(['export', 'orders', '-', '--shop', 'a-shop', '--from', '2026-01-02', '--to', '2026-01-03'], dataDir)).stdout,
    )
    expect(days.map(({ number }) => Number(number))).toEqual(Array.from({ length: 48 }, (_, nth) => 72 - nth))
    writeFileSync(file, 'mine')
    const refused = await souk(['export', 'orders', file, '--shop', 'a-shop'], dataDir)
    expect([refused.status, readFileSync(file, 'utf8')]).toEqual([1, 'mine'])
    expect(refused.stderr).toContain('--force')
    expect((await souk(['export', 'orders', file, '--shop', 'a-shop', '--force'], dataDir)).status).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(printed.stdout)
  })

  test('souk export beside a server writes products that souk import reads, and only the header of an empty list', async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    await signUp(server)
    const products = join(dataDir, 'products.csv')
    writeFileSync(products, 'Handle,Title,Option1 Name,Option1 Value,Variant Price\ntee,Tee,Size,S,10\ntee,,,M,11\nmug,-Mug,,,5\n')
    const shop = (await souk(['export', 'none', '--shop', 'x'], dataDir)).stderr
    expect(shop).toContain('affiliates, blogs, collections, customers, discounts, drafts, gift-cards, hosts')
    const name = withFile(join(dataDir, 'souk.db'), (file) => (file.query('select name from shops').get() as { name: string }).name)
    expect((await souk(['import', products, '--shop', name], dataDir)).status).toBe(0)
    const exported = (await souk(['export', 'products', '--shop', name], dataDir)).stdout
    expect(rowsOf(exported).map(({ Handle, Title }) => [Handle, Title])).toEqual([
      ['tee', 'Tee'],
      ['tee', ''],
      ['mug', "'-Mug"],
    ])
    writeFileSync(products, exported)
    const imported = await souk(['import', products, '--shop', name, '--overwrite', '--stock'], dataDir)
    expect([imported.status, imported.stdout.split('\n')[0]]).toEqual([
      0,
      '3 rows, 2 products: 0 created, 2 updated, 0 skipped, 0 failed (3 variants, 0 images)',
    ])
    const empty = (await souk(['export', 'customers', '--shop', name], dataDir)).stdout
    expect(empty.split('\r\n').length).toBe(2)
    expect(empty).toStartWith('id,')
  })

  test('the next export in a folder removes the partial file of a killed one and those older than a day', async () => {
    const { dataDir, database } = await servedOnce()
    insertOrders(database)
    const folder = temporaryDir()
    const file = join(folder, 'orders.csv')
    const temporary = () => readdirSync(folder).filter((name) => name.endsWith('.tmp'))
    const child = startCommand(['export', 'orders', file, '--shop', 'a-shop'], dataDir)
    const holdsOrders = () => temporary().some((name) => readFileSync(join(folder, name), 'utf8').includes('a@example.com'))
    while (!holdsOrders() && child.exitCode === null) await pause()
    child.kill('SIGKILL')
    await child.exited
    expect([temporary().length, existsSync(file)]).toEqual([1, false])
    expect(temporary()[0]).toStartWith(`orders.csv.${child.pid}-`)

    // These files belong to a running process: this one.
    const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8')
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const [fresh, old] = [`fresh.csv.${process.pid}-${start}.tmp`, `old.csv.${process.pid}-${start}.tmp`]
    for (const name of [fresh, old]) writeFileSync(join(folder, name), 'a@example.com')
    const dayAndMore = Date.now() / 1_000 - 25 * 60 * 60
    utimesSync(join(folder, old), dayAndMore, dayAndMore)
    expect((await souk(['export', 'customers', join(folder, 'customers.csv'), '--shop', 'a-shop'], dataDir)).status).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(['customers.csv', fresh])
  })

  test('souk export explains missing and invalid arguments', async () => {
    const { dataDir } = await servedOnce()
    const errorOf = async (...args: string[]) => {
      const { status, stderr, stdout } = await souk(['export', ...args], dataDir)
      return [status, stderr.split('\n')[0], stdout]
    }
    expect(await errorOf('orders')).toEqual([2, expect.stringContaining('--shop is missing'), ''])
    expect(await errorOf('orders', '--shop', 'no-shop')).toEqual([1, expect.stringContaining('Shop not found'), ''])
    expect(await errorOf('orders', '--shop', 'a-shop', '--from', '2026-02-30')).toEqual([
      2,
      expect.stringContaining('--from must be a day'),
      '',
    ])
    expect(await errorOf('orders', '--shop', 'a-shop', '--from', '2026-02-02', '--to', '2026-02-01')).toEqual([
      2,
      expect.stringContaining('--to must not'),
      '',
    ])
    expect(existsSync(join(dataDir, '-'))).toBe(false)
  })
})
