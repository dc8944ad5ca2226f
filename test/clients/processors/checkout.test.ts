import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createCheckout } from '../../../src/clients/processors/checkout/client.ts'
import { supportsAmount, supportsCurrency } from '../../../src/clients/processors/checkout/states.ts'
import type { PaymentName, Processor, ProcessorPayment } from '../../../src/clients/processors/processor.ts'
import { BadSignature, ProcessorRefused, ProcessorUnavailable } from '../../../src/clients/processors/processor.ts'
import { callOnThisMachine } from '../../../src/demo/stand-ins/server.ts'
import { currencies, decimalsOf } from '../../../src/lib/money.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { checkoutKeys, checkoutMessage, startCheckoutServer } from './checkout-server.ts'
import { deliver, loopbackPort, messagesTo, standIn, thrownBy } from './stand-in.ts'

setDefaultTimeout(longTestMs)

const amount = 1_000
const currency = 'USD'
const sum = { amount, currency }
const paymentId = 'pay_01jd0000000000000000000001'
const refundId = 'ref_01jd0000000000000000000001'
const returnUrl = 'https://shop.example/thanks'
const newPayment = { paymentId, ...sum, token: undefined, returnUrl, shopper: { country: 'GB' } }
const byToken = { ...newPayment, token: 'tok_good' }

async function open(timeoutMs?: number, options: Parameters<typeof startCheckoutServer>[0] = {}) {
  const server = await startCheckoutServer(options)
  const account = { ...checkoutKeys, apiUrl: server.url }
  const port = loopbackPort(timeoutMs === undefined ? {} : { timeoutMs })
  return { server, account, port, checkout: createCheckout(account, port), [Symbol.asyncDispose]: () => server.close() }
}

/** Creates a payment by token, which is authorized. */
async function authorizePayment(checkout: Processor) {
  const { reference } = await checkout.create(byToken)
  return { paymentId, reference, ...sum }
}

/** Creates a captured payment. */
async function capturePayment({ server, checkout }: Awaited<ReturnType<typeof open>>) {
  const name = await authorizePayment(checkout)
  await checkout.capture(name)
  server.settle()
  return name
}

const named = (name: PaymentName, { reference, references }: { reference: string; references?: Readonly<Record<string, string>> }) => ({
  ...name,
  ...sum,
  reference,
  ...(references === undefined ? {} : { references }),
})

const isCaptured = (result: unknown): result is ProcessorPayment =>
  typeof result === 'object' && result !== null && 'state' in result && result.state === 'CAPTURED'

describe('amounts at Checkout.com', () => {
  const anyCurrency = fc.constantFrom(...currencies)

  test('sends supported amounts in the same minor units, and refuses others before any request', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -10, max: 2_000_000_000 }), anyCurrency, async (amount, currency) => {
        const before = server.requests.length
        const payment = { ...byToken, paymentId: `pay_${before}`, amount, currency }
        if (supportsAmount({ amount, currency })) {
          const { authorized } = await checkout.create(payment)
          expect(authorized).toBe(amount)
          expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({ amount, currency })
        } else {
          expect(await thrownBy(checkout.create(payment))).toEqual(new ProcessorRefused('amount_not_supported'))
          expect(server.requests.length).toBe(before)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('supports 1 to 999,999,999 minor units, with a last digit of 0 in currencies of three decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 10_000_000_000 }), anyCurrency, (amount, currency) => {
        const small = amount >= 1 && amount <= 999_999_999
        const endsInZero = decimalsOf(currency) !== 3 || amount % 10 === 0
        return supportsAmount({ amount, currency }) === (supportsCurrency(currency) && small && endsInZero)
      }),
    )
  })

  test.each([
    ['KWD', 10_500, true],
    ['KWD', 1_234, false],
    ['IQD', 1_230, true],
    ['LYD', 1_231, false],
    ['JPY', 500, true],
    ['ISK', 500, true],
    ['UGX', 500, true],
    ['MNT', 1_000_000, true],
    ['CLP', 500, false],
    ['CLF', 10_000, false],
    ['UYI', 10, false],
    ['USD', 0, false],
    ['USD', 1.5, false],
    ['USD', Number.NaN, false],
    ['usd', 100, false],
    ['XXX', 100, false],
  ])('%s %p is supported: %p', (currency, amount, expected) => {
    expect(supportsAmount({ amount, currency })).toBe(expected)
  })

  test('refund and capture refuse an unsupported amount before any request', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const refund = { paymentId, reference: 'pay_x', refundId, amount: 1_234, currency: 'KWD', whole: false }
    expect(await thrownBy(checkout.refund(refund))).toEqual(new ProcessorRefused('amount_not_supported'))
    expect(await thrownBy(checkout.capture(refund))).toEqual(new ProcessorRefused('amount_not_supported'))
    expect(server.requests).toEqual([])
  })
})

