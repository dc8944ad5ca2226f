import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { btcpayCapabilities, createBtcpay } from '../../../src/clients/processors/btcpay/client.ts'
import { amountMax, currencies, decimalsOf } from '../../../src/lib/money.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { type BtcpayServer, type BtcpayServerOptions, startBtcpayServer } from './btcpay-server.ts'
import { failure, isOutage, nothingSaid, realPort, shortMs, silences, toldBy, unknown, unknownAnswer, wordFor } from './outcomes.ts'

setDefaultTimeout(longTestMs)

const order = {
  paymentId: 'pay_01k7h8m3vefq7v0x2y4z6a8b9c',
  amount: 1000,
  currency: 'USD',
  token: undefined,
  returnUrl: 'https://shop.example/done',
}
const asked = { paymentId: order.paymentId, amount: order.amount, currency: 'USD' }
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

async function shop(options: BtcpayServerOptions = {}) {
  const server = await startBtcpayServer(options)
  servers.push(server)
  const port = { ...realPort, now: options.now ?? Date.now }
  return { server, port, btcpay: createBtcpay(server.account, port) }
}

/** A shop with an invoice that waits to be paid. */
async function withInvoice(options: BtcpayServerOptions = {}) {
  const made = await shop(options)
  const { reference } = await made.btcpay.create(order)
  return { ...made, reference, name: { ...asked, reference } }
}

/** A shop with a claim for a part of what was paid. */
async function withClaim(options: BtcpayServerOptions = {}) {
  const made = await withInvoice(options)
  made.server.pay(made.reference, 10)
  const refund = { ...made.name, refundId, amount: 300, whole: false }
  const claim = await made.btcpay.refund(refund)
  const claimId = claim.reference ?? ''
  return { ...made, refund, claim, claimId, found: () => made.btcpay.retrieveRefund({ ...refund, refundReference: claimId }) }
}

const posts = (server: BtcpayServer) => server.routes().filter((route) => route.startsWith('POST')).length

