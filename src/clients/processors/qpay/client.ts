/**
 * QPay of Mongolia, version 2: the shopper pays an invoice in a bank's app. It captures immediately, without
 * authorizations. It cannot search by our id, and no request may be repeated. Only whole card payments can be refunded.
 */

import { modeOf } from '../../../lib/processor-keys.ts'
import { rescaleAmount } from '../amounts.ts'
import { listAt, requireValue, textAt, valueAt, wordOf } from '../answers.ts'
import { assertNoPage, type Call, type CallAnswer, callProcessor, inconclusiveError, type ProcessorPort, portOfOperation } from '../call.ts'
import { unitsOf } from '../decimals.ts'
import type { Capabilities, NewPayment, Processor, ProcessorPayment, References, RefundAnswer } from '../processor.ts'
import { BadSignature, markNotSent, notSentErrorOf, ProcessorRefused, ProcessorUnavailable, UnknownAnswer } from '../processor.ts'
import { createSharedToken, type Token } from '../shared-token.ts'
import { clientParametersOf } from './page.ts'

/** `apiUrl`: with the version, as `https://merchant-sandbox.qpay.mn/v2`. */
type QpayAccount = {
  readonly username: string
  readonly password: string
  readonly invoiceCode: string
  readonly apiUrl?: string | undefined
}

const apiDefault = 'https://merchant.qpay.mn/v2'
const currencyOnly = 'MNT'
/** Of the tugrik in ISO 4217. QPay takes whole tugriks; whether it takes fractions is unknown. */
const decimals = 2
const callbackUrlMax = 255
/** A larger `expires_in` is the Unix time of the expiry in seconds, not a duration. */
const lifetimeMax = 1_000_000_000

export const qpayCapabilities: Capabilities = {
  capturesItself: true,
  createRepeatsMs: 0,
  refundRepeatsMs: 0,
  // Only whole payments are refunded, and one that is PAID is not.
  refundsFindable: true,
  findable: false,
  refunds: 'whole',
  wallets: false,
  hasHostedPage: true,
  supportsAmount: ({ amount, currency }) => currency === currencyOnly && tugriksOf(amount) !== undefined,
  supportsCurrency: (currency) => currency === currencyOnly,
}

type Row = { readonly id: string; readonly status: string | undefined; readonly type: string | undefined; readonly amount: number }
type Rows = { readonly paid: readonly Row[]; readonly refunded: readonly Row[] }
type PaymentNames = { readonly paymentId: string; readonly reference: string | undefined; readonly references?: References }
type AmountQuery = PaymentNames & { readonly amount: number }
type ApiCall = (method: Call['method'], path: string, body?: Readonly<Record<string, unknown>>) => Promise<CallAnswer>

/**
 * Creates the processor for an account.
 * @param port `now` decides when the token expires; it is shared by all calls of the client, so keep one for each
 * account
 */