describe('a Checkout.com payment by token', () => {
  test('a payment by token is authorized, captured asynchronously, and refunded in parts', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const created = await checkout.create(byToken)
    expect(created).toEqual({ reference: created.reference, state: 'AUTHORIZED', authorized: amount, captured: 0 })
    expect(created.reference).toStartWith('pay_')
    expect(server.requests.map(({ headers }) => headers.get('cko-idempotency-key'))).toEqual([paymentId])

    const name = { paymentId, ...created, ...sum }
    const accepted = await checkout.capture(name)
    expect(accepted).toMatchObject({ reference: created.reference, state: 'PROCESSING', authorized: amount, captured: 0 })
    expect(accepted.references?.['capture']).toStartWith('act_')
    // The processor still shows the payment as authorized.
    expect((await checkout.retrieve(name))?.state).toBe('AUTHORIZED')
    expect((await checkout.retrieve(named(name, accepted)))?.state).toBe('PROCESSING')
    server.settle()
    expect(await checkout.retrieve(named(name, accepted))).toMatchObject({
      state: 'CAPTURED',
      authorized: amount,
      captured: amount,
      refunded: 0,
    })
    expect(await checkout.capture(name)).toMatchObject({ state: 'CAPTURED', captured: amount })

    const refund = { ...name, refundId, amount: 300, whole: false }
    const refunded = await checkout.refund(refund)
    expect(refunded).toEqual({ reference: refunded.reference, state: 'PENDING' })
    const refundName = { ...name, refundId, refundReference: refunded.reference, amount: 300 }
    expect(await checkout.retrieveRefund(refundName)).toEqual({ reference: refunded.reference, state: 'PENDING' })
    server.settle()
    expect(await checkout.retrieveRefund({ ...refundName, refundReference: undefined })).toEqual({
      reference: refunded.reference,
      state: 'SUCCEEDED',
    })
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: amount, refunded: 300 })
    expect(await checkout.retrieveRefund({ ...refundName, refundId: 'ref_other', refundReference: undefined })).toBeUndefined()
  })

  test('a declined payment is FAILED with the code of the processor', async () => {
    await using setup = await open()
    const { checkout } = setup
    const created = await checkout.create({ ...byToken, token: 'tok_declined' })
    expect(created).toMatchObject({ state: 'FAILED', failureCode: '20051', authorized: 0, captured: 0 })
    expect(await checkout.retrieve({ paymentId, reference: created.reference, ...sum })).toEqual({ ...created, refunded: 0 })
  })

  test('a payment that needs 3-D Secure returns the URL for the shopper', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const created = await checkout.create({ ...byToken, token: 'tok_3ds' })
    expect(created).toMatchObject({ state: 'REQUIRES_ACTION', authorized: 0 })
    expect(created.clientParameters).toEqual({ redirectUrl: `${server.url}/3ds/${created.reference}` })
    const name = { paymentId, reference: created.reference, ...sum }
    expect((await checkout.retrieve(name))?.state).toBe('REQUIRES_ACTION')
    expect((await checkout.void(name)).state).toBe('REQUIRES_ACTION')
    const page = await fetch(String(created.clientParameters?.['redirectUrl']), { method: 'POST', redirect: 'manual' })
    expect(page.headers.get('location')).toBe(returnUrl)
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'AUTHORIZED', authorized: amount })
    const other = await checkout.create({ ...byToken, paymentId: 'pay_2', token: 'tok_3ds' })
    server.authenticate(other.reference, false)
    expect(await checkout.retrieve({ ...name, reference: other.reference })).toMatchObject({ state: 'FAILED', failureCode: '20154' })
  })

  test('repeated creates return the same payment', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const [first, second] = await Promise.all([checkout.create(byToken), checkout.create(byToken)])
    expect(first).toEqual(second)
    expect(server.payments.size).toBe(1)
  })

  test('a payment whose response was lost is found by our id, also after its idempotency key expired', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    server.fail('POST /payments', 'lost')
    expect(await thrownBy(checkout.create(byToken))).toBeInstanceOf(ProcessorUnavailable)
    server.forgetKeys()
    const found = await checkout.retrieve({ paymentId, reference: undefined, ...sum })
    expect(found).toMatchObject({ state: 'AUTHORIZED', authorized: amount })
    expect(server.payments.size).toBe(1)
  })

  test('an authorized payment can be voided and a captured one cannot', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await authorizePayment(checkout)
    const accepted = await checkout.void(name)
    expect(accepted).toMatchObject({ state: 'PROCESSING', captured: 0 })
    expect((await checkout.retrieve(named(name, accepted)))?.state).toBe('PROCESSING')
    server.settle()
    expect((await checkout.retrieve(named(name, accepted)))?.state).toBe('VOIDED')
    expect((await checkout.void(name)).state).toBe('VOIDED')
    await using other = await open()
    expect(await other.checkout.void(await capturePayment(other))).toMatchObject({ state: 'CAPTURED', captured: amount })
  })

  test('a capture that settles at once is CAPTURED, and a later void reports that', async () => {
    await using setup = await open(undefined, { settlesAtOnce: true })
    const { checkout } = setup
    const name = await authorizePayment(checkout)
    expect(await checkout.capture(name)).toMatchObject({ state: 'CAPTURED', captured: amount })
    expect(await checkout.void(name)).toMatchObject({ state: 'CAPTURED' })
  })

  test('a payment whose capture is declined later is FAILED, and its authorization is voided', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await authorizePayment(checkout)
    server.decline('Capture')
    const accepted = await checkout.capture(name)
    expect(accepted.state).toBe('PROCESSING')
    server.settle()
    const failed = { state: 'FAILED', failureCode: '20068', captured: 0 } as const
    // A failed void of the authorization does not fail the call.
    server.fail('/voids', { status: 500 })
    expect(await checkout.retrieve(named(name, accepted))).toMatchObject(failed)
    expect(await checkout.capture(name)).toMatchObject(failed)
    server.settle()
    expect((await checkout.retrieve(named(name, accepted)))?.state).toBe('VOIDED')
  })

  test('a payment whose capture is declined at once is FAILED, and its authorization is voided', async () => {
    await using setup = await open(undefined, { settlesAtOnce: true })
    const { server, checkout } = setup
    server.decline('Capture')
    const name = await authorizePayment(checkout)
    expect(await checkout.capture(name)).toMatchObject({ state: 'FAILED', failureCode: '20068', captured: 0 })
    expect(server.payments.get(name.reference)?.status).toBe('Voided')
  })

  test('a payment whose void is declined later is still AUTHORIZED', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await authorizePayment(checkout)
    server.decline('Void')
    const accepted = await checkout.void(name)
    server.settle()
    expect((await checkout.retrieve(named(name, accepted)))?.state).toBe('AUTHORIZED')
  })

  test('an unknown payment is undefined, and cannot be captured, voided or refunded', async () => {
    await using setup = await open()
    const { checkout } = setup
    for (const reference of [undefined, `pay_${'z'.repeat(26)}`]) {
      const name = { paymentId, reference, ...sum }
      expect(await checkout.retrieve(name)).toBeUndefined()
      expect(await checkout.retrieveRefund({ ...name, refundId, refundReference: undefined })).toBeUndefined()
      expect(await thrownBy(checkout.capture(name))).toEqual(new ProcessorRefused('not_found'))
      expect(await thrownBy(checkout.void(name))).toEqual(new ProcessorRefused('not_found'))
      expect(await thrownBy(checkout.refund({ ...name, refundId, whole: true }))).toEqual(new ProcessorRefused('not_found'))
    }
  })
})

