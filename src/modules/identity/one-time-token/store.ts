import { and, eq, gt, inArray, isNull, lte } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { insertOf } from '../../../../db/prepared.ts'
import { oneTimeTokens } from '../../../../db/schema/mail.ts'
import type { OneTimeToken, TokenPurpose } from './domain.ts'

const isValid = (purpose: TokenPurpose, now: number) =>
  and(eq(oneTimeTokens.purpose, purpose), isNull(oneTimeTokens.usedAt), gt(oneTimeTokens.expiresAt, now))

export const oneTimeTokenStore = {
  insert: insertOf(oneTimeTokens),
  /** Finds a valid token. */
  async find(from: Pick<Reader, 'select'>, purpose: TokenPurpose, hash: string, now: number): Promise<OneTimeToken | undefined> {
    const [token] = await from
      .select()
      .from(oneTimeTokens)
      .where(and(eq(oneTimeTokens.hash, hash), isValid(purpose, now)))
      .limit(1)
    return token
  },
  /** Returns undefined if it is not valid. Of two concurrent uses, one succeeds. */
  async use(tx: Writer, purpose: TokenPurpose, hash: string, now: number): Promise<OneTimeToken | undefined> {
    const [token] = await tx
      .update(oneTimeTokens)
      .set({ usedAt: now })
      .where(and(eq(oneTimeTokens.hash, hash), isValid(purpose, now)))
      .returning()
    return token
  },
  /** Invalidates the tokens of a subject. Returns their number. */
  async endAll(tx: Writer, purpose: TokenPurpose, subjectId: string, now: number): Promise<number> {
    const rows = await tx
      .update(oneTimeTokens)
      .set({ usedAt: now })
      .where(and(eq(oneTimeTokens.subjectId, subjectId), isValid(purpose, now)))
      .returning({ hash: oneTimeTokens.hash })
    return rows.length
  },
  /** Deletes some expired tokens. Returns their number. */
  async removeExpired(tx: Writer, now: number, limit: number): Promise<number> {
    const over = tx.select({ hash: oneTimeTokens.hash }).from(oneTimeTokens).where(lte(oneTimeTokens.expiresAt, now)).limit(limit)
    const rows = await tx.delete(oneTimeTokens).where(inArray(oneTimeTokens.hash, over)).returning({ hash: oneTimeTokens.hash })
    return rows.length
  },
}
