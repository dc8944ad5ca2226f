/** Form values of the settings for agents, and what a profile offers. */
import type { Schema } from '../../lib/api/api.ts'

export type AgentSettings = Schema<'AgentSettings'>
type Policy = AgentSettings['policies'][number]

/** Kinds of pages that the protocol names. */
export const policyTypes = ['privacy_policy', 'terms_of_service', 'refund_policy', 'shipping_policy', 'faq'] as const
type PolicyType = (typeof policyTypes)[number]

export type AgentTexts = { enabled: boolean; access: AgentSettings['access'] } & Record<PolicyType, string>

const urlOf = (policies: readonly Policy[], type: PolicyType): string => policies.find((policy) => policy.type === type)?.url ?? ''

/** Returns the form's values of the stored settings, with the first URL of each kind of page. */
export const textsOfAgents = ({ enabled, access, policies }: AgentSettings): AgentTexts => ({
  ...{ enabled, access },
  ...(Object.fromEntries(policyTypes.map((type) => [type, urlOf(policies, type)])) as Record<PolicyType, string>),
})

/** Returns the request body. Pages of other kinds, which the API can set, stay. */
export const agentsBody = ({ enabled, access, ...urls }: AgentTexts, { policies }: AgentSettings) => ({
  ...{ enabled, access },
  policies: [
    ...policyTypes.flatMap((type) => (urls[type].trim() === '' ? [] : [{ type, url: urls[type].trim() }])),
    ...policies.filter(({ type }) => !(policyTypes as readonly string[]).includes(type)),
  ],
})

export const offers = ['catalog', 'cart', 'checkout', 'order'] as const
/** Returns which of `offers` a profile names. */
export function offersIn(profile: { ucp?: { capabilities?: Record<string, unknown> } }): readonly (typeof offers)[number][] {
  const names = Object.keys(profile.ucp?.capabilities ?? {})
  return offers.filter((offer) => names.some((name) => name.startsWith(`dev.ucp.shopping.${offer}`)))
}
