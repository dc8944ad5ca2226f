import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { portOfOperation } from '../../../src/clients/processors/call.ts'
import { BadSignature } from '../../../src/clients/processors/processor.ts'
import { createQpay, qpayCapabilities } from '../../../src/clients/processors/qpay/client.ts'
import type { SafeFetch } from '../../../src/core/outgoing.ts'
import { currencies } from '../../../src/lib/money.ts'
import { longTestMs } from '../../support/timeouts.ts'
import {
  describeFault,
  failure,
  inspectError,
  isOutage,
  notSent,
  realPort,
  shortMs,
  unknown,
  unknownAnswer,
  unknownOutcomes,
} from './outcomes.ts'
import { type QpayServer, type QpayServerOptions, startQpayServer } from './qpay-server.ts'

setDefaultTimeout(longTestMs)

const messagesUrl = 'http://127.0.0.1/webhooks/payments/qpay/callback/8Jq0unguessable'
const order = {
  paymentId: 'pay_01k7h8m3vefq7v0x2y4z6a8b9c',
  amount: 1_000_000,
  currency: 'MNT',
  token: undefined,
  returnUrl: undefined,
  messagesUrl,
}
const requested = { paymentId: order.paymentId, amount: order.amount, currency: 'MNT' }
const refundId = 'ref_01k7h8m3vefq7v0x2y4z6a8b9c'
const anHour = 3_600_000

const servers: QpayServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    await server.close()
    expect(server.violations).toEqual([])
  }
})

type Setting = QpayServerOptions & { around?: (fetch: SafeFetch, server: QpayServer) => SafeFetch }

async function createMerchant({ around = (fetch) => fetch, ...options }: Setting = {}) {
  const server = await startQpayServer(options)
  servers.push(server)
  const port = { ...realPort, now: options.now ?? Date.now, fetch: around(realPort.fetch, server) }
  const qpay = createQpay(server.account, port)
  return { server, qpay, port }
}

/** Creates a merchant with an unpaid invoice. */
async function withInvoice(setting: Setting = {}) {
  const created = await createMerchant(setting)
  const { reference } = await created.qpay.create(order)
  return { ...created, reference, name: { ...requested, reference } }
}

