import { registerSchemaPath } from '@elysiajs/swagger/utils'
import { type Access, type AccessRule, accessRules, isLimited } from './access-rules.ts'
import introduction from './api-introduction.md' with { type: 'text' }
import { pathExample } from './openapi-examples.ts'
import { documentBody, documentSchema, type Schema, type SharedSchemas } from './openapi-schema.ts'
import { type EventSchemas, webhooksOf } from './openapi-webhooks.ts'
import type { UploadRule } from './route-table.ts'
import { ErrorBody, errorStatuses } from './schema.ts'

/** The fields of an Elysia route that the document uses. */
export type DocumentedRoute = { readonly method: string; readonly path: string; readonly hooks: RouteHooks }
type RouteHooks = {
  readonly detail?: Detail
  readonly response?: unknown
  readonly body?: unknown
  readonly headers?: unknown
  readonly params?: unknown
  readonly query?: unknown
}
type Detail = {
  readonly hide?: boolean
  readonly description?: string
  readonly 'x-access'?: Access
  readonly 'x-idempotent'?: true | 'required'
  readonly 'x-upload'?: UploadRule
  /** Messages sent to endpoints that are registered by this route. */
  readonly 'x-events'?: EventSchemas
  readonly 'x-versioned'?: true
  /** A resumable event stream. */
  readonly 'x-resumable'?: true
  /** The response contains the position of event streams. */
  readonly 'x-event-place'?: true
  /** The route also responds with a file. */
  readonly 'x-csv'?: object
}

type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
  readonly [more: string]: unknown
}
type Content = Record<string, { readonly schema: Schema }>
type Body = { readonly required?: boolean; readonly content: Content; readonly [more: string]: unknown }
type Response = { readonly description: string; readonly headers?: Schema; readonly content?: Content }
export type Operation = {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security: readonly Schema[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Body
  readonly responses: Record<string, Response>
}
export type OpenApi = {
  readonly openapi: string
  readonly info: Schema
  readonly servers: readonly Schema[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly webhooks: Record<string, { readonly post: Schema }>
  readonly components: { readonly schemas: Record<string, Schema>; readonly securitySchemes: Schema; readonly headers: Schema }
}

/** Tags in the order in which a shop meets them. */
const tagDescriptions: Record<string, string> = {
  Login: 'Logs in merchants and operators, refreshes tokens, and manages sessions, passwords and the second factor.',
  Console: 'The console at `/console` and its session. Every path returns 404 if `CONSOLE_ENABLED` is false.',
  Shops: 'The shop, its settings, staff, keys and wallet.',
  KYB: "The merchant's business, verified by an operator.",
  Lending: 'Loan applications, their documents and decisions. Every path returns 404 if `LENDING_PLATFORM_ENABLED` is false.',
  Catalog: 'Products, variants, stock and collections.',
  Blogs: 'Blog posts.',
  Customers: 'Customers of a shop and their address books.',
  Discounts: 'Discount codes and automatic discounts.',
  'Gift cards': 'Gift cards of a shop, and their use in carts.',
  Media: 'Pictures of a shop. Everyone can read them.',
  'Payment methods': 'Payment methods and processor accounts of a shop, and what its payment page can offer.',
  Carts: 'Carts and the checkout.',
  Orders: 'Orders, draft orders, payments, refunds and fulfilments.',
  Events: 'Streams of events, for pages that show changes at once.',
  Affiliates: 'Affiliates of a shop and their commissions.',
  Agents: 'Settings for shopping by agents (UCP), and the routes that agents call.',
  Webhooks: 'Webhook endpoints of a shop, and messages from payment processors and service providers.',
  Administration: 'Shops, KYB records, partnerships and the audit trail, for operators.',
  Dashboards: 'Figures of all shops, for operators.',
  Operations: 'State of the instance: jobs, backups, services, for operators.',
  Trust: 'Lenders, methodologies, wallets, service providers and attestations on public blockchains.',
  Credit: 'Credit tiers, lenders and repayments.',
  Integration: 'Routes for the integration layer.',
  Service: 'Health, metrics and documentation of the instance.',
}

const apiDescription = `The API of souk, a commerce backend: catalog, carts, checkout, orders and customers of a shop.

${introduction}
## Conventions

- Bodies are JSON objects (\`application/json\`) of at most 64 KB, or 1 MB for products, collections, blog posts, settings and lending applications, with at most 50,000 values and 32 levels. Times are ISO 8601 in UTC, with milliseconds.
- Money is \`{ amount, currency }\` in minor units. Fields whose names end in \`Usd\` are US dollars.
- Lists accept \`page\` and \`limit\` and return \`{ data, page, limit, total, pages }\`. A page after the last is empty.
- Unknown fields and query parameters are 400. Reads by id or handle, the checkout resolver, statistics and recommendations of the trust fabric, order links, pictures, pages, health and metrics ignore unknown parameters. An empty query parameter counts as missing.
- Errors (400 and above) have the body \`{ statusCode, message, error, code, field }\`. \`code\` is stable; \`field\` is the path of the first invalid field.
- A record that belongs to another account is 404.
- Every response has \`x-request-id\`. If you send a valid one, it is returned.
- HEAD works wherever GET does. Another method on a known path is 405 with \`Allow\`.
- Login, public reads, lending and the trust fabric are also available under \`/api/v3\` (setting \`API_V3_PREFIX\`), for example \`/api/v3/merchant/login\`.`

const securitySchemes = {
  accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The `data.accessToken` of a login.' },
  secretKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-service-api-key',
    description: "A shop's secret key (`sk_…`). It opens every route of the shop that a program may call. Use it on servers only.",
  },
  publishableKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-service-api-key',
    description: "A shop's publishable key (`pk_…`). It opens carts, the checkout and reads of a storefront. Browsers may send it.",
  },
  integrationKey: {
    type: 'apiKey',
    in: 'header',
    name: 'integration-api-key',
    description: 'The key of the integration layer. Use it on servers only.',
  },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'The METRICS_TOKEN of the instance.' },
}

