/**
 * Stripe: payment intents, authorized by the shopper's page or by a token, and captured by us. Reference:
 * docs.stripe.com/api.
 */
import { timeOfId } from '../../../lib/ids.ts'
import { modeOf } from '../../../lib/processor-keys.ts'
import { requireValue, textAt, valueAt } from '../answers.ts'
import type { ProcessorPort } from '../call.ts'
import type { Capabilities, NewPayment, PaymentName, Processor, ProcessorPayment, RefundAnswer } from '../processor.ts'
import { ProcessorRefused, UnknownAnswer } from '../processor.ts'
import { stripeMinimums, stripeSupports, stripeSupportsCurrency, stripeUnits } from './amounts.ts'
import { messageOf, paymentOf, refundOf, verifyStripeSignature } from './answers.ts'
import { type Answer, createStripeCalls, type Fields, isMissing, NotAllowed, refusal } from './calls.ts'

export type StripeAccount = {
  readonly publishableKey?: string | undefined
  readonly secretKey: string
  /** Of the webhook endpoint: `whsec_…`. Without it no message is accepted. */
  readonly webhookSecret?: string | undefined
  /** Default: Stripe's own. */
  readonly apiUrl?: string | undefined
}

type Amount = { readonly amount: number; readonly currency: string }
type Refund = Parameters<Processor['refund']>[0]
type RefundName = Parameters<Processor['retrieveRefund']>[0]

/** Keys are kept for at least 24 hours; the margin is for slow requests and clock differences. */
const keysLiveMs = 23 * 3_600_000
/** How far Stripe's clock may be behind ours. */
const clockSkewMs = 3_600_000

const capabilities: Capabilities = {
  capturesItself: false,
  createRepeatsMs: keysLiveMs,
  refundRepeatsMs: keysLiveMs,
  findable: true,
  refunds: 'any',
  // Not confirmed, and a query is cheap.
  refundsMayFail: true,
  wallets: true,
  supportsAmount: stripeSupports,
  minimums: stripeMinimums,
  supportsCurrency: stripeSupportsCurrency,
}

