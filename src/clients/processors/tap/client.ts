/**
 * Tap: cards and wallets by an authorization, and local methods of the Gulf, which capture by themselves. Reference:
 * developers.tap.company.
 */
import { timeOfId } from '../../../lib/ids.ts'
import { modeOf } from '../../../lib/processor-keys.ts'
import { idAt, linkAt, listAt, parsedMessage, requireValue, textAt, valueAt, walletTokenOf, wordOf } from '../answers.ts'
import { assertNoPage, type CallAnswer, callProcessor, inconclusiveError, type ProcessorPort } from '../call.ts'
import type { NewPayment, PaymentName, Processor, ProcessorMessage, ProcessorPayment, RefundAnswer } from '../processor.ts'
import { BadSignature, ProcessorRefused, ProcessorUnavailable, UnknownAnswer } from '../processor.ts'
import {
  type Amount,
  isAuthorization,
  isCharge,
  isSigned,
  numberOf,
  readPayment,
  refundOf,
  supportsAmount,
  supportsCurrency,
  type TapPaymentState,
} from './states.ts'

/** The settings `TAP_…`. The secret key also signs the messages. */
type TapAccount = {
  readonly publishableKey?: string | undefined
  readonly secretKey: string
  /** Recently replaced keys: messages may still be signed with them. */
  readonly formerSecretKeys?: readonly string[] | undefined
  /** Only for Google Pay's button. */
  readonly merchantId?: string | undefined
  readonly apiUrl?: string | undefined
}

/** With status 2xx, 400, 402 or 404; the meaning of the errors depends on the request. */
type Answer = { readonly status: number; readonly json: unknown }
type NamedAmount = PaymentName & Amount

/** Methods of one country each. They capture by themselves. */
const localSources: Readonly<Record<string, string>> = {
  knet: 'src_kw.knet',
  mada: 'src_sa.mada',
  benefit: 'src_bh.benefit',
  naps: 'src_qa.qpay',
}
const authorized: ReadonlySet<string> = new Set(['card', 'wallet'])
/** The maximum. An authorization that is not captured then expires. */
const authorizationHours = 168
/** Answers are repeated for 24 hours; the margin is for slow requests and clock differences. */
const repeatsMs = 23 * 3_600_000
const pageSize = 50
const pagesMax = 100

/**
 * Creates the processor for an account. The first reference is `auth_…`, or `chg_…` for a local method;
 * `references.charge` is the charge that captured an authorization. Refunds refer to the charge, voids to the
 * authorization.
 */
