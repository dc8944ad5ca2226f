/** The public route that tells a payment page which methods to offer. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { failuresMax } from '../../../../src/lib/breaker.ts'
import { cardProcessors, type ProcessorName, processorNames } from '../../../../src/modules/payments/payment-method/domain.ts'
import { type Answer, type CallOptions, type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness } from '../../../support/kyb.ts'
import { processorSettings } from '../../../support/processor-settings.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const resolverPath = (name: string) => `/checkout/${name}/payment-intent-resolver`
let callerCount = 0
/** Requests the payment methods of a shop, each time from another address because requests are limited by address. */
const getMethods = (app: TestApp, name: string, options: CallOptions = {}): Promise<Answer> =>
  app.call('GET', resolverPath(name), { from: `198.51.${(callerCount >> 8) % 256}.${callerCount++ % 256}`, ...options })
const put = async (app: TestApp, token: string, path: string, body: unknown) => ok(await app.call('PUT', path, { token, body }))
const saveMethods = (app: TestApp, { token }: { token: string }, body: unknown) => put(app, token, '/shops/v2/payment-methods', body)
const actOnBreaker = async (app: TestApp, { token }: { token: string }, name: ProcessorName, action: string) =>
  ok(await app.call('POST', `/admin/operations/breakers/${name}`, { token, body: { action } }))

