import { eq } from 'drizzle-orm'
import { prepare, valuesOf } from '../../../../db/prepared.ts'
import { agentSessions, agentSettings } from '../../../../db/schema/agents.ts'
import { pick } from '../../../lib/objects.ts'

/** A checkout session, as far as its hand-off needs it. */
export type HandOffSession = Pick<typeof agentSessions.$inferSelect, 'id' | 'shopId' | 'cartId' | 'canceledAt' | 'expiresAt'> & {
  /** Whether its shop has agents on. */
  readonly isOn: boolean
}

/** Finds a session whose shop had agents on at least once. */
export const sessionById = prepare((queries) =>
  queries
    .select({ ...pick(agentSessions, 'id', 'shopId', 'cartId', 'canceledAt', 'expiresAt'), isOn: agentSettings.enabled })
    .from(agentSessions)
    .innerJoin(agentSettings, eq(agentSettings.shopId, agentSessions.shopId))
    .where(valuesOf(agentSessions, ['id']))
    .limit(1),
)
