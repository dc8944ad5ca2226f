/** Tests the Stripe client over HTTP against a stand-in (stripe-server.ts). */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import type { NewPayment } from '../../../src/clients/processors/processor.ts'
import { BadSignature, ProcessorRefused, ProcessorUnavailable } from '../../../src/clients/processors/processor.ts'
import { minorUnits, stripeSupports, stripeUnits } from '../../../src/clients/processors/stripe/amounts.ts'
import { createStripe, type StripeAccount } from '../../../src/clients/processors/stripe/client.ts'
import { createNewId, encodeSuffix, idBoundary, timeOfId } from '../../../src/lib/ids.ts'
import { currencies, decimalsOf } from '../../../src/lib/money.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { deliver, loopbackPort, messagesTo, thrownBy } from './stand-in.ts'
import { type StripeServer, signature, startStripe, thousandthsOf } from './stripe-server.ts'

setDefaultTimeout(longTestMs)

const secretKey = 'sk_test_standin'
const webhookSecret = 'whsec_standin'
const newId = createNewId(() => Buffer.from(Bun.randomUUIDv7('buffer')))

let server: StripeServer
beforeAll(async () => {
  server = await startStripe({ secretKey, webhookSecret })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
  server.events.length = 0
})

const client = (account: Partial<StripeAccount> = {}, port = loopbackPort()) =>
  createStripe({ publishableKey: 'pk_test_standin', secretKey, webhookSecret, apiUrl: server.url, ...account }, port)
const stripe = () => client()

const usd10 = { amount: 1000, currency: 'USD' }
const newPayment = (more: Partial<NewPayment> = {}): NewPayment => ({
  paymentId: newId('payment'),
  ...usd10,
  method: 'card',
  token: undefined,
  returnUrl: undefined,
  ...more,
})
const back = 'https://shop.example/back'

async function createAuthorized(more: Partial<NewPayment> = {}) {
  const payment = newPayment({ token: 'pm_card_visa', returnUrl: back, ...more })
  const { reference, state } = await stripe().create(payment)
  expect(state).toBe('AUTHORIZED')
  return { ...payment, reference }
}
async function createCaptured(more: Partial<NewPayment> = {}) {
  const payment = await createAuthorized(more)
  expect(await stripe().capture(payment)).toMatchObject({ state: 'CAPTURED', captured: payment.amount })
  return payment
}
const calls = () => server.requests.map(({ method, path }) => `${method} ${path}`)
const refused = async (promise: Promise<unknown>): Promise<string> => {
  const error = await thrownBy(promise)
  if (!(error instanceof ProcessorRefused)) throw error
  return error.code
}
const unavailable = async (promise: Promise<unknown>) => {
  const error = await thrownBy(promise)
  if (!(error instanceof ProcessorUnavailable)) throw error
  expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(secretKey)
  return { neverSent: error.neverSent, counts: error.counts }
}
const mayHaveHappened = { neverSent: false, counts: true }
const unknownAnswer = { neverSent: false, counts: false }

