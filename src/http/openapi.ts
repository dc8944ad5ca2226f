import { registerSchemaPath } from '@elysiajs/swagger/utils'
import { type Access, type AccessRule, accessRules, isLimited } from './access-rules.ts'
import { pathExample } from './openapi-examples.ts'
import { documentSchema, type Schema, type SharedSchemas } from './openapi-schema.ts'
import { type ToldEvents, webhooksOf } from './openapi-webhooks.ts'
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
  readonly 'x-events'?: ToldEvents
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
  Login: 'Accounts, access tokens and their renewal.',
  Console: 'The page at /console, and its session. All of it answers 404 while `CONSOLE_ENABLED` is false.',
  Shops: 'The shop, its settings, keys and wallet.',
  KYB: 'What business a merchant runs, as an operator has confirmed it.',
  Lending:
    'Applications for a loan, the documents that they need, and what operators decide. All of it answers 404 while `LENDING_PLATFORM_ENABLED` is false.',
  Catalog: 'Products, variants and collections.',
  Blogs: 'Blog posts.',
  Customers: "A shop's customers and their address books.",
  Discounts: 'What a shop takes off its prices, by code or by itself.',
  'Gift cards': 'Issued by a shop, and put on carts.',
  Media: 'Pictures of a shop, which anybody reads.',
  'Payment methods': 'How a shop may be paid, and what its payment page is told of it.',
  Carts: 'What a shopper is about to buy, and the checkout.',
  Orders: 'What was bought, paid, refunded and sent.',
  Events: 'What happens, as it happens: streams for pages that wait for something.',
  Affiliates: 'Partners who send shoppers to a shop, and what they earn.',
  Webhooks: 'What a shop is told about, and what payment processors and service providers tell us.',
  Administration: 'What the operators of the instance see.',
  Dashboards: 'Figures of the whole network, for operators.',
  Operations: 'How the instance itself is doing, for operators.',
  Trust: 'Who lends and who attests, what was attested on public chains, and what that comes to.',
  Credit: 'What merchants could be lent by the rules of credit, who lends, and what became of loans.',
  Integration: 'The integration services layer.',
  Service: 'Health, metrics and documentation of this instance.',
}

const apiDescription = `A commerce backend: merchants, shops and keys, products, collections and blogs.

**Conventions**

- Bodies are JSON objects (\`application/json\`) of at most 64 KB, or 1 MB where products, collections, blogs, settings and lending applications are written, with at most 50,000 values and 32 levels. Timestamps are ISO 8601 in UTC, with milliseconds.
- Money is \`{ amount, currency }\` in minor units of the currency, except fields that end in \`Usd\`: those are dollars.
- Lists answer \`{ data, page, limit, total, pages }\`; a page past the end is empty.
- A field or a query parameter that a route does not know is refused with 400, and the message names it. Reads by id or handle, the checkout resolver, the statistics and recommendations of the trust fabric, order links, pictures, pages, health and metrics ignore unknown ones. A query parameter with an empty value counts as absent.
- Every status of 400 and above has the body \`{ statusCode, message, error }\`.
- A record of somebody else's answers as if there were none: 404.
- Every answer carries \`x-request-id\`; a valid one that you send is kept.
- HEAD answers wherever GET does.
- A known path with another method is 405 with \`Allow\`.
- Login, public reads, lending and the trust fabric also answer under \`/api/v3\` (setting \`API_V3_PREFIX\`), with the same handlers and the same access: \`/merchant/login\` is \`/api/v3/merchant/login\` too.`

const securitySchemes = {
  accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The `data.accessToken` of a login.' },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-service-api-key',
    description: "A shop's publishable key (`pk_…`, for storefronts) or secret key (`sk_…`, for servers).",
  },
  integrationKey: {
    type: 'apiKey',
    in: 'header',
    name: 'integration-api-key',
    description: 'The key of the integration layer, from server to server.',
  },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'The METRICS_TOKEN of this instance.' },
}

/** Alternative credentials. The token of merchants comes first. */
function securityOf({ tokens = [], key, integrationKey, mayAskFor }: AccessRule): Schema[] {
  if (mayAskFor) return [{}, { [mayAskFor]: [] }]
  const token = tokens.length > 0 ? [{ accessToken: [] }] : []
  const ofKeys = [...(key ? [{ apiKey: [] }] : []), ...(integrationKey ? [{ integrationKey: [] }] : [])]
  return tokens.includes('merchant') ? [...token, ...ofKeys] : [...ofKeys, ...token]
}

const optionalHeader = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})
const shopHeader = optionalHeader('x-shop-id', 'For merchants with several shops: the shop that is meant. Default the first.')
const knownVersionHeader = optionalHeader('if-none-match', 'The `etag` of the version that you hold.')
const expectedVersionHeader = optionalHeader(
  'if-match',
  'The `etag` of the version that is to be changed, several, or `*`: another version is 412, and nothing is changed. `W/` before a tag is ignored.',
)
const lastEventHeader = optionalHeader('last-event-id', 'The last `id` that you received: the stream goes on behind it.')
const idempotencyHeader = (required: boolean): Parameter => ({
  name: 'idempotency-key',
  in: 'header',
  required,
  description: 'Makes the effect happen once: for 24 hours the same request under the same key gets the stored answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
})

