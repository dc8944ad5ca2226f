/** Tests MCP with third-party clients and a conformance suite. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as StatelessClient, StreamableHTTPClientTransport as StatelessTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { buyer, fulfillmentTo, paymentWithToken } from '../../support/agent-calls.ts'
import { agentApp, enableAgents } from '../../support/agents.ts'
import type { Json } from '../../support/app.ts'
import { sellingIn } from '../../support/selling.ts'
import { serveTestApp } from '../../support/server.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { assertUcpAnswer } from '../../support/ucp-schemas.ts'

setDefaultTimeout(longTestMs)

async function serveShop() {
  const app = await agentApp()
  const shop = await sellingIn(app)
  await enableAgents(app, shop.shop.id)
  const serving = serveTestApp(app)
  app.deps.life.url = `http://127.0.0.1:${serving.port}`
  return {
    app,
    shop,
    url: new URL(`http://127.0.0.1:${serving.port}/ucp/${shop.shop.name}/mcp`),
    async [Symbol.asyncDispose]() {
      await serving.stop()
      await app.close()
    },
  }
}

/** Methods that both clients have. The clients validate structured content against the output schema of its tool. */
type ToolCaller = {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
}

async function buyAs(client: ToolCaller, { shop }: Awaited<ReturnType<typeof serveShop>>): Promise<void> {
  const { tools } = await client.listTools()
  expect(tools).toHaveLength(13)
  expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true)
  const call = async (name: string, args: Json): Promise<Json> => {
    const { structuredContent, content } = (await client.callTool({ name, arguments: args })) as Json
    expect(JSON.parse(content[0].text)).toEqual(structuredContent)
    assertUcpAnswer('2026-08-25', name, structuredContent)
    return structuredContent
  }
  const key = () => ({ 'idempotency-key': randomUUID() })
  const found = await call('search_catalog', { catalog: { query: 'mug' } })
  const item = found.products[0].variants[0].id
  expect((await call('get_product', { catalog: { id: item } })).product.variants).toHaveLength(1)
  expect((await call('get_product', { catalog: { id: 'none' } })).messages[0].code).toBe('not_found')
  expect((await call('lookup_catalog', { catalog: { ids: [item] } })).products).toHaveLength(1)
  const cart = await call('create_cart', { cart: { line_items: [{ item: { id: item }, quantity: 1 }] } })
  const content = { line_items: [{ item: { id: item }, quantity: 2 }], buyer, fulfillment: fulfillmentTo() }
  const checkout = await call('create_checkout', { checkout: { cart_id: cart.id, line_items: [] } })
  const ready = await call('update_checkout', { id: checkout.id, checkout: content })
  expect(ready.status).toBe('ready_for_complete')
  const completed = await call('complete_checkout', { id: checkout.id, meta: key(), checkout: paymentWithToken('tok_success') })
  expect([completed.status, (await shop.order(completed.order.id)).total]).toEqual([
    'completed',
    { amount: ready.totals.at(-1).amount, currency: 'USD' },
  ])
  const other = await call('create_checkout', { checkout: content })
  expect((await call('cancel_checkout', { id: other.id, meta: key() })).status).toBe('canceled')
  await expect(client.callTool({ name: 'cancel_checkout', arguments: { id: checkout.id, meta: key() } })).rejects.toThrow()
}

test('version 1 of the SDK client lists tools and buys', async () => {
  await using here = await serveShop()
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(here.url) as Parameters<typeof client.connect>[0])
  await buyAs(client, here)
  await client.close()
})

test.each([
  ['with a handshake', { mode: 'legacy' }, '2025-11-25'],
  ['with negotiation', { mode: 'auto' }, '2026-07-28'],
  ['with a pinned version', { mode: { pin: '2026-07-28' } }, '2026-07-28'],
] as const)('version 2 of the SDK client lists tools and buys %s', async (_, versionNegotiation, version) => {
  await using here = await serveShop()
  const client = new StatelessClient({ name: 'test', version: '1' }, { versionNegotiation })
  await client.connect(new StatelessTransport(here.url))
  expect(client.getNegotiatedProtocolVersion()).toBe(version)
  await buyAs(client, here)
  await client.close()
})

