import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { btcpayCapabilities, createBtcpay } from '../../../src/clients/processors/btcpay/client.ts'
import { amountMax, currencies, decimalsOf } from '../../../src/lib/money.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { type BtcpayServer, type BtcpayServerOptions, startBtcpayServer } from './btcpay-server.ts'
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

setDefaultTimeout(longTestMs)

const order = {
  paymentId: 'pay_01k7h8m3vefq7v0x2y4z6a8b9c',
  amount: 1000,
  currency: 'USD',
  token: undefined,
  returnUrl: 'https://shop.example/done',
}
const requested = { paymentId: order.paymentId, amount: order.amount, currency: 'USD' }
const refundId = 'ref_01k7h8m3vefq7v0x2y4z6a8b9c'
const noRefundYet = { refundId, refundReference: undefined }
const uncounted = { unavailable: { neverSent: false, counts: false } }

const servers: BtcpayServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    await server.close()
    expect(server.violations).toEqual([])
  }
})

async function createShop(options: BtcpayServerOptions = {}) {
  const server = await startBtcpayServer(options)
  servers.push(server)
  const port = { ...realPort, now: options.now ?? Date.now }
  return { server, port, btcpay: createBtcpay(server.account, port) }
}

/** Creates a shop with an unpaid invoice. */
async function withInvoice(options: BtcpayServerOptions = {}) {
  const created = await createShop(options)
  const { reference } = await created.btcpay.create(order)
  return { ...created, reference, name: { ...requested, reference } }
}

/** Creates a shop with a paid invoice and a claim for a partial refund. */
async function withClaim(options: BtcpayServerOptions = {}) {
  const created = await withInvoice(options)
  created.server.pay(created.reference, 10)
  const refund = { ...created.name, refundId, amount: 300, whole: false }
  const claim = await created.btcpay.refund(refund)
  const claimId = claim.reference ?? ''
  return { ...created, refund, claim, claimId, current: () => created.btcpay.retrieveRefund({ ...refund, refundReference: claimId }) }
}

const posts = (server: BtcpayServer) => server.routes().filter((route) => route.startsWith('POST')).length

