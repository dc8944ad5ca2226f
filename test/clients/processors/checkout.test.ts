import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createCheckout } from '../../../src/clients/processors/checkout/client.ts'
import { says, saysCurrency } from '../../../src/clients/processors/checkout/states.ts'
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

/** A payment that a token authorized. */
async function authorized(checkout: Processor) {
  const { reference } = await checkout.create(byToken)
  return { paymentId, reference, ...sum }
}

/** One whose money was taken. */
async function captured({ server, checkout }: Awaited<ReturnType<typeof open>>) {
  const name = await authorized(checkout)
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

const isCaptured = (told: unknown): told is ProcessorPayment =>
  typeof told === 'object' && told !== null && 'state' in told && told.state === 'CAPTURED'

describe('amounts', () => {
  const anyCurrency = fc.constantFrom(...currencies)

  test('what is said reaches the processor as the same number of minor units, and what is not is refused before any call', async () => {
    await using given = await open()
    const { server, checkout } = given
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -10, max: 2_000_000_000 }), anyCurrency, async (amount, currency) => {
        const before = server.requests.length
        const asked = { ...byToken, paymentId: `pay_${before}`, amount, currency }
        if (says({ amount, currency })) {
          const { authorized } = await checkout.create(asked)
          expect(authorized).toBe(amount)
          expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({ amount, currency })
        } else {
          expect(await thrownBy(checkout.create(asked))).toEqual(new ProcessorRefused('amount_not_supported'))
          expect(server.requests.length).toBe(before)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('an amount is said exactly when its currency is, it has one to nine digits, and of three decimals the last is 0', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 10_000_000_000 }), anyCurrency, (amount, currency) => {
        const small = amount >= 1 && amount <= 999_999_999
        const whole = decimalsOf(currency) !== 3 || amount % 10 === 0
        return says({ amount, currency }) === (saysCurrency(currency) && small && whole)
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
  ])('%s %p is said: %p', (currency, amount, expected) => {
    expect(says({ amount, currency })).toBe(expected)
  })

  test('a part that cannot be said is not refunded, and nothing is asked', async () => {
    await using given = await open()
    const { server, checkout } = given
    const refund = { paymentId, reference: 'pay_x', refundId, amount: 1_234, currency: 'KWD', whole: false }
    expect(await thrownBy(checkout.refund(refund))).toEqual(new ProcessorRefused('amount_not_supported'))
    expect(await thrownBy(checkout.capture(refund))).toEqual(new ProcessorRefused('amount_not_supported'))
    expect(server.requests).toEqual([])
  })
})

describe('a payment by token', () => {
  test('is authorized, captured when the processor has worked it, and refunded in parts', async () => {
    await using given = await open()
    const { server, checkout } = given
    const created = await checkout.create(byToken)
    expect(created).toEqual({ reference: created.reference, state: 'AUTHORIZED', authorized: amount, captured: 0 })
    expect(created.reference).toStartWith('pay_')
    expect(server.requests.map(({ headers }) => headers.get('cko-idempotency-key'))).toEqual([paymentId])

    const name = { paymentId, ...created, ...sum }
    const asked = await checkout.capture(name)
    expect(asked).toMatchObject({ reference: created.reference, state: 'PROCESSING', authorized: amount, captured: 0 })
    expect(asked.references?.['capture']).toStartWith('act_')
    // Read as it stands there, the payment is merely authorized.
    expect((await checkout.retrieve(name))?.state).toBe('AUTHORIZED')
    expect((await checkout.retrieve(named(name, asked)))?.state).toBe('PROCESSING')
    server.settle()
    expect(await checkout.retrieve(named(name, asked))).toMatchObject({
      state: 'CAPTURED',
      authorized: amount,
      captured: amount,
      refunded: 0,
    })
    expect(await checkout.capture(name)).toMatchObject({ state: 'CAPTURED', captured: amount })

    const refund = { ...name, refundId, amount: 300, whole: false }
    const made = await checkout.refund(refund)
    expect(made).toEqual({ reference: made.reference, state: 'PENDING' })
    const refundName = { ...name, refundId, refundReference: made.reference, amount: 300 }
    expect(await checkout.retrieveRefund(refundName)).toEqual({ reference: made.reference, state: 'PENDING' })
    server.settle()
    expect(await checkout.retrieveRefund({ ...refundName, refundReference: undefined })).toEqual({
      reference: made.reference,
      state: 'SUCCEEDED',
    })
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: amount, refunded: 300 })
    expect(await checkout.retrieveRefund({ ...refundName, refundId: 'ref_other', refundReference: undefined })).toBeUndefined()
  })

  test('that is declined has failed, with the processor’s word for why', async () => {
    await using given = await open()
    const { checkout } = given
    const created = await checkout.create({ ...byToken, token: 'tok_declined' })
    expect(created).toMatchObject({ state: 'FAILED', failureCode: '20051', authorized: 0, captured: 0 })
    expect(await checkout.retrieve({ paymentId, reference: created.reference, ...sum })).toEqual({ ...created, refunded: 0 })
  })

  test('that the bank wants to see waits for the shopper, who is told where to go', async () => {
    await using given = await open()
    const { server, checkout } = given
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

  test('is one payment however often it is asked for', async () => {
    await using given = await open()
    const { server, checkout } = given
    const [first, second] = await Promise.all([checkout.create(byToken), checkout.create(byToken)])
    expect(first).toEqual(second)
    expect(server.payments.size).toBe(1)
  })

  test('whose answer was lost is found by our id, also after its key is forgotten', async () => {
    await using given = await open()
    const { server, checkout } = given
    server.fail('POST /payments', 'lost')
    expect(await thrownBy(checkout.create(byToken))).toBeInstanceOf(ProcessorUnavailable)
    server.forgetKeys()
    const found = await checkout.retrieve({ paymentId, reference: undefined, ...sum })
    expect(found).toMatchObject({ state: 'AUTHORIZED', authorized: amount })
    expect(server.payments.size).toBe(1)
  })

  test('can be given up, and a captured one cannot', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await authorized(checkout)
    const asked = await checkout.void(name)
    expect(asked).toMatchObject({ state: 'PROCESSING', captured: 0 })
    expect((await checkout.retrieve(named(name, asked)))?.state).toBe('PROCESSING')
    server.settle()
    expect((await checkout.retrieve(named(name, asked)))?.state).toBe('VOIDED')
    expect((await checkout.void(name)).state).toBe('VOIDED')
    await using other = await open()
    expect(await other.checkout.void(await captured(other))).toMatchObject({ state: 'CAPTURED', captured: amount })
  })

  test('captured and voided at once is told as it came out', async () => {
    await using given = await open(undefined, { settlesAtOnce: true })
    const { checkout } = given
    const name = await authorized(checkout)
    expect(await checkout.capture(name)).toMatchObject({ state: 'CAPTURED', captured: amount })
    expect(await checkout.void(name)).toMatchObject({ state: 'CAPTURED' })
  })

  test('whose capture is declined afterwards has failed, and what was held is given back', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await authorized(checkout)
    server.decline('Capture')
    const asked = await checkout.capture(name)
    expect(asked.state).toBe('PROCESSING')
    server.settle()
    const failed = { state: 'FAILED', failureCode: '20068', captured: 0 } as const
    // A failure to give it back fails nothing.
    server.fail('/voids', { status: 500 })
    expect(await checkout.retrieve(named(name, asked))).toMatchObject(failed)
    expect(await checkout.capture(name)).toMatchObject(failed)
    server.settle()
    expect((await checkout.retrieve(named(name, asked)))?.state).toBe('VOIDED')
  })

  test('whose capture is declined at once has failed at once', async () => {
    await using given = await open(undefined, { settlesAtOnce: true })
    const { server, checkout } = given
    server.decline('Capture')
    const name = await authorized(checkout)
    expect(await checkout.capture(name)).toMatchObject({ state: 'FAILED', failureCode: '20068', captured: 0 })
    expect(server.payments.get(name.reference)?.status).toBe('Voided')
  })

  test('whose void is declined afterwards is authorized still', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await authorized(checkout)
    server.decline('Void')
    const asked = await checkout.void(name)
    server.settle()
    expect((await checkout.retrieve(named(name, asked)))?.state).toBe('AUTHORIZED')
  })

  test('that it never heard of is undefined, and cannot be taken, given up or paid back', async () => {
    await using given = await open()
    const { checkout } = given
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

describe('wallets', () => {
  const google = { protocolVersion: 'ECv2', signature: 'MEUCIQ', intermediateSigningKey: {}, signedMessage: '{"tag":"…"}' }
  const apple = { version: 'EC_v1', data: 't7Ge', signature: 'MIAG', header: { publicKeyHash: 'tq', transactionId: '93' } }

  test.each([google, apple])('what %p gives the page becomes a token by the publishable key, and then a payment', async (given) => {
    await using opened = await open()
    const { server, checkout } = opened
    expect(await checkout.create({ ...byToken, method: 'wallet', token: JSON.stringify(given) })).toMatchObject({ state: 'AUTHORIZED' })
    const [exchange, payment] = server.requests
    expect(exchange?.headers.get('authorization')).toBe(checkoutKeys.publishableKey)
    expect(JSON.parse(exchange?.body ?? '')).toEqual({ type: given === google ? 'googlepay' : 'applepay', token_data: given })
    expect(JSON.parse(payment?.body ?? '').source).toEqual({ type: 'token', token: expect.stringMatching(/^tok_/) })
  })

  test('are refused before any call without a publishable key', async () => {
    await using opened = await open()
    const { server, account, port } = opened
    const checkout = createCheckout({ ...account, publishableKey: undefined }, port)
    const error = await thrownBy(checkout.create({ ...byToken, token: JSON.stringify(apple) }))
    expect(error).toEqual(new ProcessorRefused('wallet_tokens_need_publishable_key'))
    expect(server.requests).toEqual([])
  })
})

describe('a session that the page pays', () => {
  test('gives the page the whole answer, waits, and is the payment that was made with it', async () => {
    await using given = await open()
    const { server, checkout } = given
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
    // There is nothing to give up yet, and nobody can forbid it to be paid.
    expect((await checkout.void(name)).state).toBe('PENDING')
    expect(await thrownBy(checkout.capture(name))).toEqual(new ProcessorRefused('not_found'))

    const { id } = server.pay(created.reference)
    const paid = await checkout.retrieve(name)
    expect(paid).toMatchObject({ reference: created.reference, references: { payment: id }, state: 'AUTHORIZED', authorized: amount })
    const asked = await checkout.capture(name)
    expect(asked.references).toEqual({ payment: id, capture: expect.any(String) })
    server.settle()
    expect(await checkout.retrieve(named(name, asked))).toMatchObject({ state: 'CAPTURED', captured: amount, references: asked.references })
    await checkout.refund({ ...name, refundId, whole: true })
    server.settle()
    expect(await checkout.retrieveRefund({ ...name, refundId, refundReference: undefined })).toMatchObject({ state: 'SUCCEEDED' })
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: amount, refunded: amount })
  })

  test('counts the card that was good, however many were not before it', async () => {
    await using given = await open()
    const { server, checkout } = given
    const { reference } = await checkout.create(newPayment)
    const name = { paymentId, reference, ...sum }
    for (let tries = 0; tries < 130; tries++) server.pay(reference, 'declined')
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'FAILED', failureCode: '20051' })
    const { id } = server.pay(reference)
    expect(await checkout.retrieve(name)).toMatchObject({ state: 'AUTHORIZED', references: { payment: id } })
  })

  test('that is paid twice keeps one authorization and gives the other back', async () => {
    await using given = await open()
    const { server, checkout } = given
    const { reference } = await checkout.create(newPayment)
    const [first, second] = [server.pay(reference), server.pay(reference)]
    const name = { paymentId, reference, ...sum }
    // A failure to give it back fails nothing: the next look does it.
    server.fail('/voids', { status: 500 })
    expect((await checkout.retrieve(name))?.references).toEqual({ payment: first.id })
    server.settle()
    expect(second.status).toBe('Authorized')
    expect((await checkout.retrieve(name))?.references).toEqual({ payment: first.id })
    server.settle()
    expect([first.status, second.status]).toEqual(['Authorized', 'Voided'])
    expect((await checkout.retrieve(name))?.references).toEqual({ payment: first.id })
  })

  test('keeps to the card that we know of', async () => {
    await using given = await open()
    const { server, checkout } = given
    const { reference } = await checkout.create(newPayment)
    const [first, second] = [server.pay(reference), server.pay(reference)]
    const name = { paymentId, reference, references: { payment: second.id }, ...sum }
    expect((await checkout.retrieve(name))?.references).toEqual({ payment: second.id })
    server.settle()
    expect([first.status, second.status]).toEqual(['Voided', 'Authorized'])
  })

  test('is given up with the card that was good, also where we know only of one that was not', async () => {
    await using given = await open()
    const { server, checkout } = given
    const { reference } = await checkout.create(newPayment)
    const name = { paymentId, reference, ...sum }
    server.pay(reference, 'declined')
    const failed = await checkout.retrieve(name)
    const good = server.pay(reference)
    await checkout.void({ ...name, references: failed?.references ?? {} })
    server.settle()
    expect(good.status).toBe('Voided')
  })

  test('whose answer was lost is nobody’s: another one is made', async () => {
    await using given = await open()
    const { server, checkout } = given
    server.fail('POST /payment-sessions', 'lost')
    expect(await thrownBy(checkout.create(newPayment))).toBeInstanceOf(ProcessorUnavailable)
    expect(await checkout.retrieve({ paymentId, reference: undefined, ...sum })).toBeUndefined()
    expect((await checkout.create(newPayment)).state).toBe('PENDING')
  })

  test('without a country is refused by the processor', async () => {
    await using given = await open()
    const { shopper: _, ...without } = newPayment
    expect(await thrownBy(given.checkout.create(without))).toEqual(new ProcessorRefused('billing_required'))
  })
})

