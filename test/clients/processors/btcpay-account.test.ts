import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type BtcpayAccount, createBtcpay } from '../../../src/clients/processors/btcpay/client.ts'
import { BadSignature } from '../../../src/clients/processors/processor.ts'
import { callOnThisMachine } from '../../../src/demo/stand-ins/server.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { type BtcpayServerOptions, signed, startBtcpayServer } from './btcpay-server.ts'
import { failure, notSent, realPort, unknownAnswer } from './outcomes.ts'

setDefaultTimeout(longTestMs)

const order = { paymentId: 'pay_01k7h8m3vefq7v0x2y4z6a8b9c', amount: 1000, currency: 'USD', token: undefined, returnUrl: undefined }

async function withInvoice(options: BtcpayServerOptions & { account?: Partial<BtcpayAccount> } = {}) {
  const server = await startBtcpayServer(options)
  const btcpay = createBtcpay({ ...server.account, ...options.account }, { ...realPort, now: Date.now })
  return { server, btcpay, [Symbol.asyncDispose]: server.close }
}

describe('a BTCPay account', () => {
  test('the probe checks that the key can see the store and that the server is synchronized', async () => {
    await using good = await withInvoice()
    await good.btcpay.probe()
    expect(good.server.routes()).toHaveLength(2)
    expect(good.server.violations).toEqual([])
    for (const account of [{ apiKey: 'another' }, { storeId: 'another' }]) {
      await using invalidSignatures = await withInvoice({ account })
      expect(await failure(invalidSignatures.btcpay.probe())).toEqual({ refused: 'credentials' })
    }
    await using blind = await withInvoice({ permissions: ['cancreateinvoice'] })
    expect(await failure(blind.btcpay.probe())).toEqual({ refused: 'credentials' })
    await using behind = await withInvoice({ synchronized: false })
    expect(await failure(behind.btcpay.probe())).toEqual(unknownAnswer)
    good.server.fail(/invoices/, { status: 429, json: {} })
    expect(await failure(good.btcpay.probe())).toEqual(notSent)
    good.server.fail(/invoices/, { status: 200, json: {} })
    expect(await failure(good.btcpay.probe())).toEqual(unknownAnswer)
  })

  test('a BTCPay account has the configured mode, wherever its server is', async () => {
    await using live = await withInvoice({ account: { mode: 'LIVE' } })
    await using trial = await withInvoice()
    expect([live.btcpay.mode, trial.btcpay.mode]).toEqual(['LIVE', 'TEST'])
  })

  test('an API URL with a trailing slash is accepted', async () => {
    await using context = await withInvoice({ under: '/btcpay' })
    const { apiUrl } = context.server.account
    await createBtcpay({ ...context.server.account, apiUrl: `${apiUrl}/` }, { ...realPort, now: Date.now }).create(order)
    expect(context.server.violations).toEqual([])
  })
})