describe('wallets at Checkout.com', () => {
  const google = { protocolVersion: 'ECv2', signature: 'MEUCIQ', intermediateSigningKey: {}, signedMessage: '{"tag":"…"}' }
  const apple = { version: 'EC_v1', data: 't7Ge', signature: 'MIAG', header: { publicKeyHash: 'tq', transactionId: '93' } }

  test.each([google, apple])('%p is exchanged for a token with the publishable key and then paid', async (wallet) => {
    await using setup = await open()
    const { server, checkout } = setup
    expect(await checkout.create({ ...byToken, method: 'wallet', token: JSON.stringify(wallet) })).toMatchObject({ state: 'AUTHORIZED' })
    const [exchange, payment] = server.requests
    expect(exchange?.headers.get('authorization')).toBe(checkoutKeys.publishableKey)
    expect(JSON.parse(exchange?.body ?? '')).toEqual({ type: wallet === google ? 'googlepay' : 'applepay', token_data: wallet })
    expect(JSON.parse(payment?.body ?? '').source).toEqual({ type: 'token', token: expect.stringMatching(/^tok_/) })
  })

  test('wallets are refused before any request without a publishable key', async () => {
    await using setup = await open()
    const { server, account, port } = setup
    const checkout = createCheckout({ ...account, publishableKey: undefined }, port)
    const error = await thrownBy(checkout.create({ ...byToken, token: JSON.stringify(apple) }))
    expect(error).toEqual(new ProcessorRefused('wallet_tokens_need_publishable_key'))
    expect(server.requests).toEqual([])
  })
})

