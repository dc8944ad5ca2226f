import { managers, type StaffRole } from './roles.ts'

/** The fields of a shop that every route needs. */
export type ShopContext = {
  readonly id: string
  readonly merchantId: string
  readonly currency: string
  readonly mode: 'TEST' | 'LIVE'
  readonly origins: readonly string[]
  /** IANA time zone of the shop's days. */
  readonly timeZone: string
}

/** Who sends a request, as its credentials prove. */
export type Principal =
  | { readonly kind: 'anonymous'; readonly id: 'anonymous' }
  | { readonly kind: 'superAdmin'; readonly id: string; readonly sessionId: string }
  /** `role`: the merchant's role in the shop of the request; undefined without a shop. */
  | { readonly kind: 'merchant'; readonly id: string; readonly sessionId: string; readonly role?: StaffRole | undefined }
  | { readonly kind: 'customer'; readonly id: string; readonly sessionId: string; readonly shopId: string }
  | KeyPrincipal
  | { readonly kind: 'integration'; readonly id: 'integration' }

/** A caller with an access token. */
export type TokenPrincipal = Extract<Principal, { readonly sessionId: string }>

/** A caller with an API key of a shop. */
export type KeyPrincipal = {
  readonly kind: 'key'
  readonly id: string
  readonly scopes: readonly ('storefront' | 'server')[]
  readonly shop: ShopContext
}

/** The result of authentication. */
export type Admission = {
  readonly principal: Principal
  /** The shop of the request; undefined if the route has none. */
  readonly shop: ShopContext | undefined
  /** The caller named a shop without access. The request is refused after its body was validated. */
  readonly shopIsMissing?: boolean
}

/** The principal of a request without credentials. */
export const anonymous: Principal = { kind: 'anonymous', id: 'anonymous' }

/** Looks up credentials and shops. Undefined: unknown or no longer valid. */
export type Identity = {
  ofToken(token: string): Promise<TokenPrincipal | undefined>
  ofKey(key: string): Promise<KeyPrincipal | undefined>
  /** `ofKey` from the cache; undefined if it is not cached. */
  keyNow(key: string): KeyPrincipal | undefined
  /** Returns the shop with this handle, also a suspended one. */
  shopNamed(name: string): Promise<ShopContext | undefined>
  /** Returns the shop with this handle, unless it is suspended. */
  publicShopNamed(name: string): Promise<ShopContext | undefined>
  /** Returns the shop with this id, also a suspended one. */
  shop(id: string): Promise<ShopContext | undefined>
  /**
   * Returns a shop in which the user works, and the role there: the one with this id, or the first that they joined.
   * Not cached.
   */
  membershipOf(userId: string, shopId: string | undefined): Promise<{ readonly shop: ShopContext; readonly role: StaffRole } | undefined>
}

/** Returns whether the caller may export lists of the shop: owners, managers and the secret key. */
export function canExport(principal: Principal): boolean {
  if (principal.kind === 'key') return principal.scopes.includes('server')
  return principal.kind === 'merchant' && principal.role !== undefined && (managers as readonly StaffRole[]).includes(principal.role)
}