describe('a BTCPay invoice', () => {
  test('create asks for the exact full amount under our id and returns the checkout page', async () => {
    const { server, btcpay } = await createShop({ under: '/btcpay' })
    const created = await btcpay.create(order)
    const [invoice] = server.invoices.values()
    const store = `/btcpay/api/v1/stores/${encodeURIComponent(server.account.storeId)}/invoices`
    expect(server.routes()).toEqual([`GET ${store}`, `POST ${store}`])
    expect(server.requests[1]?.json).toEqual({
      amount: '10.00',
      currency: 'USD',
      metadata: { orderId: order.paymentId },
      checkout: { monitoringMinutes: 4320, paymentTolerance: 0, redirectURL: order.returnUrl, redirectAutomatically: true },
    })
    expect(created).toEqual({
      reference: invoice?.id ?? '',
      state: 'REQUIRES_ACTION',
      authorized: 0,
      captured: 0,
      clientParameters: {
        invoiceId: invoice?.id,
        checkoutLink: `${server.url}/btcpay/i/${invoice?.id}`,
        expiresAt: new Date((Math.floor((invoice?.createdAt ?? 0) / 1000) + 900) * 1000).toISOString(),
      },
    })
  })

  test('without a return URL, the invoice has none', async () => {
    const { server, btcpay } = await createShop()
    await btcpay.create({ ...order, returnUrl: undefined })
    expect(server.requests[1]?.json).toMatchObject({ checkout: { monitoringMinutes: 4320, paymentTolerance: 0 } })
    expect(server.requests[1]?.body).not.toContain('redirect')
  })

  test('create makes one invoice however often it is repeated, also after a lost response', async () => {
    for (const fault of ['lost', 'half', 'garbage'] as const) {
      const { server, btcpay } = await createShop()
      server.fail(/POST/, fault)
      expect(await failure(btcpay.create(order))).toEqual(fault === 'garbage' ? unknownAnswer : unknown)
      const created = await btcpay.create(order)
      expect(await btcpay.create(order)).toEqual(created)
      expect(await btcpay.retrieve({ ...requested, reference: undefined })).toEqual(created)
      expect(server.invoices.size).toBe(1)
    }
  })

  test('an invoice of another payment is not taken for ours when the server ignores the filter', async () => {
    const { server, btcpay } = await createShop({ filters: false })
    const other = await btcpay.create({ ...order, paymentId: 'pay_other' })
    expect(await btcpay.retrieve({ ...requested, reference: undefined })).toBeUndefined()
    expect((await btcpay.create(order)).reference).not.toBe(other.reference)
    expect(server.invoices.size).toBe(2)
  })

  test('of two invoices under our id, the one with the most progress is used', async () => {
    const { server, btcpay, reference } = await withInvoice()
    server.expire(reference)
    expect(await btcpay.retrieve({ ...requested, reference: undefined })).toMatchObject({ reference, state: 'FAILED' })
    // Another process creates a second invoice at the same time.
    server.fail(/GET/, { status: 200, json: [] })
    const { reference: second } = await btcpay.create(order)
    expect(second).not.toBe(reference)
    const current = () => btcpay.retrieve({ ...requested, reference: undefined })
    expect(await current()).toMatchObject({ reference: second, state: 'REQUIRES_ACTION' })
    server.pay(reference, 4)
    expect(await current()).toMatchObject({ reference, state: 'FAILED', captured: 400 })
    server.pay(second, 10)
    expect(await current()).toMatchObject({ reference: second, state: 'CAPTURED' })
    expect(await btcpay.create(order)).toMatchObject({ reference: second, state: 'CAPTURED' })
  })

  test('an invoice that the server rounded is invalidated and refused', async () => {
    const { server, btcpay } = await createShop({ roundedTo: 0 })
    expect(await failure(btcpay.create({ ...order, amount: 1050 }))).toEqual({ refused: 'amount_not_supported' })
    expect([...server.invoices.values()].map(({ status }) => status)).toEqual(['Invalid'])
    expect(await failure(btcpay.retrieve({ ...requested, amount: 1050, reference: undefined }))).toEqual(uncounted)
    server.fail(/status/, { status: 422, json: [] })
    expect(await failure(btcpay.create({ ...order, amount: 1050 }))).toEqual(unknownAnswer)
  })

  test('an invoice with another amount or currency than requested never counts as paid', async () => {
    const { server, btcpay, reference } = await withInvoice()
    server.pay(reference, 10)
    for (const other of [{ amount: 999 }, { amount: 1001 }, { currency: 'EUR' }, { currency: 'KWD', amount: 10_000 }]) {
      const name = { ...requested, ...other, reference }
      for (const call of [btcpay.retrieve, btcpay.capture, btcpay.void]) expect(await failure(call(name))).toEqual(uncounted)
      expect(await failure(btcpay.retrieve({ ...name, reference: undefined }))).toEqual(uncounted)
    }
    server.fail(/GET/, { status: 200, json: { id: reference, status: 'Settled', amount: null, currency: 'USD' } })
    expect(await failure(btcpay.retrieve({ ...requested, reference }))).toEqual(uncounted)
  })

  test('create refuses unsupported amounts and currencies before any request', async () => {
    const { server, btcpay } = await createShop()
    for (const unsupported of [
      { amount: 0 },
      { amount: -1 },
      { amount: 1.5 },
      { currency: 'XXX' },
      { currency: 'usd' },
      { currency: 'CLF' },
    ])
      expect(await failure(btcpay.create({ ...order, ...unsupported }))).toEqual({ refused: 'amount_not_supported' })
    expect(server.requests).toEqual([])
  })

  for (const scale of ['as sent', 'short', 'long'] as const)
    test(`sends every amount of every currency exactly, and reads it when written ${scale}`, async () => {
      const { server, btcpay } = await createShop({ scale })
      const supported = currencies.filter((currency) => btcpayCapabilities.supportsCurrency(currency))
      let created = 0
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: amountMax }), fc.constantFrom(...supported), async (amount, currency) => {
          expect(btcpayCapabilities.supportsAmount({ amount, currency })).toBe(true)
          const paymentId = `pay_${created++}`
          const { reference } = await btcpay.create({ ...order, paymentId, amount, currency })
          const sentAmount = server.invoices.get(reference)?.amount ?? ''
          const [integer = '', fraction = ''] = sentAmount.split('.')
          expect(BigInt(integer + fraction)).toBe(BigInt(amount))
          expect(fraction).toHaveLength(decimalsOf(currency))
          expect(await btcpay.retrieve({ paymentId, amount, currency, reference })).toMatchObject({ state: 'REQUIRES_ACTION' })
        }),
        { numRuns: 25 },
      )
    })
})

