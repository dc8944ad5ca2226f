import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import type { PaymentName, Processor, ProcessorPayment } from '../../../src/clients/processors/processor.ts'
import { BadSignature, ProcessorRefused, ProcessorUnavailable } from '../../../src/clients/processors/processor.ts'
import { createTap } from '../../../src/clients/processors/tap/client.ts'
import { supportsAmount, supportsCurrency } from '../../../src/clients/processors/tap/states.ts'
import { createNewId } from '../../../src/lib/ids.ts'
import { currencies, decimalsOf } from '../../../src/lib/money.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { deliver, loopbackPort, messagesTo, standIn, thrownBy } from './stand-in.ts'
import { startTapServer, tapKeys } from './tap-server.ts'

setDefaultTimeout(longTestMs)

const createdAt = Date.UTC(2026, 10, 22)
const hourMs = 3_600_000
const paymentId = createNewId(() => Bun.randomUUIDv7('buffer', createdAt))('payment')
const refundId = 'ref_01jd0000000000000000000001'
const amount = 10_500
const currency = 'KWD'
const sum = { amount, currency }
const returnUrl = 'https://shop.example/thanks'
const messagesUrl = 'https://shop.example/webhooks/payments/tap'
const shopper = { name: 'Mariam', email: 'mariam@shop.example', country: 'KW' }
const newPayment = { paymentId, ...sum, token: undefined, returnUrl, messagesUrl, shopper }
const knet = { ...newPayment, method: 'knet' }

async function open({ timeoutMs = 30_000, now = () => createdAt } = {}) {
  const server = await startTapServer()
  const account = { ...tapKeys, apiUrl: server.apiUrl }
  const port = loopbackPort({ timeoutMs, now })
  return { server, account, port, tap: createTap(account, port), [Symbol.asyncDispose]: () => server.close() }
}
type Setup = Awaited<ReturnType<typeof open>>

const named = ({ reference, references }: ProcessorPayment) => ({
  paymentId,
  reference,
  ...sum,
  ...(references === undefined ? {} : { references }),
})

/** Creates an authorized payment. */
async function createAuthorized({ server, tap }: Setup) {
  const created = await tap.create(newPayment)
  server.pay(created.reference)
  return named(created)
}

/** Creates a captured payment. */
async function createCaptured(setup: Setup) {
  return named(await setup.tap.capture(await createAuthorized(setup)))
}

const isCaptured = (result: unknown): result is ProcessorPayment =>
  typeof result === 'object' && result !== null && 'state' in result && result.state === 'CAPTURED'

describe('amounts at Tap', () => {
  const anyCurrency = fc.constantFrom(...currencies)

  test('sends supported amounts exactly in major units, and refuses others before any request', async () => {
    await using setup = await open()
    const { server, tap } = setup
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -10, max: 100_000_000_000_000 }), anyCurrency, async (amount, currency) => {
        const before = server.requests.length
        const payment = { ...newPayment, paymentId: `pay_${before}`, amount, currency }
        if (supportsAmount({ amount, currency })) {
          expect(await tap.create(payment)).toMatchObject({ state: 'REQUIRES_ACTION' })
          const [, integer = '', fraction = ''] = /"amount":(\d+)(?:\.(\d+))?,/.exec(server.requests.at(-1)?.body ?? '') ?? []
          expect(BigInt(integer + fraction.padEnd(decimalsOf(currency), '0'))).toBe(BigInt(amount))
          expect(fraction.length).toBeLessThanOrEqual(decimalsOf(currency))
        } else {
          expect(await thrownBy(tap.create(payment))).toEqual(new ProcessorRefused('amount_not_supported'))
          expect(server.requests.length).toBe(before)
        }
      }),
      { numRuns: 400 },
    )
  })

  test('an amount comes back from Tap to the last digit', async () => {
    await using setup = await open()
    const exactCurrencies = fc.constantFrom('KWD', 'BHD', 'OMR', 'SAR', 'USD')
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100_000_000_000_000 }), exactCurrencies, async (amount, currency) => {
        const created = await setup.tap.create({ ...newPayment, paymentId: `pay_${setup.server.requests.length}`, amount, currency })
        setup.server.pay(created.reference)
        expect(await setup.tap.retrieve({ paymentId, reference: created.reference, amount, currency })).toMatchObject({
          authorized: amount,
        })
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    ['KWD', 1_234, true],
    ['BHD', 1, true],
    ['OMR', 10_501, true],
    ['JOD', 10_500, true],
    ['JOD', 10_501, false],
    ['TND', 10_500, true],
    ['SAR', 1, true],
    ['USD', 1_000, true],
    ['JPY', 500, false],
    ['MNT', 1_000_000, false],
    ['USD', 0, false],
    ['USD', 1.5, false],
    ['USD', Number.NaN, false],
    ['usd', 100, false],
  ])('%s %p is supported: %p', (currency, amount, expected) => {
    expect(supportsAmount({ amount, currency })).toBe(expected)
    if (expected) expect(supportsCurrency(currency)).toBeTrue()
  })

  test('refund and capture refuse an unsupported amount before any request', async () => {
    await using setup = await open()
    const name = { paymentId, reference: 'chg_x', amount: 1_001, currency: 'JOD' }
    expect(await thrownBy(setup.tap.refund({ ...name, refundId, whole: false }))).toEqual(new ProcessorRefused('amount_not_supported'))
    expect(await thrownBy(setup.tap.capture(name))).toEqual(new ProcessorRefused('amount_not_supported'))
    expect(setup.server.requests).toEqual([])
  })
})

