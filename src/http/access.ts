import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import { operatorRefusalMessages } from '../core/operator-guard.ts'
import { type Admission, anonymous, type KeyPrincipal, type Principal, type ShopContext, type TokenPrincipal } from '../core/principal.ts'
import type { StaffRole } from '../core/roles.ts'
import { networkOf, siteOf, siteTimes } from '../lib/networks.ts'
import { sameSecret } from '../lib/seal.ts'
import { type Access, type AccessRule, accessRules, decidesAlone, isLimited, isOpenedByKey, type TokenKind } from './access-rules.ts'
import { actorOf } from './actor.ts'
import { type BudgetOptions, readJson, readRawBody } from './body.ts'
import type { HttpDeps } from './deps.ts'
import { browserHeaders } from './public-response.ts'
import { hidesSecrets, omitSecrets } from './role-fields.ts'
import { assertOn, type FastRead, type StatedRoute } from './route-table.ts'
import { assertQuery, assertShape, normalizeParams } from './schema-shape.ts'
import { assertShopOrigin } from './shop.ts'

/** The `access` of a route, with a switch if the route can be disabled. */
type AccessOption = Access | { readonly by: Access; readonly while: () => boolean }
type Switch = (() => boolean) | undefined

/** A request as the guard sees it. It sets the body. */
type ReceivedRequest = {
  readonly request: Request
  readonly route: string
  readonly query: Record<string, unknown>
  readonly params: unknown
  body: unknown
}

const anonymousCaller: Admission = { principal: anonymous, shop: undefined }

/**
 * Limit of an address as a multiple of one customer: an office may share an address, and extra accounts gain no more.
 */
const customersTimes = 10

/** A request whose body takes longer is authenticated again. */
const slowBodyMs = 1_000

/** Bodies up to this size cost almost nothing to read and hold. */
const smallBodyMax = 4 * 1024
/** The length of a chunked body is unknown. */
const isSmall = ({ headers }: Request): boolean =>
  !headers.has('transfer-encoding') && !(Number(headers.get('content-length')) > smallBodyMax)

const unauthenticated = (what: string) => new AppError('UNAUTHENTICATED', what)
const needsToken = () => unauthenticated('Send a valid access token as Authorization: Bearer TOKEN')
const needsKey = () => unauthenticated(`Send a valid API key in ${keyHeader}`)
const needsEither = () => unauthenticated(`Send a valid API key in ${keyHeader}, or an access token as Authorization: Bearer TOKEN`)

/** Explains a credential that was sent in the header of the other kind; otherwise returns `error`. */
function inWrongHeader(headers: Headers, error: AppError): AppError {
  if (/^(Bearer |Basic )?[sp]k_/i.test(headers.get('authorization') ?? ''))
    return unauthenticated(`API keys are sent in the header ${keyHeader}, not in Authorization`)
  if (/^(Bearer |eyJ)/.test(headers.get(keyHeader) ?? ''))
    return unauthenticated(`Access tokens are sent as Authorization: Bearer TOKEN, not in ${keyHeader}`)
  return error
}

/** Returns the bearer token of a request. */
export const bearerOf = (headers: Headers): string | undefined =>
  /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers.get('authorization') ?? '')?.[1]
/** Returns the shop that a request of a merchant names. */
const namedShop = (headers: Headers): string | undefined => headers.get('x-shop-id') ?? undefined

/** Header of API keys. */
export const keyHeader = 'x-service-api-key'
const roleOf = (kind: TokenKind) => ({ merchant: 'MERCHANT', customer: 'CUSTOMER', superAdmin: 'SUPER_ADMIN' })[kind]

const needsRole = (kinds: readonly TokenKind[]) => new AppError('FORBIDDEN', `This requires the ${kinds.map(roleOf).join(' or ')} role`)
const needsStaff = (roles: readonly StaffRole[]) => new AppError('FORBIDDEN', `This requires the ${roles.join(' or ')} role in the shop`)

