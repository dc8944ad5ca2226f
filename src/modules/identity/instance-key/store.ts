import { eq } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { instanceKeys } from '../../../../db/schema/platform.ts'

export type InstanceKeyRow = typeof instanceKeys.$inferSelect
export type Purpose = InstanceKeyRow['purpose']

export const instanceKeyStore = {
  async find(from: Pick<Reader, 'select'>, purpose: Purpose): Promise<InstanceKeyRow | undefined> {
    const [row] = await from.select().from(instanceKeys).where(eq(instanceKeys.purpose, purpose)).limit(1)
    return row
  },
  /** Keeps an existing key. */
  async insert(tx: Writer, row: InstanceKeyRow): Promise<void> {
    await tx.insert(instanceKeys).values(row).onConflictDoNothing()
  },
}