describe('the state of a BTCPay invoice', () => {
  test('unconfirmed coins are PROCESSING, and CAPTURED once confirmed', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 10, false)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'PROCESSING', authorized: 0, captured: 0 })
    expect(await btcpay.capture(name)).toMatchObject({ state: 'PROCESSING', captured: 0 })
    server.confirm(reference)
    const paid = { reference, state: 'CAPTURED', authorized: 1000, captured: 1000 } as const
    expect(await btcpay.retrieve(name)).toEqual(paid)
    expect(await btcpay.capture(name)).toEqual(paid)
  })

  test('coins that became invalid do not count', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 10, false)
    server.confirm(reference, 'Invalid')
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'FAILED', failureCode: 'invalid', authorized: 0, captured: 0 })
  })

  test('an underpaid invoice stays open, and reports the captured amount once expired', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 4)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'REQUIRES_ACTION', captured: 0 })
    server.expire(reference)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'FAILED', failureCode: 'paid_partial', authorized: 400, captured: 400 })
  })

  test('an overpaid invoice reports the amount that was paid', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 12.5)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1250 })
  })

  test('coins paid after expiry are PROCESSING until confirmed, and then CAPTURED', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.expire(reference)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'FAILED', failureCode: 'expired', authorized: 0, captured: 0 })
    server.pay(reference, 10, false)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'PROCESSING', authorized: 0, captured: 0 })
    server.confirm(reference)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'CAPTURED', authorized: 1000, captured: 1000 })
  })

  test('too few coins paid after expiry count only once confirmed', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.expire(reference)
    server.pay(reference, 3, false)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'FAILED', failureCode: 'expired', captured: 0 })
    server.confirm(reference)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'FAILED', failureCode: 'paid_partial', captured: 300 })
  })

  test('late payments are not captured while the server lists none, invalid or unconfirmed ones', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.expire(reference)
    server.pay(reference, 10)
    for (const methods of [
      [],
      [{ payments: [] }],
      [{ payments: [{ status: 'Invalid' }] }],
      [{ payments: [{ status: 'Settled' }, { status: 'Processing' }] }],
    ]) {
      server.fail(/payment-methods/, { status: 200, json: methods })
      expect(await btcpay.retrieve(name)).toMatchObject({ state: 'PROCESSING', captured: 0 })
    }
    server.fail(/payment-methods/, { status: 404, json: {} })
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
  })

  test('an invoice that the shop settles by hand is CAPTURED', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.mark(reference, 'Settled')
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
  })

  test('a settled invoice with a paid amount below its own is FAILED, and without a paid amount CAPTURED', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    const invoiceBody = { id: reference, status: 'Settled', additionalStatus: 'None', amount: '10', currency: 'USD' }
    for (const [more, expected] of [
      [{ paidAmount: '9.99' }, { state: 'FAILED', captured: 999, failureCode: 'paid_partial' }],
      [{ paidAmount: '10.004' }, { state: 'CAPTURED', captured: 1000 }],
      [{ paidAmount: '10.01' }, { state: 'CAPTURED', captured: 1000 }],
      [{ paidAmount: 10 }, { state: 'CAPTURED', captured: 1000 }],
      [{}, { state: 'CAPTURED', captured: 1000 }],
      [
        { amount: undefined, currency: undefined },
        { state: 'CAPTURED', captured: 1000 },
      ],
    ] as const) {
      server.fail(/GET/, { status: 200, json: { ...invoiceBody, ...more } })
      expect(await btcpay.retrieve(name)).toMatchObject(expected)
    }
  })

  test('without paid amounts from the server, full late payments are CAPTURED and partial ones count nothing', async () => {
    const { server, btcpay, reference, name } = await withInvoice({ tellsPaid: false })
    server.expire(reference)
    server.pay(reference, 4)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'FAILED', captured: 0 })
    server.pay(reference, 6)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
  })

  test('an unknown invoice is undefined, and capture and void refuse it', async () => {
    const { btcpay } = await createShop()
    for (const reference of [undefined, 'nosuchinvoice']) {
      expect(await btcpay.retrieve({ ...requested, reference })).toBeUndefined()
      expect(await failure(btcpay.capture({ ...requested, reference }))).toEqual({ refused: 'not_found' })
      expect(await failure(btcpay.void({ ...requested, reference }))).toEqual({ refused: 'not_found' })
    }
  })

  test('a reference is escaped in the request path', async () => {
    const { server, btcpay } = await createShop()
    server.fail(/GET/, { status: 404 })
    expect(await btcpay.retrieve({ ...requested, reference: '../../x?y' })).toBeUndefined()
    expect(server.routes()[0]).toEndWith('/invoices/..%2F..%2Fx%3Fy')
  })
})

