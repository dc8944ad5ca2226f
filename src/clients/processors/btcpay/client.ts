/**
 * BTCPay Server (Greenfield): invoices on the shop's own server that are paid in cryptocurrency. A payment is captured
 * without a call. No request may be repeated, but every object can be found. A refund is a claim that the shopper
 * redeems.
 * The key needs these permissions of the store: `canviewinvoices`, `cancreateinvoice`, `canmodifyinvoices` and
 * `cancreatenonapprovedpullpayments`. To find its claims it also needs `canviewpullpayments` or
 * `canmanagepullpayments`.
 */
import { decimalOf, decimalsOf, isCurrency } from '../../../lib/money.ts'
import { hmac, sameSecret } from '../../../lib/seal.ts'
import { parsedMessage, requireValue, textAt, valueAt, wordOf } from '../answers.ts'
import { type CallAnswer, inconclusiveError, type ProcessorPort } from '../call.ts'
import type { Capabilities, NewPayment, Processor, ProcessorMessage, ProcessorPayment } from '../processor.ts'
import { BadSignature, markNotSent, ProcessorRefused, ProcessorUnavailable } from '../processor.ts'
import { type ApiCall, createBtcpayCalls, isGood, type Money, readList, readObject, throwInconclusive } from './calls.ts'
import { claimMade, claimNamed, messageIdOf, refundOfClaim } from './claims.ts'
import { isOf, paymentOf } from './invoices.ts'

/** `apiUrl`: the server's own URL. `mode`: given by the merchant; the server does not show it. */
export type BtcpayAccount = {
  readonly apiUrl: string
  readonly storeId: string
  readonly apiKey: string
  readonly webhookSecret?: string | undefined
  readonly mode: 'TEST' | 'LIVE'
}

/** Units of account without a rate. */
const unquoted = new Set(['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW'])
/** How long coins are expected after an invoice expired: 72 hours. */
const monitoringMinutes = 72 * 60
/** Maximum invoices under one id of ours. There is one, unless a response was lost. */
const invoicesMax = 20
/** All claims of a store come in one list. */
const claimsBytesMax = 16_000_000

const supportsCurrency = (currency: string) => isCurrency(currency) && !unquoted.has(currency)

export const btcpayCapabilities: Capabilities = {
  capturesItself: true,
  createRepeatsMs: 0,
  refundRepeatsMs: 0,
  // Claims are in one list, archived ones too.
  refundsFindable: true,
  findable: true,
  refunds: 'claim',
  wallets: false,
  hasHostedPage: true,
  supportsAmount: ({ amount, currency }) => supportsCurrency(currency) && Number.isSafeInteger(amount) && amount > 0,
  supportsCurrency,
}

type NamedAmount = Money & { readonly paymentId: string; readonly reference: string | undefined }