/** Security schemes that a scope opens: a secret key has all, a publishable key only the storefront's. */
const keySchemes = { none: [], server: ['secretKey'], storefront: ['publishableKey', 'secretKey'] } as const

/** Alternative credentials. The token of merchants comes first. */
function securityOf({ tokens = [], key, integrationKey, mayAskFor }: AccessRule): Schema[] {
  if (mayAskFor) return [{}, { [mayAskFor]: [] }]
  const token = tokens.length > 0 ? [{ accessToken: [] }] : []
  const ofKeys = [...keySchemes[key ?? 'none'].map((scheme) => ({ [scheme]: [] })), ...(integrationKey ? [{ integrationKey: [] }] : [])]
  return tokens.includes('merchant') ? [...token, ...ofKeys] : [...ofKeys, ...token]
}

const optionalHeader = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})
const shopHeader = optionalHeader('x-shop-id', 'Selects the shop, for merchants with several shops. Default: the first.')
const knownVersionHeader = optionalHeader('if-none-match', 'The `etag` of the version that you have.')
const expectedVersionHeader = optionalHeader(
  'if-match',
  'One or more `etag`s of the version to change, or `*`. If the record has another version, the response is 412 and nothing is changed. `W/` before a tag is ignored.',
)
const lastEventHeader = optionalHeader('last-event-id', 'The last `id` that you received. The stream continues after it.')
const idempotencyHeader = (required: boolean): Parameter => ({
  name: 'idempotency-key',
  in: 'header',
  required,
  description: 'Prevents repeated effects: for 24 hours, the same request with the same key returns the stored response.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
})

