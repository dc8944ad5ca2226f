/** Payment methods that merchants configure, and partnerships and breakers that operators manage. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLog } from '../../../../db/schema/people.ts'
import { failuresMax } from '../../../../src/lib/breaker.ts'
import { processorNames } from '../../../../src/modules/payments/payment-method/domain.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { processorSettings } from '../../../support/processor-settings.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const path = '/shops/v2/payment-methods'
type Caller = { readonly token: string }
const put = (app: TestApp, { token }: Caller, body: unknown, headers: Record<string, string> = {}) =>
  app.call('PUT', path, { token, body, headers })
const warningsOf = async (app: TestApp, caller: Caller, body: unknown) => ok(await put(app, caller, body)).body.warnings
const entries = (app: TestApp, action: string) =>
  app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, action)).orderBy(auditLog.id)

describe('payment methods of a shop', () => {
  test('a shop has no payment methods at first, and later reads back what it saved', async () => {
    await using app = await testApp(processorSettings)
    const merchant = await app.merchant()
    const first = ok(await app.call('GET', path, { token: merchant.token }))
    expect([first.body, first.headers.get('etag')]).toEqual([{ warnings: [] }, '"v1"'])
    const methods = {
      card: { enabled: true, processor: 'stripe', publishableKey: 'pk_test_stripe' },
      paypal: { enabled: true },
      crypto: { enabled: false },
      wallet: { enabled: true, tokenProvider: 'stripe', merchantIdentifier: 'merchant.example.shop' },
    }
    const saved = ok(await put(app, merchant, methods))
    expect([saved.body, saved.headers.get('etag')]).toEqual([{ ...methods, warnings: [] }, '"v2"'])
    expect(ok(await app.call('GET', path, { token: merchant.token })).text).toBe(saved.text)
    // PUT replaces everything: a method that is left out is removed.
    expect(ok(await put(app, merchant, { paypal: { enabled: false } })).body).toEqual({ paypal: { enabled: false }, warnings: [] })
  })

  test('changes of payment methods are in the audit log, and other shops and keys cannot read them', async () => {
    await using app = await testApp(processorSettings)
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    ok(await put(app, merchant, { crypto: { enabled: false } }))
    ok(await put(app, merchant, { crypto: { enabled: true } }))
    expect(
      (await entries(app, 'shop.payment_methods_set')).map(({ actor, shopId, before, after }) => [actor, shopId, before, after]),
    ).toEqual([
      [merchant.id, merchant.shop.id, { crypto: null }, { crypto: { enabled: false } }],
      [merchant.id, merchant.shop.id, { crypto: { enabled: false } }, { crypto: { enabled: true } }],
    ])
    expect(ok(await app.call('GET', path, { token: other.token })).body).toEqual({ warnings: [] })
    const { status } = await app.call('PUT', path, { token: other.token, headers: { 'x-shop-id': merchant.shop.id }, body: {} })
    expect(status).toBe(404)
    expect((await app.call('GET', path, { key: merchant.secretKey })).status).toBe(401)
    expect((await app.call('GET', path)).status).toBe(401)
  })

  test('secret keys in public fields and invalid configurations are refused, and the message does not quote them', async () => {
    await using app = await testApp(processorSettings)
    const merchant = await app.merchant()
    const secret = 'sk_live_51HoverTheMoon'
    const refusals: [body: unknown, field: string][] = [
      [{ card: { enabled: true, processor: 'stripe', publishableKey: secret } }, 'card.publishableKey'],
      [{ card: { enabled: false, processor: 'stripe', publishableKey: 'RK_test_1' } }, 'card.publishableKey'],
      [{ paypal: { enabled: true, clientId: secret } }, 'paypal.clientId'],
      [{ wallet: { enabled: true, merchantIdentifier: 'whsec_1234' } }, 'wallet.merchantIdentifier'],
      [{ card: { enabled: true, publishableKey: 'pk_test_1' } }, 'card.processor'],
      [{ card: { enabled: true, processor: 'sandbox' } }, 'card.processor'],
      [{ card: { enabled: true, processor: 'paypal' } }, 'card.processor'],
      [{ card: { processor: 'stripe' } }, 'card.enabled'],
      [{ card: { enabled: true, processor: 'stripe', publishableKey: 'pk test' } }, 'card.publishableKey'],
      [{ card: { enabled: true, processor: 'stripe', publishableKey: 'p'.repeat(301) } }, 'card.publishableKey'],
      [{ card: { enabled: true, secretKey: 'x' } }, 'card.secretKey'],
      [{ cash: { enabled: true } }, 'cash'],
    ]
    for (const [body, field] of refusals) {
      const answer = await put(app, merchant, body)
      expect([field, answer.status, answer.body.message.includes(field)]).toEqual([field, 400, true])
      expect(answer.text).not.toContain('51HoverTheMoon')
    }
    expect(ok(await app.call('GET', path, { token: merchant.token })).headers.get('etag')).toBe('"v1"')
  })
})

describe('warnings', () => {
  test('a configuration that can never be selected is saved, and the response warns why', async () => {
    await using app = await testApp({ ...processorSettings, STRIPE_PUBLISHABLE_KEY: 'pk_live_a', STRIPE_SECRET_KEY: 'sk_live_a' })
    const merchant = await app.merchant()
    const card = (processor: string, publishableKey?: string) => ({
      card: { enabled: true, processor, ...(publishableKey && { publishableKey }) },
    })
    expect(await warningsOf(app, merchant, card('qpay'))).toEqual([{ method: 'card', message: 'QPay does not support USD' }])
    expect(await warningsOf(app, merchant, card('stripe'))).toEqual([
      { method: 'card', message: 'Stripe has no publishable key for test payments: enter one, or connect an account with Stripe' },
    ])
    expect(await warningsOf(app, merchant, card('tap'))).toEqual([])
    expect(await warningsOf(app, merchant, card('tap', 'pk_live_other'))).toEqual([
      { method: 'card', message: 'Tap has no publishable key for test payments: enter one, or connect an account with Tap' },
    ])
    expect(await warningsOf(app, merchant, { card: { enabled: true } })).toEqual([
      { method: 'card', message: 'No card processor is set up: choose one and enter its publishable key' },
    ])
    expect(await warningsOf(app, merchant, { ...card('tap'), wallet: { enabled: true, tokenProvider: 'qpay' } })).toEqual([
      { method: 'wallet', message: 'QPay does not support Apple Pay and Google Pay' },
    ])
    expect(await warningsOf(app, merchant, { wallet: { enabled: true } })).toEqual([
      { method: 'wallet', message: 'No processor that is set up supports Apple Pay and Google Pay: choose one that does (tokenProvider)' },
    ])
    expect(await warningsOf(app, merchant, { wallet: { enabled: true, tokenProvider: 'stripe' } })).toEqual([
      { method: 'wallet', message: 'Stripe has no publishable key for test payments: enter one, or connect an account with Stripe' },
    ])
  })

  test('PayPal, crypto and wallets without credentials or in an unsupported currency cause a warning, disabled methods do not', async () => {
    await using app = await testApp()
    const [merchant, gulf] = [await app.merchant(), await app.merchant({ currency: 'KWD' })]
    const [mongolia, unit] = [await app.merchant({ currency: 'MNT' }), await app.merchant({ currency: 'CLF' })]
    expect(await warningsOf(app, merchant, { paypal: { enabled: true }, crypto: { enabled: true } })).toEqual([
      { method: 'paypal', message: 'PayPal has no account for test payments: connect one' },
      { method: 'crypto', message: 'BTCPay Server has no account for test payments: connect one' },
    ])
    expect(await warningsOf(app, gulf, { paypal: { enabled: true } })).toEqual([
      { method: 'paypal', message: 'PayPal does not support KWD' },
    ])
    expect(await warningsOf(app, unit, { crypto: { enabled: true } })).toEqual([
      { method: 'crypto', message: 'BTCPay Server does not support CLF' },
    ])
    expect(await warningsOf(app, mongolia, { wallet: { enabled: true, tokenProvider: 'tap' } })).toEqual([
      { method: 'wallet', message: 'Tap does not support MNT' },
    ])
    const off = { enabled: false }
    expect(await warningsOf(app, merchant, { card: off, paypal: off, crypto: off, wallet: off })).toEqual([])
  })

  test('a card causes a warning if its secret key is missing or belongs to another account', async () => {
    const { STRIPE_SECRET_KEY: _, ...withoutSecret } = processorSettings
    await using app = await testApp(withoutSecret)
    const merchant = await app.merchant()
    const message = (name: string) => `${name} cannot take payments yet: connect the account of this publishable key with its secret key`
    expect(await warningsOf(app, merchant, { card: { enabled: true, processor: 'stripe' }, wallet: { enabled: false } })).toEqual([
      { method: 'card', message: message('Stripe') },
    ])
    const cardConfig = { enabled: true, processor: 'tap', publishableKey: 'pk_test_another' }
    expect(await warningsOf(app, merchant, { card: cardConfig })).toEqual([
      { method: 'card', message: message('Tap') },
      { method: 'wallet', message: message('Tap') },
    ])
    expect(await warningsOf(app, merchant, { card: { ...cardConfig, publishableKey: processorSettings.TAP_PUBLISHABLE_KEY } })).toEqual([])
    expect(await warningsOf(app, merchant, { paypal: { enabled: true, clientId: 'another-client' } })).toEqual([
      { method: 'paypal', message: message('PayPal') },
    ])
  })

  test('a processor that is only down causes no warning', async () => {
    await using app = await testApp(processorSettings)
    const [merchant, operator] = [await app.merchant(), await app.superAdmin()]
    for (const name of processorNames)
      ok(await app.call('POST', `/admin/operations/breakers/${name}`, { token: operator.token, body: { action: 'isolate' } }))
    expect(await warningsOf(app, merchant, { card: { enabled: true, processor: 'stripe' }, paypal: { enabled: true } })).toEqual([])
  })
})

describe('partnerships', () => {
  const all = '/admin/partnerships'

  test('partnerships are saved and read as a whole in their order, and changes are in the audit log', async () => {
    await using app = await testApp()
    const operator = await app.superAdmin()
    const shops = [await app.merchant(), await app.merchant(), await app.merchant()].map(({ shop }) => shop.id)
    const [a = '', b = '', c = ''] = shops
    const data = [
      { name: 'Zebra malls', defaultCardProcessor: 'tap', shopIds: [c, a] },
      { name: 'Alpha', defaultCardProcessor: 'checkout', shopIds: [b] },
      { name: 'Empty', defaultCardProcessor: 'qpay', shopIds: [] },
    ]
    expect(ok(await app.call('GET', all, { token: operator.token })).body).toEqual({ data: [] })
    const saved = ok(await app.call('PUT', all, { token: operator.token, body: { data } }))
    expect(saved.body).toEqual({ data })
    const read = ok(await app.call('GET', all, { token: operator.token }))
    expect([read.text, read.headers.get('etag')]).toEqual([saved.text, '"v2"'])
    const fewer = [{ name: 'Alpha', defaultCardProcessor: 'checkout', shopIds: [b] }]
    ok(await app.call('PUT', all, { token: operator.token, body: { data: fewer } }))
    expect(ok(await app.call('GET', all, { token: operator.token })).body).toEqual({ data: fewer })
    const [, last] = await entries(app, 'partnerships.set')
    expect([last?.actor, last?.before, last?.after]).toEqual([
      operator.id,
      {
        'partnership Zebra malls': { defaultCardProcessor: 'tap', shopIds: [c, a] },
        'partnership Empty': { defaultCardProcessor: 'qpay', shopIds: [] },
      },
      { 'partnership Zebra malls': null, 'partnership Empty': null },
    ])
  })

  test('a list with a repeated or unknown shop, name or processor is refused with the position of the error, and nothing is saved', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const { shop } = await app.merchant()
    const partnership = { name: 'A', defaultCardProcessor: 'tap', shopIds: [shop.id] }
    const refusals: [data: unknown, message: string][] = [
      [[partnership, { ...partnership, name: 'B' }], 'data.1.shopIds.0: a shop belongs to at most one partnership'],
      [[{ ...partnership, shopIds: [shop.id, shop.id] }], 'data.0.shopIds.1: a shop belongs to at most one partnership'],
      [[partnership, { ...partnership, shopIds: [] }], 'data.1.name: must not be repeated'],
      [
        [partnership, { ...partnership, name: 'B', shopIds: ['shop_00000000000000000000000000'] }],
        'data.1.shopIds.0: must be a shop of this instance',
      ],
    ]
    for (const [data, message] of refusals) {
      const answer = await app.call('PUT', all, { token, body: { data } })
      expect([answer.status, answer.body.message]).toEqual([400, message])
    }
    for (const processor of ['paypal', 'sandbox', 'adyen'])
      expect(
        (await app.call('PUT', all, { token, body: { data: [{ ...partnership, defaultCardProcessor: processor }] } })).body.message,
      ).toContain('defaultCardProcessor')
    expect((await app.call('PUT', all, { token, body: { data: [{ ...partnership, name: ' ' }] } })).status).toBe(400)
    expect((await app.call('PUT', all, { token, body: { data: [{ ...partnership, rate: 1 }] } })).status).toBe(400)
    expect(ok(await app.call('GET', all, { token })).body).toEqual({ data: [] })
  })

  test('one of several lists saved at once from the same version is accepted, the others get 412', async () => {
    await using app = await testApp()
    const { token } = await app.superAdmin()
    const put = (name: string) =>
      app.call('PUT', all, {
        token,
        headers: { 'if-match': '"v1"' },
        body: { data: [{ name, defaultCardProcessor: 'tap', shopIds: [] }] },
      })
    const answers = await Promise.all(['A', 'B', 'C', 'D'].map(put))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
  })

  test('only operators can read and save partnerships', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    for (const method of ['GET', 'PUT']) {
      const body = method === 'PUT' ? { body: { data: [] } } : {}
      expect((await app.call(method, all, { token, ...body })).status).toBe(403)
      expect((await app.call(method, all, body)).status).toBe(401)
    }
  })
})

describe('breakers of processors', () => {
  const all = '/admin/operations/breakers'
  const stripe = { processor: 'stripe', host: 'api.stripe.com' } as const

  test('operators see every processor with its hosts and the state of their breakers', async () => {
    await using app = await testApp(processorSettings)
    const { token } = await app.superAdmin()
    const before = ok(await app.call('GET', all, { token })).body.data
    expect(before.map(({ processor }: { processor: string }) => processor)).toEqual(processorNames)
    const closed = { host: 'api.stripe.com', state: 'CLOSED', failures: 0, openSince: null, probeAt: null }
    expect(before[0]).toEqual({ processor: 'stripe', isolatedAt: null, hosts: [closed] })
    for (let nth = 0; nth < failuresMax; nth++) app.deps.breakers.failed(stripe)
    app.deps.breakers.failed({ processor: 'stripe', host: 'other.example' })
    expect(ok(await app.call('GET', all, { token })).body.data[0].hosts).toEqual([
      { ...closed, state: 'OPEN', failures: null, openSince: '2026-01-06T12:00:00.000Z', probeAt: '2026-01-06T12:00:30.000Z' },
      { ...closed, host: 'other.example', failures: 1 },
    ])
    app.clock.advance(30_000)
    app.deps.breakers.beginProbe(stripe)
    expect(ok(await app.call('GET', all, { token })).body.data[0].hosts[0]).toMatchObject({ state: 'HALF_OPEN', probeAt: null })
  })

  test('an isolation by an operator applies to every process and is in the audit log, and a repeated one changes nothing', async () => {
    await using app = await testApp(processorSettings)
    await using otherProcess = await testApp(processorSettings, { database: app.database, as: 'command' })
    const operator = await app.superAdmin()
    const act = (action: string) => app.call('POST', `${all}/tap`, { token: operator.token, body: { action } })
    const isolated = ok(await act('isolate')).body
    expect(isolated).toMatchObject({ processor: 'tap', isolatedAt: '2026-01-06T12:00:00.000Z' })
    app.clock.advance(1_000)
    expect(ok(await act('isolate')).body).toEqual(isolated)
    expect(ok(await otherProcess.call('GET', all, { token: operator.token })).body.data[1]).toEqual(isolated)
    expect(ok(await act('restore')).body).toMatchObject({ processor: 'tap', isolatedAt: null })
    expect(ok(await act('restore')).body.isolatedAt).toBeNull()
    expect(ok(await otherProcess.call('GET', all, { token: operator.token })).body.data[1].isolatedAt).toBeNull()
    const rows = [...(await entries(app, 'processor.isolated')), ...(await entries(app, 'processor.restored'))]
    expect(rows.map(({ subject, actor, after }) => [subject, actor, after])).toEqual([
      ['tap', operator.id, { isolated: true }],
      ['tap', operator.id, null],
      ['tap', operator.id, { isolated: false }],
      ['tap', operator.id, null],
    ])
  })

  test('an unknown processor and the sandbox get 404, an unknown action gets 400, and callers who are not operators get 401 or 403', async () => {
    await using app = await testApp()
    const [operator, merchant] = [await app.superAdmin(), await app.merchant()]
    const act = (name: string, action: unknown, token?: string) =>
      app.call('POST', `${all}/${name}`, { ...(token ? { token } : {}), body: { action } })
    for (const name of ['adyen', 'sandbox', 'Stripe', 'toString']) expect((await act(name, 'isolate', operator.token)).status).toBe(404)
    expect((await act('s'.repeat(65), 'isolate', operator.token)).status).toBe(400)
    expect((await act('stripe', 'close', operator.token)).status).toBe(400)
    expect((await act('stripe', 'isolate', merchant.token)).status).toBe(403)
    expect((await act('stripe', 'isolate')).status).toBe(401)
    expect((await app.call('GET', all, { token: merchant.token })).status).toBe(403)
  })
})
