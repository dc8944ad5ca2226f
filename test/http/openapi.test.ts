import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import checkedIn from '../../docs/openapi.json'
import { createApp } from '../../src/app.ts'
import { apiDocumentText } from '../../src/cli/openapi.ts'
import { accessRules } from '../../src/http/access-rules.ts'
import { isDocumented, type Operation } from '../../src/http/openapi.ts'
import { documentBody, documentSchema, type Schema } from '../../src/http/openapi-schema.ts'
import { testApp } from '../support/app.ts'
import { declaredAccess } from '../support/credentials.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const operations = Object.entries(checkedIn.paths as unknown as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
)
const withoutBody = new Set(['204', '304'])

test('docs/openapi.json is the document that an instance serves (if not: bun run openapi)', async () => {
  await using app = await testApp()
  const served = await app.call('GET', '/docs/json')
  expect(served.status).toBe(200)
  expect(served.body).toEqual(checkedIn)
})

test('docs/openapi.json is byte for byte what souk openapi prints', async () => {
  expect(await Bun.file(new URL('../../docs/openapi.json', import.meta.url)).text()).toBe(apiDocumentText())
})

test('the document does not depend on the settings of the instance', async () => {
  await using app = await testApp({
    SIGNUP_ENABLED: 'true',
    LENDING_PLATFORM_ENABLED: 'true',
    AGENTS_ENABLED: 'true',
    API_V3_PREFIX: '/elsewhere',
    PUBLIC_URL: 'https://shop.example',
  })
  expect((await app.call('GET', '/docs/json')).body).toEqual(checkedIn)
})

test('the document has exactly the routes of the app that are not hidden', async () => {
  await using app = await testApp()
  const routes = createApp(app.deps)
    .routes.filter(isDocumented)
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
  const twins = routes.filter((route) => route.includes(' /api/v3/'))
  expect(routes.filter((route) => !twins.includes(route)).sort()).toEqual(operations.map(({ name }) => name).sort())
  for (const twin of twins) expect(routes).toContain(twin.replace(' /api/v3/', ' /'))
})

test('every operation has a summary, a unique id and described tags', () => {
  const described = new Set(checkedIn.tags.map(({ name }) => name))
  const ids = new Set<string>()
  for (const { name, operation } of operations) {
    expect(operation.summary, name).toBeTruthy()
    expect(operation.operationId, name).toMatch(/^[a-z][A-Za-z0-9]*$/)
    expect(ids, name).not.toContain(operation.operationId)
    ids.add(operation.operationId)
    expect(operation.tags?.length, name).toBe(1)
    for (const tag of operation.tags ?? []) expect(described, `${name}: describe the tag in src/http/openapi.ts`).toContain(tag)
  }
})

/** The verbs with which operation ids begin. */
const verbs =
  /^(accept|add|adjust|apply|approve|archive|begin|call|cancel|change|check|checkOut|complete|confirm|create|decide|delete|disable|download|duplicate|end|erase|export|fulfil|get|go|import|invite|list|log|lookUp|preview|receive|recommend|refresh|reject|remove|replace|request|resend|reset|resolve|restore|reverse|review|rotate|run|search|send|set|settle|sign|stream|submit|test|update|upload|verify|withdraw)[A-Z]/

test('every operation id is a verb and a noun that the route states', () => {
  for (const { name, operation } of operations) {
    expect(operation.operationId, `${name}: state detail.operationId`).toMatch(verbs)
    expect(operation.operationId, name).not.toMatch(/V2|By[A-Z]\w*Id$/)
  }
  const ids = new Map(operations.map(({ name, operation }) => [name, operation.operationId]))
  expect(ids.get('POST /cart/{id}/checkout')).toBe('checkOutCart')
  expect(ids.get('GET /v2/orders/{orderId}')).toBe('getOrder')
})

test('no schema has the name of a global of JavaScript or of a browser', () => {
  const library = readFileSync(join(import.meta.dir, '../../node_modules/typescript-5/lib/lib.dom.d.ts'), 'utf8')
  const globals = new Set([...library.matchAll(/^declare var (\w+):/gm)].map(([, name]) => name))
  expect(globals).toContain('Image')
  expect(Object.keys(checkedIn.components.schemas).filter((name) => name in globalThis || globals.has(name))).toEqual([])
})

/** Excludes the operations of the agents' protocol, which allows unknown fields and has other errors. */
const isOutsideUcp = ({ name }: { name: string }) => !name.includes(' /ucp/{shopName}/')

test('every object of a request body accepts no other fields', () => {
  const open: string[] = []
  const walk = (value: unknown, path: string): void => {
    if (value === null || typeof value !== 'object') return
    const { $ref: ref, properties, additionalProperties, ...rest } = value as Schema
    if (typeof ref === 'string' && !ref.endsWith('Input')) open.push(`${path} → ${ref}`)
    if (properties && additionalProperties !== false) open.push(path)
    for (const [name, inner] of Object.entries({ ...(properties as object), ...rest })) walk(inner, `${path}.${name}`)
  }
  for (const { name, operation } of operations.filter(isOutsideUcp)) walk(operation.requestBody?.content['application/json']?.schema, name)
  for (const [name, schema] of Object.entries(checkedIn.components.schemas)) if (name.endsWith('Input')) walk(schema, name)
  expect(open).toEqual([])
})

