import { managers, type StaffRole } from './roles.ts'

/** The shop a request is about, as far as every route needs it. */
export type ShopContext = {
  readonly id: string
  readonly merchantId: string
  readonly currency: string
  readonly mode: 'TEST' | 'LIVE'
  readonly origins: readonly string[]
}

export type Principal =
  | { readonly kind: 'anonymous'; readonly id: 'anonymous' }
  | { readonly kind: 'superAdmin'; readonly id: string; readonly sessionId: string }
  /** `role`: in the shop that the request is about; undefined where it is about none. */
  | { readonly kind: 'merchant'; readonly id: string; readonly sessionId: string; readonly role?: StaffRole | undefined }
  | { readonly kind: 'customer'; readonly id: string; readonly sessionId: string; readonly shopId: string }
  | KeyPrincipal
  | { readonly kind: 'integration'; readonly id: 'integration' }

/** Whoever has an access token. */
export type TokenPrincipal = Extract<Principal, { readonly sessionId: string }>

/** Whoever has an API key of a shop. */
export type KeyPrincipal = {
  readonly kind: 'key'
  readonly id: string
  readonly scopes: readonly ('storefront' | 'server')[]
  readonly shop: ShopContext
}

/** Whom a request was let in as. */
export type Admitted = {
  readonly principal: Principal
  /** The shop that the request is about; undefined on routes that have none. */
  readonly shop: ShopContext | undefined
  /** The caller named a shop that is not theirs: answered once the request is known to be well-formed. */
  readonly shopIsMissing?: boolean
}

export const anonymous: Principal = { kind: 'anonymous', id: 'anonymous' }

/** Who stands behind a credential. Undefined: nobody, or no longer. */
export type Identity = {
  ofToken(token: string): Promise<TokenPrincipal | undefined>
  ofKey(key: string): Promise<KeyPrincipal | undefined>
  /** The same where it can be said at once; undefined also where it cannot. */
  keyNow(key: string): KeyPrincipal | undefined
  /** The shop with this handle, whoever asks; also one that is suspended. */
  shopNamed(name: string): Promise<ShopContext | undefined>
  /** The same as anybody finds it: not one that is suspended. */
  publicShopNamed(name: string): Promise<ShopContext | undefined>
  /** The shop with this id, whoever asks. */
  shop(id: string): Promise<ShopContext | undefined>
  /** The shop with this id, or the first that they came to, in which somebody works, and as what; read anew for each request. */
  placeOf(userId: string, shopId: string | undefined): Promise<{ readonly shop: ShopContext; readonly role: StaffRole } | undefined>
}

/** Whether who calls may take a shop's lists along (CSV): managers and owners, and the shop's own secret key. */
export function mayExport(principal: Principal): boolean {
  if (principal.kind === 'key') return principal.scopes.includes('server')
  return principal.kind === 'merchant' && principal.role !== undefined && (managers as readonly StaffRole[]).includes(principal.role)
}