describe('a refund', () => {
  test('is one refund however often it is asked for: within a day, after it, and when its answer was a failure', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await captured(given)
    const refund = { ...name, refundId, amount: 400, whole: false }
    // Only a 2xx is kept: the very same request would be worked again.
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

  test('that the bank declines afterwards has failed', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await captured(given)
    server.decline('Refund')
    const made = await checkout.refund({ ...name, refundId, whole: true })
    server.settle()
    const told = await checkout.retrieveRefund({ ...name, refundId, refundReference: made.reference })
    expect(told).toEqual({ reference: made.reference, state: 'FAILED', failureCode: '20068' })
  })

  test('is refused of a payment that was not captured, of one that was paid back, and of more than is left', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await authorized(checkout)
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

  test('that is not allowed although there is enough left says nothing', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await captured(given)
    server.fail('/refunds', { status: 403 })
    expect(await thrownBy(checkout.refund({ ...name, refundId, whole: true }))).toMatchObject({
      name: 'ProcessorUnavailable',
      counts: false,
    })
  })

  test('of another amount than was asked for is not told as ours', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await captured(given)
    await checkout.refund({ ...name, refundId, amount: 400, whole: false })
    server.settle()
    const error = await thrownBy(checkout.retrieveRefund({ ...name, refundId, refundReference: undefined, amount: 500 }))
    expect(error).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })
})

