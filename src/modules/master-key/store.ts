import { asc, isNull } from 'drizzle-orm'
import type { Reader, Writer } from '../../../db/engine.ts'
import { encryptionKeys } from '../../../db/schema/people.ts'

export type EncryptionKeyRow = typeof encryptionKeys.$inferSelect

export const masterKeyStore = {
  async inUse(read: Pick<Reader, 'select'>): Promise<EncryptionKeyRow[]> {
    return read.select().from(encryptionKeys).where(isNull(encryptionKeys.retiredAt)).orderBy(asc(encryptionKeys.createdAt))
  },
  async register(tx: Writer, row: EncryptionKeyRow): Promise<void> {
    await tx.insert(encryptionKeys).values(row).onConflictDoUpdate({ target: encryptionKeys.version, set: { retiredAt: null } })
  },
}