describe('an invoice of BTCPay', () => {
  test('asks for the exact amount under our id, with all of it to be paid, and gives the page where to pay', async () => {
    const { server, btcpay } = await shop({ under: '/btcpay' })
    const made = await btcpay.create(order)
    const [invoice] = server.invoices.values()
    const store = `/btcpay/api/v1/stores/${encodeURIComponent(server.account.storeId)}/invoices`
    expect(server.routes()).toEqual([`GET ${store}`, `POST ${store}`])
    expect(server.requests[1]?.json).toEqual({
      amount: '10.00',
      currency: 'USD',
      metadata: { orderId: order.paymentId },
      checkout: { monitoringMinutes: 4320, paymentTolerance: 0, redirectURL: order.returnUrl, redirectAutomatically: true },
    })
    expect(made).toEqual({
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

  test('without an address to return to has none', async () => {
    const { server, btcpay } = await shop()
    await btcpay.create({ ...order, returnUrl: undefined })
    expect(server.requests[1]?.json).toMatchObject({ checkout: { monitoringMinutes: 4320, paymentTolerance: 0 } })
    expect(server.requests[1]?.body).not.toContain('redirect')
  })

  test('is made once, however often it is asked for, also where the answer was lost', async () => {
    for (const fault of ['lost', 'half', 'garbage'] as const) {
      const { server, btcpay } = await shop()
      server.fail(/POST/, fault)
      expect(await failure(btcpay.create(order))).toEqual(fault === 'garbage' ? unknownAnswer : unknown)
      const made = await btcpay.create(order)
      expect(await btcpay.create(order)).toEqual(made)
      expect(await btcpay.retrieve({ ...asked, reference: undefined })).toEqual(made)
      expect(server.invoices.size).toBe(1)
    }
  })

  test('of somebody else is not taken for ours where the server does not hear the filter', async () => {
    const { server, btcpay } = await shop({ filters: false })
    const other = await btcpay.create({ ...order, paymentId: 'pay_other' })
    expect(await btcpay.retrieve({ ...asked, reference: undefined })).toBeUndefined()
    expect((await btcpay.create(order)).reference).not.toBe(other.reference)
    expect(server.invoices.size).toBe(2)
  })

  test('is the one that has come the furthest where there are two under our id', async () => {
    const { server, btcpay, reference } = await withInvoice()
    server.expire(reference)
    expect(await btcpay.retrieve({ ...asked, reference: undefined })).toMatchObject({ reference, state: 'FAILED' })
    // Another process made another one at the same time.
    server.fail(/GET/, { status: 200, json: [] })
    const { reference: second } = await btcpay.create(order)
    expect(second).not.toBe(reference)
    const found = () => btcpay.retrieve({ ...asked, reference: undefined })
    expect(await found()).toMatchObject({ reference: second, state: 'REQUIRES_ACTION' })
    server.pay(reference, 4)
    expect(await found()).toMatchObject({ reference, state: 'FAILED', captured: 400 })
    server.pay(second, 10)
    expect(await found()).toMatchObject({ reference: second, state: 'CAPTURED' })
    expect(await btcpay.create(order)).toMatchObject({ reference: second, state: 'CAPTURED' })
  })

  test('that the server rounds is given up at once and refused', async () => {
    const { server, btcpay } = await shop({ roundedTo: 0 })
    expect(await failure(btcpay.create({ ...order, amount: 1050 }))).toEqual({ refused: 'amount_not_supported' })
    expect([...server.invoices.values()].map(({ status }) => status)).toEqual(['Invalid'])
    expect(await failure(btcpay.retrieve({ ...asked, amount: 1050, reference: undefined }))).toEqual(uncounted)
    server.fail(/status/, { status: 422, json: [] })
    expect(await failure(btcpay.create({ ...order, amount: 1050 }))).toEqual(unknownAnswer)
  })

  test('of another amount or currency than was asked for is never money, whatever became of it', async () => {
    const { server, btcpay, reference } = await withInvoice()
    server.pay(reference, 10)
    for (const other of [{ amount: 999 }, { amount: 1001 }, { currency: 'EUR' }, { currency: 'KWD', amount: 10_000 }]) {
      const name = { ...asked, ...other, reference }
      for (const call of [btcpay.retrieve, btcpay.capture, btcpay.void]) expect(await failure(call(name))).toEqual(uncounted)
      expect(await failure(btcpay.retrieve({ ...name, reference: undefined }))).toEqual(uncounted)
    }
    server.fail(/GET/, { status: 200, json: { id: reference, status: 'Settled', amount: null, currency: 'USD' } })
    expect(await failure(btcpay.retrieve({ ...asked, reference }))).toEqual(uncounted)
  })

  test('is refused before any call for amounts and currencies that it cannot say', async () => {
    const { server, btcpay } = await shop()
    for (const wrong of [{ amount: 0 }, { amount: -1 }, { amount: 1.5 }, { currency: 'XXX' }, { currency: 'usd' }, { currency: 'CLF' }])
      expect(await failure(btcpay.create({ ...order, ...wrong }))).toEqual({ refused: 'amount_not_supported' })
    expect(server.requests).toEqual([])
  })

  for (const scale of ['as sent', 'short', 'long'] as const)
    test(`says every amount of every currency exactly, and knows it again when it is written ${scale}`, async () => {
      const { server, btcpay } = await shop({ scale })
      const sayable = currencies.filter((currency) => btcpayCapabilities.supportsCurrency(currency))
      let made = 0
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: amountMax }), fc.constantFrom(...sayable), async (amount, currency) => {
          expect(btcpayCapabilities.supportsAmount({ amount, currency })).toBe(true)
          const paymentId = `pay_${made++}`
          const { reference } = await btcpay.create({ ...order, paymentId, amount, currency })
          const sent = server.invoices.get(reference)?.amount ?? ''
          const [whole = '', fraction = ''] = sent.split('.')
          expect(BigInt(whole + fraction)).toBe(BigInt(amount))
          expect(fraction).toHaveLength(decimalsOf(currency))
          expect(await btcpay.retrieve({ paymentId, amount, currency, reference })).toMatchObject({ state: 'REQUIRES_ACTION' })
        }),
        { numRuns: 25 },
      )
    })
})

