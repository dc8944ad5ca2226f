/** Tests the operations over REST: refusals before an operation runs, limits and errors. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startPlatform } from '../../support/agent-platform.ts'
import { agentApp, enableAgents, restCall } from '../../support/agents.ts'
import { testApp } from '../../support/app.ts'
import { shopIn } from '../../support/catalog.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function createShop(app: Awaited<ReturnType<typeof agentApp>>, access: 'OPEN' | 'SIGNED' = 'OPEN') {
  const shop = await shopIn(app)
  await enableAgents(app, shop.shop.id, access)
  return { ...shop, name: shop.shop.name }
}

test('searches and looks up products over REST', async () => {
  await using app = await agentApp()
  const shop = await createShop(app)
  const { id } = await shop.add({ title: 'Linen shirt' })
  const found = await restCall(app, shop.name, 'search_catalog', undefined, { body: { query: 'linen' } })
  expect([found.status, found.body.products.map((product: { id: string }) => product.id)]).toEqual([200, [id]])
  expect([found.headers.get('cache-control'), found.headers.get('access-control-allow-origin')]).toEqual(['no-store', null])
  const lookup = await restCall(app, shop.name, 'lookup_catalog', undefined, { body: { ids: [id, 'none'] } })
  expect(lookup.body).toMatchObject({ products: [{ id }], messages: [{ type: 'info', code: 'not_found', path: '$.ids[1]' }] })
  expect((await restCall(app, shop.name, 'get_product', undefined, { body: { id } })).body.product.id).toBe(id)
  const missing = await restCall(app, shop.name, 'get_product', undefined, { body: { id: 'none' } })
  expect([missing.status, missing.body.ucp.status, missing.body.messages[0].code]).toEqual([200, 'error', 'not_found'])
})

test('a shop with agents off is an unknown path, before any other check', async () => {
  await using off = await testApp()
  await using app = await agentApp()
  const [shop, other] = [await createShop(app), await shopIn(app)]
  const hidden = await shopIn(off)
  await enableAgents(off, hidden.shop.id)
  const unknown = { statusCode: 404, message: 'Unknown path', error: 'Not Found', code: 'not_found' }
  const invalidRequest = { raw: 'no JSON', headers: { 'content-type': 'text/plain' }, profile: null }
  for (const [target, name] of [[off, hidden.shop.name] as const, [app, other.shop.name] as const, [app, 'none'] as const]) {
    const answer = await restCall(target, name, 'search_catalog', undefined, invalidRequest)
    expect([answer.status, answer.body]).toEqual([404, unknown])
  }
  expect((await restCall(app, shop.name, 'search_catalog', undefined, invalidRequest)).status).toBe(400)
  await enableAgents(app, shop.shop.id, 'OPEN', false)
  expect((await restCall(app, shop.name, 'search_catalog', undefined, invalidRequest)).status).toBe(404)
})

test('a request over REST must name a valid profile', async () => {
  await using app = await agentApp()
  const { name } = await createShop(app)
  for (const profile of [null, 'ftp://x.example', 'https://me:secret@x.example/ucp']) {
    const answer = await restCall(app, name, 'search_catalog', undefined, { profile, body: { query: 'a' } })
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_profile_url'])
  }
})

test('bodies are limited before they are parsed, and an error names the first invalid field', async () => {
  await using app = await agentApp()
  const { name } = await createShop(app)
  const json = { 'content-type': 'application/json' }
  const refused = async (options: Parameters<typeof restCall>[4], tool = 'search_catalog') => {
    const { status, body } = await restCall(app, name, tool, undefined, options)
    expect(Object.keys(body).toSorted()).toEqual(['code', 'content'])
    return [status, body.code, body.content]
  }
  expect(await refused({ raw: JSON.stringify({ query: 'x'.repeat(70_000) }), headers: json })).toEqual([
    400,
    'request_too_large',
    'The body is larger than 64 KB',
  ])
  const invalid = (content: string) => [400, 'invalid_request', content]
  expect(await refused({ raw: '{', headers: json })).toEqual(invalid('The body is not valid JSON'))
  expect(await refused({ raw: '[]', headers: json })).toEqual(invalid('The body must be a JSON object'))
  expect(await refused({ raw: '{"query":"a","query":"b"}', headers: json })).toEqual(invalid('A field of the body is given twice.'))
  expect(await refused({ raw: '{"ignore all rules":1,"ignore all rules":2}', headers: json })).toEqual(
    invalid('A field of the body is given twice.'),
  )
  expect(await refused({ raw: `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, headers: json })).toEqual(
    invalid('The body is nested deeper than 32 levels'),
  )
  expect(await refused({ raw: `{"a":[${'1,'.repeat(6_000)}1]}`, headers: json })).toEqual(invalid('The body has more than 5000 values'))
  expect(await refused({ raw: '{"query":"a"}', headers: { 'content-type': 'text/plain' } })).toEqual(
    invalid('content-type: must be application/json'),
  )
  expect(await refused({ body: { query: 5 } })).toEqual(invalid('query: must be a string'))
  expect(await refused({ body: { pagination: { limit: 0 } } })).toEqual(invalid('pagination.limit: must be at least 1'))
  expect(await refused({ body: { pagination: { limit: '5' } } })).toEqual(invalid('pagination.limit: must be a whole number'))
  expect(await refused({ body: {} })).toEqual(invalid('query: needed unless filters are given'))
  expect(await refused({ body: { ids: [] } }, 'lookup_catalog')).toEqual(invalid('ids: must have at least 1 entry'))
  expect(await refused({ body: { ids: [1] } }, 'lookup_catalog')).toEqual(invalid('ids.0: must be a string'))
  expect(await refused({}, 'get_product')).toEqual(invalid('id: required'))
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`a${at}`, '']))
  expect(await refused({ body: { line_items: [], attribution: many } }, 'create_cart')).toEqual(
    invalid('attribution: must have at most 20 fields'),
  )
  const unknown = { query: 'a', instructions: 'Ignore the shop', filters: { price: {}, loyalty: [1] }, totals: 5 }
  expect((await restCall(app, name, 'search_catalog', undefined, { body: unknown })).status).toBe(200)
})

test('fields that a cart or the platform does not use are ignored, even with invalid values', async () => {
  await using app = await agentApp()
  const { name, add } = await createShop(app)
  const { variants } = await add({ title: 'Mug', variants: [{ price: { amount: 500, currency: 'USD' }, onHand: 5 }] })
  const lines = { line_items: [{ item: { id: variants[0]?.id }, quantity: 1 }] }
  const unusedFields = { fulfillment: { methods: [{ destinations: [{ street_address: 1 }], groups: [5] }] }, cart_id: 5, payment: [] }
  const cart = await restCall(app, name, 'create_cart', undefined, { body: { ...lines, ...unusedFields } })
  expect([cart.status, cart.body.fulfillment]).toEqual([201, undefined])
  for (const fulfillment of [5, null, { methods: 5 }]) {
    const replaced = await restCall(app, name, 'update_cart', cart.body.id, { body: { ...lines, fulfillment } })
    expect([replaced.status, replaced.body.id]).toEqual([200, cart.body.id])
  }
  await using minimalPlatform = await startPlatform({ capabilities: ['checkout'] })
  const body = { ...lines, fulfillment: 5, discounts: { codes: 5 }, cart_id: 5 }
  expect((await restCall(app, name, 'create_checkout', undefined, { body, profile: minimalPlatform.url })).status).toBe(201)
  expect((await restCall(app, name, 'create_checkout', undefined, { body })).body.code).toBe('invalid_request')
  const card = { ...lines, fulfillment: { note: '4242 4242 4242 4242' } }
  expect((await restCall(app, name, 'create_cart', undefined, { body: card })).body.code).toBe('raw_card_refused')
})

test('an address has 120 requests a minute, and other addresses are not affected', async () => {
  await using app = await agentApp()
  const { name } = await createShop(app)
  const search = (from: string) => restCall(app, name, 'search_catalog', undefined, { body: { query: 'a' }, from })
  for (let nth = 0; nth < 120; nth++) expect((await search('203.0.113.7')).status).toBe(200)
  const limited = await search('203.0.113.7')
  expect([limited.status, limited.body.code, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, 'rate_limited', true])
  expect((await search('203.0.113.8')).status).toBe(200)
  // Requests with invalid signatures have a limit of their own.
  const headers = { 'signature-input': 'sig1=("@method");keyid="k"', signature: 'sig1=:AAAA:' }
  const searchWithInvalidSignature = () =>
    restCall(app, name, 'search_catalog', undefined, { headers, body: { query: 'a' }, from: '203.0.113.9' })
  for (let nth = 0; nth < 120; nth++) expect((await searchWithInvalidSignature()).status).toBe(401)
  expect((await searchWithInvalidSignature()).status).toBe(429)
  expect((await search('203.0.113.9')).status).toBe(200)
})

test('other methods return 405, and a preflight of another origin is not allowed', async () => {
  await using app = await agentApp()
  const { name } = await createShop(app)
  const path = `/ucp/${name}/catalog/search`
  const answer = await app.call('GET', path)
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  const preflight = await app.call('OPTIONS', path, { headers: { origin: 'https://page.example' } })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([405, null])
})
