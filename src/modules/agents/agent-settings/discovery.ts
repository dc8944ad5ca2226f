/** Finds the shop of a host name, and renders its profile. */
import { publicUrlOf } from '../../../core/public-url.ts'
import { decimalsOf } from '../../../lib/money.ts'
import { profileOf, servedCapabilities } from '../../../lib/ucp/profile.ts'
import type { Capability, Release } from '../../../lib/ucp/releases.ts'
import { hasHostedPage } from '../../payments/payment/index.ts'
import { findShopByHost } from '../../shop/shop/index.ts'
import type { AgentShop } from './domain.ts'
import { publishedKeysOf } from './keys.ts'
import type { AgentSettingsDeps } from './providers.ts'
import { endpointOf, findAgentShop } from './service.ts'

/**
 * Returns the profile of the shop that a host name stands for: the shop with this storefront, else that of AGENTS_SHOP,
 * else the only one with agents on.
 * @param host the Host header
 * @returns undefined if there is none, or it has agents off
 */
export async function findProfile(deps: AgentSettingsDeps, host: string, release: Release): Promise<object | undefined> {
  const storefront = await findShopByHost(deps, host.replace(/:\d+$/, ''))
  const shopName = storefront?.name ?? deps.config.agentsShop ?? (await findOnlyShop(deps))
  const agentShop = shopName === undefined ? undefined : await findAgentShop(deps, shopName)
  if (!agentShop) return undefined
  const { shop, settings } = agentShop
  const publicUrl = publicUrlOf(deps)
  const facts = {
    ...{ origin: storefront ? `https://${storefront.host}` : publicUrl, publicUrl },
    ...{ endpoint: endpointOf(deps, settings.name), mode: shop.mode },
    capabilities: await offeredCapabilities(deps, agentShop),
    keys: await publishedKeysOf(deps, shop.id),
  }
  return profileOf(facts, release)
}

async function findOnlyShop({ agentSettingsStore }: AgentSettingsDeps): Promise<string | undefined> {
  const [name, another] = await agentSettingsStore.enabledNames()
  return another === undefined ? name : undefined
}

/** Returns the capabilities that a shop serves. TEST shops always have the sandbox. */
export async function offeredCapabilities(deps: AgentSettingsDeps, { shop, settings }: AgentShop): Promise<ReadonlySet<Capability>> {
  if (shop.mode === 'TEST' || settings.pages.checkout) return servedCapabilities(true)
  const key = `${shop.id} ${deps.breakers.version()}`
  // An amount within the limits of every processor.
  const amount = 20 * 10 ** decimalsOf(shop.currency)
  const compute = async () => servedCapabilities(await hasHostedPage(deps, shop, { amount, currency: shop.currency }))
  return deps.agentOffers.get(key) ?? deps.agentOffers.reload(key, compute)
}
