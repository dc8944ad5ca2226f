import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import { anonymous, type Caller, type KeyPrincipal, type Principal, type ShopContext } from '../core/principal.ts'
import { sameSecret } from '../lib/seal.ts'
import { type Access, type AccessRule, accessRules, decidesAlone, isOpenedBy, type TokenKind } from './access-rules.ts'
import { actorOf } from './actor.ts'
import { notJson } from './body.ts'
import { browserHeaders } from './caching.ts'
import type { HttpDeps } from './deps.ts'
import { assertOn } from './route-table.ts'
import { assertShape } from './shape.ts'
import { assertShopOrigin } from './shop.ts'

/** What a route states: who may call it, and where a switch decides whether it exists at all, that switch. */
type Stated = Access | { readonly by: Access; readonly while: () => boolean }
type Switch = (() => boolean) | undefined

const nobody: Caller = { principal: anonymous, shop: undefined }

const unauthenticated = (what: string) => new AppError('UNAUTHENTICATED', what)
const needsToken = () => unauthenticated('A valid access token is required')
const needsKey = () => unauthenticated('A valid API key is required')
const needsEither = () => unauthenticated('A valid API key or access token is required')

const bearerOf = (headers: Headers): string | undefined =>
  /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers.get('authorization') ?? '')?.[1]
/** Carries an API key. */
export const keyHeader = 'x-service-api-key'
const roleOf = (kind: TokenKind) => ({ merchant: 'MERCHANT', customer: 'CUSTOMER', superAdmin: 'SUPER_ADMIN' })[kind]

/**
 * Each route states who may call it: `{ access: 'management' }`. With `{ by: 'management', while: () => boolean }` there is no such
 * route while the switch is off, whoever asks and whatever they send.
 */
export const access = (deps: Pick<HttpDeps, 'identity' | 'keyring' | 'routeTable' | 'callers' | 'callerAddress'>) => {
  const { identity, keyring, routeTable, callers } = deps

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

  async function asKey(
    headers: Headers,
    rule: AccessRule,
    refusal: () => AppError,
  ): Promise<{ principal: KeyPrincipal; shop: ShopContext }> {
    const principal = await identity.ofKey(headers.get(keyHeader) ?? '')
    if (!principal) throw refusal()
    if (!isOpenedBy(rule, principal)) throw new AppError('FORBIDDEN', 'This API key does not cover this: use the secret key, on a server')
    return { principal, shop: principal.shop }
  }

  async function asIntegration(headers: Headers): Promise<Caller> {
    const key = headers.get('integration-api-key')
    if (!key || !sameSecret(key, keyring.integrationApiKey)) throw unauthenticated('A valid integration-api-key is required')
    return { principal: { kind: 'integration', id: 'integration' }, shop: undefined }
  }

  async function authenticate(rule: AccessRule, headers: Headers): Promise<Caller> {
    const { tokens, key, integrationKey } = rule
    if (integrationKey) return asIntegration(headers)
    if (!tokens) return asKey(headers, rule, needsKey)
    if (!key) return asToken(headers, tokens, needsToken)
    if (!headers.has(keyHeader)) return asToken(headers, tokens, needsEither)
    return asCustomerOfKey(headers, rule, await asKey(headers, rule, needsEither))
  }

  /** A storefront that sends its key with every call sends its customer's token besides: then it is the customer who calls. */
  async function asCustomerOfKey(
    headers: Headers,
    rule: AccessRule,
    byKey: { principal: KeyPrincipal; shop: ShopContext },
  ): Promise<Caller> {
    if (decidesAlone(rule, byKey.principal)) return byKey
    const customer = await ofToken(headers)
    // One that ran out must not make a guest of its customer without a word.
    if (!customer && headers.has('authorization')) throw needsEither()
    return customer?.kind === 'customer' && customer.shopId === byKey.shop.id ? { principal: customer, shop: byKey.shop } : byKey
  }

  /** Refuses a body of another media type, or of another kind than the route's schema, before Elysia touches it. */
  function checkBody({ request, route, body }: { request: Request; route: string; body: unknown }): void {
    if (body === undefined) return
    if (body === notJson) throw new AppError('UNSUPPORTED_MEDIA', 'Send the body as application/json')
    const { body: schema } = routeTable.get(request.method, route) ?? {}
    if (schema) assertShape(schema, body)
  }

  return new Elysia({ name: 'http.access' }).macro({
    access: (stated: Stated) => {
      const { by, while: isOn } = typeof stated === 'string' ? { by: stated, while: undefined } : stated
      const rule = accessRules[by]
      return {
        detail: { 'x-access': by, ...(isOn ? { 'x-while': isOn } : {}) } as object,
        // In transform, because validation runs before resolve: a stranger learns 401, not our schema. The body comes after that.
        // A route's own transform would replace these: no route may have one.
        transform: [rule.unguarded ? letIn(isOn) : guard(rule, isOn), checkBody],
        resolve: ({ request }: { request: Request }) => {
          const caller = callers.get(request)
          if (!caller) throw new Error('a route took over the transform that authenticates')
          const { principal, shop, shopIsMissing } = caller
          if (shopIsMissing) throw new AppError('NOT_FOUND', 'No such shop')
          // Only routes whose access has a shop ask for it.
          return { principal, shop: shop as ShopContext, actor: actorOf(deps, principal, request) }
        },
        afterHandle: rule.browsers ? [allowBrowsers] : [],
      }
    },
  })

  function letIn(isOn: Switch) {
    return ({ request }: { request: Request }): void => {
      assertOn(isOn)
      callers.set(request, nobody)
    }
  }

  function guard(rule: AccessRule, isOn: Switch) {
    return async ({ request }: { request: Request }): Promise<void> => {
      assertOn(isOn)
      const caller = await authenticate(rule, request.headers)
      if (rule.browsers) assertShopperOrigin(request.headers, caller)
      callers.set(request, caller)
    }
  }
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