describe('a QPay invoice', () => {
  test('create asks for the exact amount in tugriks under our id and returns what the page shows', async () => {
    const { server, qpay } = await createMerchant()
    const created = await qpay.create(order)
    expect(server.routes()).toEqual(['POST /v2/auth/token', 'POST /v2/invoice'])
    expect(server.requests[1]?.json).toEqual({
      invoice_code: server.account.invoiceCode,
      sender_invoice_no: order.paymentId,
      invoice_receiver_code: 'terminal',
      invoice_description: order.paymentId,
      amount: 10_000,
      callback_url: messagesUrl,
    })
    const [invoice] = server.invoices.values()
    expect(created).toEqual({
      reference: invoice?.id ?? '',
      state: 'REQUIRES_ACTION',
      authorized: 0,
      captured: 0,
      clientParameters: {
        qrText: expect.stringContaining(invoice?.id ?? '?'),
        qrImage: expect.stringMatching(/^iVBOR/),
        shortUrl: expect.stringMatching(/^https:\/\/s\.qpay\.mn\//),
        urls: expect.arrayContaining([
          {
            name: 'khanbank',
            description: 'khanbank апп',
            logo: 'https://qpay.mn/q/logo/khanbank.png',
            link: expect.stringMatching(/^khanbank:\/\/q\?qPay_QRcode=/),
          },
        ]),
      },
    })
  })

  test('create refuses other currencies, fractions, zero and a missing callback URL before any request', async () => {
    const { server, qpay } = await createMerchant()
    for (const [unsupported, code] of [
      [{ currency: 'USD' }, 'amount_not_supported'],
      [{ currency: 'mnt' }, 'amount_not_supported'],
      [{ amount: 1_000_050 }, 'amount_not_supported'],
      [{ amount: 0 }, 'amount_not_supported'],
      [{ amount: -100 }, 'amount_not_supported'],
      [{ messagesUrl: `http://127.0.0.1/${'x'.repeat(255)}` }, 'callback_url_not_supported'],
      [{ messagesUrl: '' }, 'callback_url_not_supported'],
    ] as const)
      expect(await failure(qpay.create({ ...order, ...unsupported }))).toEqual({ refused: code })
    expect(server.requests).toEqual([])
  })

  test('QPay supports only whole tugriks above zero, and each is sent exactly', async () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000_000 }), fc.integer({ min: 1, max: 99 }), (tugriks, fraction) => {
        expect(qpayCapabilities.supportsAmount({ amount: tugriks * 100, currency: 'MNT' })).toBe(true)
        expect(qpayCapabilities.supportsAmount({ amount: tugriks * 100 + fraction, currency: 'MNT' })).toBe(false)
      }),
    )
    expect(currencies.filter((currency) => qpayCapabilities.supportsCurrency(currency))).toEqual(['MNT'])
    expect(currencies.filter((currency) => qpayCapabilities.supportsAmount({ amount: 10_000, currency }))).toEqual(['MNT'])
    for (const amount of [0, -100, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect(qpayCapabilities.supportsAmount({ amount, currency: 'MNT' })).toBe(false)
    const { server, qpay } = await createMerchant()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000_000_000 }), async (tugriks) => {
        const { reference } = await qpay.create({ ...order, amount: tugriks * 100 })
        expect(server.requests.at(-1)?.body).toContain(`"amount":${BigInt(tugriks)},`)
        server.pay(reference)
        expect(await qpay.retrieve({ ...requested, reference, amount: tugriks * 100 })).toMatchObject({
          state: 'CAPTURED',
          captured: tugriks * 100,
        })
      }),
      { numRuns: 20 },
    )
  })

  test('unsafe links, invalid images and entries without a name are removed from what the page shows', async () => {
    const { server, qpay } = await createMerchant()
    const urls = [
      { name: 'bank', link: 'khanbank://q?x=1', logo: 'javascript:alert(1)' },
      { name: 'bad', link: 'javascript:alert(1)' },
      { name: 'bad', link: ' JavaScript:alert(1)' },
      { name: 'bad', link: 'data:text/html,x' },
      { link: 'khanbank://q' },
      { name: 7, link: 'khanbank://q' },
      'bank',
      null,
    ]
    const json = { invoice_id: 'i-1', qr_text: 5, qr_image: '"><script>', qPay_shortUrl: 'javascript:alert(1)', urls }
    server.fail(/POST \/v2\/invoice/, { status: 200, json })
    expect((await qpay.create(order)).clientParameters).toEqual({ urls: [{ name: 'bank', link: 'khanbank://q?x=1' }] })
  })
})

