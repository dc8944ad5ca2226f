import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import { whereMessages } from '../core/operator-guard.ts'
import { type Admitted, anonymous, type KeyPrincipal, type Principal, type ShopContext, type TokenPrincipal } from '../core/principal.ts'
import type { StaffRole } from '../core/roles.ts'
import { networkOf, siteOf, siteTimes } from '../lib/networks.ts'
import { sameSecret } from '../lib/seal.ts'
import { type Access, type AccessRule, accessRules, decidesAlone, isLimited, isOpenedBy, type TokenKind } from './access-rules.ts'
import { actorOf } from './actor.ts'
import { type InRoom, keepRaw, readJson } from './body.ts'
import type { HttpDeps } from './deps.ts'
import { browserHeaders } from './public-cache.ts'
import { hidesSecrets, omitSecrets } from './role-fields.ts'
import { assertOn, type StatedRoute } from './route-table.ts'
import { assertQuery, assertShape, normalizeParams } from './schema-shape.ts'
import { assertShopOrigin } from './shop.ts'

/** What a route states: who may call it, and where a switch decides whether it exists at all, that switch. */
type Stated = Access | { readonly by: Access; readonly while: () => boolean }
type Switch = (() => boolean) | undefined

/** What came with a request. The body is what is put there. */
type Received = {
  readonly request: Request
  readonly route: string
  readonly query: Record<string, unknown>
  readonly params: unknown
  body: unknown
}

const nobody: Admitted = { principal: anonymous, shop: undefined }

/** An office behind one address still shops; an address that opens accounts gains no more than this. */
const customersTimes = 10

/** After so long a body, who may call is asked again. */
const longOnItsWayMs = 1_000

/** In bytes: what costs next to nothing to read, and to hold. */
const smallBodyMax = 4 * 1024
/** Of a body that comes in chunks nobody knows. */
const isSmall = ({ headers }: Request): boolean =>
  !headers.has('transfer-encoding') && !(Number(headers.get('content-length')) > smallBodyMax)

const unauthenticated = (what: string) => new AppError('UNAUTHENTICATED', what)
const needsToken = () => unauthenticated('A valid access token is required')
const needsKey = () => unauthenticated('A valid API key is required')
const needsEither = () => unauthenticated('A valid API key or access token is required')

/** The token that a request bears. */
export const bearerOf = (headers: Headers): string | undefined =>
  /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers.get('authorization') ?? '')?.[1]
/** Carries an API key. */
export const keyHeader = 'x-service-api-key'
const roleOf = (kind: TokenKind) => ({ merchant: 'MERCHANT', customer: 'CUSTOMER', superAdmin: 'SUPER_ADMIN' })[kind]

const needsRole = (kinds: readonly TokenKind[]) => new AppError('FORBIDDEN', `This needs the ${kinds.map(roleOf).join(' or ')} role`)
const needsStaff = (roles: readonly StaffRole[]) => new AppError('FORBIDDEN', `This needs the ${roles.join(' or ')} role in the shop`)

/**
 * Each route states who may call it: `{ access: 'management' }`. With `{ by: 'management', while: () => boolean }` there is no such
 * route while the switch is off, whoever asks and whatever they send. `largeJson` lets its body be a megabyte, `exactNumbers`
 * refuses numbers that would be rounded when they are parsed. `anyQuery` ignores
 * parameters that the route does not know, as reads by id or handle do by themselves; elsewhere they are refused.
 * `takesNoTurn`: public files, program pages, health checks and streams bypass the read queue and the limit of 1 MB for
 * public responses; see public-reads.ts.
 */
