/** Statements on Postgres go past the driver once it has connected: what they give must be what the driver gives. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Socket } from 'node:net'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { wireOn } from '../../db/postgres/wire.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** A connection with our wire on it, and what is sent on it, message by message. */
async function connected(answerMs = 0) {
  const client = new pg.Client({ connectionString: Bun.env['TEST_DATABASE_URL'] })
  await client.connect()
  client.on('error', () => undefined)
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  const pieces: string[] = []
  const writeAsEver = stream.write.bind(stream) as (bytes: Buffer) => boolean
  stream.write = (bytes: unknown) => {
    pieces.push(messagesIn(bytes as Buffer))
    return writeAsEver(bytes as Buffer)
  }
  return { wire: wireOn(client, answerMs), client, pieces, [Symbol.asyncDispose]: () => client.end() }
}

/** The types of the messages in a piece: `PBDES`. */
function messagesIn(bytes: Buffer): string {
  let types = ''
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) types += String.fromCharCode(bytes[at] as number)
  return types
}

const codeOf = (run: Promise<unknown>) => run.catch(({ code }: { code: string }) => code)
const values = [42, 'löng ✓', null, true, '{"a":[1,{"b":null}]}', 9_007_199_254_740_991n.toString(), ['x', 'y, "z"']]
const text = `select $1::int as "int", $2::text as "text", $3::text as "none", $4::boolean as "truth", $5::jsonb as "json",
  $6::bigint as "big", $7::text[] as "list", nth as "nth" from generate_series(1, 3) as nth`

