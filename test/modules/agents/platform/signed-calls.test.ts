/** Tests signed requests through the routes, with SIGNED and OPEN access. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startPlatform } from '../../../support/agent-platform.ts'
import { agentApp, enableAgents } from '../../../support/agents.ts'
import { sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)
const origin = 'https://souk.example'

async function startSignedShop() {
  const app = await agentApp({ PUBLIC_URL: origin })
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  await enableAgents(app, shop.shop.id, 'SIGNED')
  await enableAgents(app, other.shop.id, 'SIGNED')
  const platform = await startPlatform()
  const body = JSON.stringify({ line_items: [{ item: { id: shop.variantId }, quantity: 1 }] })
  const path = `/ucp/${shop.shop.name}/carts`
  const signed = (by: typeof platform, method = 'POST', to = path, sent: string | null = body) =>
    by.headersOf(method, `${origin}${to}`, {
      ...(sent === null ? {} : { body: sent }),
      headers: method === 'GET' ? {} : { 'idempotency-key': crypto.randomUUID() },
    })
  const post = (headers: Record<string, string>, to = path, raw = body) => app.call('POST', to, { raw, headers })
  return { app, shop, other, platform, body, path, signed, post, [Symbol.asyncDispose]: () => app.close() }
}

test('a signed request has one effect per key, and its signature is invalid for any other request', async () => {
  await using it = await startSignedShop()
  await using platform = it.platform
  const headers = await it.signed(platform)
  const first = await it.post(headers)
  expect([first.status, first.body.line_items.length]).toEqual([201, 1])
  expect((await it.post(headers)).body).toEqual(first.body)
  const refusals = [
    await it.post(headers, `/ucp/${it.other.shop.name}/carts`),
    await it.post(headers, `/ucp/${it.shop.shop.name}/checkout-sessions`),
    await it.post(headers, `${it.path}?a=1`),
    await it.app.call('PUT', `${it.path}/${first.body.id}`, { raw: it.body, headers }),
    await it.post({ ...headers, 'idempotency-key': crypto.randomUUID() }),
    await it.post(headers, it.path, it.body.replace('1', '2')),
    await it.post(platform.unsigned),
    await it.post({}),
  ]
  expect(refusals.map(({ status, body }) => [status, body.code])).toEqual([
    [401, 'signature_invalid'],
    [401, 'signature_invalid'],
    [401, 'signature_invalid'],
    [401, 'signature_invalid'],
    [401, 'signature_invalid'],
    [400, 'digest_mismatch'],
    [401, 'signature_missing'],
    [400, 'invalid_profile_url'],
  ])
})

test('another platform, proven or not, does not find the cart of a proven one', async () => {
  await using it = await startSignedShop()
  await using platform = it.platform
  await using stranger = await startPlatform()
  const { body: cart } = await it.post(await it.signed(platform))
  const path = `${it.path}/${cart.id}`
  const read = (headers: Record<string, string>) => it.app.call('GET', path, { headers })
  expect((await read(await it.signed(platform, 'GET', path, null))).body.id).toBe(cart.id)
  const unknown = (await read(await it.signed(stranger, 'GET', path, null))).body
  expect([unknown.ucp.status, unknown.messages[0].code]).toEqual(['error', 'not_found'])
  // Names the profile of the platform, but is signed by the stranger.
  const forged = { ...(await it.signed(stranger, 'GET', path, null)), ...platform.unsigned }
  expect((await read(forged)).status).toBe(401)
  await enableAgents(it.app, it.shop.shop.id, 'OPEN')
  expect((await read(platform.unsigned)).body.messages[0].code).toBe('not_found')
  expect((await read(forged)).status).toBe(401)
})

test('proof over MCP has the statuses of REST and the codes of JSON-RPC', async () => {
  await using it = await startSignedShop()
  await using platform = it.platform
  const path = `/ucp/${it.shop.shop.name}/mcp`
  const call = (meta: object = {}, tool = 'create_cart') =>
    JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: tool, arguments: { meta, id: 'order_x', cart: JSON.parse(it.body) } },
    })
  const signed = (raw: string) => platform.headersOf('POST', `${origin}${path}`, { body: raw, headers: { accept: 'application/json' } })
  const ask = async (headers: Record<string, string>, raw = call()) => {
    const { status, body } = await it.app.call('POST', path, { raw, headers: { 'content-type': 'application/json', ...headers } })
    return body.result ? [status, body.result.structuredContent.ucp.status] : [status, body.error.code, body.error.data.code]
  }
  const named = call({ 'ucp-agent': { profile: platform.url } })
  const accept = { accept: 'application/json' }
  expect(await ask(await signed(call()))).toEqual([200, 'success'])
  expect(await ask(await signed(named), named)).toEqual([200, 'success'])
  const other = call({ 'ucp-agent': { profile: `${platform.url}/other` } })
  expect(await ask(await signed(other), other)).toEqual([400, -32001, 'invalid_profile_url'])
  expect(await ask(await signed(call()), named)).toEqual([400, -32600, 'digest_mismatch'])
  expect(await ask({ ...platform.unsigned, ...accept })).toEqual([401, -32000, 'signature_missing'])
  expect(await ask(accept, named)).toEqual([401, -32000, 'signature_missing'])
  expect(await ask(accept)).toEqual([400, -32001, 'invalid_profile_url'])
  // This signature is for the path of REST.
  expect(await ask(await it.signed(platform, 'POST', it.path, call()))).toEqual([401, -32000, 'signature_invalid'])
  await enableAgents(it.app, it.shop.shop.id, 'OPEN')
  expect(await ask(accept)).toEqual([200, 'success'])
  expect(await ask(accept, call({}, 'get_order'))).toEqual([400, -32001, 'invalid_profile_url'])
  expect(await ask({ ...platform.unsigned, ...accept }, call({}, 'get_order'))).toEqual([401, -32000, 'signature_missing'])
  const order = call({}, 'get_order')
  expect(await ask(await signed(order), order)).toEqual([200, 'error'])
})