describe('a Checkout.com payment session', () => {
  test('a session returns the whole response to the page, waits, and becomes the payment made with it', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const created = await checkout.create(newPayment)
    expect(created).toMatchObject({ state: 'PENDING', authorized: 0, captured: 0 })
    expect(created.reference).toStartWith('ps_')
    expect(created.clientParameters).toEqual({
      paymentSession: {
        id: created.reference,
        payment_session_token: expect.any(String),
        payment_session_secret: expect.any(String),
        _links: expect.anything(),
      },
    })
    expect(server.requests[0]?.headers.get('cko-idempotency-key')).toBeNull()
    const name = { paymentId, reference: created.reference, ...sum }
    expect(await checkout.retrieve(name)).toEqual({ reference: created.reference, state: 'PENDING', authorized: 0, captured: 0 })
    // Nothing can be voided yet, and the payment page cannot be closed.
    expect((await checkout.void(name)).state).toBe('PENDING')
    expect(await thrownBy(checkout.capture(name))).toEqual(new ProcessorRefused('not_found'))

    const { id } = server.pay(created.reference)
    const paid = await checkout.retrieve(name)
    expect(paid).toMatchObject({ reference: created.reference, references: { payment: id }, state: 'AUTHORIZED', authorized: amount })
    const accepted = await checkout.capture(name)
    expect(accepted.references).toEqual({ payment: id, capture: expect.any(String) })
    server.settle()
    expect(await checkout.retrieve(named(name, accepted))).toMatchObject({
      state: 'CAPTURED',
      captured: amount,
      references: accepted.references,
    })
    await checkout.refund({ ...name, refundId, whole: true })
    server.settle()
    expect(await checkout.retrieveRefund({ ...name, refundId, refundReference: undefined })).toMatchObject({ state: 'SUCCEEDED' })
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: amount, refunded: amount })
  })

  test('a session uses the successful card after any number of declined ones', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const { reference } = await checkout.create(newPayment)
    const name = { paymentId, reference, ...sum }
    for (let tries = 0; tries < 130; tries++) server.pay(reference, 'declined')
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'FAILED', failureCode: '20051' })
    const { id } = server.pay(reference)
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'AUTHORIZED', references: { payment: id } })
  })

  test('a session that is paid twice keeps one authorization and voids the other', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const { reference } = await checkout.create(newPayment)
    const [first, second] = [server.pay(reference), server.pay(reference)]
    const name = { paymentId, reference, ...sum }
    // A failed void does not fail the call. The next read repeats the void.
    server.fail('/voids', { status: 500 })
    expect((await checkout.retrieve(name))?.references).toEqual({ payment: first.id })
    server.settle()
    expect(second.status).toBe('Authorized')
    expect((await checkout.retrieve(name))?.references).toEqual({ payment: first.id })
    server.settle()
    expect([first.status, second.status]).toEqual(['Authorized', 'Voided'])
    expect((await checkout.retrieve(name))?.references).toEqual({ payment: first.id })
  })

  test('a session keeps the payment that is already referenced and voids the other', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const { reference } = await checkout.create(newPayment)
    const [first, second] = [server.pay(reference), server.pay(reference)]
    const name = { paymentId, reference, references: { payment: second.id }, ...sum }
    expect((await checkout.retrieve(name))?.references).toEqual({ payment: second.id })
    server.settle()
    expect([first.status, second.status]).toEqual(['Voided', 'Authorized'])
  })

  test('void of a session voids the successful card, even if only a declined one was referenced', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const { reference } = await checkout.create(newPayment)
    const name = { paymentId, reference, ...sum }
    server.pay(reference, 'declined')
    const failed = await checkout.retrieve(name)
    const good = server.pay(reference)
    await checkout.void({ ...name, references: failed?.references ?? {} })
    server.settle()
    expect(good.status).toBe('Voided')
  })

  test('a session whose response was lost is undefined, and create makes another one', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    server.fail('POST /payment-sessions', 'lost')
    expect(await thrownBy(checkout.create(newPayment))).toBeInstanceOf(ProcessorUnavailable)
    expect(await checkout.retrieve({ paymentId, reference: undefined, ...sum })).toBeUndefined()
    expect((await checkout.create(newPayment)).state).toBe('PENDING')
  })

  test('a session without a country is refused by the processor', async () => {
    await using setup = await open()
    const { shopper: _, ...without } = newPayment
    expect(await thrownBy(setup.checkout.create(without))).toEqual(new ProcessorRefused('billing_required'))
  })
})

describe('a Checkout.com refund', () => {
  test('a 404 page of a proxy does not mean that the payment is missing', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await capturePayment(setup)
    const refund = { ...name, refundId, amount: 400, whole: false }
    const page = { status: 404, json: '<html>', headers: { 'content-type': 'text/html; charset=utf-8' } }
    for (const [route, ask] of [
      ['POST /payments', () => checkout.refund(refund)],
      ['GET /payments', () => checkout.refund(refund)],
      ['GET /payments', () => checkout.retrieve(name)],
      ['POST /payments', () => checkout.void(name)],
    ] as const) {
      server.fail(route, page)
      expect([route, await thrownBy(ask())]).toMatchObject([route, { name: 'ProcessorUnavailable', counts: false }])
    }
    expect(await checkout.refund(refund)).toMatchObject({ state: 'PENDING' })
  })

  test('repeated refunds are one refund, also after a day or after an error response', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await capturePayment(setup)
    const refund = { ...name, refundId, amount: 400, whole: false }
    // Only 2xx responses are stored: the same request would be processed again.
    server.fail('/refunds', () => ({ status: 502 }))
    expect(await thrownBy(checkout.refund(refund))).toBeInstanceOf(ProcessorUnavailable)
    server.settle()
    server.forgetKeys()
    expect(await checkout.refund(refund)).toMatchObject({ state: 'SUCCEEDED' })
    server.forgetKeys()
    expect(await checkout.refund(refund)).toMatchObject({ state: 'SUCCEEDED' })
    expect(server.payments.get(name.reference)?.refunded).toBe(400)
    const other = { ...refund, refundId: 'ref_2', amount: 600 }
    await Promise.all([checkout.refund(other), checkout.refund(other)])
    server.settle()
    expect(server.payments.get(name.reference)?.refunded).toBe(1_000)
  })

  test('a refund that the bank declines later has failed', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await capturePayment(setup)
    server.decline('Refund')
    const refunded = await checkout.refund({ ...name, refundId, whole: true })
    server.settle()
    const result = await checkout.retrieveRefund({ ...name, refundId, refundReference: refunded.reference })
    expect(result).toEqual({ reference: refunded.reference, state: 'FAILED', failureCode: '20068' })
  })

  test('refuses a refund of an uncaptured payment, of a refunded one, or above what is left', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await authorizePayment(checkout)
    expect(await thrownBy(checkout.refund({ ...name, refundId, whole: true }))).toEqual(new ProcessorRefused('not_captured'))
    await checkout.capture(name)
    server.settle()
    const tooMuch = { ...name, refundId, amount: 1_001, whole: false }
    expect(await thrownBy(checkout.refund(tooMuch))).toEqual(new ProcessorRefused('refund_amount_exceeds_balance'))
    await checkout.refund({ ...name, refundId, whole: true })
    server.settle()
    expect(await thrownBy(checkout.refund({ ...name, refundId: 'ref_2', whole: true }))).toEqual(
      new ProcessorRefused('refund_exceeds_rest'),
    )
  })

  test('a 403 to a refund within what is left leaves it unavailable', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await capturePayment(setup)
    server.fail('/refunds', { status: 403 })
    expect(await thrownBy(checkout.refund({ ...name, refundId, whole: true }))).toMatchObject({
      name: 'ProcessorUnavailable',
      counts: false,
    })
  })

  test('a refund with another amount than requested is not returned', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await capturePayment(setup)
    await checkout.refund({ ...name, refundId, amount: 400, whole: false })
    server.settle()
    const error = await thrownBy(checkout.retrieveRefund({ ...name, refundId, refundReference: undefined, amount: 500 }))
    expect(error).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })
})

