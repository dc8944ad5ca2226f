/** Tests that counting mail for a quota reads at most as many index entries as the quota allows. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { mails } from '../../../../db/schema/mail.ts'
import { mailStore, type QuotaSubject } from '../../../../src/modules/messaging/mail/store.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows, queueTestMail } from '../../../support/mails.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const count = 100_000
const rowsPerInsert = 10_000
const dayMs = 24 * 3_600_000

/** Inserts mails of the last day: half for one shop, 250 to one recipient, 250 caused by one network address. */
async function fill({ deps: { db }, clock }: TestApp, shopId: string, otherId: string): Promise<void> {
  const text = (n: string) => (engine === 'sqlite' ? `printf('%026d', ${n})` : `lpad((${n})::text, 26, '0')`)
  const values: Record<string, string> = {
    id: `'mail_' || ${text('n')}`,
    key: `'key ' || n`,
    shop_id: `case when n % 2 = 0 then '${shopId}' else '${otherId}' end`,
    recipient: `case when n % 400 = 0 then 'one' else 'r' || n end`,
    cause: `case when n % 400 = 1 then 'one' else 'c' || n end`,
    status: `'SENT'`,
    counted_at: `${clock.now()} - n * ${Math.floor(dayMs / count)}`,
  }
  const names = Object.values(getTableColumns(mails)).map(({ name }) => name)
  await db.write(async (tx) => {
    // In parts, because a statement has a time limit.
    for (let from = 1; from <= count; from += rowsPerInsert)
      await tx.rows(
        sql.raw(`insert into mails (${names.join(', ')})
          with recursive copy (n) as (select ${from} union all select n + 1 from copy where n < ${from + rowsPerInsert - 1})
          select ${names.map((name) => values[name] ?? `r.${name}`).join(', ')} from mails r, copy where r.key = 'test'`),
      )
    await tx.rows(sql.raw('analyze mails'))
  })
}

type Node = { 'Node Type': string; 'Relation Name'?: string; 'Actual Rows': number; 'Rows Removed by Filter'?: number; Plans?: Node[] }
const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

test('queries of mail quotas use their index and read no more rows than the quota', async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  const [{ shop }, { shop: other }] = [await app.merchant(), await app.merchant()]
  await queueTestMail(app, 'test', {}, { shopId: shop.id })
  await fill(app, shop.id, other.id)
  expect(await mailRows(app)).toHaveLength(count + 1)
  const { read } = app.deps.db
  const cases: [QuotaSubject, string, number][] = [
    ['shop', shop.id, 2_000],
    ['shop', shop.id, 20_000],
    ['recipient', 'one', 20],
    ['recipient', 'one', 60],
    ['cause', 'one', 100],
  ]
  for (const [by, value, limit] of cases) {
    const since = app.clock.now() - dayMs
    let statement: SQL | undefined
    const rows = async (query: SQL) => {
      statement = query
      return read.rows(query)
    }
    const startedAt = performance.now()
    expect([by, (await mailStore.counted({ rows } as never, by, value, since, limit)).count]).toEqual([by, limit])
    const tookMs = performance.now() - startedAt
    if (Bun.env['SHOW_TIMES']) process.stderr.write(`${by} ${limit}: ${tookMs.toFixed(2)} ms\n`)
    if (engine === 'sqlite') {
      const plan = (await read.rows<{ detail: string }>(sql`explain query plan ${statement}`)).map(({ detail }) => detail)
      expect(plan.filter((line) => / mails /.test(`${line} `))).toEqual([
        expect.stringMatching(/^SEARCH mails USING COVERING INDEX mails_\w+_counted \(\w+=\? AND counted_at>\?\)$/),
      ])
      expect(plan.join('\n')).not.toContain('B-TREE')
    } else {
      const [row] = await read.rows<{ 'QUERY PLAN': [{ Plan: Node }] }>(sql`explain (analyze, format json) ${statement}`)
      const nodes = nodesOf(row?.['QUERY PLAN'][0].Plan as Node)
      const reading = nodes.filter((node) => node['Relation Name'] === 'mails')
      expect([by, reading.map((node) => node['Node Type'])]).toEqual([by, [expect.stringMatching(/^Index (Only )?Scan$/)]])
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort')
      for (const node of reading) {
        expect(node['Actual Rows']).toBeLessThanOrEqual(limit)
        expect(node['Rows Removed by Filter'] ?? 0).toBe(0)
      }
    }
  }
})
