/** Prepared reads past the builders. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { asc, gte, sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { users } from '../../db/schema/people.ts'
import { openTestDatabase } from '../support/database.ts'

type Row = { id: string; created_at: number }

async function opened() {
  const test = await openTestDatabase()
  const row = (id: string, createdAt: number) => ({
    id,
    role: 'MERCHANT' as const,
    email: `${id}@example.com`,
    passwordHash: 'x',
    createdAt,
  })
  await test.db.write(async (tx) => void (await tx.insert(users).values([row('a', 1), row('b', 2), row('c', 3)])))
  const query = test.db.read
    .select({ id: users.id, created_at: users.createdAt })
    .from(users)
    .where(gte(users.createdAt, sql.placeholder('from')))
    .orderBy(asc(users.id))
  return { ...test, row, query, [Symbol.asyncDispose]: test[Symbol.asyncDispose] }
}

test('many gives every row, in order and under the names of the columns, and none when there is none', async () => {
  await using on = await opened()
  const many = on.db.read.many<Row>(on.query)
  expect(await many({ from: 2 })).toEqual([
    { id: 'b', created_at: 2 },
    { id: 'c', created_at: 3 },
  ])
  expect(await many({ from: 4 })).toEqual([])
  expect(await on.db.read.one<Row>(on.query)({ from: 3 })).toEqual({ id: 'c', created_at: 3 })
  expect(await on.db.read.one<Row>(on.query)({ from: 4 })).toBeUndefined()
})

test('reads together are as of one moment where they answer at once, whoever commits between them', async () => {
  await using on = await opened()
  const many = on.db.read.many<Row>(on.query)
  const count = async (rows: Row[] | Promise<Row[]>) => (await rows).length
  if (engine !== 'sqlite') {
    const [first, second] = on.db.read.together(() => [many({ from: 1 }), many({ from: 2 })])
    expect([await count(first ?? []), await count(second ?? [])]).toEqual([3, 2])
    return
  }
  const other = new Sqlite(on.url.replace('file:', ''))
  try {
    const seen = on.db.read.together(() => {
      const before = many({ from: 1 })
      other.run("DELETE FROM users WHERE id = 'b'")
      return [before, many({ from: 1 })]
    })
    expect(await Promise.all(seen.map(count))).toEqual([3, 3])
    expect(await count(many({ from: 1 }))).toBe(2)
    const refused = () =>
      on.db.read.together(() => {
        throw new Error('not now')
      })
    expect(refused).toThrow('not now')
    other.run("DELETE FROM users WHERE id = 'c'")
    expect(await count(many({ from: 1 }))).toBe(1)
  } finally {
    other.close()
  }
})
