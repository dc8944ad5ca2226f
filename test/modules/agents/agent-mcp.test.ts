/** Tests MCP: protocol versions, messages that are refused before a tool runs, and equality with REST. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { idempotencyKeys } from '../../../db/schema/people.ts'
import { shops } from '../../../db/schema/shop.ts'
import { agentApp, enableAgents, platform, restCall, rpc, toolCall } from '../../support/agents.ts'
import { type TestApp, testApp } from '../../support/app.ts'
import { shopIn } from '../../support/catalog.ts'
import { rawConnection, serveTestApp } from '../../support/server.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { hasUcpSchemas, ucpOperations, ucpSkipNote } from '../../support/ucp-schemas.ts'

setDefaultTimeout(longTestMs)

async function createShop(app: TestApp, access: 'OPEN' | 'SIGNED' = 'OPEN') {
  const shop = await shopIn(app)
  await enableAgents(app, shop.shop.id, access)
  const product = await shop.add({ title: 'Linen shirt' })
  return { ...shop, name: shop.shop.name, product, variant: product.variants[0]?.id ?? '' }
}

const stateless = '2026-07-28'
const prefix = 'io.modelcontextprotocol/'
const statelessMeta = { [`${prefix}protocolVersion`]: stateless, [`${prefix}clientCapabilities`]: {} }
const statelessHeaders = (method: string, name?: string) => ({
  'mcp-protocol-version': stateless,
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
})

describe('versions', () => {
  test('a client of an older version initializes, pings, lists tools and calls them', async () => {
    await using app = await agentApp()
    const { name, product } = await createShop(app)
    for (const version of ['2025-06-18', '2025-11-25']) {
      const initialized = await rpc(app, name, 'initialize', {
        protocolVersion: version,
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      })
      expect(initialized.body).toMatchObject({
        jsonrpc: '2.0',
        id: 1,
        result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'souk' } },
      })
      expect(initialized.headers.get('mcp-session-id')).toBeNull()
      const headers = { 'mcp-protocol-version': version }
      const notification = await app.call('POST', `/ucp/${name}/mcp`, {
        headers,
        body: { jsonrpc: '2.0', method: 'notifications/initialized' },
      })
      expect([notification.status, notification.text]).toEqual([202, ''])
      expect((await rpc(app, name, 'ping', undefined, { headers })).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
      expect((await rpc(app, name, 'tools/list', {}, { headers })).body.result.resultType).toBeUndefined()
      const found = await toolCall(app, name, 'search_catalog', { catalog: { query: 'linen' } }, { headers, id: 'a' })
      expect([found.body.id, found.body.result.isError, found.content.products[0].id]).toEqual(['a', false, product.id])
    }
    const unknown = await rpc(app, name, 'initialize', { protocolVersion: '2024-01-01' })
    expect(unknown.body.result.protocolVersion).toBe('2025-11-25')
    // The headers are optional.
    expect((await toolCall(app, name, 'search_catalog', { catalog: { query: 'linen' } })).content.products).toHaveLength(1)
  })

  test('a stateless client sends its version and capabilities with each request', async () => {
    await using app = await agentApp()
    const { name } = await createShop(app)
    const send = (method: string, params: object = {}, headers: Record<string, string> = statelessHeaders(method)) =>
      rpc(app, name, method, { _meta: statelessMeta, ...params }, { headers })
    const discovered = await send('server/discover')
    expect(discovered.body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [stateless, '2025-11-25', '2025-06-18'],
      capabilities: { tools: {} },
      cacheScope: 'public',
      _meta: { [`${prefix}serverInfo`]: { name: 'souk' } },
    })
    expect((await send('tools/list')).body.result).toMatchObject({
      resultType: 'complete',
      ttlMs: expect.any(Number),
      cacheScope: 'public',
    })
    const call = { name: 'search_catalog', arguments: { catalog: { query: 'linen' } } }
    const called = await send('tools/call', call, statelessHeaders('tools/call', ' search_catalog '))
    expect(called.body.result).toMatchObject({ resultType: 'complete', structuredContent: { products: [{ title: 'Linen shirt' }] } })
    expect(called.body.result.ttlMs).toBeUndefined()

    const refusal = async (method: string, params: object, headers: Record<string, string>) => {
      const { status, body } = await send(method, params, headers)
      expect(body.id).toBe(1)
      return [status, body.error.code]
    }
    const discover = statelessHeaders('server/discover')
    expect(await refusal('server/discover', { _meta: undefined }, discover)).toEqual([400, -32602])
    for (const missing of ['protocolVersion', 'clientCapabilities'])
      expect(await refusal('server/discover', { _meta: { ...statelessMeta, [prefix + missing]: undefined } }, discover)).toEqual([
        400, -32602,
      ])
    const other = { ...statelessMeta, [`${prefix}protocolVersion`]: 'v999' }
    expect(await refusal('server/discover', { _meta: other }, discover)).toEqual([400, -32020])
    const unsupported = await send('server/discover', { _meta: other }, { ...discover, 'mcp-protocol-version': 'v999' })
    expect([unsupported.status, unsupported.body.error.code, unsupported.body.error.data]).toEqual([
      400,
      -32022,
      { supported: [stateless, '2025-11-25', '2025-06-18'], requested: 'v999' },
    ])
    expect(await refusal('tools/list', {}, { 'mcp-protocol-version': stateless })).toEqual([400, -32020])
    expect(await refusal('tools/list', {}, { 'mcp-method': 'tools/list' })).toEqual([400, -32020])
    expect(await refusal('tools/list', {}, statelessHeaders('TOOLS/LIST'))).toEqual([400, -32020])
    expect(await refusal('tools/call', call, statelessHeaders('tools/call'))).toEqual([400, -32020])
    expect(await refusal('tools/call', call, statelessHeaders('tools/call', 'get_cart'))).toEqual([400, -32020])
    for (const method of ['initialize', 'ping', 'prompts/list', 'resources/list', 'toString', 'constructor'])
      expect(await refusal(method, {}, statelessHeaders(method))).toEqual([404, -32601])
    expect((await rpc(app, name, 'ping', {}, { headers: { 'mcp-protocol-version': '2024-11-05' } })).body.error.code).toBe(-32022)
  })
})

describe('messages', () => {
  test.each<[string, string | object, number, number]>([
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], 400, -32600],
    ['an empty batch', '[]', 400, -32600],
    ['invalid JSON', '{"jsonrpc":', 400, -32700],
    ['an empty body', '', 400, -32700],
    ['a number', '5', 400, -32600],
    ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'ping' }, 400, -32600],
    ['a method that is not a string', { jsonrpc: '2.0', id: 1, method: 5 }, 400, -32600],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }, 400, -32600],
    ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }, 400, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }, 400, -32600],
    ['an id with a fraction', { jsonrpc: '2.0', id: 1.5, method: 'ping' }, 400, -32600],
    ['a request without an id', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'create_cart' } }, 400, -32600],
    ['params as a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, 400, -32602],
    ['a duplicate method', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', 400, -32600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'resources/read' }, 404, -32601],
    ['an unknown tool', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sell' } }, 400, -32602],
    ['a tool without a name', { jsonrpc: '2.0', id: 1, method: 'tools/call' }, 400, -32602],
    ['arguments as a string', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_cart', arguments: 'x' } }, 400, -32602],
    ['meta as a list', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_cart', arguments: { meta: [] } } }, 400, -32602],
    [
      'a cart id as a number',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_cart', arguments: { id: 5 } } },
      400,
      -32602,
    ],
    [
      'a cart as a list',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'create_cart', arguments: { cart: [] } } },
      400,
      -32602,
    ],
    ['a message that is nested too deeply', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, 400, -32602],
    [
      'a message that is too large',
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { a: 'x'.repeat(70_000) } }),
      400,
      -32602,
    ],
  ])('refuses %s', async (_, message, status, code) => {
    await using app = await agentApp()
    const { name } = await createShop(app)
    const raw = typeof message === 'string' ? message : JSON.stringify(message)
    const answer = await app.call('POST', `/ucp/${name}/mcp`, { raw, headers: { 'content-type': 'application/json' } })
    expect([answer.status, answer.body.jsonrpc, answer.body.error?.code]).toEqual([status, '2.0', code])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('returns 405 for GET and DELETE, 406 if only a stream is accepted, and 415 if the body is not JSON', async () => {
    await using app = await agentApp()
    const { name } = await createShop(app)
    const path = `/ucp/${name}/mcp`
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await app.call(method, path)
      expect([status, headers.get('allow')]).toEqual([405, 'POST'])
    }
    const ping = (headers: Record<string, string>) => rpc(app, name, 'ping', {}, { headers })
    expect((await ping({ accept: 'text/event-stream' })).status).toBe(406)
    for (const accept of ['application/json', 'application/json, text/event-stream', '*/*', 'application/*;q=0.5'])
      expect((await ping({ accept })).status).toBe(200)
    expect((await app.call('POST', path, { raw: '{}', headers: { 'content-type': 'text/plain' } })).status).toBe(415)
  })

  test('a page of another origin is refused, even if its host name resolves to this server', async () => {
    await using app = await agentApp({ PUBLIC_URL: 'https://souk.example' })
    const { name } = await createShop(app)
    const ping = async (headers: Record<string, string>) => (await rpc(app, name, 'ping', {}, { headers })).status
    expect(await ping({ origin: 'https://souk.example' })).toBe(200)
    for (const origin of ['https://evil.example', 'null', 'http://souk.example', 'http://localhost:3000', 'https://souk.example.evil'])
      expect([origin, await ping({ origin, host: 'evil.example' })]).toEqual([origin, 403])
    await using local = await agentApp({ PUBLIC_URL: 'http://localhost:3000' })
    const shop = await createShop(local)
    const status = async (origin: string) => (await rpc(local, shop.name, 'ping', {}, { headers: { origin } })).status
    expect([await status('http://127.0.0.1:4000'), await status('http://evil.example')]).toEqual([200, 403])
  })

  test('a shop with agents off is 404 for every message', async () => {
    await using off = await testApp()
    await using app = await agentApp()
    const hidden = await createShop(off)
    const other = await shopIn(app)
    expect((await rpc(off, hidden.name, 'ping')).body).toMatchObject({ statusCode: 404, message: 'Unknown path' })
    expect((await app.call('POST', `/ucp/${other.shop.name}/mcp`, { raw: '{' })).status).toBe(404)
    expect((await off.call('GET', `/ucp/${hidden.name}/mcp`)).status).toBe(404)
  })
})

describe('tools', () => {
  test.skipIf(!hasUcpSchemas)(`lists a tool for each operation of the protocol${ucpSkipNote}`, async () => {
    await using app = await agentApp()
    const { name } = await createShop(app)
    const { tools } = (await rpc(app, name, 'tools/list')).body.result
    const operations = new Map(ucpOperations('2026-08-25').map((operation) => [operation.tool, operation]))
    for (const tool of tools) {
      const { params, keyRequired } = operations.get(tool.name) ?? { params: [], keyRequired: false }
      expect([tool.name, Object.keys(tool.inputSchema.properties).toSorted()]).toEqual([tool.name, params.toSorted()])
      expect([tool.name, tool.inputSchema.required?.includes('meta') ?? false]).toEqual([tool.name, keyRequired])
      expect([tool.inputSchema.type, tool.outputSchema.type]).toEqual(['object', 'object'])
    }
    const texts = JSON.stringify(tools)
    for (const text of ['Linen', name]) expect(texts).not.toContain(text)
  })

  test('returns the same carts and errors over MCP as over REST', async () => {
    await using app = await agentApp()
    const { name, variant } = await createShop(app)
    const meta = { 'ucp-agent': { profile: platform.url } }
    const body = { line_items: [{ item: { id: variant }, quantity: 2 }] }
    const cart = (await toolCall(app, name, 'create_cart', { meta, cart: body })).content
    expect((await restCall(app, name, 'get_cart', cart.id)).body).toEqual(cart)
    const refusalOverBoth = async (tool: string, id: string | undefined, payload: string, sent: object) => {
      const byRest = await restCall(app, name, tool, id, { body: sent })
      const { status, error } = await toolCall(app, name, tool, { meta, ...(id === undefined ? {} : { id }), [payload]: sent })
      expect([status, error?.data, error?.message]).toEqual([byRest.status, byRest.body, byRest.body.content])
      return [byRest.status, byRest.body.code]
    }
    expect(await refusalOverBoth('create_cart', undefined, 'cart', { line_items: [{ item: { id: variant }, quantity: 0 }] })).toEqual([
      400,
      'invalid_request',
    ])
    expect(await refusalOverBoth('lookup_catalog', undefined, 'catalog', {})).toEqual([400, 'invalid_request'])
    // Without a profile, the caller is another platform.
    expect((await toolCall(app, name, 'get_cart', { id: cart.id })).content).toMatchObject({ messages: [{ code: 'not_found' }] })
    expect((await toolCall(app, name, 'get_cart', {})).error).toMatchObject({ code: -32602, data: { content: 'id: required' } })
    // A search without arguments finds nothing. An empty search, or one outside of `catalog`, is refused.
    expect((await toolCall(app, name, 'search_catalog', {})).content.products).toEqual([])
    for (const args of [{ catalog: {} }, { query: 'linen' }])
      expect((await toolCall(app, name, 'search_catalog', args)).error).toMatchObject({ code: -32602, data: { code: 'invalid_request' } })
    const mismatched = await toolCall(
      app,
      name,
      'get_cart',
      { meta: { 'ucp-agent': { profile: 'https://other.example' } }, id: cart.id },
      { headers: platform.unsigned },
    )
    expect([mismatched.status, mismatched.error.code, mismatched.error.data.code]).toEqual([400, -32001, 'invalid_profile_url'])
  })

  test('a shop with SIGNED access lists its tools without a signature, but refuses unsigned calls', async () => {
    await using app = await agentApp()
    const { name } = await createShop(app, 'SIGNED')
    expect((await rpc(app, name, 'tools/list')).status).toBe(200)
    const search = (options: Parameters<typeof toolCall>[4]) =>
      toolCall(app, name, 'search_catalog', { catalog: { query: 'linen' } }, options)
    expect((await search({})).error).toMatchObject({ code: -32001, data: { code: 'invalid_profile_url' } })
    const unsigned = await search({ headers: platform.unsigned })
    expect([unsigned.status, unsigned.error.code, unsigned.error.data.code]).toEqual([401, -32000, 'signature_missing'])
    const body = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'search_catalog', arguments: { catalog: { query: 'linen' } } },
    })
    const { config, life } = app.deps
    const origin = config.publicUrl ?? life.url ?? `http://${config.host}:${config.port}`
    const headers = await platform.headersOf('POST', `${origin}/ucp/${name}/mcp`, { body })
    const signed = await app.call('POST', `/ucp/${name}/mcp`, { raw: body, headers })
    expect([signed.status, signed.body.result?.structuredContent.products.length]).toEqual([200, 1])
  })
})

describe('idempotency', () => {
  const line = (id: string, quantity = 1) => ({ line_items: [{ item: { id }, quantity }] })

  test('calls with the same key have one effect, for any transport, request id and order of meta', async () => {
    await using app = await agentApp()
    const { name, variant } = await createShop(app)
    const key = randomUUID()
    const agent = { profile: platform.url }
    const call = (args: object, id: unknown = 1, headers: Record<string, string> = {}) =>
      toolCall(app, name, 'create_cart', args, { id, headers })
    const first = await call({ meta: { 'ucp-agent': agent, 'idempotency-key': key }, cart: line(variant) })
    const repeated = await call({ cart: line(variant), meta: { 'idempotency-key': key, 'ucp-agent': agent, other: 1 } }, 'two')
    const byHeader = await call({ cart: line(variant), meta: { 'ucp-agent': agent } }, 3, { 'idempotency-key': key })
    const byRest = await restCall(app, name, 'create_cart', undefined, {
      body: { line_items: [{ quantity: 1, item: { id: variant } }] },
      key,
    })
    expect(byRest.status).toBe(201)
    for (const { id } of [repeated.content, byHeader.content, byRest.body]) expect(id).toBe(first.content.id)
    expect((await restCall(app, name, 'create_cart', undefined, { body: line(variant) })).body.id).not.toBe(first.content.id)
    // A key belongs to one operation and one platform.
    const session = await restCall(app, name, 'create_checkout', undefined, { body: line(variant), key })
    expect(session.body.id).toStartWith('chk_')
    const unnamed = await call({ meta: { 'idempotency-key': key }, cart: line(variant) })
    expect(unnamed.content.id).not.toBe(first.content.id)
  })

  test('a key with another body is a conflict, even if only ignored fields differ', async () => {
    await using app = await agentApp()
    const { name, variant } = await createShop(app)
    const key = randomUUID()
    const create = (body: object) => restCall(app, name, 'create_cart', undefined, { body, key })
    expect((await create(line(variant))).status).toBe(201)
    for (const body of [line(variant, 2), { ...line(variant), currency: 'USD' }]) {
      const refused = await create(body)
      expect([refused.status, refused.body.code]).toEqual([409, 'idempotency_conflict'])
    }
    const overMcp = await toolCall(app, name, 'create_cart', {
      meta: { 'ucp-agent': { profile: platform.url }, 'idempotency-key': key },
      cart: line(variant, 3),
    })
    expect([overMcp.status, overMcp.error.code, overMcp.error.data.code]).toEqual([409, -32000, 'idempotency_conflict'])
    // create_cart ignores the id, but a body with an id is a different body.
    const withId = { id: 'ucart_1', meta: { 'ucp-agent': { profile: platform.url }, 'idempotency-key': key }, cart: line(variant) }
    expect((await toolCall(app, name, 'create_cart', withId)).error?.data.code).toBe('idempotency_conflict')
  })

  test('keys are UUIDs, equal in header and meta, and required over REST and by cancel_cart', async () => {
    await using app = await agentApp()
    const { name, variant } = await createShop(app)
    const refused = async (key: string | null) => {
      const { status, body } = await restCall(app, name, 'create_cart', undefined, { body: line(variant), key })
      return [status, body.code]
    }
    expect(await refused(null)).toEqual([400, 'idempotency_key_missing'])
    for (const key of ['1', 'not-a-uuid', randomUUID().slice(1)]) expect(await refused(key)).toEqual([400, 'invalid_request'])
    const differing = await toolCall(
      app,
      name,
      'create_cart',
      { meta: { 'idempotency-key': randomUUID() }, cart: line(variant) },
      { headers: { 'idempotency-key': randomUUID() } },
    )
    expect([differing.status, differing.error.data.code]).toEqual([400, 'invalid_request'])
    const key = randomUUID()
    const sent = { meta: { 'idempotency-key': key }, cart: line(variant) }
    expect((await toolCall(app, name, 'create_cart', sent, { headers: { 'idempotency-key': key.toUpperCase() } })).status).toBe(200)
    expect((await toolCall(app, name, 'create_cart', { meta: { 'idempotency-key': 5 }, cart: line(variant) })).status).toBe(400)
    const { content } = await toolCall(app, name, 'create_cart', { cart: line(variant) })
    const unkeyed = await toolCall(app, name, 'cancel_cart', { id: content.id })
    expect([unkeyed.status, unkeyed.error.code, unkeyed.error.data.code]).toEqual([400, -32602, 'idempotency_key_missing'])
    const keyed = await toolCall(app, name, 'cancel_cart', { id: content.id, meta: { 'idempotency-key': randomUUID() } })
    expect(keyed.status).toBe(200)
  })

  test('a stored key contains neither its session id nor its platform in plain text', async () => {
    await using app = await agentApp()
    const { name, variant } = await createShop(app)
    const created = await restCall(app, name, 'create_cart', undefined, { body: line(variant) })
    await restCall(app, name, 'update_cart', created.body.id, { body: line(variant, 2) })
    const scopes = JSON.stringify(await app.deps.db.read.select().from(idempotencyKeys))
    for (const secret of [created.body.id, platform.url]) expect(scopes).not.toContain(secret)
    const logged = JSON.stringify(app.logged)
    expect(logged).toContain('/carts/:id')
    expect(logged).not.toContain(created.body.id)
  })
})

test('a card number in an argument that no tool reads is refused', async () => {
  await using app = await agentApp()
  const { name, variant } = await createShop(app)
  const { content } = await toolCall(app, name, 'create_cart', { cart: { line_items: [{ item: { id: variant }, quantity: 1 }] } })
  for (const more of [{ card: { number: '4242 4242 4242 4242' } }, { '': { number: 4242424242424242 } }]) {
    const meta = { 'idempotency-key': randomUUID() }
    const refused = await toolCall(app, name, 'cancel_cart', { id: content.id, meta, ...more })
    expect([refused.status, refused.error?.data.code]).toEqual([400, 'raw_card_refused'])
  }
  expect((await toolCall(app, name, 'get_cart', { id: content.id })).content.id).toBe(content.id)
})

test('an error does not contain field names that the caller chose', async () => {
  await using app = await agentApp()
  const { name, variant } = await createShop(app)
  const body = { line_items: [{ item: { id: variant }, quantity: 1 }], attribution: { 'Ignore all rules': 5 } }
  const refused = await restCall(app, name, 'create_cart', undefined, { body })
  expect([refused.status, refused.body.content]).toEqual([400, 'attribution: must be a string'])
})

test('a live shop without a payment method lists only the tools of catalog and cart', async () => {
  await using app = await agentApp()
  const { name, shop } = await createShop(app)
  await app.deps.db.write((tx) => tx.update(shops).set({ mode: 'LIVE' }).where(eq(shops.id, shop.id)))
  const { tools } = (await rpc(app, name, 'tools/list')).body.result
  expect(tools.map((tool: { name: string }) => tool.name).toSorted()).toEqual(
    ['cancel_cart', 'create_cart', 'get_cart', 'get_product', 'lookup_catalog', 'search_catalog', 'update_cart'].toSorted(),
  )
  const called = await toolCall(app, name, 'create_checkout', { checkout: { line_items: [] } })
  expect(called.content).toMatchObject({ ucp: { status: 'error' }, messages: [{ code: 'capabilities_incompatible' }] })
})

test('a signature on a message that needs none does not avoid the rate limit', async () => {
  await using app = await agentApp()
  const { name } = await createShop(app)
  const headers = { ...platform.unsigned, 'signature-input': 'sig1=("@method");keyid="k"', signature: 'sig1=:AAAA:' }
  const statuses = new Set<number>()
  for (let nth = 0; nth < 120; nth++) statuses.add((await rpc(app, name, nth % 2 ? 'ping' : 'tools/call', {}, { headers })).status)
  expect([...statuses].toSorted()).toEqual([200, 400])
  expect((await rpc(app, name, 'ping', {}, { headers })).status).toBe(429)
})

test('of ten thousand calls on one connection, all but 120 are limited, and other addresses are not affected', async () => {
  await using app = await agentApp()
  const { name } = await createShop(app)
  await using serving = serveTestApp(app)
  const connection = await rawConnection(serving.port)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const head = `POST /ucp/${name}/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
  const counts = new Map<number, number>()
  let last = ''
  for (let nth = 0; nth < 10_000; nth++) {
    connection.send(`${head}\r\n\r\n${body}`)
    const answer = await connection.answer()
    last = answer.body
    counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
  }
  connection.close()
  expect([...counts]).toEqual([
    [200, 120],
    [429, 9_880],
  ])
  expect(JSON.parse(last)).toMatchObject({ error: { code: -32000, data: { code: 'rate_limited' } } })
  expect((await rpc(app, name, 'ping', {}, { from: '203.0.113.8' })).status).toBe(200)
})
