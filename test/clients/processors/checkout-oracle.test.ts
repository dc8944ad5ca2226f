/** Compares the requests of our client with those of the SDK of Checkout.com. */
import { afterAll, expect, test } from 'bun:test'
import { Checkout } from 'checkout-sdk-node'
import { createCheckout } from '../../../src/clients/processors/checkout/client.ts'
import { checkoutKeys, startCheckoutServer } from './checkout-server.ts'
import { type ApiRequest, loopbackPort } from './stand-in.ts'

const server = await startCheckoutServer()
afterAll(() => server.close())
const ours = createCheckout({ ...checkoutKeys, apiUrl: server.url }, loopbackPort())
const theirs = new Checkout(checkoutKeys.secretKey, { host: server.url, pk: checkoutKeys.publishableKey })

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

const told = ({ method, path, query, headers, body }: ApiRequest) => ({
  method,
  path,
  query: [...query].toSorted(),
  body: body === '' ? undefined : JSON.parse(body),
  authorization: headers.get('authorization'),
  type: body === '' ? undefined : headers.get('content-type'),
  key: headers.get('cko-idempotency-key'),
})

/** The requests that come while something is done; what is answered does not matter. */
async function sent(work: () => Promise<unknown>): Promise<unknown[]> {
  const before = server.requests.length
  await work().catch(() => undefined)
  return server.requests.slice(before).map(told)
}

const created = await ours.create({ paymentId, ...sum, token: 'tok_good', returnUrl })
const id = created.reference
const name = { paymentId, reference: id, ...sum }
const google = { protocolVersion: 'ECv2', signature: 'MEUCIQ', signedMessage: '{}' }
const apple = { version: 'EC_v1', data: 't7Ge', signature: 'MIAG', header: { transactionId: '93' } }

const source = { type: 'token', token: 'tok_good' }
/** By verb: our call, theirs, and how many requests come before the one that is meant. */
const verbs: Record<string, { ours: () => Promise<unknown>; theirs: () => Promise<unknown>; at?: number }> = {
  'a payment by token': {
    ours: () => ours.create({ paymentId, ...sum, token: 'tok_good', returnUrl }),
    theirs: () => theirs.payments.request({ ...common, source, '3ds': { enabled: true } }, paymentId),
  },
  'a session': {
    ours: () => ours.create({ paymentId, ...sum, token: undefined, returnUrl, shopper: { country: 'GB' } }),
    theirs: () => theirs.paymentSessions.request({ ...common, billing: { address: { country: 'GB' } } }),
  },
  'a token of Google Pay': {
    ours: () => ours.create({ paymentId, ...sum, token: JSON.stringify(google), returnUrl }),
    theirs: () => theirs.tokens.request({ token_data: google }),
  },
  'a token of Apple Pay': {
    ours: () => ours.create({ paymentId, ...sum, token: JSON.stringify(apple), returnUrl }),
    theirs: () => theirs.tokens.request({ token_data: apple }),
  },
  'a payment by its name': { ours: () => ours.retrieve(name), theirs: () => theirs.payments.get(id) },
  'a payment by our id': {
    ours: () => ours.retrieve({ ...name, reference: undefined }),
    theirs: () => theirs.payments.getPaymentList({ reference: paymentId, limit: 100 }),
  },
  'a capture': {
    ours: () => ours.capture(name),
    theirs: () => theirs.payments.capture(id, { amount: 1_000, reference: paymentId }, `${id}-capture`),
  },
  'a void': { ours: () => ours.void(name), theirs: () => theirs.payments.void(id, { reference: paymentId }, `${id}-void`) },
  'a refund': {
    ours: () => ours.refund({ ...name, refundId, amount: 300, whole: false }),
    theirs: () => theirs.payments.refund(id, { amount: 300, reference: refundId }, refundId),
    at: 1,
  },
  'what became of a refund': {
    ours: () => ours.retrieveRefund({ ...name, refundId, refundReference: undefined }),
    theirs: () => theirs.payments.getActions(id),
  },
  'a probe': { ours: () => ours.probe(), theirs: () => theirs.payments.getPaymentList({ reference: 'probe', limit: 1 }) },
}

test.each(Object.keys(verbs))('sends %s like the official SDK', async (verb) => {
  const { ours, theirs, at = 0 } = verbs[verb] as (typeof verbs)[string]
  const theirOnes = await sent(theirs)
  expect(theirOnes).toHaveLength(1)
  expect((await sent(ours))[at]).toEqual(theirOnes[0])
})

test.each([
  'sk_sbox_abcdefghijklmnopqrstuvwxyz2',
  'sk_abcdefghijklmnopqrstuvwxyz#',
  'sk_test_0b9b5db6-f223-49d0-b68f-f6643dd4f808',
  'sk_0b9b5db6-f223-49d0-b68f-f6643dd4f808',
])('sends the key %s like the official SDK', async (secretKey) => {
  const client = createCheckout({ secretKey, apiUrl: server.url }, loopbackPort())
  const sdk = new Checkout(secretKey, { host: server.url })
  const theirOnes = await sent(() => sdk.payments.get(id))
  expect(theirOnes).toHaveLength(1)
  expect(await sent(() => client.retrieve(name))).toEqual(theirOnes)
})