export function createTap(account: TapAccount, port: ProcessorPort & { now(): number }): Processor {
  const { secretKey, formerSecretKeys = [], apiUrl = 'https://api.tap.company/v2' } = account
  const baseUrl = apiUrl.replace(/\/+$/, '')
  const signingKeys = [secretKey, ...formerSecretKeys].filter((key) => key.trim() !== '')

  const send = async (method: 'GET' | 'POST', path: string, body?: unknown): Promise<CallAnswer> =>
    await callProcessor(port, {
      method,
      url: `${baseUrl}${path}`,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${secretKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
    const answer = await send(method, path, body)
    const { status, json } = answer
    assertNoPage(answer)
    if ((status >= 200 && status < 300) || status === 400 || status === 402 || status === 404) return { status, json }
    if (status === 401 || status === 403 || status === 409 || status === 429) throw inconclusiveError(status)
    throw new UnknownAnswer(`status ${status}`)
  }

  /** Creates an object. One that failed at once may come with a 402. */
  async function make(path: string, body: unknown): Promise<unknown> {
    const { status, json } = await call('POST', path, body)
    if (status < 300 || (status === 402 && idAt(json, 'id') !== undefined)) return json
    throw new ProcessorRefused(status === 404 ? 'not_found' : refusalOf(json))
  }

  /** Undefined: unknown to Tap. */
  async function read(id: string): Promise<unknown> {
    const { status, json } = await call(
      'GET',
      `/${isCharge(id) ? 'charges' : isAuthorization(id) ? 'authorize' : 'refunds'}/${encodeURIComponent(id)}`,
    )
    if (status < 300 && textAt(json, 'id') === id) return json
    if (status < 300) throw otherPaymentError()
    if (status === 404 || saysNotFound(json)) return undefined
    throw new UnknownAnswer(`status ${status}`)
  }

  /** Yields a whole list, page by page. An empty one is a 400. */
  async function* list(of: 'charges' | 'refunds', filter: object): AsyncGenerator<unknown> {
    let after: string | undefined
    for (let page = 0; page < pagesMax; page++) {
      const { status, json } = await call('POST', `/${of}/list`, {
        ...filter,
        limit: pageSize,
        ...(after ? { starting_after: after } : {}),
      })
      if (status === 404 || (status === 400 && saysNotFound(json))) return
      if (status >= 300) throw new UnknownAnswer(`status ${status}`)
      if (!Array.isArray(valueAt(json, of))) throw new UnknownAnswer('a list has no items')
      const items = listAt(json, of)
      yield* items
      if (valueAt(json, 'has_more') !== true) return
      after = requireValue(idAt(items.at(-1), 'id'), 'id of a list item')
    }
    throw new ProcessorUnavailable('a list has more items than are read')
  }

  async function processorToken(token: string, shopper: NewPayment['shopper']): Promise<string> {
    const wallet = walletTokenOf(token)
    if (wallet === undefined) return token
    const json = await make('/tokens', { ...wallet, ...(shopper?.ip === undefined ? {} : { client_ip: shopper.ip }) })
    return requireValue(idAt(json, 'id'), 'token for the wallet token')
  }

  async function create(payment: NewPayment): Promise<ProcessorPayment> {
    const { paymentId, method = 'card', token, returnUrl, messagesUrl, shopper } = payment
    assertSupported(payment)
    const local = Object.hasOwn(localSources, method) ? localSources[method] : undefined
    if (local === undefined && !authorized.has(method)) throw new ProcessorRefused('method_not_supported')
    const source = token === undefined ? (local ?? 'src_card') : await processorToken(token, shopper)
    const json = await make(local === undefined ? '/authorize/' : '/charges/', {
      amount: numberOf(payment),
      currency: payment.currency,
      threeDSecure: true,
      customer: {
        // Required.
        first_name: shopper?.name ?? 'Customer',
        ...(shopper?.email === undefined ? {} : { email: shopper.email }),
      },
      source: { id: source },
      reference: { transaction: paymentId, order: paymentId, idempotent: paymentId },
      ...(returnUrl === undefined ? {} : { redirect: { url: returnUrl } }),
      ...(messagesUrl === undefined ? {} : { post: { url: messagesUrl } }),
      ...(local === undefined ? { auto: { type: 'VOID', time: authorizationHours } } : {}),
    })
    const stated = readPayment(json, payment)
    if (local === undefined ? !isAuthorization(stated.id) : !isCharge(stated.id)) throw otherPaymentError()
    return paymentOf(stated, { paymentId, reference: undefined })
  }

  /** Reads a payment; the charge of a captured authorization decides. */
  async function lookUp(name: NamedAmount, reference: string): Promise<ProcessorPayment | undefined> {
    if (isCharge(reference)) {
      const json = await read(reference)
      return json === undefined ? undefined : paymentOf(readPayment(json, name), name)
    }
    const charge = name.references?.['charge']
    if (charge !== undefined) return await chargeOf(name, charge)
    const json = await read(reference)
    if (json === undefined) return undefined
    const stated = readPayment(json, name)
    if (stated.state !== 'PROCESSING') return paymentOf(stated, name)
    const found = await findCharge(name, reference)
    return found === undefined ? paymentOf(stated, name) : capturedBy(found, name)
  }

  async function chargeOf(name: NamedAmount, charge: string): Promise<ProcessorPayment> {
    return capturedBy(requireValue(await read(charge), 'charge of the captured payment'), name)
  }

  /** An undecided capture is neither authorized nor captured. */
  function capturedBy(json: unknown, name: NamedAmount): ProcessorPayment {
    const stated = readPayment(json, name)
    if (!isCharge(stated.id)) throw otherPaymentError()
    const waits = stated.state === 'PENDING' || stated.state === 'REQUIRES_ACTION'
    const { redirectUrl: _, ...shown } = waits ? { ...stated, state: 'PROCESSING' as const, authorized: name.amount } : stated
    return paymentOf(shown, { ...name, references: { ...name.references, charge: stated.id } })
  }

  /** Finds the charge of an authorization among all charges: the authorization is not known to name it. */
  async function findCharge({ paymentId }: PaymentName, reference: string): Promise<unknown> {
    let failed: unknown
    for await (const charge of list('charges', {})) {
      const captures = textAt(charge, 'source', 'id') === reference || textAt(charge, 'reference', 'transaction') === paymentId
      if (!captures || !isCharge(idAt(charge, 'id') ?? '')) continue
      if (readPayment(charge, undefined).state !== 'FAILED') return charge
      failed ??= charge
    }
    return failed
  }

  async function capture(name: NamedAmount): Promise<ProcessorPayment> {
    const reference = referenceOf(name)
    const charge = name.references?.['charge']
    if (isCharge(reference) || charge !== undefined) return requireValue(await lookUp(name, reference), 'payment')
    const authorization = await read(reference)
    if (authorization === undefined) throw new ProcessorRefused('not_found')
    const stated = readPayment(authorization, undefined)
    if (stated.state !== 'AUTHORIZED') return requireValue(await lookUp(name, reference), 'payment')
    // The effect of a second capture could not be confirmed. Once an earlier key may have expired, the charge is
    // searched first.
    if (!isKeyValid(name.paymentId, port.now())) {
      const found = await findCharge(name, reference)
      if (found !== undefined) return capturedBy(found, name)
    }
    const messagesUrl = linkAt(authorization, 'post', 'url')
    const { status, json } = await call('POST', '/charges/', {
      amount: numberOf(name),
      currency: name.currency,
      customer: customerOf(authorization),
      source: { id: reference },
      reference: { transaction: name.paymentId, order: name.paymentId, idempotent: `${name.paymentId}-capture` },
      ...(messagesUrl === undefined ? {} : { post: { url: messagesUrl } }),
    })
    if (status < 300 || (status === 402 && idAt(json, 'id') !== undefined)) {
      const captured = capturedBy(json, name)
      // A retry would be declined too, so the authorization is voided. If that fails, it expires.
      if (captured.state === 'FAILED') await askVoid(reference).catch(ignoreFailure)
      return captured
    }
    const now = await lookUp(name, reference)
    if (now === undefined || now.state === 'AUTHORIZED') throw new ProcessorRefused(refusalOf(json))
    return now
  }

  const askVoid = (authorization: string): Promise<Answer> => call('POST', `/authorize/${encodeURIComponent(authorization)}/void`, {})

  async function voidPayment(name: NamedAmount): Promise<ProcessorPayment> {
    const reference = referenceOf(name)
    // A waiting charge cannot be cancelled; the payment is watched.
    if (isCharge(reference) || name.references?.['charge'] !== undefined) {
      const current = await lookUp(name, reference)
      if (current === undefined) throw new ProcessorRefused('not_found')
      return current
    }
    const { status, json } = await askVoid(reference)
    if (status < 300) return paymentOf(readPayment(json, name), name)
    const current = await lookUp(name, reference)
    if (current === undefined) throw new ProcessorRefused('not_found')
    if (current.state !== 'AUTHORIZED') return current
    // An authorization is not known to show its capture.
    const found = await findCharge(name, reference)
    if (found === undefined) throw new ProcessorRefused(refusalOf(json))
    return capturedBy(found, name)
  }

  /** The charge of a refund; undefined if nothing was charged. */
  async function chargeIdOf(name: PaymentName): Promise<string | undefined> {
    const reference = referenceOf(name)
    const knownCharge = name.references?.['charge'] ?? (isCharge(reference) ? reference : undefined)
    return knownCharge ?? idAt(await findCharge(name, reference), 'id')
  }

  async function findRefund(charge: string, refundId: string): Promise<unknown> {
    for await (const refund of list('refunds', { charges: [charge] }))
      if (textAt(refund, 'reference', 'merchant') === refundId) return refund
    return undefined
  }

  async function refund(request: NamedAmount & { readonly refundId: string }): Promise<RefundAnswer> {
    assertSupported(request)
    const { refundId } = request
    const charge = await chargeIdOf(request)
    if (charge === undefined) throw new ProcessorRefused('not_captured')
    const made = await findRefund(charge, refundId)
    if (made !== undefined) return refundOf(made, request)
    const charged = await read(charge)
    if (charged === undefined) throw new ProcessorRefused('not_found')
    const messagesUrl = linkAt(charged, 'post', 'url')
    const json = await make('/refunds/', {
      charge_id: charge,
      amount: numberOf(request),
      currency: request.currency,
      reason: 'requested_by_customer',
      reference: { merchant: refundId, idempotent: refundId },
      ...(messagesUrl === undefined ? {} : { post: { url: messagesUrl } }),
    })
    return refundOf(json, request)
  }

  /** Queries what a message says: only the fields that `isSigned` reads are authentic. */
  async function aboutOf(id: string): Promise<ProcessorMessage['payment']> {
    if (!isCharge(id) && !isAuthorization(id) && !/^ref?_/.test(id)) return undefined
    const object = await read(id)
    const charge = isCharge(id) ? id : isAuthorization(id) ? undefined : idAt(object, 'charge_id')
    const reference = isAuthorization(id) ? id : charge
    if (reference === undefined) return undefined
    const payment = reference === id ? object : await read(reference)
    const paymentId = textAt(payment, 'reference', 'transaction')
    return { paymentId, reference, ...(charge === undefined ? {} : { references: { charge } }) }
  }

  return {
    name: 'tap',
    mode: modeOf(baseUrl, secretKey),
    capabilities: {
      capturesItself: Object.keys(localSources),
      createRepeatsMs: repeatsMs,
      refundRepeatsMs: repeatsMs,
      findable: false,
      refunds: 'any',
      wallets: true,
      hasHostedPage: true,
      supportsAmount,
      supportsCurrency,
    },
    create,
    retrieve: async (name) => await lookUp(name, referenceOf(name)),
    async capture(name) {
      assertSupported(name)
      return await capture(name)
    },
    void: voidPayment,
    refund,
    async retrieveRefund(name) {
      const { refundId, refundReference } = name
      if (refundReference !== undefined) {
        const json = await read(refundReference)
        return json === undefined ? undefined : refundOf(json, name)
      }
      const charge = await chargeIdOf(name)
      const found = charge === undefined ? undefined : await findRefund(charge, refundId)
      return found === undefined ? undefined : refundOf(found, name)
    },
    async readMessage({ body, headers }) {
      const message = parsedMessage(body)
      const hash = (headers.get('hashstring') ?? '').toLowerCase()
      if (!isSigned(message, hash, signingKeys)) throw new BadSignature('tap')
      return { id: hash, payment: await aboutOf(requireValue(idAt(message, 'id'), 'payment id')) }
    },
    async probe() {
      const { status, json } = await send('POST', '/charges/list', { limit: 1 })
      if (status === 401 || status === 403) throw new ProcessorRefused('credentials')
      // An account without charges gets this error.
      if (status !== 200 && !(status === 400 && saysNotFound(json))) throw inconclusiveError(status)
    },
  }
}

/** @throws ProcessorRefused before any call */
function assertSupported(amount: Amount): void {
  if (!supportsAmount(amount)) throw new ProcessorRefused('amount_not_supported')
}

/** @throws ProcessorUnavailable; `undefined` would mean that there is none */
function referenceOf({ reference }: PaymentName): string {
  if (reference === undefined) throw new ProcessorUnavailable('Tap finds no payment by our id')
  return reference
}

/** The customer of an authorization: a capture must name them. */
function customerOf(authorization: unknown): object {
  const id = idAt(authorization, 'customer', 'id')
  if (id !== undefined) return { id }
  const email = textAt(authorization, 'customer', 'email')
  return { first_name: textAt(authorization, 'customer', 'first_name') ?? 'Customer', ...(email === undefined ? {} : { email }) }
}

/**
 * Returns whether every earlier request for a payment is still known by its key. False if our id does not show its
 * age.
 */
function isKeyValid(paymentId: string, now: number): boolean {
  const madeAt = timeOfId(paymentId)
  return madeAt !== undefined && now - madeAt < repeatsMs
}

function paymentOf({ id, redirectUrl, ...seen }: TapPaymentState, { reference = id, references }: PaymentName): ProcessorPayment {
  return {
    reference,
    ...(references === undefined ? {} : { references }),
    ...seen,
    ...(redirectUrl === undefined ? {} : { clientParameters: { redirectUrl } }),
  }
}

const otherPaymentError = () => new UnknownAnswer('another payment')

/** Ignores the failure of an optional call. */
function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof ProcessorUnavailable)) throw error
}

/** `{ errors: [{ code, description }] }`; descriptions are not stable. */
const refusalOf = (json: unknown): string => wordOf(textAt(json, 'errors', 0, 'code')) ?? 'refused'

const saysNotFound = (json: unknown): boolean =>
  [textAt(json, 'message'), textAt(json, 'errors', 0, 'description')].some((text) => text !== undefined && /not found/i.test(text))