/** Creates the processor of one account. It calls nothing until a payment does. */
export function createStripe(account: StripeAccount, port: ProcessorPort & { now(): number }): Processor {
  const { secretKey, publishableKey, webhookSecret = '', apiUrl = 'https://api.stripe.com' } = account
  const { call, postOnce, findIn } = createStripeCalls({ secretKey, apiUrl }, port)

  const paymentIn = (intent: unknown, { paymentId, amount, currency }: PaymentName & Amount): ProcessorPayment =>
    paymentOf(intent, { paymentId, expected: { amount, currency }, publishableKey })

  async function readIntent(reference: string): Promise<object | undefined> {
    const answer = await call({ method: 'GET', path: intentPath(reference), fields: { 'expand[0]': 'latest_charge' } })
    if (isMissing(answer)) return undefined
    if (answer.status !== 200) throw refusal(answer)
    return answer.json as object
  }

  /** Finds an intent by our id in the list: Stripe's search lags by minutes and misses new ones. */
  async function findIntent(paymentId: string): Promise<object | undefined> {
    const madeAt = timeOfId(paymentId)
    const since = madeAt === undefined ? {} : { 'created[gte]': Math.max(Math.floor((madeAt - clockSkewMs) / 1000), 0) }
    const fields = { ...since, 'expand[0]': 'data.latest_charge' }
    return findIn('/v1/payment_intents', fields, (intent) => textAt(intent, 'metadata', 'payment_id') === paymentId)
  }

  const findOrRead = ({ paymentId, reference }: PaymentName): Promise<object | undefined> =>
    reference === undefined ? findIntent(paymentId) : readIntent(reference)

  async function referenceOf(name: PaymentName): Promise<string> {
    const reference = name.reference ?? textAt(await findIntent(name.paymentId), 'id')
    if (reference === undefined) throw new ProcessorRefused('resource_missing')
    return reference
  }

  /** A wallet token without Stripe.js (`tok_`) becomes a payment method first. */
  async function paymentMethodOf(token: string, paymentId: string): Promise<Fields> {
    if (!/^\w{1,255}$/.test(token)) throw new ProcessorRefused('token_invalid')
    if (token.startsWith('ctoken_')) return { confirmation_token: token }
    if (!token.startsWith('tok_')) return { payment_method: token }
    const fields = { type: 'card', 'card[token]': token }
    const made = await postOnce({ method: 'POST', path: '/v1/payment_methods', fields, key: `${paymentId}-method` }, async () => undefined)
    const answer = requireValue('answer' in made ? made.answer : undefined, 'payment method')
    if (answer.status !== 200) throw refusal(answer)
    return { payment_method: requireValue(textAt(answer.json, 'id'), 'payment method id') }
  }

  const confirmed = async (token: string, { paymentId, returnUrl }: NewPayment): Promise<Fields> => ({
    ...(await paymentMethodOf(token, paymentId)),
    confirm: true,
    // Without a return URL the shopper must not be redirected.
    ...(returnUrl === undefined ? { 'automatic_payment_methods[allow_redirects]': 'never' } : { return_url: returnUrl }),
  })

  async function create(payment: NewPayment): Promise<ProcessorPayment> {
    const { paymentId, currency, token } = payment
    const fields = {
      amount: unitsOf(payment),
      currency: currency.toLowerCase(),
      // Otherwise the shopper's page would capture.
      capture_method: 'manual',
      'automatic_payment_methods[enabled]': true,
      'metadata[payment_id]': paymentId,
      ...(token === undefined ? {} : await confirmed(token, payment)),
    }
    const made = await postOnce({ method: 'POST', path: '/v1/payment_intents', fields, key: paymentId }, () => findIntent(paymentId))
    const intent = 'found' in made ? made.found : await createdIntent(made.answer)
    if (valueAt(intent, 'amount') !== fields.amount) throw new UnknownAnswer('another amount')
    return paymentIn(intent, { ...payment, reference: undefined })
  }

  /** Returns the payment of a create as it is now. A declined one was created too. */
  async function createdIntent(answer: Answer): Promise<unknown> {
    const intent = answer.status === 200 ? answer.json : valueAt(answer.json, 'error', 'payment_intent')
    const reference = textAt(intent, 'id')
    if (reference === undefined) throw answer.status === 200 ? new UnknownAnswer('a payment without an id') : refusal(answer)
    return answer.replayed ? requireValue(await readIntent(reference), 'PaymentIntent') : intent
  }

  /**
   * Captures or voids a known payment intent. Sends no idempotency key: Stripe performs either step at most once, and a
   * key would repeat an early "not authorized yet" for a day. An intent in another state is returned as it is.
   */
  async function move(name: PaymentName & Amount, step: 'capture' | 'cancel', fields: Fields): Promise<ProcessorPayment> {
    const reference = await referenceOf(name)
    const answer = await call({ method: 'POST', path: `${intentPath(reference)}/${step}`, fields })
    if (answer.status === 200) return paymentIn(answer.json, name)
    const isInOtherState = textAt(answer.json, 'error', 'code') === 'payment_intent_unexpected_state'
    if (answer.status !== 402 && !isInOtherState) throw refusal(answer)
    const inside = valueAt(answer.json, 'error', 'payment_intent')
    const intent = textAt(inside, 'id') === reference ? inside : requireValue(await readIntent(reference), 'PaymentIntent')
    const payment = paymentIn(intent, name)
    // A declined capture is retried, and the authorization expires.
    return answer.status === 402 && payment.state === 'AUTHORIZED'
      ? { ...payment, state: 'FAILED', failureCode: refusal(answer).code }
      : payment
  }

  function findRefund(paymentIntent: string, refundId: string): Promise<object | undefined> {
    const matches = (refund: unknown) => textAt(refund, 'metadata', 'refund_id') === refundId
    return findIn('/v1/refunds', { payment_intent: paymentIntent }, matches)
  }

  async function readRefund(reference: string): Promise<object | undefined> {
    const answer = await call({ method: 'GET', path: `/v1/refunds/${encodeURIComponent(reference)}` })
    if (isMissing(answer)) return undefined
    if (answer.status !== 200) throw refusal(answer)
    return answer.json as object
  }

  async function refund(request: Refund): Promise<RefundAnswer> {
    const { refundId } = request
    const units = unitsOf(request)
    const reference = await referenceOf(request)
    const fields = { payment_intent: reference, amount: units, 'metadata[refund_id]': refundId }
    const made = await postOnce({ method: 'POST', path: '/v1/refunds', fields, key: refundId }, () => findRefund(reference, refundId))
    if ('found' in made) return refundOf(made.found, { refundId, expected: request })
    const { answer } = made
    if (answer.status !== 200) throw refusal(answer)
    const now = answer.replayed ? await readRefund(requireValue(textAt(answer.json, 'id'), 'refund id')) : answer.json
    return refundOf(now, { refundId, expected: request })
  }

  async function retrieveRefund(name: RefundName): Promise<RefundAnswer | undefined> {
    const { paymentId, refundId, refundReference } = name
    const reference = name.reference ?? (refundReference === undefined ? textAt(await findIntent(paymentId), 'id') : undefined)
    if (refundReference === undefined && reference === undefined) return undefined
    const found = refundReference === undefined ? await findRefund(reference ?? '', refundId) : await readRefund(refundReference)
    return found === undefined ? undefined : refundOf(found, { refundId, expected: name })
  }

  return {
    name: 'stripe',
    mode: modeOf(apiUrl, secretKey),
    capabilities,
    create,
    async retrieve(name) {
      const intent = await findOrRead(name)
      return intent === undefined ? undefined : paymentIn(intent, name)
    },
    capture: async (name) => move(name, 'capture', { amount_to_capture: unitsOf(name) }),
    void: (name) => move(name, 'cancel', { cancellation_reason: 'abandoned' }),
    refund,
    retrieveRefund,
    async readMessage({ body, headers }) {
      verifyStripeSignature(body, headers.get('stripe-signature'), { secret: webhookSecret, now: port.now() })
      return messageOf(body)
    },
    async probe() {
      const answer = await call({ method: 'GET', path: '/v1/balance' }).catch((error: unknown) => {
        // A restricted key must be allowed to read the balance, or it cannot be verified.
        throw error instanceof NotAllowed ? new ProcessorRefused('credentials') : error
      })
      if (answer.status !== 200) throw new UnknownAnswer(`status ${answer.status}`)
    },
  }
}

const intentPath = (reference: string): string => `/v1/payment_intents/${encodeURIComponent(reference)}`

/** @throws ProcessorRefused before any call */
function unitsOf(amount: Amount): number {
  const units = stripeUnits(amount)
  if (units === undefined) throw new ProcessorRefused('amount_not_supported')
  return units
}