export function createQpay(account: QpayAccount, port: ProcessorPort & { now(): number }): Processor {
  const base = baseOf(account.apiUrl ?? apiDefault)
  // The refresh token is not used: the password always works, and a refused refresh would cost a call.
  const tokens = createSharedToken(() => obtainToken(account, base, port), port.now)

  /**
   * Calls with the account's token, and again with a new one if it is refused: that says nothing about the
   * credentials.
   */
  function createCaller(): ApiCall {
    const operationPort = portOfOperation(port)
    return async (method, path, body) => {
      const send = (token: string) =>
        callProcessor(operationPort, {
          method,
          url: `${base}${path}`,
          headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
      const token = await tokenOrNotSent(tokens.get())
      let answer = await send(token)
      if (answer.status === 401) answer = await send(await tokenOrNotSent(tokens.renew(token)))
      if ([401, 403, 429].includes(answer.status)) throw inconclusiveError(answer.status)
      assertNoPage(answer)
      return answer
    }
  }

  async function create(payment: NewPayment): Promise<ProcessorPayment> {
    const { paymentId, messagesUrl = '' } = payment
    const amount = qpayCapabilities.supportsCurrency(payment.currency) ? tugriksOf(payment.amount) : undefined
    if (amount === undefined) throw new ProcessorRefused('amount_not_supported')
    // Without a callback URL payments would go unnoticed, and QPay refuses longer URLs.
    if (messagesUrl === '' || messagesUrl.length > callbackUrlMax) throw new ProcessorRefused('callback_url_not_supported')
    const answer = await createCaller()('POST', '/invoice', {
      invoice_code: account.invoiceCode,
      sender_invoice_no: paymentId,
      invoice_receiver_code: 'terminal',
      invoice_description: paymentId,
      amount,
      callback_url: messagesUrl,
    })
    if (answer.status === 409) throw inconclusiveError(409)
    if (!isGood(answer)) throw new ProcessorRefused(codeOf(answer))
    const reference = requireValue(textAt(answer.json, 'invoice_id'), 'invoice id')
    return { reference, state: 'REQUIRES_ACTION', authorized: 0, captured: 0, clientParameters: clientParametersOf(answer.json) }
  }

  async function retrieve(name: AmountQuery): Promise<ProcessorPayment | undefined> {
    const ask = createCaller()
    return lookUp(ask, { ...name, reference: await invoiceOf(ask, name) })
  }

  return {
    name: 'qpay',
    mode: modeOf(base),
    capabilities: qpayCapabilities,
    create,
    retrieve,
    async capture(name) {
      const payment = await retrieve(name)
      if (!payment) throw new ProcessorRefused('not_found')
      return payment
    },
    async void(name) {
      const ask = createCaller()
      return voidInvoice(ask, { reference: await invoiceOf(ask, name), amount: name.amount })
    },
    async refund({ reference, amount, currency, whole }) {
      if (!whole || reference === undefined || !qpayCapabilities.supportsAmount({ amount, currency })) throw cannotRefund()
      return refundPayment(createCaller(), { reference, amount })
    },
    async retrieveRefund({ reference, amount }) {
      if (reference === undefined) return undefined
      const rows = await rowsOf(createCaller(), reference)
      if (sumOf(rows.refunded) >= amount) return refundDone
      if (rows.paid.length > 0) return undefined
      // Neither paid nor refunded: the rows of a refunded payment are not documented.
      throw new UnknownAnswer('QPay does not report the state of the refund')
    },
    async readMessage() {
      throw new BadSignature('QPay signs nothing: its callbacks are recognised by their secret URL')
    },
    async probe() {
      await tokens.refresh()
    },
  }
}

/**
 * Returns a payment's invoice by its reference, else by the payment that QPay's callback named. That invoice must have
 * our number.
 * @throws ProcessorUnavailable; `undefined` would mean that there is none
 */
async function invoiceOf(ask: ApiCall, { paymentId, reference, references }: PaymentNames): Promise<string> {
  if (reference !== undefined) return reference
  const paid = references?.['payment']
  if (paid === undefined) throw new ProcessorUnavailable('QPay finds no invoice by our id')
  const payment = await ask('GET', `/payment/${encodeURIComponent(paid)}`)
  const found = isGood(payment) && textAt(payment.json, 'object_type') === 'INVOICE' ? textAt(payment.json, 'object_id') : undefined
  const invoice = found === undefined ? undefined : await ask('GET', `/invoice/${encodeURIComponent(found)}`)
  if (found === undefined || !invoice || !isGood(invoice) || textAt(invoice.json, 'sender_invoice_no') !== paymentId)
    throw new UnknownAnswer('a payment without its invoice, or of another invoice')
  return found
}

/** Reads an invoice. `captured` is what came in; less than `amount` is not paid. */
async function lookUp(ask: ApiCall, { reference, amount }: { reference: string; amount: number }): Promise<ProcessorPayment | undefined> {
  const { paid, refunded } = await rowsOf(ask, reference)
  const captured = sumOf(paid) + sumOf(refunded)
  const [payment] = [...paid, ...refunded]
  const amounts = {
    reference,
    ...(payment ? { references: { payment: payment.id } } : {}),
    authorized: captured,
    captured,
    ...(refunded.length > 0 ? { refunded: sumOf(refunded) } : {}),
  }
  if (captured >= amount) return { ...amounts, state: 'CAPTURED' }
  const answer = await ask('GET', `/invoice/${encodeURIComponent(reference)}`)
  if (answer.status === 404) return undefined
  if (!isGood(answer)) throw inconclusiveError(answer.status)
  const status = requireValue(textAt(answer.json, 'invoice_status'), 'invoice status')
  // The status of paid invoices is unknown, and their payments are enough.
  return { ...amounts, state: status === 'CANCELED' ? 'VOIDED' : 'REQUIRES_ACTION' }
}

/** Deletes an invoice so that it cannot be paid. Reads it before and after: it may be paid in between. */
async function voidInvoice(ask: ApiCall, name: { reference: string; amount: number }): Promise<ProcessorPayment> {
  const before = await lookUp(ask, name)
  if (!before) throw new ProcessorRefused('not_found')
  if (before.state !== 'REQUIRES_ACTION') return before
  const answer = await ask('DELETE', `/invoice/${encodeURIComponent(name.reference)}`)
  const after = (await lookUp(ask, name)) ?? before
  if (after.state !== 'REQUIRES_ACTION') return after
  if (!isGood(answer)) throw new ProcessorRefused(codeOf(answer))
  return { ...after, state: 'VOIDED' }
}

/** Refunds a card payment in full. With several payments it refuses: a repeated request would refund the next one. */
async function refundPayment(ask: ApiCall, { reference, amount }: { reference: string; amount: number }): Promise<RefundAnswer> {
  const before = await markNotSent(rowsOf(ask, reference))
  if (before.paid.length === 0 && sumOf(before.refunded) >= amount) return refundDone
  const [payment, ...others] = before.paid
  if (!payment) throw new ProcessorRefused('not_paid')
  if (others.length > 0 || before.refunded.length > 0 || payment.type !== 'CARD' || payment.amount !== amount) throw cannotRefund()
  const answer = await ask('DELETE', `/payment/refund/${encodeURIComponent(payment.id)}`)
  if (isGood(answer)) return refundDone
  const after = await rowsOf(ask, reference)
  if (after.paid.length === 0 && sumOf(after.refunded) >= amount) return refundDone
  throw new ProcessorRefused(codeOf(answer))
}

/**
 * Lists the payments of an invoice; none if it does not exist. Rows that are neither paid nor refunded are no money.
 */
async function rowsOf(ask: ApiCall, reference: string): Promise<Rows> {
  const answer = await ask('POST', '/payment/check', {
    object_type: 'INVOICE',
    object_id: reference,
    offset: { page_number: 1, page_limit: 100 },
  })
  if (answer.status === 404) return { paid: [], refunded: [] }
  if (!isGood(answer)) throw inconclusiveError(answer.status)
  const rows = requireValue(valueAt(answer.json, 'rows'), 'list of payments')
  if (!Array.isArray(rows)) throw new UnknownAnswer('rows that are no list')
  const byId = new Map<string, Row>()
  for (const row of listAt(answer.json, 'rows')) {
    const status = textAt(row, 'payment_status')
    if (status !== 'PAID' && status !== 'REFUNDED') continue
    // Only tugriks count.
    if ((textAt(row, 'payment_currency') ?? currencyOnly) !== currencyOnly) continue
    const id = requireValue(idOf(row), 'payment id')
    const amount = requireValue(unitsOf(valueAt(row, 'payment_amount'), decimals), 'payment amount')
    byId.set(id, { id, status, type: textAt(row, 'payment_type'), amount })
  }
  const all = [...byId.values()]
  return { paid: all.filter(({ status }) => status === 'PAID'), refunded: all.filter(({ status }) => status === 'REFUNDED') }
}

async function obtainToken({ username, password }: QpayAccount, base: string, port: ProcessorPort & { now(): number }): Promise<Token> {
  const answer = await callProcessor(port, {
    method: 'POST',
    url: `${base}/auth/token`,
    headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
  })
  assertNoPage(answer)
  if ([400, 401, 403, 422].includes(answer.status)) throw new ProcessorRefused('credentials')
  if (!isGood(answer)) throw inconclusiveError(answer.status)
  const value = requireValue(textAt(answer.json, 'access_token'), 'access token')
  return { value, expiresAt: expiryOf(valueAt(answer.json, 'expires_in'), port.now()) }
}

/**
 * `expires_in` is a Unix time in practice and a duration in some documents, both in seconds. Without it a 401 shows
 * the expiry.
 */
function expiryOf(expiresIn: unknown, now: number): number {
  const seconds = Number(expiresIn)
  if (!Number.isFinite(seconds) || seconds <= 0) return Number.POSITIVE_INFINITY
  return seconds > lifetimeMax ? seconds * 1000 : now + seconds * 1000
}

/** Without a token the call is never sent. Wrong credentials are neither about the payment nor an outage. */
async function tokenOrNotSent(token: Promise<string>): Promise<string> {
  try {
    return await token
  } catch (cause) {
    throw notSentErrorOf(cause) ?? new ProcessorUnavailable('the processor gave no token', { cause, neverSent: true })
  }
}

/**
 * Adds the version to a URL without a path.
 * @throws TypeError for an invalid URL
 */
function baseOf(apiUrl: string): string {
  const { origin, pathname } = new URL(apiUrl)
  const path = pathname.replace(/\/+$/, '')
  return `${origin}${path === '' ? '/v2' : path}`
}

/** Converts minor units to whole tugriks; undefined for fractions. */
function tugriksOf(amount: number): number | undefined {
  const tugriks = rescaleAmount(amount, decimals, 0)
  return tugriks === 0 ? undefined : tugriks
}

const refundDone: RefundAnswer = { reference: undefined, state: 'SUCCEEDED' }
const cannotRefund = () => new ProcessorRefused('refund_not_supported')
const isGood = ({ status }: CallAnswer) => status >= 200 && status < 300
const sumOf = (rows: readonly Row[]) => rows.reduce((sum, { amount }) => sum + amount, 0)
/** The field has either name. */
const codeOf = ({ status, json }: CallAnswer) => wordOf(textAt(json, 'error'), textAt(json, 'error_code')) ?? `http_${status}`

/** Documented as text; a number identifies a payment too. */
function idOf(row: unknown): string | undefined {
  const id = valueAt(row, 'payment_id')
  return Number.isSafeInteger(id) ? String(id) : textAt(row, 'payment_id')
}
