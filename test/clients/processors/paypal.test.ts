/** Tests the PayPal client over HTTP against a stand-in (paypal-server.ts). */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { minorUnitsIn, paypalMoney, paypalSupports } from '../../../src/clients/processors/paypal/amounts.ts'
import { createPaypal, type PaypalAccount } from '../../../src/clients/processors/paypal/client.ts'
import type { NewPayment } from '../../../src/clients/processors/processor.ts'
import { BadSignature, ProcessorRefused, ProcessorUnavailable } from '../../../src/clients/processors/processor.ts'
import { dayMs } from '../../../src/lib/day.ts'
import { createNewId } from '../../../src/lib/ids.ts'
import { currencies, decimalsOf } from '../../../src/lib/money.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { type PaypalServer, startPaypal } from './paypal-server.ts'
import { type ApiAnswer, deliver, loopbackPort, messagesTo, thrownBy } from './stand-in.ts'

setDefaultTimeout(longTestMs)

const secret = 'secret-standin'
const newId = createNewId(() => Buffer.from(Bun.randomUUIDv7('buffer')))

let server: PaypalServer
beforeAll(async () => {
  server = await startPaypal({ secret })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
  server.events.length = 0
})

const client = (account: Partial<PaypalAccount> = {}, port = loopbackPort()) =>
  createPaypal({ clientId: 'client', secret, webhookId: 'WH-STANDIN', apiUrl: server.url, ...account }, port)
let shared: ReturnType<typeof client> | undefined
const paypal = () => (shared ??= client())

const back = 'https://shop.example/back'
const newPayment = (more: Partial<NewPayment> = {}): NewPayment => ({
  ...{ paymentId: newId('payment'), amount: 1000, currency: 'USD', method: 'paypal', token: undefined, returnUrl: back },
  ...more,
})
async function createApproved(more: Partial<NewPayment> = {}, instrument?: 'good' | 'declined' | 'review') {
  const payment = newPayment(more)
  const { reference } = await paypal().create(payment)
  server.approve(reference, instrument)
  return { ...payment, reference }
}
async function createAuthorized(more: Partial<NewPayment> = {}) {
  const payment = await createApproved(more)
  expect(await paypal().retrieve(payment)).toMatchObject({ state: 'AUTHORIZED', authorized: payment.amount })
  return payment
}
async function createCaptured(more: Partial<NewPayment> = {}) {
  const payment = await createAuthorized(more)
  const { references, ...answer } = await paypal().capture(payment)
  expect(answer).toMatchObject({ state: 'CAPTURED', captured: payment.amount })
  return { ...payment, references: references ?? {} }
}
const calls = () => server.requests.map(({ method, path }) => `${method} ${path.replace(/\/[\dA-Z]{15,}/g, '/:id')}`)
const refused = async (promise: Promise<unknown>): Promise<string> => {
  const error = await thrownBy(promise)
  if (!(error instanceof ProcessorRefused)) throw error
  return error.code
}
const unavailable = async (promise: Promise<unknown>) => {
  const error = await thrownBy(promise)
  if (!(error instanceof ProcessorUnavailable)) throw error
  expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(secret)
  return { neverSent: error.neverSent, counts: error.counts }
}
const mayHaveHappened = { neverSent: false, counts: true }
const unknownAnswer = { neverSent: false, counts: false }
const nothingHappened = { neverSent: true, counts: false }

describe('amounts at PayPal', () => {
  test('amounts are decimals of supported currencies, whole where PayPal has no decimals, or refused', () => {
    const table: [number, string, string | undefined][] = [
      [1000, 'USD', '10.00'],
      [1, 'USD', '0.01'],
      [10, 'EUR', '0.10'],
      [500, 'JPY', '500'],
      [50_000, 'HUF', '500'],
      [50_050, 'HUF', undefined],
      [50_000, 'TWD', '500'],
      [0, 'USD', undefined],
      [-5, 'USD', undefined],
      [1.5, 'USD', undefined],
      [10_500, 'KWD', undefined],
      [1_000_000, 'MNT', undefined],
      [1000, 'AED', undefined],
      [500, 'ISK', undefined],
      [100_000_000_000_000, 'USD', '1000000000000.00'],
    ]
    for (const [amount, currency, value] of table)
      expect([currency, amount, paypalMoney({ amount, currency })?.value]).toEqual([currency, amount, value])
  })

  test('amounts come back from PayPal as sent, in every currency', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), fc.constantFrom(...currencies), (amount, currency) => {
        const money = paypalMoney({ amount, currency })
        expect(paypalSupports({ amount, currency })).toBe(money !== undefined)
        if (money === undefined) return
        expect(minorUnitsIn(money, currency)).toBe(amount)
        expect(BigInt(money.value.replace('.', '')) * 10n ** BigInt(decimalsOf(currency))).toBe(
          BigInt(amount) * 10n ** BigInt(money.value.split('.')[1]?.length ?? 0),
        )
      }),
    )
  })

  test('unsupported amounts are refused before any request', async () => {
    const payment = await createCaptured()
    server.requests.length = 0
    expect(await refused(paypal().create(newPayment({ amount: 50_050, currency: 'HUF' })))).toBe('amount_not_supported')
    expect(await refused(paypal().capture({ ...payment, currency: 'KWD' }))).toBe('amount_not_supported')
    expect(await refused(paypal().refund({ ...payment, refundId: 'ref_1', amount: 0, whole: false }))).toBe('amount_not_supported')
    expect(calls()).toEqual([])
  })
})