describe('a card at Tap', () => {
  test('a card is authorized on a page, captured by a charge, and refunded from that charge', async () => {
    await using setup = await open()
    const { server, tap } = setup
    const created = await tap.create(newPayment)
    expect(created).toEqual({
      reference: expect.stringMatching(/^auth_/),
      state: 'REQUIRES_ACTION',
      authorized: 0,
      captured: 0,
      clientParameters: { redirectUrl: `${server.url}/pay/${created.reference}` },
    })
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /v2/authorize/'])
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      amount: 10.5,
      currency: 'KWD',
      threeDSecure: true,
      customer: { first_name: 'Mariam', email: 'mariam@shop.example' },
      source: { id: 'src_card' },
      reference: { transaction: paymentId, order: paymentId, idempotent: paymentId },
      redirect: { url: returnUrl },
      post: { url: messagesUrl },
      auto: { type: 'VOID', time: 168 },
    })
    server.pay(created.reference)
    expect(await tap.retrieve(named(created))).toEqual({
      reference: created.reference,
      state: 'AUTHORIZED',
      authorized: amount,
      captured: 0,
    })

    const captured = await tap.capture(named(created))
    expect(captured).toEqual({
      reference: created.reference,
      references: { charge: expect.stringMatching(/^chg_/) },
      state: 'CAPTURED',
      authorized: amount,
      captured: amount,
    })
    expect(await tap.retrieve(named(captured))).toEqual(captured)
    expect(await tap.capture(named(captured))).toEqual(captured)
    expect(await tap.void(named(captured))).toEqual(captured)
    expect(server.all('charge')).toHaveLength(1)

    const refund = { ...named(captured), refundId, amount: 1_234, whole: false }
    const back = await tap.refund(refund)
    expect(back).toEqual({ reference: expect.stringMatching(/^re_/), state: 'PENDING' })
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual({
      charge_id: captured.references?.['charge'],
      amount: 1.234,
      currency: 'KWD',
      reason: 'requested_by_customer',
      reference: { merchant: refundId, idempotent: refundId },
      post: { url: messagesUrl },
    })
    server.settleRefunds()
    const name = { ...refund, refundReference: back.reference }
    expect(await tap.retrieveRefund(name)).toEqual({ reference: back.reference, state: 'SUCCEEDED' })
    expect(await tap.retrieveRefund({ ...name, refundReference: undefined })).toEqual({ reference: back.reference, state: 'SUCCEEDED' })
    expect(await tap.retrieveRefund({ ...name, refundId: 'ref_other', refundReference: undefined })).toBeUndefined()
  })

  test.each([
    ['declined', '505'],
    ['abandoned', '301'],
    ['failed', '401'],
  ] as const)('a card payment that is %s is FAILED with the code of the processor', async (how, code) => {
    await using setup = await open()
    const created = await setup.tap.create(newPayment)
    setup.server.pay(created.reference, how)
    expect(await setup.tap.retrieve(named(created))).toMatchObject({ state: 'FAILED', failureCode: code, authorized: 0, captured: 0 })
  })

  test('a card payment in progress is undecided', async () => {
    await using setup = await open()
    const created = await setup.tap.create(newPayment)
    setup.server.pay(created.reference, 'in progress')
    expect((await setup.tap.retrieve(named(created)))?.state).toBe('PENDING')
    setup.server.pay(created.reference)
    expect((await setup.tap.retrieve(named(created)))?.state).toBe('AUTHORIZED')
  })

  test('repeated creates return the same payment', async () => {
    await using setup = await open()
    const first = await setup.tap.create(newPayment)
    expect(await setup.tap.create(newPayment)).toEqual(first)
    expect(setup.server.objects.size).toBe(1)
  })

  test.each(['lost', 'half', 'garbage'] as const)('a create with the response %s returns the same payment when repeated', async (fault) => {
    await using setup = await open()
    setup.server.fail('/authorize/', fault)
    expect(await thrownBy(setup.tap.create(newPayment))).toBeInstanceOf(ProcessorUnavailable)
    const created = await setup.tap.create(newPayment)
    expect(setup.server.all('authorize').map(({ id }) => id)).toEqual([created.reference])
  })

  test('a payment without a reference is unavailable, because Tap cannot search by our id', async () => {
    await using setup = await open()
    const { tap } = setup
    const name = { paymentId, reference: undefined, ...sum }
    const calls = [tap.retrieve(name), tap.capture(name), tap.void(name), tap.refund({ ...name, refundId, whole: true })]
    for (const call of [...calls, tap.retrieveRefund({ ...name, refundId, refundReference: undefined })])
      expect(await thrownBy(Promise.resolve(call))).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })

  test('an authorized payment can be voided', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    expect((await setup.tap.void(name)).state).toBe('VOIDED')
    expect((await setup.tap.retrieve(name))?.state).toBe('VOIDED')
    expect((await setup.tap.void(name)).state).toBe('VOIDED')
    expect((await setup.tap.capture(name)).state).toBe('VOIDED')
  })

  test('a payment that waits for its shopper cannot be voided, and void returns its state', async () => {
    await using setup = await open()
    const created = await setup.tap.create(newPayment)
    expect((await setup.tap.void(named(created))).state).toBe('REQUIRES_ACTION')
  })

  test('a payment whose capture is declined is FAILED, and its authorization is voided', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    setup.server.declineCapture()
    setup.server.fail('/void', { status: 500 })
    const captured = await setup.tap.capture(name)
    expect(captured).toMatchObject({ state: 'FAILED', failureCode: '505', captured: 0 })
    expect(await setup.tap.retrieve(named(captured))).toEqual(captured)
    expect(await setup.tap.capture(name)).toEqual(captured)
    expect((await setup.tap.retrieve(name))?.state).toBe('VOIDED')
  })

  test.each(['lost', 'half', 'garbage'] as const)('a capture with the response %s captures once when repeated', async (fault) => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    setup.server.fail('/charges/', fault)
    expect(await thrownBy(setup.tap.capture(name))).toBeInstanceOf(ProcessorUnavailable)
    expect(await setup.tap.capture(name)).toMatchObject({ state: 'CAPTURED', captured: amount })
    expect(setup.server.all('charge')).toHaveLength(1)
  })

  test('a capture lost a day ago is found among all charges and not repeated', async () => {
    let now = createdAt
    await using setup = await open({ now: () => now })
    const { server, tap } = setup
    const name = await createAuthorized(setup)
    server.fail('/charges/', 'lost')
    expect(await thrownBy(tap.capture(name))).toBeInstanceOf(ProcessorUnavailable)
    for (let others = 0; others < 120; others++) server.createForeignCharge()
    const charges = server.all('charge').length
    now += 24 * hourMs
    server.forgetKeys()
    expect(await tap.capture(name)).toMatchObject({ state: 'CAPTURED', captured: amount, references: { charge: expect.any(String) } })
    expect(server.all('charge')).toHaveLength(charges)
    // The same applies to a refund.
    expect((await tap.refund({ ...name, refundId, whole: true })).state).toBe('PENDING')
  })

  test('void after a lost response to capture returns CAPTURED', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    setup.server.fail('/charges/', 'lost')
    expect(await thrownBy(setup.tap.capture(name))).toBeInstanceOf(ProcessorUnavailable)
    expect((await setup.tap.retrieve(name))?.state).toBe('AUTHORIZED')
    expect(await setup.tap.void(name)).toMatchObject({ state: 'CAPTURED', captured: amount })
  })

  test('void of an uncaptured payment that Tap refuses is refused with its code', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    setup.server.fail('/void', { status: 400, json: { errors: [{ code: '1117' }] } })
    expect(await thrownBy(setup.tap.void(name))).toEqual(new ProcessorRefused('1117'))
  })

  test('a payment without a charge can be captured a day later', async () => {
    await using setup = await open({ now: () => createdAt + 30 * hourMs })
    expect(await setup.tap.capture(await createAuthorized(setup))).toMatchObject({ state: 'CAPTURED' })
  })

  test('a payment with a token of the page is authorized without the page', async () => {
    await using setup = await open()
    const created = await setup.tap.create({ ...newPayment, token: 'tok_of_the_page' })
    expect(JSON.parse(setup.server.requests[0]?.body ?? '').source).toEqual({ id: 'tok_of_the_page' })
    expect(created.reference).toStartWith('auth_')
  })

  test('an unknown payment is undefined, and cannot be captured or voided', async () => {
    await using setup = await open()
    const name = { paymentId, reference: 'auth_unknown', ...sum }
    expect(await setup.tap.retrieve(name)).toBeUndefined()
    expect(await setup.tap.retrieve({ ...name, reference: 'chg_unknown' })).toBeUndefined()
    for (const verb of ['capture', 'void'] as const)
      expect(await thrownBy(setup.tap[verb](name))).toEqual(new ProcessorRefused('not_found'))
  })
})