const headers = {
  RetryAfter: { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  ETag: { description: 'Version of the response, for `if-none-match`.', schema: { type: 'string' } },
  Version: {
    description: 'Version of the record, for `if-match`. Edits change it; sales and stock changes do not.',
    schema: { type: 'string' },
  },
}
const replayedHeader: Schema = {
  description: '`true` if the response is the stored one of an earlier request.',
  schema: { type: 'string', enum: ['true'] },
}
const eventPlaceHeader: Schema = {
  description: 'Current position in the streams of events. A stream that gets it as `last-event-id` sends every event after this response.',
  schema: { type: 'string' },
}
const headerRef = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })

const statusDescriptions: Record<string, string> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success, without a body.',
  304: 'Not changed since the version in `if-none-match`.',
  400: 'The body is not valid JSON, or a field or parameter is invalid. The message names it.',
  401: 'The credential is missing, malformed, expired, revoked or of the wrong kind.',
  403: 'The role, scope, origin, client address or country does not allow the request.',
  404: 'The record does not exist, or belongs to another account.',
  408: 'The body took too long to arrive, or too many bodies were arriving.',
  409: 'The current state does not allow the request, a value is already taken, or the same request is still in progress.',
  412: 'The record has another version than `if-match`.',
  413: 'The body is too large.',
  415: "The route does not accept the body's media type.",
  422: 'Something is missing for this step, or the idempotency key was used with another body.',
  429: 'Too many requests. Try again later.',
  500: 'Internal error.',
  503: 'Temporarily unavailable. The message says whether nothing was changed, the request was accepted, or the outcome is unknown, and what to send next.',
}
/** Every route reads and may refuse a body. */
const refusalsOfBodies = ['408', '413', '415']
const mayBeTriedLater = new Set(['429', '503'])
const errorRef: Schema = { $ref: '#/components/schemas/ApiError' }

/** The version of the implemented specification. */
const specificationVersion = '2.0.1'

/** Returns whether a route is documented; preflight and asset routes are not. */
export const isDocumented = ({ method, hooks }: DocumentedRoute): boolean => method !== 'OPTIONS' && hooks.detail?.hide !== true

/**
 * Creates the OpenAPI document of an app.
 * @param routes routes of the app
 * @param twinPrefix prefix under which some routes also respond; those are documented once
 */