describe('BTCPay webhooks', () => {
  test('a webhook has both names of the payment and the id of its first delivery', async () => {
    await using context = await withInvoice()
    const { server, btcpay } = context
    const { reference } = await btcpay.create(order)
    const payment = { paymentId: order.paymentId, reference }
    for (const type of [
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoiceProcessing',
      'InvoiceExpired',
      'InvoiceSettled',
      'InvoiceInvalid',
    ]) {
      const first = server.message(reference, type)
      expect(await btcpay.readMessage(first)).toEqual({ id: first.deliveryId, payment })
      const redelivered = server.message(reference, type, { redelivers: first.deliveryId })
      expect(redelivered.body.equals(first.body)).toBe(false)
      expect(await btcpay.readMessage(redelivered)).toEqual({ id: first.deliveryId, payment })
    }
  })

  test('webhooks in any order and number lead to the same state, because the payment is queried', async () => {
    await using context = await withInvoice()
    const { server, btcpay } = context
    const { reference } = await btcpay.create(order)
    server.pay(reference, 10)
    const inOrder = ['InvoiceCreated', 'InvoiceProcessing', 'InvoiceSettled'].map((type) => server.message(reference, type))
    const ids: string[] = []
    for (const message of [...inOrder.toReversed(), ...inOrder]) {
      const { id, payment } = await btcpay.readMessage(message)
      ids.push(id)
      expect(payment).toEqual({ paymentId: order.paymentId, reference })
      expect(await btcpay.retrieve({ paymentId: order.paymentId, reference, amount: 1000, currency: 'USD' })).toMatchObject({
        state: 'CAPTURED',
      })
    }
    expect(new Set(ids)).toEqual(new Set(inOrder.map(({ deliveryId }) => deliveryId)))
  })

  test('a webhook is accepted only with a signature of its exact bytes under this secret', async () => {
    await using context = await withInvoice()
    const { server, btcpay } = context
    const { body, headers, deliveryId } = server.message('invoice1', 'InvoiceSettled')
    const good = headers.get('btcpay-sig') ?? ''
    expect(await btcpay.readMessage({ body, headers })).toMatchObject({ id: deliveryId })
    const hex = good.slice('sha256='.length)
    const invalidSignatures = [
      undefined,
      '',
      'sha256=',
      hex,
      `sha1=${hex}`,
      `sha256=${hex.slice(0, -1)}`,
      `sha256=${'0'.repeat(64)}`,
      `${good}, ${good}`,
      `sha256=${'0'.repeat(64)}, ${good}`,
      ` ${good} x`,
      server.message('invoice1', 'InvoiceSettled', { secret: 'of another shop' }).headers.get('btcpay-sig') ?? '',
    ]
    for (const signature of invalidSignatures) {
      const signatureHeaders = new Headers(signature === undefined ? {} : { 'btcpay-sig': signature })
      expect(btcpay.readMessage({ body, headers: signatureHeaders })).rejects.toBeInstanceOf(BadSignature)
    }
    for (const at of [0, body.length >> 1, body.length - 1]) {
      const changed = Buffer.from(body)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(btcpay.readMessage({ body: changed, headers })).rejects.toBeInstanceOf(BadSignature)
    }
  })

  for (const webhookSecret of [undefined, '', '  '])
    test(`a webhook is never accepted with the secret ${JSON.stringify(webhookSecret)}, even if signed with it`, async () => {
      const account = { apiUrl: 'http://127.0.0.1:1', storeId: 's', apiKey: 'k', webhookSecret, mode: 'TEST' } as const
      const body = Buffer.from('{}')
      const message = { body, headers: signed(body, webhookSecret ?? '') }
      expect(createBtcpay(account, { ...realPort, now: Date.now }).readMessage(message)).rejects.toBeInstanceOf(BadSignature)
    })

  test('a webhook of another store, without invoice or without JSON is about no payment and has an id', async () => {
    await using context = await withInvoice()
    const { server, btcpay } = context
    const other = server.message('invoice1', 'InvoiceSettled', { storeId: 'another' })
    expect(await btcpay.readMessage(other)).toEqual({ id: other.deliveryId, payment: undefined })
    const ids = new Set<string>()
    for (const text of ['', 'no JSON', '[]', 'null', '"x"', '{"invoiceId":7}', '{"type":"PayoutCreated"}', '\u0000\ud800']) {
      const body = Buffer.from(text, 'utf8')
      const read = async () => btcpay.readMessage({ body, headers: signed(body, server.account.webhookSecret) })
      const { id, payment } = await read()
      expect(payment).toBeUndefined()
      expect(id).toMatch(/^[0-9a-f]{64}$/)
      expect(await read()).toEqual({ id, payment })
      ids.add(id)
    }
    expect(ids.size).toBe(8)
    const body = Buffer.from('{"invoiceId":"i1","deliveryId":"d1"}')
    const message = { body, headers: signed(body, server.account.webhookSecret) }
    expect(await btcpay.readMessage(message)).toEqual({ id: 'd1', payment: { paymentId: undefined, reference: 'i1' } })
  })
})

test('in a demonstration, the BTCPay pages pay and redeem, and the shop gets a webhook of the payment', async () => {
  const webhook = Promise.withResolvers<{ body: Uint8Array; headers: Headers }>()
  using shop = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      webhook.resolve({ body: new Uint8Array(await request.arrayBuffer()), headers: request.headers })
      return new Response('OK')
    },
  })
  await using context = await withInvoice({
    tell: (message) => callOnThisMachine(`${shop.url}webhooks/payments/btcpay`, message),
    under: '/btcpay',
  })
  const { btcpay } = context
  const { reference, clientParameters } = await btcpay.create(order)
  const name = { paymentId: order.paymentId, amount: order.amount, currency: order.currency, reference }
  await fetch(String(clientParameters?.['checkoutLink']), { method: 'POST' })
  expect(await btcpay.readMessage(await webhook.promise)).toMatchObject({ payment: { paymentId: order.paymentId, reference } })
  expect(await btcpay.retrieve(name)).toMatchObject({ state: 'CAPTURED' })
  const refundId = 'ref_1'
  const { claimUrl } = await btcpay.refund({ ...name, refundId, whole: true })
  await fetch(String(claimUrl), { method: 'POST' })
  expect(await btcpay.retrieveRefund({ ...name, refundId, refundReference: undefined })).toMatchObject({ state: 'SUCCEEDED' })
  expect(context.server.violations).toEqual([])
})
