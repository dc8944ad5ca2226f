import type { apiKeys, ShopPages, shopHosts, shops, wallets } from '../../../../db/schema/shop.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { dayMs } from '../../../lib/day.ts'
import { literalAddressOf } from '../../../lib/networks.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type Shop = typeof shops.$inferSelect
export type ApiKey = typeof apiKeys.$inferSelect
export type Wallet = typeof wallets.$inferSelect
/** Values that a storefront needs: key and wallet (null if there is none) and language. */
export type PublicIdentity = { readonly publishableKey: string | null; readonly walletAddress: string | null; readonly language: string }
export type ShopHost = typeof shopHosts.$inferSelect
export type ShopStatus = Shop['status']
/** Filters of the operator's list of shops; undefined does not filter. */
export type ShopFilter = {
  readonly q: string | undefined
  readonly status: ShopStatus | undefined
  readonly mode: Shop['mode'] | undefined
}

/** KYB_VERIFIED: the merchant's business is approved. */
export const shopTransitions = assertReachable('ACTIVE', {
  ACTIVE: ['KYB_VERIFIED', 'SUSPENDED'],
  KYB_VERIFIED: ['SUSPENDED'],
  SUSPENDED: ['ACTIVE', 'KYB_VERIFIED'],
} as const satisfies Transitions<ShopStatus>)
export const shopStatuses = statesOf(shopTransitions)

/** Returns whether the public finds the shop and can buy. */
export const isOpen = ({ status }: Pick<Shop, 'status'>): boolean => status !== 'SUSPENDED'

/**
 * Returns the status after an operator's request: they suspend and restore. KYB decides what a shop is restored to, so
 * that one approved meanwhile comes back verified.
 * @throws AppError CONFLICT
 */
export function resolveStatus(
  { status }: Pick<Shop, 'status'>,
  requested: ShopStatus,
  { isApproved }: { isApproved: boolean },
): ShopStatus {
  if (requested === status || requested === 'SUSPENDED') return requested
  if (status !== 'SUSPENDED')
    throw new AppError('CONFLICT', 'The shop is not suspended, so its status cannot be restored. Only a KYB decision verifies a shop')
  if (requested === 'KYB_VERIFIED' && !isApproved)
    throw new AppError('CONFLICT', 'The merchant has no approved KYB record. Set the status to ACTIVE')
  return isApproved ? 'KYB_VERIFIED' : 'ACTIVE'
}

/** The fields of a key and its shop that every request needs. */
export type KeyAndShop = Readonly<Pick<ApiKey, 'id' | 'mode' | 'scopes' | 'expiresAt' | 'lastUsedAt'>> & {
  readonly shop: Readonly<Pick<Shop, 'id' | 'merchantId' | 'currency' | 'mode' | 'origins' | 'timeZone'>>
  /** The whole shop, if it was read with the key and is not cached. */
  readonly whole?: Readonly<Shop> | undefined
}
/** A shop's handle: lower case, no dot (host names have one), 3 to 63 characters. */
export const shopNamePattern = '^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$'

/** Names that look like the instance's own, in paths and as subdomains; versions (`v2`) in addition. */
const reservedNames: ReadonlySet<string> = new Set(
  `about account accounts addresses admin administrator affiliates api app assets auth billing blog blogs cart cdn checkout collection-v2
  collections console contact custody customer customers dashboard demo-shop dev docs favicon ftp giftcard health help host hosts imap internal
  kyb lending lenders live login logout mail media merchant merchants metrics name ns1 ns2 null openapi operator orders pages password payments
  pop private product-v2 products public root sandbox security settings shop shops signup smtp souk staff static status superadmin support
  system test trust undefined v3 webhook-endpoints webhooks www`.split(/\s+/),
)

/** Returns whether shops must not use the name. */
export const isReservedName = (name: string): boolean => reservedNames.has(name) || /^v\d+$/.test(name)

/** Per shop. */
export const privateKeyReadsPerHour = 10
export const keyRotationsPerHour = 10
/** How long expired keys are kept. */
export const expiredKeysRetentionMs = 30 * dayMs
export const graceSecondsMax = 86_400
/** Returns what a sealed API key is bound to. */
export const keySeal = (shopId: string, keyId: string): string => `${shopId}/api-key/${keyId}`
/** Returns what the sealed private key of a wallet is bound to. */
export const walletSeal = (shopId: string): string => `${shopId}/wallet`

export const hostsPerShopMax = 20
/** Time without a DNS proof after which a verified host name is lost. */
export const hostMissingMaxMs = 7 * dayMs
/** Returns the name of the TXT record that proves a host name. */
export const proofName = (host: string): string => `_souk.${host}`
/** Prefix of the record's value, so that the zone's owner recognises it. */
export const proofPrefix = 'souk-verification='

/** Returns whether a string, or consecutive strings joined, equal the proof. Long records are written in parts. */
export const matchesProof = (strings: readonly string[], proof: string): boolean =>
  strings.some((_, from) => {
    let joined = ''
    for (let at = from; at < strings.length && joined.length < proof.length; at++) joined += strings[at]?.trim()
    return joined === proof
  })

/** Normalises an origin to scheme, host and port; undefined if it is none. */
export function normalOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined
  // Browsers send no wildcards.
  if (url.hostname.includes('*')) return undefined
  return url.pathname === '/' && !url.search && !url.hash ? url.origin : undefined
}

/**
 * Returns an IANA time zone in its own spelling: `asia/dubai` is `Asia/Dubai`. `Intl` keeps other names of a zone, and
 * also accepts offsets such as `+05:30`, which have no daylight saving time.
 * @throws AppError INVALID, naming the field
 */
export function timeZoneOf(name: string, field: string): string {
  try {
    if (/^[A-Za-z]/.test(name)) return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    // Unknown.
  }
  throw invalidField(field, 'must be an IANA time zone such as Asia/Dubai')
}

/**
 * Requires https, or http on this machine, for pages that mails link to.
 * @throws AppError INVALID, naming the field
 */
export function assertPages(pages: ShopPages): void {
  for (const [name, page] of Object.entries(pages)) {
    const url = typeof page === 'string' ? URL.parse(page) : undefined
    if (page === null || page === undefined) continue
    const invalid = (rule: string) => invalidField(`pages.${name}`, rule)
    if (!url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(literalAddressOf(url)))))
      throw invalid('must be an https:// URL, or http://localhost')
    if (url.username || url.password) throw invalid('must not contain a user name or password')
  }
}

const isLoopback = (address: string | undefined): boolean => address !== undefined && (address.startsWith('127.') || address === '::1')

/** Returns the audited difference. Contact and postal address are named without values. */
export const shopDifference = (before: Shop, after: Shop): Difference =>
  differenceOf(before, after, [
    ...(['name', 'title', 'logoUrl', 'currency', 'country', 'mode', 'status', 'verifiedAt'] as const),
    ...([
      'origins',
      'taxRates',
      'shippingMethods',
      'showQuantity',
      'strictProvinces',
      'returnDays',
      'pages',
      'timeZone',
      'legalName',
      'taxNumber',
    ] as const),
  ])
