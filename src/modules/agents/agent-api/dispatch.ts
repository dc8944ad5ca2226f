/** Handles requests of both transports (REST and MCP): limits, proof, keys, validation and errors of the protocol. */

import type { TProperties, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { ValueError } from '@sinclair/typebox/errors'
import type { AgentCall } from '../../../core/agent-call.ts'
import { AppError, undefinedIfNotFound } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import { markKeyed, runUntracked } from '../../../core/request-context.ts'
import { assertCompleteBody, mediaTypeOf, parseObject, rawBodyOf } from '../../../http/body.ts'
import { asAppError } from '../../../http/errors.ts'
import { type ClaimRefusals, keylessAttempt, performClaimed } from '../../../http/idempotency.ts'
import { asUcpError, keyInFlight } from '../../../http/platform-errors.ts'
import { noSuchPath } from '../../../http/route-table.ts'
import { validationError } from '../../../http/validation-message.ts'
import { siteOf, siteTimes } from '../../../lib/networks.ts'
import { sha256 } from '../../../lib/seal.ts'
import { notFoundAnswer, type Platform, refusalOf, type UcpRefusal } from '../../../lib/ucp/call.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { incompatibleMessage } from '../../../lib/ucp/messages.ts'
import type { Capability } from '../../../lib/ucp/releases.ts'
import { assertNoCardNumber } from '../agent-session/index.ts'
import { type AgentShop, findAgentShop, offeredCapabilities } from '../agent-settings/index.ts'
import { identifyPlatform } from '../platform/index.ts'
import { canonicalJson } from './domain.ts'
import type { AgentApiDeps, AgentOperation } from './operations.ts'

/** Maximum number of JSON values in a body: enough for 100 lines with all their fields. */
export const valuesMax = 5_000
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Finds the shop of a request. @throws AppError NOT_FOUND if agents do not see it */
export async function agentShopOf(deps: AgentApiDeps, shopName: string): Promise<AgentShop> {
  const shop = await findAgentShop(deps, shopName)
  if (!shop) throw noSuchPath()
  return shop
}

/** Converts any error to one of the protocol's table. Messages of libraries and input are never repeated. */
export const ucpErrorOf = (error: unknown): UcpError => (error instanceof UcpError ? error : asUcpError(asAppError(error)))

/** Does `ucpErrorOf`, and logs an unexpected error of a request. */
export function loggedUcpError({ log }: AgentApiDeps, { method, headers }: Request, error: unknown): UcpError {
  if (!(error instanceof AppError || error instanceof UcpError))
    log.error('request.failed', { method, requestId: headers.get('x-request-id'), error })
  return ucpErrorOf(error)
}

/** Returns whether a request has a signature. Others count toward the limit of their address before they are read. */
const claimsProof = ({ headers }: Request): boolean => headers.has('signature-input') && headers.has('ucp-agent')

function assertNotLimited(wait: number | undefined): void {
  if (wait !== undefined)
    throw new UcpError('rate_limited', 'Too many requests within one minute. Try again later.', { retryAfterSeconds: wait })
}

function countForAddress({ agentLimits, limitKey }: AgentApiDeps, request: Request) {
  const address = limitKey(request)
  const site = siteOf(address)
  return agentLimits.address.take(address, site === undefined ? [] : [{ key: site, times: siteTimes }])
}

/**
 * Counts a request of an address before it is read. Proven platforms have a limit of their own.
 * @throws UcpError `rate_limited`
 */
export async function limitAddress(deps: AgentApiDeps, request: Request): Promise<void> {
  assertNotLimited(claimsProof(request) ? deps.agentLimits.failedProof.wait(deps.limitKey(request)) : await countForAddress(deps, request))
}

/**
 * Identifies the platform of a request, and counts what it proves.
 * @param meta what an MCP call says of its platform; absent over REST
 * @throws UcpError
 */
export async function platformOf(
  deps: AgentApiDeps,
  agentShop: AgentShop,
  { needsProof }: AgentOperation,
  request: Request,
  meta?: { profile: unknown },
): Promise<Platform> {
  const isClaimed = claimsProof(request)
  identified.add(request)
  const { shop, settings } = agentShop
  const offered = await offeredCapabilities(deps, agentShop)
  let platform: Platform
  try {
    platform = await identifyPlatform(deps, { access: settings.access, needsProof, offered, request, rawBody: rawBodyOf(request), meta })
  } catch (error) {
    if (isClaimed && !(error instanceof UcpError && error.code === 'unavailable'))
      void deps.agentLimits.failedProof.take(deps.limitKey(request))
    throw error
  }
  if (platform.isProven) assertNotLimited(await deps.agentLimits.platform.take(`${shop.id} ${platform.profile}`))
  else if (isClaimed) assertNotLimited(await countForAddress(deps, request))
  return platform
}

const identified = new WeakSet<Request>()

/** Counts a request whose signature no method checked, so that signature headers alone do not bypass the limit. */
export function countUncheckedProof({ agentLimits, limitKey }: AgentApiDeps, request: Request): void {
  if (claimsProof(request) && !identified.has(request)) void agentLimits.failedProof.take(limitKey(request))
}

/** Parses the JSON object of a request; an empty body is `{}`. @throws UcpError `invalid_request` */
export function bodyOf(request: Request): object {
  const bytes = rawBodyOf(request)
  if (bytes.length === 0) return {}
  if (mediaTypeOf(request) !== 'application/json') throw invalid('content-type: must be application/json')
  try {
    assertCompleteBody(request)
    return parseObject(bytes, valuesMax)
  } catch (error) {
    // The name of a repeated field is text of the caller.
    throw error instanceof AppError && error.field !== undefined ? invalid('A field of the body is given twice.') : error
  }
}

/** Creates the error for an invalid request. @param content a fixed sentence that repeats no text of the caller */
export const invalid = (content: string): UcpError => new UcpError('invalid_request', content)

/**
 * Returns the idempotency key of a request.
 * @param header null without one
 * @param inMeta what `meta` of an MCP call says; undefined without one
 * @throws UcpError `invalid_request` if it is no UUID, or if the two differ
 */
export function idempotencyKeyOf(header: string | null, inMeta: unknown): string | undefined {
  const [key, otherKey] = [header ?? undefined, inMeta].filter((sent) => sent !== undefined).map(uuidOf)
  if (otherKey !== undefined && otherKey !== key) throw invalid('idempotency-key: the header and the meta of the call differ')
  return key
}

function uuidOf(sent: unknown): string {
  if (typeof sent !== 'string' || !uuid.test(sent)) throw invalid('idempotency-key: must be a UUID')
  return sent.toLowerCase()
}

export type OperationRequest = {
  readonly shop: AgentShop
  readonly platform: Platform
  readonly address: string
  /** Of the session, cart or order; undefined if the operation has none. */
  readonly id: string | undefined
  readonly body: object
  readonly key: string | undefined
  readonly isKeyRequired: boolean
  /** Other arguments of an MCP call. They are part of the key's fingerprint. */
  readonly ignored?: object | undefined
}

/**
 * Runs an operation for a platform, at most once per key, and returns its answer.
 * @throws UcpError; any other error of the operation, which `ucpErrorOf` converts
 */
export async function runOperation(deps: AgentApiDeps, operation: AgentOperation, request: OperationRequest): Promise<object> {
  const { platform, address, id, body, key } = request
  const { shop, settings } = request.shop
  if (!platform.capabilities.has(operation.capability)) return refusalOf(platform.release, incompatibleMessage)
  if (key === undefined && request.isKeyRequired)
    throw new UcpError('idempotency_key_missing', 'idempotency-key: required for this operation. Send a new UUID.')
  const { input, unread } = fieldsOf(operation, platform, body)
  // The operation itself checks the fields that it reads.
  if (operation.key !== 'never') assertNoCardNumber([unread, request.ignored ?? {}])
  assertInput(operation, input)
  const callWith = (attempt: Attempt): AgentCall => ({ shop, policies: settings.policies, platform, address, attempt })
  const ifMissing = (error: unknown): UcpRefusal => undefinedIfNotFound(error) ?? notFoundAnswer(platform)
  const run = (attempt: Attempt): Promise<object> =>
    operation.run(deps, callWith(attempt), { ...(id === undefined ? {} : { id }), body: input }).catch(ifMissing)
  if (key === undefined || operation.key === 'never') return run(keylessAttempt())
  const principal = `${platform.profile ?? ''} ${platform.isProven}`
  const scope = `ucp ${shop.id} ${operation.tool} ${sha256(JSON.stringify([principal, id ?? '']))}`
  const fingerprint = sha256(canonicalJson([body, request.ignored ?? {}]))
  markKeyed()
  const claim = await runUntracked(() => deps.idempotency.claim({ scope, key, fingerprint, isOneWrite: !operation.hasSeveralWrites }))
  const work = (_: unknown, attempt: Omit<Attempt, 'key'>) => run({ key: sha256(`${scope} ${key}`), ...attempt })
  const answer: object | null = await performClaimed<object | null>(claim, 200, deps.db.write, work, refusals).catch(ifMissing)
  const { retry, repeated } = operation
  if (answer !== null && claim.kind === 'replay') await repeated?.(deps, callWith(keylessAttempt()), answer)
  if (answer !== null || retry === undefined) return answer as object
  return retry(deps, callWith(keylessAttempt()), { id: id ?? '' })
}

/** Errors of repeated keys. A repeated change of a finished session is refused, also after the session is gone. */
const refusals: ClaimRefusals = {
  mismatch: () => new UcpError('idempotency_conflict', 'This idempotency key was used with another body. Send a new UUID.'),
  inFlight: keyInFlight,
  storableFailure(error) {
    const refusal = ucpErrorOf(error)
    return refusal.code === 'session_closed' ? { status: refusal.status, body: refusal.body() } : undefined
  },
  recreate(status, body) {
    // The stored answer was erased with the personal data of the person.
    if (status === 404) return new AppError('NOT_FOUND', 'The answer was erased')
    const { code, content } = JSON.parse(body) as ReturnType<UcpError['body']>
    return new UcpError(code, content)
  },
}

const checks = new Map<AgentOperation, TypeCheck<NonNullable<AgentOperation['input']>>>()

/** Fields of a body that are read only if the platform has the capability. */
const capabilityOfField: Readonly<Record<string, Capability>> = { fulfillment: 'fulfillment', discounts: 'discount', cart_id: 'cart' }

/** Splits a body into the fields that an operation reads for a platform, and the others. */
function fieldsOf({ input: schema }: AgentOperation, { capabilities }: Platform, body: object) {
  const input: Record<string, unknown> = {}
  const unread: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    const capability = capabilityOfField[name]
    const isRead = Object.hasOwn(schema?.['properties'] ?? {}, name) && (capability === undefined || capabilities.has(capability))
    if (isRead) input[name] = value
    else unread[name] = value
  }
  return { input, unread }
}

/** @throws UcpError that names the first invalid field, without keys of records, which are text of the caller */
function assertInput(operation: AgentOperation, body: object): void {
  const { input } = operation
  if (!input) return
  const check = checks.get(operation) ?? TypeCompiler.Compile(input)
  checks.set(operation, check)
  if (check.Check(body)) return
  const error = check.Errors(body).First() as ValueError
  const { field = '', message } = validationError(error)
  const path = namedPath(input, error.path.split('/').filter(Boolean))
  throw invalid(path === undefined ? message : `${path}${message.slice(field.length)}`)
}

/** Returns the part of a path that a schema names; undefined if it names all. */
function namedPath(schema: TSchema, path: readonly string[]): string | undefined {
  let nested: TSchema | undefined = schema
  for (const [at, name] of path.entries()) {
    nested = nested['type'] === 'array' ? nested['items'] : (nested['properties'] as TProperties | undefined)?.[name]
    if (!nested) return path.slice(0, at).join('.')
  }
  return undefined
}
