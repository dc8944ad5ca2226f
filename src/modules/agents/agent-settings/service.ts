/** What a shop decides about agents, and which shops they find. */
import type { CommandContext } from '../../../core/command-context.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { publicUrlOf } from '../../../core/public-url.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { pick } from '../../../lib/objects.ts'
import { sliceOf } from '../../../lib/page.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { listHosts, readShop } from '../../shop/shop/index.ts'
import {
  type AgentKeyView,
  type AgentSettings,
  type AgentShop,
  agentKeyView,
  agentSettingsDefault,
  assertPolicies,
  publishedAt,
} from './domain.ts'
import { addKey } from './keys.ts'
import type { AgentSettingsDeps } from './providers.ts'

/** Settings with the addresses that follow from them. */
export type AgentSettingsRecord = AgentSettings & {
  /** Where platforms find the shop; null: verify a host name first, or set AGENTS_SHOP. */
  readonly profile: string | null
  readonly mcp: string
  readonly keys: AgentKeyView[]
  readonly version: number
}

/** Returns a shop's settings; those of a shop that never changed them are the defaults. */
export async function readAgentSettings(deps: AgentSettingsDeps, { id }: Pick<ShopContext, 'id'>): Promise<AgentSettingsRecord> {
  const store = deps.agentSettingsStore
  const [row, keys, addresses] = await Promise.all([store.settingsOf(id), store.keysOf(id), addressesOf(deps, id)])
  const settings = pick(row ?? agentSettingsDefault, 'enabled', 'access', 'policies')
  return { ...settings, ...addresses, keys: publishedAt(keys, deps.clock.now()).map(agentKeyView), version: row?.version ?? 1 }
}

/**
 * Replaces a shop's settings. The shop gets its first key when it switches agents on.
 * @throws AppError INVALID for a policy without an https URL, PRECONDITION_FAILED
 */
export async function setAgentSettings(deps: AgentSettingsDeps, by: CommandContext, settings: AgentSettings): Promise<AgentSettingsRecord> {
  assertPolicies(settings.policies)
  const shopId = by.shop.id
  const saved = await audited(deps, by, { action: 'shop.agents_set', subject: shopId }, async (tx, setDifference) => {
    const store = deps.agentSettingsStore
    const before = await store.settingsOf(shopId, tx)
    const version = before?.version ?? 1
    assertVersion(by.expected, version)
    const now = deps.clock.now()
    const row = { shopId, ...settings, updatedAt: now, version: version + 1 }
    assertNotStale((await store.putSettings(tx, row)) || undefined)
    const keys = publishedAt(await store.keysOf(shopId, tx), now)
    if (settings.enabled && keys.length === 0) keys.push(await addKey(tx, deps, shopId, now))
    setDifference(differenceOf<AgentSettings>(before ?? agentSettingsDefault, settings, ['enabled', 'access', 'policies']))
    return { ...settings, keys: keys.map(agentKeyView), version: row.version }
  })
  return { ...saved, ...(await addressesOf(deps, shopId)) }
}

/** Returns the addresses of a shop: the profile at this instance's own host, else at the storefront's. */
async function addressesOf(deps: AgentSettingsDeps, shopId: string): Promise<Pick<AgentSettingsRecord, 'profile' | 'mcp'>> {
  const { name } = await readShop(deps, shopId)
  const { data: hosts } = await listHosts(deps, { id: shopId }, sliceOf({ limit: '100' }))
  const host = hosts.find(({ verifiedAt }) => verifiedAt !== null)?.host
  const otherNames = (await deps.agentSettingsStore.enabledNames()).filter((enabledName) => enabledName !== name)
  const isOwnHost = deps.config.agentsShop === undefined ? otherNames.length === 0 : deps.config.agentsShop === name
  const origin = isOwnHost ? publicUrlOf(deps) : host && `https://${host}`
  return { profile: origin === undefined ? null : `${origin}/.well-known/ucp`, mcp: `${endpointOf(deps, name)}/mcp` }
}

/** Returns the base URL of a shop's routes for agents. */
export const endpointOf = (deps: Pick<AgentSettingsDeps, 'config' | 'life'>, shopName: string): string =>
  `${publicUrlOf(deps)}/ucp/${shopName}`

/** Finds a shop by name; undefined if it is unknown or suspended, or has agents off. */
export async function findAgentShop(
  { agentSettingsStore, agentShops, config }: AgentSettingsDeps,
  shopName: string,
): Promise<AgentShop | undefined> {
  if (!config.agentsEnabled) return undefined
  return agentShops.getOrLoad(shopName, () => agentSettingsStore.enabledByName(shopName))
}
