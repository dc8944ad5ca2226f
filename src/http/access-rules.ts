import type { KeyPrincipal } from '../core/principal.ts'
import { fulfillers, managers, owners, readers, type StaffRole, staffRoles } from '../core/roles.ts'

export type TokenKind = 'merchant' | 'customer' | 'superAdmin'
export type KeyScope = KeyPrincipal['scopes'][number]

/** What lets merchants in says in which roles: without that it does not compile. */
type SaysRoles =
  | { readonly tokens: readonly TokenKind[]; readonly roles: NonNullable<AccessRule['roles']> }
  | { readonly tokens?: readonly Exclude<TokenKind, 'merchant'>[]; readonly roles?: undefined }

/** What a word of `access` stands for. One that is not `unguarded` names what opens the route; without a name nothing does. */
export type AccessRule = {
  /** Who may call, in the words of the document. */
  readonly who: string
  /** Access tokens of these kinds open the route. Merchants may name one of the shops that they work in (`x-shop-id`). */
  readonly tokens?: readonly TokenKind[]
  /** In which roles in the shop merchants may call; `account`: it is about their own account, and asks for no shop and no role. */
  readonly roles?: readonly StaffRole[] | 'account'
  /** An API key with this scope opens it. */
  readonly key?: KeyScope
  /** The key of the integration layer opens it, and nothing else. */
  readonly integrationKey?: true
  /** The route finds out by itself who calls. */
  readonly unguarded?: true
  /** What an unguarded route may ask for, for the document. */
  readonly mayAskFor?: 'metricsToken'
  /** Pages of any origin may call, and read the answers; what a shop lists as its origins counts besides. */
  readonly browsers?: true
  /** Super admins only from the addresses and countries that the settings name, and what is refused goes on record. */
  readonly whereAllowed?: true
  /** Of merchants only those whose KYB record is approved. */
  readonly approvedKyb?: true
  /**
   * What changes something is limited for whoever is not known: nobody, publishable keys, customers; see write-limit.ts. So must every
   * rule that lets customers in: an account costs nothing.
   */
  readonly limitsWrites?: true
  /** What is sent is kept as it came, and read by the route: its signature is over the bytes. */
  readonly raw?: true
}

