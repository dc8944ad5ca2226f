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

/** The fields of a request that must be equal. The SDK adds idempotency keys where we send none. */
const comparable = ({ method, path, query, headers, body }: ApiRequest) => ({
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
  stripe: ReturnType<typeof oursAt>
  sdkServer: StripeServer
  clientServer: StripeServer
}) => Promise<void>
async function sameRequests(scene: Scene): Promise<ReturnType<typeof comparable>[]> {
  const now = () => Date.UTC(2026, 10, 22)
  await using sdkServer = await startStripe({ now })
  await using clientServer = await startStripe({ now })
  await scene({ sdk: sdkAt(sdkServer), stripe: oursAt(clientServer), sdkServer, clientServer })
  const requests = clientServer.requests.map(comparable)
  expect(requests).toEqual(sdkServer.requests.map(comparable))
  return requests
}

const metadata = { payment_id: paymentId }
const intentParams = {
  amount: 1000,
  currency: 'usd',
  capture_method: 'manual',
  automatic_payment_methods: { enabled: true },
  metadata,
} as const
const newPayment = { paymentId, amount: 1000, currency: 'USD', token: undefined, returnUrl: undefined }
const name = { paymentId, reference: undefined, amount: 1000, currency: 'USD' }

test('creates, reads, captures and refunds a payment of the page, and finds the refund, like the Stripe SDK', async () => {
  const requests = await sameRequests(async ({ sdk, stripe, sdkServer, clientServer }) => {
    const refundId = 'ref_01'
    const intent = await sdk.paymentIntents.create(intentParams, { idempotencyKey: paymentId })
    const { reference } = await stripe.create(newPayment)
    expect(reference).toBe(intent.id)
    for (const server of [sdkServer, clientServer]) server.page.pay(reference)
    await sdk.paymentIntents.retrieve(intent.id, { expand: ['latest_charge'] })
    await stripe.retrieve({ ...name, reference })
    await sdk.paymentIntents.capture(intent.id, { amount_to_capture: 1000 })
    await stripe.capture({ ...name, reference })
    await sdk.refunds.create({ payment_intent: intent.id, amount: 400, metadata: { refund_id: refundId } }, { idempotencyKey: refundId })
    const refund = { ...name, reference, refundId, amount: 400 }
    const { reference: refundReference } = await stripe.refund({ ...refund, whole: false })
    await sdk.refunds.list({ payment_intent: intent.id, limit: 100 })
    await stripe.retrieveRefund({ ...refund, refundReference: undefined })
    await sdk.refunds.retrieve(refundReference ?? '')
    await stripe.retrieveRefund({ ...refund, refundReference })
    await sdk.balance.retrieve()
    await stripe.probe()
  })
  expect(requests.length).toBe(7)
})

test('makes payments with a token and a wallet, and a void, like the Stripe SDK', async () => {
  const back = 'https://shop.example/back?a=1&b=ü'
  const requests = await sameRequests(async ({ sdk, stripe }) => {
    await sdk.paymentIntents.create(
      { ...intentParams, payment_method: 'pm_card_visa', confirm: true, return_url: back },
      { idempotencyKey: paymentId },
    )
    await stripe.create({ ...newPayment, token: 'pm_card_visa', returnUrl: back })
    const confirmed = {
      ...intentParams,
      metadata: { payment_id: 'pay_02' },
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    } as const
    await sdk.paymentIntents.create({ ...confirmed, confirmation_token: 'ctoken_1' }, { idempotencyKey: 'pay_02' })
    await stripe.create({ ...newPayment, paymentId: 'pay_02', token: 'ctoken_1' })
    const method = await sdk.paymentMethods.create({ type: 'card', card: { token: 'tok_visa' } }, { idempotencyKey: 'pay_03-method' })
    const third = { ...confirmed, metadata: { payment_id: 'pay_03' }, payment_method: method.id }
    const { id } = await sdk.paymentIntents.create(third, { idempotencyKey: 'pay_03' })
    const { reference } = await stripe.create({ ...newPayment, paymentId: 'pay_03', token: 'tok_visa' })
    await sdk.paymentIntents.cancel(id, { cancellation_reason: 'abandoned' })
    await stripe.void({ ...name, paymentId: 'pay_03', reference })
  })
  expect(requests.length).toBe(5)
})

test('searches a payment in the same list as the Stripe SDK', async () => {
  await sameRequests(async ({ sdk, stripe }) => {
    const since = Date.UTC(2026, 10, 1) / 1000
    const id = idOf((since + 3600) * 1000)
    await sdk.paymentIntents.list({ created: { gte: since }, limit: 100, expand: ['data.latest_charge'] })
    expect(await stripe.retrieve({ ...name, paymentId: id })).toBeUndefined()
  })
})

/** Returns a payment id with this time. */
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
const stripe = createStripe({ secretKey, webhookSecret }, loopbackPort())
const anyText = fc.string({ unit: 'grapheme' })

test('accepts webhooks signed by the Stripe SDK, and the SDK accepts those of the stand-in', async () => {
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      const body = payload(text)
      const header = await sdk.webhooks.generateTestHeaderStringAsync({ payload: body, secret: webhookSecret })
      const message = await stripe.readMessage({ body: Buffer.from(body), headers: new Headers({ 'stripe-signature': header }) })
      expect(message.id).toBe('evt_1')
      const ownHeader = signature(Buffer.from(body), { at: Date.now(), secret: webhookSecret })
      expect((await sdk.webhooks.constructEventAsync(body, ownHeader, webhookSecret)).id).toBe('evt_1')
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
  let acceptedCount = 0
  await fc.assert(
    fc.asyncProperty(header, async (text) => {
      const value = new Headers({ 'stripe-signature': text })
      const sdkAccepts = await sdk.webhooks.constructEventAsync(body, value.get('stripe-signature') ?? '', webhookSecret).then(
        () => true,
        () => false,
      )
      const clientAccepts = await stripe.readMessage({ body: Buffer.from(body), headers: value }).then(
        () => true,
        (error) => {
          expect(error).toBeInstanceOf(BadSignature)
          return false
        },
      )
      expect([text, clientAccepts]).toEqual([text, sdkAccepts])
      if (clientAccepts) acceptedCount++
    }),
    { numRuns: 300, seed: 7 },
  )
  expect(acceptedCount).toBeGreaterThan(20)
  expect(await thrownBy(stripe.readMessage({ body: Buffer.from(body), headers: new Headers() }))).toBeInstanceOf(BadSignature)
})
