import { and, asc, eq, gt, isNotNull, isNull, like, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { changeOf, insertOf, type KnownLater, knownLater, lockedRowsOf, prepare, sureChangeOf, valuesOf } from '../../../../db/prepared.ts'
import { idempotencyKeys } from '../../../../db/schema/people.ts'

export type IdempotencyRow = typeof idempotencyKeys.$inferSelect
type Key = Pick<IdempotencyRow, 'scope' | 'key'>

type Attempt = Key & Pick<IdempotencyRow, 'attempt'>

/** What was stored stays: a refusal that comes after it must not deny it. */
const unanswered = and(valuesOf(idempotencyKeys, ['scope', 'key', 'attempt']), isNull(idempotencyKeys.sealedAnswer))
const insert = insertOf(idempotencyKeys, 'skip', 'key')
const find = lockedRowsOf(idempotencyKeys, ['scope', 'key'])
const answer = changeOf(idempotencyKeys, unanswered)
const answerSurely = sureChangeOf(idempotencyKeys, unanswered, 'key')
const handOver = changeOf(idempotencyKeys, unanswered)
const renew = changeOf(idempotencyKeys, and(unanswered, gt(idempotencyKeys.leaseUntil, sql.placeholder('now'))))
const release = prepare((queries) => queries.delete(idempotencyKeys).where(unanswered))

export const idempotencyStore = {
  /** False when the key is there already. */
  insert,
  /** The same as all that a write does: it is known with its commit. */
  insertAlone: (tx: Writer, row: IdempotencyRow): Promise<KnownLater<boolean>> => knownLater(insert(tx, row)),
  /** As it stands, in a write that has it to itself from then on. */
  async find(tx: Writer, { scope, key }: Key): Promise<IdempotencyRow | undefined> {
    return tx.first(find, { scope, key })
  },
  async replace(tx: Writer, row: IdempotencyRow): Promise<void> {
    await tx
      .update(idempotencyKeys)
      .set(row)
      .where(and(eq(idempotencyKeys.scope, row.scope), eq(idempotencyKeys.key, row.key)))
  },
  /** False when another attempt has taken the key over, or an answer is there already. */
  async answer(tx: Writer, { scope, key, attempt }: Attempt, sealedAnswer: string): Promise<boolean> {
    return answer(tx, { sealedAnswer }, { scope, key, attempt })
  },
  /** The same, which nobody waits for: where it would be false, the write throws NothingChanged. */
  async answerSurely(tx: Writer, { scope, key, attempt }: Attempt, sealedAnswer: string): Promise<void> {
    await answerSurely(tx, { sealedAnswer }, { scope, key, attempt })
  },
  /** Ends the lease of an attempt. */
  async handOver(tx: Writer, { scope, key, attempt }: Attempt): Promise<void> {
    await handOver(tx, { leaseUntil: 0 }, { scope, key, attempt })
  },
  /** Makes the lease of an attempt longer, if it has not ended. */
  async renew(tx: Writer, { scope, key, attempt }: Attempt, now: number, ms: number): Promise<void> {
    await renew(tx, { leaseUntil: now + ms }, { scope, key, attempt, now })
  },
  /** Some of the answers that are kept of a shop's requests, by scope and key, from behind one on. */
  async answersOf(from: Pick<Reader, 'select'>, shopId: string, after: Key | undefined, limit: number) {
    const { scope, key, sealedAnswer } = idempotencyKeys
    return from
      .select({ scope, key, sealedAnswer })
      .from(idempotencyKeys)
      .where(and(isNotNull(sealedAnswer), like(scope, `% ${shopId} %`), after && sql`(${scope}, ${key}) > (${after.scope}, ${after.key})`))
      .orderBy(asc(scope), asc(key))
      .limit(limit)
  },
  /** Puts another answer in the place of one, if that is still the one. */
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

/** Removes keys whose time is over. Returns how many. */
export async function removeExpired(tx: Writer, now: number, limit: number): Promise<number> {
  const rows = await tx.rows(
    sql`delete from idempotency_keys where (scope, key) in
        (select scope, key from idempotency_keys where expires_at <= ${now} limit ${limit}) returning 1 as done`,
  )
  return rows.length
}
