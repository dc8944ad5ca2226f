import { and, eq, sql } from 'drizzle-orm'
import type { Writer } from '../../../db/engine.ts'
import { idempotencyKeys } from '../../../db/schema/people.ts'

export type IdempotencyRow = typeof idempotencyKeys.$inferSelect
type Key = Pick<IdempotencyRow, 'scope' | 'key'>

const at = ({ scope, key }: Key) => and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key))

export const idempotencyStore = {
  /** False when the key is there already. */
  async insert(tx: Writer, row: IdempotencyRow): Promise<boolean> {
    const rows = await tx.insert(idempotencyKeys).values(row).onConflictDoNothing().returning({ key: idempotencyKeys.key })
    return rows.length > 0
  },
  async find(tx: Writer, key: Key): Promise<IdempotencyRow | undefined> {
    const [row] = await tx.select().from(idempotencyKeys).where(at(key)).limit(1)
    return row
  },
  async replace(tx: Writer, row: IdempotencyRow): Promise<void> {
    await tx.update(idempotencyKeys).set(row).where(at(row))
  },
  /** False when another attempt has taken the key over. */
  async answer(tx: Writer, key: Key & Pick<IdempotencyRow, 'attempt'>, sealedAnswer: string): Promise<boolean> {
    const rows = await tx
      .update(idempotencyKeys)
      .set({ sealedAnswer })
      .where(and(at(key), eq(idempotencyKeys.attempt, key.attempt)))
      .returning({ key: idempotencyKeys.key })
    return rows.length > 0
  },
  async release(tx: Writer, key: Key & Pick<IdempotencyRow, 'attempt'>): Promise<void> {
    await tx.delete(idempotencyKeys).where(and(at(key), eq(idempotencyKeys.attempt, key.attempt)))
  },
  /** Returns how many it removed. */
  async removeExpired(tx: Writer, now: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from idempotency_keys where (scope, key) in
          (select scope, key from idempotency_keys where expires_at <= ${now} limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
}
