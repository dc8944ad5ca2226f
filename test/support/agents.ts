/** Shops that sell through agents, and requests of platforms over both transports. Validates each response. */
import { randomUUID } from 'node:crypto'
import { agentSettings } from '../../db/schema/agents.ts'
import { newestRelease, type Release } from '../../src/lib/ucp/releases.ts'
import { platformSettings, startPlatform } from './agent-platform.ts'
import { type Answer, type CallOptions, type Json, type TestApp, testApp } from './app.ts'
import { assertUcpAnswer } from './ucp-schemas.ts'

/** A platform that runs until the process ends. */
export const platform = await startPlatform()

export const agentsOn = { AGENTS_ENABLED: 'true', ...platformSettings }
export const agentApp = (settings: Record<string, string> = {}, options: Parameters<typeof testApp>[1] = {}) =>
  testApp({ ...agentsOn, ...settings }, options)

/** Stores agent settings of a shop; `enabled` false disables agents. */
export async function enableAgents(app: TestApp, shopId: string, access: 'OPEN' | 'SIGNED' = 'OPEN', enabled = true): Promise<void> {
  const row = { shopId, enabled, access, policies: [], updatedAt: app.clock.now(), version: 1 }
  await app.deps.db.write((tx) => tx.insert(agentSettings).values(row).onConflictDoUpdate({ target: agentSettings.shopId, set: row }))
}

type AgentCallOptions = Pick<CallOptions, 'from' | 'headers' | 'raw'> & {
  readonly body?: unknown
  readonly key?: string | null
  readonly profile?: string | null
  readonly release?: Release
}

/** REST method and path of each tool, as the protocol lists them. */
const rest: Readonly<Record<string, readonly [method: string, path: string]>> = {
  create_checkout: ['POST', '/checkout-sessions'],
  get_checkout: ['GET', '/checkout-sessions/{id}'],
  update_checkout: ['PUT', '/checkout-sessions/{id}'],
  complete_checkout: ['POST', '/checkout-sessions/{id}/complete'],
  cancel_checkout: ['POST', '/checkout-sessions/{id}/cancel'],
  create_cart: ['POST', '/carts'],
  get_cart: ['GET', '/carts/{id}'],
  update_cart: ['PUT', '/carts/{id}'],
  cancel_cart: ['POST', '/carts/{id}/cancel'],
  search_catalog: ['POST', '/catalog/search'],
  lookup_catalog: ['POST', '/catalog/lookup'],
  get_product: ['POST', '/catalog/product'],
  get_order: ['GET', '/orders/{id}'],
}

/** Calls an operation over REST. Changes get a new idempotency key, unless `key` is null. */
export async function restCall(
  app: TestApp,
  shopName: string,
  tool: string,
  id: string | undefined,
  { body, key = randomUUID(), profile = platform.url, release = newestRelease, headers = {}, ...options }: AgentCallOptions = {},
): Promise<Answer> {
  const [method = '', path = ''] = rest[tool] ?? []
  const answer = await app.call(method, `/ucp/${shopName}${path.replace('{id}', id ?? '')}`, {
    ...options,
    ...(method === 'GET' || options.raw !== undefined ? {} : { body: body ?? {} }),
    headers: {
      ...(profile === null ? {} : { 'ucp-agent': `profile="${profile}"` }),
      ...(key === null || method === 'GET' ? {} : { 'idempotency-key': key }),
      ...headers,
    },
  })
  if (answer.status < 300) assertUcpAnswer(release, tool, answer.body)
  return answer
}

type RpcOptions = Pick<CallOptions, 'from' | 'headers' | 'raw'> & { readonly id?: unknown }

/** Sends a JSON-RPC request to a shop's MCP address. */
export const rpc = (
  app: TestApp,
  shopName: string,
  method: string,
  params?: unknown,
  { id = 1, ...options }: RpcOptions = {},
): Promise<Answer> =>
  app.call('POST', `/ucp/${shopName}/mcp`, {
    body: { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) },
    ...options,
  })

/** Calls a tool over MCP. Returns its structured content, or the JSON-RPC error. */
export async function toolCall(
  app: TestApp,
  shopName: string,
  tool: string,
  args: object,
  { release = newestRelease, ...options }: RpcOptions & { release?: Release } = {},
): Promise<Answer & { content?: Json; error?: Json }> {
  const answer = await rpc(app, shopName, 'tools/call', { name: tool, arguments: args }, options)
  const content = answer.body.result?.structuredContent
  if (content !== undefined) {
    assertUcpAnswer(release, tool, content)
    if (answer.body.result.content[0].text !== JSON.stringify(content)) throw new Error('the text is not the structured content')
  }
  return { ...answer, content, error: answer.body.error }
}
