/** Tests the contract of writes on both engines. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc, eq, sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { type Database, DatabaseUnavailable, isUniqueViolation, type Writer } from '../../db/engine.ts'
import { prepare } from '../../db/prepared.ts'
import { attempts, refreshTokens, sessions, users } from '../../db/schema/people.ts'
import { openTestDatabase } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const row = (id: string, at = 0) => ({ id, bucket: 'test', at })
const insert = (id: string) => async (tx: Writer) => {
  await tx.insert(attempts).values(row(id))
}
const idsIn = async ({ read }: Pick<Database, 'read'>) =>
  (await read.select({ id: attempts.id }).from(attempts).orderBy(asc(attempts.id))).map(({ id }) => id)
const outcomeOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'kept',
    (error: Error) => error.message,
  )

describe('a write', () => {
  test('a write is visible to readers once acknowledged, and returns its value', async () => {
    await using opened = await openTestDatabase()
    const value = await opened.db.write(async (tx) => (await tx.insert(attempts).values(row('a')).returning({ id: attempts.id }))[0]?.id)
    expect(value).toBe('a')
    expect(await idsIn(opened.db)).toEqual(['a'])
  })

  test('a write that throws rolls back only its own rows', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const outcomes = await Promise.all([
      outcomeOf(db.write(insert('a'))),
      outcomeOf(
        db.write(async (tx) => {
          await tx.insert(attempts).values(row('b'))
          throw new Error('changed my mind')
        }),
      ),
      outcomeOf(db.write(insert('c'))),
    ])
    expect(outcomes).toEqual(['kept', 'changed my mind', 'kept'])
    expect(await idsIn(db)).toEqual(['a', 'c'])
  })

  test('a write that throws synchronously is rejected like any other', async () => {
    await using opened = await openTestDatabase()
    const thrown = opened.db.write(() => {
      throw new Error('at once')
    })
    expect(await outcomeOf(thrown)).toBe('at once')
    expect(await outcomeOf(opened.db.write(insert('after')))).toBe('kept')
  })

  test('a write whose afterCommit effect throws is stored and rejected, and others are not affected', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const outcomes = await Promise.all([
      outcomeOf(
        db.write(async (tx) => {
          await tx.insert(attempts).values(row('a'))
          tx.afterCommit(() => {
            throw new Error('effect failed')
          })
        }),
      ),
      outcomeOf(db.write(insert('b'))),
    ])
    expect(outcomes).toEqual(['effect failed', 'kept'])
    expect(await idsIn(db)).toEqual(['a', 'b'])
  })

  test('a nested write is refused and stores nothing, and the others continue', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const [before, nested, after] = await Promise.all([
      outcomeOf(db.write(insert('before'))),
      outcomeOf(
        db.write(async (tx) => {
          await tx.insert(attempts).values(row('outer'))
          await db.write(insert('inner'))
        }),
      ),
      outcomeOf(db.write(insert('zafter'))),
    ])
    expect([before, nested, after]).toEqual(['kept', 'a database work may not begin another write', 'kept'])
    expect(await idsIn(db)).toEqual(['before', 'zafter'])
  })

  test('a write may begin as soon as the one before is acknowledged, also in code that it started', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    let nestedWrite: Promise<void> | undefined
    const first = db.write(async (tx) => {
      await tx.insert(attempts).values(row('a'))
      nestedWrite = (async () => {
        await first
        await db.write(insert('b'))
      })()
    })
    await first
    await nestedWrite
    expect(await idsIn(db)).toEqual(['a', 'b'])
  })

  test('a transaction cannot be used after its work has settled', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    let savedTx: Writer | undefined
    let builtQuery: PromiseLike<unknown> | undefined
    await db.write(async (tx) => {
      savedTx = tx
      builtQuery = tx.insert(attempts).values(row('built inside, sent outside'))
    })
    const tx = savedTx as Writer
    const refusal = 'a transaction was used after its work had settled'
    const messageOf = (error: unknown): string =>
      error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : ''
    const outcome = async (work: () => PromiseLike<unknown>) => {
      try {
        await work()
        return 'kept'
      } catch (error) {
        return messageOf(error)
      }
    }
    expect(await outcome(() => tx.insert(attempts).values(row('late')))).toBe(refusal)
    expect(await outcome(() => tx.select().from(attempts))).toBe(refusal)
    expect(await outcome(() => tx.rows(sql`delete from attempts`))).toBe(refusal)
    expect(await outcome(() => builtQuery as PromiseLike<unknown>)).toBe(refusal)
    expect(await idsIn(db)).toEqual([])
  })

  test('concurrent writes that increment a counter lose no increment', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    await db.write(insert('counter'))
    const callers = 40
    await Promise.all(
      Array.from({ length: callers }, () =>
        db.write(async (tx) => {
          const [counter] = await tx.select({ at: attempts.at }).from(attempts).where(eq(attempts.id, 'counter')).limit(1)
          await tx
            .update(attempts)
            .set({ at: (counter?.at ?? 0) + 1 })
            .where(eq(attempts.id, 'counter'))
        }),
      ),
    )
    const [counter] = await db.read.select().from(attempts).where(eq(attempts.id, 'counter')).limit(1)
    expect(counter?.at).toBe(callers)
    expect(db.stats.queued).toBe(0)
  })

  test('a unique violation is recognised by index and primary key, and other errors are not', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const user = (id: string, email: string) =>
      db.write(async (tx) => void (await tx.insert(users).values({ id, role: 'MERCHANT', email, passwordHash: 'x', createdAt: 0 })))
    const failure = async (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: unknown) => error,
      )
    await user('a', 'a@example.com')
    expect(isUniqueViolation(await failure(user('a', 'b@example.com')))).toBe(true)
    expect(isUniqueViolation(await failure(user('b', 'a@example.com')))).toBe(true)
    const dangling = await failure(
      db.write(
        async (tx) =>
          void (await tx.insert(refreshTokens).values({ hash: 'h', sessionId: 'nobody', createdAt: 0, expiresAt: 0, usedAt: null })),
      ),
    )
    expect(dangling).toBeInstanceOf(Error)
    expect(isUniqueViolation(dangling)).toBe(false)
    expect(isUniqueViolation(new Error('SQLITE_CONSTRAINT_UNIQUE'))).toBe(false)
  })

  test('deleting a row deletes the rows that depend on it by cascade', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const session = { id: 's', subjectId: 'u', role: 'MERCHANT' as const, shopId: null, createdAt: 0, expiresAt: 1, revokedAt: null }
    await db.write(async (tx) => {
      await tx.insert(sessions).values(session)
      await tx.insert(refreshTokens).values({ hash: 'h', sessionId: 's', createdAt: 0, expiresAt: 1, usedAt: null })
    })
    await db.write(async (tx) => void (await tx.delete(sessions).where(eq(sessions.id, 's'))))
    expect(await db.read.select().from(refreshTokens)).toEqual([])
  })

  test('after close, queued writes are finished and a new write is refused', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const queued = Array.from({ length: 10 }, (_, nth) => outcomeOf(db.write(insert(`q${nth}`))))
    await db.close()
    expect(await Promise.all(queued)).toEqual(Array(10).fill('kept'))
    const late = await db.write(insert('late')).catch((error: unknown) => error)
    expect(late).toBeInstanceOf(DatabaseUnavailable)
    // Closing twice is no error.
    await db.close()
  })
})

const attemptById = prepare((queries) =>
  queries
    .select()
    .from(attempts)
    .where(eq(attempts.id, sql.placeholder('id')))
    .limit(1),
)

test('a prepared read still works after hundreds of other statements', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write(insert('a'))
  expect(await db.read.first(attemptById, { id: 'a' })).toEqual(row('a'))
  for (let nth = 0; nth < 1_000; nth++) await db.read.rows(sql.raw(`select ${nth} as n`))
  expect(await db.read.first(attemptById, { id: 'a' })).toEqual(row('a'))
})

test('text sorts by its bytes, and the largest amounts are read back exactly', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  for (const id of ['b', 'B', 'ä', 'a', '_', '1'])
    await db.write(async (tx) => void (await tx.insert(attempts).values(row(id, 100_000_000_000_000))))
  expect(await idsIn(db)).toEqual(['1', 'B', '_', 'a', 'b', 'ä'])
  const [found] = await db.read.select().from(attempts).limit(1)
  expect(found?.at).toBe(100_000_000_000_000)
})

test(`the engine is the one that the suite was started for: ${engine}`, async () => {
  await using opened = await openTestDatabase()
  expect(opened.db.version() === undefined).toBe(engine === 'postgres')
  expect(opened.url.startsWith(engine === 'sqlite' ? 'file:' : 'postgres')).toBe(true)
})