describe('failures', () => {
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

  async function met(route: string, ...faults: Parameters<Awaited<ReturnType<typeof open>>['server']['fail']>[1][]) {
    await using given = await open()
    const name = route === '/captures' || route === '/voids' ? await authorized(given.checkout) : await captured(given)
    given.server.fail(route, ...faults)
    return await thrownBy(verbs[route]?.(given.checkout, name) ?? Promise.resolve())
  }

  test.each(routes)('of the network and of the processor itself leave %s unknown, and count', async (route) => {
    for (const fault of ['lost', 'half', { status: 500 }, { status: 502, json: '<html>' }] as const)
      expect(await met(route, fault)).toMatchObject({ name: 'ProcessorUnavailable', counts: true, neverSent: false })
    for (const fault of ['garbage', { status: 200, json: '{"id": "cut o' }, { status: 302, headers: { location: '/' } }] as const)
      expect(await met(route, fault)).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
  })

  test('an answer that does not come in time leaves the payment unknown, and counts', async () => {
    await using given = await open(100)
    given.server.fail('POST /payments', 'late')
    expect(await thrownBy(given.checkout.create(byToken))).toMatchObject({ name: 'ProcessorUnavailable', counts: true, neverSent: false })
  })

  test.each(routes)('401, 409 and 429 say nothing of %s, and open nobody’s breaker', async (route) => {
    expect(await met(route, { status: 401 })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: true })
    expect(await met(route, { status: 409 })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: false })
    expect(await met(route, { status: 418 })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: false })
    // With a key, it may be that an earlier request is being worked on.
    const keyed = route === 'POST /payments' || ['/captures', '/voids', '/refunds'].includes(route)
    const reply = { status: 429, json: { error_type: 'duplicate_request' } }
    expect(await met(route, reply)).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: !keyed })
  })

  test.each(routes)('422 refuses %s with the first error code, and keeps no more of it than a word', async (route) => {
    const body = { request_id: 'x', error_type: 'request_invalid', error_codes: ['token_expired'] }
    expect(await met(route, { status: 422, json: body })).toEqual(new ProcessorRefused('token_expired'))
    expect(await met(route, { status: 422, json: { ...body, error_codes: [] } })).toEqual(new ProcessorRefused('request_invalid'))
    expect(await met(route, { status: 422, json: '<b>no</b>' })).toEqual(new ProcessorRefused('refused'))
    const talkative = { error_codes: ['card 4242 4242 4242 4242 is bad'] }
    expect(await met(route, { status: 422, json: talkative })).toEqual(new ProcessorRefused('refused'))
  })

  test('403 on a capture or a void is read again, and says nothing where the state would allow it', async () => {
    for (const route of ['/captures', '/voids'])
      expect(await met(route, { status: 403 })).toMatchObject({ name: 'ProcessorUnavailable', counts: false, neverSent: false })
    await using given = await open()
    const name = await authorized(given.checkout)
    await given.checkout.void(name)
    given.server.settle()
    expect(await given.checkout.capture(name)).toMatchObject({ state: 'VOIDED' })
  })

  test.each(['lost', 'half', 'garbage'] as const)(
    'a capture whose answer was %s is asked for once, and its answer comes when it is asked for again',
    async (fault) => {
      await using given = await open()
      const { server, checkout } = given
      const name = await authorized(checkout)
      server.fail('/captures', fault)
      expect(await thrownBy(checkout.capture(name))).toBeInstanceOf(ProcessorUnavailable)
      expect((await checkout.capture(name)).state).toBe('PROCESSING')
      server.settle()
      expect((await checkout.retrieve(name))?.captured).toBe(amount)
    },
  )

  test('an answer to a create that is about another payment of ours is none', async () => {
    await using given = await open()
    given.server.fail('POST', { status: 201, json: { id: 'pay_1', status: 'Authorized', reference: 'pay_other' } })
    expect(await thrownBy(given.checkout.create(byToken))).toBeInstanceOf(ProcessorUnavailable)
  })

  test('a look that fails after a capture was accepted takes nothing back', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await authorized(checkout)
    server.fail('GET', { status: 500 })
    expect(await checkout.capture(name)).toMatchObject({ state: 'PROCESSING' })
    server.settle()
    expect(await checkout.capture(name)).toMatchObject({ state: 'CAPTURED' })
  })

  test('nor does one that fails after a void was', async () => {
    await using given = await open()
    const { server, checkout } = given
    const name = await authorized(checkout)
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
  ])('an answer %j (%s) says nothing of the payment', async (json) => {
    await using given = await open()
    given.server.fail('GET /payments/', { status: 200, json })
    const error = await thrownBy(given.checkout.retrieve({ paymentId, reference: 'pay_1', ...sum }))
    expect(error).toBeInstanceOf(ProcessorUnavailable)
  })

  test('a list that makes no sense is not an empty one', async () => {
    await using given = await open()
    const name = { paymentId, reference: undefined, ...sum }
    for (const json of [{}, [], { total_count: 1, data: [] }, { total_count: -1, data: [] }, { total_count: 1 }]) {
      given.server.fail('GET /payments', { status: 200, json })
      expect(await thrownBy(given.checkout.retrieve(name))).toBeInstanceOf(ProcessorUnavailable)
    }
    const somebodyElses = { id: 'pay_1', status: 'Captured', amount, currency, reference: 'pay_of_somebody_else' }
    given.server.fail('GET /payments', { status: 200, json: { total_count: 1, data: [somebodyElses] } }, { status: 404 })
    expect(await given.checkout.retrieve(name)).toBeUndefined()
    expect(await given.checkout.retrieve(name)).toBeUndefined()
  })

  test('whatever is answered to whatever is asked, it is a payment, a refusal or nothing said; and money is only what was asked for', async () => {
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
      fc.asyncProperty(fc.array(reply, { minLength: 4, maxLength: 4 }), fc.constantFrom(...calls), async (given, call) => {
        replies = given
        const told = await call().catch((error: unknown) => error)
        if (told instanceof Error) expect(['ProcessorUnavailable', 'ProcessorRefused']).toContain(told.name)
        else if (isCaptured(told)) expect(told.captured).toBeGreaterThanOrEqual(amount)
      }),
      { numRuns: 500 },
    )
  })

  test('less than was asked for is never captured, whatever the status says', async () => {
    await using given = await open()
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
      given.server.fail('GET /payments/', { status: 200, json: { id: 'pay_1', status, amount, currency, balances } })
      expect((await given.checkout.retrieve({ paymentId, reference: 'pay_1', ...sum }))?.state).toBe(state)
    }
  })

  test('an address to go to that is no web address is not passed on', async () => {
    await using given = await open()
    const json = { id: 'pay_1', status: 'Pending', _links: { redirect: { href: 'javascript:alert(1)' } } }
    given.server.fail('GET /payments/', { status: 200, json })
    const told = await given.checkout.retrieve({ paymentId, reference: 'pay_1', ...sum })
    expect(told).toEqual({ reference: 'pay_1', state: 'PENDING', authorized: 0, captured: 0 })
  })

  test('hold no secrets', async () => {
    const { secretKey, publishableKey, webhookSecret } = checkoutKeys
    for (const fault of ['lost', 'garbage', { status: 401 }, { status: 429 }, { status: 422 }] as const) {
      const error = (await met('POST /payments', fault)) as Error
      const shown = `${Bun.inspect(error)} ${Bun.inspect(error.cause)}`
      for (const secret of [secretKey, publishableKey, webhookSecret, 'tok_good']) expect(shown).not.toContain(secret)
    }
  })
})

