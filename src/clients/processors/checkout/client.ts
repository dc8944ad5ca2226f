/** Checkout.com: cards by its payment sessions (Flow) or a token of the page, wallets by their tokens. */
import { createHash, createHmac } from 'node:crypto'
import { modeOf } from '../../../lib/processor-keys.ts'
import { sameSecret } from '../../../lib/seal.ts'
import { countAt, idAt, listAt, parsedMessage, requireValue, textAt, valueAt, walletTokenOf, wordOf } from '../answers.ts'
import { assertNoPage, type CallAnswer, callProcessor, inconclusiveError, type ProcessorPort } from '../call.ts'
import type { NewPayment, PaymentName, Processor, ProcessorMessage, ProcessorPayment } from '../processor.ts'
import { BadSignature, ProcessorRefused, ProcessorUnavailable, UnknownAnswer } from '../processor.ts'
import {
  actionOf,
  type CheckoutPaymentState,
  type ExpectedAmount,
  ranked,
  readPayment,
  refundOf,
  supportsAmount,
  supportsCurrency,
} from './states.ts'

/** The settings `CHECKOUT_…`. `publishableKey` exchanges wallet tokens, `apiUrl` contains the account's prefix. */
type CheckoutAccount = {
  readonly secretKey: string
  readonly publishableKey?: string | undefined
  readonly webhookSecret?: string | undefined
  readonly channelId?: string | undefined
  readonly apiUrl?: string | undefined
}

type Request = { readonly body?: unknown; readonly idempotencyKey?: string; readonly withPublishableKey?: boolean }
type Answer = { readonly status: number; readonly json: unknown }
type Amount = { readonly amount: number; readonly currency: string }

/** Keys are kept for 24 hours; the margin is for slow requests and clock differences. */
const keysLiveMs = 23 * 3_600_000
/** The largest page of a list, and the pages to read: card testers try many cards on one session. */
const pageSize = '100'
const pagesMax = 20
const disputeStates: Readonly<Record<string, 'OPEN' | 'WON' | 'LOST'>> = {
  dispute_received: 'OPEN',
  dispute_won: 'WON',
  dispute_lost: 'LOST',
}

/**
 * Creates the processor for an account. Our id is its `reference`. The first reference of a payment is `ps_…` for a
 * session and `pay_…` for a token. The paid one of a session is `references.payment`; `references.capture` and
 * `references.void` are undecided requests (202).
 */
