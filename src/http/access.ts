import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import { assertOrigin } from '../core/origin.ts'
import { anonymous, type Principal, type ShopContext } from '../core/principal.ts'
import { sameSecret } from '../lib/seal.ts'
import { actorOf } from './actor.ts'
import { isUpload, notJson } from './body.ts'
import { browserHeaders } from './caching.ts'
import type { HttpDeps } from './deps.ts'
import { assertShape } from './shape.ts'

/**
 * Who may call a route:
 * `public` anybody, whatever credentials come along; `merchant` a merchant, for one of their shops; `management` a merchant or a
 * secret key of the shop; `storefront` those and a publishable key; `cart` a key of the shop or one of its customers; `shopper`
 * those and a merchant; `secretKey` a secret key; `secretKeyOrCustomer` says it; `order` a merchant, a secret key or a customer;
 * `superAdmin` the operator's people; `integration` the integration layer's key; `processor` whoever signs as a payment
 * processor, which the route checks; `internal` decides by itself (metrics).
 */
export const accesses = [
  'public',
  'merchant',
  'management',
  'storefront',
  'cart',
  'shopper',
  'secretKey',
  'secretKeyOrCustomer',
  'order',
  'superAdmin',
  'integration',
  'processor',
  'internal',
] as const
export type Access = (typeof accesses)[number]

type TokenKind = 'merchant' | 'customer' | 'superAdmin'
/** What opens a route: a key with this scope, or a token of one of these kinds. */
type Opening = { readonly key?: 'storefront' | 'server'; readonly tokens?: readonly TokenKind[] }

const openings = {
  merchant: { tokens: ['merchant'] },
  management: { key: 'server', tokens: ['merchant'] },
  storefront: { key: 'storefront', tokens: ['merchant'] },
  cart: { key: 'storefront', tokens: ['customer'] },
  shopper: { key: 'storefront', tokens: ['customer', 'merchant'] },
  secretKey: { key: 'server' },
  secretKeyOrCustomer: { key: 'server', tokens: ['customer'] },
  order: { key: 'server', tokens: ['merchant', 'customer'] },
  superAdmin: { tokens: ['superAdmin'] },
} as const satisfies Partial<Record<Access, Opening>>

/** These routes find out by themselves who calls. */
type Unguarded = 'public' | 'processor' | 'internal'
const isUnguarded = (access: Access): access is Unguarded => access === 'public' || access === 'processor' || access === 'internal'

/** Pages in browsers may call what is public and what a publishable key opens. */
const isForBrowsers = (access: Access | undefined): boolean =>
  access === 'public' || access === 'storefront' || access === 'cart' || access === 'shopper'

type Caller = {
  principal: Principal
  /** The shop that the request is about; undefined on routes that have none. */
  shop: ShopContext | undefined
  /** The caller named a shop that is not theirs: answered once the request is known to be well-formed. */
  shopIsMissing?: boolean
}

const nobody: Caller = { principal: anonymous, shop: undefined }

/** Routes by method and path as they were declared, filled while the app is put together. */
const accessOf = new Map<string, Access>()

/** The schemas of their bodies, which are looked at before Elysia touches a body; see shape.ts. */
const bodyOf = new Map<string, TSchema>()

/** Records what each route states. A route that states nothing has no entry, and a test fails. */
export function learnAccess(routes: readonly { method: string; path: string; hooks: { detail?: unknown; body?: unknown } }[]): void {
  for (const { method, path, hooks } of routes) {
    if (typeof hooks.body === 'object') bodyOf.set(`${method} ${path}`, hooks.body as TSchema)
    const stated = (hooks.detail as { 'x-access'?: Access } | undefined)?.['x-access']
    if (stated) accessOf.set(`${method} ${path}`, stated)
  }
}

/** Whether pages of any origin may read the answers of a route: public ones, and those a publishable key opens. */
export function openToBrowsers(method: string, route: string | undefined): boolean {
  return isForBrowsers(accessOf.get(`${method} ${route}`))
}

/** The same for a request that was refused before a route was looked for. */
export function openToBrowsersAt(method: string, pathname: string): boolean {
  const segments = pathname.split('/')
  for (const route of accessOf.keys()) {
    const [routeMethod = '', path = ''] = route.split(' ')
    if (routeMethod === method && openToBrowsers(method, path) && matches(path.split('/'), segments)) return true
  }
  return false
}

const matches = (route: readonly string[], path: readonly string[]) =>
  route.length === path.length && route.every((segment, at) => segment === path[at] || (segment.startsWith(':') && path[at] !== ''))

const unauthenticated = (what: string) => new AppError('UNAUTHENTICATED', what)
const needsToken = () => unauthenticated('A valid access token is required')
const needsKey = () => unauthenticated('A valid API key is required')
const needsEither = () => unauthenticated('A valid API key or access token is required')

const bearerOf = (headers: Headers): string | undefined =>
  /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers.get('authorization') ?? '')?.[1]
/** Carries an API key. */
export const keyHeader = 'x-service-api-key'
const roleOf = (kind: TokenKind) => ({ merchant: 'MERCHANT', customer: 'CUSTOMER', superAdmin: 'SUPER_ADMIN' })[kind]

