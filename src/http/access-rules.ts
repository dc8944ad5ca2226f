import type { KeyPrincipal } from '../core/principal.ts'
import { fulfillers, managers, owners, readers, type StaffRole, staffRoles } from '../core/roles.ts'

export type TokenKind = 'merchant' | 'customer' | 'superAdmin'
type KeyScope = KeyPrincipal['scopes'][number]

/** A rule that admits merchants must state roles; otherwise it does not compile. */
type RoleRequirement =
  | { readonly tokens: readonly TokenKind[]; readonly roles: NonNullable<AccessRule['roles']> }
  | { readonly tokens?: readonly Exclude<TokenKind, 'merchant'>[]; readonly roles?: undefined }

/** The meaning of an `access` value. A rule that is not `unguarded` names what opens the route. */
export type AccessRule = {
  /** Who may call, as the OpenAPI document says it. */
  readonly who: string
  /** Kinds of access tokens that open the route. Merchants may select a shop by `x-shop-id`. */
  readonly tokens?: readonly TokenKind[]
  /** Roles in the shop that merchants need. `account`: the route is about their own account and needs no shop. */
  readonly roles?: readonly StaffRole[] | 'account'
  /** Scope of an API key that opens the route. */
  readonly key?: KeyScope
  /** Only the key of the integration layer opens the route. */
  readonly integrationKey?: true
  /** The route authenticates the caller itself. */
  readonly unguarded?: true
  /** Credential of an unguarded route, for the document. */
  readonly mayAskFor?: 'metricsToken'
  /** Pages of any origin may call the route and read responses, subject to the origins that the shop lists. */
  readonly browsers?: true
  /** Admits super admins only from the allowed addresses and countries. Refusals enter the audit log. */
  readonly whereAllowed?: true
  /** Admits merchants only where SIGNUP_ENABLED. */
  readonly opensShops?: true
  /** Admits only merchants with an approved KYB record. */
  readonly approvedKyb?: true
  /**
   * Limits changes of anonymous callers, publishable keys and customers (core/limits/rate-limit.ts). Every rule that
   * admits customers needs it, because accounts are free.
   */
  readonly limitsWrites?: true
  /** The route reads the raw body, because its signature covers the bytes. */
  readonly raw?: true
}