describe('voiding a BTCPay invoice', () => {
  test('void works by the id of BTCPay or ours, and repeating it changes nothing', async () => {
    for (const byOurs of [false, true]) {
      const { server, btcpay, reference, name } = await withInvoice()
      const voided = { reference, state: 'VOIDED', authorized: 0, captured: 0 } as const
      const named = byOurs ? { ...name, reference: undefined } : name
      expect(await btcpay.void(named)).toEqual(voided)
      const before = posts(server)
      expect(await btcpay.void(named)).toEqual(voided)
      expect(posts(server)).toBe(before)
    }
  })

  test('void leaves an invoice with coins or an ended one as it is', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 10, false)
    expect(await btcpay.void(name)).toMatchObject({ state: 'PROCESSING' })
    server.confirm(reference)
    expect(await btcpay.void(name)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
    const other = await withInvoice()
    other.server.expire(other.reference)
    expect(await other.btcpay.void(other.name)).toMatchObject({ state: 'FAILED', failureCode: 'expired' })
    expect(posts(server) + posts(other.server)).toBe(2)
  })

  test('a voided invoice reports coins that arrive later', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    await btcpay.void(name)
    server.pay(reference, 4)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'VOIDED', captured: 400 })
    server.pay(reference, 6)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
  })

  test('void returns CAPTURED when the server refuses because the invoice was just paid', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.fail(/status/, { status: 422, json: [{ path: 'Status', message: 'secret details' }] })
    const voiding = btcpay.void(name)
    await server.untilRequest(/status/)
    server.pay(reference, 10)
    expect(await voiding).toMatchObject({ state: 'CAPTURED' })
  })

  test('void is refused when the server refuses and the invoice is still open', async () => {
    const { server, btcpay, name } = await withInvoice()
    server.fail(/status/, { status: 422, json: [{ path: 'Status', message: 'secret details' }] })
    expect(await failure(btcpay.void(name))).toEqual({ refused: 'Status' })
    server.fail(/status/, { status: 200, json: {} })
    expect(await failure(btcpay.void(name))).toEqual(uncounted)
  })
})

