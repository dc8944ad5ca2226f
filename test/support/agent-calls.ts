/** Calls the agents' services directly, without a transport. Validates each response against its release's schema. */
import type { AgentCall } from '../../src/core/agent-call.ts'
import { type Capability, capabilityNames, newestRelease, type Release } from '../../src/lib/ucp/releases.ts'
import {
  cancelSession,
  completeSession,
  createAgentCart,
  createSession,
  readSession,
  replaceSession,
} from '../../src/modules/agents/agent-session/index.ts'
import { contextOf } from '../../src/modules/shop/shop/index.ts'
import { enableAgentsIfUnset } from './agent-sessions.ts'
import type { Json, TestApp } from './app.ts'
import type { Selling } from './selling.ts'
import { assertUcpAnswer } from './ucp-schemas.ts'

export type AgentOptions = {
  profile?: string | null
  isProven?: boolean
  release?: Release
  capabilities?: readonly Capability[]
  address?: string
  policies?: AgentCall['policies']
}

/** Returns the calls of a platform in a shop. Each call is an attempt with a new idempotency key. */
export function agentOf(app: TestApp, { shop }: Pick<Selling, 'shop'>, options: AgentOptions = {}) {
  const { profile = null, isProven = false, release = newestRelease, capabilities = capabilityNames } = options
  const stored: unknown[] = []
  const call = (more: Partial<AgentCall> = {}): AgentCall => ({
    shop: contextOf(shop),
    policies: options.policies ?? [],
    platform: { profile, isProven, release, capabilities: new Set(capabilities), webhookUrl: null },
    address: options.address ?? '192.0.2.1',
    attempt: {
      key: crypto.randomUUID(),
      isResumed: false,
      storeAnswer: async (tx, answer) => tx.afterCommit(() => void stored.push(answer)),
      storeRefusal: async () => undefined,
      assertUnused: async () => undefined,
    },
    ...more,
  })
  async function validated(tool: string, answer: Promise<object>): Promise<Json> {
    const body: Json = JSON.parse(JSON.stringify(await answer))
    assertUcpAnswer(release, tool, body)
    return body
  }
  const { deps } = app
  return {
    call,
    /** Responses that were stored for idempotency keys. */
    stored,
    async create(body: Json) {
      await enableAgentsIfUnset(app, shop.id)
      return validated('create_checkout', createSession(deps, call(), { body }))
    },
    read: (id: string) => validated('get_checkout', readSession('CHECKOUT')(deps, call(), { id })),
    put: (id: string, body: Json) => validated('update_checkout', replaceSession('CHECKOUT')(deps, call(), { id, body })),
    complete: (id: string, body: Json = paymentWithToken('tok_success'), more: Partial<AgentCall> = {}) =>
      validated('complete_checkout', completeSession(deps, call(more), { id, body })),
    cancel: (id: string, more: Partial<AgentCall> = {}) =>
      validated('cancel_checkout', cancelSession('CHECKOUT')(deps, call(more), { id })),
    createCart: (body: Json) => validated('create_cart', createAgentCart(deps, call(), { body })),
    readCart: (id: string) => validated('get_cart', readSession('CART')(deps, call(), { id })),
    putCart: (id: string, body: Json) => validated('update_cart', replaceSession('CART')(deps, call(), { id, body })),
    cancelCart: (id: string) => validated('cancel_cart', cancelSession('CART')(deps, call(), { id })),
  }
}

/** Returns the body of a completion that pays with a token of the sandbox. */
export const paymentWithToken = (token: string, more: Json = {}) => ({
  payment: {
    instruments: [{ id: 'pi_1', handler_id: 'sandbox', type: 'token', selected: true, credential: { type: 'token', token }, ...more }],
  },
})

export const buyer = { first_name: 'Noor', last_name: 'Haddad', email: 'noor@example.com', phone_number: '+12075550100' }
export const home = {
  id: 'home',
  street_address: '1 Quay Street',
  address_locality: 'Portland',
  address_region: 'ME',
  address_country: 'US',
  postal_code: '04101',
}

/** Returns the `fulfillment` field of a request. */
export const fulfillmentTo = (destination: Json = home, option?: string) => ({
  methods: [
    {
      type: 'shipping',
      destinations: [destination],
      selected_destination_id: destination.id,
      ...(option === undefined ? {} : { groups: [{ selected_option_id: option }] }),
    },
  ],
})

/** Returns the amounts of the totals by type. */
export const amountsOf = ({ totals }: Json): Record<string, number> =>
  Object.fromEntries(totals.map(({ type, amount }: { type: string; amount: number }) => [type, amount]))
/** Returns the codes of the messages with their paths. */
export const codesOf = ({ messages }: Json): string[] =>
  messages.map(({ code, path }: { code: string; path?: string }) => (path === undefined ? code : `${code} ${path}`))