type Check = { id: string; name: string; status: string; errorMessage?: string }

describe('the conformance suite', () => {
  const suite = join(import.meta.dir, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js')
  /** Runs a scenario. Returns the checks that failed or were skipped, and the number of other checks. */
  async function failuresOf(url: URL, scenario: string, version: string): Promise<{ passed: number; failures: string[] }> {
    const results = mkdtempSync(join(tmpdir(), 'mcp-conformance-'))
    try {
      const args = ['--url', url.href, '--scenario', scenario, '--spec-version', version, '-o', results]
      const run = Bun.spawn([process.execPath, suite, 'server', ...args], { stdout: 'pipe', stderr: 'pipe' })
      const [out, errors] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
      await run.exited
      const [path] = [...new Bun.Glob('**/checks.json').scanSync(results)]
      if (path === undefined) throw new Error(`${scenario}: ${out} ${errors}`)
      const checks: Check[] = JSON.parse(readFileSync(join(results, path), 'utf8'))
      const failed = checks.filter(({ status }) => !['SUCCESS', 'INFO'].includes(status))
      return { passed: checks.length - failed.length, failures: failed.map(({ id, status }) => `${status} ${id}`).toSorted() }
    } finally {
      rmSync(results, { recursive: true })
    }
  }

  test.each([
    ['server-initialize', '2025-06-18'],
    ['server-initialize', '2025-11-25'],
    ['ping', '2025-06-18'],
    ['ping', '2025-11-25'],
    ['tools-list', '2025-06-18'],
    ['tools-list', '2025-11-25'],
    ['tools-list', '2026-07-28'],
    ['dns-rebinding-protection', '2025-11-25'],
    ['dns-rebinding-protection', '2026-07-28'],
    ['http-header-validation', '2026-07-28'],
  ])('passes %s of %s', async (scenario, version) => {
    await using here = await serveShop()
    const { passed, failures } = await failuresOf(here.url, scenario, version)
    expect(failures).toEqual([])
    expect(passed).toBeGreaterThan(0)
  })

  test.each<[string, string[]]>([
    [
      'server-stateless',
      [
        // Needs a tool `test_streaming_elicitation`.
        'FAILURE sep-2575-http-server-no-independent-requests-on-stream',
        // Needs a tool `test_missing_capability`, as does `rejects-undeclared-capability`.
        'FAILURE sep-2575-missing-capability-http-400',
        // Needs a tool `test_logging_tool`.
        'FAILURE sep-2575-server-no-log-without-loglevel',
        'FAILURE sep-2575-server-rejects-undeclared-capability',
        // Need subscriptions to prompts and to changes of the tool list.
        'SKIPPED sep-2575-server-honors-notification-filter',
        'SKIPPED sep-2575-server-sends-prompts-list-changed-on-subscription',
        'SKIPPED sep-2575-server-sends-subscription-ack',
        'SKIPPED sep-2575-server-sends-tools-list-changed-on-subscription',
        'SKIPPED sep-2575-server-tags-subscription-id',
      ],
    ],
    [
      'caching',
      [
        // Need prompts and resources.
        'FAILURE sep-2549-prompts-list-caching-hints',
        'FAILURE sep-2549-resources-list-caching-hints',
        'FAILURE sep-2549-resources-templates-list-caching-hints',
        'SKIPPED sep-2549-resources-read-caching-hints',
      ],
    ],
  ])('passes %s, except checks that need test tools, prompts or resources', async (scenario, expectedFailures) => {
    await using here = await serveShop()
    const { passed, failures } = await failuresOf(here.url, scenario, '2026-07-28')
    expect(failures).toEqual(expectedFailures)
    expect(passed).toBeGreaterThan(0)
  })
})
