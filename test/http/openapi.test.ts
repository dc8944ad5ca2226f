import { expect, setDefaultTimeout, test } from 'bun:test'
import checkedIn from '../../docs/openapi.json'
import { createApp } from '../../src/app.ts'
import { apiDocumentText } from '../../src/cli/openapi.ts'
import { isDocumented, type Operation } from '../../src/http/openapi.ts'
import { testApp } from '../support/app.ts'
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

test('every operation documents a success, the common errors, and a schema for each response', () => {
  for (const { name, operation } of operations) {
    const { responses } = operation
    expect(Object.keys(responses), name).toEqual(expect.arrayContaining(['400', '500', '503']))
    expect(
      Object.keys(responses).some((status) => status.startsWith('2')),
      name,
    ).toBe(true)
    for (const [status, { content, description }] of Object.entries(responses)) {
      expect(description, `${name} ${status}`).toBeTruthy()
      // What is JSON may be had as text besides.
      const shown = content?.['application/json'] ? [content['application/json']] : Object.values(content ?? {})
      const schemas = shown.map(({ schema }) => schema)
      // A file may be of several types.
      const isFile = schemas.length > 1 && schemas.every((schema) => schema['type'] === 'string')
      if (!isFile) expect(schemas.length, `${name} ${status}`).toBe(withoutBody.has(status) ? 0 : 1)
      if (status >= '400') expect(schemas, `${name} ${status}`).toEqual([{ $ref: '#/components/schemas/Error' }])
    }
  }
})

test('every operation with credentials documents 401, and every one with a body its errors', () => {
  for (const { name, operation } of operations) {
    const statuses = Object.keys(operation.responses)
    if (operation.security.length > 0) expect(statuses, name).toContain('401')
    if (!name.startsWith('GET ')) expect(statuses, name).toEqual(expect.arrayContaining(['408', '413', '415']))
  }
})

test('the OpenAPI document has an ETag and 304', async () => {
  await using app = await testApp()
  const { headers } = await app.call('GET', '/docs/json')
  const again = await app.call('GET', '/docs/json', { headers: { 'if-none-match': headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
  expect(again.text).toBe('')
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
  expect(bare).toEqual([])
})