const rules = {
  public: { who: 'public', unguarded: true, browsers: true, limitsWrites: true },
  page: { who: 'public; pages of other origins cannot read it', unguarded: true },
  login: { who: 'public, with a password; failed attempts are limited', unguarded: true, browsers: true },
  console: { who: "the console's own page, with its cookie, a password, or the setup token", unguarded: true, limitsWrites: true },
  loggedIn: {
    who: 'every logged-in account',
    tokens: ['merchant', 'customer', 'superAdmin'],
    roles: 'account',
    browsers: true,
    limitsWrites: true,
  },
  account: { who: 'merchants', tokens: ['merchant'], roles: 'account' },
  merchantOrSuperAdmin: { who: 'merchants and super admins', tokens: ['merchant', 'superAdmin'], roles: 'account' },
  shopOpener: {
    who: 'super admins and, if SIGNUP_ENABLED is true, merchants',
    tokens: ['merchant', 'superAdmin'],
    roles: 'account',
    opensShops: true,
  },
  staff: { who: 'merchants of every role', tokens: ['merchant'], roles: staffRoles },
  merchant: { who: 'merchants with the role OWNER or MANAGER', tokens: ['merchant'], roles: managers },
  owner: { who: 'merchants with the role OWNER', tokens: ['merchant'], roles: owners },
  approvedMerchant: {
    who: 'merchants with the role OWNER and an approved KYB record',
    tokens: ['merchant'],
    roles: owners,
    approvedKyb: true,
  },
  approvedMerchantOrSuperAdmin: {
    who: 'merchants with the role OWNER and an approved KYB record, and super admins',
    tokens: ['merchant', 'superAdmin'],
    roles: owners,
    approvedKyb: true,
  },
  ownerManagement: { who: 'merchants with the role OWNER, and the secret key', tokens: ['merchant'], roles: owners, key: 'server' },
  management: {
    who: 'merchants with the role OWNER or MANAGER, and the secret key',
    tokens: ['merchant'],
    roles: managers,
    key: 'server',
  },
  catalogRead: {
    who: 'merchants with the role OWNER, MANAGER or READ_ONLY, and the secret key',
    tokens: ['merchant'],
    roles: readers,
    key: 'server',
  },
  customerRead: {
    who: 'merchants with the role OWNER, MANAGER or READ_ONLY, and the secret key',
    tokens: ['merchant'],
    roles: readers,
    key: 'server',
  },
  orderRead: { who: 'merchants of every role, and the secret key', tokens: ['merchant'], roles: staffRoles, key: 'server' },
  fulfilment: {
    who: 'merchants with the role OWNER, MANAGER or FULFILMENT, and the secret key',
    tokens: ['merchant'],
    roles: fulfillers,
    key: 'server',
  },
  storefront: {
    who: 'merchants with the role OWNER or MANAGER, and the publishable and secret key',
    tokens: ['merchant'],
    roles: managers,
    key: 'storefront',
    browsers: true,
    limitsWrites: true,
  },
  storefrontRead: {
    who: 'merchants with the role OWNER, MANAGER or READ_ONLY, and the publishable and secret key',
    tokens: ['merchant'],
    roles: readers,
    key: 'storefront',
    browsers: true,
    limitsWrites: true,
  },
  cart: {
    who: 'the publishable and secret key, and customers',
    tokens: ['customer'],
    key: 'storefront',
    browsers: true,
    limitsWrites: true,
  },
  shopper: {
    who: 'customers, the publishable and secret key, and merchants with the role OWNER or MANAGER',
    tokens: ['customer', 'merchant'],
    roles: managers,
    key: 'storefront',
    browsers: true,
    limitsWrites: true,
  },
  customer: { who: 'customers', tokens: ['customer'], browsers: true, limitsWrites: true },
  order: {
    who: 'merchants of every role, the secret key, and customers for their own records',
    tokens: ['merchant', 'customer'],
    roles: staffRoles,
    key: 'server',
    browsers: true,
    limitsWrites: true,
  },
  address: {
    who: 'merchants with the role OWNER or MANAGER, the secret key, and customers for their own records',
    tokens: ['merchant', 'customer'],
    roles: managers,
    key: 'server',
    browsers: true,
    limitsWrites: true,
  },
  addressRead: {
    who: 'merchants with the role OWNER, MANAGER or READ_ONLY, the secret key, and customers for their own records',
    tokens: ['merchant', 'customer'],
    roles: readers,
    key: 'server',
    browsers: true,
    limitsWrites: true,
  },
  superAdmin: { who: 'super admins', tokens: ['superAdmin'] },
  operator: {
    who: 'super admins with a client address in OPERATOR_IP_ALLOWLIST and, if it is set, a country in OPERATOR_COUNTRIES; otherwise 403, and the message names the check that failed',
    tokens: ['superAdmin'],
    whereAllowed: true,
  },
  integration: { who: 'the integration layer', integrationKey: true },
  processor: { who: 'payment processors, by their signature', unguarded: true, raw: true },
  provider: { who: 'service providers, by their signature', unguarded: true, raw: true, limitsWrites: true },
  platform: {
    who: 'platforms of agents, which name their profile, and sign the request if the shop requires it',
    unguarded: true,
    raw: true,
  },
  internal: { who: 'programs on this machine, and clients with the metrics token', unguarded: true, mayAskFor: 'metricsToken' },
} as const satisfies Record<string, AccessRule & RoleRequirement>

/** The values of a route's `access`. */
export type Access = keyof typeof rules

/**
 * Who may call what. In shops where a super admin works, rules of merchants apply to them too. The guard (access.ts),
 * CORS, the document and the response cache derive from it.
 */
export const accessRules: Readonly<Record<Access, AccessRule>> = rules

/** Returns whether pages of any origin may call a route with this access. */
export const isForBrowsers = (access: Access | undefined): boolean => access !== undefined && accessRules[access].browsers === true

/** Returns whether a rule limits requests of this method. */
export const isLimited = ({ limitsWrites }: AccessRule, method: string): boolean => limitsWrites === true && method !== 'GET'

/** Returns whether a valid key has the scope of a rule. */
export const isOpenedByKey = ({ key }: AccessRule, { scopes }: KeyPrincipal): boolean => key !== undefined && scopes.includes(key)

/** Returns whether a key alone decides who calls. Otherwise a customer's token in the same request has precedence. */
export const decidesAlone = ({ tokens = [] }: AccessRule, { scopes }: KeyPrincipal): boolean =>
  !tokens.includes('customer') || scopes.includes('server')
