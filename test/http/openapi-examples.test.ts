import { expect, setDefaultTimeout, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020.js'
import { apiDocument } from '../../src/cli/openapi.ts'
import { pathExample } from '../../src/http/openapi-examples.ts'
import { createNewId, idPrefixes } from '../../src/lib/ids.ts'
import { testApp } from '../support/app.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const document = apiDocument()
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
)

/** The form of ids. */
const suffix = /^[a-z]+_([0-7][0-9abcdefghjkmnpqrstvwxyz]{25})$/
const prefixes: readonly string[] = Object.values(idPrefixes)

test('every path parameter has a valid example (if not: add its name to src/http/openapi-examples.ts)', () => {
  const ajv = new Ajv2020({ strict: false })
  let count = 0
  for (const { name, operation } of operations)
    for (const one of operation.parameters ?? []) {
      if (one.in !== 'path') continue
      count++
      const about = `${name} {${one.name}}`
      expect([about, typeof one['example']]).toEqual([about, 'string'])
      expect([about, ajv.validate(one.schema ?? {}, one['example'])]).toEqual([about, true])
    }
  expect(count).toBeGreaterThan(25)
})

test('every example id is a possible id with the prefix of its kind', () => {
  expect(createNewId(() => new Uint8Array(16))('order')).toMatch(suffix)
  for (const { name, path, operation } of operations)
    for (const { in: location, name: parameter, example } of operation.parameters ?? []) {
      if (location !== 'path' || !/^id$|Id$/.test(parameter)) continue
      expect([name, suffix.test(String(example))]).toEqual([name, true])
      expect(prefixes).toContain(String(example).split('_')[0] ?? '')
      expect(String(example)).toBe(pathExample(path, parameter) ?? '')
    }
  const prefixOf = (path: string, name = 'id') => pathExample(path, name)?.split('_')[0]
  expect(prefixOf('/product-v2/public/{id}')).toBe('prod')
  expect(prefixOf('/v2/orders/{orderId}/refunds', 'orderId')).toBe('order')
  expect(prefixOf('/cart/{id}/items/{lineId}')).toBe('cart')
  expect(prefixOf('/cart/{id}/items/{lineId}', 'lineId')).toBe('line')
  expect(prefixOf('/webhook-endpoints/{id}/deliveries')).toBe('whe')
  expect(prefixOf('/product-v2/{id}/variants/{variantId}', 'variantId')).toBe('var')
  expect(pathExample('/elsewhere/{id}', 'id')).toBeUndefined()
})

test('a read with an example id is not found rather than invalid', async () => {
  await using app = await testApp()
  const { secretKey: key, token: merchant } = await app.merchant()
  const { token } = await app.superAdmin()
  const callerOf = (path: string) =>
    path.startsWith('/admin/') ? { token } : /^\/shops\/v2\/(processor-accounts|mail|staff)\//.test(path) ? { token: merchant } : { key }
  for (const { name, path, operation } of operations) {
    if (!name.startsWith('GET ') || !path.includes('{')) continue
    const filled = (operation.parameters ?? [])
      .filter((one) => one.in === 'path')
      .reduce((text, one) => text.replace(`{${one.name}}`, String(one['example'])), path)
    const { status } = await app.call('GET', filled, callerOf(path))
    expect([name, [200, 404].includes(status)]).toEqual([name, true])
  }
})