describe('the QPay access token', () => {
  test('concurrent calls share one token request, and a refused token is renewed once', async () => {
    const { server, qpay } = await createMerchant()
    await Promise.all(Array.from({ length: 12 }, () => qpay.create(order)))
    expect(server.tokensGiven()).toBe(1)
    server.revokeTokens()
    const created = await Promise.all(Array.from({ length: 12 }, () => qpay.create(order)))
    expect(server.tokensGiven()).toBe(2)
    expect(server.invoices.size).toBe(24)
    expect(new Set(created.map(({ reference }) => reference)).size).toBe(12)
  })

  test('a call refused with a token that was renewed in the meantime uses the new one', async () => {
    const { server, qpay } = await createMerchant()
    await qpay.create(order)
    server.revokeTokens()
    await qpay.create(order)
    await qpay.create(order)
    expect(server.tokensGiven()).toBe(2)
  })

  for (const expiresIn of ['time', 'duration'] as const)
    test(`a token whose expiry is a ${expiresIn} is renewed shortly before it ends`, async () => {
      let now = Date.UTC(2026, 10, 22)
      const { server, qpay } = await createMerchant({ expiresIn, now: () => now })
      await qpay.create(order)
      now += 23 * anHour
      await qpay.create(order)
      expect(server.tokensGiven()).toBe(1)
      now += anHour - 30_000
      await qpay.create(order)
      expect(server.tokensGiven()).toBe(2)
      expect(
        server.requests.every(({ path, headers }) => path.endsWith('/auth/token') || headers.get('authorization')?.startsWith('Bearer ')),
      ).toBe(true)
    })

  test('nothing is sent without a token; an outage counts for the breaker and a wrong password does not', async () => {
    const { server, qpay, port } = await createMerchant()
    for (const fault of unknownOutcomes) {
      const timeoutMs = fault === 'silent' ? shortMs : port.timeoutMs
      server.fail(/token/, fault)
      expect([describeFault(fault), await failure(createQpay(server.account, { ...port, timeoutMs: timeoutMs }).create(order))]).toEqual([
        describeFault(fault),
        { unavailable: { neverSent: true, counts: isOutage(fault) } },
      ])
    }
    const otherClient = createQpay({ ...server.account, password: 'wrong' }, port)
    expect(await failure(otherClient.create(order))).toEqual(notSent)
    expect(await failure(otherClient.probe())).toEqual({ refused: 'credentials' })
    expect(server.routes().filter((route) => !route.includes('token'))).toEqual([])
    await qpay.create(order)
  })

  test('a token refused twice means that nothing was done', async () => {
    const { server, qpay } = await createMerchant()
    for (let time = 0; time < 2; time++) server.fail(/invoice/, { status: 401, json: { error: 'AUTHENTICATION_FAILED' } })
    expect(await failure(qpay.create(order))).toEqual(notSent)
    expect(server.routes()).toEqual(['POST /v2/auth/token', 'POST /v2/invoice', 'POST /v2/auth/token', 'POST /v2/invoice'])
  })

  test('each probe requests its own token', async () => {
    const { server, qpay, port } = await createMerchant()
    await qpay.probe()
    await qpay.probe()
    expect(server.routes()).toEqual(['POST /v2/auth/token', 'POST /v2/auth/token'])
    for (const fault of unknownOutcomes) {
      const timeoutMs = fault === 'silent' ? shortMs : port.timeoutMs
      server.fail(/token/, fault)
      expect([describeFault(fault), await failure(createQpay(server.account, { ...port, timeoutMs: timeoutMs }).probe())]).toEqual([
        describeFault(fault),
        isOutage(fault) ? unknown : unknownAnswer,
      ])
    }
    server.fail(/token/, { status: 429, json: {} })
    expect(await failure(qpay.probe())).toEqual(notSent)
  })
})

