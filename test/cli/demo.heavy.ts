/** Tests `souk demo` as a process that is killed and started again. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { demoShop } from '../../src/demo/data.ts'
import { demoShops } from '../../src/demo/fill.ts'
import { startS3 } from '../clients/documents/s3-server.ts'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, onTerminal, pause, source, startCommand, withFile, withoutProgress } from './souk.ts'

/** Starts `souk demo` from the source, as the README does. Its disposal kills it. */
function startDemo(dataDir: string, settings: Record<string, string> = {}) {
  const child = startCommand(['demo'], dataDir, { LOG_LEVEL: 'warn', ...settings }, source)
  const reader = child.stdout.getReader()
  return {
    hasEnded: () => child.exitCode !== null,
    /** Waits until the demo serves, and returns its output. */
    async ready(): Promise<string> {
      const decoder = new TextDecoder()
      let output = ''
      while (!output.includes('Press Ctrl-C to stop.\n')) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`the demo ended: ${output} ${await Bun.readableStreamToText(child.stderr)}`)
        output += decoder.decode(value, { stream: true })
      }
      return output
    },
    async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<{ status: number; stderr: string }> {
      child.kill(signal)
      return { status: await child.exited, stderr: withoutProgress(await Bun.readableStreamToText(child.stderr)) }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

type Counts = { orders: number; last: number; customers: number; products: number; filled: number }

function readCounts(file: string): Counts {
  return withFile(
    file,
    (connection) =>
      connection
        .query<Counts, []>(
          `select (select count(*) from orders) as orders, (select sum(last) from order_numbers) as last,
            (select count(*) from customers) as customers, (select count(*) from products) as products,
            (select count(*) from audit_log where action = 'demo.filled') as filled`,
        )
        .get() ?? { orders: 0, last: 0, customers: 0, products: 0, filled: 0 },
  )
}

/**
 * Waits until the fill has placed `orders` orders.
 * Opens the file only once it has a WAL, because an earlier reader could disturb the start.
 */
async function untilOrders({ hasEnded, end }: ReturnType<typeof startDemo>, file: string, orders: number): Promise<void> {
  const wait = async () => {
    if (hasEnded()) throw new Error(`the demo ended: ${(await end('SIGKILL')).stderr}`)
    await pause()
  }
  while (!existsSync(`${file}-wal`)) await wait()
  const connection = new Sqlite(file, { readonly: true })
  const hasTable = connection.query("select 1 from sqlite_schema where name = 'orders'")
  while (!hasTable.get()) await wait()
  const placed = connection.query<{ n: number }, []>('select count(*) as n from orders')
  while ((placed.get()?.n ?? 0) < orders) await wait()
  connection.close()
}

describeProcesses('souk demo', () => {
  test('souk demo continues after a kill, keeps its documents out of the bucket, and restarts at once when complete', async () => {
    // The operator's document settings: the demo must not use them.
    await using s3 = startS3()
    const dataDir = temporaryDir()
    const file = join(dataDir, 'souk.db')
    await using first = startDemo(dataDir, s3.settings)
    await untilOrders(first, file, 120)
    await first.end('SIGKILL')
    const half = readCounts(file)
    expect([half.orders < 320, half.filled]).toEqual([true, 0])

    await using second = startDemo(dataDir, { ...s3.settings, LOG_LEVEL: 'info' })
    await second.ready()
    const { status, stderr } = await second.end('SIGTERM')
    const events = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event)
    // The log has no events of the orders, payments and refunds of the sample data.
    expect([status, events]).toEqual([0, ['mail.off', 'server.started', 'server.stopping', 'server.stopped']])
    const filled = readCounts(file)
    // Orders of the last evening may still be missing.
    expect(filled.orders).toBeWithin(321, 334)
    expect(filled).toMatchObject({ last: filled.orders, customers: 62, filled: 1, products: 49 })
    const unfinished = withFile(file, (connection) =>
      connection
        .query(`select id from orders where resume_at is not null or number > (select last from order_numbers n where n.shop_id = orders.shop_id)
            union select id from orders where holds = 'HELD' and status not in ('PENDING_PAYMENT', 'PAID')`)
        .all(),
    )
    expect(unfinished).toEqual([])

    await using third = startDemo(dataDir, s3.settings)
    const output = await third.ready()
    const url = /http:\/\/\S+/.exec(output)?.[0] ?? ''
    const key = /Secret key +(sk_test_\w+)/.exec(output)?.[1] ?? ''
    for (const path of ['/admin/lending-application', '/lending-application'])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 401])
    expect(s3.requests).toEqual([])
    const list = await (await fetch(`${url}/v2/orders?limit=1`, { headers: { 'x-service-api-key': key } })).json()
    expect(output).toContain(`(${(list as { total: number }).total}; needs the secret key)`)
    for (const { merchant } of demoShops) expect(output).toContain(merchant.email)
    expect(output).toContain(demoShop.merchant.password)
    // Each start runs new stand-ins and prints the addresses of their pages.
    const page = /Stripe +(http:\S+)CLIENT_SECRET/.exec(output)?.[1] ?? ''
    expect((await fetch(`${page}nothing`)).status).toBe(404)
    expect(output).toMatch(/Checkout\.com +http:\/\/127\.0\.0\.1:\d+\/pay\/PAYMENT_SESSION_ID\n/)
    expect((await third.end('SIGTERM')).status).toBe(0)
    expect(readCounts(file)).toEqual(filled)

    const { status: stopped, screen } = await onTerminal(['demo'], dataDir, [['Press Ctrl-C to stop.\r\n', '\x03']], source)
    expect([stopped, screen.slice(0, 'souk is ready'.length)]).toEqual([0, 'souk is ready'])
    const [banner = ''] = screen.split('Press Ctrl-C to stop.')
    expect(banner).not.toContain('{"time"')
    expect(banner).toContain("No emails are sent: customers get no order confirmations, and passwords can't be reset by email.")
    expect(banner).toContain('tok_decline')
    const payUrl = /Draft order +(http\S+)/.exec(banner)?.[1] ?? ''
    expect(payUrl).toContain('/pages/pay/')
  })
})