describe('what became of an invoice of BTCPay', () => {
  test('coins that are not confirmed are no money, and are once they are', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 10, false)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'PROCESSING', authorized: 0, captured: 0 })
    expect(await btcpay.capture(name)).toMatchObject({ state: 'PROCESSING', captured: 0 })
    server.confirm(reference)
    const paid = { reference, state: 'CAPTURED', authorized: 1000, captured: 1000 } as const
    expect(await btcpay.retrieve(name)).toEqual(paid)
    expect(await btcpay.capture(name)).toEqual(paid)
  })

  test('coins that went away again are none', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 10, false)
    server.confirm(reference, 'Invalid')
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'FAILED', failureCode: 'invalid', authorized: 0, captured: 0 })
  })

  test('too few coins leave it open while it is, and are told once it has expired', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 4)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'REQUIRES_ACTION', captured: 0 })
    server.expire(reference)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'FAILED', failureCode: 'paid_partial', authorized: 400, captured: 400 })
  })

  test('too many coins are told as they are', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.pay(reference, 12.5)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1250 })
  })

  test('coins that came too late are money once they are confirmed, and being looked at until then', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.expire(reference)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'FAILED', failureCode: 'expired', authorized: 0, captured: 0 })
    server.pay(reference, 10, false)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'PROCESSING', authorized: 0, captured: 0 })
    server.confirm(reference)
    expect(await btcpay.retrieve(name)).toEqual({ reference, state: 'CAPTURED', authorized: 1000, captured: 1000 })
  })

  test('too few coins that came too late are no money before they are confirmed', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.expire(reference)
    server.pay(reference, 3, false)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'FAILED', failureCode: 'expired', captured: 0 })
    server.confirm(reference)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'FAILED', failureCode: 'paid_partial', captured: 300 })
  })

  test('late coins of which the server shows none, or only such as went away, are no money yet', async () => {
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

  test('what the shop settles by hand is paid, whatever came', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.mark(reference, 'Settled')
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
  })

  test('a settled invoice that tells of less than its amount is not paid, and one that tells nothing is', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    const said = { id: reference, status: 'Settled', additionalStatus: 'None', amount: '10', currency: 'USD' }
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
      server.fail(/GET/, { status: 200, json: { ...said, ...more } })
      expect(await btcpay.retrieve(name)).toMatchObject(expected)
    }
  })

  test('a server that does not tell how much came is believed about late coins, and about too few of them is not', async () => {
    const { server, btcpay, reference, name } = await withInvoice({ tellsPaid: false })
    server.expire(reference)
    server.pay(reference, 4)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'FAILED', captured: 0 })
    server.pay(reference, 6)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
  })

  test('an invoice that there is not is unknown', async () => {
    const { btcpay } = await shop()
    for (const reference of [undefined, 'nosuchinvoice']) {
      expect(await btcpay.retrieve({ ...asked, reference })).toBeUndefined()
      expect(await failure(btcpay.capture({ ...asked, reference }))).toEqual({ refused: 'not_found' })
      expect(await failure(btcpay.void({ ...asked, reference }))).toEqual({ refused: 'not_found' })
    }
  })

  test('a reference is part of a path and never another path', async () => {
    const { server, btcpay } = await shop()
    server.fail(/GET/, { status: 404 })
    expect(await btcpay.retrieve({ ...asked, reference: '../../x?y' })).toBeUndefined()
    expect(server.routes()[0]).toEndWith('/invoices/..%2F..%2Fx%3Fy')
  })
})