describe('the state of a QPay invoice', () => {
  for (const amounts of ['text', 'number'] as const)
    test(`an invoice is CAPTURED once fully paid, with amounts written as ${amounts}`, async () => {
      const { server, qpay, reference, name } = await withInvoice({ amounts })
      expect(await qpay.retrieve(name)).toEqual({ reference, state: 'REQUIRES_ACTION', authorized: 0, captured: 0 })
      const payment = server.pay(reference)
      const paid = { reference, references: { payment }, state: 'CAPTURED', authorized: 1_000_000, captured: 1_000_000 } as const
      expect(await qpay.retrieve(name)).toEqual(paid)
      expect(await qpay.capture(name)).toEqual(paid)
    })

  test('a partial payment is reported but not CAPTURED, and an overpayment reports the amount that was paid', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    server.pay(reference, { amount: 9_999 })
    expect(await qpay.retrieve(name)).toMatchObject({ state: 'REQUIRES_ACTION', captured: 999_900 })
    expect(await qpay.capture(name)).toMatchObject({ state: 'REQUIRES_ACTION', captured: 999_900 })
    server.pay(reference, { amount: 1 })
    expect(await qpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1_000_000 })
    server.pay(reference)
    expect(await qpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 2_000_000 })
  })

  for (const statusOncePaid of ['OPEN', 'CLOSED', 'PAID'] as const)
    test(`the payments of an invoice decide and not its status, which may be ${statusOncePaid} once paid`, async () => {
      const { server, qpay, reference, name } = await withInvoice({ statusOncePaid })
      server.pay(reference)
      expect(await qpay.retrieve(name)).toMatchObject({ state: 'CAPTURED' })
      server.fail(/check/, { status: 200, json: { count: 0, rows: [] } })
      expect(await qpay.retrieve(name)).toMatchObject({ state: 'REQUIRES_ACTION', captured: 0 })
    })

  test('failed payments and payments in another currency do not count', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    server.pay(reference, { status: 'FAILED' })
    server.pay(reference, { currency: 'USD' })
    expect(await qpay.retrieve(name)).toMatchObject({ state: 'REQUIRES_ACTION', captured: 0 })
  })

  test('a payment that is listed twice counts once', async () => {
    const { server, qpay, name } = await withInvoice()
    const row = { payment_id: 5, payment_status: 'PAID', payment_amount: '5000' }
    server.fail(/check/, { status: 200, json: { count: 2, rows: [row, row] } })
    expect(await qpay.retrieve(name)).toMatchObject({ state: 'REQUIRES_ACTION', captured: 500_000, references: { payment: '5' } })
  })

  test('an unknown invoice is undefined, and a missing reference is unavailable without a request', async () => {
    const { server, qpay } = await createMerchant()
    expect(await qpay.retrieve({ ...requested, reference: crypto.randomUUID() })).toBeUndefined()
    expect(await failure(qpay.void({ ...requested, reference: crypto.randomUUID() }))).toEqual({ refused: 'not_found' })
    expect(await failure(qpay.capture({ ...requested, reference: crypto.randomUUID() }))).toEqual({ refused: 'not_found' })
    const before = server.requests.length
    for (const call of [qpay.retrieve, qpay.capture, qpay.void])
      expect(await failure(call({ ...requested, reference: undefined }))).toEqual({ unavailable: { neverSent: false, counts: false } })
    expect(server.requests).toHaveLength(before)
  })

  test('a QPay reference is escaped in the request path', async () => {
    const { server, qpay } = await createMerchant()
    server.fail(/invoice/, { status: 404, json: { error: 'INVOICE_NOTFOUND' } })
    expect(await qpay.retrieve({ ...requested, reference: '../auth/token?a=b' })).toBeUndefined()
    expect(server.routes().at(-1)).toBe('GET /v2/invoice/..%2Fauth%2Ftoken%3Fa%3Db')
  })
})

test('in a demonstration, the invoice page pays it once and calls back, and QPay lists the payment', async () => {
  const calls: string[] = []
  const called = Promise.withResolvers<void>()
  using listener = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url, method }) {
      calls.push(`${method} ${new URL(url).pathname}${new URL(url).search}`)
      called.resolve()
      return new Response('SUCCESS')
    },
  })
  const { qpay } = await createMerchant({ pages: true })
  const created = await qpay.create({ ...order, messagesUrl: `${listener.url}callback/unguessable` })
  const page = String(created.clientParameters?.['shortUrl'])
  const pageResponse = await fetch(page)
  expect([pageResponse.status, await pageResponse.text()]).toEqual([200, expect.stringContaining('10000 MNT')])
  const pay = async () => (await fetch(page, { method: 'POST' })).status
  expect([await pay(), await pay()]).toEqual([200, 404])
  await called.promise
  const found = await qpay.retrieve({ ...requested, reference: created.reference })
  expect(found).toMatchObject({ state: 'CAPTURED', captured: 1_000_000 })
  expect(calls).toEqual([`GET /callback/unguessable?qpay_payment_id=${found?.references?.['payment']}`])
})