/** Each route states who may call it: `{ access: 'management' }`. */
export const access = ({ identity, keyring }: Pick<HttpDeps, 'identity' | 'keyring'>) => {
  const callers = new WeakMap<Request, Caller>()

  async function ofToken(headers: Headers): Promise<Principal | undefined> {
    const token = bearerOf(headers)
    return token === undefined ? undefined : identity.ofToken(token)
  }

  async function asToken(headers: Headers, kinds: readonly TokenKind[], refusal: () => AppError): Promise<Caller> {
    const principal = await ofToken(headers)
    if (!principal) throw refusal()
    if (!kinds.some((kind) => kind === principal.kind))
      throw new AppError('FORBIDDEN', `This needs the ${kinds.map(roleOf).join(' or ')} role`)
    if (principal.kind === 'superAdmin') return { principal, shop: undefined }
    const shop =
      principal.kind === 'customer'
        ? await identity.shop(principal.shopId)
        : await identity.shopOf(principal.id, headers.get('x-shop-id') ?? undefined)
    return { principal, shop, shopIsMissing: shop === undefined }
  }

  async function asKey(headers: Headers, scope: 'storefront' | 'server', refusal: () => AppError): Promise<Caller> {
    const principal = await identity.ofKey(headers.get(keyHeader) ?? '')
    if (!principal) throw refusal()
    if (!principal.scopes.includes(scope))
      throw new AppError('FORBIDDEN', 'This API key does not cover this: use the secret key, on a server')
    return { principal, shop: principal.shop }
  }

  async function asIntegration(headers: Headers): Promise<Caller> {
    const key = headers.get('integration-api-key')
    if (!key || !sameSecret(key, keyring.integrationApiKey)) throw unauthenticated('A valid integration-api-key is required')
    return { principal: { kind: 'integration', id: 'integration' }, shop: undefined }
  }

  async function authenticate(required: Exclude<Access, Unguarded>, headers: Headers): Promise<Caller> {
    if (required === 'integration') return asIntegration(headers)
    const { key, tokens }: Opening = openings[required]
    if (!tokens) return asKey(headers, key ?? 'server', needsKey)
    if (!key) return asToken(headers, tokens, needsToken)
    if (!headers.has(keyHeader)) return asToken(headers, tokens, needsEither)
    return asCustomerOfKey(headers, await asKey(headers, key, needsEither), tokens)
  }

  /** A storefront that sends its key with every call sends its customer's token besides: then it is the customer who calls. */
  async function asCustomerOfKey(headers: Headers, byKey: Caller, tokens: readonly TokenKind[]): Promise<Caller> {
    const { principal, shop } = byKey
    if (!tokens.includes('customer') || (principal.kind === 'key' && principal.scopes.includes('server'))) return byKey
    const customer = await ofToken(headers)
    // One that ran out must not make a guest of its customer without a word.
    if (!customer && headers.has('authorization')) throw needsEither()
    return customer?.kind === 'customer' && customer.shopId === shop?.id ? { principal: customer, shop } : byKey
  }

  return new Elysia({ name: 'http.access' }).macro({
    access: (required: Access) => ({
      detail: { 'x-access': required } as object,
      // In transform, because validation runs before resolve: a stranger learns 401, not our schema.
      // The body's shape comes after that. A route's own transform would replace both: no route may have one that is not public,
      // and a public one names checkShape in its own.
      transform: isUnguarded(required) ? [checkShape] : [authenticateAs(required), checkShape],
      resolve: ({ request }: { request: Request }) => {
        const caller = callers.get(request)
        if (!caller && !isUnguarded(required)) throw new Error('a route took over the transform that authenticates')
        const { principal, shop, shopIsMissing } = caller ?? nobody
        if (shopIsMissing) throw new AppError('NOT_FOUND', 'No such shop')
        // Only routes whose access has a shop ask for it.
        return { principal, shop: shop as ShopContext, actor: actorOf(principal, request) }
      },
      afterHandle: isForBrowsers(required) ? [allowBrowsers] : [],
    }),
  })

  function authenticateAs(required: Exclude<Access, Unguarded>) {
    return async ({ request }: { request: Request }): Promise<void> => {
      const caller = await authenticate(required, request.headers)
      if (isForBrowsers(required)) assertShopperOrigin(request.headers, caller)
      callers.set(request, caller)
    }
  }
}

/** Refuses a body of another media type, or of another kind than the route's schema, before Elysia touches it. */
export function checkShape({ request, route, body }: { request: Request; route: string; body: unknown }): void {
  const schema = bodyOf.get(`${request.method} ${route}`)
  if (!schema) return
  if (isUpload(request)) throw notJson()
  assertShape(schema, body)
}

function allowBrowsers({ response, set }: { response: unknown; set: { headers: Record<string, string | number> } }): void {
  if (!(response instanceof Response)) Object.assign(set.headers, browserHeaders)
  else for (const [name, value] of Object.entries(browserHeaders)) response.headers.set(name, value)
}

/** Shoppers come from the shop's own storefronts, once the shop has named them. */
function assertShopperOrigin(headers: Headers, { principal, shop }: Caller): void {
  const isShopper = principal.kind === 'customer' || (principal.kind === 'key' && !principal.scopes.includes('server'))
  if (isShopper && shop) assertShopOrigin(headers, shop.origins)
}

/** The same by a request's headers. */
export const assertShopOrigin = (headers: Headers, origins: readonly string[]): void => assertOrigin(headers.get('origin'), origins)
