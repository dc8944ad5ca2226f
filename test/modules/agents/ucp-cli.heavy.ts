/** Tests a purchase with the protocol's command-line client, in both releases. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newestRelease, type Release, releases } from '../../../src/lib/ucp/releases.ts'
import { buyer, fulfillmentTo, paymentWithToken } from '../../support/agent-calls.ts'
import { startPlatform } from '../../support/agent-platform.ts'
import { agentApp, enableAgents } from '../../support/agents.ts'
import type { Json } from '../../support/app.ts'
import { sellingIn } from '../../support/selling.ts'
import { serveTestApp } from '../../support/server.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { assertUcpAnswer } from '../../support/ucp-schemas.ts'

setDefaultTimeout(longTestMs)

const program = join(import.meta.dir, '../../../node_modules/@shopify/ucp-cli/dist/bin.js')

/**
 * Starts a shop on loopback and sets up the client with a profile of a release. The client cannot sign, so it calls a
 * proxy that signs requests if access is SIGNED.
 */
async function startShopping(release: Release, access: 'OPEN' | 'SIGNED') {
  const app = await agentApp()
  const shop = await sellingIn(app)
  await enableAgents(app, shop.shop.id, access)
  const serving = serveTestApp(app)
  const platform = await startPlatform({ release })
  let business = ''
  const signingProxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = await request.text()
      const sent = body === '' ? {} : { body }
      const signed = access === 'OPEN' ? {} : await platform.headersOf(request.method, `${business}${pathname}`, sent)
      return fetch(`http://127.0.0.1:${serving.port}${pathname}`, {
        method: request.method,
        headers: { ...request.headers.toJSON(), ...signed },
        ...sent,
      })
    },
  })
  business = `http://127.0.0.1:${signingProxy.port}`
  app.deps.life.url = business
  const home = mkdtempSync(join(tmpdir(), 'ucp-cli-'))
  const env = { ...Bun.env, UCP_HOME: home, UCP_TEST_ALLOW_INSECURE_LOCALHOST: 'true', NO_COLOR: '1' }
  async function ucp(...args: string[]): Promise<Json> {
    const run = Bun.spawn([process.execPath, program, ...args, '--format', 'json'], { env, stdout: 'pipe', stderr: 'pipe' })
    const [out, errors] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
    await run.exited
    try {
      return JSON.parse(out)
    } catch {
      throw new Error(`ucp ${args.join(' ')}: ${out} ${errors}`)
    }
  }
  await ucp('profile', 'init', '--name', 'test', '--version', release, '--profile-url', platform.url)
  return {
    shop,
    ucp,
    /** Calls an operation and validates its response against the schemas. */
    async call(tool: string, command: string, input?: Json): Promise<Json> {
      const sent = input === undefined ? [] : ['--input', JSON.stringify(input)]
      const answer = await ucp(...command.split(' '), ...sent, '--business', business, '--profile', 'test')
      if (answer.result === undefined) return answer
      assertUcpAnswer(release, tool, { ucp: answer.ucp, ...answer.result })
      return answer.result
    },
    discover: () => ucp('discover', '--business', business, '--profile', 'test'),
    async [Symbol.asyncDispose]() {
      await signingProxy.stop(true)
      await platform[Symbol.asyncDispose]()
      await serving.stop()
      await app.close()
      rmSync(home, { recursive: true })
    },
  }
}

test.each([...releases.map((release) => [release, 'SIGNED'] as const), [newestRelease, 'OPEN'] as const])(
  'the client of the protocol buys in release %s with %s access',
  async (release, access) => {
    await using here = await startShopping(release, access)
    const { shop, call } = here
    const discovered = (await here.discover()).result
    expect(discovered.protocol.version).toBe(release)
    const found = await call('search_catalog', 'catalog search', { query: 'mug' })
    const item = found.products[0].variants[0].id
    const cart = await call('create_cart', 'cart create', { line_items: [{ item: { id: item }, quantity: 2 }] })
    const checkout = await call('create_checkout', 'checkout create', { cart_id: cart.id, line_items: [] })
    expect(checkout.line_items).toMatchObject([{ item: { id: item, price: 1_000 }, quantity: 2 }])
    const content = { line_items: [{ item: { id: item }, quantity: 2 }], buyer, fulfillment: fulfillmentTo() }
    const ready = await call('update_checkout', `checkout update ${checkout.id}`, content)
    expect(ready.status).toBe('ready_for_complete')
    const completed = await call('complete_checkout', `checkout complete ${checkout.id}`, paymentWithToken('tok_success'))
    expect(completed.status).toBe('completed')
    expect((await shop.order(completed.order.id)).total).toEqual({ amount: ready.totals.at(-1).amount, currency: 'USD' })
    const other = await call('create_checkout', 'checkout create', content)
    expect((await call('cancel_checkout', `checkout cancel ${other.id}`)).status).toBe('canceled')
    const order = await call('get_order', `order get ${completed.order.id}`)
    if (access === 'OPEN') expect(order.message).toContain('signature_missing')
    else expect(order).toMatchObject({ id: completed.order.id, checkout_id: checkout.id, currency: 'USD' })
  },
)
