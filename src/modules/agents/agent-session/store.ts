import { and, desc, eq, gt, inArray, isNotNull, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { changeOf, insertOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { agentSessions } from '../../../../db/schema/agents.ts'
import { carts } from '../../../../db/schema/selling.ts'
import { type AgentSession, emptyRequest } from './domain.ts'

const byId = rowsOf(agentSessions, ['id'])
const byCart = rowsOf(agentSessions, ['cartId'])
const change = changeOf(
  agentSessions,
  and(eq(agentSessions.id, sql.placeholder('which')), eq(agentSessions.updatedAt, sql.placeholder('updatedBefore'))),
)
const isOpenUntil = and(
  ...[gt(agentSessions.expiresAt, sql.placeholder('now')), lte(agentSessions.expiresAt, sql.placeholder('until'))],
  // Literals: SQLite would plan the query again at each run.
  ...[isNull(agentSessions.canceledAt), sql`${agentSessions.kind} = 'CHECKOUT'`, sql`${carts.status} = 'OPEN'`],
)
/** Reads ids of open sessions. CROSS JOIN makes SQLite read sessions first: it may otherwise scan all open carts. */
const openWhere = (isOf: SQL | undefined) =>
  prepare((queries) =>
    queries
      .select({ id: agentSessions.id })
      .from(agentSessions)
      .crossJoin(carts)
      .where(and(isOf, eq(carts.id, agentSessions.cartId), isOpenUntil))
      .limit(sql.placeholder('most')),
  )
const openFromAddress = openWhere(and(isNotNull(agentSessions.openedFrom), valuesOf(agentSessions, ['openedFrom'])))
const openOfPlatform = openWhere(and(valuesOf(agentSessions, ['shopId', 'profile']), eq(agentSessions.isProven, true)))

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
    const rows = await tx.all('openedFrom' in owner ? openFromAddress : openOfPlatform, { ...owner, now, until, most })
    return rows.length
  },
  /** Returns some sessions that have ended and still hold what was sent. Scans the table. */
  async ended(reader: Pick<Reader, 'rows'>, now: number, limit: number): Promise<string[]> {
    const rows = await reader.rows<{ id: string }>(
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
  change: (tx: Writer, { id, updatedAt }: Pick<AgentSession, 'id' | 'updatedAt'>, fields: Partial<AgentSession>): Promise<boolean> =>
    change(tx, fields, { which: id, updatedBefore: updatedAt }),
})
