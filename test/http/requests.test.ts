/** Tests what every route requires of its requests: known names, bounded lengths, and the order of checks. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { accessRules } from '../../src/http/access-rules.ts'
import { shapeOf } from '../../src/http/schema-shape.ts'
import { type CallOptions, type TestApp, testApp } from '../support/app.ts'
import { acceptedCredentials, createCredentials } from '../support/credentials.ts'
import { approveBusiness } from '../support/kyb.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Hooks = { detail?: Record<string, unknown>; body?: TSchema; query?: TSchema; params?: TSchema; headers?: TSchema }
type Route = { method: string; path: string; hooks: Hooks }

async function routesOf(app: TestApp): Promise<Route[]> {
  const { createApp } = await import('../../src/app.ts')
  return createApp(app.deps).routes.filter(({ method }) => method !== 'OPTIONS') as unknown as Route[]
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const pathOf = ({ path }: Route) => path.replace(/:\w+/g, 'none_00000000000000000000000000')

/** Returns a function that sends a request with a credential that opens the route. */
async function createAllowedCaller(app: TestApp) {
  const { credentials, merchant, admin } = await createCredentials(app)
  await approveBusiness(app, merchant, admin)
  return async (route: Route, path: string, options: CallOptions = {}) => {
    const access = route.hooks.detail?.['x-access'] as keyof typeof accessRules
    const [kind] = acceptedCredentials(access)
    return app.call(route.method, path, { ...(kind ? credentials[kind] : {}), ...options })
  }
}

/** Returns every text of a schema, with its path. */
function textsIn(schema: TSchema, at = ''): { at: string; schema: TSchema }[] {
  const children: [string, TSchema][] = [
    ...Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>),
    ...(schema['items'] ? [['0', schema['items'] as TSchema] as [string, TSchema]] : []),
    ...(['anyOf', 'allOf'] as const).flatMap((key) => ((schema[key] ?? []) as TSchema[]).map((child): [string, TSchema] => ['', child])),
    ...Object.values((schema['patternProperties'] ?? {}) as Record<string, TSchema>).map((child): [string, TSchema] => ['*', child]),
  ]
  const ownText = schema['type'] === 'string' && schema['const'] === undefined ? [{ at, schema }] : []
  return [...ownText, ...children.flatMap(([name, child]) => textsIn(child, [at, name].filter(Boolean).join('.')))]
}

/** Returns the paths of the objects in a schema, through the first items of lists. */
function objectsIn(schema: TSchema, at: string[] = []): string[][] {
  if (schema['anyOf']) return (schema['anyOf'] as TSchema[]).flatMap((option) => objectsIn(option, at))
  if (schema['type'] === 'array') return objectsIn(schema['items'], [...at, '0'])
  if (schema['type'] !== 'object') return []
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>)
  return [...(schema['properties'] ? [at] : []), ...properties.flatMap(([name, property]) => objectsIn(property, [...at, name]))]
}

/** Returns an object with nothing but a field at the end of a path. */
const only = (path: readonly string[], name: string): object =>
  path.reduceRight<object>((inner, step) => (step === '0' ? [inner] : { [step]: inner }), { [name]: 1 })

