import { and, asc, eq, gt, isNotNull, isNull, like, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { changeOf, insertNewOf, lockedRowsOf, prepare, rowsOf, sureChangeOf, valuesOf } from '../../../../db/prepared.ts'
import { idempotencyKeys } from '../../../../db/schema/people.ts'

export type IdempotencyRow = typeof idempotencyKeys.$inferSelect
type Key = Pick<IdempotencyRow, 'scope' | 'key'>

type Attempt = Key & Pick<IdempotencyRow, 'attempt'>

/** A stored answer is final: a later refusal must not replace it. */
const unanswered = and(valuesOf(idempotencyKeys, ['scope', 'key', 'attempt']), isNull(idempotencyKeys.sealedAnswer))
const insert = insertNewOf(idempotencyKeys)
const find = lockedRowsOf(idempotencyKeys, ['scope', 'key'])
const byKey = rowsOf(idempotencyKeys, ['scope', 'key'])
const answer = changeOf(idempotencyKeys, unanswered)
const answerSurely = sureChangeOf(idempotencyKeys, unanswered, 'key')
const handOver = changeOf(idempotencyKeys, unanswered)
const renew = changeOf(idempotencyKeys, and(unanswered, gt(idempotencyKeys.leaseUntil, sql.placeholder('now'))))
const release = prepare((queries) => queries.delete(idempotencyKeys).where(unanswered))

export const idempotencyStore = {
  /** Returns false if the key exists. */
  insert,
  /** Locks the row. */
  async find(tx: Writer, { scope, key }: Key): Promise<IdempotencyRow | undefined> {
    return tx.first(find, { scope, key })
  },
  has: async (read: Pick<Reader, 'first'>, { scope, key }: Key): Promise<boolean> =>
    (await read.first(byKey, { scope, key })) !== undefined,
  async replace(tx: Writer, row: IdempotencyRow): Promise<void> {
    await tx
      .update(idempotencyKeys)
      .set(row)
      .where(and(eq(idempotencyKeys.scope, row.scope), eq(idempotencyKeys.key, row.key)))
  },
  /** Returns false if another attempt took over or an answer is stored. */
  async answer(tx: Writer, { scope, key, attempt }: Attempt, sealedAnswer: string): Promise<boolean> {
    return answer(tx, { sealedAnswer }, { scope, key, attempt })
  },
  /** Does `answer` without waiting for the result: the write throws NothingChanged instead of returning false. */
  async answerSurely(tx: Writer, { scope, key, attempt }: Attempt, sealedAnswer: string): Promise<void> {
    await answerSurely(tx, { sealedAnswer }, { scope, key, attempt })
  },
  /** Ends the lease of an attempt. */
  async handOver(tx: Writer, { scope, key, attempt }: Attempt): Promise<void> {
    await handOver(tx, { leaseUntil: 0 }, { scope, key, attempt })
  },
  /** Extends the lease of an attempt unless it has ended. */
  async renew(tx: Writer, { scope, key, attempt }: Attempt, now: number, ms: number): Promise<void> {
    await renew(tx, { leaseUntil: now + ms }, { scope, key, attempt, now })
  },
  /** Reads stored answers of a shop by scope and key, after a key. */
  async answersOf(from: Pick<Reader, 'select'>, shopId: string, after: Key | undefined, limit: number) {
    const { scope, key, sealedAnswer } = idempotencyKeys
    return from
      .select({ scope, key, sealedAnswer })
      .from(idempotencyKeys)
      .where(and(isNotNull(sealedAnswer), like(scope, `% ${shopId} %`), after && sql`(${scope}, ${key}) > (${after.scope}, ${after.key})`))
      .orderBy(asc(scope), asc(key))
      .limit(limit)
  },
  /** Replaces an answer if it is unchanged. */
  async exchange(tx: Writer, { scope, key }: Key, before: string, sealedAnswer: string): Promise<void> {
    await tx
      .update(idempotencyKeys)
      .set({ sealedAnswer })
      .where(and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key), eq(idempotencyKeys.sealedAnswer, before)))
  },
  async release(tx: Writer, { scope, key, attempt }: Attempt): Promise<void> {
    await tx.run(release, { scope, key, attempt })
  },
}

/** Removes expired keys. Returns how many. */
export async function removeExpired(tx: Writer, now: number, limit: number): Promise<number> {
  const rows = await tx.rows(
    sql`delete from idempotency_keys where (scope, key) in
        (select scope, key from idempotency_keys where expires_at <= ${now} limit ${limit}) returning 1 as done`,
  )
  return rows.length
}
