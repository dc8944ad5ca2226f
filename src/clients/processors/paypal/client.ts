/**
 * PayPal: the shopper approves an order, and we authorize and capture it. Reference: developer.paypal.com, Orders v2
 * and Payments v2.
 */

import { hourMs } from '../../../lib/day.ts'
import { modeOf } from '../../../lib/processor-keys.ts'
import { parsedMessage, requireValue, textAt, valueAt } from '../answers.ts'
import type { ProcessorPort } from '../call.ts'
import type { Capabilities, NewPayment, PaymentName, Processor, ProcessorMessage, ProcessorPayment, RefundAnswer } from '../processor.ts'
import { ProcessorRefused, ProcessorUnavailable } from '../processor.ts'
import { type PaypalMoney, paypalMoney, paypalSupports, paypalSupportsCurrency } from './amounts.ts'
import { captureIn, disputeOf, namesIn, type Order, orderOf, paymentOf, refundOf, sumIn } from './answers.ts'
import { createPaypalCalls, foundIn, issueOf, NotAllowed, refusal } from './calls.ts'
import { verifyPaypalMessage } from './messages.ts'

export type PaypalAccount = {
  readonly clientId: string
  readonly secret: string
  /** The id of its webhook. Without it no message is accepted. */
  readonly webhookId?: string | undefined
  /** Default: PayPal's live API. */
  readonly apiUrl?: string | undefined
}

type Amount = { readonly amount: number; readonly currency: string }
type Refund = Parameters<Processor['refund']>[0]
type RefundName = Parameters<Processor['retrieveRefund']>[0]

const capabilities: Capabilities = {
  capturesItself: false,
  // Orders keep request ids for 6 hours and payments for 45 days; the margin is for slow requests and clock
  // differences.
  createRepeatsMs: 5 * hourMs,
  refundRepeatsMs: 44 * 24 * hourMs,
  findable: false,
  refunds: 'any',
  // PayPal's own buttons take them; it accepts no tokens.
  wallets: false,
  hasHostedPage: true,
  supportsAmount: paypalSupports,
  supportsCurrency: paypalSupportsCurrency,
}

/** Issues that describe the payment's state rather than the request: the payment is read again. */
const describesState = /^(ORDER_ALREADY_|ORDER_NOT_APPROVED$|PAYER_ACTION_REQUIRED$|PREVIOUSLY_|AUTHORIZATION_)/