describe('a payment at PayPal', () => {
  test('a payment is approved by the shopper, authorized and captured by us, and refunded in parts', async () => {
    const payment = newPayment()
    const created = await paypal().create(payment)
    const { reference } = created
    expect(created).toEqual({
      ...{ reference, state: 'REQUIRES_ACTION', authorized: 0, captured: 0, refunded: 0 },
      clientParameters: { orderId: reference, clientId: 'client', approveUrl: `${server.url}/checkoutnow?token=${reference}` },
    })
    const named = { ...payment, reference }
    expect(await paypal().retrieve(named)).toEqual(created)
    const page = await fetch(created.clientParameters?.['approveUrl'] as string, { method: 'POST', redirect: 'manual' })
    expect([page.status, page.headers.get('location')]).toEqual([303, `${back}?token=${reference}&PayerID=STANDIN`])
    const retrieved = await paypal().retrieve(named)
    expect(retrieved).toMatchObject({
      state: 'AUTHORIZED',
      authorized: 1000,
      captured: 0,
      references: { authorization: expect.any(String) },
    })
    expect(await paypal().retrieve(named)).toEqual(retrieved)
    const capture = await paypal().capture(named)
    // A matcher of Bun modifies the compared object.
    const references = { ...capture.references }
    expect(capture).toMatchObject({
      state: 'CAPTURED',
      captured: 1000,
      references: { ...retrieved?.references, capture: expect.any(String) },
    })
    const refund = { ...named, references, refundId: newId('refund'), amount: 300, whole: false }
    expect(await paypal().refund(refund)).toEqual({ reference: expect.any(String), state: 'SUCCEEDED' })
    server.refundElsewhere(reference, '2.00')
    expect(await paypal().retrieve(named)).toMatchObject({ state: 'CAPTURED', captured: 1000, refunded: 500 })
  })

  test('a payment approved by PayPal buttons on the page needs no return URL', async () => {
    const created = await paypal().create(newPayment({ returnUrl: undefined }))
    expect(created).toMatchObject({ state: 'REQUIRES_ACTION', clientParameters: { orderId: created.reference } })
    expect(server.requests.at(-1)?.body).not.toContain('payment_source')
  })

  test('a minimal create response of PayPal is read', async () => {
    server.fail('POST /v2/checkout/orders', ({ status, json }) => {
      const { id, status: orderStatus, links } = json as Record<string, unknown>
      return { status, json: { id, status: orderStatus, links } }
    })
    expect(await paypal().create(newPayment())).toMatchObject({
      state: 'REQUIRES_ACTION',
      clientParameters: { orderId: expect.any(String) },
    })
  })

  test('a payment in a currency without decimals is authorized, captured and refunded', async () => {
    for (const [amount, currency] of [
      [500, 'JPY'],
      [50_000, 'HUF'],
      [50_000, 'TWD'],
    ] as const) {
      const payment = await createCaptured({ amount, currency })
      expect(await paypal().refund({ ...payment, refundId: newId('refund'), whole: true })).toMatchObject({ state: 'SUCCEEDED' })
      expect(await paypal().retrieve(payment)).toMatchObject({ state: 'CAPTURED', captured: amount, refunded: amount })
    }
  })

  test('a declined payment has failed, and one under review is processing', async () => {
    const declined = await paypal().retrieve(await createApproved({}, 'declined'))
    expect(declined).toMatchObject({ state: 'FAILED', failureCode: 'INSTRUMENT_DECLINED', authorized: 0 })
    expect(declined?.clientParameters).toBeUndefined()
    const payment = await createApproved({}, 'review')
    expect(await paypal().retrieve(payment)).toMatchObject({ state: 'PROCESSING', authorized: 0, captured: 0 })
    server.settle(payment.reference, 'authorizations', 'CREATED')
    expect(await paypal().retrieve(payment)).toMatchObject({ state: 'AUTHORIZED' })
    server.settle(payment.reference, 'authorizations', 'DENIED')
    expect(await paypal().retrieve(payment)).toMatchObject({ state: 'FAILED', failureCode: 'authorization_denied' })
  })

  test('a payment that is queried concurrently is authorized once', async () => {
    const payment = await createApproved()
    const answers = await Promise.all([1, 2, 3].map(() => paypal().retrieve(payment)))
    expect(answers.map((answer) => answer?.state)).toEqual(['AUTHORIZED', 'AUTHORIZED', 'AUTHORIZED'])
    expect(server.orders.get(payment.reference)?.authorizations.length).toBe(1)
  })

  test('a capture under review is processing, and later captured or failed', async () => {
    for (const [status, laterState] of [
      ['COMPLETED', { state: 'CAPTURED', captured: 1000 }],
      ['DECLINED', { state: 'FAILED', failureCode: 'capture_declined', captured: 0 }],
      ['FAILED', { state: 'FAILED', failureCode: 'capture_failed', captured: 0 }],
      ['REFUNDED', { state: 'CAPTURED', captured: 1000 }],
      ['PARTIALLY_REFUNDED', { state: 'CAPTURED', captured: 1000 }],
    ] as const) {
      const payment = await createAuthorized()
      server.captureOutcomes.push('PENDING')
      expect(await paypal().capture(payment)).toMatchObject({ state: 'PROCESSING', captured: 0 })
      expect(await paypal().capture(payment)).toMatchObject({ state: 'PROCESSING', captured: 0 })
      server.settle(payment.reference, 'captures', status)
      expect(await paypal().retrieve(payment)).toMatchObject(laterState)
    }
    const payment = await createAuthorized()
    server.captureOutcomes.push('DECLINED')
    expect(await paypal().capture(payment)).toMatchObject({ state: 'FAILED', failureCode: 'capture_declined' })
    expect(await paypal().void(payment)).toMatchObject({ state: 'VOIDED' })
  })

  test('a payment with several authorizations uses the one that is not voided', async () => {
    const payment = await createAuthorized()
    const order = server.orders.get(payment.reference)
    const [first] = order?.authorizations ?? []
    if (!order || !first) throw new Error('no authorization')
    order.authorizations.push({ ...first, id: 'LAPSED', status: 'VOIDED' })
    expect(await paypal().retrieve(payment)).toMatchObject({ state: 'AUTHORIZED', references: { authorization: first.id } })
    expect(await paypal().capture(payment)).toMatchObject({ state: 'CAPTURED' })
  })

  test('refunded counts completed refunds, not pending or failed ones', async () => {
    const payment = await createCaptured()
    for (const [status, value] of [
      ['COMPLETED', '1.00'],
      ['PENDING', '2.00'],
      ['FAILED', '3.00'],
    ] as const) {
      server.refundOutcomes.push(status)
      server.refundElsewhere(payment.reference, value)
    }
    expect(await paypal().retrieve(payment)).toMatchObject({ state: 'CAPTURED', captured: 1000, refunded: 100 })
  })

  test('repeated captures capture once, and a capture before authorization returns the current state', async () => {
    const payment = await createCaptured()
    expect(await paypal().capture(payment)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    expect(server.orders.get(payment.reference)?.captures.length).toBe(1)
    const unapproved = await paypal().create(newPayment())
    expect(
      await paypal().capture({ ...newPayment(), ...server.orders.get(unapproved.reference), ...named(unapproved.reference) }),
    ).toMatchObject({
      state: 'REQUIRES_ACTION',
      captured: 0,
    })
  })

  test('a capture above the authorized amount is refused before PayPal is asked', async () => {
    const payment = await createAuthorized()
    expect(await refused(paypal().capture({ ...payment, amount: 1100 }))).toBe('amount_above_authorization')
    expect(server.orders.get(payment.reference)?.captures).toEqual([])
  })

  test('a payment captured with another amount is PROCESSING and reports the amount', async () => {
    const payment = await createAuthorized()
    server.captureElsewhere(payment.reference, '4.00')
    const differingAmount = { state: 'PROCESSING', captured: 400, failureCode: 'amount_differs' } as const
    for (const verb of ['retrieve', 'capture', 'void'] as const) expect(await paypal()[verb](payment)).toMatchObject(differingAmount)
  })

  test('void makes no request before approval and one after authorization, and reports a captured payment', async () => {
    const unapproved = await paypal().create(newPayment())
    expect(await paypal().void(named(unapproved.reference))).toMatchObject({ state: 'VOIDED', captured: 0 })
    expect(calls().filter((call) => call.endsWith('/void'))).toEqual([])
    for (const payment of [await createAuthorized(), await createAuthorized({ amount: 500, currency: 'JPY' })])
      for (let times = 0; times < 2; times++)
        expect(await paypal().void(payment)).toMatchObject({ state: 'VOIDED', authorized: 0, captured: 0 })
    expect(await paypal().void(await createCaptured())).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    const reviewed = await createApproved({}, 'review')
    await paypal().retrieve(reviewed)
    expect(await paypal().void(reviewed)).toMatchObject({ state: 'VOIDED' })
  })

  test('when the state changes between read and step, the newest state decides', async () => {
    const payment = await createAuthorized()
    server.fail(`/void`, { status: 422, json: { name: 'UNPROCESSABLE_ENTITY', details: [{ issue: 'PREVIOUSLY_CAPTURED' }] } })
    // The refusal says that the payment was captured after the read. A second read shows that it was not.
    expect(await refused(paypal().void(payment))).toBe('PREVIOUSLY_CAPTURED')
    server.fail(`/capture`, (response) => {
      server.settle(payment.reference, 'authorizations', 'VOIDED')
      server.orders.get(payment.reference)?.captures.splice(0)
      return { ...response, status: 422, json: { name: 'UNPROCESSABLE_ENTITY', details: [{ issue: 'AUTHORIZATION_VOIDED' }] } }
    })
    expect(await paypal().capture(payment)).toMatchObject({ state: 'VOIDED' })
    const other = await createAuthorized()
    server.fail('/capture', { status: 422, json: { name: 'UNPROCESSABLE_ENTITY', details: [{ issue: 'PAYEE_ACCOUNT_RESTRICTED' }] } })
    expect(await refused(paypal().capture(other))).toBe('PAYEE_ACCOUNT_RESTRICTED')
  })

  test('a response with another currency, amount or payment is unavailable, and nothing is authorized', async () => {
    const payment = await createApproved()
    for (const mismatch of [{ amount: 999 }, { currency: 'EUR' }, { paymentId: 'pay_other' }])
      expect(await unavailable(paypal().retrieve({ ...payment, ...mismatch }))).toEqual(unknownAnswer)
    expect(server.orders.get(payment.reference)?.authorizations).toEqual([])
    const unit = (changes: object) => (response: ApiAnswer) => {
      const json = response.json as { purchase_units: object[] }
      return { ...response, json: { ...json, purchase_units: [{ ...json.purchase_units[0], ...changes }] } }
    }
    for (const changes of [
      { amount: { currency_code: 'USD', value: '10.01' } },
      { amount: { currency_code: 'EUR', value: '10.00' } },
      { amount: 10 },
    ]) {
      server.fail('POST /v2/checkout/orders', unit(changes))
      expect(await unavailable(paypal().create(newPayment()))).toEqual(unknownAnswer)
    }
  })

  test('a payment is found by any id of PayPal, undefined if unknown, and unavailable by our id alone', async () => {
    const payment = await createCaptured()
    const { authorization = '', capture = '' } = payment.references
    for (const references of [{ authorization }, { capture }, payment.references])
      expect(await paypal().retrieve({ ...payment, reference: undefined, references })).toMatchObject({
        reference: payment.reference,
        state: 'CAPTURED',
      })
    const unknown = named('5O190127TN364715T')
    expect(await paypal().retrieve(unknown)).toBeUndefined()
    expect(await paypal().retrieve({ ...unknown, reference: undefined, references: { capture: 'nothing' } })).toBeUndefined()
    expect(await refused(paypal().capture(unknown))).toBe('RESOURCE_NOT_FOUND')
    expect(await refused(paypal().void(unknown))).toBe('RESOURCE_NOT_FOUND')
    expect(await unavailable(paypal().retrieve({ ...payment, reference: undefined, references: {} }))).toEqual({
      neverSent: false,
      counts: false,
    })
  })

  test('a payment whose response was lost is returned by repeating create, in its current state', async () => {
    for (const fault of ['lost', 'half', 'garbage'] as const) {
      const payment = newPayment()
      server.fail('POST /v2/checkout/orders', fault)
      expect(await unavailable(paypal().create(payment))).toEqual(fault === 'garbage' ? unknownAnswer : mayHaveHappened)
      const before = server.orders.size
      const { reference } = await paypal().create(payment)
      expect(server.orders.size).toBe(before)
      server.approve(reference)
      await paypal().retrieve({ ...payment, reference })
      expect(await paypal().create(payment)).toMatchObject({ reference, state: 'AUTHORIZED' })
    }
    const payment = await createAuthorized()
    server.fail('/capture', 'lost')
    expect(await unavailable(paypal().capture(payment))).toEqual(mayHaveHappened)
    expect(await paypal().capture(payment)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    const secondPayment = await createAuthorized()
    server.fail('/void', 'lost')
    expect(await unavailable(paypal().void(secondPayment))).toEqual(mayHaveHappened)
    expect(await paypal().void(secondPayment)).toMatchObject({ state: 'VOIDED' })
  })
})

/** Returns a payment name that has only the id of its order. */
const named = (reference: string) => {
  const order = server.orders.get(reference)
  return { paymentId: order?.custom_id ?? 'pay_1', amount: 1000, currency: 'USD', reference }
}

describe('a refund at PayPal', () => {
  test('repeated refunds are one refund, in parts up to the whole and no more', async () => {
    const payment = await createCaptured()
    const refund = { ...payment, refundId: newId('refund'), amount: 400, whole: false }
    const created = await paypal().refund(refund)
    expect(await paypal().refund(refund)).toEqual(created)
    expect(await refused(paypal().refund({ ...refund, refundId: newId('refund'), amount: 601 }))).toBe('REFUND_AMOUNT_EXCEEDED')
    expect(await paypal().refund({ ...refund, references: {}, refundId: newId('refund'), amount: 600 })).toMatchObject({
      state: 'SUCCEEDED',
    })
    expect(await refused(paypal().refund({ ...refund, refundId: newId('refund'), amount: 1 }))).toBe('CAPTURE_FULLY_REFUNDED')
    server.forgetKeys()
    expect(await paypal().refund(refund)).toEqual(created)
    expect(await refused(paypal().refund({ ...(await createAuthorized()), refundId: newId('refund'), whole: true }))).toBe('not_captured')
  })

  test('a refund is found by the id of PayPal and ours, and fails when PayPal reports so later', async () => {
    const payment = await createCaptured()
    server.refundOutcomes.push('PENDING')
    const refund = { ...payment, refundId: newId('refund'), amount: 400, whole: false }
    const { reference, state } = await paypal().refund(refund)
    expect(state).toBe('PENDING')
    for (const [status, expectedState] of [
      ['COMPLETED', 'SUCCEEDED'],
      ['FAILED', 'FAILED'],
      ['CANCELLED', 'FAILED'],
    ] as const) {
      server.settle(payment.reference, 'refunds', status)
      for (const refundReference of [reference, undefined])
        expect(await paypal().retrieveRefund({ ...refund, refundReference })).toMatchObject({ reference, state: expectedState })
      expect(await paypal().refund(refund)).toMatchObject({ reference, state: expectedState })
    }
    expect(
      await paypal()
        .retrieveRefund({ ...refund, amount: 300, refundReference: reference })
        .catch(String),
    ).toContain('another refund')
    expect(
      await paypal()
        .retrieveRefund({ ...refund, refundId: 'ref_other', refundReference: reference })
        .catch(String),
    ).toContain('another refund')
  })

  test('an unknown refund is not found, and one whose response was lost is', async () => {
    const payment = await createCaptured()
    const refund = { ...payment, refundId: newId('refund'), amount: 400, whole: false }
    expect(await paypal().retrieveRefund({ ...refund, refundReference: undefined })).toBeUndefined()
    expect(await paypal().retrieveRefund({ ...refund, refundReference: 'unknown' })).toBeUndefined()
    expect(await paypal().retrieveRefund({ ...refund, reference: 'unknown', refundReference: undefined })).toBeUndefined()
    server.fail('/refund', 'lost')
    expect(await unavailable(paypal().refund(refund))).toEqual(mayHaveHappened)
    const found = await paypal().retrieveRefund({ ...refund, refundReference: undefined })
    expect(found).toMatchObject({ state: 'SUCCEEDED' })
    expect<unknown>(await paypal().refund(refund)).toEqual(found)
  })
})

describe('the PayPal access token', () => {
  const tokenCalls = () => calls().filter((call) => call === 'POST /v1/oauth2/token').length

  test('concurrent calls share one access token, which is reused while it is valid', async () => {
    let now = Date.now()
    const ownClient = client({}, loopbackPort({ now: () => now }))
    await Promise.all([ownClient.create(newPayment()), ownClient.create(newPayment()), ownClient.create(newPayment())])
    expect(tokenCalls()).toBe(1)
    now += 32_300_000
    await ownClient.create(newPayment())
    expect(tokenCalls()).toBe(1)
    now += 100_000
    await Promise.all([ownClient.create(newPayment()), ownClient.create(newPayment())])
    expect(tokenCalls()).toBe(2)
  })

  test('an access token that ends early is renewed once for all calls, which are then repeated', async () => {
    const ownClient = client()
    await ownClient.create(newPayment())
    server.endTokens()
    server.requests.length = 0
    const created = await Promise.all([ownClient.create(newPayment()), ownClient.create(newPayment()), ownClient.create(newPayment())])
    expect(created.map(({ state }) => state)).toEqual(['REQUIRES_ACTION', 'REQUIRES_ACTION', 'REQUIRES_ACTION'])
    expect(tokenCalls()).toBe(1)
  })

  test('an access token without an expiry is renewed in time', async () => {
    for (const seconds of [undefined, 'soon', -1, 10]) {
      server.life.seconds = seconds
      const ownClient = client()
      await ownClient.create(newPayment())
      await ownClient.create(newPayment())
    }
    server.life.seconds = 32_400
  })

  test('an access token refused twice means nothing was done, and does not count for the breaker', async () => {
    const ownClient = client()
    await ownClient.probe()
    const error = { status: 401, json: { error: 'invalid_token' } }
    server.requests.length = 0
    server.fail('POST /v2/checkout/orders', error, error)
    expect(await unavailable(ownClient.create(newPayment()))).toEqual(nothingHappened)
    expect(calls()).toEqual(['POST /v2/checkout/orders', 'POST /v1/oauth2/token', 'POST /v2/checkout/orders'])
  })

  test('without an access token nothing is done, and the next call requests one again', async () => {
    const ownClient = client()
    server.fail(
      '/v1/oauth2/token',
      { status: 503 },
      'garbage',
      { status: 429 },
      { status: 200, json: { access_token: 'a b\r\n' } },
      { status: 401, json: {} },
    )
    const means = []
    for (let times = 0; times < 5; times++) means.push(await unavailable(ownClient.create(newPayment())))
    const failing = { neverSent: true, counts: true }
    expect(means).toEqual([failing, nothingHappened, nothingHappened, nothingHappened, nothingHappened])
    expect(await ownClient.create(newPayment())).toMatchObject({ state: 'REQUIRES_ACTION' })
  })
})

describe('unusable responses of PayPal', () => {
  test('an unusable response says if the request may have had an effect, and only outages count for the breaker', async () => {
    const named = { name: 'X', message: 'no' }
    const table = [
      [{ status: 403, json: named }, nothingHappened],
      [{ status: 429, json: named }, nothingHappened],
      [
        { status: 409, json: named },
        { neverSent: false, counts: false },
      ],
      [
        { status: 404, json: '<html>' },
        { neverSent: false, counts: false },
      ],
      [{ status: 422 }, { neverSent: false, counts: false }],
      [
        { status: 415, json: named },
        { neverSent: false, counts: false },
      ],
      [{ status: 500, json: named }, mayHaveHappened],
      [{ status: 503, json: 'down' }, mayHaveHappened],
      [{ status: 201 }, unknownAnswer],
      [{ status: 201, json: { status: 'CREATED' } }, unknownAnswer],
      [{ status: 201, json: { id: '1', status: 'CREATED', purchase_units: [] } }, unknownAnswer],
      [
        { status: 201, json: { id: '1', status: 'constructor', purchase_units: [{ amount: { currency_code: 'USD', value: '10.00' } }] } },
        unknownAnswer,
      ],
      [
        { status: 201, json: { id: '1', status: 'COMPLETED', purchase_units: [{ amount: { currency_code: 'USD', value: '10.00' } }] } },
        unknownAnswer,
      ],
    ] as const
    for (const [fault, means] of table) {
      server.fail('POST /v2/checkout/orders', fault)
      expect([fault, await unavailable(paypal().create(newPayment()))]).toEqual([fault, means])
    }
    server.fail('POST /v2/checkout/orders', { status: 400, json: { name: 'INVALID_REQUEST', details: [{ issue: 'a b' }] } })
    expect(await refused(paypal().create(newPayment()))).toBe('INVALID_REQUEST')
    server.fail('POST /v2/checkout/orders', 'late')
    expect(await unavailable(client({}, loopbackPort({ timeoutMs: 100 })).create(newPayment()))).toEqual(mayHaveHappened)
  })
})

describe('PayPal webhooks', () => {
  const expectBadSignature = async (promise: Promise<unknown>) => expect(await thrownBy(promise)).toBeInstanceOf(BadSignature)

  test("a webhook names its payment by our id or one of PayPal's, whatever its type", async () => {
    const payment = await createCaptured()
    await paypal().refund({ ...payment, refundId: newId('refund'), amount: 100, whole: false })
    const types = server.events.map((event) => event['event_type'])
    expect(types).toEqual([
      'CHECKOUT.ORDER.APPROVED',
      'PAYMENT.AUTHORIZATION.CREATED',
      'PAYMENT.CAPTURE.COMPLETED',
      'PAYMENT.CAPTURE.REFUNDED',
    ])
    for (const event of server.events) {
      const message = await paypal().readMessage(server.sent(event))
      expect(message).toMatchObject({ id: event['id'], payment: { paymentId: payment.paymentId, reference: payment.reference } })
    }
    const other = { id: 'WH-1', event_type: 'BILLING.PLAN.CREATED', resource: { id: 'P-1' } }
    expect(await paypal().readMessage(server.sent(other))).toEqual({ id: 'WH-1', payment: undefined })
  })

  test('repeated and reordered webhooks lead to the same state over HTTP, and a forged one is refused', async () => {
    const payment = await createCaptured()
    await using shop = messagesTo(paypal())
    const { length } = server.events
    const messages = server.events.map((event) => server.sent(event))
    const statuses = await deliver(shop.url, messages, { times: 2, reversed: true })
    expect(statuses).toEqual(statuses.map(() => 200))
    expect(new Set(shop.received.map(({ id }) => id)).size).toBe(length)
    for (const { payment: about } of shop.received)
      expect(await paypal().retrieve({ ...payment, reference: about?.reference })).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    const forged = messages.map(({ headers }) => ({ headers, body: Buffer.from('{"id":"WH-1","event_type":"X"}') }))
    server.fail('verify-webhook-signature', { status: 503 })
    expect(await deliver(shop.url, forged)).toEqual([503, ...forged.slice(1).map(() => 401)])
  })

  test('a webhook is verified at PayPal with the exact text that arrived', async () => {
    const body = '{ "id":"WH-1",\n "event_type" : "X", "amount": 10.00, "note":"\\u00fc ü", "n": 1e2 }'
    const { headers } = server.sent({})
    const verification = paypal().readMessage({ body: Buffer.from(body), headers })
    await expectBadSignature(verification)
    expect(server.requests.at(-1)?.body.endsWith(`"webhook_event":${body}}`)).toBe(true)
    for (const spaces of [0, 3])
      expect(await paypal().readMessage(server.sent({ id: 'WH-2', event_type: 'X' }, { spaces }))).toMatchObject({ id: 'WH-2' })
  })

  test('an unknown webhook is refused, and obviously invalid ones without a request to PayPal', async () => {
    const { body, headers } = server.sent({ id: 'WH-1', event_type: 'X' })
    const changed = (name: string, value: string) => {
      const other = new Headers(headers)
      other.set(name, value)
      return other
    }
    const at = (ms: number) => changed('paypal-transmission-time', new Date(Date.now() + ms).toISOString())
    await expectBadSignature(paypal().readMessage({ body: Buffer.from('{"id":"WH-2","event_type":"X"}'), headers }))
    await expectBadSignature(paypal().readMessage({ body, headers: changed('paypal-transmission-id', crypto.randomUUID()) }))
    await expectBadSignature(paypal().readMessage({ body, headers: at(-29 * dayMs) }))
    await expectBadSignature(client({ webhookId: 'WH-OTHER' }).readMessage({ body, headers }))
    server.requests.length = 0
    const invalidHeaders: [string, string][] = [
      ['paypal-auth-algo', 'MD5'],
      ['paypal-cert-url', 'https://paypal.com.evil.example/cert'],
      ['paypal-cert-url', 'https://evilpaypal.com/cert'],
      ['paypal-cert-url', 'http://api.paypal.com/cert'],
      ['paypal-cert-url', 'https://evil.example/?.paypal.com/'],
      ['paypal-transmission-sig', '","x":"'],
      ['paypal-transmission-time', 'now'],
      ['paypal-transmission-time', '2026-13-45T09:00:00Z'],
      ['paypal-transmission-id', ''],
    ]
    for (const [name, value] of invalidHeaders) await expectBadSignature(paypal().readMessage({ body, headers: changed(name, value) }))
    await expectBadSignature(paypal().readMessage({ body, headers: new Headers() }))
    for (const text of [
      '',
      'null',
      '{}',
      '{"id":"WH-1"}',
      '{"event_type":1}',
      '[]',
      '"x"',
      '{',
      '{},"webhook_id":"other"',
      '{}}{',
      '\ufeff{}',
    ])
      await expectBadSignature(paypal().readMessage({ body: Buffer.from(text), headers }))
    await expectBadSignature(paypal().readMessage({ body: Buffer.from([0x7b, 0xff, 0x7d]), headers }))
    for (const blank of [undefined, '', ' ']) await expectBadSignature(client({ webhookId: blank }).readMessage({ body, headers }))
    expect(calls()).toEqual([])
  })

  test('a webhook cannot be verified while PayPal is unavailable', async () => {
    const message = server.sent({ id: 'WH-1', event_type: 'X' })
    server.fail(
      'verify-webhook-signature',
      { status: 503 },
      { status: 429 },
      { status: 200, json: { verification_status: 'MAYBE' } },
      { status: 400, json: { name: 'VALIDATION_ERROR' } },
    )
    expect(await unavailable(paypal().readMessage(message))).toEqual(mayHaveHappened)
    expect(await unavailable(paypal().readMessage(message))).toEqual(nothingHappened)
    expect(await unavailable(paypal().readMessage(message))).toEqual(unknownAnswer)
    await expectBadSignature(paypal().readMessage(message))
    expect(await paypal().readMessage(message)).toEqual(await paypal().readMessage(message))
  })

  test('verification waits for its slot and releases it, and an invalid webhook takes none', async () => {
    const ownClient = client()
    await ownClient.probe()
    server.requests.length = 0
    let [slots, ended] = [0, 0]
    const turn = async () => {
      slots++
      expect(calls()).toHaveLength(slots - 1)
      return () => void ended++
    }
    await expectBadSignature(ownClient.readMessage({ ...server.sent({ id: 'WH-1' }), turn }))
    expect(slots).toBe(0)
    await ownClient.readMessage({ ...server.sent({ id: 'WH-1', event_type: 'X' }), turn })
    await expectBadSignature(ownClient.readMessage({ ...server.sent({}), body: Buffer.from('{"event_type":"X"}'), turn }))
    server.fail('verify-webhook-signature', { status: 503 })
    await unavailable(ownClient.readMessage({ ...server.sent({ event_type: 'X' }), turn }))
    expect([slots, ended]).toEqual([3, 3])
    const refused = new Error('no turn')
    const verification = ownClient.readMessage({ ...server.sent({ event_type: 'X' }), turn: () => Promise.reject(refused) })
    expect(await thrownBy(verification)).toBe(refused)
    expect(calls()).toHaveLength(3)
  })

  test('a webhook without an id gets the digest of its text as id', async () => {
    const message = server.sent({ event_type: 'X' })
    expect((await paypal().readMessage(message)).id).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test('a dispute webhook says who has the money, and one in unknown words is about its payment only', async () => {
    const payment = await createCaptured()
    const dispute = async (resource: object) => {
      const transactions = [{ seller_transaction_id: payment.references['capture'] }]
      const event = {
        id: 'WH-1',
        event_type: 'CUSTOMER.DISPUTE.UPDATED',
        resource: { dispute_id: 'PP-D-1', disputed_transactions: transactions, ...resource },
      }
      const message = await paypal().readMessage(server.sent(event))
      expect(message.payment).toMatchObject({ paymentId: payment.paymentId, reference: payment.reference })
      return message.dispute
    }
    const about = { dispute_amount: { currency_code: 'USD', value: '10.00' }, dispute_life_cycle_stage: 'CHARGEBACK' }
    const response = { reference: 'PP-D-1', amount: 1000, currency: 'USD' }
    expect(await dispute({ ...about, status: 'UNDER_REVIEW' })).toEqual({ ...response, state: 'OPEN' })
    for (const [outcome, state] of [
      ['RESOLVED_BUYER_FAVOUR', 'LOST'],
      ['RESOLVED_SELLER_FAVOUR', 'WON'],
    ] as const)
      expect(await dispute({ ...about, status: 'RESOLVED', dispute_outcome: { outcome_code: outcome } })).toEqual({ ...response, state })
    expect(await dispute({ ...about, status: 'RESOLVED' })).toBeUndefined()
    expect(await dispute({ ...about, dispute_life_cycle_stage: 'INQUIRY', status: 'OPEN' })).toBeUndefined()
    expect(await dispute({ status: 'OPEN' })).toBeUndefined()
  })
})

describe('a PayPal account', () => {
  test('a PayPal account is test or live by its host', () => {
    expect(client().mode).toBe('TEST')
    expect(client({ apiUrl: 'https://api-m.sandbox.paypal.com' }).mode).toBe('TEST')
    expect(client({ apiUrl: undefined }).mode).toBe('LIVE')
    expect(client({ apiUrl: 'https://sandboxes.example' }).mode).toBe('LIVE')
  })

  test('the probe requests its own token, and distinguishes a wrong secret from an outage', async () => {
    const ownClient = client()
    await ownClient.probe()
    await ownClient.probe()
    expect(calls()).toEqual(['POST /v1/oauth2/token', 'POST /v1/oauth2/token'])
    expect(await refused(client({ secret: 'wrong' }).probe())).toBe('credentials')
    server.fail('/v1/oauth2/token', { status: 503 }, { status: 429 })
    expect((await unavailable(ownClient.probe())).counts).toBe(true)
    expect((await unavailable(ownClient.probe())).counts).toBe(false)
  })
})