describe('messages', () => {
  const body = JSON.stringify({ id: 'evt_1', type: 'payment_captured', data: { id: 'pay_a1', reference: paymentId } })
  const about = { paymentId, reference: 'pay_a1', references: { payment: 'pay_a1' } }

  test('are about a payment, and have the id that the processor gave them', async () => {
    await using given = await open()
    expect(await given.checkout.readMessage(checkoutMessage(body))).toEqual({ id: 'evt_1', payment: about })
    expect(given.server.requests).toEqual([])
  })

  test.each(['', 'zz', `${'0'.repeat(64)}`, undefined])('with the signature %p do not come from the processor', async (signature) => {
    await using given = await open()
    const headers = new Headers(signature === undefined ? {} : { 'cko-signature': signature })
    expect(await thrownBy(given.checkout.readMessage({ body: Buffer.from(body), headers }))).toBeInstanceOf(BadSignature)
  })

  test('of which one byte is another, or that another account signed, do not come from the processor', async () => {
    await using given = await open()
    const { headers } = checkoutMessage(body)
    const changed = { body: Buffer.from(body.replace('captured', 'captureD')), headers }
    expect(await thrownBy(given.checkout.readMessage(changed))).toBeInstanceOf(BadSignature)
    expect(await thrownBy(given.checkout.readMessage(checkoutMessage(body, 'another key')))).toBeInstanceOf(BadSignature)
  })

  test.each(['', ' ', undefined])('are never taken under the secret %p', async (webhookSecret) => {
    await using given = await open()
    const checkout = createCheckout({ ...given.account, webhookSecret }, given.port)
    expect(await thrownBy(checkout.readMessage(checkoutMessage(body, webhookSecret ?? '')))).toBeInstanceOf(BadSignature)
  })

  test('that are no JSON or about nothing are about no payment, and have an id all the same', async () => {
    await using given = await open()
    for (const text of ['<xml>', '', '[]', 'null', '{"type":"payment_approved"}', '{"type":"card_verified","data":{"id":"../x"}}']) {
      const first = await given.checkout.readMessage(checkoutMessage(text))
      expect(first).toEqual({ id: expect.stringMatching(/^[0-9a-f]{64}$/), payment: undefined })
      expect(await given.checkout.readMessage(checkoutMessage(text))).toEqual(first)
    }
  })

  test('that do not tell our id have it asked for', async () => {
    await using given = await open()
    const { reference } = await given.checkout.create(byToken)
    const text = JSON.stringify({ id: 'evt_2', type: 'payment_captured', data: { id: reference } })
    const { payment } = await given.checkout.readMessage(checkoutMessage(text))
    expect(payment).toEqual({ paymentId, reference, references: { payment: reference } })
    given.server.fail('GET', { status: 401 }, { status: 500 })
    for (let tries = 0; tries < 2; tries++)
      expect(await thrownBy(given.checkout.readMessage(checkoutMessage(text)))).toBeInstanceOf(ProcessorUnavailable)
    const unknown = JSON.stringify({ id: 'evt_3', type: 'payment_captured', data: { id: 'pay_unknown' } })
    expect((await given.checkout.readMessage(checkoutMessage(unknown))).payment?.paymentId).toBeUndefined()
  })

  test('that come twice and in the wrong order are the same messages about the same payment', async () => {
    await using given = await open()
    const name = await captured(given)
    const payment = given.server.payments.get(name.reference)
    if (!payment) throw new Error('no payment')
    const messages = ['payment_approved', 'payment_captured'].map((type) => given.server.message(type, payment))
    await using shop = messagesTo(given.checkout)
    expect(await deliver(shop.url, messages, { times: 2, reversed: true })).toEqual([200, 200, 200, 200])
    expect(new Set(shop.received.map(({ id }) => id)).size).toBe(2)
    expect(shop.received.map(({ payment }) => payment?.paymentId)).toEqual([paymentId, paymentId, paymentId, paymentId])
    expect(await deliver(shop.url, [checkoutMessage('{}', 'another key')])).toEqual([401])
  })

  test('of disputes tell the payment, the money and how it stands', async () => {
    await using given = await open()
    const { reference } = await given.checkout.create(byToken)
    for (const [type, state] of [
      ['dispute_received', 'OPEN'],
      ['dispute_won', 'WON'],
      ['dispute_lost', 'LOST'],
    ] as const) {
      const data = { id: 'dsp_1', payment_id: reference, amount: 20, currency: 'USD' }
      const told = await given.checkout.readMessage(checkoutMessage(JSON.stringify({ id: 'evt_4', type, data })))
      expect(told.payment).toMatchObject({ paymentId, reference })
      expect(told.dispute).toEqual({ reference: 'dsp_1', amount: 20, currency: 'USD', state })
    }
  })

  test('arrive at the shop as the processor sends them', async () => {
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
    await using given = await open(undefined, { tell: (message) => callOnThisMachine(shop.url.href, message) })
    const name = await authorized(given.checkout)
    await given.checkout.capture(name)
    given.server.settle()
    await arrived.promise
    const told = await Promise.all(received.map((message) => given.checkout.readMessage(message)))
    expect(told.map(({ payment }) => payment?.reference)).toEqual([name.reference, name.reference])
    expect(new Set(told.map(({ id }) => id)).size).toBe(2)
  })
})

describe('an account', () => {
  test('is probed by a read that changes nothing', async () => {
    await using given = await open()
    await given.checkout.probe()
    expect(given.server.requests.map(({ method, path, query }) => `${method} ${path}?${query}`)).toEqual([
      'GET /payments?reference=probe&limit=1',
    ])
    const stranger = createCheckout({ ...given.account, secretKey: 'sk_sbox_zzzzzzzzzzzzzzzzzzzzzzzzzza' }, given.port)
    expect(await thrownBy(stranger.probe())).toEqual(new ProcessorRefused('credentials'))
    given.server.fail('GET', { status: 503 }, { status: 429 })
    expect(await thrownBy(given.checkout.probe())).toMatchObject({ name: 'ProcessorUnavailable', counts: true })
    expect(await thrownBy(given.checkout.probe())).toMatchObject({ name: 'ProcessorUnavailable', counts: false })
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

  test('has its capabilities as data', () => {
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