describe('amounts at Stripe', () => {
  test('sends amounts in the units of Stripe, and refuses those that it cannot represent', () => {
    const table: [number, string, number | undefined][] = [
      [1000, 'USD', 1000],
      [500, 'JPY', 500],
      [500, 'ISK', 50_000],
      [500, 'UGX', 50_000],
      [50_000, 'MGA', 500],
      [50_050, 'MGA', undefined],
      [10_500, 'KWD', 10_500],
      [1_234, 'KWD', undefined],
      [1_000_000, 'MNT', 1_000_000],
      [50_050, 'HUF', 50_050],
      [99_999_999, 'USD', 99_999_999],
      [100_000_000, 'USD', undefined],
      [999_999, 'ISK', 99_999_900],
      [1_000_000, 'ISK', undefined],
      [0, 'USD', undefined],
      [-1, 'USD', undefined],
      [1.5, 'USD', undefined],
      [1000, 'IQD', undefined],
      [1000, 'CLF', undefined],
      [1000, 'UYI', undefined],
      [1000, 'XXX', undefined],
      [1000, 'usd', undefined],
    ]
    for (const [amount, currency, units] of table)
      expect([currency, amount, stripeUnits({ amount, currency })]).toEqual([currency, amount, units])
  })

  test('an amount in the units of Stripe has the same value and converts back, in every currency', () => {
    const anyAmount = fc.record({ amount: fc.oneof(fc.nat(200_000_000), fc.nat(3000)), currency: fc.constantFrom(...currencies) })
    fc.assert(
      fc.property(anyAmount, ({ amount, currency }) => {
        const units = stripeUnits({ amount, currency })
        expect(stripeSupports({ amount, currency })).toBe(units !== undefined)
        if (units === undefined) return
        expect(BigInt(thousandthsOf(units, currency.toLowerCase())) * 10n ** BigInt(decimalsOf(currency))).toBe(BigInt(amount) * 1000n)
        expect(minorUnits(units, currency)).toBe(amount)
      }),
    )
  })

  test('unsupported amounts are refused before any request', async () => {
    const payment = await createCaptured()
    server.requests.length = 0
    expect(await refused(stripe().create(newPayment({ amount: 1234, currency: 'KWD' })))).toBe('amount_not_supported')
    expect(await refused(stripe().capture({ ...payment, amount: 1234, currency: 'KWD' }))).toBe('amount_not_supported')
    expect(await refused(stripe().refund({ ...payment, refundId: 'ref_1', amount: 0, whole: false }))).toBe('amount_not_supported')
    expect(calls()).toEqual([])
  })

  test('currencies with special units are authorized, captured and refunded in full', async () => {
    for (const [amount, currency] of [
      [500, 'ISK'],
      [50_000, 'MGA'],
      [10_500, 'KWD'],
      [500, 'JPY'],
    ] as const) {
      const payment = await createCaptured({ amount, currency })
      const refund = { ...payment, refundId: newId('refund'), whole: true }
      expect(await stripe().refund(refund)).toMatchObject({ state: 'SUCCEEDED' })
      expect(await stripe().retrieve(payment)).toMatchObject({ captured: amount, refunded: amount })
    }
  })
})

