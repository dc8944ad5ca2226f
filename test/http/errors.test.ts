/** Tests that every error is `{ statusCode, message, error, code, field? }` and never repeats input. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { type Database, DatabaseOutcomeUnknown } from '../../db/engine.ts'
import checkedIn from '../../docs/openapi.json'
import { errorCodes } from '../../src/core/error-codes.ts'
import { runInRequest, runUntracked, trackCommits } from '../../src/core/request-context.ts'
import { asAppError } from '../../src/http/errors.ts'
import { type Answer, type CallOptions, testApp } from '../support/app.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const root = join(import.meta.dir, '../..')

const canary = 'CANARY-d41d8cd98f00'
const json = { 'content-type': 'application/json' }

function expectRefusal(answer: Answer, status: number, message?: string | RegExp): void {
  expect([answer.status, answer.text]).toEqual([status, answer.text])
  const { statusCode, message: _, error, code, field, ...rest } = answer.body
  expect([statusCode, typeof error, rest]).toEqual([status, 'string', {}])
  expect(Object.keys(errorCodes)).toContain(code)
  if (field !== undefined) expect(answer.body.message).toContain(field)
  if (message instanceof RegExp) expect(answer.body.message).toMatch(message)
  else if (message !== undefined) expect(answer.body.message).toBe(message)
  expect(answer.text).not.toContain(canary)
  expect(answer.headers.get('content-type')).toStartWith('application/json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('x-request-id')).toBeTruthy()
}

test('docs/api.md and the OpenAPI document list every code with its meaning, and the program uses each', async () => {
  const text = await Bun.file(join(root, 'docs/api.md')).text()
  for (const [code, meaning] of Object.entries(errorCodes)) expect(text).toContain(`| \`${code}\` | ${meaning} |`)
  const { description, ...code } = checkedIn.components.schemas.ApiError.properties.code
  // A client that is generated from the document accepts codes of later versions.
  expect(code).toEqual({ type: 'string', 'x-extensible-enum': Object.keys(errorCodes) })
  for (const [code, meaning] of Object.entries(errorCodes)) expect(description).toContain(`- \`${code}\`: ${meaning}`)
  const sources = [...new Glob('src/{core,http,modules}/**/*.ts').scanSync({ cwd: root })].filter(
    (file) => !file.endsWith('error-codes.ts'),
  )
  const program = sources.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  expect(Object.keys(errorCodes).filter((code) => !program.includes(`'${code}'`))).toEqual([])
})

test('an invalid field is named by its path, with an example of what is expected', async () => {
  await using app = await testApp()
  const { token } = await app.merchant()
  const post = async (body: object) => {
    const { message, code, field } = (await app.call('POST', '/product-v2', { token, body })).body
    return { message, code, field }
  }
  const variant = (one: object) => ({ title: 'Tea', variants: [one] })
  expect(await post(variant({ price: 12.5 }))).toEqual({
    message: 'variants.0.price: expected {"amount": 1250, "currency": "USD"}; amounts are in minor units',
    code: 'invalid_field',
    field: 'variants.0.price',
  })
  expect(await post(variant({ price: { amount: 12.5, currency: 'USD' } }))).toEqual({
    message: 'variants.0.price.amount: must be a whole number of minor units: 12.50 USD is 1250',
    code: 'invalid_field',
    field: 'variants.0.price.amount',
  })
  // Also for a money field that has a description.
  expect((await app.call('POST', '/giftcard', { token, body: { amount: 500 } })).body.message).toBe(
    'amount: expected {"amount": 1250, "currency": "USD"}; amounts are in minor units',
  )
  expect(await post({})).toEqual({ message: 'title: required', code: 'missing_field', field: 'title' })
  expect(await post({ title: 'Tea', amout: 1 })).toEqual({ message: 'unknown field: amout', code: 'unknown_field', field: 'amout' })
})

