/** Tests PostgreSQL with frozen processes, held locks and lost connections. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc, sql } from 'drizzle-orm'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { DatabaseFull, DatabaseOutcomeUnknown, DatabaseUnavailable } from '../../db/engine.ts'
import { openPostgres, type PostgresOptions } from '../../db/postgres/engine.ts'
import { insertAllOf, insertOf, lockedRowsOf, rowsOf, updateOf, valuesOf } from '../../db/prepared.ts'
import { attempts } from '../../db/schema/people.ts'
import { asAppError } from '../../src/http/errors.ts'
import { testApp } from '../support/app.ts'
import { type CutMode, cuttableProxy } from '../support/cuttable-connection.ts'
import { openTestDatabase, unpooledUrl } from '../support/database.ts'
import { startChild } from '../support/process.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const locking = { isolation: 'locking' } as const
const row = (id: string, at = 0) => ({ id, bucket: 'test', at })
const insert = insertOf(attempts)
const findById = rowsOf(attempts, ['id'])
const lockById = lockedRowsOf(attempts, ['id'])
const setAt = updateOf(attempts, valuesOf(attempts, ['id']), ['id'])
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )
const idsIn = async (db: ReturnType<typeof openPostgres>) =>
  (await db.read.select({ id: attempts.id }).from(attempts).orderBy(asc(attempts.id))).map(({ id }) => id)

/** Opens the test's database a second time with these options. */
async function openAgain(options: PostgresOptions = {}) {
  const of = await openTestDatabase()
  const db = openPostgres(of.url, Math.random, options)
  return {
    db,
    url: of.url,
    async [Symbol.asyncDispose]() {
      await db.close()
      await of[Symbol.asyncDispose]()
    },
  }
}

/** Opens another connection that holds a row's lock until it is disposed. */
async function holdRow(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('BEGIN')
  await client.query(statement)
  return { [Symbol.asyncDispose]: () => client.end() }
}