export const access = (
  deps: Pick<
    HttpDeps,
    | 'identity'
    | 'isApproved'
    | 'keyring'
    | 'routeTable'
    | 'bodyRoom'
    | 'limitKey'
    | 'writeLimit'
    | 'spacing'
    | 'callers'
    | 'originOf'
    | 'whereRefused'
    | 'trail'
    | 'clock'
  >,
) => {
  const { identity, clock, isApproved, keyring, routeTable, bodyRoom, limitKey, writeLimit, spacing, callers, whereRefused, trail } = deps
  const place: InRoom = { room: bodyRoom, senderOf: (request) => networkOf(limitKey(request)) }

  async function ofToken(headers: Headers): Promise<TokenPrincipal | undefined> {
    const token = bearerOf(headers)
    return token === undefined ? undefined : identity.ofToken(token)
  }

  async function asToken(headers: Headers, { tokens: kinds = [], roles }: AccessRule, refusal: () => AppError): Promise<Admitted> {
    const principal = await ofToken(headers)
    if (!principal) throw refusal()
    if (!kinds.some((kind) => kind === principal.kind)) throw needsRole(kinds)
    if (principal.kind === 'superAdmin') return { principal, shop: undefined }
    if (principal.kind === 'customer') {
      const shop = await identity.shop(principal.shopId)
      return { principal, shop, shopIsMissing: shop === undefined }
    }
    const named = headers.get('x-shop-id') ?? undefined
    const found = await identity.placeOf(principal.id, named)
    if (!found) return { principal, shop: undefined, shopIsMissing: roles !== 'account' || named !== undefined }
    const { shop, role } = found
    if (roles !== 'account' && !roles?.includes(role)) throw needsStaff(roles ?? [])
    return { principal: { ...principal, role }, shop }
  }

  /** Super admins from where the settings let them call: token, role, address, country, the first that fails, which goes on record. */
  async function asOperator(request: Request, route: string): Promise<Admitted> {
    const principal: Principal = (await ofToken(request.headers)) ?? anonymous
    const refuse = async (reason: Parameters<typeof trail.operatorRefused>[0]['reason'], refusal: AppError): Promise<never> => {
      await trail.operatorRefused({ actor: actorOf(deps, principal, request), route: `${request.method} ${route}`, reason })
      throw refusal
    }
    if (principal.kind === 'anonymous') return refuse('TOKEN', needsToken())
    if (principal.kind !== 'superAdmin') return refuse('ROLE', needsRole(['superAdmin']))
    const reason = whereRefused(request)
    return reason === undefined ? { principal, shop: undefined } : refuse(reason, new AppError('FORBIDDEN', whereMessages[reason]))
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

  async function asIntegration(headers: Headers): Promise<Admitted> {
    const key = headers.get('integration-api-key')
    if (!key || !sameSecret(key, keyring.integrationApiKey)) throw unauthenticated('A valid integration-api-key is required')
    return { principal: { kind: 'integration', id: 'integration' }, shop: undefined }
  }

  async function authenticate(rule: AccessRule, headers: Headers): Promise<Admitted> {
    const { tokens, key, integrationKey } = rule
    if (integrationKey) return asIntegration(headers)
    if (!tokens) return asKey(headers, rule, needsKey)
    if (!key) return asToken(headers, rule, needsToken)
    if (!headers.has(keyHeader)) return asToken(headers, rule, needsEither)
    return asCustomerOfKey(headers, rule, await asKey(headers, rule, needsEither))
  }

  /** A storefront that sends its key with every call sends its customer's token besides: then it is the customer who calls. */
  async function asCustomerOfKey(
    headers: Headers,
    rule: AccessRule,
    byKey: { principal: KeyPrincipal; shop: ShopContext },
  ): Promise<Admitted> {
    if (decidesAlone(rule, byKey.principal)) return byKey
    const customer = await ofToken(headers)
    // One that ran out must not make a guest of its customer without a word.
    if (!customer && headers.has('authorization')) throw needsEither()
    return customer?.kind === 'customer' && customer.shopId === byKey.shop.id ? { principal: customer, shop: byKey.shop } : byKey
  }

  /**
   * Takes what was sent, once the caller is known: reads the body, and refuses what no schema of the route knows or what is longer than
   * it may be, before Elysia looks at it.
   */
  async function receive(context: Received): Promise<void> {
    const { request, route, query, params } = context
    const stated = routeTable.get(request.method, route)
    if (!stated) return
    const shapes = stated.shapes()
    if (request.method !== 'GET' && !stated.upload) {
      try {
        context.body = await bodyOf(request, stated, shapes)
        assertShape(shapes.body, context.body)
      } catch (error) {
        // What was read is in no room any more, and is not held while its refusal waits.
        context.body = undefined
        // It was read whole: to read it has cost more than all else.
        if (error instanceof AppError && error.code === 'INVALID' && !isSmall(request)) await spacing.wait(limitKey(request))
        throw error
      }
    }
    if (shapes.path) assertShape(shapes.path, params, 'path')
    else normalizeParams((params ?? {}) as object)
    if (shapes.query) assertQuery(shapes.query, request.url, query)
  }

  /** The same from somebody who was let in by a credential: while a body was long on its way, that may have ended, or their role with it. */
  const receiveFrom = (rule: AccessRule) => async (context: Received) => {
    const begun = clock.monotonic()
    await receive(context)
    if (clock.monotonic() - begun < longOnItsWayMs) return
    const { request } = context
    callers.set(request, await authenticate(rule, request.headers))
  }

  /** The object that a route takes as JSON; of one that is sent signed messages, none: they are kept as they came. */
  async function bodyOf(
    request: Request,
    { access: by, bytesMax, exactNumbers }: StatedRoute,
    { valuesMax, body: shape }: ReturnType<StatedRoute['shapes']>,
  ): Promise<object> {
    if (by === undefined || !accessRules[by].raw) return readJson(request, { bytesMax, valuesMax, exactNumbers, shape }, place)
    await keepRaw(request, bytesMax, place)
    return {}
  }

  return new Elysia({ name: 'http.access' }).macro({
    largeJson: (_stated: true) => ({ detail: { 'x-large-json': true } as object }),
    exactNumbers: (_stated: true) => ({ detail: { 'x-exact-numbers': true } as object }),
    anyQuery: (_stated: true) => ({ detail: { 'x-any-query': true } as object }),
    takesNoTurn: (_stated: true) => ({ detail: { 'x-takes-no-turn': true } as object }),
    access: (stated: Stated) => {
      const { by, while: isOn } = typeof stated === 'string' ? { by: stated, while: undefined } : stated
      const rule = accessRules[by]
      return {
        detail: { 'x-access': by, ...(isOn ? { 'x-while': isOn } : {}) } as object,
        // In transform, because validation runs before resolve: a stranger learns 401, not our schema. What they sent is read after that.
        // A route's own transform would replace these: no route may have one.
        transform: rule.unguarded ? [letIn(rule, isOn), receive] : [guard(rule, isOn), receiveFrom(rule)],
        resolve: ({ request }: { request: Request }) => {
          const caller = callers.get(request)
          if (!caller) throw new Error('a route took over the transform that authenticates')
          const { principal, shop, shopIsMissing } = caller
          if (shopIsMissing) throw new AppError('NOT_FOUND', 'No such shop')
          // Only routes whose access has a shop ask for it.
          return { principal, shop: shop as ShopContext, actor: actorOf(deps, principal, request) }
        },
        afterHandle: [...(rule.roles ? [hideRoleFields] : []), ...(rule.browsers ? [allowBrowsers] : [])],
      }
    },
  })

  /**
   * Removes fields that the caller's role must not see (role-fields.ts). Assigns `context.response`, because a returned
   * value would drop the version.
   */
  function hideRoleFields(context: { request: Request; route: string; response: unknown }): void {
    const { request, route, response } = context
    if (response instanceof Response || !hidesSecrets(callers.get(request)?.principal)) return
    const fields = routeTable.get(request.method, route)?.roleFields()
    if (fields) context.response = omitSecrets(response, fields)
  }

  /**
   * Secret keys, merchants and super admins answer for themselves. Customers count each for themselves and, more widely, by their
   * address, since anybody may open accounts; everybody else counts by their address. Addresses count more widely by their site.
   */
  async function limitWrite(rule: AccessRule, request: Request, principal: Principal): Promise<void> {
    if (!isLimited(rule, request.method) || isKnown(principal)) return
    const address = limitKey(request)
    const site = siteOf(address)
    const ofSite = (times: number) => (site === undefined ? [] : [{ key: site, times }])
    const wait = await (principal.kind === 'customer'
      ? writeLimit.take(principal.id, [{ key: address, times: customersTimes }, ...ofSite(customersTimes * siteTimes)])
      : writeLimit.take(address, ofSite(siteTimes)))
    if (wait === undefined) return
    // Of a larger body, what has come of it would be held meanwhile.
    if (isSmall(request)) await spacing.wait(address)
    throw new AppError('RATE_LIMITED', 'Too many changes within a minute: try again', { retryAfterSeconds: wait })
  }

  /** An approval is final: it need not be asked for again inside a write. */
  async function assertApproved({ principal, shop }: Admitted): Promise<void> {
    if (principal.kind === 'merchant' && shop && !(await isApproved(shop.merchantId)))
      throw new AppError('FORBIDDEN', 'This needs an approved KYB record: file one by POST /kyb, and an operator decides')
  }

  function letIn(rule: AccessRule, isOn: Switch) {
    return async ({ request }: { request: Request }): Promise<void> => {
      assertOn(isOn)
      callers.set(request, nobody)
      await limitWrite(rule, request, anonymous)
    }
  }

  function guard(rule: AccessRule, isOn: Switch) {
    return async ({ request, route }: { request: Request; route: string }): Promise<void> => {
      assertOn(isOn)
      const caller = await (rule.whereAllowed ? asOperator(request, route) : authenticate(rule, request.headers))
      // Before anything else refuses: the trail says whom.
      callers.set(request, caller)
      if (rule.browsers) assertShopperOrigin(request.headers, caller)
      if (rule.approvedKyb) await assertApproved(caller)
      await limitWrite(rule, request, caller.principal)
    }
  }
}

const isKnown = (principal: Principal): boolean =>
  principal.kind === 'merchant' ||
  principal.kind === 'superAdmin' ||
  principal.kind === 'integration' ||
  (principal.kind === 'key' && principal.scopes.includes('server'))

function allowBrowsers({ response, set }: { response: unknown; set: { headers: Record<string, string | number> } }): void {
  if (!(response instanceof Response)) Object.assign(set.headers, browserHeaders)
  else for (const [name, value] of Object.entries(browserHeaders)) response.headers.set(name, value)
}

/** Shoppers come from the shop's own storefronts, once the shop has named them. */
function assertShopperOrigin(headers: Headers, { principal, shop }: Admitted): void {
  const isShopper = principal.kind === 'customer' || (principal.kind === 'key' && !principal.scopes.includes('server'))
  if (isShopper && shop) assertShopOrigin(headers, shop.origins)
}
