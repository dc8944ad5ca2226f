import type { AgentPolicy, agentKeys, agentSettings } from '../../../../db/schema/agents.ts'
import { invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { dayMs } from '../../../lib/day.ts'
import { isoTimes } from '../../../lib/objects.ts'
import type { Shop } from '../../shop/shop/domain.ts'

export type AgentSettings = Pick<typeof agentSettings.$inferSelect, 'enabled' | 'access' | 'policies'>
export type AgentKey = typeof agentKeys.$inferSelect
export const agentSettingsDefault: AgentSettings = { enabled: false, access: 'SIGNED', policies: [] }

/** A shop that sells through agents. */
export type AgentShop = {
  readonly shop: ShopContext
  /** `name`: its handle, as in the paths of its endpoints. `pages.checkout`: where it sells handed-off carts. */
  readonly settings: Pick<AgentSettings, 'access' | 'policies'> & Pick<Shop, 'name' | 'pages'>
}

export const policiesMax = 20
/** Type of a link, such as `refund_policy`; others than the protocol's are names of a domain. */
export const policyTypeForm = {
  pattern: '^[a-z][a-z0-9_]*(?:[.-][a-z0-9_]+)*$',
  rule: 'a type of link such as terms_of_service, privacy_policy, refund_policy, shipping_policy or faq',
} as const

/** Requires https URLs without credentials. @throws AppError INVALID, naming the field */
export function assertPolicies(policies: readonly AgentPolicy[]): void {
  for (const [at, { url }] of policies.entries()) {
    const parsed = URL.parse(url)
    if (parsed?.protocol !== 'https:') throw invalidField(`policies.${at}.url`, 'must be an https:// URL')
    if (parsed.username || parsed.password) throw invalidField(`policies.${at}.url`, 'must not contain a user name or password')
  }
}

/** Time until a new key signs, so that caches of the profile have it: twice their age. */
export const keyLeadMs = 10 * 60_000
/** Time for which a replaced key stays published. */
export const keyRetentionMs = 7 * dayMs
/** Platforms read at most 20 keys of a profile. */
export const publishedKeysMax = 10

/** Returns what the seal of a private key is bound to. */
export const agentKeySeal = (shopId: string, kid: string): string => `${shopId}/agent-key/${kid}`

/** Returns the keys of a profile. */
export const publishedAt = <Key extends Pick<AgentKey, 'expiresAt'>>(keys: readonly Key[], now: number): Key[] =>
  keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)

/** Returns the newest key that caches of the profile have. @param keys by `signsFrom`, ascending */
export const signingAt = <Key extends Pick<AgentKey, 'signsFrom'>>(keys: readonly Key[], now: number): Key | undefined =>
  keys.findLast(({ signsFrom }) => signsFrom <= now)

/** Returns a key without its private part. */
export const agentKeyView = ({ kid, createdAt, signsFrom, expiresAt }: AgentKey) => ({
  kid,
  ...isoTimes({ createdAt, signsFrom, expiresAt }),
})
export type AgentKeyView = ReturnType<typeof agentKeyView>