describe('failed requests to Checkout.com', () => {
  const verbs: Record<string, (checkout: Processor, name: PaymentName & typeof sum) => Promise<unknown>> = {
    'POST /payments': (checkout) => checkout.create(byToken),
    'POST /payment-sessions': (checkout) => checkout.create(newPayment),
    'GET /payments/': (checkout, name) => checkout.retrieve(name),
    'GET /payments': (checkout) => checkout.retrieve({ paymentId, reference: undefined, ...sum }),
    '/captures': (checkout, name) => checkout.capture(name),
    '/voids': (checkout, name) => checkout.void(name),
    '/refunds': (checkout, name) => checkout.refund({ ...name, refundId, whole: true }),
    '/actions': (checkout, name) => checkout.retrieveRefund({ ...name, refundId, refundReference: undefined }),
  }
  const routes = Object.keys(verbs)

  async function errorOf(route: string, ...faults: Parameters<Awaited<ReturnType<typeof open>>['server']['fail']>[1][]) {
    await using setup = await open()
    const name = route === '/captures' || route === '/voids' ? await authorizePayment(setup.checkout) : await capturePayment(setup)
    setup.server.fail(route, ...faults)
    return await thrownBy(verbs[route]?.(setup.checkout, name) ?? Promise.resolve())
  }

  test.each(routes)('network and server errors of %s leave the outcome unknown and count for the breaker', async (route) => {
    for (const fault of ['lost', 'half', { status: 500 }, { status: 502, json: '<html>' }] as const)
      expect(await errorOf(route, fault)).toMatchObject({ name: 'ProcessorUnavailable', counts: true, neverSent: false })
    for (const fault of ['garbage', { status: 200, json: '{"id": "cut o' }, { status: 302, headers: { location: '/' } }] as const)
      expect(await errorOf(route, fault)).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })

  test('a timeout of create leaves the outcome unknown and counts for the breaker', async () => {
    await using setup = await open(100)
    setup.server.fail('POST /payments', 'late')
    expect(await thrownBy(setup.checkout.create(byToken))).toMatchObject({ name: 'ProcessorUnavailable', counts: true, neverSent: false })
  })

  test.each(routes)('401, 409 and 429 to %s are unavailable and do not count for the breaker', async (route) => {
    expect(await errorOf(route, { status: 401 })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: true })
    expect(await errorOf(route, { status: 409 })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: false })
    expect(await errorOf(route, { status: 418 })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: false })
    // With an idempotency key, an earlier request may still be in progress.
    const keyed = route === 'POST /payments' || ['/captures', '/voids', '/refunds'].includes(route)
    const reply = { status: 429, json: { error_type: 'duplicate_request' } }
    expect(await errorOf(route, reply)).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: !keyed })
  })

  test.each(routes)('422 to %s is a refusal with the first error code, or a generic word', async (route) => {
    const body = { request_id: 'x', error_type: 'request_invalid', error_codes: ['token_expired'] }
    expect(await errorOf(route, { status: 422, json: body })).toEqual(new ProcessorRefused('token_expired'))
    expect(await errorOf(route, { status: 422, json: { ...body, error_codes: [] } })).toEqual(new ProcessorRefused('request_invalid'))
    expect(await errorOf(route, { status: 422, json: '<b>no</b>' })).toEqual(new ProcessorRefused('refused'))
    const talkative = { error_codes: ['card 4242 4242 4242 4242 is bad'] }
    expect(await errorOf(route, { status: 422, json: talkative })).toEqual(new ProcessorRefused('refused'))
  })

  test('after 403 to capture or void the payment is read, and its state decides', async () => {
    for (const route of ['/captures', '/voids'])
      expect(await errorOf(route, { status: 403 })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: false })
    await using setup = await open()
    const name = await authorizePayment(setup.checkout)
    await setup.checkout.void(name)
    setup.server.settle()
    expect(await setup.checkout.capture(name)).toMatchObject({ state: 'VOIDED' })
  })

  test.each(['lost', 'half', 'garbage'] as const)(
    'a capture with the response %s is made once, and repeating it returns its result',
    async (fault) => {
      await using setup = await open()
      const { server, checkout } = setup
      const name = await authorizePayment(checkout)
      server.fail('/captures', fault)
      expect(await thrownBy(checkout.capture(name))).toBeInstanceOf(ProcessorUnavailable)
      expect((await checkout.capture(name)).state).toBe('PROCESSING')
      server.settle()
      expect((await checkout.retrieve(name))?.captured).toBe(amount)
    },
  )

  test('a response to create about another payment is unavailable', async () => {
    await using setup = await open()
    setup.server.fail('POST', { status: 201, json: { id: 'pay_1', status: 'Authorized', reference: 'pay_other' } })
    expect(await thrownBy(setup.checkout.create(byToken))).toBeInstanceOf(ProcessorUnavailable)
  })

  test('a failed read after an accepted capture does not undo it', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await authorizePayment(checkout)
    server.fail('GET', { status: 500 })
    expect(await checkout.capture(name)).toMatchObject({ state: 'PROCESSING' })
    server.settle()
    expect(await checkout.capture(name)).toMatchObject({ state: 'CAPTURED' })
  })

  test('a failed read after an accepted void does not undo it', async () => {
    await using setup = await open()
    const { server, checkout } = setup
    const name = await authorizePayment(checkout)
    server.fail('/actions', { status: 429 })
    expect(await checkout.void(name)).toMatchObject({ state: 'PROCESSING' })
    server.fail('GET', { status: 500 })
    expect(await checkout.void(name)).toMatchObject({ state: 'PROCESSING' })
    server.settle()
    expect((await checkout.retrieve(name))?.state).toBe('VOIDED')
  })

  test.each([
    [{}, 'nothing'],
    [[], 'a list'],
    [null, 'null'],
    [{ id: '../admin', status: 'Authorized' }, 'an id that is none'],
    [{ id: 'pay_2', status: 'Captured' }, 'another payment'],
    [{ id: 'pay_1' }, 'no status'],
    [{ id: 'pay_1', status: 'Delighted' }, 'an unknown status'],
    [{ id: 'pay_1', status: 'constructor' }, 'a status that every object has'],
    [{ id: 'pay_1', status: 'Card Verified' }, 'a verified card'],
    [{ id: 'pay_1', status: 'Captured', amount: 999, currency }, 'another amount'],
    [{ id: 'pay_1', status: 'Captured', amount, currency: 'KWD' }, 'another currency'],
    [{ id: 'pay_1', status: 'Captured', amount: '1000', currency }, 'an amount that is no number'],
  ])('a response %j (%s) is unavailable', async (json) => {
    await using setup = await open()
    setup.server.fail('GET /payments/', { status: 200, json })
    const error = await thrownBy(setup.checkout.retrieve({ paymentId, reference: 'pay_1', ...sum }))
    expect(error).toBeInstanceOf(ProcessorUnavailable)
  })

  test('an invalid list is unavailable, not empty', async () => {
    await using setup = await open()
    const name = { paymentId, reference: undefined, ...sum }
    for (const json of [{}, [], { total_count: 1, data: [] }, { total_count: -1, data: [] }, { total_count: 1 }]) {
      setup.server.fail('GET /payments', { status: 200, json })
      expect(await thrownBy(setup.checkout.retrieve(name))).toBeInstanceOf(ProcessorUnavailable)
    }
    const otherPayment = { id: 'pay_1', status: 'Captured', amount, currency, reference: 'pay_of_somebody_else' }
    setup.server.fail('GET /payments', { status: 200, json: { total_count: 1, data: [otherPayment] } }, { status: 404 })
    expect(await setup.checkout.retrieve(name)).toBeUndefined()
    expect(await setup.checkout.retrieve(name)).toBeUndefined()
  })

  test('arbitrary responses give a payment, a refusal or unavailable, and never captured money below the amount', async () => {
    let replies: { status: number; json: unknown }[] = []
    await using server = await standIn(() => replies.shift() ?? { status: 200, json: {} })
    const checkout = createCheckout({ ...checkoutKeys, apiUrl: server.url }, loopbackPort())
    const name = { paymentId, reference: 'pay_1', ...sum }
    const refund = { ...name, refundId, whole: true }
    const calls = [
      () => checkout.create(byToken),
      () => checkout.create(newPayment),
      () => checkout.retrieve(name),
      () => checkout.retrieve({ ...name, reference: undefined }),
      () => checkout.capture(name),
      () => checkout.void(name),
      () => checkout.refund(refund),
      () => checkout.retrieveRefund({ ...refund, refundReference: undefined }),
      () => checkout.probe(),
    ]
    const half = fc.record(
      {
        id: fc.oneof(fc.constant('pay_1'), fc.string()),
        status: fc.oneof(fc.constantFrom('Captured', 'Authorized', 'Pending', 'Paid', 'Declined'), fc.string()),
        amount: fc.oneof(fc.constant(amount), fc.integer(), fc.string()),
        currency: fc.constantFrom(currency, 'EUR'),
        balances: fc.oneof(fc.record({ total_captured: fc.oneof(fc.integer(), fc.double(), fc.string()) }), fc.jsonValue()),
        action_id: fc.oneof(fc.constant('act_1'), fc.jsonValue()),
        total_count: fc.oneof(fc.constant(1), fc.jsonValue()),
        data: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
        _links: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const reply = fc.record({ status: fc.constantFrom(200, 201, 202, 400, 403, 404, 422), json: fc.oneof(half, fc.jsonValue()) })
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { minLength: 4, maxLength: 4 }), fc.constantFrom(...calls), async (planned, call) => {
        replies = planned
        const result = await call().catch((error: unknown) => error)
        if (result instanceof Error) expect(['ProcessorUnavailable', 'ProcessorRefused']).toContain(result.name)
        else if (isCaptured(result)) expect(result.captured).toBeGreaterThanOrEqual(amount)
      }),
      { numRuns: 500 },
    )
  })

  test('a captured amount below the requested one is never CAPTURED, whatever the status says', async () => {
    await using setup = await open()
    for (const [status, balances, state] of [
      ['Captured', { total_captured: 999 }, 'PROCESSING'],
      ['Partially Captured', { total_captured: 10 }, 'PROCESSING'],
      ['Captured', { total_captured: 0 }, 'PROCESSING'],
      ['Paid', undefined, 'PROCESSING'],
      ['Partially Refunded', undefined, 'PROCESSING'],
      ['Captured', undefined, 'CAPTURED'],
      ['Refunded', { total_captured: 1_000, total_refunded: 1_000 }, 'CAPTURED'],
      ['Expired', { total_captured: 0 }, 'FAILED'],
      ['Canceled', { total_captured: 0 }, 'FAILED'],
    ] as const) {
      setup.server.fail('GET /payments/', { status: 200, json: { id: 'pay_1', status, amount, currency, balances } })
      expect((await setup.checkout.retrieve({ paymentId, reference: 'pay_1', ...sum }))?.state).toBe(state)
    }
  })

  test('a redirect URL that is not a web address is not returned', async () => {
    await using setup = await open()
    const json = { id: 'pay_1', status: 'Pending', _links: { redirect: { href: 'javascript:alert(1)' } } }
    setup.server.fail('GET /payments/', { status: 200, json })
    const result = await setup.checkout.retrieve({ paymentId, reference: 'pay_1', ...sum })
    expect(result).toEqual({ reference: 'pay_1', state: 'PENDING', authorized: 0, captured: 0 })
  })

  test('errors of Checkout.com contain no secrets', async () => {
    const { secretKey, publishableKey, webhookSecret } = checkoutKeys
    for (const fault of ['lost', 'garbage', { status: 401 }, { status: 429 }, { status: 422 }] as const) {
      const error = (await errorOf('POST /payments', fault)) as Error
      const text = `${Bun.inspect(error)} ${Bun.inspect(error.cause)}`
      for (const secret of [secretKey, publishableKey, webhookSecret, 'tok_good']) expect(text).not.toContain(secret)
    }
  })
})