test('intersections, records and shared objects of a request body are closed as a whole', () => {
  const member = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } } })
  const shared = new Map<string, Schema>()
  expect(documentBody({ allOf: [member('a'), member('b')] }, shared)).toEqual({
    allOf: [member('a'), member('b')],
    unevaluatedProperties: false,
  })
  const record = { type: 'object', patternProperties: { '^(.*)$': member('a') } }
  expect(documentBody(record, shared)).toEqual({ type: 'object', additionalProperties: { ...member('a'), additionalProperties: false } })
  const titled = { ...member('a'), title: 'Thing' }
  expect(documentBody(titled, shared)).toEqual({ $ref: '#/components/schemas/ThingInput' })
  expect(documentSchema(titled, shared)).toEqual({ $ref: '#/components/schemas/Thing' })
  expect(Object.fromEntries(shared)).toEqual({ ThingInput: { ...member('a'), additionalProperties: false }, Thing: member('a') })
})

test('days have the format date', () => {
  const days = operations.flatMap(
    ({ operation }) => operation.parameters?.filter(({ name }) => /^(startDate|endDate|from|to)$/.test(name)) ?? [],
  )
  expect(days.length).toBeGreaterThan(10)
  expect(days.filter(({ schema }) => schema?.['format'] !== 'date')).toEqual([])
})

test('publishable and secret keys are two security schemes, which open what the access rules say', async () => {
  await using app = await testApp()
  const access = declaredAccess(app)
  for (const { name, operation } of operations) {
    const rule = accessRules[access.get(name.replace(/\{(\w+)\}/g, ':$1')) ?? 'public']
    const schemes = operation.security.flatMap((one) => Object.keys(one)).filter((scheme) => scheme.endsWith('Key'))
    const expected = { none: [], server: ['secretKey'], storefront: ['publishableKey', 'secretKey'] }[rule.key ?? 'none']
    expect(schemes, name).toEqual([...expected, ...(rule.integrationKey ? ['integrationKey'] : [])])
  }
})

test('every operation documents a success, the common errors, and a schema for each response', () => {
  for (const { name, operation } of operations) {
    const { responses } = operation
    const isOfUcp = !isOutsideUcp({ name })
    expect(Object.keys(responses), name).toEqual(expect.arrayContaining(isOfUcp ? ['400', '429', '503'] : ['400', '500', '503']))
    expect(
      Object.keys(responses).some((status) => status.startsWith('2')),
      name,
    ).toBe(true)
    for (const [status, { content, description }] of Object.entries(responses)) {
      expect(description, `${name} ${status}`).toBeTruthy()
      // JSON may also be available as text.
      const media = content?.['application/json'] ? [content['application/json']] : Object.values(content ?? {})
      const schemas = media.map(({ schema }) => schema)
      // A file may be of several types.
      const isFile = schemas.length > 1 && schemas.every((schema) => schema['type'] === 'string')
      if (!isFile) expect(schemas.length, `${name} ${status}`).toBe(withoutBody.has(status) || (isOfUcp && status === '202') ? 0 : 1)
      // An unknown shop, or an unknown method of MCP.
      if (status >= '400' && !(status === '404' && name.endsWith('/mcp')))
        expect(schemas, `${name} ${status}`).toEqual([
          { $ref: `#/components/schemas/${!isOfUcp || status === '404' ? 'ApiError' : name.endsWith('/mcp') ? 'RpcAnswer' : 'UcpError'}` },
        ])
    }
  }
})

test('every operation with credentials documents 401, and every one with a body its errors', () => {
  for (const { name, operation } of operations) {
    const statuses = Object.keys(operation.responses)
    if (operation.security.length > 0) expect(statuses, name).toContain('401')
    if (!name.startsWith('GET ') && isOutsideUcp({ name })) expect(statuses, name).toEqual(expect.arrayContaining(['408', '413', '415']))
  }
})

test('the OpenAPI document has an ETag and 304', async () => {
  await using app = await testApp()
  const { headers } = await app.call('GET', '/docs/json')
  const conditional = await app.call('GET', '/docs/json', { headers: { 'if-none-match': headers.get('etag') ?? '' } })
  expect(conditional.status).toBe(304)
  expect(conditional.text).toBe('')
})

test('the document has no extensions and no TypeBox ids', () => {
  expect(JSON.stringify(checkedIn)).not.toMatch(/"(x-access|x-idempotent|x-body|x-type|\$id)":/)
})

test('patterns have the same meaning with and without the u flag', () => {
  const patterns = [...JSON.stringify(checkedIn).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
    String(JSON.parse(text ?? '""')),
  )
  expect(patterns.length).toBeGreaterThan(0)
  for (const pattern of patterns) {
    expect(() => new RegExp(pattern, 'u'), pattern).not.toThrow()
    expect(pattern).not.toMatch(/\\[pP]\{/)
  }
})

test('every amount is money: minor units in `amount` beside their currency', () => {
  const bare: string[] = []
  const walk = (value: unknown, path: string): void => {
    if (value === null || typeof value !== 'object') return
    const { properties } = value as { properties?: Record<string, { description?: string; type?: unknown } | undefined> }
    for (const [name, field] of Object.entries(properties ?? {}))
      if (/minor units/i.test(field?.description ?? '') && field?.type === 'integer' && !(name === 'amount' && properties?.['currency']))
        bare.push(`${path}.${name}`)
    for (const [name, inner] of Object.entries(value)) walk(inner, `${path}.${name}`)
  }
  walk(checkedIn, '')
  // Amounts of the agents' protocol are plain numbers in the currency of the cart or order.
  expect(bare.filter((path) => !path.startsWith('.paths./ucp/{shopName}/'))).toEqual([])
})
