/** Compares requests and webhook signatures of our client with those of the Stripe SDK. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import Stripe from 'stripe'
import { BadSignature } from '../../../src/clients/processors/processor.ts'
import { createStripe } from '../../../src/clients/processors/stripe/client.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { type ApiRequest, loopbackPort, thrownBy } from './stand-in.ts'
import { type StripeServer, signature, startStripe } from './stripe-server.ts'

setDefaultTimeout(longTestMs)

const secretKey = 'sk_test_standin'
const webhookSecret = 'whsec_standin'
const paymentId = 'pay_01m7zqk9c9e0ts0000000000aa'

/** What both sides have to agree on. The SDK makes keys of its own for what we send without one. */
const said = ({ method, path, query, headers, body }: ApiRequest) => ({
  method,
  path,
  query: Object.fromEntries(query),
  body: Object.fromEntries(new URLSearchParams(body)),
  contentType: method === 'POST' ? headers.get('content-type') : undefined,
  authorization: headers.get('authorization'),
  version: headers.get('stripe-version'),
  key: headers.get('idempotency-key')?.replace(/^stripe-node-retry-.*$/, '') || undefined,
})

const sdkAt = ({ url }: StripeServer) =>
  new Stripe(secretKey, { host: '127.0.0.1', port: new URL(url).port, protocol: 'http', maxNetworkRetries: 0, telemetry: false })
const oursAt = ({ url }: StripeServer) => createStripe({ secretKey, webhookSecret, apiUrl: url }, loopbackPort())

type Scene = (sides: {
  sdk: ReturnType<typeof sdkAt>
  ours: ReturnType<typeof oursAt>
  theirs: StripeServer
  own: StripeServer
}) => Promise<void>
async function sameRequests(scene: Scene): Promise<ReturnType<typeof said>[]> {
  const now = () => Date.UTC(2026, 10, 22)
  await using theirs = await startStripe({ now })
  await using own = await startStripe({ now })
  await scene({ sdk: sdkAt(theirs), ours: oursAt(own), theirs, own })
  const requests = own.requests.map(said)
  expect(requests).toEqual(theirs.requests.map(said))
  return requests
}

const metadata = { payment_id: paymentId }
const begin = { amount: 1000, currency: 'usd', capture_method: 'manual', automatic_payment_methods: { enabled: true }, metadata } as const
const ask = { paymentId, amount: 1000, currency: 'USD', token: undefined, returnUrl: undefined }
const name = { paymentId, reference: undefined, amount: 1000, currency: 'USD' }

test('creates, reads, captures and refunds a payment of the page, and finds the refund, like the Stripe SDK', async () => {
  const requests = await sameRequests(async ({ sdk, ours, theirs, own }) => {
    const refundId = 'ref_01'
    const intent = await sdk.paymentIntents.create(begin, { idempotencyKey: paymentId })
    const { reference } = await ours.create(ask)
    expect(reference).toBe(intent.id)
    for (const server of [theirs, own]) server.page.pay(reference)
    await sdk.paymentIntents.retrieve(intent.id, { expand: ['latest_charge'] })
    await ours.retrieve({ ...name, reference })
    await sdk.paymentIntents.capture(intent.id, { amount_to_capture: 1000 })
    await ours.capture({ ...name, reference })
    await sdk.refunds.create({ payment_intent: intent.id, amount: 400, metadata: { refund_id: refundId } }, { idempotencyKey: refundId })
    const refund = { ...name, reference, refundId, amount: 400 }
    const { reference: refundReference } = await ours.refund({ ...refund, whole: false })
    await sdk.refunds.list({ payment_intent: intent.id, limit: 100 })
    await ours.retrieveRefund({ ...refund, refundReference: undefined })
    await sdk.refunds.retrieve(refundReference ?? '')
    await ours.retrieveRefund({ ...refund, refundReference })
    await sdk.balance.retrieve()
    await ours.probe()
  })
  expect(requests.length).toBe(7)
})

