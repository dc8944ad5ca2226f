/** Tests the profile that platforms read at a host name. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { shops } from '../../../../db/schema/index.ts'
import { authorityOf, capabilityNames, fullNameOf, type Release, releases } from '../../../../src/lib/ucp/releases.ts'
import { type CallOptions, type TestApp, testApp } from '../../../support/app.ts'
import { serverAndRoute } from '../../../support/cached-and-routed.ts'
import { processorSettings } from '../../../support/processor-settings.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { breachesOf, hasUcpSchemas, profileBreaches } from '../../../support/ucp-schemas.ts'

setDefaultTimeout(longTestMs)

const on = { AGENTS_ENABLED: 'true', PUBLIC_URL: 'https://souk.example' }
const path = '/.well-known/ucp'
const older = `${path}/2026-04-08`
const pathOf: Record<Release, string> = { '2026-08-25': path, '2026-04-08': older }
type Merchant = Awaited<ReturnType<TestApp['merchant']>>

const getPath = (app: TestApp, host = 'souk.example', at = path, options: CallOptions = {}) =>
  app.call('GET', at, { ...options, headers: { host, ...options.headers } })
const switchOn = async (app: TestApp, { token }: Merchant, more: object = {}) =>
  ok(await app.call('PUT', '/shops/v2/agents', { token, body: { enabled: true, ...more } }))
async function createAgentMerchant(app: TestApp) {
  const merchant = await app.merchant()
  await switchOn(app, merchant)
  return merchant
}
/** Stores a host name of the shop's storefront that is verified by DNS. */
const addVerifiedHost = (app: TestApp, { shop }: Merchant, host: string) =>
  app.deps.db.write((tx) => {
    const row = { shopId: shop.id, host, proof: 'p', createdAt: 0, verifiedAt: 1, checkedAt: 0, missingSince: null, version: 1 }
    return app.deps.hostStore.insert(tx, row)
  })
const shopNameIn = ({ body }: { body: { ucp: { services: Record<string, { endpoint: string }[]> } } }) =>
  body.ucp.services['dev.ucp.shopping']?.[0]?.endpoint.split('/').at(-1)
const setLive = (app: TestApp, { shop }: Merchant) =>
  app.deps.db.write((tx) => tx.update(shops).set({ mode: 'LIVE' }).where(eq(shops.id, shop.id)))