test('every route refuses unknown body fields by name, at every depth', async () => {
  await using app = await testApp({ SIGNUP_ENABLED: 'true', LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' })
  const call = await createAllowedCaller(app)
  let nested = 0
  for (const route of await routesOf(app)) {
    const { method, hooks } = route
    if (method === 'GET' || hooks.detail?.['x-upload'] || /^(processor|provider|platform)$/.test(String(hooks.detail?.['x-access'])))
      continue
    for (const path of objectsIn(hooks.body ?? Type.Object({}))) {
      const answer = await call(route, pathOf(route), { body: only(path, 'amout'), headers: { 'idempotency-key': 'k' } })
      const field = [...path, 'amout'].join('.')
      expect([nameOf(route), answer.status, answer.body.message]).toEqual([nameOf(route), 400, `unknown field: ${field}`])
      if (path.length > 0) nested++
    }
  }
  expect(nested).toBeGreaterThan(20)
})

test('every route refuses unknown query parameters by name, except reads by id or handle and pages', async () => {
  await using app = await testApp({ SIGNUP_ENABLED: 'true', LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' })
  const call = await createAllowedCaller(app)
  const ignoring: string[] = []
  for (const route of await routesOf(app)) {
    const answer = await call(route, `${pathOf(route)}?limt=5`, route.method === 'GET' ? {} : { body: {} })
    const isRefused = answer.status === 400 && answer.body.message === 'unknown field: limt'
    // Platforms of agents may send more than they need (section 12).
    if (route.hooks.detail?.['x-access'] === 'platform') continue
    const isReadById = route.method === 'GET' && /\/:\w+$/.test(route.path) && !route.hooks.query
    if (isReadById) expect([nameOf(route), isRefused]).toEqual([nameOf(route), false])
    else if (!isRefused) ignoring.push(nameOf(route))
  }
  expect(ignoring.sort()).toEqual(
    [
      ...['GET /', 'GET /docs', 'GET /docs/json', 'GET /docs/favicon.svg', 'GET /docs/page.css', 'GET /docs/page.js'],
      ...['GET /docs/swagger-ui-bundle.js', 'GET /docs/swagger-ui-bundle.js.LICENSE.txt', 'GET /docs/swagger-ui.css'],
      ...['GET /console', 'GET /console/*'],
      ...['GET /.well-known/ucp', 'GET /.well-known/ucp/2026-04-08'],
      ...['GET /health/live', 'GET /health/ready', 'GET /metrics'],
      ...[
        'GET /checkout/:shopUrl/payment-intent-resolver',
        'GET /collection-v2/published/:shopName/:handle',
        'GET /v2/orders/public/:token/receipt',
        'GET /v2/trust-fabric/stats',
        'GET /v2/service-provider-routing/recommend',
      ].flatMap((route) => [route, route.replace(' ', ' /api/v3')]),
      ...['POST /webhooks/payments/:processor', 'POST /webhooks/payments/:processor/:shopId'],
      'POST /webhooks/payments/qpay/callback/:token',
      ...[
        'POST /pages/cart/:token',
        'POST /pages/unsubscribe/:token',
        'POST /pages/pay/:token',
        'POST /pages/buy/:token',
        'POST /pages/returns/:token',
        'POST /v2/orders/public/:token/returns',
        'POST /pages/reset/:token',
        'POST /pages/verify/:token',
        'POST /pages/invitation/:token',
      ],
    ].sort(),
  )
})

test('an empty query parameter counts as absent on every route, known or unknown, alone or repeated', async () => {
  await using app = await testApp({ SIGNUP_ENABLED: 'true', LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' })
  const call = await createAllowedCaller(app)
  let parameters = 0
  const comparable = ({ status, text }: { status: number; text: string }) => [status, text.replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '""')]
  for (const route of await routesOf(app)) {
    const names = Object.keys((route.hooks.query?.['properties'] ?? {}) as object)
    if (route.method !== 'GET' || names.length === 0) continue
    parameters += names.length
    const baseline = comparable(await call(route, pathOf(route)))
    for (const query of [`${names.join('=&')}=`, names.join('&'), 'limt=', `${names[0]}=&${names[0]}=`])
      expect([nameOf(route), query, ...comparable(await call(route, `${pathOf(route)}?${query}`))]).toEqual([
        nameOf(route),
        query,
        ...baseline,
      ])
    if (!route.hooks.detail?.['x-csv']) continue
    const file = async (query: string) => comparable(await call(route, `${pathOf(route)}?${query}`, { headers: { accept: 'text/csv' } }))
    expect([nameOf(route), ...(await file(`${names.join('=&')}=`))]).toEqual([nameOf(route), ...(await file(''))])
  }
  expect(parameters).toBeGreaterThan(60)
  const limitOf = async (query: string) => (await app.call('GET', `/v2/service-provider-routing/recommend?${query}`)).status
  for (const query of ['limit=3&limit=', 'limit=&limit=3', 'x=1&x=2&limit=3']) expect([query, await limitOf(query)]).toEqual([query, 200])
  expect(await limitOf('limit=&limit=x')).toBe(400)
})

test('every text with a pattern or format has a maximum length and a rule in words', async () => {
  await using app = await testApp()
  let forms = 0
  for (const route of await routesOf(app)) {
    for (const location of ['body', 'query', 'params', 'headers'] as const) {
      const schema = route.hooks[location]
      if (!schema || typeof schema !== 'object') continue
      expect(() => shapeOf(schema), `${nameOf(route)} ${location}`).not.toThrow()
      for (const { at, schema: text } of textsIn(schema)) {
        if (text['pattern'] === undefined && text['format'] === undefined) continue
        forms++
        expect([nameOf(route), at, typeof text['maxLength'], typeof text['rule']]).toEqual([nameOf(route), at, 'number', 'string'])
        expect(text['rule'], `${nameOf(route)} ${at}`).not.toMatch(/[\^$\\[\]{}|*+?]/)
      }
    }
  }
  expect(forms).toBeGreaterThan(50)
})

describe('the format of a text field', () => {
  const body = (schema: TSchema) => Type.Object({ field: Type.Optional(Type.Union([schema, Type.Null()])) })

  test('a format without a maximum length is refused when the shape is built', () => {
    for (const unbounded of [
      Type.String({ format: 'email' }),
      Type.String({ pattern: '^a+$' }),
      Type.Array(Type.String({ format: 'uri' })),
    ]) {
      expect(() => shapeOf(body(unbounded))).toThrow('needs a maxLength')
      expect(() => shapeOf(Type.Record(Type.String(), unbounded))).toThrow('needs a maxLength')
      expect(() => shapeOf(Type.Intersect([Type.Object({ a: unbounded }), Type.Object({})]))).toThrow('needs a maxLength')
    }
    expect(() => shapeOf(Type.Union([Type.String({ pattern: '^a+$', maxLength: 5 }), Type.String({ maxLength: 6 })]))).toThrow(
      'same maxLength',
    )
    const other = { type: 'object', properties: { a: { $ref: 'elsewhere' } } } as unknown as TSchema
    expect(() => shapeOf(other)).toThrow('may not say $ref')
  })

  test('a violated format is reported in words, and an overlong text by its length', async () => {
    await using app = await testApp({ SIGNUP_ENABLED: 'true' })
    const { token } = await app.merchant()
    const refusal = async (method: string, path: string, body: object) => (await app.call(method, path, { token, body })).body.message
    const signup = { email: 'a@example.com', password: 'long enough 1', shopName: 'shop', country: 'US', currency: 'USD' }
    const long = 'a'.repeat(50_000)
    for (const [change, message] of [
      [{ email: 'nobody' }, 'email: must be an email address'],
      [{ email: `${long}@example.com` }, 'email: must be an email address, with at most 254 characters'],
      [{ shopName: 'A shop' }, 'shopName: must be 3 to 63 lower-case letters, digits and hyphens, no hyphen at the ends'],
      [{ country: 'us' }, 'country: must be a two-letter country code such as US'],
      [{ currency: 'usd' }, 'currency: must be a three-letter currency code such as USD'],
    ] as const)
      expect(await refusal('POST', '/merchant/signup', { ...signup, ...change })).toBe(message)
    expect(await refusal('PATCH', '/shops/v2', { logoUrl: 'ftp://example.com' })).toBe(
      'logoUrl: must be a URL that begins with http:// or https://',
    )
    expect(await refusal('PATCH', '/shops/v2', { contact: { email: 'nobody' } })).toBe('contact.email: must be an email address')
    expect(await refusal('PATCH', '/shops/v2', { logoUrl: `http://${long}` })).toBe(
      'logoUrl: must be a URL that begins with http:// or https://, with at most 2048 characters',
    )
    // Joiners, fillers and direction marks are invisible.
    for (const title of [' ', '\u200b', '\u202e\u202c ', '\u3164\u2800'])
      expect(await refusal('POST', '/product-v2', { title })).toBe('title: must be text that is not blank')
    expect((await app.call('GET', '/product-v2?page=0', { token })).body.message).toBe('page: must be a whole number of at least 1')
  })
})

describe('unknown field names', () => {
  test('a long unknown field name is truncated in the error, and values are never repeated', async () => {
    await using app = await testApp()
    const name = 'n'.repeat(5_000)
    const { body, text } = await app.call('POST', '/merchant/login', { body: { email: 'a', password: 'b', [name]: 'the value' } })
    expect(body.message).toBe(`unknown field: ${'n'.repeat(64)}…`)
    expect(text).not.toContain('the value')
    for (const raw of ['{"__proto__":{"email":"a"}}', '{"constructor":1}', '{"toString":1}', '{"":1}']) {
      const answer = await app.call('POST', '/merchant/login', { raw, headers: { 'content-type': 'application/json' } })
      expect([raw, answer.status, answer.body.message]).toEqual([raw, 400, `unknown field: ${Object.keys(JSON.parse(raw))[0]}`])
    }
  })

  test('unknown names are accepted within a free-form record, at any depth', () => {
    const schema = Type.Object({ documentationCompleted: Type.Record(Type.String(), Type.Unknown()) })
    const value: Static<typeof schema> = { documentationCompleted: { owner_id: true, any: { thing: [{ at: 'all' }] } } }
    const { documentationCompleted } = Object.fromEntries(shapeOf(schema).fields ?? [])
    expect(documentationCompleted?.others).toEqual({ anything: true })
    expect(Object.keys(value)).toEqual(['documentationCompleted'])
  })
})

describe('the order of checks', () => {
  const json = { 'content-type': 'application/json' }
  const unreadable = (bytes: number): RequestInit & { started: boolean } => {
    const state = { started: false }
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          state.started = true
          controller.enqueue(new Uint8Array(bytes).fill(0x20))
        },
      },
      { highWaterMark: 0 },
    )
    return Object.assign(state, { method: 'POST', headers: json, body })
  }

  test('checks run in this order: content-length, credential, scope, body', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const large = { ...json, 'content-length': String(2 * 1024 * 1024) }
    expect((await app.call('POST', '/product-v2', { raw: '{', headers: large })).status).toBe(413)
    for (const raw of ['{', '[]', '{"amout":1}', `{"a":"\\u0000"}`]) {
      expect((await app.call('POST', '/product-v2', { raw, headers: json })).status).toBe(401)
      expect((await app.call('POST', '/product-v2', { key: merchant.publishableKey, raw, headers: json })).status).toBe(403)
      expect((await app.call('POST', '/product-v2', { key: merchant.secretKey, raw, headers: json })).status).toBe(400)
    }
    // 404 comes only after the body was validated.
    expect((await app.call('PATCH', '/product-v2/prod_none', { token: merchant.token, body: { titel: 'x' } })).status).toBe(400)
    expect((await app.call('PATCH', '/product-v2/prod_none', { token: merchant.token, body: { title: 'x' } })).status).toBe(404)
  })

  test('checks of a body run in this order: size, content type, content', async () => {
    await using app = await testApp()
    const post = (raw: string, type: string) => app.call('POST', '/merchant/login', { raw, headers: { 'content-type': type } })
    expect((await post(' '.repeat(65_537), 'text/csv')).status).toBe(413)
    expect((await post('{', 'text/csv')).status).toBe(415)
    expect((await post('{', 'application/json')).status).toBe(400)
  })

  test('a body with content-encoding or content-range is refused for that', async () => {
    await using app = await testApp()
    for (const [header, value, status, message] of [
      ['content-encoding', 'gzip', 415, 'The body must not be encoded: send it without content-encoding'],
      ['content-encoding', 'Identity', 401, 'The email address or the password is wrong'],
      ['content-range', 'bytes 0-9/10', 400, 'The body must be complete: send it without content-range'],
    ] as const) {
      const request = {
        raw: '{"email":"a@example.com","password":"0123456789"}',
        headers: { 'content-type': 'application/json', [header]: value },
      }
      const answer = await app.call('POST', '/merchant/login', request)
      expect([value, answer.status, answer.body.message]).toEqual([value, status, message])
    }
  })

  test('no body is read before the caller is authenticated', async () => {
    await using app = await testApp()
    const peer = { requestIP: () => ({ address: '127.0.0.1' }) }
    for (const path of ['/product-v2', '/shops/v2/private-key/rotate', '/nowhere']) {
      const init = unreadable(1_000)
      const answer = await app.edge.fetch(new Request(`http://localhost${path}`, init), peer)
      expect([path, answer.status, init.started]).toEqual([path, path === '/nowhere' ? 404 : 401, false])
    }
  })
})

describe('limits of JSON bodies', () => {
  test('a route accepts no more JSON values than its fields can hold, checked before parsing', async () => {
    await using app = await testApp()
    const shapes = (method: string, path: string) => app.routeTable.get(method, path)?.shapes()
    expect(shapes('POST', '/merchant/login')?.valuesMax).toBe(1_008)
    expect(shapes('POST', '/cart/:id/complete')?.valuesMax).toBe(1_002)
    expect(shapes('PUT', '/collection-v2/:id/products')?.valuesMax).toBe(1_000 + 2 * 5_002)
    expect(shapes('POST', '/product-v2')?.valuesMax).toBeLessThanOrEqual(50_000)
    const login = async (body: object) => (await app.call('POST', '/merchant/login', { body })).body.message
    const some = (count: number) => Array.from({ length: count }, () => 1)
    expect(await login({ email: 'a', password: 'b', other: some(900) })).toBe('unknown field: other')
    expect(await login({ email: 'a', password: 'b', other: some(1_100) })).toBe('The body has more than 1008 values')
  })

  test('the limit of a JSON body is 64 KB, and 1 MB for products, collections, blogs, settings and applications', async () => {
    await using app = await testApp()
    const lending = [
      ...[['POST', '/lending-application'] as const, ['PATCH', '/lending-application/:id'] as const],
      ...['/submit', '/withdraw'].map((rest) => ['POST', `/lending-application/:id${rest}`] as const),
      ['POST', '/admin/lending-application/:id/decision'] as const,
    ]
    const large = (await routesOf(app)).filter(({ hooks }) => hooks.detail?.['x-large-json']).map(nameOf)
    expect(large.sort()).toEqual(
      [
        ...[
          'POST /product-v2',
          'PATCH /product-v2/:id',
          'POST /collection-v2',
          'PATCH /collection-v2/:id',
          'PUT /collection-v2/:id/products',
        ],
        ...['POST /blogs', 'PATCH /blogs/:id', 'PUT /shops/v2/tax-rates', 'PUT /shops/v2/shipping-methods'],
        ...[
          'PUT /shops/v2/payment-methods',
          'PUT /shops/v2/processor-accounts/:processor',
          'PUT /admin/partnerships',
          'PUT /shops/v2/agents',
        ],
        'PUT /shops/v2/mail/templates/:template/:language',
        ...lending.flatMap(([method, path]) => [`${method} ${path}`, `${method} /api/v3${path}`]),
      ].sort(),
    )
    const { token } = await app.merchant()
    const filled = (length: number) => `{"title":"Tee"${' '.repeat(length - 15)}}`
    const status = async (method: string, path: string, length: number) =>
      (await app.call(method, path, { token, raw: filled(length), headers: { 'content-type': 'application/json' } })).status
    expect(await status('POST', '/product-v2', 1024 * 1024)).toBe(201)
    expect(await status('POST', '/product-v2', 1024 * 1024 + 1)).toBe(413)
    expect(await status('PATCH', '/shops/v2', 64 * 1024)).toBe(200)
    expect(await status('PATCH', '/shops/v2', 64 * 1024 + 1)).toBe(413)
  })
})

test('a repeated query parameter is refused by name on every route that knows its query', async () => {
  await using app = await testApp({ LENDING_PLATFORM_ENABLED: 'true', AGENTS_ENABLED: 'true' })
  const ask = await createAllowedCaller(app)
  const withQuery = (await routesOf(app)).filter(({ method, hooks }) => method === 'GET' && hooks.query && !hooks.detail?.['x-any-query'])
  expect(withQuery.length).toBeGreaterThan(10)
  for (const route of withQuery) {
    const [name = ''] = Object.keys((route.hooks.query?.['properties'] ?? {}) as object)
    const { status, body } = await ask(route, `${pathOf(route)}?${name}=1&${name}=1`)
    expect([nameOf(route), status, body.message]).toEqual([nameOf(route), 400, `${name}: given more than once`])
  }
  const { secretKey } = await app.merchant()
  const file = { key: secretKey, raw: 'Title\nTea\n', headers: { 'content-type': 'text/csv' } }
  const imported = await app.call('POST', '/product-v2/import?dryRun=true&dryRun=false', file)
  expect([imported.status, imported.body.message]).toEqual([400, 'dryRun: given more than once'])
})

test('an overlong query parameter is reported with its format', async () => {
  await using app = await testApp()
  const { secretKey } = await app.merchant()
  const { status, body } = await app.call('GET', '/v2/orders?page=9007199254740991', { key: secretKey })
  expect([status, body.message]).toEqual([400, 'page: must be a whole number of at least 1, with at most 15 characters'])
})
