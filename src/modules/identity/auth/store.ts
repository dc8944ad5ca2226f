import { and, asc, count, desc, eq, gt, inArray, isNotNull, isNull, lte, ne } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, lockNames, rowsOf } from '../../../../db/prepared.ts'
import { attempts, refreshTokens, sessions } from '../../../../db/schema/people.ts'
import type { PageSlice } from '../../../lib/page.ts'

export type Session = typeof sessions.$inferSelect
type RefreshToken = typeof refreshTokens.$inferSelect
export type AuthStore = ReturnType<typeof createAuthStore>

const sessionById = rowsOf(sessions, ['id'])
const isActiveOf = (subjectId: string, now: number) =>
  and(eq(sessions.subjectId, subjectId), isNull(sessions.revokedAt), gt(sessions.expiresAt, now))

export function createAuthStore({ read }: Pick<Database, 'read'>) {
  return {
    findSession: async (id: string): Promise<Session | undefined> => read.first(sessionById, { id }),
    async insertSession(tx: Writer, session: Session, token: RefreshToken): Promise<void> {
      await tx.insert(sessions).values(session)
      await tx.insert(refreshTokens).values(token)
    },
    insertRefreshToken: insertOf(refreshTokens),
    async findRefreshToken(from: Pick<Writer, 'select'>, hash: string): Promise<{ token: RefreshToken; session: Session } | undefined> {
      const [row] = await from
        .select({ token: refreshTokens, session: sessions })
        .from(refreshTokens)
        .innerJoin(sessions, eq(sessions.id, refreshTokens.sessionId))
        .where(eq(refreshTokens.hash, hash))
        .limit(1)
      return row
    },
    /** Returns false if it was used already. */
    async useRefreshToken(tx: Writer, hash: string, usedAt: number): Promise<boolean> {
      const rows = await tx
        .update(refreshTokens)
        .set({ usedAt })
        .where(and(eq(refreshTokens.hash, hash), isNull(refreshTokens.usedAt)))
        .returning({ hash: refreshTokens.hash })
      return rows.length > 0
    },
    /** Returns false if it was revoked already. */
    async revokeSession(tx: Writer, id: string, revokedAt: number): Promise<boolean> {
      const rows = await tx
        .update(sessions)
        .set({ revokedAt })
        .where(and(eq(sessions.id, id), isNull(sessions.revokedAt)))
        .returning({ id: sessions.id })
      return rows.length > 0
    },
    /**
     * Revokes the sessions of a person, except one if `keptId` names it. The used refresh tokens of that session lose
     * their grace, because a stolen copy may be the reason.
     * @returns the number of revoked sessions
     */
    async revokeSessionsOf(tx: Writer, subjectId: string, revokedAt: number, keptId?: string): Promise<number> {
      if (keptId !== undefined)
        await tx
          .update(refreshTokens)
          .set({ usedAt: 0 })
          .where(and(eq(refreshTokens.sessionId, keptId), isNotNull(refreshTokens.usedAt)))
      const others = keptId === undefined ? undefined : ne(sessions.id, keptId)
      const rows = await tx
        .update(sessions)
        .set({ revokedAt })
        .where(and(isActiveOf(subjectId, revokedAt), others))
        .returning({ id: sessions.id })
      return rows.length
    },
    /** Lists a person's active sessions, newest first. */
    liveSessions: (subjectId: string, now: number, slice: PageSlice) =>
      selectSlice(read, sessions, { where: isActiveOf(subjectId, now), order: [desc(sessions.id)], ...slice }),
    async touchSession(tx: Writer, id: string, lastUsedAt: number): Promise<void> {
      await tx.update(sessions).set({ lastUsedAt }).where(eq(sessions.id, id))
    },
    /** Records the time and origin of a refresh. */
    async renewSession(tx: Writer, id: string, renewed: Pick<Session, 'lastUsedAt' | 'address' | 'agent'>): Promise<void> {
      await tx.update(sessions).set(renewed).where(eq(sessions.id, id))
    },
    /** Deletes some expired rows. Returns their number. */
    async removeExpired(tx: Writer, now: number, attemptsBefore: number, limit: number): Promise<number> {
      const expiredSessions = tx.select({ id: sessions.id }).from(sessions).where(lte(sessions.expiresAt, now)).limit(limit)
      const oldAttempts = tx.select({ id: attempts.id }).from(attempts).where(lte(attempts.at, attemptsBefore)).limit(limit)
      const ended = await tx.delete(sessions).where(inArray(sessions.id, expiredSessions)).returning({ id: sessions.id })
      const forgotten = await tx.delete(attempts).where(inArray(attempts.id, oldAttempts)).returning({ id: attempts.id })
      return ended.length + forgotten.length
    },
    /** Locks buckets until the end of the write, so that no other write counts or adds attempts. */
    holdBuckets: (tx: Writer, buckets: readonly string[]): void => lockNames(tx, buckets),
    /** Counts the attempts in a bucket since `since`, and returns the time of the oldest. */
    async countAttempts(tx: Writer, bucket: string, since: number): Promise<{ count: number; oldest: number | undefined }> {
      const within = and(eq(attempts.bucket, bucket), gt(attempts.at, since))
      const [row] = await tx.select({ count: count() }).from(attempts).where(within)
      const [oldest] = await tx.select({ at: attempts.at }).from(attempts).where(within).orderBy(asc(attempts.at)).limit(1)
      return { count: Number(row?.count ?? 0), oldest: oldest?.at }
    },
    async insertAttempts(tx: Writer, rows: (typeof attempts.$inferInsert)[]): Promise<void> {
      await tx.insert(attempts).values(rows)
    },
    async removeAttempts(tx: Writer, ids: string[]): Promise<void> {
      await tx.delete(attempts).where(inArray(attempts.id, ids))
    },
  }
}