describe('a payment at Stripe', () => {
  test('a payment without a token goes to the page, which cannot capture it, and can be captured and refunded', async () => {
    const payment = newPayment()
    const created = await stripe().create(payment)
    expect(created).toEqual({
      reference: created.reference,
      state: 'REQUIRES_ACTION',
      authorized: 0,
      captured: 0,
      clientParameters: { clientSecret: `${created.reference}_secret_standin`, publishableKey: 'pk_test_standin' },
    })
    const named = { ...payment, reference: created.reference }
    server.page.pay(created.reference)
    expect(await stripe().retrieve(named)).toMatchObject({ state: 'AUTHORIZED', authorized: 1000, captured: 0, refunded: 0 })
    expect(await stripe().capture(named)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    expect(await stripe().refund({ ...named, refundId: newId('refund'), amount: 300, whole: false })).toMatchObject({ state: 'SUCCEEDED' })
    server.refundElsewhere(created.reference, 200)
    expect(await stripe().retrieve(named)).toMatchObject({ state: 'CAPTURED', captured: 1000, refunded: 500 })
  })

  test('a payment with a token is authorized at once: payment method, confirmation token or wallet', async () => {
    for (const token of ['pm_card_visa', 'ctoken_applepay', 'tok_googlepay']) await createAuthorized({ token })
    expect(calls()).toEqual([
      'POST /v1/payment_intents',
      'POST /v1/payment_intents',
      'POST /v1/payment_methods',
      'POST /v1/payment_intents',
    ])
  })

  test('without a return URL, no redirect methods are offered', async () => {
    await createAuthorized({ returnUrl: undefined })
    expect(server.requests[0]?.body).toContain('never')
  })

  test('a payment that needs the shopper returns a URL, and is authorized afterwards', async () => {
    const payment = newPayment({ token: 'pm_card_authenticationRequired', returnUrl: back })
    const created = await stripe().create(payment)
    expect(created).toMatchObject({ state: 'REQUIRES_ACTION', clientParameters: { redirectUrl: `${server.url}/3ds/${created.reference}` } })
    const page = await fetch(created.clientParameters?.['redirectUrl'] as string, { method: 'POST', redirect: 'manual' })
    expect([page.status, page.headers.get('location')]).toEqual([303, `${back}?payment_intent=${created.reference}`])
    expect(await stripe().retrieve({ ...payment, reference: created.reference })).toMatchObject({ state: 'AUTHORIZED' })
  })

  test('a declined payment is FAILED with the code of the issuer, and has a reference', async () => {
    const payment = newPayment({ token: 'pm_card_chargeDeclined', returnUrl: back })
    const created = await stripe().create(payment)
    expect(created).toMatchObject({ state: 'FAILED', failureCode: 'insufficient_funds', authorized: 0, captured: 0 })
    const page = await stripe().create(newPayment())
    server.page.pay(page.reference, 'pm_card_chargeDeclined')
    expect(
      await stripe()
        .retrieve({ ...payment, paymentId: 'pay_other', reference: created.reference })
        .catch(String),
    ).toContain('another payment')
    expect(await stripe().retrieve({ ...payment, reference: created.reference })).toMatchObject({
      state: 'FAILED',
      failureCode: 'insufficient_funds',
    })
  })

  test('a payment with an invalid token, or declined before it exists, is refused', async () => {
    expect(await refused(stripe().create(newPayment({ token: 'pm_unknown', returnUrl: back })))).toBe('resource_missing')
    expect(await refused(stripe().create(newPayment({ token: 'tok_expired', returnUrl: back })))).toBe('expired_card')
    server.requests.length = 0
    for (const token of ['', 'pm_1&amount=1', 'pm card', 'x'.repeat(300)])
      expect(await refused(stripe().create(newPayment({ token, returnUrl: back })))).toBe('token_invalid')
    expect(calls()).toEqual([])
  })

  test('a payment that Stripe is working on is PROCESSING', async () => {
    expect(await stripe().create(newPayment({ token: 'ctoken_processing', returnUrl: back }))).toMatchObject({
      state: 'PROCESSING',
      captured: 0,
    })
  })

  test('a payment is voided before and after authorization, and a captured one says so', async () => {
    const pendingPayment = newPayment()
    const { reference } = await stripe().create(pendingPayment)
    for (let times = 0; times < 2; times++)
      expect(await stripe().void({ ...pendingPayment, reference })).toMatchObject({
        state: 'VOIDED',
        failureCode: 'abandoned',
        authorized: 0,
      })
    expect(await stripe().void(await createAuthorized())).toMatchObject({ state: 'VOIDED' })
    expect(await stripe().void(await createCaptured())).toMatchObject({ state: 'CAPTURED', captured: 1000 })
  })

  test('repeated captures capture once, and an impossible capture returns the current state', async () => {
    const payment = await createCaptured()
    expect(await stripe().capture(payment)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    const pendingPayment = newPayment()
    const { reference } = await stripe().create(pendingPayment)
    const named = { ...pendingPayment, reference }
    expect(await stripe().capture(named)).toMatchObject({ state: 'REQUIRES_ACTION', captured: 0 })
    server.page.pay(reference)
    expect(await stripe().capture(named)).toMatchObject({ state: 'CAPTURED' })
    const lapsed = await createAuthorized()
    server.lapse(lapsed.reference)
    expect(await stripe().capture(lapsed)).toMatchObject({ state: 'VOIDED', failureCode: 'automatic' })
  })

  test('a payment whose capture is declined is FAILED', async () => {
    const payment = await createAuthorized()
    server.fail('/capture', { status: 402, json: { error: { type: 'card_error', code: 'expired_card', message: 'no' } } })
    expect(await stripe().capture(payment)).toMatchObject({ state: 'FAILED', failureCode: 'expired_card', captured: 0 })
  })

  test('a payment captured with another amount is PROCESSING and reports the amount', async () => {
    const payment = await createAuthorized()
    server.captureElsewhere(payment.reference, 400)
    const differingAmount = { state: 'PROCESSING', captured: 400, failureCode: 'amount_differs' } as const
    expect(await stripe().retrieve(payment)).toMatchObject(differingAmount)
    expect(await stripe().capture(payment)).toMatchObject(differingAmount)
    expect(await stripe().void(payment)).toMatchObject(differingAmount)
  })

  test('a response with another currency or amount is unavailable', async () => {
    const payment = await createAuthorized()
    expect(await unavailable(stripe().retrieve({ ...payment, currency: 'EUR' }))).toEqual(unknownAnswer)
    const changed = (changes: object) => (result: { status: number; json?: unknown }) => ({
      ...result,
      json: { ...(result.json as object), ...changes },
    })
    for (const changes of [{ amount: 999 }, { amount: '1000' }, { currency: 'eur' }, { metadata: { payment_id: 'pay_other' } }]) {
      server.fail('POST /v1/payment_intents', changed(changes))
      expect(await unavailable(stripe().create(newPayment({ token: 'pm_card_visa', returnUrl: back })))).toEqual(unknownAnswer)
    }
  })

  test('an unknown payment is undefined by either id', async () => {
    expect(await stripe().retrieve({ ...newPayment(), reference: 'pi_unknown' })).toBeUndefined()
    expect(await stripe().retrieve({ ...newPayment(), reference: undefined })).toBeUndefined()
    for (const verb of ['capture', 'void'] as const) {
      expect(await refused(stripe()[verb]({ ...newPayment(), reference: 'pi_unknown' }))).toBe('resource_missing')
      expect(await refused(stripe()[verb]({ ...newPayment(), reference: undefined }))).toBe('resource_missing')
    }
  })

  test('a payment is found by our id among several pages of payments since it was created', async () => {
    const first = newPayment()
    const { reference } = await stripe().create(first)
    for (let others = 0; others < 130; others++) await stripe().create(newPayment())
    server.requests.length = 0
    const unnamed = { ...first, reference: undefined }
    expect(await stripe().retrieve(unnamed)).toMatchObject({ reference, state: 'REQUIRES_ACTION' })
    expect(calls()).toEqual(['GET /v1/payment_intents', 'GET /v1/payment_intents'])
    const since = Number(server.requests[0]?.query.get('created[gte]')) * 1000
    expect(since).toBeLessThan(timeOfId(first.paymentId) ?? 0)
    expect(await stripe().void(unnamed)).toMatchObject({ reference, state: 'VOIDED' })
    const foreign = await stripe().create(newPayment({ paymentId: 'order-7' }))
    expect(await stripe().retrieve({ ...newPayment({ paymentId: 'order-7' }), reference: undefined })).toMatchObject({
      reference: foreign.reference,
    })
  })
})

describe('repeating a create at Stripe', () => {
  test('a repeated create returns the same payment in its current state', async () => {
    const payment = newPayment()
    const { reference } = await stripe().create(payment)
    server.page.pay(reference)
    expect(await stripe().create(payment)).toMatchObject({ reference, state: 'AUTHORIZED' })
    const declined = newPayment({ token: 'pm_card_chargeDeclined', returnUrl: back })
    const first = await stripe().create(declined)
    expect(await stripe().create(declined)).toMatchObject({ reference: first.reference, state: 'FAILED' })
  })

  test('a create during the first one is unavailable and does not count for the breaker', async () => {
    const payment = newPayment()
    const { held, release } = server.hold()
    const first = stripe().create(payment)
    await held
    expect(await unavailable(stripe().create(payment))).toEqual({ neverSent: false, counts: false })
    release()
    const { reference } = await first
    expect(await stripe().create(payment)).toMatchObject({ reference })
  })

  test('a create after a lost response returns the payment that was made', async () => {
    for (const fault of ['lost', 'half', 'garbage'] as const) {
      const payment = newPayment({ token: 'pm_card_visa', returnUrl: back })
      server.fail('POST /v1/payment_intents', fault)
      expect(await unavailable(stripe().create(payment))).toEqual(fault === 'garbage' ? unknownAnswer : mayHaveHappened)
      const found = await stripe().retrieve({ ...payment, reference: undefined })
      expect(found).toMatchObject({ state: 'AUTHORIZED', authorized: 1000 })
      expect(await stripe().create(payment)).toMatchObject({ reference: found?.reference ?? '', state: 'AUTHORIZED' })
    }
  })

  test('a create with other fields returns the existing payment or is unavailable, and makes nothing new', async () => {
    const payment = newPayment()
    const { reference } = await stripe().create(payment)
    const before = server.intents.size
    expect(await stripe().create({ ...payment, token: 'pm_card_visa', returnUrl: back })).toMatchObject({ reference })
    expect(await unavailable(stripe().create({ ...payment, amount: 2000 }))).toEqual(unknownAnswer)
    expect(server.intents.size).toBe(before)
  })

  test('a create whose idempotency key was used for a payment not found is unavailable and makes nothing', async () => {
    const payment = newPayment()
    server.storeFailure(payment.paymentId, '/v1/payment_intents', { amount: '7' })
    const before = server.intents.size
    expect(await unavailable(stripe().create(payment))).toEqual({ neverSent: false, counts: false })
    expect(server.intents.size).toBe(before)
  })

  test('a create passes stored failures by looking for the payment and using the next key, always the same', async () => {
    const payment = newPayment()
    const fields = {
      amount: '1000',
      currency: 'usd',
      capture_method: 'manual',
      'automatic_payment_methods[enabled]': 'true',
      'metadata[payment_id]': payment.paymentId,
    }
    server.storeFailure(payment.paymentId, '/v1/payment_intents', fields)
    server.storeFailure(`${payment.paymentId}-2`, '/v1/payment_intents', fields)
    const { reference } = await stripe().create(payment)
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key') ?? 'look')
    const keyChanges = keys.filter((key, at) => key !== keys[at - 1])
    expect(keyChanges).toEqual([payment.paymentId, 'look', `${payment.paymentId}-2`, 'look', `${payment.paymentId}-3`])
    const repeated = await Promise.all([stripe().create(payment), stripe().create(payment)])
    expect(repeated.map((one) => one.reference)).toEqual([reference, reference])

    const secondPayment = newPayment()
    server.storeFailure(
      secondPayment.paymentId,
      '/v1/payment_intents',
      { ...fields, 'metadata[payment_id]': secondPayment.paymentId },
      { done: true },
    )
    const before = server.intents.size
    expect(await stripe().create(secondPayment)).toMatchObject({ state: 'REQUIRES_ACTION' })
    expect(server.intents.size).toBe(before)

    const thirdPayment = newPayment()
    for (const key of ['', '-2', '-3', '-4'])
      server.storeFailure(thirdPayment.paymentId + key, '/v1/payment_intents', {
        ...fields,
        'metadata[payment_id]': thirdPayment.paymentId,
      })
    expect(await unavailable(stripe().create(thirdPayment))).toEqual({ neverSent: false, counts: false })
  })

  test('a create after a new failure makes no further request', async () => {
    server.fail('POST /v1/payment_intents', { status: 500, json: { error: { type: 'api_error', message: 'sorry' } } })
    expect(await unavailable(stripe().create(newPayment()))).toEqual(mayHaveHappened)
    expect(calls()).toEqual(['POST /v1/payment_intents'])
  })
})

describe('a refund at Stripe', () => {
  test('repeated refunds are one refund, in parts up to the whole and no more', async () => {
    const payment = await createCaptured()
    const refund = { ...payment, refundId: newId('refund'), amount: 400, whole: false }
    const created = await stripe().refund(refund)
    expect(created).toEqual({ reference: created.reference, state: 'SUCCEEDED' })
    expect(await stripe().refund(refund)).toEqual(created)
    expect(await refused(stripe().refund({ ...refund, refundId: newId('refund'), amount: 601 }))).toBe('invalid_request_error')
    expect(await stripe().refund({ ...refund, refundId: newId('refund'), amount: 600 })).toMatchObject({ state: 'SUCCEEDED' })
    expect(await refused(stripe().refund({ ...refund, refundId: newId('refund'), amount: 1 }))).toBe('charge_already_refunded')
    const uncaptured = await createAuthorized()
    expect(await refused(stripe().refund({ ...uncaptured, refundId: newId('refund'), whole: true }))).toBe(
      'payment_intent_unexpected_state',
    )
  })

  test('a refund is found by the id of Stripe and ours, and fails when the bank refuses it later', async () => {
    const payment = await createCaptured()
    server.refundOutcomes.push('pending')
    const refund = { ...payment, refundId: newId('refund'), amount: 400, whole: false }
    const { reference, state } = await stripe().refund(refund)
    expect(state).toBe('PENDING')
    for (const [status, expectedState] of [
      ['requires_action', 'PENDING'],
      ['succeeded', 'SUCCEEDED'],
      ['canceled', 'FAILED'],
      ['failed', 'FAILED'],
    ] as const) {
      server.settleRefund(reference ?? '', status, 'lost_or_stolen_card')
      const result = { reference, state: expectedState, ...(expectedState === 'FAILED' ? { failureCode: 'lost_or_stolen_card' } : {}) }
      for (const refundReference of [reference, undefined])
        expect(await stripe().retrieveRefund({ ...refund, refundReference })).toEqual(result)
      expect(await stripe().refund(refund)).toEqual(result)
    }
    expect(await stripe().retrieveRefund({ ...refund, reference: undefined, refundReference: undefined })).toMatchObject({ reference })
  })

  test('an unknown refund is not found', async () => {
    const payment = await createCaptured()
    const name = { ...payment, refundId: newId('refund') }
    expect(await stripe().retrieveRefund({ ...name, refundReference: undefined })).toBeUndefined()
    expect(await stripe().retrieveRefund({ ...name, refundReference: 're_unknown' })).toBeUndefined()
    expect(await stripe().retrieveRefund({ ...name, reference: 'pi_unknown', refundReference: undefined })).toBeUndefined()
    expect(
      await stripe().retrieveRefund({ ...name, paymentId: newId('payment'), reference: undefined, refundReference: undefined }),
    ).toBeUndefined()
    expect(await refused(stripe().refund({ ...name, reference: 'pi_unknown', whole: true }))).toBe('resource_missing')
  })

  test('a refund whose response was lost is found and made once, also after a stored failure', async () => {
    const payment = await createCaptured()
    const refund = { ...payment, refundId: newId('refund'), amount: 400, whole: false }
    server.fail('POST /v1/refunds', 'lost')
    expect(await unavailable(stripe().refund(refund))).toEqual(mayHaveHappened)
    const found = await stripe().retrieveRefund({ ...refund, refundReference: undefined })
    expect(found).toMatchObject({ state: 'SUCCEEDED' })
    expect<unknown>(await stripe().refund(refund)).toEqual(found)
    const stuck = { ...refund, refundId: newId('refund'), amount: 100 }
    const fields = { payment_intent: payment.reference, amount: '100', 'metadata[refund_id]': stuck.refundId }
    server.storeFailure(stuck.refundId, '/v1/refunds', fields, { done: true })
    expect(await stripe().refund(stuck)).toMatchObject({ state: 'SUCCEEDED' })
    const stuckAgain = { ...stuck, refundId: newId('refund') }
    server.storeFailure(stuckAgain.refundId, '/v1/refunds', { ...fields, 'metadata[refund_id]': stuckAgain.refundId })
    expect(await stripe().refund(stuckAgain)).toMatchObject({ state: 'SUCCEEDED' })
    expect(await stripe().retrieve(payment)).toMatchObject({ refunded: 600 })
  })

  test('a refund with another amount or id than requested is unavailable', async () => {
    const payment = await createCaptured()
    const refund = { ...payment, refundId: newId('refund'), amount: 400, whole: false }
    const { reference } = await stripe().refund(refund)
    expect(await unavailable(stripe().retrieveRefund({ ...refund, amount: 300, refundReference: reference }))).toEqual(unknownAnswer)
    expect(await unavailable(stripe().retrieveRefund({ ...refund, refundId: 'ref_other', refundReference: reference }))).toEqual(
      unknownAnswer,
    )
  })
})

describe('unusable responses of Stripe', () => {
  test('an unusable response says if the request may have had an effect, and only outages count for the breaker', async () => {
    const error = { error: { type: 'invalid_request_error', message: 'no' } }
    const nothing = { neverSent: true, counts: false }
    const table = [
      [{ status: 401, json: error }, nothing],
      [{ status: 403, json: error }, nothing],
      [{ status: 429, json: error }, nothing],
      [{ status: 429, json: 'Too many' }, nothing],
      [{ status: 400, json: { error: { type: 'invalid_request_error', code: 'rate_limit' } } }, nothing],
      [
        { status: 409, json: error },
        { neverSent: false, counts: false },
      ],
      [
        { status: 404, json: '<html>' },
        { neverSent: false, counts: false },
      ],
      [{ status: 400 }, { neverSent: false, counts: false }],
      [
        { status: 418, json: error },
        { neverSent: false, counts: false },
      ],
      [{ status: 500, json: error }, mayHaveHappened],
      [{ status: 503, json: 'down' }, mayHaveHappened],
      [{ status: 302, headers: { location: 'https://elsewhere.example' } }, unknownAnswer],
      [{ status: 200 }, unknownAnswer],
      [{ status: 200, json: [] }, unknownAnswer],
      [{ status: 200, json: { object: 'payment_intent', id: 'pi_1' } }, unknownAnswer],
      [
        { status: 200, json: { object: 'payment_intent', id: 'pi_1', currency: 'usd', amount: 1000, status: 'constructor' } },
        unknownAnswer,
      ],
      [
        { status: 200, json: { object: 'payment_intent', id: 'pi_1', currency: 'usd', amount: 1000, status: 'requires_capture' } },
        unknownAnswer,
      ],
      [{ status: 200, json: { object: 'charge', id: 'pi_1', currency: 'usd', amount: 1000, status: 'succeeded' } }, unknownAnswer],
    ] as const
    for (const [fault, means] of table) {
      server.fail('POST /v1/payment_intents', fault)
      expect([fault, await unavailable(stripe().create(newPayment({ token: 'pm_card_visa', returnUrl: back })))]).toEqual([fault, means])
    }
  })

  test('a missing response is a timeout with an unknown outcome', async () => {
    server.fail('POST /v1/payment_intents', 'late')
    expect(await unavailable(client({}, loopbackPort({ timeoutMs: 50 })).create(newPayment()))).toEqual(mayHaveHappened)
    const stopped = await startStripe()
    await stopped.close()
    expect(await unavailable(client({ apiUrl: stopped.url }).probe())).toEqual(mayHaveHappened)
  })

  test('a lost or refused response to capture is resolved by reading the payment', async () => {
    const payment = await createAuthorized()
    server.fail('/capture', 'lost')
    expect(await unavailable(stripe().capture(payment))).toEqual(mayHaveHappened)
    expect(await stripe().retrieve(payment)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    const other = await createAuthorized()
    const inside = { code: 'payment_intent_unexpected_state', type: 'invalid_request_error', message: 'no' }
    server.fail('/capture', { status: 400, json: { error: inside } })
    expect(await stripe().capture(other)).toMatchObject({ state: 'AUTHORIZED' })
  })

  test('an error code of Stripe that is not a plain word is not passed on', async () => {
    server.fail('POST /v1/payment_intents', { status: 400, json: { error: { type: 'sk_test_standin <b>', code: 'a b' } } })
    expect(await refused(stripe().create(newPayment()))).toBe('refused')
  })
})

describe('Stripe webhooks', () => {
  const event = {
    id: 'evt_1',
    object: 'event',
    type: 'payment_intent.succeeded',
    data: { object: { object: 'payment_intent', id: 'pi_1', metadata: { payment_id: 'pay_1' } } },
  }
  const now = Date.UTC(2026, 10, 22)
  const reader = (account: Partial<StripeAccount> = {}) => client(account, loopbackPort({ now: () => now }))
  const expectBadSignature = async (promise: Promise<unknown>) => expect(await thrownBy(promise)).toBeInstanceOf(BadSignature)

  test('a webhook names its payment by the id of Stripe, and by ours if it has it', async () => {
    const payment = await createCaptured()
    await stripe().refund({ ...payment, refundId: newId('refund'), whole: true })
    for (const webhookEvent of server.events) {
      const isIntent = (webhookEvent['type'] as string).startsWith('payment_intent.')
      expect(await stripe().readMessage(server.sent(webhookEvent))).toEqual({
        id: webhookEvent['id'] as string,
        payment: { paymentId: isIntent ? payment.paymentId : undefined, reference: payment.reference },
      })
    }
    expect(server.events.map(({ type }) => type)).toContain('refund.created')
  })

  test('a repeated webhook is the same message, and one without a payment names none', async () => {
    expect(await reader().readMessage(server.sent(event, { at: now }))).toEqual(
      await reader().readMessage(server.sent(event, { at: now - 1000 })),
    )
    const payout = { id: 'evt_2', type: 'payout.paid', data: { object: { object: 'payout', id: 'po_1' } } }
    expect(await reader().readMessage(server.sent(payout, { at: now }))).toEqual({ id: 'evt_2', payment: undefined })
  })

  test('repeated and reordered webhooks lead to the same state over HTTP; forged and old ones are refused', async () => {
    const payment = await createCaptured()
    await using shop = messagesTo(stripe())
    const { length } = server.events
    const messages = server.events.map((webhookEvent) => server.sent(webhookEvent))
    const statuses = await deliver(shop.url, messages, { times: 2, reversed: true })
    expect(statuses).toEqual(statuses.map(() => 200))
    expect(new Set(shop.received.map(({ id }) => id)).size).toBe(length)
    expect(shop.received.at(-1)?.id).toBe(server.events[0]?.['id'] as string)
    for (const { payment: about } of shop.received) {
      const result = await stripe().retrieve({ ...payment, reference: about?.reference })
      expect(result).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    }
    const forged = server.events.map((webhookEvent) => server.sent(webhookEvent, { secret: 'whsec_other' }))
    const old = server.events.map((webhookEvent) => server.sent(webhookEvent, { at: Date.now() - 3_600_000 }))
    expect(new Set(await deliver(shop.url, [...forged, ...old]))).toEqual(new Set([401]))
  })

  test('a dispute webhook says who has the money, and an inquiry moves none', async () => {
    const payment = await createCaptured({ amount: 500, currency: 'ISK' })
    const of = async (status: string) => {
      server.dispute(payment.reference, 'updated', status)
      return (await stripe().readMessage(server.sent(server.events.at(-1) ?? {}))).dispute
    }
    const dispute = { reference: 'dp_standin', amount: 500, currency: 'ISK' }
    expect(await of('needs_response')).toEqual({ ...dispute, state: 'OPEN' })
    expect(await of('under_review')).toEqual({ ...dispute, state: 'OPEN' })
    expect(await of('won')).toEqual({ ...dispute, state: 'WON' })
    expect(await of('lost')).toEqual({ ...dispute, state: 'LOST' })
    for (const status of ['warning_needs_response', 'warning_closed', 'prevented', 'constructor']) expect(await of(status)).toBeUndefined()
  })

  test('a webhook is accepted by any of several signatures, for five minutes', async () => {
    const { body, headers } = server.sent(event, { at: now })
    const good = headers.get('stripe-signature') ?? ''
    const read = (header: string) => reader().readMessage({ body, headers: new Headers({ 'stripe-signature': header }) })
    const other = signature(body, { at: now, secret: 'whsec_other' })
    expect(await read(`${other},${good.split(',')[1]}`)).toMatchObject({ id: 'evt_1' })
    expect(await read(`${good},v1=zz`)).toMatchObject({ id: 'evt_1' })
    expect(await read(signature(body, { at: now - 300_000, secret: webhookSecret }))).toMatchObject({ id: 'evt_1' })
    expect(await read(signature(body, { at: now + 3_600_000, secret: webhookSecret }))).toMatchObject({ id: 'evt_1' })
    await expectBadSignature(read(signature(body, { at: now - 301_000, secret: webhookSecret })))
    await expectBadSignature(read(other))
    await expectBadSignature(read(good.replace('v1=', 'v0=').replace(/,v0=0+$/, '')))
    for (const header of ['', 't=,v1=', 'v1=abc', good.replace(/^t=\d+/, 't=NaN'), good.replace(/^t=\d+/, 't=1e9'), 't', ',,,'])
      await expectBadSignature(read(header))
    await expectBadSignature(reader().readMessage({ body, headers: new Headers() }))
    await expectBadSignature(reader().readMessage({ body: Buffer.concat([body, Buffer.from(' ')]), headers }))
  })

  test('no webhook is accepted without a secret', async () => {
    for (const blank of [undefined, '', '  \t'])
      await expectBadSignature(
        reader({ webhookSecret: blank })
          .readMessage(server.sent(event, { at: now, secret: blank || 'x' }))
          .catch((error) => Promise.reject(error)),
      )
  })

  test('a webhook without JSON or id is about no payment and has the digest of the signed text as id', async () => {
    const of = async (body: Uint8Array) => {
      const headers = new Headers({ 'stripe-signature': signature(body, { at: now, secret: webhookSecret }) })
      return reader().readMessage({ body, headers })
    }
    for (const text of ['', 'null', '[]', '{', '{"id":7,"data":null}', '{"__proto__":{"id":"x"}}']) {
      const message = await of(Buffer.from(text))
      expect(message).toEqual({ id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), payment: undefined })
      expect(await of(Buffer.from(text))).toEqual(message)
    }
    expect((await of(Buffer.from([0xff, 0xfe]))).payment).toBeUndefined()
  })
})

describe('a Stripe account', () => {
  test('a Stripe account is test or live by its key', () => {
    expect(client({ secretKey: 'sk_test_1' }).mode).toBe('TEST')
    expect(client({ secretKey: 'rk_test_1', apiUrl: 'https://api.stripe.com' }).mode).toBe('TEST')
    expect(client({ secretKey: 'sk_live_1' }).mode).toBe('LIVE')
    expect(client({ secretKey: 'sk_1', apiUrl: undefined }).mode).toBe('LIVE')
    expect(client({ secretKey: 'sk_1' }).mode).toBe('TEST')
  })

  test('the probe changes nothing, and distinguishes an unknown key from an outage', async () => {
    await stripe().probe()
    expect(calls()).toEqual(['GET /v1/balance'])
    expect(await refused(client({ secretKey: 'sk_test_wrong' }).probe())).toBe('credentials')
    server.fail('/v1/balance', { status: 503 }, { status: 429 })
    expect(await unavailable(stripe().probe())).toEqual(mayHaveHappened)
    expect(await unavailable(stripe().probe())).toEqual({ neverSent: true, counts: false })
  })

  test('an API URL with trailing slashes is accepted', async () => {
    await client({ apiUrl: `${server.url}//` }).probe()
    expect(calls()).toEqual(['GET /v1/balance'])
  })
})

test('timeOfId returns the time in an id, and undefined for other texts', () => {
  const at = Date.UTC(2026, 10, 22, 9, 30)
  fc.assert(
    fc.property(fc.nat(2 ** 40), (ms) => {
      const bytes = Buffer.from(Bun.randomUUIDv7('buffer', ms))
      expect(timeOfId(`pay_${encodeSuffix(bytes)}`)).toBe(ms)
    }),
  )
  expect(timeOfId(idBoundary('payment', at))).toBeUndefined()
  for (const text of ['', 'pay_01', 'pay_', `pay_${'u'.repeat(26)}`, crypto.randomUUID()]) expect(timeOfId(text)).toBeUndefined()
})
