/** Compares the requests of our client with those of the SDK of Checkout.com. */
import { afterAll, expect, test } from 'bun:test'
import { Checkout } from 'checkout-sdk-node'
import { createCheckout } from '../../../src/clients/processors/checkout/client.ts'
import { checkoutKeys, startCheckoutServer } from './checkout-server.ts'
import { type ApiRequest, loopbackPort } from './stand-in.ts'

const server = await startCheckoutServer()
afterAll(() => server.close())
const viaClient = createCheckout({ ...checkoutKeys, apiUrl: server.url }, loopbackPort())
const viaSdk = new Checkout(checkoutKeys.secretKey, { host: server.url, pk: checkoutKeys.publishableKey })

const paymentId = 'pay_01jd0000000000000000000001'
const refundId = 'ref_01jd0000000000000000000001'
const returnUrl = 'https://shop.example/thanks'
const sum = { amount: 1_000, currency: 'USD' }
const common = {
  ...sum,
  capture: false,
  reference: paymentId,
  processing_channel_id: checkoutKeys.channelId,
  success_url: returnUrl,
  failure_url: returnUrl,
}

const comparable = ({ method, path, query, headers, body }: ApiRequest) => ({
  method,
  path,
  query: [...query].toSorted(),
  body: body === '' ? undefined : JSON.parse(body),
  authorization: headers.get('authorization'),
  type: body === '' ? undefined : headers.get('content-type'),
  key: headers.get('cko-idempotency-key'),
})

/** Returns the requests that `work` sends. Ignores its result. */
async function requestsOf(work: () => Promise<unknown>): Promise<unknown[]> {
  const before = server.requests.length
  await work().catch(() => undefined)
  return server.requests.slice(before).map(comparable)
}

const created = await viaClient.create({ paymentId, ...sum, token: 'tok_good', returnUrl })
const id = created.reference
const name = { paymentId, reference: id, ...sum }
const google = { protocolVersion: 'ECv2', signature: 'MEUCIQ', signedMessage: '{}' }
const apple = { version: 'EC_v1', data: 't7Ge', signature: 'MIAG', header: { transactionId: '93' } }

const source = { type: 'token', token: 'tok_good' }
/** For each operation: the call of our client, the call of the SDK, and the index of the request to compare. */
const verbs: Record<string, { viaClient: () => Promise<unknown>; viaSdk: () => Promise<unknown>; at?: number }> = {
  'a payment by token': {
    viaClient: () => viaClient.create({ paymentId, ...sum, token: 'tok_good', returnUrl }),
    viaSdk: () => viaSdk.payments.request({ ...common, source, '3ds': { enabled: true } }, paymentId),
  },
  'a session': {
    viaClient: () => viaClient.create({ paymentId, ...sum, token: undefined, returnUrl, shopper: { country: 'GB' } }),
    viaSdk: () => viaSdk.paymentSessions.request({ ...common, billing: { address: { country: 'GB' } } }),
  },
  'a token of Google Pay': {
    viaClient: () => viaClient.create({ paymentId, ...sum, token: JSON.stringify(google), returnUrl }),
    viaSdk: () => viaSdk.tokens.request({ token_data: google }),
  },
  'a token of Apple Pay': {
    viaClient: () => viaClient.create({ paymentId, ...sum, token: JSON.stringify(apple), returnUrl }),
    viaSdk: () => viaSdk.tokens.request({ token_data: apple }),
  },
  'a payment by its name': { viaClient: () => viaClient.retrieve(name), viaSdk: () => viaSdk.payments.get(id) },
  'a payment by our id': {
    viaClient: () => viaClient.retrieve({ ...name, reference: undefined }),
    viaSdk: () => viaSdk.payments.getPaymentList({ reference: paymentId, limit: 100 }),
  },
  'a capture': {
    viaClient: () => viaClient.capture(name),
    viaSdk: () => viaSdk.payments.capture(id, { amount: 1_000, reference: paymentId }, `${id}-capture`),
  },
  'a void': { viaClient: () => viaClient.void(name), viaSdk: () => viaSdk.payments.void(id, { reference: paymentId }, `${id}-void`) },
  'a refund': {
    viaClient: () => viaClient.refund({ ...name, refundId, amount: 300, whole: false }),
    viaSdk: () => viaSdk.payments.refund(id, { amount: 300, reference: refundId }, refundId),
    at: 1,
  },
  'the state of a refund': {
    viaClient: () => viaClient.retrieveRefund({ ...name, refundId, refundReference: undefined }),
    viaSdk: () => viaSdk.payments.getActions(id),
  },
  'a probe': { viaClient: () => viaClient.probe(), viaSdk: () => viaSdk.payments.getPaymentList({ reference: 'probe', limit: 1 }) },
}

test.each(Object.keys(verbs))('sends %s like the official SDK', async (verb) => {
  const { viaClient, viaSdk, at = 0 } = verbs[verb] as (typeof verbs)[string]
  const sdkRequests = await requestsOf(viaSdk)
  expect(sdkRequests).toHaveLength(1)
  expect((await requestsOf(viaClient))[at]).toEqual(sdkRequests[0])
})

test.each([
  'sk_sbox_abcdefghijklmnopqrstuvwxyz2',
  'sk_abcdefghijklmnopqrstuvwxyz#',
  'sk_test_0b9b5db6-f223-49d0-b68f-f6643dd4f808',
  'sk_0b9b5db6-f223-49d0-b68f-f6643dd4f808',
])('sends the key %s like the official SDK', async (secretKey) => {
  const client = createCheckout({ secretKey, apiUrl: server.url }, loopbackPort())
  const sdk = new Checkout(secretKey, { host: server.url })
  const sdkRequests = await requestsOf(() => sdk.payments.get(id))
  expect(sdkRequests).toHaveLength(1)
  expect(await requestsOf(() => client.retrieve(name))).toEqual(sdkRequests)
})