describe('Checkout.com webhooks', () => {
  const body = JSON.stringify({ id: 'evt_1', type: 'payment_captured', data: { id: 'pay_a1', reference: paymentId } })
  const about = { paymentId, reference: 'pay_a1', references: { payment: 'pay_a1' } }

  test('a webhook names a payment and has the id that the processor gave it', async () => {
    await using setup = await open()
    expect(await setup.checkout.readMessage(checkoutMessage(body))).toEqual({ id: 'evt_1', payment: about })
    expect(setup.server.requests).toEqual([])
  })

  test.each(['', 'zz', `${'0'.repeat(64)}`, undefined])('a webhook with the signature %p is refused', async (signature) => {
    await using setup = await open()
    const headers = new Headers(signature === undefined ? {} : { 'cko-signature': signature })
    expect(await thrownBy(setup.checkout.readMessage({ body: Buffer.from(body), headers }))).toBeInstanceOf(BadSignature)
  })

  test('a webhook with one changed byte or signed by another account is refused', async () => {
    await using setup = await open()
    const { headers } = checkoutMessage(body)
    const changed = { body: Buffer.from(body.replace('captured', 'captureD')), headers }
    expect(await thrownBy(setup.checkout.readMessage(changed))).toBeInstanceOf(BadSignature)
    expect(await thrownBy(setup.checkout.readMessage(checkoutMessage(body, 'another key')))).toBeInstanceOf(BadSignature)
  })

  test.each(['', ' ', undefined])('no webhook is accepted under the secret %p', async (webhookSecret) => {
    await using setup = await open()
    const checkout = createCheckout({ ...setup.account, webhookSecret }, setup.port)
    expect(await thrownBy(checkout.readMessage(checkoutMessage(body, webhookSecret ?? '')))).toBeInstanceOf(BadSignature)
  })

  test('a webhook without JSON or subject is about no payment and has an id', async () => {
    await using setup = await open()
    for (const text of ['<xml>', '', '[]', 'null', '{"type":"payment_approved"}', '{"type":"card_verified","data":{"id":"../x"}}']) {
      const first = await setup.checkout.readMessage(checkoutMessage(text))
      expect(first).toEqual({ id: expect.stringMatching(/^[0-9a-f]{64}$/), payment: undefined })
      expect(await setup.checkout.readMessage(checkoutMessage(text))).toEqual(first)
    }
  })

  test('a webhook without our id makes the client query it', async () => {
    await using setup = await open()
    const { reference } = await setup.checkout.create(byToken)
    const text = JSON.stringify({ id: 'evt_2', type: 'payment_captured', data: { id: reference } })
    const { payment } = await setup.checkout.readMessage(checkoutMessage(text))
    expect(payment).toEqual({ paymentId, reference, references: { payment: reference } })
    setup.server.fail('GET', { status: 401 }, { status: 500 })
    for (let tries = 0; tries < 2; tries++)
      expect(await thrownBy(setup.checkout.readMessage(checkoutMessage(text)))).toBeInstanceOf(ProcessorUnavailable)
    const unknown = JSON.stringify({ id: 'evt_3', type: 'payment_captured', data: { id: 'pay_unknown' } })
    expect((await setup.checkout.readMessage(checkoutMessage(unknown))).payment?.paymentId).toBeUndefined()
  })

  test('repeated and reordered webhooks are the same messages about the same payment', async () => {
    await using setup = await open()
    const name = await capturePayment(setup)
    const payment = setup.server.payments.get(name.reference)
    if (!payment) throw new Error('no payment')
    const messages = ['payment_approved', 'payment_captured'].map((type) => setup.server.message(type, payment))
    await using shop = messagesTo(setup.checkout)
    expect(await deliver(shop.url, messages, { times: 2, reversed: true })).toEqual([200, 200, 200, 200])
    expect(new Set(shop.received.map(({ id }) => id)).size).toBe(2)
    expect(shop.received.map(({ payment }) => payment?.paymentId)).toEqual([paymentId, paymentId, paymentId, paymentId])
    expect(await deliver(shop.url, [checkoutMessage('{}', 'another key')])).toEqual([401])
  })

  test('a dispute webhook has the payment, the amount and the state', async () => {
    await using setup = await open()
    const { reference } = await setup.checkout.create(byToken)
    for (const [type, state] of [
      ['dispute_received', 'OPEN'],
      ['dispute_won', 'WON'],
      ['dispute_lost', 'LOST'],
    ] as const) {
      const data = { id: 'dsp_1', payment_id: reference, amount: 20, currency: 'USD' }
      const result = await setup.checkout.readMessage(checkoutMessage(JSON.stringify({ id: 'evt_4', type, data })))
      expect(result.payment).toMatchObject({ paymentId, reference })
      expect(result.dispute).toEqual({ reference: 'dsp_1', amount: 20, currency: 'USD', state })
    }
  })

  test('a webhook reaches the shop as the processor sends it', async () => {
    const received: { body: Uint8Array; headers: Headers }[] = []
    const arrived = Promise.withResolvers<void>()
    await using shop = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        received.push({ body: new Uint8Array(await request.arrayBuffer()), headers: request.headers })
        if (received.length === 2) arrived.resolve()
        return new Response()
      },
    })
    await using setup = await open(undefined, { tell: (message) => callOnThisMachine(shop.url.href, message) })
    const name = await authorizePayment(setup.checkout)
    await setup.checkout.capture(name)
    setup.server.settle()
    await arrived.promise
    const result = await Promise.all(received.map((message) => setup.checkout.readMessage(message)))
    expect(result.map(({ payment }) => payment?.reference)).toEqual([name.reference, name.reference])
    expect(new Set(result.map(({ id }) => id)).size).toBe(2)
  })
})