describe('a wallet at Tap', () => {
  const google = { protocolVersion: 'ECv2', signature: 'MEUCIQ', signedMessage: '{"tag":"…"}' }
  const apple = { version: 'EC_v1', data: 't7Ge', signature: 'MIAG', header: { publicKeyHash: 'tq', transactionId: '93' } }

  test.each([google, apple])('%p is exchanged for a token with the secret key and then authorized', async (wallet) => {
    await using setup = await open()
    const token = JSON.stringify(wallet)
    const created = await setup.tap.create({ ...newPayment, method: 'wallet', token, shopper: { ...shopper, ip: '192.0.2.1' } })
    expect(created).toMatchObject({ state: 'AUTHORIZED', authorized: amount })
    const [exchange, payment] = setup.server.requests.map(({ body }) => JSON.parse(body))
    expect(exchange).toEqual({ type: wallet === google ? 'googlepay' : 'applepay', token_data: wallet, client_ip: '192.0.2.1' })
    expect(payment.source).toEqual({ id: expect.stringMatching(/^tok_/) })
  })
})

describe('a local method at Tap', () => {
  test.each([
    ['knet', 'src_kw.knet'],
    ['mada', 'src_sa.mada'],
    ['benefit', 'src_bh.benefit'],
    ['naps', 'src_qa.qpay'],
  ])('%s captures the money itself', async (method, source) => {
    await using setup = await open()
    const { server, tap } = setup
    expect(tap.capabilities.capturesItself).toContain(method)
    const created = await tap.create({ ...newPayment, method })
    expect(created).toMatchObject({ state: 'REQUIRES_ACTION', authorized: 0, captured: 0 })
    expect(created.reference).toStartWith('chg_')
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ source: { id: source } })
    expect(JSON.parse(server.requests[0]?.body ?? '')).not.toHaveProperty('auto')
    // The payment page cannot be closed.
    expect((await tap.void(named(created))).state).toBe('REQUIRES_ACTION')
    expect((await tap.capture(named(created))).state).toBe('REQUIRES_ACTION')
    server.pay(created.reference)
    for (const result of [await tap.retrieve(named(created)), await tap.capture(named(created)), await tap.void(named(created))])
      expect(result).toEqual({ reference: created.reference, state: 'CAPTURED', authorized: amount, captured: amount })
    await tap.refund({ ...named(created), refundId, whole: true })
    server.settleRefunds()
    expect(await tap.retrieveRefund({ ...named(created), refundId, refundReference: undefined })).toMatchObject({ state: 'SUCCEEDED' })
  })

  test('an unknown method is refused before any request', async () => {
    await using setup = await open()
    for (const method of ['paypal', 'crypto', 'constructor', ''])
      expect(await thrownBy(setup.tap.create({ ...newPayment, method }))).toEqual(new ProcessorRefused('method_not_supported'))
    expect(setup.server.requests).toEqual([])
  })
})