describe('voiding a QPay invoice', () => {
  test('a voided invoice cannot be paid, and repeating void changes nothing', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    const voided = { reference, state: 'VOIDED', authorized: 0, captured: 0 } as const
    expect(await qpay.void(name)).toEqual(voided)
    expect(() => server.pay(reference)).toThrow('cannot be paid')
    expect(await qpay.void(name)).toEqual(voided)
    expect(await qpay.retrieve(name)).toEqual(voided)
    expect(server.routes().filter((route) => route.startsWith('DELETE'))).toHaveLength(1)
  })

  test('void reports a partial payment', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    server.pay(reference, { amount: 4_000 })
    expect(await qpay.void(name)).toMatchObject({ state: 'VOIDED', captured: 400_000 })
    expect(await qpay.retrieve(name)).toMatchObject({ state: 'VOIDED', captured: 400_000 })
  })

  test('void succeeds when QPay deletes the invoice with an empty response', async () => {
    const { server, qpay, name } = await withInvoice()
    server.fail(/DELETE/, { status: 204 })
    expect(await qpay.void(name)).toMatchObject({ state: 'VOIDED', captured: 0 })
  })

  test('void leaves a paid invoice as it is', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    server.pay(reference)
    expect(await qpay.void(name)).toMatchObject({ state: 'CAPTURED', captured: 1_000_000 })
    expect(server.routes().filter((route) => route.startsWith('DELETE'))).toEqual([])
  })

  for (const deletePaid of ['refused', 'accepted'] as const)
    test(`void returns CAPTURED when the invoice was just paid and the deletion is ${deletePaid}`, async () => {
      const { qpay, name } = await withInvoice({
        deletePaid,
        around: (fetch, server) => (url, options) => {
          if (options.method === 'DELETE') for (const id of server.invoices.keys()) server.pay(id)
          return fetch(url, options)
        },
      })
      expect(await qpay.void(name)).toMatchObject({ state: 'CAPTURED', captured: 1_000_000 })
    })

  test('after a lost response to void, the second request voids', async () => {
    const { server, qpay, name } = await withInvoice()
    server.fail(/DELETE/, 'lost')
    expect(await failure(qpay.void(name))).toEqual(unknown)
    expect(await qpay.void(name)).toMatchObject({ state: 'VOIDED' })
  })

  test('void is refused with the code of QPay when the invoice is still open', async () => {
    for (const field of ['error', 'error_code'] as const) {
      const { server, qpay, name } = await withInvoice()
      server.fail(/DELETE/, { status: 400, json: { [field]: 'MERCHANT_INACTIVE', message: 'secret details' } })
      expect(await failure(qpay.void(name))).toEqual({ refused: 'MERCHANT_INACTIVE' })
    }
  })
})