test('makes payments with a token and a wallet, and a void, like the Stripe SDK', async () => {
  const back = 'https://shop.example/back?a=1&b=ü'
  const requests = await sameRequests(async ({ sdk, ours }) => {
    await sdk.paymentIntents.create(
      { ...begin, payment_method: 'pm_card_visa', confirm: true, return_url: back },
      { idempotencyKey: paymentId },
    )
    await ours.create({ ...ask, token: 'pm_card_visa', returnUrl: back })
    const confirmed = {
      ...begin,
      metadata: { payment_id: 'pay_02' },
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    } as const
    await sdk.paymentIntents.create({ ...confirmed, confirmation_token: 'ctoken_1' }, { idempotencyKey: 'pay_02' })
    await ours.create({ ...ask, paymentId: 'pay_02', token: 'ctoken_1' })
    const method = await sdk.paymentMethods.create({ type: 'card', card: { token: 'tok_visa' } }, { idempotencyKey: 'pay_03-method' })
    const third = { ...confirmed, metadata: { payment_id: 'pay_03' }, payment_method: method.id }
    const { id } = await sdk.paymentIntents.create(third, { idempotencyKey: 'pay_03' })
    const { reference } = await ours.create({ ...ask, paymentId: 'pay_03', token: 'tok_visa' })
    await sdk.paymentIntents.cancel(id, { cancellation_reason: 'abandoned' })
    await ours.void({ ...name, paymentId: 'pay_03', reference })
  })
  expect(requests.length).toBe(5)
})

test('searches a payment in the same list as the Stripe SDK', async () => {
  await sameRequests(async ({ sdk, ours }) => {
    const since = Date.UTC(2026, 10, 1) / 1000
    const id = idOf((since + 3600) * 1000)
    await sdk.paymentIntents.list({ created: { gte: since }, limit: 100, expand: ['data.latest_charge'] })
    expect(await ours.retrieve({ ...name, paymentId: id })).toBeUndefined()
  })
})

/** A payment's id of that moment. */
function idOf(ms: number): string {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz'
  let [text, rest] = ['', ms]
  for (let at = 0; at < 10; at++) {
    text = digits.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return `pay_${text}e${'0'.repeat(15)}`
}

const payload = (text: string) =>
  JSON.stringify({ id: 'evt_1', object: 'event', type: 'payment_intent.succeeded', data: { object: { text } } })
const sdk = new Stripe(secretKey)
const ours = createStripe({ secretKey, webhookSecret }, loopbackPort())
const anyText = fc.string({ unit: 'grapheme' })

test('accepts webhooks signed by the Stripe SDK, and the SDK accepts those of the stand-in', async () => {
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      const body = payload(text)
      const header = await sdk.webhooks.generateTestHeaderStringAsync({ payload: body, secret: webhookSecret })
      const message = await ours.readMessage({ body: Buffer.from(body), headers: new Headers({ 'stripe-signature': header }) })
      expect(message.id).toBe('evt_1')
      const own = signature(Buffer.from(body), { at: Date.now(), secret: webhookSecret })
      expect((await sdk.webhooks.constructEventAsync(body, own, webhookSecret)).id).toBe('evt_1')
    }),
    { numRuns: 25 },
  )
})

test('accepts and refuses the same signature headers as the Stripe SDK', async () => {
  const body = payload('')
  const now = Date.now()
  const good = (at: number) => signature(Buffer.from(body), { at, secret: webhookSecret })
  const item = fc.oneof(
    fc.constantFrom('t=', 'v1=', 'v1=00', 'v0=00', '', 't=0', 'x', good(now), good(now - 600_000), good(now + 600_000)),
    fc.string({ maxLength: 8 }).map((text) => text.replace(/[^ -~]/g, '')),
  )
  const header = fc.array(item, { maxLength: 4 }).map((items) => items.join(','))
  let believed = 0
  await fc.assert(
    fc.asyncProperty(header, async (text) => {
      const value = new Headers({ 'stripe-signature': text })
      const sdkSays = await sdk.webhooks.constructEventAsync(body, value.get('stripe-signature') ?? '', webhookSecret).then(
        () => true,
        () => false,
      )
      const weSay = await ours.readMessage({ body: Buffer.from(body), headers: value }).then(
        () => true,
        (error) => {
          expect(error).toBeInstanceOf(BadSignature)
          return false
        },
      )
      expect([text, weSay]).toEqual([text, sdkSays])
      if (weSay) believed++
    }),
    { numRuns: 300, seed: 7 },
  )
  expect(believed).toBeGreaterThan(20)
  expect(await thrownBy(ours.readMessage({ body: Buffer.from(body), headers: new Headers() }))).toBeInstanceOf(BadSignature)
})