describe.skipIf(engine !== 'postgres')('a wire to Postgres', () => {
  test('gives the rows that the driver gives, the first time and every other, and has a statement described once for all connections', async () => {
    const statement = { name: 'described-once', text, values }
    const driver = new pg.Client({ connectionString: Bun.env['TEST_DATABASE_URL'] })
    await driver.connect()
    const { rows } = await driver.query({ text, values })
    const { rows: lists } = await driver.query({ text, values, rowMode: 'array' })
    await driver.end()
    await using one = await connected()
    await using other = await connected()
    const runs = await Promise.all([1, 2].map(async () => (await one.wire.run(statement)).rows))
    for (let nth = 0; nth < 3; nth++) runs.push((await one.wire.run(statement)).rows)
    runs.push((await other.wire.run(statement)).rows)
    for (const run of runs) expect(run).toEqual(rows)
    // Two that were sent before the first answer had come.
    expect(one.pieces).toEqual(['PBDEBDES', 'BES', 'BES', 'BES'])
    expect(other.pieces).toEqual(['PBES'])
    expect((await one.wire.run({ text, values, rowMode: 'array' })).rows).toEqual(lists)
  })

  test('writes every kind of value as the driver does', async () => {
    const kinds: [string, unknown][] = [
      ['text', ''],
      ['boolean', false],
      ['bigint', 12_345_678_901n],
      ['double precision', -0.1],
      ['bytea', new Uint8Array([0, 1, 255])],
      ['timestamptz', new Date(1_700_000_000_123)],
      ['jsonb', { a: ['"', null] }],
      ['text[]', ['', 'NULL', null, 'a,b', '{"}\\', '✓']],
      ['bigint[]', [1, null, -2]],
      ['boolean[]', [true, false, null]],
      [
        'int[][]',
        [
          [1, 2],
          [3, null],
        ],
      ],
      ['bytea[]', [new Uint8Array([9]), null]],
      ['text', undefined],
      ['text[]', []],
    ]
    await using one = await connected()
    const driver = new pg.Client({ connectionString: Bun.env['TEST_DATABASE_URL'] })
    await driver.connect()
    for (const [type, value] of kinds) {
      const written = `select $1::${type}::text as "t", $1::${type} as "v"`
      expect((await one.wire.run({ text: written, values: [value] })).rows).toEqual((await driver.query(written, [value])).rows)
    }
    await driver.end()
  })

  test('reads numbers of any size, negative ones, and texts of any length', async () => {
    await using one = await connected()
    const numbers = [0, -1, 7, 2 ** 31 - 1, -(2 ** 31), Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER]
    for (const number of numbers) {
      const { rows } = await one.wire.run({ text: 'select $1::bigint as "n"', values: [number] })
      expect(rows).toEqual([{ n: number }])
    }
    // Longer than one piece of what arrives, and cut within a character.
    for (const length of [0, 1, 5_000, 400_001]) {
      const long = '✓'.repeat(length)
      expect((await one.wire.run({ text: 'select $1::text as "t", 1 as "n"', values: [long] })).rows).toEqual([{ t: long, n: 1 }])
    }
  })

  test('one that gives no rows is not described again either, and one without any gives an empty list', async () => {
    await using one = await connected()
    await one.wire.runApart('create temp table kept (n int)')
    for (let nth = 0; nth < 3; nth++) {
      const kept = await one.wire.run({ name: 'no-rows', text: 'insert into kept values ($1)', values: [nth] })
      expect(kept).toEqual({ rows: [], command: 'INSERT' })
      expect((await one.wire.run({ name: 'empty', text: 'select n from kept where n > $1', values: [100] })).rows).toEqual([])
    }
    expect(one.pieces).toEqual(['Q', 'PBDES', 'PBDES', ...Array(4).fill('BES')])
    const full = { name: 'full', text: 'select n from kept order by n', values: [] }
    expect((await one.wire.run(full)).rows).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
  })

  test('what is sent at once leaves in one piece; behind a refusal it is refused with it, and what is sent apart is done all the same', async () => {
    await using one = await connected()
    const { wire, pieces } = one
    await wire.runApart('create temp table counted (n int primary key)')
    pieces.length = 0
    const insert = (n: unknown) => wire.run({ name: 'counted', text: 'insert into counted values ($1)', values: [n] })
    const sent = [
      wire.run({ name: 'BEGIN', text: 'BEGIN', values: [] }),
      insert(1),
      codeOf(insert(1)),
      codeOf(insert(2)),
      codeOf(wire.run({ name: 'COMMIT', text: 'COMMIT', values: [] })),
      wire.runApart('ROLLBACK'),
      insert(3),
    ]
    expect(await Promise.all(sent)).toEqual([
      { rows: [], command: 'BEGIN' },
      { rows: [], command: 'INSERT' },
      '23505',
      '23505',
      '23505',
      { rows: [], command: 'ROLLBACK' },
      { rows: [], command: 'INSERT' },
    ])
    expect(pieces.length).toBe(1)
    // What had been passed over is parsed when it is sent again.
    expect((await wire.run({ name: 'COMMIT', text: 'COMMIT', values: [] })).command).toBe('COMMIT')
    expect((await wire.run({ text: 'select n from counted', values: [] })).rows).toEqual([{ n: 3 }])
  })

  test('a refusal is told with its code, and the statement may be sent again, parsed or not', async () => {
    await using one = await connected()
    const divide = (by: number) => one.wire.run({ name: 'divide', text: 'select 10 / $1::int as "n"', values: [by] })
    const nonsense = () => one.wire.run({ name: 'nonsense', text: 'selekt', values: [] })
    expect(await codeOf(divide(0))).toBe('22012')
    expect((await divide(5)).rows).toEqual([{ n: 2 }])
    expect(await codeOf(nonsense())).toBe('42601')
    expect(await codeOf(nonsense())).toBe('42601')
    expect((await divide(1)).rows).toEqual([{ n: 10 }])
    const refused = await one.wire.run({ text: 'select missing', values: [] }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(pg.DatabaseError)
    expect(refused).toMatchObject({ code: '42703', severity: 'ERROR', message: 'column "missing" does not exist' })
  })

  test('a value that cannot be sent fails its statement alone', async () => {
    await using one = await connected()
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const select = (value: unknown) => one.wire.run({ text: 'select $1::text as "t"', values: [value] })
    const [before, failed, behind] = await Promise.allSettled([select('a'), select(circle), select('b')])
    expect([before, behind]).toMatchObject([{ value: { rows: [{ t: 'a' }] } }, { value: { rows: [{ t: 'b' }] } }])
    expect(failed.status).toBe('rejected')
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
      const point = one.wire.run({ text: 'select point(1, 2) as "p"', values: [] }).catch((error: Error) => error.message)
      expect(await Promise.all([point, one.wire.run({ text: 'select 1 as "n"', values: [] })])).toMatchObject([
        'no point',
        { rows: [{ n: 1 }] },
      ])
    } finally {
      pg.types.setTypeParser(oid, parse)
    }
  })

  test('a connection that is lost fails all that waits for it and all that comes later, and a server that is silent is left', async () => {
    await using admin = await connected()
    const lost = await connected()
    const pid = (await lost.wire.run({ text: 'select pg_backend_pid() as "pid"', values: [] })).rows
    const sleep = () => lost.wire.run({ text: 'select pg_sleep(60)', values: [] })
    const waiting = Promise.allSettled([sleep(), sleep()])
    await admin.wire.run({ text: 'select pg_terminate_backend($1)', values: [(pid as { pid: number }[])[0]?.pid] })
    const failures = (await waiting).map((one) => (one as PromiseRejectedResult).reason)
    expect(failures.map(isUnavailable)).toEqual([true, true])
    expect(isUnavailable(await sleep().catch((error: unknown) => error))).toBe(true)
    const silent = await connected(300)
    const left = await silent.wire.run({ text: 'select pg_sleep(60)', values: [] }).catch((error: unknown) => error)
    expect(isUnavailable(left)).toBe(true)
  })
})
