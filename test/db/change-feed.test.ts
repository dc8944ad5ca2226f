/** Tests that the change feed returns every committed row once, in the order of commits, on both engines. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import pg from 'pg'
import { changeFeed } from '../../db/change-feed.ts'
import type { ChangePage } from '../../db/change-feed-query.ts'
import { engine } from '../../db/columns.ts'
import type { Reader } from '../../db/engine.ts'
import { insertOf } from '../../db/prepared.ts'
import { liveEvents } from '../../db/schema/live.ts'
import { openTestDatabase } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const insert = insertOf(liveEvents)
const idOf = (nth: number) => `evt_${String(nth).padStart(26, '0')}`
const row = (nth: number) => ({ id: idOf(nth), shopId: null, name: 'test', data: {}, at: 0 })
const idsOf = (page: ChangePage | undefined) => page?.groups.flatMap(({ rows }) => rows.map(({ id }) => id))
const everything = { limit: 500, notBefore: 0 }

async function readAll(read: Pick<Reader, 'rows'>, from: string, limit: number, until?: string): Promise<string[]> {
  const ids: string[] = []
  let cursor = from
  for (let pages = 0; pages < 1_000; pages++) {
    const page = await changeFeed.since(read, cursor, { limit, notBefore: 0, until })
    if (!page) throw new Error('the cursor is invalid')
    ids.push(...(idsOf(page) ?? []))
    cursor = page.cursor
    if (page.isWhole) return ids
  }
  throw new Error('no end')
}

test('each cursor is followed by exactly what was committed after it, with any page size', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  let nth = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      async (commits, limit) => {
        const begin = await changeFeed.now(db.read)
        const writtenIds: string[][] = []
        for (const size of commits) {
          const rows = Array.from({ length: size }, () => row(nth++))
          await db.write(async (tx) => {
            for (const one of rows) await insert(tx, one)
          })
          writtenIds.push(rows.map(({ id }) => id))
        }
        const end = await changeFeed.now(db.read)
        expect(await readAll(db.read, begin, limit)).toEqual(writtenIds.flat())
        expect(await readAll(db.read, end, limit)).toEqual([])
        const page = await changeFeed.since(db.read, begin, everything)
        for (const [at, { cursor }] of (page?.groups ?? []).entries()) {
          const rest = page?.groups.slice(at + 1).flatMap(({ rows }) => rows.map(({ id }) => id))
          expect(await readAll(db.read, cursor, limit)).toEqual(rest ?? [])
          // A bounded read from the start ends at this cursor.
          const before = page?.groups.slice(0, at + 1).flatMap(({ rows }) => rows.map(({ id }) => id))
          expect(await readAll(db.read, begin, limit, cursor)).toEqual(before ?? [])
        }
      },
    ),
    { numRuns: 15 },
  )
})

test('an invalid cursor, or one ahead of the database, is undefined', async () => {
  await using opened = await openTestDatabase()
  await using other = await openTestDatabase()
  const { db } = opened
  await db.write((tx) => insert(tx, row(1)))
  const here = await changeFeed.now(db.read)
  for (const cursor of ['', '0', '1-x', 'zzzzzzzzzzzz', '..', '-', `9${here}`, '0-.0-.0-.0-', '1.0', '1.1'])
    expect([cursor, await changeFeed.since(db.read, cursor, everything)]).toEqual([cursor, undefined])
  if (engine === 'sqlite') expect(await changeFeed.since(other.db.read, here, everything)).toBeUndefined()
})

test('rows older than notBefore are skipped, and the cursor still moves past them', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const begin = await changeFeed.now(db.read)
  for (const nth of [1, 2]) await db.write((tx) => insert(tx, { ...row(nth), at: nth * 1_000 }))
  expect(idsOf(await changeFeed.since(db.read, begin, { limit: 10, notBefore: 1_500 }))).toEqual([idOf(2)])
  const page = await changeFeed.since(db.read, begin, { limit: 10, notBefore: 9_000 })
  expect(page?.groups).toEqual([])
  expect(await readAll(db.read, page?.cursor ?? '', 10)).toEqual([])
})

describe.skipIf(engine !== 'sqlite')('the change feed on SQLite', () => {
  test('a cursor whose last row was deleted or replaced is undefined', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    await db.write((tx) => insert(tx, row(1)))
    const cursor = await changeFeed.now(db.read)
    await db.write(async (tx) => void (await tx.delete(liveEvents)))
    expect(await changeFeed.since(db.read, cursor, everything)).toBeUndefined()
    // As after a restore, the same position holds another row.
    await db.write((tx) => insert(tx, row(2)))
    expect(await changeFeed.since(db.read, cursor, everything)).toBeUndefined()
  })
})

describe.skipIf(engine !== 'postgres')('the change feed on PostgreSQL', () => {
  /** Opens connections whose transactions the test commits. */
  async function openClients(url: string, count: number) {
    const connections = await Promise.all(
      Array.from({ length: count }, async () => {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        return client
      }),
    )
    const add = (client: pg.Client, nth: number) =>
      client.query('insert into live_events (id, name, data, at) values ($1, $2, $3, 0)', [idOf(nth), 'test', '{}'])
    return { connections, add, [Symbol.asyncDispose]: async () => void (await Promise.all(connections.map((client) => client.end()))) }
  }

  test('a transaction that began first and committed last appears when it commits, after later ones', async () => {
    await using opened = await openTestDatabase()
    const { db, url } = opened
    await using open = await openClients(url, 2)
    const [slow, quick] = open.connections as [pg.Client, pg.Client]
    const begin = await changeFeed.now(db.read)
    await slow.query('begin')
    await open.add(slow, 1)
    await open.add(quick, 2)
    const first = await changeFeed.since(db.read, begin, everything)
    expect(idsOf(first)).toEqual([idOf(2)])
    await open.add(quick, 3)
    const second = await changeFeed.since(db.read, first?.cursor ?? '', everything)
    expect(idsOf(second)).toEqual([idOf(3)])
    await slow.query('commit')
    expect(await readAll(db.read, second?.cursor ?? '', 500)).toEqual([idOf(1)])
    expect(await readAll(db.read, first?.cursor ?? '', 500)).toEqual([idOf(1), idOf(3)])
    expect((await readAll(db.read, begin, 500)).toSorted()).toEqual([idOf(1), idOf(2), idOf(3)])
    // Up to a cursor from before its commit, the row is not returned.
    expect(await readAll(db.read, begin, 500, second?.cursor)).toEqual([idOf(2), idOf(3)])
  })

  test('transactions in any order and readers at any point see each row once', async () => {
    await using opened = await openTestDatabase()
    const { db, url } = opened
    await using open = await openClients(url, 4)
    let nth = 100
    const step = fc.record({ client: fc.nat(3), what: fc.constantFrom('write', 'commit', 'rollback', 'read', 'leave') })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
        const waiting = new Map<number, string[]>()
        const committed: string[] = []
        const seen: string[] = []
        let cursor = await changeFeed.now(db.read)
        /** Reads a page. A partial read processes half of it and continues from the last processed group. */
        async function read(isPartial: boolean): Promise<void> {
          const page = await changeFeed.since(db.read, cursor, { limit, notBefore: 0 })
          if (!page) throw new Error('the cursor is invalid')
          const pieces = isPartial ? page.groups.slice(0, Math.ceil(page.groups.length / 2)) : page.groups
          seen.push(...pieces.flatMap(({ rows }) => rows.map(({ id }) => id)))
          cursor = isPartial ? (pieces.at(-1)?.cursor ?? cursor) : page.cursor
        }
        for (const { client: connection, what } of steps) {
          const client = open.connections[connection] as pg.Client
          if (what === 'read' || what === 'leave') await read(what === 'leave')
          else if (what === 'write') {
            if (!waiting.has(connection)) await client.query('begin')
            await open.add(client, ++nth)
            waiting.getOrInsertComputed(connection, () => []).push(idOf(nth))
          } else if (waiting.has(connection)) {
            await client.query(what)
            if (what === 'commit') committed.push(...(waiting.get(connection) ?? []))
            waiting.delete(connection)
          }
        }
        for (const connection of waiting.keys()) await open.connections[connection]?.query('rollback')
        seen.push(...(await readAll(db.read, cursor, limit)))
        expect(seen.toSorted()).toEqual(committed.toSorted())
      }),
      { numRuns: 40 },
    )
  })

  test('rows copied from a server with higher transaction ids do not appear', async () => {
    await using opened = await openTestDatabase()
    const { db, url } = opened
    await using open = await openClients(url, 1)
    const begin = await changeFeed.now(db.read)
    await open.connections[0]?.query(
      "insert into live_events (id, name, data, at, written_in) values ('evt_later', 'test', '{}', 0, '999999999999')",
    )
    expect(await readAll(db.read, begin, 10)).toEqual([])
  })
})
