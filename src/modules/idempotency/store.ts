import { and, eq, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../db/engine.ts'
import { insertOf } from '../../../db/prepared.ts'
import { idempotencyKeys } from '../../../db/schema/people.ts'

export type IdempotencyRow = typeof idempotencyKeys.$inferSelect
type Key = Pick<IdempotencyRow, 'scope' | 'key'>

type Attempt = Key & Pick<IdempotencyRow, 'attempt'>

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>

export function createIdempotencyStore({ statement }: Pick<Database, 'statement'>) {
  const [scope, key, attempt] = [sql.placeholder('scope'), sql.placeholder('key'), sql.placeholder('attempt')]
  const at = and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key))
  const mine = and(at, eq(idempotencyKeys.attempt, attempt))
  const insert = insertOf({ statement }, idempotencyKeys, 'skip')
  const find = statement((queries) => queries.select().from(idempotencyKeys).where(at).limit(1))
  const answer = statement((queries) =>
    queries
      .update(idempotencyKeys)
      .set({ sealedAnswer: sql`${sql.placeholder('sealedAnswer')}` })
      .where(mine)
      .returning({ key: idempotencyKeys.key }),
  )
  const release = statement((queries) => queries.delete(idempotencyKeys).where(mine))

  return {
    /** False when the key is there already. */
    insert,
    async find(tx: Writer, { scope, key }: Key): Promise<IdempotencyRow | undefined> {
      const [row] = await find(tx, { scope, key })
      return row
    },
    async replace(tx: Writer, row: IdempotencyRow): Promise<void> {
      await tx
        .update(idempotencyKeys)
        .set(row)
        .where(and(eq(idempotencyKeys.scope, row.scope), eq(idempotencyKeys.key, row.key)))
    },
    /** False when another attempt has taken the key over. */
    async answer(tx: Writer, { scope, key, attempt }: Attempt, sealedAnswer: string): Promise<boolean> {
      return (await answer(tx, { scope, key, attempt, sealedAnswer })).length > 0
    },
    async release(tx: Writer, { scope, key, attempt }: Attempt): Promise<void> {
      await release(tx, { scope, key, attempt })
    },
  }
}

/** Removes keys whose time is over. Returns how many. */
export async function removeExpired(tx: Writer, now: number, limit: number): Promise<number> {
  const rows = await tx.rows(
    sql`delete from idempotency_keys where (scope, key) in
        (select scope, key from idempotency_keys where expires_at <= ${now} limit ${limit}) returning 1 as done`,
  )
  return rows.length
}