describe('a Tap refund', () => {
  test('repeated refunds are one refund, within a day and later', async () => {
    await using setup = await open()
    const { server, tap } = setup
    const refund = { ...(await createCaptured(setup)), refundId, amount: 400, whole: false }
    server.fail('POST /v2/refunds/', { status: 200, json: { message: 'not a list' } }, 'lost')
    expect(await thrownBy(tap.refund(refund))).toBeInstanceOf(ProcessorUnavailable)
    expect(await thrownBy(tap.refund(refund))).toBeInstanceOf(ProcessorUnavailable)
    const lost = server.all('refund')
    const created = await tap.refund(refund)
    server.forgetKeys()
    expect(await tap.refund(refund)).toEqual(created)
    expect(server.all('refund').length).toBeLessThanOrEqual(Math.max(lost.length, 1))
    server.settleRefunds()
    expect((await tap.refund(refund)).state).toBe('SUCCEEDED')
  })

  test('a refund is found among many of one charge', async () => {
    await using setup = await open()
    const { server, tap } = setup
    const name = await createCaptured(setup)
    await tap.refund({ ...name, refundId, amount: 400, whole: false })
    for (let others = 0; others < 60; others++) await tap.refund({ ...name, refundId: `ref_${others}`, amount: 10, whole: false })
    server.settleRefunds()
    const found = await tap.retrieveRefund({ ...name, refundId, refundReference: undefined, amount: 400 })
    expect(found?.state).toBe('SUCCEEDED')
  })

  test.each([
    ['DECLINED', 'FAILED'],
    ['FAILED', 'FAILED'],
    ['RESTRICTED', 'FAILED'],
    ['CANCELLED', 'FAILED'],
    ['TIMED_OUT', 'FAILED'],
    ['ACCEPTED', 'PENDING'],
    ['UNKNOWN', 'PENDING'],
    ['REFUNDED', 'SUCCEEDED'],
  ] as const)('a refund with the status %s is %s', async (status, state) => {
    await using setup = await open()
    const { server, tap } = setup
    const name = await createCaptured(setup)
    const created = await tap.refund({ ...name, refundId, whole: true })
    server.refundsEnd(status, '501')
    server.settleRefunds()
    const result = await tap.retrieveRefund({ ...name, refundId, refundReference: created.reference })
    expect(result).toEqual({ reference: created.reference, state, ...(state === 'FAILED' ? { failureCode: '501' } : {}) })
  })

  test('refuses a refund of an uncaptured payment, or above what is left', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    expect(await thrownBy(setup.tap.refund({ ...name, refundId, whole: true }))).toEqual(new ProcessorRefused('not_captured'))
    const captured = named(await setup.tap.capture(name))
    const tooMuch = { ...captured, refundId, amount: amount + 1, whole: false }
    expect(await thrownBy(setup.tap.refund(tooMuch))).toEqual(new ProcessorRefused('1101'))
  })

  test('a refund with another amount than requested is not returned', async () => {
    await using setup = await open()
    const name = await createCaptured(setup)
    const { reference } = await setup.tap.refund({ ...name, refundId, amount: 400, whole: false })
    const error = await thrownBy(Promise.resolve(setup.tap.retrieveRefund({ ...name, refundId, refundReference: reference, amount: 500 })))
    expect(error).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })
})

