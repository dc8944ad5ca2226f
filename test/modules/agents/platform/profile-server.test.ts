/** Tests profiles over real connections. */
import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UcpError } from '../../../../src/lib/ucp/errors.ts'
import { releases } from '../../../../src/lib/ucp/releases.ts'
import { identifyPlatform } from '../../../../src/modules/agents/platform/index.ts'
import { platformSettings, startPlatform } from '../../../support/agent-platform.ts'
import { testApp } from '../../../support/app.ts'

type Answer = { status?: number; headers?: Record<string, string>; body?: string }

/** Starts a server on loopback that answers with a profile. */
async function startProfileServer(answer: () => Answer) {
  let count = 0
  const server = createServer((_, response) => {
    count++
    const { status = 200, headers = {}, body = JSON.stringify({ ucp: { version: '2026-08-25', capabilities: {} } }) } = answer()
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}/profile`, count: () => count, [Symbol.dispose]: () => void server.close() }
}

const codeOf = (profile: Promise<unknown>) =>
  profile.then(
    () => 'read',
    (error: unknown) => (error instanceof UcpError ? error.code : error),
  )

test('profiles on http and private addresses are read only in the networks of AGENTS_PROFILE_NETWORKS', async () => {
  using server = await startProfileServer(() => ({ headers: { 'cache-control': 'max-age=600' } }))
  await using open = await testApp({ AGENTS_PROFILE_NETWORKS: '127.0.0.0/8' })
  expect(await codeOf(open.deps.platformProfiles.read(server.url))).toBe('read')
  // The official suite serves its profile at this name.
  expect(await codeOf(open.deps.platformProfiles.read(server.url.replace('127.0.0.1', 'localhost')))).toBe('read')
  expect(server.count()).toBe(2)
  await using closed = await testApp({ OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' })
  expect(await codeOf(closed.deps.platformProfiles.read(server.url))).toBe('invalid_profile_url')
  expect(await codeOf(closed.deps.platformProfiles.read(server.url.replace('http:', 'https:')))).toBe('invalid_profile_url')
  expect(server.count()).toBe(2)
})

test('redirects, huge bodies and errors are refused', async () => {
  let answer: Answer = {}
  using target = await startProfileServer(() => ({}))
  using server = await startProfileServer(() => answer)
  await using app = await testApp({ AGENTS_PROFILE_NETWORKS: '127.0.0.0/8' })
  for (const [nth, one] of [
    { status: 302, headers: { location: target.url } },
    { status: 308, headers: { location: target.url } },
    { body: `{"ucp":{"version":"2026-08-25"},"x":"${'x'.repeat(128 * 1024)}"}` },
    { status: 503 },
  ].entries()) {
    answer = one
    expect(await codeOf(app.deps.platformProfiles.read(`${server.url}?${nth}`))).toBe('profile_unreachable')
  }
  expect(target.count()).toBe(0)
})

test.each(releases)('a request signed by another library is proven in release %s', async (release) => {
  await using platform = await startPlatform({ release, capabilities: ['cart', 'discount', 'fulfillment'] })
  await using app = await testApp({ ...platformSettings, PUBLIC_URL: 'https://shop.example' })
  const body = '{"line_items":[]}'
  const address = 'https://shop.example/ucp/tea/carts'
  const headers = await platform.headersOf('POST', address, { body, headers: { 'idempotency-key': crypto.randomUUID() } })
  const request = new Request('http://10.1.2.3:3000/ucp/tea/carts', { method: 'POST', headers, body })
  const identified = () => identifyPlatform(app.deps, { access: 'SIGNED', request, rawBody: Buffer.from(body) })
  expect(await identified()).toEqual({
    profile: platform.url,
    isProven: true,
    release,
    capabilities: new Set(['cart', 'discount']),
    webhookUrl: null,
  })
  await identified()
  expect(platform.reads()).toBe(1)
})