describe('a BTCPay refund', () => {
  test('a refund is a claim on the exact amount that the shopper redeems, made once however often repeated', async () => {
    const { server, btcpay, reference, refund, claim, claimId, current } = await withClaim()
    expect(server.requests.at(-1)?.json).toEqual({ name: refundId, refundVariant: 'Custom', customAmount: '3.00', customCurrency: 'USD' })
    expect(server.routes().at(-1)).toEndWith(`/invoices/${reference}/refund`)
    expect(claim).toEqual({ reference: claimId, state: 'CLAIMABLE', claimUrl: `${server.url}/pull-payments/${claimId}` })
    expect(await btcpay.refund(refund)).toEqual(claim)
    expect(await current()).toEqual(claim)
    expect(await btcpay.retrieveRefund({ ...refund, ...noRefundYet })).toEqual(claim)
    expect(server.claims.size).toBe(1)
  })

  test('a refund whose response was lost is found by our id', async () => {
    for (const fault of ['lost', 'half', 'garbage'] as const) {
      const { server, btcpay, reference, name } = await withInvoice()
      server.pay(reference, 10)
      const refund = { ...name, refundId, amount: 1000, whole: true }
      expect(await btcpay.retrieveRefund({ ...refund, ...noRefundYet })).toBeUndefined()
      server.fail(/refund/, fault)
      expect(await failure(btcpay.refund(refund))).toEqual(fault === 'garbage' ? unknownAnswer : unknown)
      expect(await btcpay.retrieveRefund({ ...refund, ...noRefundYet })).toMatchObject({ state: 'CLAIMABLE' })
      expect(await btcpay.refund(refund)).toMatchObject({ state: 'CLAIMABLE' })
      expect(server.claims.size).toBe(1)
    }
  })

  test('a refund is pending during a payout, claimable again if it is cancelled, and done when fully paid', async () => {
    const { server, claim, claimId, current } = await withClaim({ scale: 'short' })
    const pending = { reference: claimId, state: 'PENDING' } as const
    const payout = server.redeem(claimId, '3.00', 'AwaitingApproval')
    expect(await current()).toEqual(pending)
    for (const state of ['AwaitingPayment', 'InProgress'] as const) {
      payout.state = state
      expect(await current()).toEqual(pending)
    }
    payout.state = 'Cancelled'
    expect(await current()).toEqual(claim)
    server.redeem(claimId, '1.00')
    expect(await current()).toEqual(claim)
    server.redeem(claimId, '2.00')
    expect(await current()).toEqual({ reference: claimId, state: 'SUCCEEDED' })
  })

  test('a refund whose claim the shop withdrew has failed and is not repeated', async () => {
    const { server, btcpay, refund, claimId, current } = await withClaim()
    server.archive(claimId)
    const failed = { reference: claimId, state: 'FAILED', failureCode: 'archived' } as const
    expect(await current()).toEqual(failed)
    expect(await btcpay.refund(refund)).toEqual(failed)
    expect(server.claims.size).toBe(1)
  })

  test('no refund is made beside a claim with another amount under our id', async () => {
    const { server, btcpay, refund } = await withClaim()
    expect(await failure(btcpay.refund({ ...refund, amount: 400 }))).toEqual(uncounted)
    expect(server.claims.size).toBe(1)
  })

  test('a refund of late or partial payments is made, and of an unpaid invoice refused', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    const refund = { ...name, refundId, amount: 400, whole: true }
    expect(await failure(btcpay.refund(refund))).toEqual({ refused: 'non-refundable' })
    expect(await failure(btcpay.refund({ ...refund, reference: 'nosuchinvoice' }))).toEqual({ refused: 'invoice-not-found' })
    server.expire(reference)
    server.pay(reference, 4)
    expect(await btcpay.refund(refund)).toMatchObject({ state: 'CLAIMABLE' })
  })

  test('refund refuses an unsupported amount or a missing reference before any request', async () => {
    const { server, btcpay } = await createShop()
    const refund = { ...requested, reference: 'x', refundId, whole: true }
    expect(await failure(btcpay.refund({ ...refund, amount: 0 }))).toEqual({ refused: 'amount_not_supported' })
    expect(await failure(btcpay.refund({ ...refund, reference: undefined }))).toEqual({ refused: 'not_found' })
    expect(server.requests).toEqual([])
  })

  test('refund makes nothing with a key that cannot list claims', async () => {
    const { server, btcpay, reference, name } = await withInvoice({
      permissions: ['canviewinvoices', 'cancreateinvoice', 'cancreatenonapprovedpullpayments'],
    })
    server.pay(reference, 10)
    expect(await failure(btcpay.refund({ ...name, refundId, whole: true }))).toEqual(notSent)
    expect(server.claims.size).toBe(0)
  })

  test('a refund that the server does not know is undefined', async () => {
    const { btcpay, refund } = await withClaim()
    expect(await btcpay.retrieveRefund({ ...refund, refundReference: 'nosuchclaim' })).toBeUndefined()
  })

  test('a refund does not return a claim URL with an unsafe scheme', async () => {
    const { server, btcpay, refund, claimId, current } = await withClaim()
    server.fail(new RegExp(`${claimId}$`), { status: 200, json: { id: claimId, viewLink: 'javascript:alert(1)' } })
    expect(await current()).toEqual({ reference: claimId, state: 'CLAIMABLE' })
    server.fail(/refund/, { status: 200, json: { id: claimId, viewLink: 'javascript:alert(1)' } })
    expect(await failure(btcpay.refund({ ...refund, refundId: 'ref_other' }))).toEqual(unknownAnswer)
  })

  test('a refund is found among many thousand claims', async () => {
    const { server, btcpay, refund, claim } = await withClaim()
    const other = { name: 'ref_other', currency: 'USD', amount: '1.00', archived: true, viewLink: `https://pay.example/${'x'.repeat(200)}` }
    const claims = Array.from({ length: 20_000 }, (_, at) => ({ ...other, id: `claim-${at}` }))
    const [ownClaim] = server.claims.values()
    const listed = [
      ...claims,
      { id: ownClaim?.id, name: refundId, currency: 'USD', amount: '3', archived: false, viewLink: claim.claimUrl },
    ]
    server.fail(/pull-payments$/, { status: 200, json: listed })
    expect(await btcpay.retrieveRefund({ ...refund, ...noRefundYet })).toEqual(claim)
  })
})

