import { and, asc, eq, lte, ne } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { insertOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { agentKeys, agentSettings } from '../../../../db/schema/agents.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { pick } from '../../../lib/objects.ts'
import type { AgentKey } from './domain.ts'

type SettingsRow = typeof agentSettings.$inferSelect

const settingsOf = rowsOf(agentSettings, ['shopId'])
const keysOf = rowsOf(agentKeys, ['shopId'], asc(agentKeys.signsFrom), asc(agentKeys.createdAt), asc(agentKeys.kid))
const isOn = and(eq(agentSettings.enabled, true), ne(shops.status, 'SUSPENDED'))
const enabledByName = prepare((queries) =>
  queries
    .select({
      shop: pick(shops, 'id', 'merchantId', 'currency', 'mode', 'origins', 'timeZone'),
      settings: { ...pick(agentSettings, 'access', 'policies'), ...pick(shops, 'name', 'pages') },
    })
    .from(shops)
    .innerJoin(agentSettings, eq(agentSettings.shopId, shops.id))
    .where(and(valuesOf(shops, ['name']), isOn))
    .limit(1),
)
/** The names of two shops are enough to know whether there is one. */
const enabledNames = prepare((queries) =>
  queries.select(pick(shops, 'name')).from(agentSettings).innerJoin(shops, eq(shops.id, agentSettings.shopId)).where(isOn).limit(2),
)

export const createAgentSettingsStore = ({ read }: Pick<Database, 'read'>) => ({
  settingsOf: async (shopId: string, from: Pick<Reader, 'first'> = read): Promise<SettingsRow | undefined> =>
    from.first(settingsOf, { shopId }),
  /** Returns false if the stored version differs. */
  async putSettings(tx: Writer, row: SettingsRow): Promise<boolean> {
    const { shopId: target, ...set } = row
    const stored = await tx
      .insert(agentSettings)
      .values(row)
      .onConflictDoUpdate({ target: agentSettings.shopId, set, setWhere: eq(agentSettings.version, row.version - 1) })
      .returning({ shopId: agentSettings.shopId })
    return stored[0]?.shopId === target
  },
  /** Finds a shop that is not suspended and has agents on. Synchronous on SQLite. */
  enabledByName: (name: string) => read.first(enabledByName, { name }),
  /** Returns the names of at most two shops that have agents on. */
  enabledNames: async (): Promise<string[]> => (await read.all(enabledNames, {})).map(({ name }) => name),

  /** By `signsFrom`, ascending. */
  keysOf: async (shopId: string, from: Pick<Reader, 'all'> = read): Promise<AgentKey[]> => from.all(keysOf, { shopId }),
  insertKey: insertOf(agentKeys),
  async expireKey(tx: Writer, kid: string, expiresAt: number): Promise<void> {
    await tx.update(agentKeys).set({ expiresAt }).where(eq(agentKeys.kid, kid))
  },
  async removeExpiredKeys(tx: Writer, shopId: string, now: number): Promise<void> {
    await tx.delete(agentKeys).where(and(eq(agentKeys.shopId, shopId), lte(agentKeys.expiresAt, now)))
  },
})