export function createCheckout(account: CheckoutAccount, port: ProcessorPort & { now(): number }): Processor {
  const { secretKey, publishableKey, webhookSecret, channelId } = account
  const mode = modeOf(account.apiUrl ?? '', secretKey)
  const baseUrl = (account.apiUrl ?? `https://api${mode === 'TEST' ? '.sandbox' : ''}.checkout.com`).replace(/\/+$/, '')
  const channel = channelId === undefined ? {} : { processing_channel_id: channelId }

  async function send(
    method: 'GET' | 'POST',
    path: string,
    { body, idempotencyKey, withPublishableKey }: Request = {},
  ): Promise<CallAnswer> {
    return await callProcessor(port, {
      method,
      url: `${baseUrl}${path}`,
      headers: {
        accept: 'application/json',
        // As in the SDK: a publishable key has no prefix.
        authorization: withPublishableKey ? (publishableKey ?? '') : authorizationOf(secretKey),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'cko-idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Returns answers 2xx, 403 and 404; the meaning of the errors depends on the request. */
  async function call(method: 'GET' | 'POST', path: string, request: Request = {}): Promise<Answer> {
    const answer = await send(method, path, request)
    const { status, json } = answer
    assertNoPage(answer)
    if ((status >= 200 && status < 300) || status === 403 || status === 404) return { status, json }
    if (status === 400 || status === 422) throw new ProcessorRefused(refusalOf(json))
    if (status === 401 || status === 409) throw inconclusiveError(status)
    // A 429 may also mean that an earlier request with this key is running.
    const neverSent = status === 429 && request.idempotencyKey === undefined
    throw status === 429 ? new ProcessorUnavailable('the processor answered 429', { neverSent }) : new UnknownAnswer(`status ${status}`)
  }

  /** Posts where neither 403 nor 404 says anything about a payment. */
  async function post(path: string, request: Request): Promise<unknown> {
    const { status, json } = await call('POST', path, request)
    if (status >= 400) throw inconclusiveError(status)
    return json
  }

  async function read(id: string, expected: ExpectedAmount): Promise<CheckoutPaymentState | undefined> {
    const { status, json } = await call('GET', `/payments/${id}`)
    if (status === 403) throw inconclusiveError(status)
    if (status === 404) return undefined
    const stated = readPayment(json, expected)
    return stated.id === id ? stated : failOtherPayment()
  }

  /** Reads every payment under our id: a session may have been tried with several cards, and paid more than once. */
  async function readAll(paymentId: string, expected: ExpectedAmount): Promise<readonly CheckoutPaymentState[]> {
    const payments: unknown[] = []
    for (let page = 0; page < pagesMax; page++) {
      const from: Record<string, string> = payments.length === 0 ? {} : { skip: String(payments.length) }
      const { status, json } = await call('GET', `/payments?${new URLSearchParams({ reference: paymentId, limit: pageSize, ...from })}`)
      if (status === 403) throw inconclusiveError(status)
      const total = status === 404 ? 0 : requireValue(countAt(json, 'total_count'), 'list count')
      const items = listAt(json, 'data')
      payments.push(...items)
      if (payments.length >= total) return payments.filter(isOf(paymentId)).map((payment) => readPayment(payment, expected))
      if (items.length === 0) throw new UnknownAnswer('a list ended early')
    }
    throw new ProcessorUnavailable('there are more payments under one reference than are read')
  }

  /** Finds the payment of a name; undefined if there is none yet. */
  async function find(name: PaymentName & ExpectedAmount): Promise<CheckoutPaymentState | undefined> {
    if (name.reference?.startsWith('pay_')) return await read(pathId(name.reference), name)
    const [best, ...others] = ranked(await readAll(name.paymentId, name), name.references?.['payment'])
    // One payment of ours holds one card: other authorizations are voided. If that fails, the next read does it.
    for (const { id, state } of others) if (state === 'AUTHORIZED') await askVoid(id, name.paymentId).catch(ignoreFailure)
    return best
  }

  const askVoid = (id: string, paymentId: string): Promise<Answer> =>
    call('POST', `/payments/${id}/voids`, { body: { reference: paymentId }, idempotencyKey: `${id}-void` })

  /** Returns the payment's id, and queries it only if unknown. */
  async function idOf(name: PaymentName & ExpectedAmount): Promise<string | undefined> {
    const knownId = name.references?.['payment'] ?? (name.reference?.startsWith('pay_') ? name.reference : undefined)
    return knownId === undefined ? (await find(name))?.id : pathId(knownId)
  }

  async function actionsOf(id: string): Promise<unknown> {
    const { status, json } = await call('GET', `/payments/${id}/actions`)
    if (status === 403) throw inconclusiveError(status)
    return status === 404 ? [] : json
  }

  async function createSession({ paymentId, amount, currency, returnUrl, shopper }: NewPayment): Promise<ProcessorPayment> {
    // The required fields are not documented: unknown ones are left out, and the processor may refuse.
    const json = await post('/payment-sessions', {
      body: {
        amount,
        currency,
        reference: paymentId,
        capture: false,
        ...channel,
        ...(shopper?.country === undefined ? {} : { billing: { address: { country: shopper.country } } }),
        ...urlsOf(returnUrl),
      },
    })
    const reference = requireValue(idAt(json, 'id'), 'session id')
    requireValue(textAt(json, 'payment_session_token'), 'session token')
    // Only the fields that its library reads.
    const names = ['id', 'payment_session_token', 'payment_session_secret', '_links']
    const paymentSession = Object.fromEntries(
      names.flatMap((name) => (valueAt(json, name) === undefined ? [] : [[name, valueAt(json, name)]])),
    )
    return { reference, state: 'PENDING', authorized: 0, captured: 0, clientParameters: { paymentSession } }
  }

  async function createByToken(payment: NewPayment, token: string): Promise<ProcessorPayment> {
    const { paymentId, amount, currency, returnUrl } = payment
    const json = await post('/payments', {
      idempotencyKey: paymentId,
      body: {
        source: { type: 'token', token: await processorToken(token) },
        amount,
        currency,
        capture: false,
        reference: paymentId,
        '3ds': { enabled: true },
        ...channel,
        ...urlsOf(returnUrl),
      },
    })
    const stated = readPayment(json, payment)
    if ((stated.ourId ?? paymentId) !== paymentId) failOtherPayment()
    return paymentOf(stated, { paymentId, reference: undefined })
  }

  /** Exchanges a wallet's JSON for a token; returns a token as it is. */
  async function processorToken(token: string): Promise<string> {
    const wallet = walletTokenOf(token)
    if (wallet === undefined) return token
    if (!publishableKey) throw new ProcessorRefused('wallet_tokens_need_publishable_key')
    const json = await post('/tokens', { body: wallet, withPublishableKey: true })
    return requireValue(textAt(json, 'token'), 'token for the wallet token')
  }

  async function capture(name: PaymentName & Amount): Promise<ProcessorPayment> {
    const id = await idOf(name)
    if (id === undefined) throw new ProcessorRefused('not_found')
    const { status, json } = await call('POST', `/payments/${id}/captures`, {
      body: { amount: name.amount, reference: name.paymentId },
      idempotencyKey: `${id}-capture`,
    })
    if (status === 404) throw new ProcessorRefused('not_found')
    if (status === 403) return await readAfterRefusal(id, name, status)
    const actionId = requireValue(idAt(json, 'action_id'), 'capture action id')
    return await readAfterRequest(id, { ...name, references: { ...name.references, capture: actionId } })
  }

  async function voidPayment(name: PaymentName & Amount): Promise<ProcessorPayment> {
    // A session may have been paid with another card since.
    const id = isSession(name) ? (await find(name))?.id : await idOf(name)
    // An unpaid session cannot be cancelled; it is watched.
    if (id === undefined) return unpaidSession(name)
    const { status, json } = await askVoid(id, name.paymentId)
    if (status === 404) throw new ProcessorRefused('not_found')
    if (status === 403) return await readAfterRefusal(id, name, status)
    const actionId = requireValue(idAt(json, 'action_id'), 'void action id')
    return await readAfterRequest(id, { ...name, references: { ...name.references, void: actionId } })
  }

  /** Reads a payment after an accepted request (202). A failed read does not undo it. */
  async function readAfterRequest(id: string, names: PaymentName & Amount): Promise<ProcessorPayment> {
    const stated = await read(id, names)
      .then((now) => now && resolvePending(now, names))
      .catch(ignoreFailure)
    return paymentOf(stated ?? { id, state: 'PROCESSING', authorized: names.amount, captured: 0 }, names)
  }

  /** Handles 403: the payment's state forbids the request. Reads the state; one that would allow it proves nothing. */
  async function readAfterRefusal(id: string, name: PaymentName & Amount, status: number): Promise<ProcessorPayment> {
    const stated = await read(id, name)
    if (stated === undefined) throw new ProcessorRefused('not_found')
    const now = await resolvePending(stated, name)
    if (now.state === 'AUTHORIZED') throw new ProcessorUnavailable(`the processor answered ${status}`)
    return paymentOf(now, name)
  }

  /** An authorized payment with a pending request has an unchanged state. Its actions show whether that is decided. */
  async function resolvePending(stated: CheckoutPaymentState, { paymentId, references }: PaymentName): Promise<CheckoutPaymentState> {
    const [voiding, capturing] = [references?.['void'], references?.['capture']]
    if (stated.state !== 'AUTHORIZED' || (voiding ?? capturing) === undefined) return stated
    const actions = await actionsOf(stated.id)
    if (voiding !== undefined && actionOf(actions, 'Void', { id: voiding })?.approved !== false) return { ...stated, state: 'PROCESSING' }
    if (capturing === undefined) return stated
    const action = actionOf(actions, 'Capture', { id: capturing })
    if (action?.approved !== false) return { ...stated, state: 'PROCESSING' }
    // A retry of the declined capture would be declined too, so the payment is voided. If that fails, it expires.
    if (voiding === undefined) await askVoid(stated.id, paymentId).catch(ignoreFailure)
    return { ...stated, state: 'FAILED', failureCode: action.code ?? 'capture_declined' }
  }

  async function ourIdOf(id: string): Promise<string | undefined> {
    const { status, json } = await send('GET', `/payments/${id}`)
    if (status !== 200 && status !== 404) throw inconclusiveError(status)
    return textAt(json, 'reference')
  }

  /**
   * Reads a message. The whole body is signed, so our id in it is trusted. Without it the payment is queried: a
   * session's payment is known by our id only.
   */
  async function messageOf(body: Uint8Array): Promise<ProcessorMessage> {
    const event = parsedMessage(body)
    const type = textAt(event, 'type') ?? ''
    const id = textAt(event, 'id') ?? createHash('sha256').update(body).digest('hex')
    const about = idAt(event, 'data', type.startsWith('dispute_') ? 'payment_id' : 'id')
    if (!about?.startsWith('pay_')) return { id, payment: undefined }
    const reference = type.startsWith('payment_') ? textAt(event, 'data', 'reference') : undefined
    const paymentId = reference ?? (await ourIdOf(about))
    const dispute = disputeOf(event, type)
    return { id, payment: { paymentId, reference: about, references: { payment: about } }, ...(dispute === undefined ? {} : { dispute }) }
  }

  /** Returns why a refund was not allowed, if the payment shows it. */
  async function refundProblemOf(id: string, { amount, currency }: Amount): Promise<Error> {
    const stated = await read(id, { amount: undefined, currency })
    if (stated === undefined) return new ProcessorRefused('not_found')
    if (stated.captured === 0) return new ProcessorRefused('not_captured')
    if (stated.captured - (stated.refunded ?? 0) < amount) return new ProcessorRefused('refund_exceeds_rest')
    // Enough is left: an earlier identical request may be running.
    return new ProcessorUnavailable('the processor answered 403')
  }

  async function refundable({ amount: _, ...name }: PaymentName & Amount): Promise<string | undefined> {
    return await idOf({ ...name, amount: undefined })
  }

  return {
    name: 'checkout',
    mode,
    capabilities: {
      // A session may capture by methods other than cards; its state is read as it is.
      capturesItself: false,
      // Payments by token repeat for 24 h, sessions never (one without an answer cannot be paid): searched, then
      // created again.
      createRepeatsMs: 0,
      refundRepeatsMs: keysLiveMs,
      findable: true,
      refunds: 'any',
      wallets: true,
      supportsAmount,
      supportsCurrency,
    },
    async create(payment) {
      assertSupported(payment)
      return payment.token === undefined ? await createSession(payment) : await createByToken(payment, payment.token)
    },
    async retrieve(name) {
      const stated = await find(name)
      if (stated !== undefined) return paymentOf(await resolvePending(stated, name), name)
      return isSession(name) ? unpaidSession(name) : undefined
    },
    async capture(name) {
      assertSupported(name)
      return await capture(name)
    },
    void: voidPayment,
    async refund(refund) {
      assertSupported(refund)
      const { refundId, amount } = refund
      const id = await refundable(refund)
      if (id === undefined) throw new ProcessorRefused('not_found')
      const findRefund = async () => actionOf(await actionsOf(id), 'Refund', { ourId: refundId, id: undefined })
      // Only a 2xx is stored under its key: a request that failed after its effect would have a second one.
      const before = await findRefund()
      if (before !== undefined) return refundOf(before, refund)
      const { status, json } = await call('POST', `/payments/${id}/refunds`, {
        body: { amount, reference: refundId },
        idempotencyKey: refundId,
      })
      if (status === 404) throw new ProcessorRefused('not_found')
      if (status === 403) {
        const made = await findRefund()
        if (made === undefined) throw await refundProblemOf(id, refund)
        return refundOf(made, refund)
      }
      return { reference: requireValue(idAt(json, 'action_id'), 'refund action id'), state: 'PENDING' }
    },
    async retrieveRefund(name) {
      const id = await refundable(name)
      if (id === undefined) return undefined
      const action = actionOf(await actionsOf(id), 'Refund', { ourId: name.refundId, id: name.refundReference })
      if (action !== undefined) return refundOf(action, name)
      // Whether a pending refund is listed could not be confirmed.
      return name.refundReference === undefined ? undefined : { reference: name.refundReference, state: 'PENDING' }
    },
    readMessage: async ({ body, headers }) => {
      if (!webhookSecret?.trim()) throw new BadSignature('checkout')
      const signature = createHmac('sha256', webhookSecret).update(body).digest('hex')
      if (!sameSecret((headers.get('cko-signature') ?? '').toLowerCase(), signature)) throw new BadSignature('checkout')
      return await messageOf(body)
    },
    async probe() {
      const { status } = await send('GET', '/payments?reference=probe&limit=1')
      if (status === 401 || status === 403) throw new ProcessorRefused('credentials')
      if (status !== 200 && status !== 404) throw inconclusiveError(status)
    },
  }
}

/** @throws ProcessorRefused before any call */
function assertSupported(amount: Amount): void {
  if (!supportsAmount(amount)) throw new ProcessorRefused('amount_not_supported')
}

/** Items without a reference belong to the reference of the request. */
const isOf =
  (paymentId: string) =>
  (payment: unknown): boolean =>
    (textAt(payment, 'reference') ?? paymentId) === paymentId

const isSession = ({ reference }: PaymentName): boolean => reference?.startsWith('ps_') ?? false

function unpaidSession({ reference }: PaymentName): ProcessorPayment {
  if (!reference?.startsWith('ps_')) throw new ProcessorRefused('not_found')
  return { reference, state: 'PENDING', authorized: 0, captured: 0 }
}

const pathId = (name: string): string => encodeURIComponent(name)

type ShownPayment = Pick<CheckoutPaymentState, 'id' | 'state' | 'authorized' | 'captured' | 'refunded' | 'failureCode' | 'redirectUrl'>

function paymentOf(
  { id, redirectUrl, refunded, failureCode, ...amounts }: ShownPayment,
  { reference = id, references }: PaymentName,
): ProcessorPayment {
  const names = reference === id ? references : { ...references, payment: id }
  return {
    reference,
    ...(names === undefined ? {} : { references: names }),
    state: amounts.state,
    authorized: amounts.authorized,
    captured: amounts.captured,
    ...(refunded === undefined ? {} : { refunded }),
    ...(failureCode === undefined ? {} : { failureCode }),
    ...(redirectUrl === undefined ? {} : { clientParameters: { redirectUrl } }),
  }
}

function failOtherPayment(): never {
  throw new UnknownAnswer('another payment')
}

/** Ignores the failure of an optional call. */
function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof ProcessorUnavailable || error instanceof ProcessorRefused)) throw error
}

const refusalOf = (json: unknown): string => wordOf(textAt(json, 'error_codes', 0), textAt(json, 'error_type')) ?? 'refused'

const urlsOf = (returnUrl: string | undefined) => (returnUrl === undefined ? {} : { success_url: returnUrl, failure_url: returnUrl })

/** Keys of the previous platform (`sk_` and a UUID) have no prefix. */
const authorizationOf = (key: string): string =>
  /^(Bearer |sk_(test_)?\w{8}-\w{4}-\w{4}-\w{4}-\w{12}$)/i.test(key) ? key : `Bearer ${key}`

/** The reference does not describe disputes: the amount counts only if all its fields are there. */
function disputeOf(event: unknown, type: string): ProcessorMessage['dispute'] {
  const reference = idAt(event, 'data', 'id')
  const amount = countAt(event, 'data', 'amount')
  const currency = textAt(event, 'data', 'currency')
  const state = Object.hasOwn(disputeStates, type) ? disputeStates[type] : undefined
  if (reference === undefined || !amount || currency === undefined || state === undefined) return undefined
  return { reference, amount, currency, state }
}
