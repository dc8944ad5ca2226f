/** Inserts checkout sessions of agents for carts, as the agents' routes do. */
import { eq } from 'drizzle-orm'
import { agentSessions, agentSettings } from '../../db/schema/agents.ts'
import { newSecretId } from '../../src/lib/ids.ts'
import type { TestApp } from './app.ts'

export const agentsOn = { AGENTS_ENABLED: 'true', PUBLIC_URL: 'https://souk.example' }
const sessionMs = 6 * 60 * 60_000

type Row = typeof agentSessions.$inferInsert

/** Enables agents in a shop that has no agent settings. */
export async function enableAgentsIfUnset(app: TestApp, shopId: string): Promise<void> {
  const row = { shopId, enabled: true, access: 'OPEN' as const, policies: [], updatedAt: app.clock.now(), version: 1 }
  await app.deps.db.write((tx) => tx.insert(agentSettings).values(row).onConflictDoNothing())
}

/** Inserts a session of an unnamed platform for a cart, and enables agents in the shop. */
export async function insertAgentSession(app: TestApp, shopId: string, cartId: string, more: Partial<Row> = {}) {
  const now = app.clock.now()
  const row: Row = {
    id: newSecretId('checkoutSession', app.deps.randomBytes),
    ...{ shopId, kind: 'CHECKOUT', cartId, profile: null, isProven: false, openedFrom: null, shown: '', sourceId: null },
    ...{ request: { buyer: null, codes: [], attribution: null }, canceledAt: null },
    ...{ expiresAt: now + sessionMs, createdAt: now, updatedAt: now },
    ...more,
  }
  await enableAgentsIfUnset(app, shopId)
  await app.deps.db.write((tx) => tx.insert(agentSessions).values(row))
  const { buyUrlOf, sessionTokenOf } = await app.deps.orderLinks.ready()
  return {
    id: row.id,
    url: buyUrlOf(row.id),
    token: sessionTokenOf(row.id),
    change: (fields: Partial<Row>) => app.deps.db.write((tx) => tx.update(agentSessions).set(fields).where(eq(agentSessions.id, row.id))),
  }
}