/** Creates the processor for an account. All its calls share one token, so keep one for each account. */
export function createPaypal(account: PaypalAccount, port: ProcessorPort & { now(): number }): Processor {
  const { clientId, secret, webhookId = '', apiUrl = 'https://api-m.paypal.com' } = account
  const { call, renew } = createPaypalCalls({ clientId, secret, apiUrl }, port)

  const paymentIn = (order: Order, expected: Amount): ProcessorPayment => paymentOf(order, { expected, clientId })

  /** Returns the order of a payment by any of its references: PayPal finds nothing by our id. */
  async function orderIdOf({ reference, references = {} }: PaymentName): Promise<string | undefined> {
    if (reference !== undefined) return reference
    const { authorization, capture } = references
    const path =
      capture === undefined
        ? authorization && `authorizations/${encodeURIComponent(authorization)}`
        : `captures/${encodeURIComponent(capture)}`
    if (path === undefined) throw new ProcessorUnavailable('PayPal cannot find a payment by our id alone')
    return textAt(foundIn(await call({ method: 'GET', path: `/v2/payments/${path}` })), 'supplementary_data', 'related_ids', 'order_id')
  }

  /** @param total the required amount of the order, if it must match */
  async function readOrder(name: PaymentName & Amount, total?: number): Promise<Order | undefined> {
    const id = await orderIdOf(name)
    const json = id === undefined ? undefined : foundIn(await call({ method: 'GET', path: orderPath(id) }))
    return json && orderOf(json, { ...name, total })
  }

  async function readExistingOrder(name: PaymentName & Amount, total?: number): Promise<Order> {
    const order = await readOrder(name, total)
    if (!order) throw new ProcessorRefused('RESOURCE_NOT_FOUND')
    return order
  }

  /** A token is not used: the shopper approves the order. */
  async function create(payment: NewPayment): Promise<ProcessorPayment> {
    const { paymentId, currency, amount: total, returnUrl } = payment
    const json = {
      intent: 'AUTHORIZE',
      // No `invoice_id`: it must differ for each order, and an order that is paid again has the same one.
      purchase_units: [{ amount: moneyOf(payment), custom_id: paymentId }],
      // Without a return URL PayPal's buttons approve the order on the page.
      ...(returnUrl === undefined ? {} : { payment_source: { paypal: { experience_context: experienceOf(returnUrl) } } }),
    }
    const answer = await call({ method: 'POST', path: '/v2/checkout/orders', json, key: paymentId })
    if (answer.status >= 400) throw refusal(answer)
    const reference = requireValue(textAt(answer.json, 'id'), 'order id')
    // A repeated request may return the order as it was created.
    const isNew = answer.status === 201 && valueAt(answer.json, 'purchase_units') !== undefined
    const made = isNew ? orderOf(answer.json, { paymentId, currency, total }) : await readExistingOrder({ ...payment, reference }, total)
    return paymentIn(made, payment)
  }

  /**
   * Authorizes an approved order; only souk does. Sends no request id: PayPal authorizes at most once, while an id
   * could repeat an early or declined response for hours.
   */
  async function authorize(order: Order, name: PaymentName & Amount): Promise<ProcessorPayment> {
    const answer = await call({ method: 'POST', path: `${orderPath(order.id)}/authorize` })
    const issue = answer.status < 400 ? undefined : issueOf(answer)
    if (issue === undefined || describesState.test(issue)) return paymentIn(await readExistingOrder({ ...name, reference: order.id }), name)
    if (answer.status !== 422) throw refusal(answer)
    const { clientParameters, ...before } = paymentIn(order, name)
    return { ...before, state: 'FAILED', failureCode: issue }
  }

  async function retrieve(name: PaymentName & Amount): Promise<ProcessorPayment | undefined> {
    const order = await readOrder(name, name.amount)
    if (!order) return undefined
    return order.status === 'APPROVED' && !order.authorization ? authorize(order, name) : paymentIn(order, name)
  }

  /** Reads the payment after a refused step. If it did not move, the step was refused. */
  async function readAfterRefusal(refused: ProcessorRefused, name: PaymentName & Amount): Promise<ProcessorPayment> {
    if (!describesState.test(refused.code)) throw refused
    const payment = paymentIn(await readExistingOrder(name), name)
    if (payment.state === 'AUTHORIZED') throw refused
    return payment
  }

  async function capture(name: PaymentName & Amount): Promise<ProcessorPayment> {
    const amount = moneyOf(name)
    const order = await readExistingOrder(name)
    const before = paymentIn(order, name)
    const { authorization } = order
    if (before.state !== 'AUTHORIZED' || !authorization) return before
    // PayPal would take up to 15 % more than the shopper agreed to.
    if (name.amount > authorization.amount) throw new ProcessorRefused('amount_above_authorization')
    const path = `/v2/payments/authorizations/${encodeURIComponent(authorization.id)}/capture`
    const answer = await call({ method: 'POST', path, json: { amount, final_capture: true }, key: `${name.paymentId}-capture` })
    const orderName = { ...name, reference: order.id }
    if (answer.status >= 400) {
      const refused = refusal(answer)
      return refused.code === 'INSTRUMENT_DECLINED'
        ? { ...before, state: 'FAILED', failureCode: refused.code }
        : readAfterRefusal(refused, orderName)
    }
    if (answer.status !== 201) return paymentIn(await readExistingOrder(orderName), name)
    return paymentIn({ ...order, captures: [...order.captures, sumIn(answer.json, name.currency)] }, name)
  }

  /** Before approval there is nothing to void: nothing is authorized without us, and the order expires. */
  async function voidPayment(name: PaymentName & Amount): Promise<ProcessorPayment> {
    const order = await readExistingOrder(name)
    const { clientParameters, ...before } = paymentIn(order, name)
    if (before.state === 'REQUIRES_ACTION') return { ...before, state: 'VOIDED' }
    const { authorization } = order
    const isHeld =
      before.captured === 0 && (before.state === 'AUTHORIZED' || authorization?.status === 'PENDING' || before.state === 'FAILED')
    if (!isHeld || !authorization || !['CREATED', 'PENDING'].includes(authorization.status)) return before
    const path = `/v2/payments/authorizations/${encodeURIComponent(authorization.id)}/void`
    const answer = await call({ method: 'POST', path, key: `${name.paymentId}-void` })
    if (answer.status >= 400) return readAfterRefusal(refusal(answer), { ...name, reference: order.id })
    return { ...before, state: 'VOIDED', authorized: 0 }
  }

  const refundIn = ({ refunds }: Order, refundId: string): unknown => refunds.find((refund) => textAt(refund, 'custom_id') === refundId)

  async function refund(request: Refund): Promise<RefundAnswer> {
    const { refundId } = request
    const amount = moneyOf(request)
    const captured = request.references?.['capture'] ?? captureIn(await readExistingOrder(request))
    if (captured === undefined) throw new ProcessorRefused('not_captured')
    const path = `/v2/payments/captures/${encodeURIComponent(captured)}/refund`
    const answer = await call({ method: 'POST', path, json: { amount, custom_id: refundId }, key: refundId })
    if (answer.status === 201) return refundOf(answer.json, { refundId, expected: request })
    if (answer.status === 200)
      return (await readRefund(textAt(answer.json, 'id') ?? '', request)) ?? refundOf(answer.json, { refundId, expected: request })
    // A refusal may mean that the refund was made before, as when nothing is left to refund.
    const done = answer.status === 422 ? refundIn(await readExistingOrder(request), refundId) : undefined
    if (done === undefined) throw refusal(answer)
    return refundOf(done, { refundId, expected: request })
  }

  async function readRefund(id: string, expected: { refundId: string } & Amount): Promise<RefundAnswer | undefined> {
    const found = foundIn(await call({ method: 'GET', path: `/v2/payments/refunds/${encodeURIComponent(id)}` }))
    return found && refundOf(found, { refundId: expected.refundId, expected })
  }

  async function retrieveRefund(name: RefundName): Promise<RefundAnswer | undefined> {
    const { refundId, refundReference } = name
    if (refundReference !== undefined) return readRefund(refundReference, name)
    const order = await readOrder(name)
    const found = order && refundIn(order, refundId)
    return found === undefined ? undefined : refundOf(found, { refundId, expected: name })
  }

  /** Messages of refunds and disputes name only a capture, so its payment is queried. */
  async function paymentNamedIn(event: unknown): Promise<ProcessorMessage['payment']> {
    const { paymentId, order, capture } = namesIn(event)
    const references = capture === undefined ? {} : { references: { capture } }
    if (paymentId !== undefined || order !== undefined) return { paymentId, reference: order, ...references }
    if (capture === undefined) return undefined
    const found = foundIn(await call({ method: 'GET', path: `/v2/payments/captures/${encodeURIComponent(capture)}` }))
    if (!found) return undefined
    const reference = textAt(found, 'supplementary_data', 'related_ids', 'order_id')
    return { paymentId: textAt(found, 'custom_id'), reference, ...references }
  }

  return {
    name: 'paypal',
    mode: modeOf(apiUrl),
    capabilities,
    create,
    retrieve,
    capture,
    void: voidPayment,
    refund,
    retrieveRefund,
    async readMessage(message) {
      const { body } = message
      const id = await verifyPaypalMessage(message, { webhookId, apiUrl, call })
      const event = parsedMessage(body)
      const [payment, dispute] = [await paymentNamedIn(event), disputeOf(event)]
      return { id: textAt(event, 'id') ?? id, payment, ...(dispute === undefined ? {} : { dispute }) }
    },
    async probe() {
      await renew().catch((error: unknown) => {
        throw error instanceof NotAllowed ? new ProcessorRefused('credentials') : error
      })
    },
  }
}

const orderPath = (id: string): string => `/v2/checkout/orders/${encodeURIComponent(id)}`

const experienceOf = (returnUrl: string) => ({
  return_url: returnUrl,
  cancel_url: returnUrl,
  user_action: 'PAY_NOW',
  shipping_preference: 'NO_SHIPPING',
})

/** @throws ProcessorRefused before any call */
function moneyOf(amount: Amount): PaypalMoney {
  const money = paypalMoney(amount)
  if (money === undefined) throw new ProcessorRefused('amount_not_supported')
  return money
}