export function openApiDocument(routes: readonly DocumentedRoute[], twinPrefix: string, version: string): OpenApi {
  const shared: SharedSchemas = new Map()
  const paths: Record<string, Record<string, Operation>> = {}
  const webhooks: Record<string, { readonly post: Schema }> = {}
  for (const route of routes) {
    if (!isDocumented(route) || route.path.startsWith(`${twinPrefix}/`)) continue
    const { path, operation } = draftOperation(route)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: finished(route, operation, shared) }
    Object.assign(webhooks, webhooksOf(route.hooks.detail?.['x-events'] ?? {}, operation.tags?.[0] ?? '', shared))
  }
  const used = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags = [] }) => tags)))
  return {
    openapi: '3.1.0',
    info: {
      title: 'souk',
      version: specificationVersion,
      'x-souk-version': version,
      description: apiDescription,
      contact: { name: 'The operator of this instance' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This instance' }],
    tags: Object.entries(tagDescriptions)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths: sorted(paths),
    webhooks: sorted(webhooks),
    components: { schemas: sorted(Object.fromEntries(shared)), securitySchemes, headers },
  }
}

const sorted = <Value>(record: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

type Draft = Omit<Operation, 'security' | 'responses'> & { readonly [extension: `x-${string}`]: unknown }

/** Creates an operation like the swagger plugin, without the responses, whose titles the plugin loses. */
function draftOperation({ method, path, hooks }: DocumentedRoute): { path: string; operation: Draft } {
  const schema: Parameters<typeof registerSchemaPath>[0]['schema'] = {}
  const hook = { ...hooks, response: undefined, parse: ['application/json'] }
  registerSchemaPath({ schema, path, method: method as 'GET', hook: hook as object, models: {} })
  const [[documentPath, methods] = []] = Object.entries(schema)
  const operation = Object.values(methods ?? {})[0]
  if (documentPath === undefined || operation === undefined) throw new Error(`${method} ${path} has no place in the document`)
  // JSON drops undefined values and the symbols of TypeBox.
  return { path: documentPath, operation: JSON.parse(JSON.stringify(operation)) }
}

function finished(route: DocumentedRoute, draft: Draft, shared: SharedSchemas): Operation {
  const {
    'x-access': access,
    'x-idempotent': idempotent,
    'x-versioned': versioned,
    'x-csv': csv,
    'x-resumable': resumable,
    description,
  } = route.hooks.detail ?? {}
  const rule = accessRules[access ?? 'public']
  const {
    'x-access': _,
    'x-while': __,
    'x-idempotent': ___,
    'x-upload': ____,
    'x-large-json': _____,
    'x-any-query': ______,
    'x-takes-no-turn': ______________,
    'x-fast-read': _______________,
    'x-exact-numbers': __________,
    'x-events': _______,
    'x-versioned': ________,
    'x-csv': ___________,
    'x-resumable': ____________,
    'x-event-place': _____________,
    parameters = [],
    requestBody: drafted,
    operationId,
    ...rest
  } = draft
  const requestBody = bodyOf(route, drafted, shared)
  const responses = answersOf(route, shared, isLimited(rule, route.method))
  const ownHeaders = [
    ...(rule.tokens?.includes('merchant') ? [shopHeader] : []),
    ...(idempotent ? [idempotencyHeader(idempotent === 'required')] : []),
    ...(responses['304'] ? [knownVersionHeader] : []),
    ...(versioned && changesRecord(route) ? [expectedVersionHeader] : []),
    ...(resumable ? [lastEventHeader] : []),
  ]
  const all = [...undeclaredPathParameters(route.path, parameters), ...parameters.map((one) => parameter(one, shared)), ...ownHeaders].map(
    (one) => withExample(one, route),
  )
  return {
    ...rest,
    operationId,
    description: [description, csv ? csvDescription : '', `Access: ${rule.who}.`].filter(Boolean).join('\n\n'),
    security: securityOf(rule),
    ...(all.length > 0 ? { parameters: all } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses,
  }
}

/** Description of CSV exports; see csv-list-routes.ts. */
const csvDescription =
  'With `accept: text/csv`, the response is the whole list as a file, whatever `page` and `limit` are: newest first (orders by number, products oldest first). It is for merchants and the secret key. A shop can run two exports at a time; more are 429. Records added during the export are not included, and each record is exported as it is when it is read. Amounts are decimals in major units. If an export fails, the connection is closed before the end of the transfer encoding.'

function undeclaredPathParameters(path: string, declared: readonly Parameter[]): Parameter[] {
  const names = path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []))
  const declaredNames = new Set(declared.filter((one) => one.in === 'path').map(({ name }) => name))
  return names.filter((name) => !declaredNames.has(name)).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
}

function parameter({ schema = {}, ...rest }: Parameter, shared: SharedSchemas): Parameter {
  return { ...rest, schema: documentSchema(schema, shared) }
}

/** Adds an example to a path parameter. */
function withExample(one: Parameter, { method, path }: DocumentedRoute): Parameter {
  const example = one.in === 'path' ? pathExample(path.replace(/:(\w+)/g, '{$1}'), one.name, method) : undefined
  return example === undefined ? one : { ...one, example }
}

/** The request body: a schema, or a file of the route's media types. */
function bodyOf({ hooks }: DocumentedRoute, drafted: Body | undefined, shared: SharedSchemas): Body | undefined {
  const upload = hooks.detail?.['x-upload']
  if (upload) return { required: true, content: Object.fromEntries(upload.types.map((type) => [type, { schema: fileSchema(type) }])) }
  const schema = drafted?.content['application/json']?.schema
  if (!schema) return undefined
  const required = Array.isArray(schema['required']) && schema['required'].length > 0
  // Platforms may send fields of their own.
  const document = hooks.detail?.['x-access'] === 'platform' ? documentSchema : documentBody
  return { required, content: { 'application/json': { schema: document(schema, shared) } } }
}

const fileSchema = (type: string): Schema => (type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' })

/**
 * Returns the media type of a response: text states it with `t.String({ contentMediaType: 'text/html' })`, a file with
 * `{ 'x-media-types': […] }`, and JSON that is also available as text with `{ 'x-texts-too': ['text/html'] }`.
 */
const mediaTypeOf = ({ contentMediaType }: Schema) => (typeof contentMediaType === 'string' ? contentMediaType : 'application/json')

/**
 * Returns whether a versioned route changes an existing record. Routes without an id or a shop in the path create one.
 */
const changesRecord = ({ method, path }: DocumentedRoute): boolean => method !== 'GET' && !(method === 'POST' && !path.includes(':'))

function answersOf(route: DocumentedRoute, shared: SharedSchemas, limited: boolean): Record<string, Response> {
  const { method, hooks } = route
  const { [errorStatuses]: errors = [], ...others } = (hooks.response ?? {}) as { [errorStatuses]?: number[] }
  const refused = Object.fromEntries(errors.map((status) => [status, ErrorBody]))
  const stated: Record<string, Schema> = JSON.parse(JSON.stringify({ ...others, ...refused }))
  const { 'x-idempotent': idempotent, 'x-versioned': hasVersion, 'x-csv': csv, 'x-event-place': saysPlace } = hooks.detail ?? {}
  const implied = [
    ...(method === 'GET' || hooks.detail?.['x-access'] === 'platform' ? [] : refusalsOfBodies),
    ...(idempotent ? ['409', '422'] : []),
    ...(hasVersion && changesRecord(route) ? ['412'] : []),
    ...(limited || csv ? ['429'] : []),
  ]
  const replayed = idempotent ? { 'idempotent-replayed': replayedHeader } : {}
  const versioned = stated['304'] ? { etag: headerRef('ETag') } : hasVersion ? { etag: headerRef('Version') } : {}
  const answers: Record<string, Response> = {}
  for (const status of new Set([...Object.keys(stated), ...implied])) {
    const schema = stated[status] ?? errorRef
    const { description } = schema
    const isSuccess = status < '400'
    const named = {
      ...(isSuccess && saysPlace ? { 'last-event-id': eventPlaceHeader } : {}),
      ...(isSuccess ? { ...replayed, ...(status === '204' ? {} : versioned) } : {}),
      ...(mayBeTriedLater.has(status) ? { 'retry-after': headerRef('RetryAfter') } : {}),
    }
    answers[status] = {
      description: typeof description === 'string' ? description : (statusDescriptions[status] ?? 'A response.'),
      ...(Object.keys(named).length > 0 ? { headers: named } : {}),
      ...contentOf(csv && status === '200' ? { ...schema, 'x-texts-too': ['text/csv'] } : schema, shared),
    }
  }
  return answers
}

function contentOf(schema: Schema, shared: SharedSchemas): Pick<Response, 'content'> {
  if (schema['type'] === 'void') return {}
  if (schema['$ref'] !== undefined) return { content: { 'application/json': { schema: errorRef } } }
  const files = schema['x-media-types']
  if (Array.isArray(files)) return { content: Object.fromEntries(files.map((type: string) => [type, { schema: fileSchema(type) }])) }
  const { 'x-texts-too': texts, ...plain } = schema
  const others = Array.isArray(texts) ? Object.fromEntries(texts.map((type: string) => [type, { schema: fileSchema('text/') }])) : {}
  return { content: { [mediaTypeOf(plain)]: { schema: documentSchema(plain, shared) }, ...others } }
}