describe('failed requests to Tap', () => {
  const verbs: Record<string, (tap: Processor, name: PaymentName & typeof sum) => Promise<unknown>> = {
    'POST /v2/authorize/': (tap) => tap.create(newPayment),
    'POST /v2/charges/': (tap) => tap.create(knet),
    'GET /v2/authorize/': (tap, name) => tap.retrieve(name),
    '/void': (tap, name) => tap.void(name),
    'POST /v2/refunds/list': (tap, name) => tap.refund({ ...name, references: { charge: 'chg_1' }, refundId, whole: true }),
    'GET /v2/charges/': (tap, name) => tap.retrieve({ ...name, references: { charge: 'chg_1' } }),
  }
  const routes = Object.keys(verbs)

  async function errorOf(route: string, ...faults: Parameters<Setup['server']['fail']>[1][]) {
    await using setup = await open()
    const name = await createAuthorized(setup)
    if (route === 'POST /v2/authorize/') setup.server.forgetKeys()
    setup.server.fail(route, ...faults)
    return await thrownBy(Promise.resolve(verbs[route]?.(setup.tap, name)))
  }

  test.each(routes)('a 404 page of a proxy does not mean that the object of %s is missing', async (route) => {
    const page = { status: 404, json: '<html>', headers: { 'content-type': 'text/html; charset=utf-8' } }
    expect(await errorOf(route, page)).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })

  test.each(routes)('network and server errors of %s leave the outcome unknown and count for the breaker', async (route) => {
    for (const fault of ['lost', { status: 500 }, { status: 502, json: '<html>' }] as const)
      expect(await errorOf(route, fault)).toMatchObject({ name: 'ProcessorUnavailable', counts: true, neverSent: false })
    for (const fault of ['garbage', { status: 200, json: '{"id": "cut o' }, { status: 302, headers: { location: '/' } }] as const)
      expect(await errorOf(route, fault)).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })

  test('a timeout of create leaves the outcome unknown and counts for the breaker', async () => {
    await using setup = await open({ timeoutMs: 100 })
    setup.server.fail('POST', 'late')
    expect(await thrownBy(setup.tap.create(newPayment))).toMatchObject({ name: 'ProcessorUnavailable', counts: true, neverSent: false })
  })

  test.each(routes)('401, 403, 409 and 429 to %s are unavailable and do not count for the breaker', async (route) => {
    for (const status of [401, 403, 429])
      expect(await errorOf(route, { status })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: true })
    for (const status of [409, 418])
      expect(await errorOf(route, { status })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: false })
  })

  test('400 is a refusal with the code of the first error, or a generic word', async () => {
    const reply = (json: unknown) => ({ status: 400, json })
    for (const route of ['POST /v2/authorize/', 'POST /v2/charges/', '/void']) {
      expect(await errorOf(route, reply({ errors: [{ code: '1125', description: 'No.' }] }))).toEqual(new ProcessorRefused('1125'))
      expect(await errorOf(route, reply({ errors: [{ code: 'card 4242 4242 4242 4242' }] }))).toEqual(new ProcessorRefused('refused'))
      expect(await errorOf(route, reply('<html>'))).toEqual(new ProcessorRefused('refused'))
    }
  })

  test('a refused list is unavailable, not empty', async () => {
    expect(
      await errorOf('POST /v2/refunds/list', { status: 400, json: { errors: [{ code: '1', description: 'Bad limit' }] } }),
    ).toBeInstanceOf(ProcessorUnavailable)
    expect(await errorOf('POST /v2/refunds/list', { status: 200, json: {} })).toBeInstanceOf(ProcessorUnavailable)
  })

  test('402 with a payment returns that payment, and without one is a refusal', async () => {
    await using setup = await open()
    const declined = { id: 'auth_1', status: 'DECLINED', amount: 10.5, currency, response: { code: '505' } }
    setup.server.fail('/authorize/', { status: 402, json: declined }, { status: 402, json: { errors: [{ code: '1125' }] } })
    expect(await setup.tap.create(newPayment)).toMatchObject({ reference: 'auth_1', state: 'FAILED', failureCode: '505' })
    expect(await thrownBy(setup.tap.create(newPayment))).toEqual(new ProcessorRefused('1125'))
  })

  test('a refused capture of an authorized payment is refused with its code', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    setup.server.fail('/charges/', { status: 400, json: { errors: [{ code: '1117' }] } })
    expect(await thrownBy(setup.tap.capture(name))).toEqual(new ProcessorRefused('1117'))
  })

  test.each([
    [{}, 'nothing'],
    [null, 'null'],
    [{ id: '../x', status: 'AUTHORIZED', amount: 10.5, currency }, 'an id that is none'],
    [{ id: 'auth_1', status: 'DELIGHTED', amount: 10.5, currency }, 'an unknown status'],
    [{ id: 'auth_1', status: 'constructor', amount: 10.5, currency }, 'a status that every object has'],
    [{ id: 'auth_1', status: 'AUTHORIZED', currency }, 'no amount'],
    [{ id: 'auth_1', status: 'AUTHORIZED', amount: 10.499, currency }, 'another amount'],
    [{ id: 'auth_1', status: 'AUTHORIZED', amount: 10.5001, currency }, 'an amount that there is not'],
    [{ id: 'auth_1', status: 'AUTHORIZED', amount: 10.5, currency: 'BHD' }, 'another currency'],
    [{ id: 'auth_2', status: 'AUTHORIZED', amount: 10.5, currency }, 'another payment'],
    [{ id: 'auth_1', status: 'CAPTURED', amount: 1.05, currency }, 'less'],
  ])('a response %j (%s) is unavailable', async (json) => {
    await using setup = await open()
    setup.server.fail('GET', { status: 200, json })
    const error = await thrownBy(Promise.resolve(setup.tap.retrieve({ paymentId, reference: 'auth_1', ...sum })))
    expect(error).toBeInstanceOf(ProcessorUnavailable)
  })

  test('arbitrary responses give a payment, a refusal or unavailable, and captured is exactly the amount', async () => {
    let replies: { status: number; json: unknown }[] = []
    await using server = await standIn(() => replies.shift() ?? { status: 200, json: {} })
    const tap = createTap({ ...tapKeys, apiUrl: server.url }, loopbackPort({ now: () => createdAt + 30 * hourMs }))
    const name = { paymentId, reference: 'auth_1', ...sum }
    const refund = { ...name, references: { charge: 'chg_1' }, refundId, whole: true }
    const calls = [
      () => tap.create(newPayment),
      () => tap.create(knet),
      () => tap.retrieve(name),
      () => tap.retrieve(refund),
      () => tap.capture(name),
      () => tap.void(name),
      () => tap.refund(refund),
      () => tap.refund({ ...refund, references: {} }),
      () => tap.retrieveRefund({ ...refund, refundReference: undefined }),
      () => tap.retrieveRefund({ ...refund, refundReference: 're_1' }),
      () => tap.probe(),
    ]
    const half = fc.record(
      {
        id: fc.oneof(fc.constantFrom('auth_1', 'chg_1', 're_1'), fc.string()),
        status: fc.oneof(fc.constantFrom('CAPTURED', 'AUTHORIZED', 'INITIATED', 'VOID', 'REFUNDED', 'DECLINED'), fc.string()),
        amount: fc.oneof(fc.constantFrom(10.5, '10.500'), fc.double(), fc.string()),
        currency: fc.constantFrom(currency, 'BHD', 'x'),
        reference: fc.oneof(fc.record({ transaction: fc.constant(paymentId), merchant: fc.constant(refundId) }), fc.jsonValue()),
        transaction: fc.jsonValue(),
        customer: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const list = fc.record({ charges: fc.array(half), refunds: fc.array(half), has_more: fc.boolean() })
    const json = fc.oneof(half, half, list, fc.jsonValue())
    const reply = fc.record({ status: fc.constantFrom(200, 200, 400, 402, 404), json })
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { minLength: 5, maxLength: 5 }), fc.constantFrom(...calls), async (planned, call) => {
        replies = planned
        const result: unknown = await Promise.resolve(call()).catch((error: unknown) => error)
        if (result instanceof Error) expect(['ProcessorUnavailable', 'ProcessorRefused']).toContain(result.name)
        else if (isCaptured(result)) expect(result.captured).toBe(amount)
      }),
      { numRuns: 500 },
    )
  })

  test('an authorization never counts as captured, whatever its status', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    setup.server.fail('GET', { status: 200, json: { id: name.reference, status: 'CAPTURED', amount: '10.500', currency } })
    expect(await setup.tap.retrieve(name)).toMatchObject({ state: 'PROCESSING', captured: 0 })
    setup.server.fail('GET', { status: 200, json: { id: name.reference, status: 'UNKNOWN', amount: 10.5, currency } })
    expect(await setup.tap.retrieve(name)).toMatchObject({ state: 'PROCESSING', captured: 0 })
  })

  test('a response to create about another kind of payment is unavailable', async () => {
    await using setup = await open()
    setup.server.fail('/authorize/', { status: 200, json: { id: 'chg_1', status: 'CAPTURED', amount: 10.5, currency } })
    expect(await thrownBy(setup.tap.create(newPayment))).toBeInstanceOf(ProcessorUnavailable)
  })

  test('errors of Tap contain no secrets', async () => {
    for (const fault of ['lost', { status: 200, json: '<html>' }, { status: 401 }, { status: 400 }] as const) {
      const error = (await errorOf('POST /v2/authorize/', fault)) as Error
      const text = `${Bun.inspect(error)} ${Bun.inspect(error.cause)}`
      for (const secret of [tapKeys.secretKey, tapKeys.publishableKey]) expect(text).not.toContain(secret)
    }
  })
})