describe('a QPay refund', () => {
  const refund = { refundId, whole: true }

  test('a card payment is refunded whole, and once however often it is repeated', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    const payment = server.pay(reference, { type: 'CARD' })
    expect(await qpay.retrieveRefund({ ...name, refundId, refundReference: undefined })).toBeUndefined()
    const refunded = { reference: undefined, state: 'SUCCEEDED' } as const
    expect(await qpay.refund({ ...name, ...refund })).toEqual(refunded)
    expect(await qpay.refund({ ...name, ...refund })).toEqual(refunded)
    expect(await qpay.retrieveRefund({ ...name, refundId, refundReference: undefined })).toEqual(refunded)
    expect(server.routes().filter((route) => route.startsWith('DELETE'))).toEqual([`DELETE /v2/payment/refund/${payment}`])
    expect(await qpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1_000_000, refunded: 1_000_000 })
  })

  test('a partial refund is refused before any request', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    server.pay(reference, { type: 'CARD' })
    const before = server.requests.length
    expect(await failure(qpay.refund({ ...name, refundId, amount: 500_000, whole: false }))).toEqual({ refused: 'refund_not_supported' })
    expect(server.requests).toHaveLength(before)
  })

  for (const [what, payments] of [
    ['a bank transfer', [{ type: 'P2P' }]],
    ['two payments', [{ type: 'CARD' }, { type: 'CARD' }]],
    ['a payment of which one more was refunded', [{ type: 'CARD' }, { type: 'CARD', status: 'REFUNDED' }]],
    ['a payment of another amount', [{ type: 'CARD', amount: 20_000 }]],
    [
      'two cards for one invoice',
      [
        { type: 'CARD', amount: 4_000 },
        { type: 'CARD', amount: 6_000 },
      ],
    ],
  ] as const)
    test(`a refund of ${what} must be made by hand`, async () => {
      const { server, qpay, reference, name } = await withInvoice()
      for (const payment of payments) server.pay(reference, payment)
      expect(await failure(qpay.refund({ ...name, ...refund }))).toEqual({ refused: 'refund_not_supported' })
      expect(server.routes().filter((route) => route.startsWith('DELETE'))).toEqual([])
    })

  test('a 404 page of a proxy does not mean that the invoice is unpaid', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    server.pay(reference, { type: 'CARD' })
    server.fail(/check/, { status: 404, json: '<html>', headers: { 'content-type': 'text/html' } })
    expect(await failure(qpay.refund({ ...name, ...refund }))).toEqual(notSent)
    expect(await qpay.refund({ ...name, ...refund })).toMatchObject({ state: 'SUCCEEDED' })
  })

  test('a refund of an unpaid invoice is refused', async () => {
    const { qpay, name } = await withInvoice()
    expect(await failure(qpay.refund({ ...name, ...refund }))).toEqual({ refused: 'not_paid' })
  })

  test('a refund whose response was lost is found when QPay lists it, and stays unknown otherwise', async () => {
    for (const refundedRow of ['REFUNDED', 'gone'] as const) {
      const { server, qpay, reference, name } = await withInvoice({ refundedRow })
      server.pay(reference, { type: 'CARD' })
      server.fail(/DELETE/, 'lost')
      expect(await failure(qpay.refund({ ...name, ...refund }))).toEqual(unknown)
      const found = qpay.retrieveRefund({ ...name, refundId, refundReference: undefined })
      if (refundedRow === 'REFUNDED') expect(await found).toEqual({ reference: undefined, state: 'SUCCEEDED' })
      else expect(await failure(found)).toEqual({ unavailable: { neverSent: false, counts: false } })
    }
  })

  test('a refund that QPay refuses fails with its code, or is done if it was made elsewhere in the meantime', async () => {
    const { server, qpay, reference, name } = await withInvoice()
    server.pay(reference, { type: 'CARD' })
    for (const [status, code] of [
      [400, 'TRANSACTION_NOT_APPROVED'],
      [404, 'PAYMENT_NOTFOUND'],
      [409, 'PAYMENT_ALREADY_CANCELED'],
      [422, 'INVALID_AMOUNT'],
    ] as const) {
      server.fail(/DELETE/, { status, json: { error: code, message: 'secret details' } })
      expect(await failure(qpay.refund({ ...name, ...refund }))).toEqual({ refused: code })
    }
    server.fail(/DELETE/, () => ({ status: 400, json: { error: 'PAYMENT_ALREADY_CANCELED' } }))
    expect(await qpay.refund({ ...name, ...refund })).toMatchObject({ state: 'SUCCEEDED' })
  })
})

