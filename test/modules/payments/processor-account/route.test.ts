/** Processor accounts of shops: probed, saved, sealed, replaced and removed. Stand-ins act as the processors. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { processorAccounts } from '../../../../db/schema/processor-accounts.ts'
import { failuresMax } from '../../../../src/lib/breaker.ts'
import { accountById, accountFor, clientOf } from '../../../../src/modules/payments/processor-account/index.ts'
import { startBtcpayServer } from '../../../clients/processors/btcpay-server.ts'
import { checkoutKeys, startCheckoutServer } from '../../../clients/processors/checkout-server.ts'
import { startPaypal } from '../../../clients/processors/paypal-server.ts'
import { startQpayServer } from '../../../clients/processors/qpay-server.ts'
import { startStripe } from '../../../clients/processors/stripe-server.ts'
import { startTapServer, tapKeys } from '../../../clients/processors/tap-server.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { testDatabase } from '../../../support/database.ts'
import { allValues } from '../../../support/database-dump.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Caller = { readonly token: string }
type Headers = Record<string, string>
const path = (processor: string) => `/shops/v2/processor-accounts/${processor}`
const put = (app: TestApp, { token }: Caller, processor: string, body: unknown, headers: Headers = {}) =>
  app.call('PUT', path(processor), { token, body, headers })
const get = (app: TestApp, { token }: Caller, processor: string, query = '') => app.call('GET', path(processor) + query, { token })
const remove = (app: TestApp, { token }: Caller, processor: string, query = '', headers: Headers = {}) =>
  app.call('DELETE', path(processor) + query, { token, headers })
const rowsIn = ({ deps }: TestApp) => deps.db.read.select().from(processorAccounts).orderBy(processorAccounts.version)
const loopback = { OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' }
const makeLive = ({ deps }: TestApp, shopId: string) => deps.db.write((tx) => deps.shopStore.update(tx, shopId, { mode: 'LIVE' }))

describe('saving an account', () => {
  test('the keys are probed at each processor, and the response has only the names of the fields', async () => {
    await using stripe = await startStripe()
    await using tap = await startTapServer()
    await using qpay = await startQpayServer()
    await using checkout = await startCheckoutServer()
    await using paypal = await startPaypal()
    await using btcpay = await startBtcpayServer({ under: '/btcpay' })
    await using app = await testApp({
      ...loopback,
      STRIPE_API_URL: stripe.url,
      TAP_API_URL: tap.apiUrl,
      QPAY_API_URL: qpay.account.apiUrl,
      PAYPAL_API_URL: paypal.url,
    })
    const merchant = await app.merchant()
    const { username, password, invoiceCode } = qpay.account
    const { mode: _, ...btcpayKeys } = btcpay.account
    const accounts: [string, Record<string, string>, string[]][] = [
      [
        'stripe',
        { secretKey: 'sk_test_standin', publishableKey: 'pk_test_standin', webhookSecret: 'whsec_a' },
        ['publishableKey', 'secretKey', 'webhookSecret'],
      ],
      [
        'tap',
        { publishableKey: 'pk_test_tap', secretKey: tapKeys.secretKey, merchantId: '1' },
        ['publishableKey', 'merchantId', 'secretKey'],
      ],
      ['qpay', { username, password, invoiceCode }, ['invoiceCode', 'username', 'password']],
      ['checkout', { secretKey: checkoutKeys.secretKey, apiUrl: checkout.url, channelId: 'pc_a' }, ['secretKey', 'channelId', 'apiUrl']],
      ['paypal', { clientId: 'client', secret: 'secret', webhookId: 'WH-STANDIN' }, ['clientId', 'secret', 'webhookId']],
      ['btcpay', btcpayKeys, ['storeId', 'apiKey', 'webhookSecret', 'apiUrl']],
    ]
    for (const [processor, body, set] of accounts) {
      expect((await get(app, merchant, processor)).status).toBe(404)
      const saved = ok(await put(app, merchant, processor, body, { 'idempotency-key': processor }))
      expect([processor, saved.body]).toEqual([
        processor,
        { processor, mode: 'TEST', set, checkedAt: new Date(app.clock.now()).toISOString() },
      ])
      expect([saved.headers.get('cache-control'), saved.headers.get('etag')]).toEqual(['no-store', '"v1"'])
      expect(ok(await get(app, merchant, processor)).text).toBe(saved.text)
      const account = await accountFor(app.deps, { shopId: merchant.shop.id, processor: processor as never, mode: 'TEST' })
      if (!account) throw new Error(`no account with ${processor}`)
      // The client that payments get uses the same keys.
      await clientOf(app.deps, account).probe()
      expect(account.isOwnUrl).toBe('apiUrl' in body)
    }
    // No secret is readable in the database, where sealed values are encrypted, or in the log.
    const storedTexts = [...(await allValues(app)), JSON.stringify(app.logged)]
    const secrets = accounts.flatMap(([, body]) =>
      Object.entries(body).filter(([name]) => /^(secretKey|webhookSecret|password|secret|apiKey)$/.test(name)),
    )
    expect(secrets.length).toBe(8)
    for (const [name, value] of secrets.filter(([, value]) => value !== 'secret'))
      expect([name, storedTexts.filter((text) => text.includes(value))]).toEqual([name, []])
  })

  test('keys that the processor rejects get 400 with the field, an unavailable processor gets 503, and nothing is saved', async () => {
    await using stripe = await startStripe()
    await using qpay = await startQpayServer()
    await using paypal = await startPaypal()
    await using btcpay = await startBtcpayServer()
    await using app = await testApp({
      ...loopback,
      STRIPE_API_URL: stripe.url,
      QPAY_API_URL: qpay.account.apiUrl,
      PAYPAL_API_URL: paypal.url,
      TAP_API_URL: 'http://127.0.0.1:1',
    })
    const merchant = await app.merchant()
    const { apiUrl, storeId, apiKey } = btcpay.account
    const rejections: [string, Record<string, string>, string][] = [
      ['stripe', { secretKey: 'sk_test_nobodys' }, 'secretKey:'],
      ['qpay', { username: 'a', password: 'nobodys', invoiceCode: 'c' }, 'username, password:'],
      ['paypal', { clientId: 'nobodys', secret: 'b' }, 'clientId, secret:'],
      ['btcpay', { apiUrl, storeId, apiKey: 'nobodys' }, 'storeId, apiKey:'],
      ['btcpay', { apiUrl, storeId: 'nobodys', apiKey }, 'storeId, apiKey:'],
    ]
    for (const [processor, body, field] of rejections) {
      const { status, body: answer, text } = await put(app, merchant, processor, body)
      expect([processor, status, answer.message.startsWith(field)]).toEqual([processor, 400, true])
      expect(text).not.toContain('nobodys')
    }
    stripe.fail('GET /v1/balance', { status: 500, json: {} })
    const away = await put(app, merchant, 'stripe', { secretKey: 'sk_test_standin' })
    expect([away.status, away.body.message]).toEqual([503, expect.stringContaining('nothing was changed')])
    expect(away.headers.get('retry-after')).toBe('30')
    expect((await put(app, merchant, 'tap', { secretKey: 'sk_test_a' })).status).toBe(503)
    expect(await rowsIn(app)).toEqual([])
    expect(await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'shop.processor_account_set'))).toEqual([])
  })

  test('invalid fields are refused before the processor is called', async () => {
    await using stripe = await startStripe()
    await using app = await testApp({
      STRIPE_API_URL: stripe.url,
      TAP_API_URL: stripe.url,
      QPAY_API_URL: stripe.url,
      PAYPAL_API_URL: stripe.url,
    })
    const merchant = await app.merchant()
    const btcpay = { storeId: 'a', apiKey: 'b' }
    const refusals: [string, Record<string, unknown>, string][] = [
      ['stripe', {}, 'secretKey:'],
      ['paypal', { clientId: 'a' }, 'secret:'],
      ['qpay', { invoiceCode: 'a' }, 'username, password:'],
      ['btcpay', btcpay, 'apiUrl:'],
      ['stripe', { secretKey: 'sk_test_a', storeId: 'b' }, 'unknown field: storeId'],
      ['stripe', { secretKey: 'sk_test_a', apiUrl: 'https://stripe.example' }, 'unknown field: apiUrl'],
      ['stripe', { secretKey: 'sk_test_a', secrettKey: 'b' }, 'unknown field: secrettKey'],
      ['stripe', { secretKey: 'sk_test_a', publishableKey: 'sk_test_a' }, 'publishableKey:'],
      ['tap', { secretKey: 'sk_test_a', merchantId: 'sk_test_a' }, 'merchantId:'],
      ['checkout', { secretKey: 'sk_sbox_a', publishableKey: 'rk_live_a' }, 'publishableKey:'],
      ['stripe', { secretKey: 'pk_test_a' }, 'secretKey:'],
      ['stripe', { secretKey: 'sk_live_a', publishableKey: 'pk_test_a' }, 'secretKey:'],
      ['checkout', { secretKey: 'sk_a', publishableKey: 'pk_sbox_a' }, 'secretKey:'],
      ['stripe', { secretKey: 'sk_live_a', mode: 'TEST' }, 'mode:'],
      ['stripe', { secretKey: 'sk test a' }, 'secretKey'],
      ['stripe', { secretKey: '' }, 'secretKey'],
      ['stripe', { secretKey: 7 }, 'secretKey'],
      ['stripe', { secretKey: 'sk_test_a', mode: 'REAL' }, 'mode'],
      ...[
        ...['http://pay.example', 'ftp://pay.example', 'pay.example', 'https://a:b@pay.example', 'https://pay.example/?a=b'],
        ...[
          'https://pay.example/#a',
          'https://127.0.0.1',
          'https://10.0.0.1/btcpay',
          'https://[::1]',
          'https://localhost',
          'http://127.0.0.1:4711',
        ],
        ...['https://169.254.169.254', 'https://pay.example:6379', 'https://2130706433', 'https://[::ffff:10.0.0.1]'],
      ].map((apiUrl): [string, Record<string, unknown>, string] => ['btcpay', { ...btcpay, apiUrl }, 'apiUrl:']),
      ['checkout', { secretKey: 'sk_sbox_a', apiUrl: 'https://192.168.1.1' }, 'apiUrl:'],
    ]
    for (const [processor, body, expectedMessage] of refusals) {
      const { status, body: answer } = await put(app, merchant, processor, body)
      expect([body, status, answer.message]).toEqual([body, 400, expect.stringContaining(expectedMessage)])
      expect(answer.message).not.toContain('sk_')
    }
    expect(stripe.requests).toEqual([])
    for (const processor of ['sandbox', 'Stripe', 'adyen'])
      for (const answer of [
        await get(app, merchant, processor),
        await put(app, merchant, processor, {}),
        await remove(app, merchant, processor),
      ])
        expect([processor, answer.status]).toEqual([processor, 404])
  })

  test("a merchant's own server is called like any untrusted address: no private network, no redirect", async () => {
    await using btcpay = await startBtcpayServer()
    const { apiUrl, storeId, apiKey } = btcpay.account
    const database = await testDatabase()
    const shopId = await (async () => {
      await using allowed = await testApp(loopback, { database })
      const merchant = await allowed.merchant()
      btcpay.fail(/GET/, { status: 302, headers: { location: 'https://pay.example/' } })
      const moved = await put(allowed, merchant, 'btcpay', { apiUrl, storeId, apiKey })
      expect([moved.status, moved.body.message]).toEqual([400, expect.stringContaining('apiUrl:')])
      ok(await put(allowed, merchant, 'btcpay', { apiUrl, storeId, apiKey }))
      return merchant.shop.id
    })()
    const before = btcpay.requests.length
    // The account was saved while loopback was allowed. It is not called after that.
    await using app = await testApp({}, { database })
    const account = await accountFor(app.deps, { shopId, processor: 'btcpay', mode: 'TEST' })
    if (!account) throw new Error('no account')
    await expect(clientOf(app.deps, account).probe()).rejects.toThrow('address not allowed')
    expect(btcpay.requests.length).toBe(before)
    await database.drop()
  })

  test('a shop may save ten times an hour, whether it succeeds or fails', async () => {
    await using stripe = await startStripe()
    await using app = await testApp({ STRIPE_API_URL: stripe.url, ACCESS_TOKEN_SECONDS: '86400' })
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    for (let nth = 0; nth < 10; nth++)
      expect((await put(app, merchant, 'stripe', { secretKey: nth % 2 ? 'sk_test_standin' : 'sk_test_b' })).status).toBe(
        nth % 2 ? 200 : 400,
      )
    // Requests refused before a call to the processor do not count.
    expect((await put(app, other, 'stripe', {})).status).toBe(400)
    const requestsBefore = stripe.requests.length
    const { status, headers } = await put(app, merchant, 'stripe', { secretKey: 'sk_test_standin' })
    expect([status, stripe.requests.length]).toEqual([429, requestsBefore])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    ok(await put(app, other, 'stripe', { secretKey: 'sk_test_standin' }))
    app.clock.advance(3_600_000)
    ok(await put(app, merchant, 'stripe', { secretKey: 'sk_test_standin' }))
  })
})

describe('replacing an account', () => {
  test('new keys are a new row, the old row is retired, and each change is in the audit log without values', async () => {
    await using stripe = await startStripe()
    await using app = await testApp({ STRIPE_API_URL: stripe.url })
    const merchant = await app.merchant()
    const keys = { secretKey: 'sk_test_standin', publishableKey: 'pk_test_standin' }
    ok(await put(app, merchant, 'stripe', { ...keys, webhookSecret: 'whsec_first' }))
    const bound = await accountFor(app.deps, { shopId: merchant.shop.id, processor: 'stripe', mode: 'TEST' })
    app.clock.advance(1_000)
    const second = ok(await put(app, merchant, 'stripe', keys, { 'if-match': '"v1"' }))
    expect([second.body.set, second.headers.get('etag')]).toEqual([['publishableKey', 'secretKey'], '"v2"'])
    // The account is the same, so payments that are bound to it use the new keys.
    expect(await accountById(app.deps, bound?.id ?? '', { processor: 'stripe', mode: 'TEST' })).toMatchObject({
      id: bound?.id,
      isRetired: false,
    })
    expect((await put(app, merchant, 'stripe', keys, { 'if-match': '"v1"' })).status).toBe(412)
    expect((await remove(app, merchant, 'stripe', '', { 'if-match': '"v1"' })).status).toBe(412)
    expect((await remove(app, merchant, 'stripe', '', { 'if-match': '"v2"' })).status).toBe(204)
    expect((await get(app, merchant, 'stripe')).status).toBe(404)
    expect((await remove(app, merchant, 'stripe')).status).toBe(404)
    expect(await accountById(app.deps, bound?.id ?? '', { processor: 'stripe', mode: 'TEST' })).toMatchObject({ isRetired: true })
    // A version is never reused.
    expect(ok(await put(app, merchant, 'stripe', keys)).headers.get('etag')).toBe('"v3"')
    const rows = await rowsIn(app)
    expect(rows.map(({ retiredAt, version }) => [version, retiredAt === null])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ])
    const set = (nth: number, names: string[]) => ({
      processor: 'stripe',
      mode: 'TEST',
      account: bound?.id,
      keys: rows[nth]?.id,
      set: names,
    })
    const trail = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.shopId, merchant.shop.id)).orderBy(auditLog.id)
    expect(
      trail.filter(({ action }) => action.startsWith('shop.processor_account')).map(({ action, before, after }) => [action, before, after]),
    ).toEqual([
      ['shop.processor_account_set', null, set(0, ['publishableKey', 'secretKey', 'webhookSecret'])],
      ['shop.processor_account_set', set(0, ['publishableKey', 'secretKey', 'webhookSecret']), set(1, ['publishableKey', 'secretKey'])],
      ['shop.processor_account_removed', set(1, ['publishableKey', 'secretKey']), null],
      ['shop.processor_account_set', null, set(2, ['publishableKey', 'secretKey'])],
    ])
  })

  test('two concurrent saves leave one live account, and other shops and keys cannot read it', async () => {
    await using stripe = await startStripe()
    await using app = await testApp({ STRIPE_API_URL: stripe.url })
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    const responses = await Promise.all(
      ['pk_test_a', 'pk_test_b'].map((publishableKey) => put(app, merchant, 'stripe', { secretKey: 'sk_test_standin', publishableKey })),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    const rows = await rowsIn(app)
    expect(rows.map(({ version, retiredAt }) => [version, retiredAt === null])).toEqual([
      [1, false],
      [2, true],
    ])
    expect((await get(app, other, 'stripe')).status).toBe(404)
    expect((await app.call('GET', path('stripe'), { token: other.token, headers: { 'x-shop-id': merchant.shop.id } })).status).toBe(404)
    expect((await app.call('GET', path('stripe'), { key: merchant.secretKey })).status).toBe(401)
  })

  test('a shop in test mode may have accounts of both modes, and a live shop cannot save a test account', async () => {
    await using test = await startBtcpayServer()
    await using real = await startBtcpayServer()
    await using app = await testApp(loopback)
    const merchant = await app.merchant()
    const { mode: _, ...testKeys } = test.account
    const { mode: __, ...liveKeys } = real.account
    ok(await put(app, merchant, 'btcpay', testKeys))
    const live = ok(await put(app, merchant, 'btcpay', { ...liveKeys, mode: 'LIVE' }))
    expect(live.body.mode).toBe('LIVE')
    expect(ok(await get(app, merchant, 'btcpay')).body.mode).toBe('TEST')
    expect(ok(await get(app, merchant, 'btcpay', '?mode=LIVE')).body).toEqual(live.body)
    expect((await get(app, merchant, 'btcpay', '?mode=BOTH')).status).toBe(400)
    await makeLive(app, merchant.shop.id)
    expect(ok(await get(app, merchant, 'btcpay')).body.mode).toBe('LIVE')
    const refused = await put(app, merchant, 'stripe', { secretKey: 'sk_test_standin' })
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('secretKey: of test mode')])
    const refusedMode = await put(app, merchant, 'btcpay', { ...testKeys, mode: 'TEST' })
    expect([refusedMode.status, refusedMode.body.message]).toEqual([400, expect.stringContaining('mode: of test mode')])
    expect((await remove(app, merchant, 'btcpay', '?mode=TEST')).status).toBe(204)
    expect(ok(await get(app, merchant, 'btcpay')).body.mode).toBe('LIVE')
  })
})

describe('the payment page', () => {
  test("a payment page uses the shop's account, else the instance's, and only of the shop's mode", async () => {
    await using stripe = await startStripe()
    await using btcpay = await startBtcpayServer()
    await using app = await testApp({
      ...loopback,
      STRIPE_API_URL: stripe.url,
      STRIPE_PUBLISHABLE_KEY: 'pk_test_instance',
      STRIPE_SECRET_KEY: 'sk_test_standin',
    })
    const merchant = await app.merchant()
    const resolved = async () => ok(await app.call('GET', `/checkout/${merchant.shop.name}/payment-intent-resolver`)).body
    const choose = async (card: object) =>
      ok(await app.call('PUT', '/shops/v2/payment-methods', { token: merchant.token, body: { card: { enabled: true, ...card } } })).body
    expect((await choose({ processor: 'stripe' })).warnings).toEqual([])
    expect((await resolved()).card).toEqual({ processor: 'stripe', publishableKey: 'pk_test_instance', environment: 'test' })
    ok(await put(app, merchant, 'stripe', { secretKey: 'sk_test_standin', publishableKey: 'pk_test_shop' }))
    expect((await resolved()).card).toEqual({ processor: 'stripe', publishableKey: 'pk_test_shop', environment: 'test' })
    // Without a key in the configuration or the account there is no card. The instance's key is for another account.
    ok(await put(app, merchant, 'stripe', { secretKey: 'sk_test_standin' }))
    expect((await resolved()).card).toBeNull()
    expect((await choose({ processor: 'stripe', publishableKey: 'pk_test_said' })).warnings).toEqual([])
    expect((await resolved()).card).toMatchObject({ publishableKey: 'pk_test_said' })
    expect((await choose({ processor: 'stripe', publishableKey: 'pk_live_said' })).warnings).toHaveLength(1)
    expect((await resolved()).card).toBeNull()
    // Crypto goes through the shop's own server, which has its own breaker.
    expect((await resolved()).crypto).toEqual({ enabled: false })
    const { mode: _, ...btcpayKeys } = btcpay.account
    ok(await put(app, merchant, 'btcpay', { ...btcpayKeys, mode: 'LIVE' }))
    expect((await resolved()).crypto).toEqual({ enabled: false })
    ok(await put(app, merchant, 'btcpay', btcpayKeys))
    expect((await resolved()).crypto).toEqual({ enabled: true, provider: 'btcpay' })
    for (let nth = 0; nth < failuresMax; nth++) app.deps.breakers.failed({ processor: 'btcpay', host: new URL(btcpay.url).host })
    expect((await resolved()).meta.skippedByBreaker).toEqual(['btcpay'])
    expect((await remove(app, merchant, 'stripe')).status).toBe(204)
    await choose({ processor: 'stripe' })
    expect((await resolved()).card).toMatchObject({ publishableKey: 'pk_test_instance' })
  })
})

test('each processor has setup instructions: where to find its keys, and which webhook to enter', async () => {
  await using app = await testApp({ PUBLIC_URL: 'https://souk.example/' })
  const { token, shop } = await app.merchant()
  const { data } = ok(await app.call('GET', '/shops/v2/processor-accounts', { token })).body
  const setups = new Map<string, Setup>(data.map(({ processor, setup }: { processor: string; setup: Setup }) => [processor, setup]))
  expect(setups.get('stripe')).toMatchObject({
    dashboard: { TEST: 'https://dashboard.stripe.com/test/apikeys' },
    keys: ['Developers', 'API keys'],
    webhook: { url: `https://souk.example/webhooks/payments/stripe/${shop.id}` },
  })
  expect(setups.get('stripe')?.webhook?.events).toContain('payment_intent.succeeded')
  expect([...setups].filter(([, { webhook }]) => webhook === null).map(([name]) => name)).toEqual(['tap', 'qpay'])
  expect([...setups].filter(([, { rights }]) => rights.length > 0).map(([name]) => name)).toEqual(['stripe', 'checkout', 'btcpay'])
})

type Setup = { webhook: { url: string; events: string[] } | null; rights: string[] }
