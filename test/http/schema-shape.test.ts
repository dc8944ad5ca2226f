/** Tests that lists and objects are checked before the framework copies the body. */
import { describe, expect, test } from 'bun:test'
import { t } from 'elysia'
import { assertShape, shapeOf } from '../../src/http/schema-shape.ts'
import { testApp } from '../support/app.ts'

const shape = shapeOf(
  t.Object({
    name: t.Optional(t.String()),
    seo: t.Optional(t.Object({ title: t.Optional(t.String()) })),
    tags: t.Optional(t.Array(t.String())),
    items: t.Optional(t.Array(t.Object({ address: t.Union([t.Object({ city: t.Optional(t.String()) }), t.Null()]) }))),
    free: t.Optional(t.Record(t.String(), t.Unknown())),
  }),
)

describe('the shape of a body', () => {
  test('assertShape accepts lists for lists and objects for objects, and does not check other values', () => {
    for (const body of [
      {},
      { name: 5 },
      { seo: {} },
      { seo: { title: [] } },
      { tags: [] },
      { tags: [1] },
      { items: [{ address: null }, { address: { city: 'x' } }] },
      { items: [{}] },
      { free: { a: 1, b: { c: [] } } },
    ]) {
      expect(() => assertShape(shape, body)).not.toThrow()
    }
  })

  test('assertShape refuses a list for an object, an object for a list, or a text, and says where', () => {
    const invalid: [body: unknown, message: string][] = [
      [{ seo: 'text' }, 'seo: must be an object'],
      [{ seo: [] }, 'seo: must be an object'],
      [{ seo: null }, 'seo: must be an object'],
      [{ tags: 'text' }, 'tags: must be a list'],
      [{ tags: { length: 4_000_000_000 } }, 'tags: must be a list'],
      [{ tags: { 0: 'a', length: 1 } }, 'tags: must be a list'],
      [{ items: [{ address: null }, 'x'] }, 'items.1: must be an object'],
      [{ items: [[]] }, 'items.0: must be an object'],
      // Nullable fields.
      [{ items: [{ address: [] }] }, 'items.0.address: must be an object'],
      [{ items: [{ address: 'text' }] }, 'items.0.address: must be an object'],
      [{ free: [] }, 'free: must be an object'],
      [JSON.parse('{"free":{"a":1,"__proto__":{"b":1}}}'), 'unknown field: free.__proto__'],
      ['text', 'body: must be an object'],
    ]
    for (const [body, message] of invalid) expect(() => assertShape(shape, body)).toThrow(message)
  })

  test('an object with a huge length in place of a list is refused without cost', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    for (const [method, path, field] of [
      ['PUT', '/shops/v2/tax-rates', 'data'],
      ['PUT', '/shops/v2/shipping-methods', 'data'],
      ['PATCH', '/shops/v2', 'storefrontOrigins'],
      ['POST', '/product-v2', 'variants'],
    ] as const) {
      const answer = await app.call(method, path, { token, body: { [field]: { length: 4_000_000_000 } } })
      expect([path, answer.status, answer.body.message]).toEqual([path, 400, `${field}: must be a list`])
    }
  })

  test('assertShape does not read the items of an object that claims to be a list', () => {
    const readKeys: PropertyKey[] = []
    const tags = new Proxy(
      { length: 1_000 },
      {
        get(target, name) {
          readKeys.push(name)
          return Reflect.get(target, name)
        },
      },
    )
    expect(() => assertShape(shape, { tags })).toThrow('tags: must be a list')
    expect(readKeys.filter((name) => /^\d+$/.test(String(name)))).toEqual([])
  })

  test('the shape is checked after authentication, and a text in place of an object changes nothing', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    expect((await app.call('PUT', '/shops/v2/tax-rates', { body: { data: { length: 5 } } })).status).toBe(401)
    const contact = { email: 'kept@example.com', phone: null }
    await app.call('PATCH', '/shops/v2', { token, body: { contact } })
    expect((await app.call('PATCH', '/shops/v2', { token, body: { contact: 'text' } })).status).toBe(400)
    expect((await app.call('GET', '/shops/v2', { token })).body.contact).toEqual(contact)
  })
})