test('a credential in the header of another kind is refused with the right header', async () => {
  await using app = await testApp()
  const shop = await app.merchant()
  const refusal = async (headers: Record<string, string>) => (await app.call('GET', '/product-v2', { headers })).body
  expect(await refusal({ authorization: `Bearer ${shop.secretKey}` })).toMatchObject({
    statusCode: 401,
    message: 'API keys are sent in the header x-service-api-key, not in Authorization',
  })
  expect(await refusal({ 'x-service-api-key': `Bearer ${shop.token}` })).toMatchObject({
    statusCode: 401,
    message: 'Access tokens are sent as Authorization: Bearer TOKEN, not in x-service-api-key',
  })
})

describe('error responses have the documented shape', () => {
  test('an unknown path, or a known path with another method, has the documented error', async () => {
    await using app = await testApp()
    expectRefusal(await app.call('GET', `/nowhere/${canary}`), 404, 'Unknown path')
    expectRefusal(await app.call('GET', '/health%2Flive'), 404)
    expectRefusal(await app.call('PROPFIND', '/nowhere'), 404)
    const refused = async (method: string, path: string, allow: string, named = allow) => {
      const answer = await app.call(method, path, method === 'PUT' ? { body: {} } : {})
      expectRefusal(answer, 405, `Method not allowed; allowed: ${named}`)
      expect([answer.body.error, answer.headers.get('allow')]).toEqual(['Method Not Allowed', allow])
    }
    await refused('PUT', '/merchant/login', 'POST, OPTIONS', 'POST')
    await refused('GET', '/merchant/login', 'POST, OPTIONS', 'POST')
    await refused('DELETE', '/shops/v2', 'GET, POST, PATCH, HEAD', 'GET, POST, PATCH')
    await refused('DELETE', '/product-v2', 'GET, POST, HEAD', 'GET, POST')
    await refused('PROPFIND', '/health/live', 'GET, HEAD, OPTIONS', 'GET')
    await refused('POST', '/v2/orders/some', 'GET, PATCH, HEAD, OPTIONS', 'GET, PATCH')
    await refused('POST', '/console/some/screen', 'GET, HEAD', 'GET')
    await refused('OPTIONS', '/shops/v2', 'GET, POST, PATCH, HEAD', 'GET, POST, PATCH')
    // Lending is switched off: its paths do not exist.
    expectRefusal(await app.call('DELETE', '/lending-application'), 404, 'Unknown path')
  })

  test('a body that is not a JSON object has the documented error', async () => {
    await using app = await testApp()
    const post = (raw: string | Uint8Array) => app.call('POST', '/merchant/login', { raw, headers: json })
    for (const raw of [`{"email":"${canary}"`, `${canary}`, '{"a":1,}', "{'a':1}", 'undefined', '{"a":01}', '\u0000'])
      expectRefusal(await post(raw), 400, 'The body is not valid JSON')
    expectRefusal(await post(new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])), 400, 'The body is not valid JSON')
    expectRefusal(await post(new Uint8Array([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])), 400, 'The body is not valid JSON')
    for (const raw of ['[]', 'null', `"${canary}"`, '1', 'true', `[{"email":"${canary}"}]`])
      expectRefusal(await post(raw), 400, 'The body must be a JSON object')
  })

  test('a body with unlimited nesting or a NUL character has the documented error', async () => {
    await using app = await testApp()
    const post = (raw: string) => app.call('POST', '/merchant/login', { raw, headers: json })
    for (const depth of [40, 5_000]) {
      expectRefusal(await post(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`), 400)
      expectRefusal(await post(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`), 400)
    }
    expectRefusal(await post('{"email":"a\\u0000b","password":"x"}'), 400, 'The body contains a NUL character')
    expectRefusal(await post('{"a\\u0000b":"x"}'), 400, 'The body contains a NUL character')
    expectRefusal(await post('{"deep":[{"list":["\\u0000"]}]}'), 400, 'The body contains a NUL character')
  })

  test('concurrent requests with the same error get their own request ids and headers', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const bodies = {
      'The body is nested deeper than 32 levels': `{"a":${'['.repeat(40)}${']'.repeat(40)}}`,
      'The body has more than 1008 values': `{"a":[${'1,'.repeat(2_000)}1]}`,
    }
    const responses = Object.entries(bodies).flatMap(([message, raw]) =>
      ['one', 'two'].map(async (id) => {
        const headers = { ...json, 'x-request-id': id }
        const [anonymous, authenticated] = await Promise.all([
          app.call('POST', '/merchant/login', { raw, headers }),
          app.call('POST', '/webhook-endpoints', { raw, headers, token }),
        ])
        expectRefusal(anonymous, 400, message)
        expectRefusal(authenticated, 400, /^The body (is nested deeper|has more) than /)
        const comparable = [anonymous, authenticated].map((answer) => [
          answer.headers.get('x-request-id'),
          answer.headers.get('access-control-allow-origin'),
        ])
        expect(comparable).toEqual([
          [id, '*'],
          [id, null],
        ])
      }),
    )
    await Promise.all(responses)
  })

  test('an empty body or a missing field has an error with the field and the rule', async () => {
    await using app = await testApp()
    expectRefusal(await app.call('POST', '/merchant/login', { raw: '', headers: json }), 400, /^\w+: /)
    expectRefusal(await app.call('POST', '/merchant/login'), 400, /^\w+: /)
    expectRefusal(await app.call('POST', '/merchant/login', { body: { email: 'a@example.com' } }), 400, /^password: /)
    expectRefusal(await app.call('POST', '/merchant/login', { body: { email: 5, password: canary } }), 400, /^email: /)
    expectRefusal(await app.call('POST', '/merchant/login', { body: { email: canary.repeat(50), password: 'x' } }), 400, /^email: /)
    expectRefusal(await app.call('POST', '/merchant/login', { body: { email: 'a', password: canary.repeat(50) } }), 400, /^password: /)
  })

  test('an invalid nullable or enumerated field has an error with the rule', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const price = { amount: 1, currency: 'USD' }
    for (const [body, message] of [
      [{ status: canary }, 'status: must be one of DRAFT, ACTIVE, ARCHIVED'],
      [{ variants: [{ price, sku: canary.repeat(30) }] }, 'variants.0.sku: must have at most 255 characters'],
      [{ variants: [{ price, compareAtPrice: { ...price, amount: -1 } }] }, /^variants\.0\.compareAtPrice\.amount: .*0$/],
    ] as const)
      expectRefusal(await app.call('POST', '/product-v2', { token, body: { title: 'Tee', ...body } }), 400, message)
    expectRefusal(await app.call('GET', `/product-v2/public/shop/demo?sort=${canary}`), 400, /one of newest, title, price, -price$/)
  })

  test('a body with another content type than JSON is 415 on a route that takes JSON', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/csv',
      'TEXT/CSV; charset=utf-8',
      'application/xml',
      'application/jsonp',
      'application/octet-stream',
    ]) {
      expectRefusal(
        await app.call('POST', '/merchant/login', { raw: `email=${canary}`, headers: { 'content-type': type } }),
        415,
        'Send the body as application/json',
      )
      expectRefusal(
        await app.call('PATCH', '/shops/v2', { token, raw: '{}', headers: { 'content-type': type } }),
        415,
        'Send the body as application/json',
      )
    }
    expectRefusal(await app.call('POST', '/merchant/login', { raw: new TextEncoder().encode('{}') }), 415)
    const accepted = await app.call('POST', '/merchant/login', {
      raw: '{"email":"a@example.com","password":"x"}',
      headers: { 'content-type': 'Application/JSON; charset=UTF-8' },
    })
    expect(accepted.status).toBe(401)
  })

  test('a body above the limit of its route is refused, with or without content-length', async () => {
    await using app = await testApp()
    const large = JSON.stringify({ email: 'x'.repeat(64 * 1024), password: canary })
    expectRefusal(
      await app.call('POST', '/merchant/login', { raw: large, headers: { ...json, 'content-length': String(large.length) } }),
      413,
      'The body is larger than 64 KB',
    )
    const chunks = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let nth = 0; nth < 2; nth++) controller.enqueue(new Uint8Array(65_536).fill(0x20))
          controller.close()
        },
      })
    const response = await app.edge.fetch(
      new Request('http://localhost/merchant/login', { method: 'POST', headers: json, body: chunks() }),
      { requestIP: () => ({ address: '127.0.0.1' }) },
    )
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({
      statusCode: 413,
      message: 'The body is larger than 64 KB',
      error: 'Payload Too Large',
      code: 'body_too_large',
    })
    const filled = `{"email":"a@example.com","password":"x"${' '.repeat(64 * 1024 - 40)}}`
    expect((await app.call('POST', '/merchant/login', { raw: filled, headers: json })).status).toBe(401)
  })

  test('a URL that is not percent-encoded UTF-8, holds a NUL or is too long has the documented error', async () => {
    await using app = await testApp()
    for (const path of [
      '/shops/v2/public/name/%00',
      '/shops/v2/public/name/a%zz',
      '/shops/v2/public/name/%ff',
      '/shops/v2/public/name/a?x=%00',
      '/shops/v2/public/name/a?x=%e0%a0',
      `/shops/v2/public/name/${'%'}`,
    ]) {
      expectRefusal(await app.call('GET', path), 400)
    }
    expectRefusal(await app.call('GET', `/health/live?${canary.repeat(600)}`), 400, 'The URL is longer than 8192 characters')
    expectRefusal(await app.call('GET', `/shops/v2/public/name/${canary.repeat(20)}`), 400, /^shopName: /)
  })

  test('an exception in a handler is 500 without its details', async () => {
    const passwords = {
      hash: async () => 'x',
      verify: async () => {
        throw new Error(`the secret is ${canary} at /srv/souk/src/x.ts`)
      },
    }
    await using app = await testApp({}, { passwords })
    const answer = await app.call('POST', '/merchant/login', { body: { email: 'a@example.com', password: 'whatever' } })
    expectRefusal(answer, 500, 'Something went wrong on our side')
    expect(answer.text).not.toMatch(/src|\.ts|Error:|stack/)
    const logged = app.logged.filter(({ event }) => event === 'request.failed')
    expect(logged).toHaveLength(1)
    expect(logged[0]?.fields).toMatchObject({ route: '/merchant/login', method: 'POST', requestId: answer.headers.get('x-request-id') })
  })

  test('a response that does not match its schema is 500 and is not sent', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const { shops } = await import('../../db/schema/shop.ts')
    const { eq } = await import('drizzle-orm')
    await app.deps.db.write(
      async (tx) =>
        void (await tx
          .update(shops)
          .set({ mode: canary as 'TEST' })
          .where(eq(shops.id, shop.id))),
    )
    expectRefusal(await app.call('GET', '/shops/v2', { token }), 500, 'Something went wrong on our side')
  })

  test('a stopping server responds 503 with Retry-After', async () => {
    await using app = await testApp()
    app.edge.drain()
    const answer = await app.call('GET', '/health/live')
    expectRefusal(answer, 503, 'The server is stopping: try again')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('every response', () => {
  test('a response has the request id of the request if it is valid, and a new one otherwise', async () => {
    await using app = await testApp()
    const idFor = async (id: string, path = '/health/live') =>
      (await app.call('GET', path, { headers: { 'x-request-id': id } })).headers.get('x-request-id')
    for (const id of ['abc', 'A-1_2:3.4', 'x'.repeat(128)]) {
      expect(await idFor(id)).toBe(id)
      expect(await idFor(id, '/nowhere')).toBe(id)
    }
    for (const id of ['', 'x'.repeat(129), 'a b', 'a,b', '<script>', 'a/b', 'é']) expect(await idFor(id)).toMatch(/^[\w-]{12}-[0-9a-z]+$/)
    const [one, other] = [await app.call('GET', '/health/live'), await app.call('GET', '/health/live')]
    expect(one.headers.get('x-request-id')).not.toBe(other.headers.get('x-request-id'))
  })

  test('HEAD returns the headers of GET without a body', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request, self) => app.edge.fetch(request, self) })
    for (const [path, status] of [
      ['/health/live', 200],
      [`/shops/v2/public/name/${shop.name}`, 200],
      ['/nowhere', 404],
      ['/shops/v2', 401],
    ] as const) {
      const [get, head] = [await fetch(server.url.origin + path), await fetch(server.url.origin + path, { method: 'HEAD' })]
      const body = await get.text()
      expect([path, get.status, head.status]).toEqual([path, status, status])
      expect(await head.text()).toBe('')
      expect(head.headers.get('content-length')).toBe(String(body.length))
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
      expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
    }
    expect((await fetch(`${server.url.origin}/metrics`, { method: 'HEAD' })).status).toBe(200)
    await server.stop(true)
  })

  test('a change is logged with path and status, without query, body or credentials', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    await app.call('PATCH', `/shops/v2?secret=${canary}`, { token, body: { title: canary } })
    await app.call('PATCH', '/shops/v2', { token, body: { title: canary } })
    const logText = JSON.stringify(app.logged)
    expect(logText).toContain('"path":"/shops/v2","status":400')
    expect(logText).toContain('"path":"/shops/v2","status":200')
    expect(logText).not.toContain(canary)
    expect(logText).not.toContain(token)
  })
})

