import type { apiKeys, shops, wallets } from '../../../db/schema/shop.ts'

export type Shop = typeof shops.$inferSelect
export type ApiKey = typeof apiKeys.$inferSelect
export type Wallet = typeof wallets.$inferSelect

/** Of a key and its shop, what every request under the key needs. */
export type KnownKey = Readonly<Pick<ApiKey, 'id' | 'mode' | 'scopes' | 'expiresAt' | 'lastUsedAt'>> & {
  readonly shop: Readonly<Pick<Shop, 'id' | 'merchantId' | 'currency' | 'mode' | 'origins'>>
}
/** A shop's handle: lower case, no dot (host names have one), 3 to 63 characters. */
export const shopNamePattern = '^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$'

/** Readings of the secret key, and as many rotations. */
export const privateKeyTimesPerHour = 10
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
