import { sql } from 'drizzle-orm'
import type { Writer } from '../../../db/engine.ts'

export const operationsStore = {
  /** A write that changes a row to itself: it needs the lock, the log and the disk, like any other. */
  async touch(tx: Writer): Promise<void> {
    await tx.rows(sql`update souk_migrations set applied_at = applied_at where tag = (select min(tag) from souk_migrations)`)
  },
}
