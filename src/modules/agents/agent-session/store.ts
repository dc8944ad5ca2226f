import { and, desc, eq, gt, inArray, isNull, lte, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { insertOf, rowsOf } from '../../../../db/prepared.ts'
import { agentSessions } from '../../../../db/schema/agents.ts'
import { carts } from '../../../../db/schema/selling.ts'
import { type AgentSession, emptyRequest } from './domain.ts'

const byId = rowsOf(agentSessions, ['id'])
const byCart = rowsOf(agentSessions, ['cartId'])

/** Whose open sessions are counted: those opened from an address, or by a proven platform in a shop. */
export type SessionOwner = { readonly openedFrom: string } | { readonly shopId: string; readonly profile: string }

export const createAgentSessionStore = ({ read }: Pick<Database, 'read'>) => ({
  find: async (id: string): Promise<AgentSession | undefined> => read.first(byId, { id }),
  findByCart: async (cartId: string): Promise<AgentSession | undefined> => read.first(byCart, { cartId }),
  /** Returns the sessions to which a cart was converted, newest first, that have neither ended nor been canceled. */
  async convertedFrom(sourceId: string, now: number, from: Pick<Reader, 'select'> = read): Promise<AgentSession[]> {
    return from
      .select()
      .from(agentSessions)
      .where(and(eq(agentSessions.sourceId, sourceId), isNull(agentSessions.canceledAt), gt(agentSessions.expiresAt, now)))
      .orderBy(desc(agentSessions.createdAt), desc(agentSessions.id))
  },
  /** Counts open sessions, up to `most`. @param until when the last of them ends; carts end later */
  async countOpen(tx: Writer, owner: SessionOwner, { now, until }: { now: number; until: number }, most: number): Promise<number> {
    const isOf =
      'openedFrom' in owner
        ? and(sql`${agentSessions.openedFrom} is not null`, eq(agentSessions.openedFrom, owner.openedFrom))
        : and(eq(agentSessions.shopId, owner.shopId), eq(agentSessions.profile, owner.profile), eq(agentSessions.isProven, true))
    const rows = await tx
      .select({ id: agentSessions.id })
      .from(agentSessions)
      .innerJoin(carts, eq(carts.id, agentSessions.cartId))
      .where(
        and(
          ...[isOf, gt(agentSessions.expiresAt, now), lte(agentSessions.expiresAt, until)],
          ...[sql`${agentSessions.canceledAt} is null`, eq(agentSessions.kind, 'CHECKOUT'), eq(carts.status, 'OPEN')],
        ),
      )
      .limit(most)
    return rows.length
  },
  /** Returns some sessions that have ended and still hold what was sent. Scans the table. */
  async ended(aside: Pick<Reader, 'rows'>, now: number, limit: number): Promise<string[]> {
    const rows = await aside.rows<{ id: string }>(
      sql`select id from agent_sessions where expires_at <= ${now} and shown <> '' limit ${limit}`,
    )
    return rows.map(({ id }) => id)
  },
  /** Removes what platforms sent. */
  async forget(tx: Writer, ids: readonly string[]): Promise<void> {
    await tx
      .update(agentSessions)
      .set({ request: emptyRequest, shown: '' })
      .where(inArray(agentSessions.id, [...ids]))
  },
  insert: insertOf(agentSessions),
  /** Stores a session unless it changed since `updatedAt`; then it returns false. */
  async change(tx: Writer, { id, updatedAt }: Pick<AgentSession, 'id' | 'updatedAt'>, fields: Partial<AgentSession>): Promise<boolean> {
    const rows = await tx
      .update(agentSessions)
      .set(fields)
      .where(and(eq(agentSessions.id, id), eq(agentSessions.updatedAt, updatedAt)))
      .returning({ id: agentSessions.id })
    return rows.length > 0
  },
})