const rules = {
  public: { who: 'anybody', unguarded: true, browsers: true, limitsWrites: true },
  page: { who: 'anybody, for a page of this program: no page of another origin may read it', unguarded: true },
  login: { who: 'anybody, with a password, whose failures are limited', unguarded: true, browsers: true },
  console: { who: "the console's own page, by its cookie, a password, or the token of the first run", unguarded: true, limitsWrites: true },
  loggedIn: {
    who: 'whoever is logged in',
    tokens: ['merchant', 'customer', 'superAdmin'],
    roles: 'account',
    browsers: true,
    limitsWrites: true,
  },
  account: { who: 'merchants, of their own account', tokens: ['merchant'], roles: 'account' },
  merchantOrSuperAdmin: { who: 'merchants and super admins, of their own account', tokens: ['merchant', 'superAdmin'], roles: 'account' },
  staff: { who: 'merchants, in whatever role', tokens: ['merchant'], roles: staffRoles },
  merchant: { who: 'merchants who are OWNER or MANAGER', tokens: ['merchant'], roles: managers },
  owner: { who: 'merchants who are OWNER', tokens: ['merchant'], roles: owners },
  approvedMerchant: {
    who: 'merchants who are OWNER of a shop whose KYB record is approved',
    tokens: ['merchant'],
    roles: owners,
    approvedKyb: true,
  },
  approvedMerchantOrSuperAdmin: {
    who: 'merchants who are OWNER of a shop whose KYB record is approved, and super admins',
    tokens: ['merchant', 'superAdmin'],
    roles: owners,
    approvedKyb: true,
  },
  ownerManagement: { who: "merchants who are OWNER, and the shop's secret key", tokens: ['merchant'], roles: owners, key: 'server' },
  management: {
    who: "merchants who are OWNER or MANAGER, and the shop's secret key",
    tokens: ['merchant'],
    roles: managers,
    key: 'server',
  },
  catalogRead: {
    who: "merchants who are OWNER, MANAGER or READ_ONLY, and the shop's secret key",
    tokens: ['merchant'],
    roles: readers,
    key: 'server',
  },
  customerRead: {
    who: "merchants who are OWNER, MANAGER or READ_ONLY, and the shop's secret key",
    tokens: ['merchant'],
    roles: readers,
    key: 'server',
  },
  orderRead: { who: "merchants in whatever role, and the shop's secret key", tokens: ['merchant'], roles: staffRoles, key: 'server' },
  fulfilment: {
    who: "merchants who are OWNER, MANAGER or FULFILMENT, and the shop's secret key",
    tokens: ['merchant'],
    roles: fulfillers,
    key: 'server',
  },
  storefront: {
    who: "merchants who are OWNER or MANAGER, and the shop's publishable or secret key",
    tokens: ['merchant'],
    roles: managers,
    key: 'storefront',
    browsers: true,
    limitsWrites: true,
  },
  storefrontRead: {
    who: "merchants who are OWNER, MANAGER or READ_ONLY, and the shop's publishable or secret key",
    tokens: ['merchant'],
    roles: readers,
    key: 'storefront',
    browsers: true,
    limitsWrites: true,
  },
  cart: {
    who: "the shop's publishable or secret key, and its customers",
    tokens: ['customer'],
    key: 'storefront',
    browsers: true,
    limitsWrites: true,
  },
  shopper: {
    who: "the shop's customers, its publishable or secret key, and merchants who are OWNER or MANAGER",
    tokens: ['customer', 'merchant'],
    roles: managers,
    key: 'storefront',
    browsers: true,
    limitsWrites: true,
  },
  customer: { who: "the shop's customers", tokens: ['customer'], browsers: true, limitsWrites: true },
  order: {
    who: "merchants in whatever role, the shop's secret key, and its customers for their own",
    tokens: ['merchant', 'customer'],
    roles: staffRoles,
    key: 'server',
    browsers: true,
    limitsWrites: true,
  },
  address: {
    who: "merchants who are OWNER or MANAGER, the shop's secret key, and its customers for their own",
    tokens: ['merchant', 'customer'],
    roles: managers,
    key: 'server',
    browsers: true,
    limitsWrites: true,
  },
  addressRead: {
    who: "merchants who are OWNER, MANAGER or READ_ONLY, the shop's secret key, and its customers for their own",
    tokens: ['merchant', 'customer'],
    roles: readers,
    key: 'server',
    browsers: true,
    limitsWrites: true,
  },
  superAdmin: { who: 'super admins', tokens: ['superAdmin'] },
  operator: {
    who: 'super admins, whose address OPERATOR_IP_ALLOWLIST holds, and whose country OPERATOR_COUNTRIES names where that is set (a 403 each, in this order, which says which of the three it was)',
    tokens: ['superAdmin'],
    whereAllowed: true,
  },
  integration: { who: 'the integration layer', integrationKey: true },
  processor: { who: 'payment processors, by their signature', unguarded: true, raw: true },
  provider: { who: 'service providers, by their signature', unguarded: true, raw: true, limitsWrites: true },
  internal: { who: 'callers on this machine, or with the metrics token', unguarded: true, mayAskFor: 'metricsToken' },
} as const satisfies Record<string, AccessRule & SaysRoles>

/** The words that a route may state. */
export type Access = keyof typeof rules

/**
 * Who may call what: one entry a word. The guard (access.ts), what browsers of other origins may do, the document and the hot
 * reads derive from it.
 */
export const accessRules: Readonly<Record<Access, AccessRule>> = rules

/** Whether pages of any origin may call a route that states this; not where nothing is stated. */
export const isForBrowsers = (access: Access | undefined): boolean => access !== undefined && accessRules[access].browsers === true

/** Whether requests by this method may be one too many under a rule: those that change something, for shoppers and strangers. */
export const isLimited = ({ limitsWrites }: AccessRule, method: string): boolean => limitsWrites === true && method !== 'GET'

/** Whether a valid key has the scope that a rule asks for. */
export const isOpenedBy = ({ key }: AccessRule, { scopes }: KeyPrincipal): boolean => key !== undefined && scopes.includes(key)

/** Whether a key decides alone who calls. Otherwise a token that comes with it may say which customer it is. */
export const decidesAlone = ({ tokens = [] }: AccessRule, { scopes }: KeyPrincipal): boolean =>
  !tokens.includes('customer') || scopes.includes('server')