describe('an invoice of BTCPay that is given up', () => {
  test('is so by its id or by ours, and giving it up again changes nothing', async () => {
    for (const byOurs of [false, true]) {
      const { server, btcpay, reference, name } = await withInvoice()
      const given = { reference, state: 'VOIDED', authorized: 0, captured: 0 } as const
      const named = byOurs ? { ...name, reference: undefined } : name
      expect(await btcpay.void(named)).toEqual(given)
      const before = posts(server)
      expect(await btcpay.void(named)).toEqual(given)
      expect(posts(server)).toBe(before)
    }
  })

  test('is left alone where coins came, and stays what it is where it has ended', async () => {
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

  test('tells of coins that still come', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    await btcpay.void(name)
    server.pay(reference, 4)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'VOIDED', captured: 400 })
    server.pay(reference, 6)
    expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED', captured: 1000 })
  })

  test('is captured where the server says no because it was paid just before', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    server.fail(/status/, { status: 422, json: [{ path: 'Status', message: 'secret details' }] })
    const voiding = btcpay.void(name)
    await server.reached(/status/)
    server.pay(reference, 10)
    expect(await voiding).toMatchObject({ state: 'CAPTURED' })
  })

  test('is refused where the server says no and it is still open', async () => {
    const { server, btcpay, name } = await withInvoice()
    server.fail(/status/, { status: 422, json: [{ path: 'Status', message: 'secret details' }] })
    expect(await failure(btcpay.void(name))).toEqual({ refused: 'Status' })
    server.fail(/status/, { status: 200, json: {} })
    expect(await failure(btcpay.void(name))).toEqual(uncounted)
  })
})