describe('Tap webhooks', () => {
  test('a webhook names its payment by the ids of Tap, and has its signature as id', async () => {
    await using setup = await open()
    const { server, tap } = setup
    const name = await createAuthorized(setup)
    const message = server.message(name.reference)
    const about = { paymentId, reference: name.reference }
    const result = await tap.readMessage(message)
    expect(result).toEqual({ id: message.headers.get('hashstring') ?? '', payment: about })
    expect(await tap.readMessage(message)).toEqual(result)
    const { references } = await tap.capture(name)
    const charge = references?.['charge'] ?? ''
    expect((await tap.readMessage(server.message(charge))).payment).toEqual({ paymentId, reference: charge, references: { charge } })
    const { reference: refund = '' } = await tap.refund({ ...name, references: { charge }, refundId, whole: true })
    expect((await tap.readMessage(server.message(refund))).payment).toEqual({ paymentId, reference: charge, references: { charge } })
  })

  test('a webhook names a payment whose response was lost', async () => {
    await using setup = await open()
    setup.server.fail('/charges/', 'lost')
    expect(await thrownBy(setup.tap.create(knet))).toBeInstanceOf(ProcessorUnavailable)
    const [lost] = setup.server.all('charge')
    setup.server.pay(lost?.id ?? '')
    const { payment } = await setup.tap.readMessage(setup.server.message(lost?.id ?? ''))
    expect(payment).toMatchObject({ paymentId, reference: lost?.id })
  })

  test('a webhook arrives at the URL sent with the payment, once the shopper paid on the page', async () => {
    await using setup = await open()
    const arrived = Promise.withResolvers<{ body: Uint8Array; headers: Headers }>()
    await using shop = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        arrived.resolve({ body: new Uint8Array(await request.arrayBuffer()), headers: request.headers })
        return new Response()
      },
    })
    const created = await setup.tap.create({ ...newPayment, messagesUrl: `http://127.0.0.1:${shop.port}/` })
    const page = await fetch(String(created.clientParameters?.['redirectUrl']), { method: 'POST', redirect: 'manual' })
    expect(page.headers.get('location')).toBe(returnUrl)
    expect((await setup.tap.readMessage(await arrived.promise)).payment).toEqual({ paymentId, reference: created.reference })
    expect((await setup.tap.retrieve(named(created)))?.state).toBe('AUTHORIZED')
  })

  test('repeated and reordered webhooks are the same messages about the same payment', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    const first = setup.server.message(name.reference)
    const { references } = await setup.tap.capture(name)
    const second = setup.server.message(references?.['charge'] ?? '')
    await using shop = messagesTo(setup.tap)
    expect(await deliver(shop.url, [first, second], { times: 2, reversed: true })).toEqual([200, 200, 200, 200])
    expect(new Set(shop.received.map(({ id }) => id)).size).toBe(2)
    expect(shop.received.map(({ payment }) => payment?.paymentId)).toEqual([paymentId, paymentId, paymentId, paymentId])
    const forged = { ...first, headers: new Headers({ hashstring: '0'.repeat(64) }) }
    expect(await deliver(shop.url, [forged])).toEqual([401])
  })

  test('an unsigned webhook is refused', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    const forged = setup.server.message(name.reference, (body) => ({
      ...body,
      reference: { ...(body['reference'] as object), transaction: 'pay_of_somebody_else', order: 'x' },
      metadata: { payment_id: 'x' },
      object: 'refund',
      charge_id: 'chg_other',
    }))
    expect((await setup.tap.readMessage(forged)).payment).toEqual({ paymentId, reference: name.reference })
  })

  test.each([
    ['id', 'auth_other'],
    ['amount', 10.501],
    ['currency', 'BHD'],
    ['status', 'CAPTURED'],
    ['transaction', { created: '1' }],
    ['reference', { gateway: 'g', payment: 'p' }],
  ])('a webhook with another %s is refused', async (field, value) => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    const changed = setup.server.message(name.reference, (body) => ({ ...body, [field]: value }))
    expect(await thrownBy(setup.tap.readMessage(changed))).toBeInstanceOf(BadSignature)
  })

  test('the signature of a webhook covers the amount with all its decimals, however it was written', async () => {
    await using setup = await open()
    for (const [amount, currency] of [
      [1_000, 'KWD'],
      [100, 'SAR'],
      [10_500, 'JOD'],
      [1_234, 'BHD'],
    ] as const) {
      const created = await setup.tap.create({ ...newPayment, paymentId: `pay_${currency}`, amount, currency })
      setup.server.pay(created.reference)
      for (const rewritten of [
        (body: Record<string, unknown>) => body,
        (body: Record<string, unknown>) => ({ ...body, amount: String(body['amount']) }),
      ])
        expect((await setup.tap.readMessage(setup.server.message(created.reference, rewritten))).payment?.reference).toBe(created.reference)
    }
  })

  test('a webhook signed with another key or none is refused, and with a former key accepted', async () => {
    await using setup = await open()
    const name = await createAuthorized(setup)
    const former = setup.server.message(name.reference, undefined, 'sk_test_former')
    expect(await thrownBy(setup.tap.readMessage(former))).toBeInstanceOf(BadSignature)
    const rotated = createTap({ ...setup.account, formerSecretKeys: ['', 'sk_test_former'] }, setup.port)
    expect((await rotated.readMessage(former)).payment?.paymentId).toBe(paymentId)
    const blank = createTap({ ...setup.account, secretKey: '' }, setup.port)
    expect(await thrownBy(blank.readMessage(setup.server.message(name.reference, undefined, '')))).toBeInstanceOf(BadSignature)
    const { body } = former
    for (const hashstring of ['', 'zz', '0'.repeat(64)])
      expect(await thrownBy(setup.tap.readMessage({ body, headers: new Headers({ hashstring }) }))).toBeInstanceOf(BadSignature)
    expect(await thrownBy(setup.tap.readMessage({ body, headers: new Headers() }))).toBeInstanceOf(BadSignature)
  })

  test('a webhook without JSON or payment is refused', async () => {
    await using setup = await open()
    for (const text of [
      '',
      '<xml>',
      '[]',
      'null',
      '{}',
      '{"id":"auth_1"}',
      '{"id":"auth_1","amount":1e400,"currency":"KWD","status":"X"}',
    ]) {
      const headers = new Headers({ hashstring: '0'.repeat(64) })
      expect(await thrownBy(setup.tap.readMessage({ body: Buffer.from(text), headers }))).toBeInstanceOf(BadSignature)
    }
  })
})