/**
 * Adds route options. `access: 'management'` states who may call. `{ by: 'management', while: () => boolean }` also
 * hides the route while the switch is off. `largeJson` allows a body of 1 MB. `exactNumbers` refuses numbers that
 * parsing would round. `anyQuery` ignores unknown query parameters, as reads by id or handle do.
 * `fastRead` lets fast-reads.ts answer the route; the server and the read queue derive from it.
 * `takesNoTurn` bypasses the read queue and the 1 MB limit of public responses: for files, pages, health checks and
 * streams; see public-reads.ts.
 */
export const access = (
  deps: Pick<
    HttpDeps,
    | 'identity'
    | 'isApproved'
    | 'keyring'
    | 'routeTable'
    | 'bodyBudget'
    | 'limitKey'
    | 'writeLimit'
    | 'penaltyDelay'
    | 'callers'
    | 'originOf'
    | 'locationRefusal'
    | 'trail'
    | 'clock'
    | 'config'
  >,
) => {
  const {
    identity,
    clock,
    config,
    isApproved,
    keyring,
    routeTable,
    bodyBudget,
    limitKey,
    writeLimit,
    penaltyDelay,
    callers,
    locationRefusal,
    trail,
  } = deps
  const budgetOptions: BudgetOptions = { budget: bodyBudget, senderOf: (request) => networkOf(limitKey(request)) }

  async function ofToken(headers: Headers): Promise<TokenPrincipal | undefined> {
    const token = bearerOf(headers)
    return token === undefined ? undefined : identity.ofToken(token)
  }

  async function asToken(headers: Headers, rule: AccessRule, refusal: () => AppError): Promise<Admission> {
    const { tokens: kinds = [] } = rule
    const principal = await ofToken(headers)
    if (!principal) throw refusal()
    if (principal.kind === 'superAdmin') return asSuperAdmin(headers, rule, principal)
    if (!kinds.some((kind) => kind === principal.kind)) throw needsRole(kinds)
    if (principal.kind === 'customer') {
      const shop = await identity.shop(principal.shopId)
      return { principal, shop, shopIsMissing: shop === undefined }
    }
    if (rule.opensShops && !config.signupEnabled)
      throw new AppError('FORBIDDEN', 'Merchants cannot open shops on this instance: ask its administrator')
    return asMerchant(principal, rule, namedShop(headers))
  }

  /** Admits a person to the shop that the request names, or to the first that they joined, in their role there. */
  async function asMerchant(
    { id, sessionId }: Pick<TokenPrincipal, 'id' | 'sessionId'>,
    { roles }: AccessRule,
    shopId: string | undefined,
  ): Promise<Admission> {
    const principal = { kind: 'merchant', id, sessionId } as const
    const found = await identity.membershipOf(id, shopId)
    if (!found) return { principal, shop: undefined, shopIsMissing: roles !== 'account' || shopId !== undefined }
    const { shop, role } = found
    if (roles !== 'account' && !roles?.includes(role)) throw needsStaff(roles ?? [])
    return { principal: { ...principal, role }, shop }
  }

  /**
   * Admits a super admin, who is also a merchant in the shops where they work. On routes for both kinds they are a
   * merchant if the request names such a shop.
   */
  async function asSuperAdmin(
    headers: Headers,
    rule: AccessRule,
    principal: Extract<TokenPrincipal, { kind: 'superAdmin' }>,
  ): Promise<Admission> {
    const { tokens: kinds = [], roles } = rule
    const shopId = namedShop(headers)
    const isForMerchants = kinds.includes('merchant')
    if (kinds.includes('superAdmin')) {
      const actsInShop = isForMerchants && roles !== 'account' && shopId !== undefined
      if (!actsInShop || !(await identity.membershipOf(principal.id, shopId))) return { principal, shop: undefined }
    } else if (!isForMerchants || !(await identity.membershipOf(principal.id, undefined))) throw needsRole(kinds)
    return asMerchant(principal, rule, shopId)
  }

  /**
   * Authenticates an operator and checks the location. The first failed check is recorded: token, role, address,
   * country.
   */
  async function asOperator(request: Request, route: string): Promise<Admission> {
    const principal: Principal = (await ofToken(request.headers)) ?? anonymous
    const refuse = async (reason: Parameters<typeof trail.operatorRefused>[0]['reason'], refusal: AppError): Promise<never> => {
      await trail.operatorRefused({ actor: actorOf(deps, principal, request), route: `${request.method} ${route}`, reason })
      throw refusal
    }
    if (principal.kind === 'anonymous') return refuse('TOKEN', needsToken())
    if (principal.kind !== 'superAdmin') return refuse('ROLE', needsRole(['superAdmin']))
    const reason = locationRefusal(request)
    return reason === undefined
      ? { principal, shop: undefined }
      : refuse(reason, new AppError('FORBIDDEN', operatorRefusalMessages[reason]))
  }

  async function asKey(
    headers: Headers,
    rule: AccessRule,
    refusal: () => AppError,
  ): Promise<{ principal: KeyPrincipal; shop: ShopContext }> {
    const principal = await identity.ofKey(headers.get(keyHeader) ?? '')
    if (!principal) throw refusal()
    if (!isOpenedByKey(rule, principal))
      throw new AppError('FORBIDDEN', 'This API key does not allow this. Use the secret key, on your server')
    return { principal, shop: principal.shop }
  }

  async function asIntegration(headers: Headers): Promise<Admission> {
    const key = headers.get('integration-api-key')
    if (!key || !sameSecret(key, keyring.integrationApiKey)) throw unauthenticated('A valid integration-api-key is required')
    return { principal: { kind: 'integration', id: 'integration' }, shop: undefined }
  }

  async function authenticate(rule: AccessRule, headers: Headers): Promise<Admission> {
    const { tokens, key, integrationKey } = rule
    if (integrationKey) return asIntegration(headers)
    if (!tokens) return asKey(headers, rule, () => inWrongHeader(headers, needsKey()))
    if (!key) return asToken(headers, rule, () => inWrongHeader(headers, needsToken()))
    if (!headers.has(keyHeader)) return asToken(headers, rule, () => inWrongHeader(headers, needsEither()))
    return asCustomerOfKey(headers, rule, await asKey(headers, rule, () => inWrongHeader(headers, needsEither())))
  }

  /** A storefront may send its key and a customer's token: then the customer calls. */
  async function asCustomerOfKey(
    headers: Headers,
    rule: AccessRule,
    byKey: { principal: KeyPrincipal; shop: ShopContext },
  ): Promise<Admission> {
    if (decidesAlone(rule, byKey.principal)) return byKey
    const customer = await ofToken(headers)
    // An expired token must not silently make the customer a guest.
    if (!customer && headers.has('authorization')) throw needsEither()
    return customer?.kind === 'customer' && customer.shopId === byKey.shop.id ? { principal: customer, shop: byKey.shop } : byKey
  }

  /**
   * Reads the body of an authenticated caller. Refuses unknown and overlong fields before Elysia validates the rest.
   */
  async function receive(context: ReceivedRequest): Promise<void> {
    const { request, route, query, params } = context
    const stated = routeTable.get(request.method, route)
    if (!stated) return
    const shapes = stated.shapes()
    if (request.method !== 'GET' && !stated.upload) {
      try {
        context.body = await bodyOf(request, stated, shapes)
        assertShape(shapes.body, context.body)
      } catch (error) {
        // Release the body while its refusal is delayed.
        context.body = undefined
        // The whole body was read, which was the expensive part.
        if (error instanceof AppError && error.kind === 'INVALID' && !isSmall(request)) await penaltyDelay.wait(limitKey(request))
        throw error
      }
    }
    if (shapes.path) assertShape(shapes.path, params, 'path')
    else normalizeParams((params ?? {}) as object)
    if (shapes.query) assertQuery(shapes.query, request.url, query)
  }

  /**
   * `receive` for an authenticated caller. After a slow body it authenticates again, because the session or role may
   * have changed.
   */
  const receiveFrom = (rule: AccessRule) => async (context: ReceivedRequest) => {
    const begun = clock.monotonic()
    await receive(context)
    if (clock.monotonic() - begun < slowBodyMs) return
    const { request } = context
    callers.set(request, await authenticate(rule, request.headers))
  }

  /** Returns the JSON body. Raw routes keep the bytes and get an empty object. */
  async function bodyOf(
    request: Request,
    { access: by, bytesMax, exactNumbers }: StatedRoute,
    { valuesMax, body: shape }: ReturnType<StatedRoute['shapes']>,
  ): Promise<object> {
    if (by === undefined || !accessRules[by].raw) return readJson(request, { bytesMax, valuesMax, exactNumbers, shape }, budgetOptions)
    await readRawBody(request, bytesMax, budgetOptions)
    return {}
  }

  return new Elysia({ name: 'http.access' }).macro({
    largeJson: (_stated: true) => ({ detail: { 'x-large-json': true } as object }),
    exactNumbers: (_stated: true) => ({ detail: { 'x-exact-numbers': true } as object }),
    anyQuery: (_stated: true) => ({ detail: { 'x-any-query': true } as object }),
    fastRead: (read: FastRead) => ({ detail: { 'x-fast-read': read } as object }),
    takesNoTurn: (_stated: true) => ({ detail: { 'x-takes-no-turn': true } as object }),
    access: (stated: AccessOption) => {
      const { by, while: isOn } = typeof stated === 'string' ? { by: stated, while: undefined } : stated
      const rule = accessRules[by]
      return {
        detail: { 'x-access': by, ...(isOn ? { 'x-while': isOn } : {}) } as object,
        // In `transform`, because validation runs before `resolve`: an unauthenticated caller gets 401 before the body
        // is read. A route must not have its own `transform`, which would replace these.
        transform: rule.unguarded ? [admitAnyone(rule, isOn), receive] : [guard(rule, isOn), receiveFrom(rule)],
        resolve: ({ request }: { request: Request }) => {
          const caller = callers.get(request)
          if (!caller) throw new Error('a route took over the transform that authenticates')
          const { principal, shop, shopIsMissing } = caller
          if (shopIsMissing) throw new AppError('NOT_FOUND', 'No such shop')
          // Only routes whose access implies a shop use it.
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
   * Limits changes. Secret keys, merchants and super admins are exempt. Customers count individually and by address,
   * because accounts are free. Other callers count by address. Addresses also count by their /48.
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
    // A larger body would stay in memory during the delay.
    if (isSmall(request)) await penaltyDelay.wait(address)
    throw new AppError('RATE_LIMITED', 'Too many changes within one minute. Try again later', { retryAfterSeconds: wait })
  }

  /** Approvals are final, so writes need not check again. */
  async function assertApproved({ principal, shop }: Admission): Promise<void> {
    if (principal.kind === 'merchant' && shop && !(await isApproved(shop.merchantId)))
      throw new AppError('FORBIDDEN', 'This requires an approved KYB record: submit one with POST /kyb', { code: 'kyb_required' })
  }

  function admitAnyone(rule: AccessRule, isOn: Switch) {
    return async ({ request }: { request: Request }): Promise<void> => {
      assertOn(isOn)
      callers.set(request, anonymousCaller)
      await limitWrite(rule, request, anonymous)
    }
  }

  function guard(rule: AccessRule, isOn: Switch) {
    return async ({ request, route }: { request: Request; route: string }): Promise<void> => {
      assertOn(isOn)
      const caller = await (rule.whereAllowed ? asOperator(request, route) : authenticate(rule, request.headers))
      // Before other refusals, because the audit log needs the caller.
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

/** Storefront callers must use an origin of the shop, if it lists origins. */
function assertShopperOrigin(headers: Headers, { principal, shop }: Admission): void {
  const isShopper = principal.kind === 'customer' || (principal.kind === 'key' && !principal.scopes.includes('server'))
  if (isShopper && shop) assertShopOrigin(headers, shop.origins)
}