describe.skipIf(engine !== 'postgres')('faults of PostgreSQL', () => {
  test('reads in one snapshot see the state of one moment during many writes', async () => {
    await using of = await openAgain()
    const { db } = of
    await db.write((tx) => insertAllOf(attempts)(tx, [row('a'), row('b')]))
    let stopped = false
    const writing = (async () => {
      for (let at = 1; !stopped; at++) {
        await db.write(async (tx) => {
          await setAt(tx, { at }, { id: 'a' })
          await setAt(tx, { at }, { id: 'b' })
        }, locking)
      }
    })()
    const pairs = []
    for (let round = 0; round < 300; round++) {
      pairs.push(
        await Promise.all(db.read.inSnapshot(() => [db.read.first(findById, { id: 'a' }), db.read.all(findById, { id: 'b' })] as const)),
      )
    }
    stopped = true
    await writing
    expect(pairs.filter(([a, [b]]) => a?.at !== b?.at)).toEqual([])
    expect(new Set(pairs.map(([a]) => a?.at)).size).toBeGreaterThan(1)
  })

  test('the transaction of a frozen process is ended, so that others can continue', async () => {
    await using of = await openAgain()
    const { db } = of
    await db.write((tx) => insert(tx, row('a')))
    await using frozen = startChild('freeze-in-transaction.ts', [of.url, 'a'], { DATABASE_URL: of.url })
    expect((await frozen.lines.next()).value).toBe('locked')
    frozen.kill('SIGSTOP')
    const countUp = () =>
      db.write(async (tx) => {
        const counter = await tx.first(lockById, { id: 'a' })
        await setAt(tx, { at: (counter?.at ?? 0) + 1 }, { id: 'a' })
      }, locking)
    await Promise.all(Array.from({ length: 5 }, countUp))
    expect(await db.read.first(findById, { id: 'a' })).toEqual(row('a', 5))
  })

  test('writes that wait too long for a locked row are refused and change nothing, and reads do not wait', async () => {
    await using of = await openAgain({ connections: 4, timeouts: { lock: 1_500 } })
    const { db } = of
    await db.write((tx) => insert(tx, row('a')))
    await using _ = await holdRow(of.url, "UPDATE attempts SET at = 7 WHERE id = 'a'")
    const events: string[] = []
    // There are more writes than connections for writes.
    const writes = Array.from({ length: 6 }, async (_, nth) => {
      const refused = await failure(db.write((tx) => setAt(tx, { at: 1 }, { id: 'a' }), nth % 2 ? locking : {}))
      events.push('refused')
      return refused
    })
    const reads = await Promise.all(Array.from({ length: 20 }, () => db.read.first(findById, { id: 'a' })))
    events.push('read')
    expect(reads).toEqual(Array(20).fill(row('a')))
    const refusals = await Promise.all(writes)
    expect(events).toEqual(['read', ...Array(6).fill('refused')])
    for (const refused of refusals) {
      expect(refused).toBeInstanceOf(DatabaseUnavailable)
      expect(asAppError(refused)).toMatchObject({ kind: 'UNAVAILABLE' })
    }
  })

  test('a write that gets no connection in time is refused, and later ones get it', async () => {
    await using of = await openAgain({ connections: 1, timeouts: { connect: 300 } })
    const { db } = of
    await db.write((tx) => insert(tx, row('a')))
    const holding = await holdRow(of.url, "UPDATE attempts SET at = 7 WHERE id = 'a'")
    const waiting = db.write((tx) => setAt(tx, { at: 1 }, { id: 'a' }), locking)
    expect(await failure(db.write((tx) => insert(tx, row('b'))))).toBeInstanceOf(DatabaseUnavailable)
    await holding[Symbol.asyncDispose]()
    await waiting
    await db.write((tx) => insert(tx, row('c')))
    expect(await idsIn(db)).toEqual(['a', 'c'])
  })

  test('a read with a value that cannot be sent fails, and the next with the same statement works', async () => {
    await using of = await openAgain({ connections: 1 })
    const { db } = of
    await db.write((tx) => insert(tx, row('a')))
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    expect(await failure(Promise.resolve(db.read.first(findById, { id: circle })))).toBeInstanceOf(TypeError)
    expect(await db.read.first(findById, { id: 'a' })).toEqual(row('a'))
  })

  test('a statement that takes too long is refused, and its write is rolled back', async () => {
    await using of = await openAgain({ timeouts: { statement: 200 } })
    const { db } = of
    const slow = sql`select pg_sleep(60)`
    const refused = await failure(
      db.write(async (tx) => {
        await insert(tx, row('a'))
        await tx.rows(slow)
      }),
    )
    expect(refused).toBeInstanceOf(DatabaseUnavailable)
    expect(asAppError(await failure(db.read.rows(slow)))).toMatchObject({ kind: 'UNAVAILABLE' })
    expect(await idsIn(db)).toEqual([])
  })

  test('a server that does not respond in time is unavailable, and the next read gets a new connection', async () => {
    await using of = await openAgain({ timeouts: { answer: 500 } })
    const { db } = of
    expect(asAppError(await failure(db.read.rows(sql`select pg_sleep(60)`)))).toMatchObject({ kind: 'UNAVAILABLE' })
    expect(await failure(db.write((tx) => tx.rows(sql`select pg_sleep(60)`)))).toBeInstanceOf(DatabaseUnavailable)
    expect(await idsIn(db)).toEqual([])
  })

  test('a full disk of the server is reported as DatabaseFull', async () => {
    await using of = await openAgain()
    const refused = await failure(
      of.db.write(async (tx) => {
        await insert(tx, row('a'))
        await tx.rows(sql`do $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`)
      }),
    )
    expect(refused).toBeInstanceOf(DatabaseFull)
    expect(await idsIn(of.db)).toEqual([])
  })

  async function writeThroughCut(at: string, cut: CutMode) {
    const of = await openTestDatabase()
    const wire = await cuttableProxy(of.url, at, cut)
    const db = openPostgres(wire.url, Math.random)
    await db.write((tx) => insert(tx, row('before')))
    wire.arm()
    const refused = await failure(db.write((tx) => insert(tx, row('cut'))))
    const stored = await idsIn(of.db as ReturnType<typeof openPostgres>)
    await db.close()
    await wire[Symbol.asyncDispose]()
    await of[Symbol.asyncDispose]()
    return { refused, stored }
  }

  test('a connection lost at the commit leaves the outcome unknown, and the write is not retried', async () => {
    const before = await writeThroughCut('COMMIT', 'before')
    expect(before.refused).toBeInstanceOf(DatabaseOutcomeUnknown)
    expect(before.stored).toEqual(['before'])
    const behind = await writeThroughCut('COMMIT', 'behind')
    expect(behind.refused).toBeInstanceOf(DatabaseOutcomeUnknown)
    expect(behind.stored).toEqual(['before', 'cut'])
  })

  test('a connection lost before the commit changes nothing', async () => {
    const of = await openTestDatabase()
    await using wire = await cuttableProxy(of.url, 'cut here', 'before')
    const db = openPostgres(wire.url, Math.random)
    wire.arm()
    const refused = await failure(
      db.write(async (tx) => {
        await insert(tx, row('a'))
        await tx.rows(sql`select 'cut here'`)
      }),
    )
    expect(refused).toBeInstanceOf(DatabaseUnavailable)
    expect(await idsIn(of.db as ReturnType<typeof openPostgres>)).toEqual([])
    await db.close()
    await of[Symbol.asyncDispose]()
  })

  test('a write whose BEGIN fails stores nothing, although its statements were already sent', async () => {
    const spoiled = await writeThroughCut('BEGIN', 'spoiled')
    expect(spoiled.refused).toMatchObject({ code: '42601' })
    expect(spoiled.stored).toEqual(['before'])
  })

  test('readiness reports a database without writes or reads while the write still waits', async () => {
    await using app = await testApp({}, { postgres: { timeouts: { lock: 60_000, statement: 60_000 } } })
    const failing = async () => {
      app.clock.advance(1_000)
      const { status, body } = await app.call('GET', '/health/ready')
      return [status, body.message]
    }
    expect(await failing()).toEqual([200, undefined])
    {
      await using _ = await holdRow(app.database.url, 'LOCK TABLE souk_migrations IN SHARE MODE')
      expect(await failing()).toEqual([503, 'Not ready: databaseWritable'])
    }
    await app.deps.db.read.rows(
      sql.raw(`alter database ${new URL(app.database.url).pathname.slice(1)} set default_transaction_read_only = on`),
    )
    // An idle connection would keep the earlier settings.
    const { rows } = await terminateConnections(unpooledUrl(app.database.url))
    expect(rows.length).toBeGreaterThan(0)
    // Each request that meets a terminated connection also finds the database unreadable.
    let last = await failing()
    for (let nth = 0; nth < rows.length && last[1] !== 'Not ready: databaseWritable'; nth++) last = await failing()
    expect(last).toEqual([503, 'Not ready: databaseWritable'])
  })
})

/** Ends every other connection to the database, so that the program opens new ones. */
async function terminateConnections(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  } finally {
    await client.end()
  }
}
