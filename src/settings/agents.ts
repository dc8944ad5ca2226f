/** Shopping by agents over the Universal Commerce Protocol. */
import { boolean, isCidr, listOf, setting } from './kinds.ts'

export const agents = {
  AGENTS_ENABLED: setting(
    'agentsEnabled',
    'boolean',
    'false',
    'Let agents find and buy products of shops that switch agents on (docs/agents.md)',
    boolean,
  ),
  AGENTS_SHOP: setting(
    'agentsShop',
    'text',
    undefined,
    "Handle of the shop whose profile hosts serve that are no shop's storefront. Default: the only shop with agents on",
    (text) => {
      if (!/^[a-z0-9][a-z0-9-]{0,99}$/.test(text)) throw new Error('the handle of a shop')
      return text
    },
  ),
  AGENTS_PROFILE_NETWORKS: setting(
    'agentsProfileNetworks',
    'list',
    undefined,
    'Networks whose platform profiles may be fetched by http and from private addresses, such as 127.0.0.0/8,::1 in tests',
    listOf('addresses and CIDR blocks', isCidr),
  ),
} as const