describe('failed requests to QPay', () => {
  type InvoiceContext = Awaited<ReturnType<typeof withInvoice>>
  const refundCard = ({ server, qpay, reference, name }: InvoiceContext) => {
    if (server.invoices.get(reference)?.payments.length === 0) server.pay(reference, { type: 'CARD' })
    return qpay.refund({ ...name, refundId, whole: true })
  }
  const verbs: Record<string, { route: RegExp; call: (created: InvoiceContext) => Promise<unknown>; precedesWrite?: boolean }> = {
    create: { route: /POST \/v2\/invoice/, call: ({ qpay }) => qpay.create(order) },
    'retrieve, reading payments': { route: /check/, call: ({ qpay, name }) => qpay.retrieve(name) },
    'retrieve, reading the invoice': { route: /GET/, call: ({ qpay, name }) => qpay.retrieve(name) },
    void: { route: /DELETE/, call: ({ qpay, name }) => qpay.void(name) },
    refund: { route: /DELETE/, call: refundCard },
    'refund, reading payments': { route: /check/, call: refundCard, precedesWrite: true },
    'find refund': { route: /check/, call: ({ qpay, name }) => qpay.retrieveRefund({ ...name, refundId, refundReference: undefined }) },
  }

  for (const [verb, { route, call, precedesWrite = false }] of Object.entries(verbs)) {
    test(`${verb}: an unusable response leaves the outcome unknown unless nothing was sent, and only outages count for the breaker`, async () => {
      for (const fault of unknownOutcomes) {
        // The response to a deletion is empty.
        if (route.source === 'DELETE' && typeof fault === 'object' && fault.status === 200) continue
        const created = await withInvoice()
        const withShortLimit = {
          ...created,
          qpay: createQpay(created.server.account, { ...created.port, timeoutMs: fault === 'silent' ? shortMs : created.port.timeoutMs }),
        }
        await withShortLimit.qpay.probe()
        created.server.fail(route, fault)
        expect([describeFault(fault), await failure(call(withShortLimit))]).toEqual([
          describeFault(fault),
          { unavailable: { neverSent: precedesWrite, counts: isOutage(fault) } },
        ])
      }
    })

    test(`${verb}: 403 and 429 mean nothing was sent and do not count for the breaker`, async () => {
      const created = await withInvoice()
      for (const status of [403, 429]) {
        created.server.fail(route, { status, json: { error: 'PERMISSION_DENIED' } })
        expect([status, await failure(call(created))]).toEqual([status, notSent])
      }
    })
  }

  test('a refused invoice has the code of QPay or the HTTP status, and a conflict leaves it unknown', async () => {
    const { server, qpay } = await createMerchant()
    for (const [status, json, code] of [
      [400, { error: 'INVOICE_CODE_INVALID' }, 'INVOICE_CODE_INVALID'],
      [422, { error_code: 'INVALID_AMOUNT' }, 'INVALID_AMOUNT'],
      [404, { message: 'no' }, 'http_404'],
      [400, { error: 'a sentence with <b>markup</b>' }, 'http_400'],
      [400, null, 'http_400'],
    ] as const) {
      server.fail(/invoice/, { status, json })
      expect(await failure(qpay.create(order))).toEqual({ refused: code })
    }
    server.fail(/invoice/, { status: 400, json: '<html>' })
    expect(await failure(qpay.create(order))).toEqual({ refused: 'http_400' })
    server.fail(/invoice/, { status: 409, json: {} })
    expect(await failure(qpay.create(order))).toEqual({ unavailable: { neverSent: false, counts: false } })
    const wrongCode = createQpay({ ...server.account, invoiceCode: 'OTHER' }, { ...realPort, now: Date.now })
    expect(await failure(wrongCode.create(order))).toEqual({ refused: 'INVOICE_CODE_INVALID' })
  })

  test('an invoice whose response was lost is made again by a repeated create', async () => {
    const { server, qpay } = await createMerchant()
    server.fail(/invoice/, 'lost')
    expect(await failure(qpay.create(order))).toEqual(unknown)
    await qpay.create(order)
    expect(server.invoices.size).toBe(2)
    expect(qpay.capabilities).toMatchObject({ createRepeatsMs: 0, refundRepeatsMs: 0, findable: false })
  })

  test('for arbitrary JSON, money counts only for rows with the status PAID', async () => {
    const created = await withInvoice()
    const row = fc.record(
      {
        payment_id: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
        payment_status: fc.constantFrom('PAID', 'NEW', 'paid', 'FAILED', '', null, 1),
        payment_amount: fc.oneof(fc.constantFrom('10000.00', '10000', 10_000, '1e4', '-1', '10000.005', ' 10000', null, {}), fc.double()),
        payment_currency: fc.constantFrom('MNT', 'USD', null, undefined),
      },
      { requiredKeys: [] },
    )
    const answers = fc.oneof(
      fc.jsonValue(),
      fc.record({ count: fc.integer(), rows: fc.oneof(fc.jsonValue(), fc.array(fc.oneof(row, fc.jsonValue()))) }),
    )
    await fc.assert(
      fc.asyncProperty(answers, async (json) => {
        created.server.fail(/check/, { status: 200, json })
        const found = await created.qpay.retrieve(created.name).catch((error: unknown) => error)
        if (found instanceof Error) expect(await failure(Promise.reject(found))).toEqual(unknownAnswer)
        else if ((found as { captured: number }).captured > 0) expect(JSON.stringify(json)).toContain('"PAID"')
      }),
      { numRuns: 150 },
    )
  })

  test('no error contains the password, a token or text of QPay', async () => {
    const created = await withInvoice()
    const { server, qpay, name } = created
    const secrets = [
      server.account.password,
      Buffer.from(`${server.account.username}:${server.account.password}`).toString('base64'),
      'access-',
      'secret details',
    ]
    const errors: string[] = []
    const otherClient = createQpay({ ...server.account, invoiceCode: 'OTHER' }, { ...realPort, now: Date.now })
    errors.push(await inspectError(otherClient.create(order)))
    for (const [route, fault] of [
      [/invoice/, 'lost'],
      [/invoice/, 'garbage'],
      [/invoice/, { status: 500, json: { message: 'secret details' } }],
    ] as const) {
      server.fail(route, fault)
      errors.push(await inspectError(qpay.create(order)))
    }
    server.fail(/token/, 'lost')
    server.revokeTokens()
    errors.push(await inspectError(qpay.void(name)))
    for (const text of errors) for (const secret of secrets) expect(text).not.toContain(secret)
    expect(errors.every((text) => text !== '')).toBe(true)
  })
})