test('a Host header that is not a host name is refused', async () => {
  await using app = await testApp()
  const withHost = (host: string) => app.call('GET', '/health/live', { headers: { host } })
  for (const host of ['localhost', 'shop.example:8080', '127.0.0.1', '[::1]:3000', 'x', 'a-b.c'])
    expect([host, (await withHost(host)).status]).toEqual([host, 200])
  for (const host of ['', ' ', 'a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a,b', 'a:b', 'a:123456', '-a', '.a', 'x\\y', `${'a'.repeat(254)}`])
    expect([host, (await withHost(host)).status]).toEqual([host, 400])
})

test('with ALLOWED_HOSTS, requests for any other host are refused', async () => {
  await using app = await testApp({ ALLOWED_HOSTS: 'api.shop.example' })
  const withHost = async (host: string): Promise<[string, number]> => [
    host,
    (await app.call('GET', '/health/live', { headers: { host } } satisfies CallOptions)).status,
  ]
  for (const host of ['api.shop.example', 'API.shop.example', 'api.shop.example:8443']) expect(await withHost(host)).toEqual([host, 200])
  for (const host of ['localhost', 'shop.example', 'api.shop.example.evil.example', 'xapi.shop.example'])
    expect(await withHost(host)).toEqual([host, 400])
})

test('an unknown commit makes the outcome of a request unknown, unless the write is untracked', async () => {
  const lost = trackCommits({ write: () => Promise.reject(new DatabaseOutcomeUnknown('lost')) } as unknown as Database)
  const messageOf = (write: () => Promise<unknown>) =>
    runInRequest('test', () =>
      write().then(
        () => undefined,
        (error: unknown) => asAppError(error).message,
      ),
    )
  expect(await messageOf(() => lost.write(async () => 1))).toBe(
    'The connection to the database was lost, and the outcome is unknown: read the record before you send it again',
  )
  // Such as the claim of an idempotency key, or the count of an attempt.
  expect(await messageOf(() => runUntracked(() => lost.write(async () => 1)))).toBe(
    'The database is busy: nothing was changed, try again later',
  )
})
