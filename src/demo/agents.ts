import type { AgentCall } from '../core/agent-call.ts'
import { storesNothing } from '../core/idempotency.ts'
import { capabilityNames, newestRelease } from '../lib/ucp/releases.ts'
import { completeSession, createSession } from '../modules/agents/agent-session/index.ts'
import { findAgentShop, setAgentSettings } from '../modules/agents/agent-settings/index.ts'
import { listOrders } from '../modules/selling/order/index.ts'
import { contextOf } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import type { Market } from './orders.ts'
import { demoId, depsAt } from './past-clock.ts'
import { addressAt } from './shop.ts'

const email = 'by-assistant@demo.example'
/** How long the purchase may take by its clock, which runs faster than time. */
const shoppingMs = 10_000
/** The payment instrument of the assistant's order. */
const instrument = { id: '1', handler_id: 'sandbox', type: 'token', credential: { type: 'token', token: 'tok_success' } }

/** Lets agents buy in a shop, and has one buy there. Its order is the last, because numbers follow the time. */
export async function sellThroughAgents(deps: AppDeps, { plan, shop, variantIds }: Market, until: number): Promise<void> {
  if (await findAgentShop(deps, shop.name)) return
  const pastDeps = depsAt(deps, until - shoppingMs, { order: demoId('order', plan.opensAt, 'by an assistant') })
  const call: AgentCall = {
    ...{ shop: contextOf(shop), policies: [], address: '127.0.0.1' },
    platform: {
      ...{ profile: 'https://assistant.demo.example/profile.json', isProven: false, webhookUrl: null },
      ...{ release: newestRelease, capabilities: new Set(capabilityNames) },
    },
    attempt: { key: 'demo-agent', isResumed: false, ...storesNothing },
  }
  const [product] = plan.products.filter(({ status, variants }) => status === 'ACTIVE' && variants.some(({ onHand }) => onHand > 1))
  const id = product && variantIds.get(product.handle)?.[product.variants.findIndex(({ onHand }) => onHand > 1)]
  const customer = plan.customers.find(({ place }) => place.ships !== undefined)
  const { total } = await listOrders(deps, { shopId: shop.id, email }, { page: 1, limit: 1, offset: 0 })
  if (total === 0 && id !== undefined && customer) {
    const { name, line1, city, province, postalCode, countryCode } = addressAt(customer, customer.place)
    const destination = {
      ...{ id: 'home', first_name: name, street_address: line1, address_locality: city, address_country: countryCode },
      ...(province ? { address_region: province } : {}),
      ...(postalCode ? { postal_code: postalCode } : {}),
    }
    const session = (await createSession(pastDeps, call, {
      body: {
        line_items: [{ item: { id }, quantity: 1 }],
        buyer: { first_name: name, email },
        fulfillment: {
          methods: [{ type: 'shipping', destinations: [destination], groups: [{ selected_option_id: customer.place.ships }] }],
        },
      },
    })) as { id: string }
    await completeSession(pastDeps, call, { id: session.id, body: { payment: { instruments: [instrument] } } })
  }
  await setAgentSettings(deps, { shop, actor: { id: shop.merchantId } }, { enabled: true, access: 'OPEN', policies: [] })
}