describe('a refund by BTCPay', () => {
  test('is a claim on the exact amount that the shopper redeems, made once however often it is asked for', async () => {
    const { server, btcpay, reference, refund, claim, claimId, found } = await withClaim()
    expect(server.requests.at(-1)?.json).toEqual({ name: refundId, refundVariant: 'Custom', customAmount: '3.00', customCurrency: 'USD' })
    expect(server.routes().at(-1)).toEndWith(`/invoices/${reference}/refund`)
    expect(claim).toEqual({ reference: claimId, state: 'CLAIMABLE', claimUrl: `${server.url}/pull-payments/${claimId}` })
    expect(await btcpay.refund(refund)).toEqual(claim)
    expect(await found()).toEqual(claim)
    expect(await btcpay.retrieveRefund({ ...refund, ...noRefundYet })).toEqual(claim)
    expect(server.claims.size).toBe(1)
  })

  test('whose answer was lost is found by our id', async () => {
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

  test('is under way while a payout is, claimable again once that is cancelled, and done once all of it was paid out', async () => {
    const { server, claim, claimId, found } = await withClaim({ scale: 'short' })
    const pending = { reference: claimId, state: 'PENDING' } as const
    const payout = server.redeem(claimId, '3.00', 'AwaitingApproval')
    expect(await found()).toEqual(pending)
    for (const state of ['AwaitingPayment', 'InProgress'] as const) {
      payout.state = state
      expect(await found()).toEqual(pending)
    }
    payout.state = 'Cancelled'
    expect(await found()).toEqual(claim)
    server.redeem(claimId, '1.00')
    expect(await found()).toEqual(claim)
    server.redeem(claimId, '2.00')
    expect(await found()).toEqual({ reference: claimId, state: 'SUCCEEDED' })
  })

  test('failed where the shop took the claim back, and is not made again', async () => {
    const { server, btcpay, refund, claimId, found } = await withClaim()
    server.archive(claimId)
    const failed = { reference: claimId, state: 'FAILED', failureCode: 'archived' } as const
    expect(await found()).toEqual(failed)
    expect(await btcpay.refund(refund)).toEqual(failed)
    expect(server.claims.size).toBe(1)
  })

  test('is not made beside a claim of another amount under our id', async () => {
    const { server, btcpay, refund } = await withClaim()
    expect(await failure(btcpay.refund({ ...refund, amount: 400 }))).toEqual(uncounted)
    expect(server.claims.size).toBe(1)
  })

  test('of coins that came too late or too few is made as any other, and of what was never paid is refused', async () => {
    const { server, btcpay, reference, name } = await withInvoice()
    const refund = { ...name, refundId, amount: 400, whole: true }
    expect(await failure(btcpay.refund(refund))).toEqual({ refused: 'non-refundable' })
    expect(await failure(btcpay.refund({ ...refund, reference: 'nosuchinvoice' }))).toEqual({ refused: 'invoice-not-found' })
    server.expire(reference)
    server.pay(reference, 4)
    expect(await btcpay.refund(refund)).toMatchObject({ state: 'CLAIMABLE' })
  })

  test('is refused before any call for what cannot be said', async () => {
    const { server, btcpay } = await shop()
    const refund = { ...asked, reference: 'x', refundId, whole: true }
    expect(await failure(btcpay.refund({ ...refund, amount: 0 }))).toEqual({ refused: 'amount_not_supported' })
    expect(await failure(btcpay.refund({ ...refund, reference: undefined }))).toEqual({ refused: 'not_found' })
    expect(server.requests).toEqual([])
  })

  test('is not made by a key that cannot look for those that it made', async () => {
    const { server, btcpay, reference, name } = await withInvoice({
      permissions: ['canviewinvoices', 'cancreateinvoice', 'cancreatenonapprovedpullpayments'],
    })
    server.pay(reference, 10)
    expect(await failure(btcpay.refund({ ...name, refundId, whole: true }))).toEqual(nothingSaid)
    expect(server.claims.size).toBe(0)
  })

  test('that the server does not know is none', async () => {
    const { btcpay, refund } = await withClaim()
    expect(await btcpay.retrieveRefund({ ...refund, refundReference: 'nosuchclaim' })).toBeUndefined()
  })

  test('has no link that a mail must not carry', async () => {
    const { server, btcpay, refund, claimId, found } = await withClaim()
    server.fail(new RegExp(`${claimId}$`), { status: 200, json: { id: claimId, viewLink: 'javascript:alert(1)' } })
    expect(await found()).toEqual({ reference: claimId, state: 'CLAIMABLE' })
    server.fail(/refund/, { status: 200, json: { id: claimId, viewLink: 'javascript:alert(1)' } })
    expect(await failure(btcpay.refund({ ...refund, refundId: 'ref_other' }))).toEqual(unknownAnswer)
  })

  test('is found among many thousand claims', async () => {
    const { server, btcpay, refund, claim } = await withClaim()
    const other = { name: 'ref_other', currency: 'USD', amount: '1.00', archived: true, viewLink: `https://pay.example/${'x'.repeat(200)}` }
    const claims = Array.from({ length: 20_000 }, (_, at) => ({ ...other, id: `claim-${at}` }))
    const [mine] = server.claims.values()
    const listed = [...claims, { id: mine?.id, name: refundId, currency: 'USD', amount: '3', archived: false, viewLink: claim.claimUrl }]
    server.fail(/pull-payments$/, { status: 200, json: listed })
    expect(await btcpay.retrieveRefund({ ...refund, ...noRefundYet })).toEqual(claim)
  })
})

describe('a failed call of BTCPay', () => {
  type Made = Awaited<ReturnType<typeof withClaim>>
  const verbs: Record<string, { route: RegExp; call: (made: Made) => Promise<unknown>; isWrite?: boolean }> = {
    'create, looking': { route: /GET .*invoices$/, call: ({ btcpay }) => btcpay.create({ ...order, paymentId: 'pay_2' }) },
    create: { route: /POST .*invoices$/, call: ({ btcpay }) => btcpay.create({ ...order, paymentId: 'pay_2' }), isWrite: true },
    retrieve: { route: /GET/, call: ({ btcpay, name }) => btcpay.retrieve(name) },
    find: { route: /GET/, call: ({ btcpay, name }) => btcpay.retrieve({ ...name, reference: undefined }) },
    capture: { route: /GET/, call: ({ btcpay, name }) => btcpay.capture(name) },
    'refund, looking': { route: /pull-payments/, call: ({ btcpay, refund }) => btcpay.refund({ ...refund, refundId: 'ref_2' }) },
    refund: { route: /refund/, call: ({ btcpay, refund }) => btcpay.refund({ ...refund, refundId: 'ref_2' }), isWrite: true },
    'retrieve refund': {
      route: /payouts/,
      call: ({ btcpay, refund, claimId }) => btcpay.retrieveRefund({ ...refund, refundReference: claimId }),
    },
    'find refund': { route: /pull-payments/, call: ({ btcpay, refund }) => btcpay.retrieveRefund({ ...refund, ...noRefundYet }) },
    probe: { route: /health/, call: ({ btcpay }) => btcpay.probe() },
  }

  for (const [verb, { route, call, isWrite = false }] of Object.entries(verbs)) {
    test(`${verb}: silence leaves unknown what happened, and only an outage counts against the server`, async () => {
      for (const fault of silences) {
        // A list that is empty makes sense where a list was asked for, and health is only asked whether it answers.
        const isEmptyList = typeof fault === 'object' && fault.json === '[]'
        if ((isEmptyList && !isWrite) || (verb === 'probe' && typeof fault === 'object' && fault.status === 200)) continue
        const made = await withClaim()
        if (fault === 'silent') made.btcpay = createBtcpay(made.server.account, { ...made.port, timeoutMs: shortMs })
        made.server.fail(route, fault)
        expect([wordFor(fault), await failure(call(made))]).toEqual([wordFor(fault), isOutage(fault) ? unknown : unknownAnswer])
      }
    })

    if (verb !== 'probe')
      test(`${verb}: 401, 403 and 429 say nothing, and nobody's breaker counts them`, async () => {
        const made = await withClaim()
        for (const status of [401, 403, 429]) {
          made.server.fail(route, { status, json: { code: 'unauthenticated' } })
          expect([status, await failure(call(made))]).toEqual([status, nothingSaid])
        }
        if (!isWrite) return
        for (const [status, json, code] of [
          [422, [{ path: 'Amount', message: 'secret details' }], 'Amount'],
          [422, [{ path: 'checkout.speed policy <b>', message: 'secret details' }], 'http_422'],
          [400, { code: 'generic-error', message: 'secret details' }, 'generic-error'],
          [400, null, 'http_400'],
          [404, {}, 'http_404'],
        ] as const) {
          made.server.fail(route, { status, json })
          expect(await failure(call(made))).toEqual({ refused: code })
        }
        made.server.fail(route, { status: 409, json: {} })
        expect(await failure(call(made))).toEqual(uncounted)
      })
  }

  test('silence about giving up leaves unknown what happened, and asking again gives it up', async () => {
    for (const fault of ['lost', 'half', 'garbage', 'unreached'] as const) {
      const { server, btcpay, name } = await withInvoice()
      server.fail(/status/, fault)
      expect(await failure(btcpay.void(name))).toEqual(fault === 'garbage' ? unknownAnswer : unknown)
      expect(await btcpay.void(name)).toMatchObject({ state: 'VOIDED' })
    }
  })

  test('whatever JSON is answered, money is counted only where a status says that it came', async () => {
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
        const found = await btcpay.retrieve(name).catch((error: unknown) => error)
        if (found instanceof Error)
          return void expect(await failure(Promise.reject(found))).toMatchObject({ unavailable: { neverSent: false } })
        if ((found as { captured: number }).captured > 0)
          expect(['Settled', 'Expired', 'Invalid']).toContain((json as { status: string }).status)
      }),
      { numRuns: 150 },
    )
  })

  test('no error tells the key, the secret, or what the server wrote', async () => {
    const { server, btcpay, name, port } = await withInvoice()
    const told: string[] = [await toldBy(btcpay.refund({ ...name, refundId, whole: true }))]
    const refusal = { status: 422, json: [{ path: 'Status', message: 'secret details' }] }
    for (const fault of [refusal, 'unreached', 'lost'] as const) {
      server.fail(/status/, fault)
      told.push(await toldBy(btcpay.void(name)))
    }
    told.push(await toldBy(createBtcpay({ ...server.account, apiKey: 'other-key' }, port).probe()))
    told.push(await toldBy(btcpay.readMessage({ body: new Uint8Array(), headers: new Headers() })))
    for (const text of told)
      for (const secret of [server.account.apiKey, 'other-key', server.account.webhookSecret, 'secret details'])
        expect(text).not.toContain(secret)
    expect(told.every((text) => text !== '')).toBe(true)
  })
})
