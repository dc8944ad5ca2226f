import { sql } from 'drizzle-orm'
import { bool, enumText, index, instant, int, json, reference, table, text, uniqueIndex } from '../columns.ts'
import { carts, orders } from './selling.ts'
import { shops } from './shop.ts'

/** A link that a shop shows to agents, such as its terms. */
export type AgentPolicy = { type: string; url: string }

/** Which shops sell through agents. A shop without a row does not. */
export const agentSettings = table('agent_settings', {
  shopId: reference('shop_id', () => shops.id).primaryKey(),
  enabled: bool('enabled').notNull(),
  /** SIGNED: every call needs a signature. OPEN: only reads of orders do. */
  access: enumText('access', ['OPEN', 'SIGNED']).notNull(),
  policies: json<AgentPolicy[]>('policies').notNull(),
  updatedAt: instant('updated_at').notNull(),
  /** `ETag` and `If-Match` use it. */
  version: int('version').notNull(),
})

/** Public part of a P-256 key (RFC 7517). */
export type PublicJwk = { kty: 'EC'; crv: 'P-256'; x: string; y: string }

/** Keys with which a shop signs messages to platforms. */
export const agentKeys = table(
  'agent_keys',
  {
    /** Thumbprint of the public key (RFC 7638). */
    kid: text('kid').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    publicKey: json<PublicJwk>('public_key').notNull(),
    /** Sealed PKCS #8. */
    privateKey: text('private_key').notNull(),
    createdAt: instant('created_at').notNull(),
    /** A published key signs later, when caches of the profile have expired. */
    signsFrom: instant('signs_from').notNull(),
    /** When the profile drops the key; null for the current one. */
    expiresAt: instant('expires_at'),
  },
  (key) => [index('agent_keys_shop').on(key.shopId, key.signsFrom)],
)

/** What a platform sent last, except lines, which are those of the cart. */
export type AgentRequest = {
  buyer: { first_name?: string; last_name?: string; email?: string; phone_number?: string } | null
  /** Undefined: the platform sent no fulfilment. */
  destinations?: AgentDestination[]
  selectedDestination?: string | null
  selectedOption?: string | null
  codes: string[]
  attribution: Record<string, string> | null
  /** Lines of the request, from 0, whose variants the shop does not sell. The cart has no line for them. */
  unavailable?: number[]
}
/** A destination as it was sent; its id is ours if the platform sent none. */
export type AgentDestination = {
  id: string
  extended_address?: string
  street_address?: string
  address_locality?: string
  address_region?: string
  address_country?: string
  postal_code?: string
  first_name?: string
  last_name?: string
  phone_number?: string
}

/** Checkout sessions and carts of platforms: one row beside each cart. */
export const agentSessions = table(
  'agent_sessions',
  {
    /** `chk_…` or `ucart_…`; a secret. */
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    kind: enumText('kind', ['CHECKOUT', 'CART']).notNull(),
    cartId: reference('cart_id', () => carts.id, { onDelete: 'cascade' }),
    /** URL of the platform's profile; null for an unnamed platform. */
    profile: text('profile'),
    /** Whether a signature proved the profile at creation. */
    isProven: bool('is_proven').notNull(),
    /** Keyed hash of the creator's address, for the limit of open sessions; null for a proven platform. */
    openedFrom: text('opened_from'),
    request: json<AgentRequest>('request').notNull(),
    /** Digest of what the last answer to the platform showed. Nothing else is charged. */
    shown: text('shown').notNull(),
    /** The cart (`ucart_…`) that was converted to this session. */
    sourceId: text('source_id'),
    /** Payments that failed. */
    failures: int('failures').notNull().default(0),
    /** When the platform canceled it. */
    canceledAt: instant('canceled_at'),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (session) => [
    uniqueIndex('agent_sessions_cart').on(session.cartId),
    index('agent_sessions_source').on(session.sourceId).where(sql`source_id is not null`),
    index('agent_sessions_opened').on(session.openedFrom, session.expiresAt).where(sql`canceled_at is null and opened_from is not null`),
    index('agent_sessions_platform').on(session.shopId, session.profile, session.expiresAt).where(sql`canceled_at is null`),
  ],
)

/** Orders as they are sent to platforms. A message that is sent twice has the same bytes. */
export const agentMessages = table(
  'agent_messages',
  {
    /** A UUID, sent as `webhook-id`. */
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    orderId: reference('order_id', () => orders.id),
    /** From 1 per order: messages of an order are sent one after the other. */
    sequence: int('sequence').notNull(),
    url: text('url').notNull(),
    body: text('body').notNull(),
    status: enumText('status', ['PENDING', 'DELIVERED', 'FAILED']).notNull(),
    attempts: int('attempts').notNull(),
    nextAt: instant('next_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (message) => [
    uniqueIndex('agent_messages_order').on(message.orderId, message.sequence),
    index('agent_messages_due').on(message.nextAt).where(sql`status = 'PENDING'`),
  ],
)