describe('a profile', () => {
  test('is 404 while the operator or every shop has agents off, and for a suspended shop', async () => {
    await using off = await testApp()
    for (const at of [path, older, '/ucp/handlers/sandbox', '/ucp/handlers/sandbox/spec'])
      expect((await getPath(off, 'souk.example', at)).status).toBe(404)
    await using app = await testApp(on)
    const merchant = await app.merchant()
    expect((await getPath(app)).status).toBe(404)
    await switchOn(app, merchant)
    expect((await getPath(app)).status).toBe(200)
    await app.deps.db.write((tx) => tx.update(shops).set({ status: 'SUSPENDED' }).where(eq(shops.id, merchant.shop.id)))
    expect((await getPath(app)).status).toBe(404)
  })

  test('names exactly what a test shop serves, in each release', async () => {
    await using app = await testApp(on)
    const { shop, ...rest } = await createAgentMerchant(app)
    const key = ok(await app.call('GET', '/shops/v2/agents', { token: rest.token })).body.keys[0].kid
    for (const release of releases) {
      const { body, headers } = ok(await getPath(app, 'souk.example', pathOf[release]))
      const { ucp, keys, signing_keys: signingKeys } = body
      expect(ucp.version).toBe(release)
      expect(ucp.supported_versions).toEqual(release === '2026-08-25' ? { '2026-04-08': `https://souk.example${older}` } : undefined)
      expect(
        ucp.services['dev.ucp.shopping'].map(({ transport, endpoint, version }: Record<string, string>) => [transport, endpoint, version]),
      ).toEqual([
        ['rest', `https://souk.example/ucp/${shop.name}`, release],
        ['mcp', `https://souk.example/ucp/${shop.name}/mcp`, release],
      ])
      expect(Object.keys(ucp.capabilities)).toEqual(capabilityNames.map(fullNameOf))
      expect(ucp.capabilities['dev.ucp.shopping.fulfillment'][0].extends).toBe('dev.ucp.shopping.checkout')
      expect(ucp.capabilities['dev.ucp.shopping.discount'][0].extends).toEqual(['dev.ucp.shopping.checkout', 'dev.ucp.shopping.cart'])
      expect(ucp.payment_handlers).toEqual({
        'example.souk.sandbox': [
          expect.objectContaining({ id: 'sandbox', version: release, schema: 'https://souk.example/ucp/handlers/sandbox' }),
        ],
      })
      const [published, absent] = release === '2026-08-25' ? [keys, signingKeys] : [signingKeys, keys]
      expect(absent).toBeUndefined()
      expect(published).toEqual([expect.objectContaining({ kid: key, kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256' })])
      expect(Object.keys(published[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
      expect(headers.get('cache-control')).toBe('public, max-age=300')
      expect(headers.get('access-control-allow-origin')).toBe('*')
      if (hasUcpSchemas) {
        expect(profileBreaches(release, body)).toEqual([])
        // Throws if the release has no such definition.
        for (const [at, entries] of Object.entries<{ schema: string }[]>(ucp.capabilities))
          expect([
            at,
            breachesOf(release, new URL(entries[0]?.schema ?? '').pathname.replace(`/${release}/`, ''), null).length > 0,
          ]).toEqual([at, !at.endsWith('fulfillment') && !at.endsWith('discount')])
      }
    }
  })

  test('lists a new key after a rotation, and removes the old one after seven days', async () => {
    await using app = await testApp(on)
    const merchant = await createAgentMerchant(app)
    const { kid } = ok(await app.call('POST', '/shops/v2/agents/keys/rotate', { token: merchant.token })).body
    const kids = async () => ok(await getPath(app)).body.keys.map((one: { kid: string }) => one.kid)
    expect(await kids()).toContain(kid)
    app.clock.advance(7 * 24 * 60 * 60_000)
    expect(await kids()).toEqual([kid])
  })

  test('of a live shop has no payment handler, and only catalog and carts if there is no checkout page', async () => {
    await using app = await testApp(on)
    const merchant = await createAgentMerchant(app)
    await setLive(app, merchant)
    for (const release of releases) {
      const { body } = ok(await getPath(app, 'souk.example', pathOf[release]))
      expect(Object.keys(body.ucp.capabilities)).toEqual(
        ['cart', 'catalog.search', 'catalog.lookup'].map((name) => `dev.ucp.shopping.${name}`),
      )
      expect(body.ucp.payment_handlers).toEqual({})
      if (hasUcpSchemas) expect(profileBreaches(release, body)).toEqual([])
    }
    ok(await app.call('PATCH', '/shops/v2', { token: merchant.token, body: { pages: { checkout: 'https://shop.example/buy' } } }))
    const { body } = ok(await getPath(app))
    expect(Object.keys(body.ucp.capabilities)).toEqual(capabilityNames.map(fullNameOf))
    expect(body.ucp.payment_handlers).toEqual({})
  })

  test('of a live shop with a processor that pays by link has the checkout', async () => {
    await using app = await testApp({ ...processorSettings, ...on })
    const merchant = await createAgentMerchant(app)
    await setLive(app, merchant)
    const checkout = async (crypto: boolean) => {
      const body = { paypal: { enabled: false }, crypto: { enabled: crypto } }
      ok(await app.call('PUT', '/shops/v2/payment-methods', { token: merchant.token, body }))
      return 'dev.ucp.shopping.checkout' in ok(await getPath(app)).body.ucp.capabilities
    }
    expect([await checkout(false), await checkout(true)]).toEqual([false, true])
  })
})

describe('a host name', () => {
  test('selects the shop with this storefront, in any spelling and on any port', async () => {
    await using app = await testApp(on)
    const [one, other] = [await createAgentMerchant(app), await createAgentMerchant(app)]
    await addVerifiedHost(app, one, 'one.example')
    await addVerifiedHost(app, other, 'other.example')
    for (const host of ['one.example', 'ONE.example', 'one.example:8443', 'one.example.'])
      expect(shopNameIn(ok(await getPath(app, host)))).toBe(one.shop.name)
    const { body } = ok(await getPath(app, 'other.example'))
    expect(shopNameIn({ body })).toBe(other.shop.name)
    expect(body.ucp.supported_versions).toEqual({ '2026-04-08': `https://other.example${older}` })
    expect(shopNameIn(ok(await getPath(app, 'other.example', older)))).toBe(other.shop.name)
    // Two shops have agents on, so the host of the instance selects none.
    expect((await getPath(app)).status).toBe(404)
  })

  test('selects no other shop if the shop of the storefront has agents off', async () => {
    await using app = await testApp(on)
    const [one, other] = [await createAgentMerchant(app), await app.merchant()]
    await addVerifiedHost(app, other, 'other.example')
    expect((await getPath(app, 'other.example')).status).toBe(404)
    expect(shopNameIn(ok(await getPath(app, 'elsewhere.example')))).toBe(one.shop.name)
  })

  test('selects the shop of AGENTS_SHOP if it is not a storefront', async () => {
    await using app = await testApp({ ...on, AGENTS_SHOP: 'shop-2' })
    const [one, two] = [await createAgentMerchant(app), await app.merchant()]
    expect((await getPath(app)).status).toBe(404)
    await switchOn(app, two)
    await addVerifiedHost(app, one, 'one.example')
    expect([shopNameIn(ok(await getPath(app))), shopNameIn(ok(await getPath(app, 'one.example')))]).toEqual(['shop-2', one.shop.name])
    expect(ok(await app.call('GET', '/shops/v2/agents', { token: two.token })).body.profile).toBe('https://souk.example/.well-known/ucp')
    expect(ok(await app.call('GET', '/shops/v2/agents', { token: one.token })).body.profile).toBe('https://one.example/.well-known/ucp')
  })

  test('is refused if ALLOWED_HOSTS does not list it', async () => {
    await using app = await testApp({ ...on, ALLOWED_HOSTS: 'souk.example,localhost' })
    await createAgentMerchant(app)
    expect((await getPath(app)).status).toBe(200)
    expect((await getPath(app, 'evil.example')).status).toBe(400)
  })
})

describe('responses', () => {
  test('from the cache equal those of the route, with 304 and for any origin, and follow each change', async () => {
    await using app = await testApp({ AGENTS_ENABLED: 'true' })
    const merchant = await createAgentMerchant(app)
    await using server = serverAndRoute(app)
    for (const at of [path, older]) {
      const { headers } = await server.same(at)
      expect((await server.same(at, { headers: { 'if-none-match': headers['etag'] ?? '' } })).status).toBe(304)
      await server.same(at, { headers: { origin: 'https://assistant.example' } })
      expect((await server.same(`${at}?utm=1`)).status).toBe(200)
      expect((await server.same(at, { headers: { host: 'other.example' } })).status).toBe(200)
    }
    await switchOn(app, merchant, { enabled: false })
    expect((await server.same(path)).status).toBe(404)
  })

  test('differ by host', async () => {
    await using app = await testApp(on)
    const [one, other] = [await createAgentMerchant(app), await createAgentMerchant(app)]
    await addVerifiedHost(app, one, 'one.example')
    await addVerifiedHost(app, other, 'other.example')
    for (const _ of [1, 2])
      expect([shopNameIn(ok(await getPath(app, 'one.example'))), shopNameIn(ok(await getPath(app, 'other.example')))]).toEqual([
        one.shop.name,
        other.shop.name,
      ])
  })

  test('include a schema and a page that describe the sandbox', async () => {
    await using app = await testApp(on)
    const schema = ok(await app.call('GET', '/ucp/handlers/sandbox'))
    expect([schema.body.$id, schema.headers.get('access-control-allow-origin')]).toEqual(['https://souk.example/ucp/handlers/sandbox', '*'])
    const page = ok(await app.call('GET', '/ucp/handlers/sandbox/spec'))
    // Platforms cache the documents that a profile names.
    for (const { headers } of [schema, page]) expect(headers.get('cache-control')).toBe('public, max-age=300')
    expect(page.headers.get('content-type')).toStartWith('text/html')
    expect(page.text).toContain('tok_success')
  })
})

test('the authority of handlers is the host reversed, in the grammar of each release', () => {
  const authoritiesOf = (host: string) => [authorityOf(host, '2026-08-25'), authorityOf(host, '2026-04-08')]
  expect(authoritiesOf('shop.4u-store.example')).toEqual(['example.4u-store.shop', 'example.x4u_store.shop'])
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) expect(authoritiesOf(host)).toEqual(['localhost.souk', 'localhost.souk'])
})