describe('a QPay account', () => {
  test('an account is test on a sandbox or this machine, and live elsewhere', () => {
    const account = { username: 'u', password: 'p', invoiceCode: 'c' }
    const modeAt = (apiUrl?: string) => createQpay({ ...account, apiUrl }, { ...realPort, now: Date.now }).mode
    expect(modeAt()).toBe('LIVE')
    for (const url of ['https://merchant-sandbox.qpay.mn/v2', 'http://127.0.0.1:1', 'http://localhost:1/v2', 'http://[::1]:1'])
      expect([url, modeAt(url)]).toEqual([url, 'TEST'])
    for (const url of [
      'https://merchant.qpay.mn/v2/',
      'https://qpay.example/sandbox',
      'https://nosandboxes.example',
      'https://127.0.0.1.example',
    ])
      expect([url, modeAt(url)]).toEqual([url, 'LIVE'])
  })

  test('the API URL is accepted with or without the version', async () => {
    for (const ending of ['', '/', '/v2', '/v2/']) {
      const { server } = await createMerchant()
      await createQpay({ ...server.account, apiUrl: `${server.url}${ending}` }, { ...realPort, now: Date.now }).probe()
      expect(server.routes()).toEqual(['POST /v2/auth/token'])
    }
  })

  test('every message is refused, because QPay signs none', async () => {
    const { qpay } = await createMerchant()
    expect(qpay.readMessage({ body: new Uint8Array(), headers: new Headers() })).rejects.toBeInstanceOf(BadSignature)
  })

  test('all requests of one call share its time limit', () => {
    let now = 1_000
    const verb = portOfOperation({ ...realPort, timeoutMs: 25_000, now: () => now })
    expect(verb.timeoutMs).toBe(25_000)
    now += 24_000
    expect(verb.timeoutMs).toBe(1_000)
    now += 10_000
    expect(verb.timeoutMs).toBe(1)
    now -= 1_000_000
    expect(verb.timeoutMs).toBe(25_000)
  })
})
