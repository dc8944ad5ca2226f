import type { apiKeys, shops, wallets } from '../../../db/schema/shop.ts'
import { dayMs } from '../../lib/day.ts'

export type Shop = typeof shops.$inferSelect
export type ApiKey = typeof apiKeys.$inferSelect
export type Wallet = typeof wallets.$inferSelect

/** Of a key and its shop, what every request under the key needs. */
export type KnownKey = Readonly<Pick<ApiKey, 'id' | 'mode' | 'scopes' | 'expiresAt' | 'lastUsedAt'>> & {
  readonly shop: Readonly<Pick<Shop, 'id' | 'merchantId' | 'currency' | 'mode' | 'origins'>>
}
/** A shop's handle: lower case, no dot (host names have one), 3 to 63 characters. */
export const shopNamePattern = '^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$'

/** Names that look like the instance's own, in paths and before a domain; besides those of versions (`v2`). */
const reservedNames: ReadonlySet<string> = new Set(
  `about account accounts addresses admin administrator affiliates api app assets auth billing blog blogs cart cdn checkout collection-v2
  collections console contact custody customer customers dashboard demo-shop dev docs favicon ftp giftcard health help host hosts imap internal
  kyb lending lenders live login logout mail media merchant merchants metrics name ns1 ns2 null openapi operator orders password payments
  pop private product-v2 products public root sandbox security settings shop shops signup smtp souk staff static status superadmin support
  system test trust undefined v3 webhook-endpoints webhooks www`.split(/\s+/),
)

/** Whether no shop may have this name. */
export const isReservedName = (name: string): boolean => reservedNames.has(name) || /^v\d+$/.test(name)

/** Of a shop. */
export const privateKeyReadsPerHour = 10
export const keyRotationsPerHour = 10
/** How long a key that has ended is kept. */
export const endedKeysKeptMs = 30 * dayMs
export const hourMs = 60 * 60 * 1000
export const graceSecondsMax = 86_400
/** What sealed secrets of a shop are bound to. */
export const keySeal = (shopId: string, keyId: string): string => `${shopId}/api-key/${keyId}`
export const walletSeal = (shopId: string): string => `${shopId}/wallet`

/** What of an origin counts: scheme, host and port, as browsers send it. Undefined when it is none. */
export function normalOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined
  // A wildcard is no origin that a browser would send.
  if (url.hostname.includes('*')) return undefined
  return url.pathname === '/' && !url.search && !url.hash ? url.origin : undefined
}