/** Creates the processor of one account. It calls nothing until a payment does. */
export function createBtcpay(account: BtcpayAccount, port: ProcessorPort & { now(): number }): Processor {
  const calls = createBtcpayCalls(account, port)
  const createCaller = () => throwInconclusive(calls())
  // The routes of a store are in every version; the shorter ones came with 2.4.
  const store = `/stores/${encodeURIComponent(account.storeId)}`
  const pathOf = (reference: string) => `${store}/invoices/${encodeURIComponent(reference)}`
  const searchPathOf = (paymentId: string) => `${store}/invoices?orderId=${encodeURIComponent(paymentId)}`

  /** Lists the invoices under our id. The server filters; the result is checked. */
  async function findAll(ask: ApiCall, paymentId: string): Promise<readonly unknown[]> {
    const found = requireValue(readList(await ask('GET', searchPathOf(paymentId))), 'list of invoices')
    return found.filter((invoice) => textAt(invoice, 'metadata', 'orderId') === paymentId).slice(0, invoicesMax)
  }

  /** Returns the most advanced of several invoices as the payment. */
  async function selectFurthest(ask: ApiCall, found: readonly unknown[], money: Money): Promise<ProcessorPayment | undefined> {
    const payments: ProcessorPayment[] = []
    for (const invoice of found) payments.push(await paymentOf(ask, pathOf, invoice, money))
    return payments.sort((one, other) => rankOf(one) - rankOf(other))[0]
  }

  async function lookUp(ask: ApiCall, { paymentId, reference, amount, currency }: NamedAmount): Promise<ProcessorPayment | undefined> {
    if (reference === undefined) return selectFurthest(ask, await findAll(ask, paymentId), { amount, currency })
    const answer = await ask('GET', pathOf(reference))
    const invoice = readObject(answer)
    return answer.status === 404 ? undefined : paymentOf(ask, pathOf, invoice, { amount, currency })
  }

  async function lookUpExisting(ask: ApiCall, name: NamedAmount): Promise<ProcessorPayment> {
    const payment = await lookUp(ask, name)
    if (!payment) throw new ProcessorRefused('not_found')
    return payment
  }

  const markInvalid = (ask: ApiCall, reference: string) => ask('POST', `${pathOf(reference)}/status`, { status: 'Invalid' })

  async function create({ paymentId, amount, currency, returnUrl }: NewPayment): Promise<ProcessorPayment> {
    const money = { amount, currency }
    if (!btcpayCapabilities.supportsAmount(money)) throw new ProcessorRefused('amount_not_supported')
    const ask = createCaller()
    // A repeated request would create a second invoice that can be paid.
    const existing = await selectFurthest(
      ask,
      (await findAll(ask, paymentId)).filter((invoice) => isOf(invoice, money)),
      money,
    )
    if (existing) return existing
    const answer = await ask('POST', `${store}/invoices`, {
      amount: decimalOf(amount, decimalsOf(currency)),
      currency,
      metadata: { orderId: paymentId },
      checkout: {
        monitoringMinutes,
        // Partial payment is refused, whatever the store's own setting.
        paymentTolerance: 0,
        ...(returnUrl === undefined ? {} : { redirectURL: returnUrl, redirectAutomatically: true }),
      },
    })
    if (!isGood(answer)) throw refusalOf(answer)
    const reference = requireValue(textAt(answer.json, 'id'), 'invoice id')
    if (isOf(answer.json, money)) return paymentOf(ask, pathOf, answer.json, money)
    // The server may have rounded the amount: the invoice must not be paid.
    if (!isGood(await markInvalid(ask, reference))) throw new ProcessorUnavailable('an invoice of another amount cannot be invalidated')
    throw new ProcessorRefused('amount_not_supported')
  }

  /** An invoice with coins in flight cannot be voided; its result is awaited. */
  async function voidInvoice(ask: ApiCall, name: NamedAmount): Promise<ProcessorPayment> {
    const before = await lookUpExisting(ask, name)
    if (before.state !== 'REQUIRES_ACTION') return before
    const { reference } = before
    const answer = await markInvalid(ask, reference)
    const after = await lookUpExisting(ask, { ...name, reference })
    if (after.state !== 'REQUIRES_ACTION') return after
    throw isGood(answer) ? new ProcessorUnavailable('the invoice stays open') : refusalOf(answer)
  }

  /** All claims of the store, archived ones too; undefined where the server has no list of them. */
  const claimsOf = async (ask: ApiCall) =>
    readList(await ask('GET', `${store}/pull-payments?includeArchived=true`, undefined, { answerBytesMax: claimsBytesMax }))

  return {
    name: 'btcpay',
    mode: account.mode,
    capabilities: btcpayCapabilities,
    create,
    retrieve: (name) => lookUp(createCaller(), name),
    capture: (name) => lookUpExisting(createCaller(), name),
    void: (name) => voidInvoice(createCaller(), name),
    async refund({ refundId, reference, amount, currency }) {
      const money = { amount, currency }
      if (reference === undefined) throw new ProcessorRefused('not_found')
      if (!btcpayCapabilities.supportsAmount(money)) throw new ProcessorRefused('amount_not_supported')
      const ask = createCaller()
      // A repeated request would create a second claim: the server does not check the sum of claims.
      const existing = claimNamed((await markNotSent(claimsOf(ask))) ?? [], refundId, money)
      if (existing) return requireValue(await refundOfClaim(ask, existing, money), 'claim')
      const answer = await ask('POST', `${pathOf(reference)}/refund`, {
        name: refundId,
        refundVariant: 'Custom',
        customAmount: decimalOf(amount, decimalsOf(currency)),
        customCurrency: currency,
      })
      if (!isGood(answer)) throw refusalOf(answer)
      return claimMade(answer.json, money)
    },
    async retrieveRefund({ refundId, refundReference, amount, currency }) {
      const ask = createCaller()
      const money = { amount, currency }
      if (refundReference !== undefined) return refundOfClaim(ask, { id: refundReference }, money)
      const existing = claimNamed(requireValue(await claimsOf(ask), 'list of claims'), refundId, money)
      return existing && refundOfClaim(ask, existing, money)
    },
    readMessage: async (message) => readMessage(account, message),
    async probe() {
      const ask = calls()
      const health = await ask('GET', '/health')
      if (!isGood(health)) throw inconclusiveError(health.status)
      if (valueAt(health.json, 'synchronized') === false) throw new ProcessorUnavailable('the processor has not caught up with the chain')
      // The minimum rights of the key: this store and its invoices.
      const invoices = await ask('GET', searchPathOf('probe'))
      if ([401, 403, 404].includes(invoices.status)) throw new ProcessorRefused('credentials')
      readList(invoices)
    },
  }
}

/** @throws BadSignature, also for an account without a secret, since the server then signs with an empty one */
function readMessage(
  { storeId, webhookSecret = '' }: BtcpayAccount,
  { body, headers }: { readonly body: Uint8Array; readonly headers: Headers },
): ProcessorMessage {
  if (webhookSecret.trim() === '') throw new BadSignature('BTCPay: no secret to check messages with')
  const expected = `sha256=${hmac({ bytes: Buffer.from(webhookSecret, 'utf8') }, body)}`
  if (!sameSecret(headers.get('btcpay-sig') ?? '', expected)) throw new BadSignature('BTCPay')
  const message = parsedMessage(body)
  const id = messageIdOf(message, body)
  const reference = textAt(message, 'invoiceId')
  const isOurs = (textAt(message, 'storeId') ?? storeId) === storeId
  if (reference === undefined || !isOurs) return { id, payment: undefined }
  return { id, payment: { paymentId: textAt(message, 'metadata', 'orderId'), reference } }
}

const rankOf = ({ state, captured }: ProcessorPayment) =>
  state === 'CAPTURED' ? 0 : captured > 0 ? 1 : state === 'PROCESSING' ? 2 : state === 'REQUIRES_ACTION' ? 3 : 4

/** `{ code, message }`, or a list of `{ path, message }` of which the first path says enough. */
const refusalOf = ({ status, json }: CallAnswer) =>
  new ProcessorRefused(wordOf(textAt(json, 'code'), textAt(json, 0, 'path')) ?? `http_${status}`)