describe('a Checkout.com account', () => {
  test('the probe is a read that changes nothing', async () => {
    await using setup = await open()
    await setup.checkout.probe()
    expect(setup.server.requests.map(({ method, path, query }) => `${method} ${path}?${query}`)).toEqual([
      'GET /payments?reference=probe&limit=1',
    ])
    const otherAccount = createCheckout({ ...setup.account, secretKey: 'sk_sbox_zzzzzzzzzzzzzzzzzzzzzzzzzza' }, setup.port)
    expect(await thrownBy(otherAccount.probe())).toEqual(new ProcessorRefused('credentials'))
    setup.server.fail('GET', { status: 503 }, { status: 429 })
    expect(await thrownBy(setup.checkout.probe())).toMatchObject({ name: 'ProcessorUnavailable', counts: true })
    expect(await thrownBy(setup.checkout.probe())).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })

  test.each([
    [{ secretKey: 'sk_sbox_abc' }, 'TEST'],
    [{ secretKey: 'sk_sbox_abc', apiUrl: 'https://abcd1234.api.checkout.com' }, 'TEST'],
    [{ secretKey: 'sk_abc' }, 'LIVE'],
    [{ secretKey: 'sk_abc', apiUrl: 'https://abcd1234.api.checkout.com' }, 'LIVE'],
    [{ secretKey: 'sk_abc', apiUrl: 'https://abcd1234.api.sandbox.checkout.com' }, 'TEST'],
    [{ secretKey: 'sk_abc', apiUrl: 'http://127.0.0.1:4000' }, 'TEST'],
    [{ secretKey: 'sk_abc', apiUrl: 'https://sandbox.example.com' }, 'TEST'],
    [{ secretKey: 'sk_abc', apiUrl: 'https://notsandbox.example.com' }, 'LIVE'],
  ] as const)('%j is in mode %s', (account, mode) => {
    expect(createCheckout(account, loopbackPort()).mode).toBe(mode)
  })

  test('the account lists its capabilities as data', () => {
    const { supportsAmount: _, supportsCurrency: __, ...data } = createCheckout(checkoutKeys, loopbackPort()).capabilities
    expect(data).toEqual({
      capturesItself: false,
      createRepeatsMs: 0,
      refundRepeatsMs: 82_800_000,
      findable: true,
      refunds: 'any',
      wallets: true,
    })
  })
})