describe('the answer', () => {
  test('a shop without a configuration gets the methods of the instance, but no card', async () => {
    await using app = await testApp(processorSettings)
    const { shop } = await app.merchant()
    expect(ok(await getMethods(app, shop.name)).body).toEqual({
      card: null,
      paypal: { enabled: true, clientId: 'paypal-client' },
      crypto: { enabled: true, provider: 'btcpay' },
      wallet: { enabled: false, tokenProvider: null },
      manual: [],
      currency: 'USD',
      meta: {
        kybCohort: null,
        partnership: null,
        chain: [
          { method: 'card', step: 'SHOP_CONFIG', candidate: null, outcome: 'NO_MATCH' },
          { method: 'card', step: 'PARTNERSHIP', candidate: null, outcome: 'NO_MATCH' },
          { method: 'card', step: 'KYB_COHORT', candidate: null, outcome: 'NO_MATCH' },
          { method: 'paypal', step: 'PUBLISHABLE_KEY', candidate: 'paypal', outcome: 'SELECTED' },
          { method: 'crypto', step: 'PUBLISHABLE_KEY', candidate: 'btcpay', outcome: 'SELECTED' },
          { method: 'wallet', step: 'SHOP_CONFIG', candidate: null, outcome: 'NO_MATCH' },
        ],
        skippedByBreaker: [],
      },
    })
  })

  test('an instance without accounts offers nothing, not even the sandbox that takes TEST payments', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    await saveMethods(app, merchant, { card: { enabled: true, processor: 'stripe' } })
    const { body, text } = ok(await getMethods(app, merchant.shop.name))
    expect(body).toMatchObject({ card: null, paypal: { enabled: false }, crypto: { enabled: false }, wallet: { enabled: false } })
    expect(text).not.toContain('sandbox')
  })

  test("the shop's choice of a card processor precedes the partnership's default, and that precedes the cohort's", async () => {
    await using app = await testApp(processorSettings)
    const [merchant, operator] = [await app.merchant(), await app.superAdmin()]
    const card = async () => ok(await getMethods(app, merchant.shop.name)).body.card?.processor ?? null
    const processors = [await card()]
    await approveBusiness(app, merchant, operator, { cohort: 'KSA_COMPANY' })
    processors.push(await card())
    const partnership = { name: 'Malls', defaultCardProcessor: 'checkout', shopIds: [merchant.shop.id] }
    await put(app, operator.token, '/admin/partnerships', { data: [partnership] })
    processors.push(await card())
    await saveMethods(app, merchant, { card: { enabled: true, processor: 'stripe' } })
    processors.push(await card())
    expect(processors).toEqual([null, 'tap', 'checkout', 'stripe'])
    const { body } = ok(await getMethods(app, merchant.shop.name))
    expect([body.meta.kybCohort, body.meta.partnership]).toEqual(['KSA_COMPANY', 'Malls'])
    expect(body.card).toEqual({ processor: 'stripe', publishableKey: 'pk_test_stripe', environment: 'test' })
    expect(body.wallet).toEqual({
      enabled: true,
      tokenProvider: 'stripe',
      googlePay: { gateway: 'stripe', parameters: { 'stripe:version': '2026-10-28.endive', 'stripe:publishableKey': 'pk_test_stripe' } },
    })
  })

  test('the default card processor is tap in the Gulf, QPay in Mongolia with its invoice code as key, stripe in the US, else none', async () => {
    await using app = await testApp(processorSettings)
    const operator = await app.superAdmin()
    for (const [cohort, currency, card] of [
      ['KUWAIT_WLL', 'KWD', { processor: 'tap', publishableKey: 'pk_test_tap', environment: 'test' }],
      ['MN_LLC', 'MNT', { processor: 'qpay', publishableKey: 'SOUK_INVOICE', environment: 'test' }],
      ['US_SOLE_PROP', 'USD', { processor: 'stripe', publishableKey: 'pk_test_stripe', environment: 'test' }],
      ['UK_LTD', 'GBP', null],
      // QPay does not support dollars.
      ['MN_SOLE', 'USD', null],
    ] as const) {
      const merchant = await app.merchant({ currency })
      await approveBusiness(app, merchant, operator, { cohort })
      expect(ok(await getMethods(app, merchant.shop.name)).body.card).toEqual(card)
    }
  })

  test("a key of the other mode is ignored, and the shop's key replaces the instance's", async () => {
    await using app = await testApp({ ...processorSettings, TAP_PUBLISHABLE_KEY: 'pk_live_tap', TAP_SECRET_KEY: 'sk_live_SECRET' })
    const merchant = await app.merchant()
    const cardWith = async (card: object) => {
      await saveMethods(app, merchant, { card: { enabled: true, ...card } })
      return ok(await getMethods(app, merchant.shop.name)).body.card
    }
    expect(await cardWith({ processor: 'tap' })).toBeNull()
    expect(await cardWith({ processor: 'tap', publishableKey: 'pk_test_own' })).toEqual({
      processor: 'tap',
      publishableKey: 'pk_test_own',
      environment: 'test',
    })
    expect(await cardWith({ processor: 'stripe', publishableKey: 'pk_live_own' })).toBeNull()
    expect(await cardWith({ enabled: false, processor: 'stripe' })).toBeNull()
  })

  test('a processor with an open breaker is skipped in favour of the next usable one until the breaker closes', async () => {
    await using app = await testApp(processorSettings)
    const [merchant, operator] = [await app.merchant(), await app.superAdmin()]
    await saveMethods(app, merchant, { card: { enabled: true, processor: 'stripe' } })
    await approveBusiness(app, merchant, operator, { cohort: 'UAE_MAINLAND' })
    const stripe = { processor: 'stripe', host: 'api.stripe.com' } as const
    const cardAndSkipped = async () => {
      const { card, meta } = ok(await getMethods(app, merchant.shop.name)).body
      return [card?.processor, meta.skippedByBreaker]
    }
    for (let nth = 1; nth < failuresMax; nth++) app.deps.breakers.failed(stripe)
    expect(await cardAndSkipped()).toEqual(['stripe', []])
    app.deps.breakers.failed(stripe)
    expect(await cardAndSkipped()).toEqual(['tap', ['stripe']])
    app.clock.advance(30_000)
    app.deps.breakers.beginProbe(stripe)
    expect(await cardAndSkipped()).toEqual(['tap', ['stripe']])
    app.deps.breakers.recordProbe(stripe, true)
    expect(await cardAndSkipped()).toEqual(['stripe', []])
    // A dead server of another shop affects no other shop.
    for (let nth = 0; nth < failuresMax; nth++) app.deps.breakers.failed({ ...stripe, host: 'dead.example' })
    expect(await cardAndSkipped()).toEqual(['stripe', []])
  })
})