describe('failed requests to BTCPay', () => {
  type ClaimContext = Awaited<ReturnType<typeof withClaim>>
  const verbs: Record<
    string,
    { route: RegExp; call: (created: ClaimContext) => Promise<unknown>; isWrite?: boolean; precedesWrite?: boolean }
  > = {
    'create, searching': { route: /GET .*invoices$/, call: ({ btcpay }) => btcpay.create({ ...order, paymentId: 'pay_2' }) },
    create: { route: /POST .*invoices$/, call: ({ btcpay }) => btcpay.create({ ...order, paymentId: 'pay_2' }), isWrite: true },
    retrieve: { route: /GET/, call: ({ btcpay, name }) => btcpay.retrieve(name) },
    find: { route: /GET/, call: ({ btcpay, name }) => btcpay.retrieve({ ...name, reference: undefined }) },
    capture: { route: /GET/, call: ({ btcpay, name }) => btcpay.capture(name) },
    'refund, searching': {
      route: /pull-payments/,
      call: ({ btcpay, refund }) => btcpay.refund({ ...refund, refundId: 'ref_2' }),
      precedesWrite: true,
    },
    refund: { route: /refund/, call: ({ btcpay, refund }) => btcpay.refund({ ...refund, refundId: 'ref_2' }), isWrite: true },
    'retrieve refund': {
      route: /payouts/,
      call: ({ btcpay, refund, claimId }) => btcpay.retrieveRefund({ ...refund, refundReference: claimId }),
    },
    'find refund': { route: /pull-payments/, call: ({ btcpay, refund }) => btcpay.retrieveRefund({ ...refund, ...noRefundYet }) },
    probe: { route: /health/, call: ({ btcpay }) => btcpay.probe() },
  }

  for (const [verb, { route, call, isWrite = false, precedesWrite = false }] of Object.entries(verbs)) {
    test(`${verb}: an unusable response leaves the outcome unknown unless nothing was sent, and only outages count for the breaker`, async () => {
      for (const fault of unknownOutcomes) {
        // An empty list is valid for a list request, and only the status of the health request counts.
        const isEmptyList = typeof fault === 'object' && fault.json === '[]'
        if ((isEmptyList && !isWrite) || (verb === 'probe' && typeof fault === 'object' && fault.status === 200)) continue
        const created = await withClaim()
        if (fault === 'silent') created.btcpay = createBtcpay(created.server.account, { ...created.port, timeoutMs: shortMs })
        created.server.fail(route, fault)
        expect([describeFault(fault), await failure(call(created))]).toEqual([
          describeFault(fault),
          { unavailable: { neverSent: precedesWrite, counts: isOutage(fault) } },
        ])
      }
    })

    if (verb !== 'probe')
      test(`${verb}: 401, 403 and 429 mean nothing was sent and do not count for the breaker`, async () => {
        const created = await withClaim()
        for (const status of [401, 403, 429]) {
          created.server.fail(route, { status, json: { code: 'unauthenticated' } })
          expect([status, await failure(call(created))]).toEqual([status, notSent])
        }
        if (!isWrite) return
        for (const [status, json, code] of [
          [422, [{ path: 'Amount', message: 'secret details' }], 'Amount'],
          [422, [{ path: 'checkout.speed policy <b>', message: 'secret details' }], 'http_422'],
          [400, { code: 'generic-error', message: 'secret details' }, 'generic-error'],
          [400, null, 'http_400'],
          [404, {}, 'http_404'],
        ] as const) {
          created.server.fail(route, { status, json })
          expect(await failure(call(created))).toEqual({ refused: code })
        }
        created.server.fail(route, { status: 409, json: {} })
        expect(await failure(call(created))).toEqual(uncounted)
      })
  }

  test('after an unusable response to void the outcome is unknown, and repeating it voids', async () => {
    for (const fault of ['lost', 'half', 'garbage', 'unreached'] as const) {
      const { server, btcpay, name } = await withInvoice()
      server.fail(/status/, fault)
      expect(await failure(btcpay.void(name))).toEqual(fault === 'garbage' ? unknownAnswer : unknown)
      expect(await btcpay.void(name)).toMatchObject({ state: 'VOIDED' })
    }
  })

  test('for arbitrary JSON, money counts only if a status says that it arrived', async () => {
    const { server, btcpay, name } = await withInvoice()
    const invoice = fc.record(
      {
        id: fc.oneof(fc.string(), fc.integer()),
        status: fc.constantFrom('New', 'Processing', 'Settled', 'Expired', 'Invalid', 'settled', '', null, 7),
        additionalStatus: fc.constantFrom('None', 'PaidLate', 'PaidOver', 'PaidPartial', 'Marked', 'Invalid', null),
        amount: fc.constantFrom('10.00', '10', 10, '10.001', '1e1', null, {}),
        currency: fc.constantFrom('USD', 'usd', 'EUR', null),
        paidAmount: fc.oneof(fc.constantFrom('10.00', '9.99', '0', 'NaN', '-10', null), fc.double()),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(invoice, fc.jsonValue()), async (json) => {
        server.fail(/GET/, { status: 200, json })
        server.fail(/payment-methods/, { status: 200, json: [{ payments: [{ status: 'Settled' }] }] })
        const current = await btcpay.retrieve(name).catch((error: unknown) => error)
        if (current instanceof Error)
          return void expect(await failure(Promise.reject(current))).toMatchObject({ unavailable: { neverSent: false } })
        if ((current as { captured: number }).captured > 0)
          expect(['Settled', 'Expired', 'Invalid']).toContain((json as { status: string }).status)
      }),
      { numRuns: 150 },
    )
  })

  test('no error contains the key, the secret or text of the server', async () => {
    const { server, btcpay, name, port } = await withInvoice()
    const errors: string[] = [await inspectError(btcpay.refund({ ...name, refundId, whole: true }))]
    const refusal = { status: 422, json: [{ path: 'Status', message: 'secret details' }] }
    for (const fault of [refusal, 'unreached', 'lost'] as const) {
      server.fail(/status/, fault)
      errors.push(await inspectError(btcpay.void(name)))
    }
    errors.push(await inspectError(createBtcpay({ ...server.account, apiKey: 'other-key' }, port).probe()))
    errors.push(await inspectError(btcpay.readMessage({ body: new Uint8Array(), headers: new Headers() })))
    for (const text of errors)
      for (const secret of [server.account.apiKey, 'other-key', server.account.webhookSecret, 'secret details'])
        expect(text).not.toContain(secret)
    expect(errors.every((text) => text !== '')).toBe(true)
  })
})
