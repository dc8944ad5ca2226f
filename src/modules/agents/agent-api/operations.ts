/** The operations of the protocol: one table for REST and MCP. */
import type { TSchema } from '@sinclair/typebox'
import type { AgentCall } from '../../../core/agent-call.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { envelopeOf, type Platform } from '../../../lib/ucp/call.ts'
import type { Capability } from '../../../lib/ucp/releases.ts'
import { type AgentCatalogDeps, getProduct, lookupCatalog, searchCatalog } from '../agent-catalog/index.ts'
import { GetProduct, LookupCatalog, SearchCatalog } from '../agent-catalog/model.ts'
import { readAgentOrder } from '../agent-order/index.ts'
import {
  type AgentSessionDeps,
  cancelSession,
  completeSession,
  createAgentCart,
  createSession,
  noteRepeated,
  readSession,
  replaceSession,
} from '../agent-session/index.ts'
import { AgentCartBody, CompleteCheckout, CreateCheckout, UpdateCheckout } from '../agent-session/model.ts'
import type { AgentSettingsDeps } from '../agent-settings/index.ts'
import type { PlatformDeps } from '../platform/index.ts'
import { Cart, Checkout, Order, Products, SingleProduct } from './model.ts'
import type { agentApiProviders } from './providers.ts'

export type AgentApiDeps = HttpDeps &
  AgentCatalogDeps &
  AgentSessionDeps &
  AgentSettingsDeps &
  PlatformDeps &
  ReturnType<typeof agentApiProviders>

export type AgentOperation = {
  /** Name of the MCP tool. */
  readonly tool: string
  readonly title: string
  /** What the tool does, for a model that never saw it. Fixed, without text of a shop. */
  readonly description: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Below `/ucp/:shopName`. */
  readonly path: string
  readonly capability: Capability
  /** The argument of an MCP call that holds what REST sends as the body. */
  readonly payload?: 'checkout' | 'cart' | 'catalog'
  /** Schema of the body. */
  readonly input?: TSchema
  readonly output: TSchema
  /** Whether an idempotency key is ignored, required over REST and optional over MCP, or always required. */
  readonly key: 'never' | 'REST' | 'always'
  /** Whether the response with a resource is 201. */
  readonly creates?: true
  /** Whether only a platform that proves who it is may call. */
  readonly needsProof?: true
  /** Whether the effect takes several writes. */
  readonly hasSeveralWrites?: true
  readonly run: (deps: AgentApiDeps, call: AgentCall, input: { id?: string; body: object }) => Promise<object>
  /** Runs before a stored answer is repeated. */
  readonly repeated?: (deps: AgentApiDeps, call: AgentCall, answer: object) => Promise<void>
  /** Answers an MCP call without arguments. REST has no such call. */
  readonly answerWithoutArguments?: (platform: Platform) => object
  /** Computes the answer of a retry whose first answer was stored as null, because it was not final. */
  readonly retry?: (deps: AgentApiDeps, call: AgentCall, input: { id: string }) => Promise<object>
}

/** Kinds of routes below `/ucp/:shopName`. */
const get = (path: string) => ({ method: 'GET', path, key: 'never' }) as const
const find = (path: string) => ({ method: 'POST', path, key: 'never', payload: 'catalog' }) as const
const create = (path: string) => ({ method: 'POST', path, key: 'REST', creates: true }) as const
const replace = (path: string) => ({ method: 'PUT', path, key: 'REST' }) as const
const act = (path: string) => ({ method: 'POST', path, key: 'always' }) as const

/** Defines an operation. Its input is validated against its schema before it runs. */
const operation = <Body extends object>(
  tool: string,
  definition: Omit<AgentOperation, 'tool' | 'title' | 'description' | 'run'>,
  description: string,
  run: (deps: AgentApiDeps, call: AgentCall, input: { id: string; body: Body }) => Promise<object>,
): AgentOperation => ({
  ...{ ...definition, tool, description, title: `${tool.charAt(0).toUpperCase()}${tool.slice(1).replace('_', ' ')}` },
  run: (deps, call, { id = '', body }) => run(deps, call, { id, body: body as Body }),
})

