/** Tests the rows of prepared reads, and snapshots. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { constants, setPriority } from 'node:os'
import { asc, count, desc, eq, gte, sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { insertOf, prepare } from '../../db/prepared.ts'
import { users } from '../../db/schema/people.ts'
import { addresses } from '../../db/schema/selling.ts'
import { shops } from '../../db/schema/shop.ts'
import { lowerThreadPriority } from '../../db/sqlite/thread-priority.ts'
import { openTestDatabase } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const userRow = (id: string, createdAt: number) => ({
  id,
  role: 'MERCHANT' as const,
  email: `${id}@example.com`,
  passwordHash: 'x',
  createdAt,
})
const shopRow = {
  id: 'shop_1',
  merchantId: 'a',
  name: 'one',
  title: 'One',
  description: '',
  logoUrl: null,
  currency: 'USD',
  country: 'US',
  mode: 'TEST' as const,
  status: 'ACTIVE' as const,
  contact: { email: 'c@d.example' },
  address: {},
  origins: ['https://a.example'],
  taxRates: [{ country: 'US', region: null, rateBps: 1, inclusive: true }],
  shippingMethods: [],
  showQuantity: false,
  strictProvinces: false,
  legalName: null,
  taxNumber: null,
  invoiceNote: null,
  returnDays: 30,
  pages: {},
  timeZone: 'UTC',
  createdAt: 1,
  updatedAt: 2,
  version: 1,
  verifiedAt: null,
  taxRatesVersion: 1,
  shippingMethodsVersion: 1,
}
const insertUser = insertOf(users)
const insertShop = insertOf(shops)

async function opened() {
  const test = await openTestDatabase()
  await test.db.write(async (tx) => {
    for (const row of [userRow('a', 1), userRow('b', 2), userRow('c', 3)]) await insertUser(tx, row)
    await insertShop(tx, shopRow)
  })
  return test
}

const since = prepare((queries) =>
  queries
    .select({ id: users.id, madeAt: users.createdAt })
    .from(users)
    .where(gte(users.createdAt, sql.placeholder('from')))
    .orderBy(asc(users.id)),
)

test('`all` returns every row in order with the requested names, and `first` the first row or undefined', async () => {
  await using on = await opened()
  expect(await on.db.read.all(since, { from: 2 })).toEqual([
    { id: 'b', madeAt: 2 },
    { id: 'c', madeAt: 3 },
  ])
  expect(await on.db.read.all(since, { from: 4 })).toEqual([])
  expect(await on.db.read.first(since, { from: 2 })).toEqual({ id: 'b', madeAt: 2 })
  expect(await on.db.read.first(since, { from: 4 })).toBeUndefined()
})

test('SQLite returns results synchronously, within and outside of a write', async () => {
  await using on = await opened()
  const isPromise = (answer: unknown) => answer instanceof Promise
  const inWrite = await on.db.write(async (tx) => {
    const answer = tx.first(since, { from: 3 })
    return [isPromise(answer), await answer]
  })
  expect(inWrite).toEqual([engine === 'postgres', { id: 'c', madeAt: 3 }])
  const outside = on.db.read.all(since, { from: 3 })
  expect([isPromise(outside), await outside]).toEqual([engine === 'postgres', [{ id: 'c', madeAt: 3 }]])
})

test('a prepared query returns the same rows as the query builder: JSON, nulls, booleans and sums', async () => {
  await using on = await opened()
  const { db } = on
  const address = {
    id: 'adr_1',
    shopId: 'shop_1',
    customerId: null,
    enteredBy: null,
    address: { line1: '1 Way' } as typeof addresses.$inferSelect.address,
    isDefaultShipping: true,
    isDefaultBilling: false,
    createdAt: 1,
    updatedAt: 1,
  }
  await db.write(async (tx) => void (await insertOf(addresses)(tx, address)))
  const [built] = await db.read.select().from(shops)
  expect(await db.read.first(prepare((queries) => queries.select().from(shops)))).toEqual(built)
  expect(built).toEqual(shopRow)
  const [builtAddress] = await db.read.select().from(addresses)
  expect(await db.read.first(prepare((queries) => queries.select().from(addresses)))).toEqual(builtAddress)
  expect(builtAddress).toEqual(address)
  expect(await db.read.first(prepare((queries) => queries.select({ n: count() }).from(users)))).toEqual({ n: 3 })
  const latest = prepare((queries) => queries.select({ at: sql<number>`max(${users.createdAt})`.as('latest') }).from(users))
  expect(await db.read.first(latest)).toEqual({ at: 3 })
})

test('selections can be nested once: tables and parts of them, next to plain fields', async () => {
  await using on = await opened()
  const joined = prepare((queries) =>
    queries
      .select({ name: shops.name, shop: shops, owner: { id: users.id, email: users.email } })
      .from(shops)
      .innerJoin(users, eq(users.id, shops.merchantId)),
  )
  expect(await on.db.read.all(joined)).toEqual([{ name: 'one', shop: shopRow, owner: { id: 'a', email: 'a@example.com' } }])
})

test('a prepared query with a second level, an outer join or a column of another name is refused', () => {
  const refused = [
    prepare((queries) => queries.select({ a: { b: { c: users.id } } } as never).from(users)),
    prepare((queries) => queries.select({ user: users, shop: shops }).from(users).leftJoin(shops, eq(shops.merchantId, users.id))),
    prepare((queries) => queries.select({ email: users.id }).from(users).orderBy(desc(users.email))),
  ]
  for (const query of refused) expect(() => query.compiled).toThrow(/prepared query/)
})

test('a snapshot on SQLite reads the state of one moment, whatever commits meanwhile', async () => {
  await using on = await opened()
  const { read } = on.db
  const countFrom = async (from: number) => (await read.all(since, { from })).length
  if (engine !== 'sqlite') {
    expect(await Promise.all(read.inSnapshot(() => [countFrom(1), countFrom(2)]))).toEqual([3, 2])
    return
  }
  const other = new Sqlite(on.url.replace('file:', ''))
  try {
    const counts = read.inSnapshot(() => {
      const before = countFrom(1)
      other.run("DELETE FROM users WHERE id = 'b'")
      return [before, countFrom(1)]
    })
    expect(await Promise.all(counts)).toEqual([3, 3])
    expect(await countFrom(1)).toBe(2)
    const refused = () =>
      read.inSnapshot(() => {
        throw new Error('not now')
      })
    expect(refused).toThrow('not now')
    other.run("DELETE FROM users WHERE id = 'c'")
    expect(await countFrom(1)).toBe(1)
  } finally {
    other.close()
  }
})

test('a background reader sees committed rows, reports failed statements and works until it is closed', async () => {
  await using test = await openTestDatabase()
  const { db } = test
  await db.write(async (tx) => insertUser(tx, userRow('a', 1)))
  const background = db.backgroundReader()
  const ids = () => background.rows<{ id: string }>(sql`select id from users where created_at >= ${1} order by id`)
  expect(await ids()).toEqual([{ id: 'a' }])
  expect(await background.rows(sql`select nothing from users`).catch((error: unknown) => error)).toBeInstanceOf(Error)
  await db.write(async (tx) => insertUser(tx, userRow('b', 2)))
  expect(await Promise.all([ids(), ids()])).toEqual([
    [{ id: 'a' }, { id: 'b' }],
    [{ id: 'a' }, { id: 'b' }],
  ])
  background.close()
  if (engine === 'sqlite') {
    expect(await ids().catch((error: Error) => error.message)).toBe('the background reader was closed')
    const refused = db.backgroundReader()
    // A background reader cannot write.
    expect(await refused.rows(sql`delete from users returning id`).catch((error: unknown) => error)).toMatchObject({
      code: 'SQLITE_READONLY',
    })
    refused.close()
  }
})

test('lowerThreadPriority ignores a refusal of the system', () => {
  let priority: number | undefined
  lowerThreadPriority((value) => {
    priority = value
    // Refused by the system, as the kernel or a container may refuse it for this process.
    setPriority(2 ** 30, value)
  })
  expect(priority).toBe(process.platform === 'linux' ? constants.priority.PRIORITY_LOW : undefined)
})