describe('the cache', () => {
  test('every change is visible in the next response of every process', async () => {
    await using app = await testApp(processorSettings)
    await using second = await testApp(processorSettings, { database: app.database, as: 'command' })
    const [merchant, operator] = [await app.merchant(), await app.superAdmin()]
    const etags: string[] = []
    const recordEtag = async () => {
      const [first, again] = [ok(await getMethods(app, merchant.shop.name)), ok(await getMethods(app, merchant.shop.name))]
      expect([again.text, again.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
      expect(ok(await getMethods(second, merchant.shop.name)).text).toBe(first.text)
      etags.push(first.headers.get('etag') ?? '')
    }
    await recordEtag()
    await approveBusiness(app, merchant, operator, { cohort: 'UAE_MAINLAND' })
    await recordEtag()
    await put(app, operator.token, '/admin/partnerships', {
      data: [{ name: 'Malls', defaultCardProcessor: 'checkout', shopIds: [merchant.shop.id] }],
    })
    await recordEtag()
    await saveMethods(app, merchant, { card: { enabled: true, processor: 'stripe' } })
    await recordEtag()
    await actOnBreaker(app, operator, 'stripe', 'isolate')
    await recordEtag()
    // Each process has its own breakers.
    for (const { deps } of [app, second])
      for (let nth = 0; nth < failuresMax; nth++) deps.breakers.failed({ processor: 'checkout', host: 'api.sandbox.checkout.com' })
    await recordEtag()
    ok(await app.call('PATCH', '/shops/v2', { token: merchant.token, body: { currency: 'AED' } }))
    await recordEtag()
    expect(new Set(etags).size).toBe(etags.length)
    await actOnBreaker(app, operator, 'stripe', 'restore')
    expect(ok(await getMethods(app, merchant.shop.name)).body.card.processor).toBe('stripe')
    const suspend = (status: string) => app.call('PATCH', `/admin/shops/${merchant.shop.id}`, { token: operator.token, body: { status } })
    ok(await suspend('SUSPENDED'))
    for (const one of [app, second]) expect((await getMethods(one, merchant.shop.name)).status).toBe(404)
    ok(await suspend('ACTIVE'))
    for (const one of [app, second]) ok(await getMethods(one, merchant.shop.name))
  })

  test.skipIf(engine !== 'sqlite')('a cached answer needs no read, for any query string and any encoding of the name', async () => {
    await using app = await testApp(processorSettings)
    const { shop } = await app.merchant()
    const { store, reads } = countReads(app)
    const answers = [
      await getMethods(app, shop.name),
      await app.call('GET', `${resolverPath(shop.name)}?utm_source=x&shopUrl=other`, { from: '192.0.2.1' }),
      await getMethods(app, `%73hop${shop.name.slice(4)}`),
    ]
    expect(new Set(answers.map(({ status, text, headers }) => `${status} ${text} ${headers.get('etag')}`)).size).toBe(1)
    expect(reads()).toBe(1)
    store.restore()
  })
})

/** Counts how often an answer is computed. */
function countReads(app: TestApp) {
  const store = app.deps.paymentMethodStore as { partnershipOf: (...args: never[]) => unknown }
  const original = store.partnershipOf
  let reads = 0
  store.partnershipOf = (...args) => {
    reads++
    return original(...args)
  }
  return {
    reads: () => reads,
    store: {
      restore: () => {
        store.partnershipOf = original
      },
    },
  }
}

describe('the headers', () => {
  test('shared caches may store the answer for a minute, and pages of every origin may read it', async () => {
    await using app = await testApp(processorSettings)
    const merchant = await app.merchant()
    ok(await app.call('PATCH', '/shops/v2', { token: merchant.token, body: { storefrontOrigins: ['https://shop.example'] } }))
    for (const headers of [{}, { origin: 'https://elsewhere.example' }] as Record<string, string>[]) {
      const answer = ok(await getMethods(app, merchant.shop.name, { headers }))
      expect(answer.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=60')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('content-type')).toBe('application/json;charset=utf-8')
      expect(answer.headers.get('etag')).toMatch(/^"[^"]+"$/)
      expect(answer.headers.has('vary')).toBe(false)
      expect(answer.headers.has('set-cookie')).toBe(false)
    }
  })

  test('a client that has the current version gets 304 with the same headers and no body', async () => {
    await using app = await testApp(processorSettings)
    const { shop } = await app.merchant()
    const etag = ok(await getMethods(app, shop.name)).headers.get('etag') ?? ''
    for (const ifNoneMatch of [etag, `"other", W/${etag}`, '*']) {
      const answer = await getMethods(app, shop.name, { headers: { 'if-none-match': ifNoneMatch } })
      expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', etag])
      expect(answer.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=60')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.has('vary')).toBe(false)
    }
    expect((await getMethods(app, shop.name, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })
})

describe('names', () => {
  test('unknown, suspended and invalid names get 404 with the same body; a name that is too long gets 400', async () => {
    await using app = await testApp(processorSettings)
    const [merchant, operator] = [await app.merchant(), await app.superAdmin()]
    ok(await app.call('PATCH', `/admin/shops/${merchant.shop.id}`, { token: operator.token, body: { status: 'SUSPENDED' } }))
    const bodies = new Set<string>()
    for (const name of [
      merchant.shop.name,
      'no-such-shop',
      merchant.shop.name.toUpperCase(),
      'shop.example.com',
      'a%2Fb',
      "'%20or%201=1--",
      '%F0%9F%9B%8D',
      'x'.repeat(253),
    ]) {
      const { status, text, headers } = await getMethods(app, name)
      expect([name, status, headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([name, 404, 'no-store', '*'])
      bodies.add(text)
    }
    expect([...bodies]).toEqual(['{"statusCode":404,"message":"No such shop","error":"Not Found","code":"not_found"}'])
    const long = await getMethods(app, 'x'.repeat(254))
    expect([long.status, long.body.message.includes('shopUrl')]).toEqual([400, true])
    expect((await getMethods(app, '%ff')).status).toBe(400)
    expect((await getMethods(app, 'a%00b')).status).toBe(400)
    expect((await getMethods(app, 'x'.repeat(9_000))).status).toBe(400)
  })
})

describe('the limit', () => {
  test('an address may send sixty requests in a sliding minute whatever their status, then gets 429 with an exact retry-after', async () => {
    await using app = await testApp(processorSettings)
    const { shop } = await app.merchant()
    const from = '203.0.113.5'
    for (let nth = 0; nth < 30; nth++) ok(await getMethods(app, shop.name, { from }))
    app.clock.advance(20_000)
    for (let nth = 0; nth < 30; nth++) expect((await getMethods(app, 'no-such-shop', { from })).status).toBe(404)
    const refused = await getMethods(app, shop.name, { from })
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('cache-control')]).toEqual([429, '40', 'no-store'])
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    ok(await getMethods(app, shop.name, { from: '203.0.113.6' }))
    app.clock.advance(39_000)
    expect((await getMethods(app, shop.name, { from })).headers.get('retry-after')).toBe('1')
    app.clock.advance(1_000)
    ok(await getMethods(app, shop.name, { from }))
  })

  test('IPv6 clients are limited by /64 network, and a forwarding header counts only from a trusted proxy', async () => {
    await using app = await testApp({ ...processorSettings, TRUSTED_PROXIES: '10.0.0.1' })
    const { shop } = await app.merchant()
    const countRefused = async (count: number, options: (nth: number) => CallOptions) => {
      const statuses: number[] = []
      for (let nth = 0; nth < count; nth++) statuses.push((await getMethods(app, shop.name, options(nth))).status)
      return statuses.filter((status) => status === 429).length
    }
    expect(await countRefused(61, (nth) => ({ from: `2001:db8:1:2:${nth.toString(16)}::1` }))).toBe(1)
    expect(await countRefused(1, () => ({ from: '2001:db8:1:3::1' }))).toBe(0)
    const forwarded = (nth: number) => ({ headers: { 'x-forwarded-for': `198.18.0.${nth}` } })
    expect(await countRefused(61, (nth) => ({ from: '203.0.113.7', ...forwarded(nth) }))).toBe(1)
    expect(await countRefused(61, (nth) => ({ from: '10.0.0.1', ...forwarded(nth) }))).toBe(0)
  })

  test('the limit counts only this route: cart writes and other reads do not count, a 304 does', async () => {
    await using app = await testApp({ ...processorSettings, STOREFRONT_WRITES_PER_MINUTE: '1' })
    const { shop, publishableKey } = await app.merchant()
    const from = '203.0.113.8'
    const email = 'a@example.com'
    const carts = async () => (await app.call('POST', '/cart', { key: publishableKey, from, body: { email } })).status
    expect([await carts(), await carts()]).toEqual([201, 429])
    for (let nth = 0; nth < 60; nth++) ok(await app.call('GET', `/shops/v2/public/name/${shop.name}`, { from }))
    const etag = ok(await getMethods(app, shop.name, { from })).headers.get('etag') ?? ''
    for (let nth = 0; nth < 59; nth++)
      expect((await getMethods(app, shop.name, { from, headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await getMethods(app, shop.name, { from })).status).toBe(429)
  })
})

test('no response contains a secret, whatever is configured', async () => {
  await using app = await testApp(processorSettings)
  const [merchant, operator] = [await app.merchant(), await app.superAdmin()]
  const isEnabled = fc.boolean()
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const card = fc.constantFrom(...cardProcessors)
  const key = fc.constantFrom('pk_test_own', 'pk_sbox_own', 'pk_live_own', 'AbC', 'sk_test_SECRET', 'rk_live_SECRET', 'whsec_SECRET')
  const configuration = fc.record({
    card: maybe(fc.record({ enabled: isEnabled, processor: card, publishableKey: maybe(key) })),
    paypal: maybe(fc.record({ enabled: isEnabled, clientId: maybe(key) })),
    crypto: maybe(fc.record({ enabled: isEnabled })),
    wallet: maybe(fc.record({ enabled: isEnabled, tokenProvider: maybe(card), merchantIdentifier: maybe(key) })),
    partnership: maybe(card),
    isolated: maybe(fc.constantFrom(...processorNames)),
  })
  await fc.assert(
    fc.asyncProperty(configuration, async ({ partnership, isolated, ...methods }) => {
      const data = partnership ? [{ name: 'Malls', defaultCardProcessor: partnership, shopIds: [merchant.shop.id] }] : []
      await put(app, operator.token, '/admin/partnerships', { data })
      if (isolated) await actOnBreaker(app, operator, isolated, 'isolate')
      const saved = await app.call('PUT', '/shops/v2/payment-methods', { token: merchant.token, body: methods })
      const isSecret = /"(?:sk_|rk_|whsec_)/.test(JSON.stringify(methods))
      expect(saved.status).toBe(isSecret ? 400 : 200)
      const answers = [
        saved,
        await app.call('GET', '/shops/v2/payment-methods', { token: merchant.token }),
        await getMethods(app, merchant.shop.name),
        await app.call('GET', '/admin/operations/breakers', { token: operator.token }),
      ]
      for (const { text } of answers) expect(text).not.toMatch(/SECRET|sk_|rk_|whsec_/)
      if (isolated) await actOnBreaker(app, operator, isolated, 'restore')
    }),
    { numRuns: 60 },
  )
})

test('the metrics show open breakers, failures by host and isolated processors', async () => {
  await using app = await testApp(processorSettings)
  const operator = await app.superAdmin()
  const metricLines = async () => (await app.call('GET', '/metrics')).text.split('\n').filter((line) => line.startsWith('souk_processor_'))
  expect(await metricLines()).toEqual([])
  for (let nth = 0; nth < failuresMax; nth++) app.deps.breakers.failed({ processor: 'stripe', host: 'api.stripe.com' })
  app.deps.breakers.failed({ processor: 'btcpay', host: 'a"\\b' })
  await actOnBreaker(app, operator, 'tap', 'isolate')
  expect(await metricLines()).toEqual([
    'souk_processor_breaker_open{processor="stripe",host="api.stripe.com"} 1',
    'souk_processor_breaker_open{processor="btcpay",host="a\\"\\\\b"} 0',
    'souk_processor_breaker_opened_total{processor="stripe"} 1',
    'souk_processor_isolated{processor="tap"} 1',
  ])
})