const cart = { capability: 'cart', output: Cart } as const
const checkout = { capability: 'checkout', output: Checkout } as const
const lookup = { capability: 'catalog.lookup' } as const
const sentCart = { ...cart, payload: 'cart', input: AgentCartBody } as const
const sentCheckout = { ...checkout, payload: 'checkout', repeated: noteRepeated } as const
const noProducts = (platform: Platform) => ({ ucp: envelopeOf(platform, 'search'), products: [] })
const sessionPath = '/checkout-sessions/:id'

export const operations: readonly AgentOperation[] = [
  // First, because clients that test a server call its first tool without arguments.
  operation(
    'search_catalog',
    {
      ...find('/catalog/search'),
      capability: 'catalog.search',
      input: SearchCatalog,
      output: Products,
      answerWithoutArguments: noProducts,
    },
    'Searches the products of this shop by words, collections or price. Prices are in minor units: 1250 is 12.50.',
    searchCatalog,
  ),
  operation(
    'lookup_catalog',
    { ...find('/catalog/lookup'), ...lookup, input: LookupCatalog, output: Products },
    'Looks up up to 50 products or variants by id, handle or SKU.',
    lookupCatalog,
  ),
  operation(
    'get_product',
    { ...find('/catalog/product'), ...lookup, input: GetProduct, output: SingleProduct },
    'Reads one product with its options and variants, narrowed to the chosen option values. Buy by the id of a variant.',
    getProduct,
  ),
  operation('get_cart', { ...cart, ...get('/carts/:id') }, 'Reads a cart at current prices.', readSession('CART')),
  operation(
    'create_cart',
    { ...sentCart, ...create('/carts') },
    'Creates a cart with lines of variant ids, and returns its prices. Nothing is reserved.',
    createAgentCart,
  ),
  operation(
    'update_cart',
    { ...sentCart, ...replace('/carts/:id') },
    'Replaces the whole content of a cart: what is not sent is removed.',
    replaceSession('CART'),
  ),
  operation('cancel_cart', { ...cart, ...act('/carts/:id/cancel') }, 'Cancels a cart.', cancelSession('CART')),
  operation(
    'create_checkout',
    { ...sentCheckout, ...create('/checkout-sessions'), input: CreateCheckout },
    'Begins a checkout with lines of variant ids, or of a cart (`cart_id`). The answer has the totals, the messages that say what is missing, and `continue_url`, where the shopper can pay.',
    createSession,
  ),
  operation('get_checkout', { ...checkout, ...get(sessionPath) }, 'Reads a checkout at current prices.', readSession('CHECKOUT')),
  operation(
    'update_checkout',
    { ...sentCheckout, ...replace(sessionPath), input: UpdateCheckout },
    'Replaces the whole content of a checkout: lines, buyer, shipping address, shipping option and discount codes. What is not sent is removed.',
    replaceSession('CHECKOUT'),
  ),
  operation(
    'complete_checkout',
    { ...sentCheckout, ...act(`${sessionPath}/complete`), input: CompleteCheckout, hasSeveralWrites: true, retry: readSession('CHECKOUT') },
    'Pays exactly what the last answer showed, with one selected instrument of a payment handler of that answer. If anything changed, nothing is charged: show the new totals, then complete again with a new key.',
    completeSession,
  ),
  operation(
    'cancel_checkout',
    { ...checkout, ...act(`${sessionPath}/cancel`) },
    'Cancels an unpaid checkout. It cannot be paid after that.',
    cancelSession('CHECKOUT'),
  ),
  operation(
    'get_order',
    { ...get('/orders/:id'), capability: 'order', output: Order, needsProof: true },
    'Reads an order that your platform placed: its lines, fulfilments and refunds. The request must be signed.',
    readAgentOrder,
  ),
]