const headers = {
  RetryAfter: { description: 'Seconds after which trying again makes sense.', schema: { type: 'integer', minimum: 1 } },
  ETag: { description: 'The version of the answer, for `if-none-match`.', schema: { type: 'string' } },
  Version: {
    description: 'The version of the record, for `if-match`: changes by hand raise it, sales and stock do not.',
    schema: { type: 'string' },
  },
}
const replayedHeader: Schema = {
  description: '`true` when the answer is the stored one of an earlier request.',
  schema: { type: 'string', enum: ['true'] },
}
const eventPlaceHeader: Schema = {
  description: 'Where streams of events stand: sent back to one of them under this name, it tells of all that happens from this answer on.',
  schema: { type: 'string' },
}
const headerRef = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })

const statusDescriptions: Record<string, string> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done; there is no body.',
  304: 'Not changed since the version in `if-none-match`.',
  400: 'The body is not valid JSON, or a field or parameter breaks its rule; the message names it.',
  401: 'A credential is missing, malformed, expired, revoked or of the wrong kind.',
  403: 'Not with this role, scope, origin, address or place.',
  404: "There is no such record, or it is somebody else's.",
  408: 'The body took too long to arrive, or too many were on their way at once.',
  409: 'The current state does not allow it, something is taken already, or the same request is still at work.',
  412: 'The record has another version than `if-match` names.',
  413: 'The body is too large.',
  415: 'The body is not of the media type that the route takes.',
  422: 'Something is missing for this step, or the idempotency key was used with another body.',
  429: 'Too often: try again later.',
  500: 'Something went wrong on our side.',
  503: 'Not now: the message says whether nothing was changed, the request was accepted, or its outcome is unknown, and what to send then.',
}
/** Every route reads and may refuse a body. */
const refusalsOfBodies = ['408', '413', '415']
const mayBeTriedLater = new Set(['429', '503'])
const errorRef: Schema = { $ref: '#/components/schemas/Error' }

/** The version of the implemented specification. */
const specificationVersion = '2.0.1'

/** Whether a route is documented; preflight and asset routes are not. */
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
    const { path, operation } = drafted(route)
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
function drafted({ method, path, hooks }: DocumentedRoute): { path: string; operation: Draft } {
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
    operationId: camelCase(operationId),
    description: [description, csv ? csvDescription : '', `For ${rule.who}.`].filter(Boolean).join('\n\n'),
    security: securityOf(rule),
    ...(all.length > 0 ? { parameters: all } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses,
  }
}

/** Description of CSV exports; see csv-list-routes.ts. */
const csvDescription =
  '`accept: text/csv` answers the whole list as a file, whatever `page` and `limit` say, in the order of ids, the newest first (orders by number, products the oldest first): for merchants and the secret key, two at a time of a shop, else 429. What is added meanwhile is not in it; each record is as it was when it was read. Amounts are decimals of major units. One that breaks off ends without the end of its transfer encoding: the connection is cut.'

const camelCase = (text: string) => text.replace(/[^a-zA-Z0-9]+(.)?/g, (_, next: string = '') => next.toUpperCase())

function undeclaredPathParameters(path: string, declared: readonly Parameter[]): Parameter[] {
  const names = path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []))
  const known = new Set(declared.filter((one) => one.in === 'path').map(({ name }) => name))
  return names.filter((name) => !known.has(name)).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
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
  return { required, content: { 'application/json': { schema: documentSchema(schema, shared) } } }
}

const fileSchema = (type: string): Schema => (type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' })

/**
 * Text that is not JSON says so: `t.String({ contentMediaType: 'text/html' })`; a file, of which types it may be: `{
 * 'x-media-types': […] }`; JSON that is told as text where that is asked for: `{ 'x-texts-too': ['text/html'] }`.
 */
const mediaTypeOf = ({ contentMediaType }: Schema) => (typeof contentMediaType === 'string' ? contentMediaType : 'application/json')

/** Whether a versioned route changes an existing record. Routes without an id or a shop in the path create one. */
const changesRecord = ({ method, path }: DocumentedRoute): boolean => method !== 'GET' && !(method === 'POST' && !path.includes(':'))

function answersOf(route: DocumentedRoute, shared: SharedSchemas, limited: boolean): Record<string, Response> {
  const { method, hooks } = route
  const { [errorStatuses]: errors = [], ...others } = (hooks.response ?? {}) as { [errorStatuses]?: number[] }
  const refused = Object.fromEntries(errors.map((status) => [status, ErrorBody]))
  const stated: Record<string, Schema> = JSON.parse(JSON.stringify({ ...others, ...refused }))
  const { 'x-idempotent': idempotent, 'x-versioned': hasVersion, 'x-csv': csv, 'x-event-place': saysPlace } = hooks.detail ?? {}
  const implied = [
    ...(method === 'GET' ? [] : refusalsOfBodies),
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
      description: typeof description === 'string' ? description : (statusDescriptions[status] ?? 'An answer.'),
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
