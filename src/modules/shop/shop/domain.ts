import type { apiKeys, ShopPages, shopHosts, shops, wallets } from '../../../../db/schema/shop.ts'
import { AppError } from '../../../core/errors.ts'
import { dayMs } from '../../../lib/day.ts'
import { literalAddressOf } from '../../../lib/networks.ts'
import { reachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type Shop = typeof shops.$inferSelect
export type ApiKey = typeof apiKeys.$inferSelect
export type Wallet = typeof wallets.$inferSelect
/** What a shop's storefront identifies itself with, null where there is none, and the language that it is to speak. */
export type PublicIdentity = { readonly publishableKey: string | null; readonly walletAddress: string | null; readonly language: string }
export type ShopHost = typeof shopHosts.$inferSelect
export type ShopStatus = Shop['status']
/** Filters of the operator's list of shops; undefined does not filter. */
export type ShopFilter = {
  readonly q: string | undefined
  readonly status: ShopStatus | undefined
  readonly mode: Shop['mode'] | undefined
}

/** What may become of a shop. KYB_VERIFIED is the shop of a merchant whose business was approved. */
export const shopTransitions = reachable('ACTIVE', {
  ACTIVE: ['KYB_VERIFIED', 'SUSPENDED'],
  KYB_VERIFIED: ['SUSPENDED'],
  SUSPENDED: ['ACTIVE', 'KYB_VERIFIED'],
} as const satisfies Transitions<ShopStatus>)
export const shopStatuses = statesOf(shopTransitions)

/** Whether anybody but those who run it finds a shop and may buy in it. */
export const isOpen = ({ status }: Pick<Shop, 'status'>): boolean => status !== 'SUSPENDED'

/**
 * The status that a shop gets when an operator asks for one: they suspend and restore. What it is restored to is for KYB to say, so
 * that one whose merchant was approved meanwhile comes back verified.
 * @throws AppError CONFLICT
 */
export function statusAskedFor({ status }: Pick<Shop, 'status'>, asked: ShopStatus, { isApproved }: { isApproved: boolean }): ShopStatus {
  if (asked === status || asked === 'SUSPENDED') return asked
  if (status !== 'SUSPENDED')
    throw new AppError('CONFLICT', 'The shop is not suspended: only a KYB decision verifies it, and nothing undoes that')
  if (asked === 'KYB_VERIFIED' && !isApproved)
    throw new AppError('CONFLICT', 'The merchant has no approved KYB record: restore the shop as ACTIVE')
  return isApproved ? 'KYB_VERIFIED' : 'ACTIVE'
}

/** Of a key and its shop, what every request under the key needs. */
export type KnownKey = Readonly<Pick<ApiKey, 'id' | 'mode' | 'scopes' | 'expiresAt' | 'lastUsedAt'>> & {
  readonly shop: Readonly<Pick<Shop, 'id' | 'merchantId' | 'currency' | 'mode' | 'origins'>>
  /** All of the shop as it was read with the key, where neither is remembered. */
  readonly whole?: Readonly<Shop> | undefined
}
/** A shop's handle: lower case, no dot (host names have one), 3 to 63 characters. */
export const shopNamePattern = '^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$'

/** Names that look like the instance's own, in paths and before a domain; besides those of versions (`v2`). */
const reservedNames: ReadonlySet<string> = new Set(
  `about account accounts addresses admin administrator affiliates api app assets auth billing blog blogs cart cdn checkout collection-v2
  collections console contact custody customer customers dashboard demo-shop dev docs favicon ftp giftcard health help host hosts imap internal
  kyb lending lenders live login logout mail media merchant merchants metrics name ns1 ns2 null openapi operator orders pages password payments
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

export const hostsPerShopMax = 20
/** How long the DNS may say that the proof of a verified host name is gone before it is lost. */
export const hostMissingMaxMs = 7 * dayMs
/** The name of the TXT record that proves a host name to be a shop's. */
export const proofName = (host: string): string => `_souk.${host}`
/** What its value begins with, so that whoever finds it in their zone knows whose it is. */
export const proofPrefix = 'souk-verification='

/** Whether one of these strings, or several that follow each other, say the proof: whoever writes a record may write it in parts. */
export const says = (strings: readonly string[], proof: string): boolean =>
  strings.some((_, from) => {
    let said = ''
    for (let at = from; at < strings.length && said.length < proof.length; at++) said += strings[at]?.trim()
    return said === proof
  })

/** What of an origin counts: scheme, host and port, as browsers send it. Undefined when it is none. */
export function normalOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined
  // A wildcard is no origin that a browser would send.
  if (url.hostname.includes('*')) return undefined
  return url.pathname === '/' && !url.search && !url.hash ? url.origin : undefined
}

/** Whether it is a time zone by its IANA name. `Intl` takes offsets such as `+05:30` too, which are none: they know no summer. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/**
 * Where the links of mails may lead: pages that are served safely, or on somebody's own machine.
 * @throws AppError INVALID, naming the field
 */
export function assertPages(pages: ShopPages): void {
  for (const [name, page] of Object.entries(pages)) {
    const url = typeof page === 'string' ? URL.parse(page) : undefined
    if (page === null || page === undefined) continue
    const invalid = (rule: string) => new AppError('INVALID', `pages.${name} (body): ${rule}`)
    if (!url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(literalAddressOf(url)))))
      throw invalid('an address that begins with https://, or one of this machine (http://localhost)')
    if (url.username || url.password) throw invalid('must hold no user name and no password')
  }
}

const isLoopback = (address: string | undefined): boolean => address !== undefined && (address.startsWith('127.') || address === '::1')

/** What of a shop is on record when it changes: its contact and postal address by their names alone. */
export const shopDifference = (before: Shop, after: Shop): Difference =>
  differenceOf(before, after, [
    ...(['name', 'title', 'logoUrl', 'currency', 'country', 'mode', 'status', 'verifiedAt'] as const),
    ...(['origins', 'taxRates', 'shippingMethods', 'showQuantity', 'strictProvinces', 'pages', 'timeZone'] as const),
  ])