describe('a Tap account', () => {
  test('the probe is a read that creates nothing, also for an account without charges', async () => {
    await using setup = await open()
    await setup.tap.probe()
    expect(setup.server.requests.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
      'POST /v2/charges/list {"limit":1}',
    ])
    setup.server.createForeignCharge()
    await setup.tap.probe()
    const otherAccount = createTap({ ...setup.account, secretKey: 'sk_test_other' }, setup.port)
    expect(await thrownBy(otherAccount.probe())).toEqual(new ProcessorRefused('credentials'))
    setup.server.fail('POST', { status: 503 }, { status: 429 }, { status: 400, json: {} })
    expect(await thrownBy(setup.tap.probe())).toMatchObject({ name: 'ProcessorUnavailable', counts: true })
    expect(await thrownBy(setup.tap.probe())).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
    expect(await thrownBy(setup.tap.probe())).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })

  test.each([
    ['sk_test_abc', undefined, 'TEST'],
    ['sk_live_abc', undefined, 'LIVE'],
    ['sk_live_abc', 'http://127.0.0.1:4000/v2', 'LIVE'],
    ['sk_abc', undefined, 'LIVE'],
    ['sk_abc', 'http://127.0.0.1:4000/v2', 'TEST'],
  ] as const)('the key %s at %s is in mode %s', (secretKey, apiUrl, mode) => {
    expect(createTap({ secretKey, apiUrl }, loopbackPort()).mode).toBe(mode)
  })

  test('the account lists its capabilities as data', () => {
    const { supportsAmount: _, supportsCurrency: __, ...data } = createTap(tapKeys, loopbackPort()).capabilities
    expect(data).toEqual({
      capturesItself: ['knet', 'mada', 'benefit', 'naps'],
      createRepeatsMs: 82_800_000,
      refundRepeatsMs: 82_800_000,
      findable: false,
      refunds: 'any',
      wallets: true,
      hasHostedPage: true,
    })
  })
})
