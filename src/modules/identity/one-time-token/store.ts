import { and, eq, gt, inArray, isNull, lte } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { oneTimeTokens } from '../../../../db/schema/mail.ts'
import type { OneTimeToken, TokenPurpose } from './domain.ts'

const good = (purpose: TokenPurpose, now: number) =>
  and(eq(oneTimeTokens.purpose, purpose), isNull(oneTimeTokens.usedAt), gt(oneTimeTokens.expiresAt, now))

export const oneTimeTokenStore = {
  async insert(tx: Writer, token: OneTimeToken): Promise<void> {
    await tx.insert(oneTimeTokens).values(token)
  },
  /** One that is still good. */
  async find(from: Pick<Reader, 'select'>, purpose: TokenPurpose, hash: string, now: number): Promise<OneTimeToken | undefined> {
    const [token] = await from
      .select()
      .from(oneTimeTokens)
      .where(and(eq(oneTimeTokens.hash, hash), good(purpose, now)))
      .limit(1)
    return token
  },
  /** Undefined when it is good no more: of two who use one, one does. */
  async use(tx: Writer, purpose: TokenPurpose, hash: string, now: number): Promise<OneTimeToken | undefined> {
    const [token] = await tx
      .update(oneTimeTokens)
      .set({ usedAt: now })
      .where(and(eq(oneTimeTokens.hash, hash), good(purpose, now)))
      .returning()
    return token
  },
  /** Makes useless what there is for a subject; how many it was. */
  async endAll(tx: Writer, purpose: TokenPurpose, subjectId: string, now: number): Promise<number> {
    const rows = await tx
      .update(oneTimeTokens)
      .set({ usedAt: now })
      .where(and(eq(oneTimeTokens.subjectId, subjectId), good(purpose, now)))
      .returning({ hash: oneTimeTokens.hash })
    return rows.length
  },
  /** Removes some that are over; how many it was. */
  async removeExpired(tx: Writer, now: number, limit: number): Promise<number> {
    const over = tx.select({ hash: oneTimeTokens.hash }).from(oneTimeTokens).where(lte(oneTimeTokens.expiresAt, now)).limit(limit)
    const rows = await tx.delete(oneTimeTokens).where(inArray(oneTimeTokens.hash, over)).returning({ hash: oneTimeTokens.hash })
    return rows.length
  },
}
