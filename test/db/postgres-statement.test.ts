/** Prepared statements on Postgres are run as the driver runs its own, but described once: so they must do the same. */
import { describe, expect, test } from 'bun:test'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { runPrepared } from '../../db/postgres/statement.ts'

/** A connection that counts what it asks the server to describe. */
async function connected() {
  const client = new pg.Client({ connectionString: Bun.env['TEST_DATABASE_URL'], pipeline: true } as pg.ClientConfig)
  await client.connect()
  const seen = { described: 0, writes: 0 }
  const { connection } = client as unknown as { connection: { describe: (what: unknown) => void } }
  const describeAsEver = connection.describe.bind(connection)
  connection.describe = (what) => {
    seen.described++
    describeAsEver(what)
  }
  return { client, seen, [Symbol.asyncDispose]: () => client.end() }
}

const values = [42, 'löng ✓', null, true, '{"a":[1,{"b":null}]}', 9_007_199_254_740_991n.toString(), ['x', 'y, "z"']]
const text = `select $1::int as "int", $2::text as "text", $3::text as "none", $4::boolean as "truth", $5::jsonb as "json",
  $6::bigint as "big", $7::text[] as "list", nth as "nth" from generate_series(1, 3) as nth`

describe.skipIf(engine !== 'postgres')('a statement on Postgres', () => {
  test('gives the rows that the driver gives, the first time and every other, and is described once for all connections', async () => {
    const name = 'described-once'
    await using one = await connected()
    await using other = await connected()
    const { rows } = await one.client.query({ text, values })
    const before = one.seen.described
    const runs = await Promise.all([1, 2].map(async () => (await runPrepared(one.client, name, text, values)).rows))
    for (let nth = 0; nth < 3; nth++) runs.push((await runPrepared(one.client, name, text, values)).rows)
    runs.push((await runPrepared(other.client, name, text, values)).rows)
    for (const run of runs) expect(run).toEqual(rows)
    // Two that were sent before the first answer had come.
    expect(one.seen.described - before).toBe(2)
    expect(other.seen.described).toBe(0)
  })

  test('one that gives no rows is not described again either, and one without any gives an empty list', async () => {
    await using one = await connected()
    await one.client.query('create temp table kept (n int)')
    for (let nth = 0; nth < 3; nth++) {
      expect((await runPrepared(one.client, 'no-rows', 'insert into kept values ($1)', [nth])).rows).toEqual([])
      expect((await runPrepared(one.client, 'empty', 'select n from kept where n > $1', [100])).rows).toEqual([])
    }
    expect(one.seen.described).toBe(2)
    expect((await runPrepared(one.client, 'full', 'select n from kept order by n', [])).rows).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
  })

  test('a refusal is told with its code, each statement’s own, and those behind it go on', async () => {
    await using one = await connected()
    const divide = (by: number) => runPrepared(one.client, 'divide', 'select 10 / $1::int as "n"', [by])
    const refused = (run: Promise<unknown>) => run.catch(({ code }: { code: string }) => code)
    expect(await Promise.all([divide(5), refused(divide(0)), divide(2)])).toMatchObject([
      { rows: [{ n: 2 }] },
      '22012',
      { rows: [{ n: 5 }] },
    ])
    expect(await refused(runPrepared(one.client, 'nonsense', 'selekt', []))).toBe('42601')
    expect(await refused(runPrepared(one.client, 'nonsense', 'selekt', []))).toBe('42601')
    expect((await divide(1)).rows).toEqual([{ n: 10 }])
  })

  test('what the server sends and nobody can read fails that statement alone', async () => {
    await using one = await connected()
    // Of `point`, which nothing else of ours has.
    const oid = 600 as Parameters<typeof pg.types.setTypeParser>[0]
    const parse = pg.types.getTypeParser(oid, 'text')
    pg.types.setTypeParser(oid, () => {
      throw new Error('no point')
    })
    try {
      const point = runPrepared(one.client, 'point', 'select point(1, 2) as "p"', []).catch((error: Error) => error.message)
      expect(await Promise.all([point, runPrepared(one.client, 'after', 'select 1 as "n"', [])])).toMatchObject([
        'no point',
        { rows: [{ n: 1 }] },
      ])
    } finally {
      pg.types.setTypeParser(oid, parse)
    }
  })
})
