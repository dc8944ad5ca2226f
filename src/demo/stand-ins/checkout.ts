/** Simulates Checkout.com by its documentation. Checks every request; captures, voids and refunds are asynchronous. */
import { createHmac } from 'node:crypto'
import { parseJson } from '../../lib/json.ts'
import { afterPaying, nothingToPay, payPage } from './page.ts'
import { type ApiAnswer, type ApiRequest, type Message, serveStandIn, type Watch } from './server.ts'

export const checkoutKeys = {
  secretKey: 'sk_sbox_abcdefghijklmnopqrstuvwxyz2',
  publishableKey: 'pk_sbox_abcdefghijklmnopqrstuvwxyz3',
  webhookSecret: 'f0e1d2c3-signature-key-of-the-workflow',
  channelId: 'pc_zs5fqhybzc2e3jmq3efvybybpq',
}

type Json = Record<string, unknown>
type Action = { id: string; type: string; reference: string | undefined; amount: number; approved: boolean; response_code: string }
type CheckoutPayment = {
  id: string
  amount: number
  currency: string
  reference: string
  status: string
  code: string
  captured: number
  refunded: number
  voided: number
  requestedOn: string
  successUrl: string
  /** Accepted actions that are not executed yet. */
  waiting: { id: string; type: 'Capture' | 'Void' | 'Refund'; amount: number; reference: string | undefined }[]
  /** Newest first. */
  actions: Action[]
}
/** The bank's decision. A token selects it, or the argument of `pay`. */
type CheckoutCard = 'good' | 'declined' | '3ds'

const withoutDecimals = ['BIF', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VUV', 'VND', 'XAF', 'XOF', 'XPF']
const withThreeDecimals = ['BHD', 'LYD', 'JOD', 'IQD', 'KWD', 'OMR', 'TND']

/** A refusal with an error code (422). */
class Invalid extends Error {}
/** A refusal with a status and an empty body. */
class Plain extends Error {
  constructor(readonly status: number) {
    super()
  }
}

/** Starts the stand-in on a free loopback port. */
export async function startCheckoutServer({
  made = 0,
  settlesAtOnce = false,
  tell: onMessage,
  watch,
}: {
  /** Number of ids that earlier runs used: a restarted stand-in must not reuse ids. */
  made?: number
  /** Whether captures, voids and refunds are executed immediately. */
  settlesAtOnce?: boolean
  /** Called with every message. */
  tell?: (message: Message) => void
  watch?: Watch
} = {}) {
  const payments = new Map<string, CheckoutPayment>()
  const sessions = new Map<string, Json>()
  /** Ids of sessions that were paid on their page. */
  const paid = new Set<string>()
  const wallets = new Map<string, CheckoutCard>()
  /** Responses by idempotency key, only 2xx. They do not expire. */
  const storedResponses = new Map<string, ApiAnswer>()
  const declining = new Set<string>()
  let count = made
  let ticks = 0
  const clock = Date.UTC(2026, 0, 1)

  const newId = (prefix: string): string => `${prefix}_${(++count).toString(36).padStart(26, 'a')}`

  function begin(body: Json, card: CheckoutCard): CheckoutPayment {
    const payment: CheckoutPayment = {
      id: newId('pay'),
      amount: body['amount'] as number,
      currency: body['currency'] as string,
      reference: body['reference'] as string,
      status: card === 'good' ? 'Authorized' : card === 'declined' ? 'Declined' : 'Pending',
      code: card === 'good' ? '10000' : card === 'declined' ? '20051' : '',
      captured: 0,
      refunded: 0,
      voided: 0,
      successUrl: String(body['success_url'] ?? '/'),
      requestedOn: new Date(clock + ++ticks * 1000).toISOString(),
      waiting: [],
      actions: [],
    }
    payments.set(payment.id, payment)
    if (card !== '3ds') recordDecision(payment)
    return payment
  }

  function recordDecision(payment: CheckoutPayment): void {
    const approved = payment.status === 'Authorized'
    payment.actions.unshift({
      id: newId('act'),
      type: 'Authorization',
      reference: payment.reference,
      amount: payment.amount,
      approved,
      response_code: payment.code,
    })
    tell(approved ? 'payment_approved' : 'payment_declined', payment)
  }

  function paymentJson(payment: CheckoutPayment): Json {
    const { id, amount, currency, reference, status, code, captured, refunded, voided, requestedOn } = payment
    const isAuthorized = status === 'Authorized' || status === 'Voided' || captured > 0
    return {
      id,
      requested_on: requestedOn,
      source: { type: 'card', scheme: 'Visa', last4: '4242', bin: '424242' },
      amount,
      currency,
      payment_type: 'Regular',
      reference,
      status,
      approved: isAuthorized,
      ...(code === '' ? {} : { response_code: code }),
      balances: {
        total_authorized: isAuthorized ? amount : 0,
        total_voided: voided,
        available_to_void: isAuthorized && captured === 0 && voided === 0 ? amount : 0,
        total_captured: captured,
        available_to_capture: status === 'Authorized' ? amount - captured : 0,
        total_refunded: refunded,
        available_to_refund: captured - refunded,
      },
      _links: {
        self: { href: `${server.url}/payments/${id}` },
        actions: { href: `${server.url}/payments/${id}/actions` },
        ...(status === 'Pending' ? { redirect: { href: `${server.url}/3ds/${id}` } } : {}),
      },
    }
  }

  /** Executes all accepted actions. */
  function settle(): void {
    for (const payment of payments.values()) for (const action of payment.waiting.splice(0)) work(payment, action)
  }

  function work(payment: CheckoutPayment, { id, type, amount, reference }: CheckoutPayment['waiting'][number]): void {
    const approved = !declining.delete(type)
    payment.actions.unshift({ id, type, reference, amount, approved, response_code: approved ? '10000' : '20068' })
    if (approved && type === 'Capture') payment.captured += amount
    if (approved && type === 'Refund') payment.refunded += amount
    if (approved && type === 'Void') payment.voided = payment.amount
    payment.status = statusOf(payment)
    const event = { Capture: 'captured', Void: 'voided', Refund: 'refunded' }[type]
    const declined = { Capture: 'capture', Void: 'void', Refund: 'refund' }[type]
    tell(approved ? `payment_${event}` : `payment_${declined}_declined`, payment, id)
  }

  function ask(
    payment: CheckoutPayment,
    type: 'Capture' | 'Void' | 'Refund',
    { amount, reference }: { amount?: number; reference?: string },
  ): ApiAnswer {
    const waiting = payment.waiting.filter((pendingAction) => pendingAction.type === type).reduce((sum, asked) => sum + asked.amount, 0)
    const left = type === 'Refund' ? payment.captured - payment.refunded - waiting : payment.amount - payment.captured - waiting
    const allowed = type === 'Refund' ? payment.captured > 0 : payment.status === 'Authorized' && payment.waiting.length === 0
    if (!allowed || left === 0) throw new Plain(403)
    if ((amount ?? left) > left)
      throw new Invalid(type === 'Refund' ? 'refund_amount_exceeds_balance' : 'capture_value_greater_than_remaining_authorized')
    const id = newId('act')
    payment.waiting.push({ id, type, amount: amount ?? left, reference })
    if (settlesAtOnce) settle()
    return {
      status: 202,
      json: { action_id: id, reference, _links: { payment: { href: `${server.url}/payments/${payment.id}` } } },
    }
  }

  function answer(request: ApiRequest): ApiAnswer {
    const [, kind, paying = ''] = /^\/(3ds|pay)\/(\w+)$/.exec(request.path) ?? []
    if (kind !== undefined) return kind === '3ds' ? bank(request.method, paying) : flow(request.method, paying)
    try {
      return checked(request)
    } catch (error) {
      if (error instanceof Plain) return { status: error.status }
      if (!(error instanceof Invalid)) throw error
      const body = { request_id: newId('req'), error_type: 'request_invalid', error_codes: [error.message] }
      return { status: 422, json: body }
    }
  }

  /** The page of the shopper's bank. Authentication always succeeds. */
  function bank(method: string, id: string): ApiAnswer {
    const payment = payments.get(id)
    if (payment?.status !== 'Pending') return nothingToPay
    if (method !== 'POST') return payPage('The bank of the card', 'It asks whether it is you', 'It is')
    Object.assign(payment, { status: 'Authorized', code: '10000' })
    recordDecision(payment)
    return afterPaying('The bank of the card', payment.successUrl)
  }

  /** Simulates Checkout.com's component on the shop's page, which pays a payment session. */
  function flow(method: string, id: string): ApiAnswer {
    const session = sessions.get(id)
    if (!session || paid.has(id)) return nothingToPay
    if (method !== 'POST')
      return payPage('Checkout.com', `A card pays ${session['amount']} of the smallest units of ${session['currency']}`)
    paid.add(id)
    return afterPaying('Checkout.com', begin(session, 'good').successUrl)
  }

  function checked(request: ApiRequest): ApiAnswer {
    const { method, path, headers } = request
    const body = parseJson(request.body)
    const withPublishable = path === '/tokens'
    const allowed = withPublishable
      ? [checkoutKeys.publishableKey, `Bearer ${checkoutKeys.publishableKey}`]
      : [`Bearer ${checkoutKeys.secretKey}`]
    if (!allowed.includes(headers.get('authorization') ?? '')) throw new Plain(401)
    if (method === 'GET') {
      if (request.body !== '') throw new Invalid('body_not_allowed')
      return read(request)
    }
    if (method !== 'POST') throw new Plain(404)
    if (headers.get('content-type') !== 'application/json') throw new Plain(415)
    if (request.query.size > 0) throw new Invalid('query_not_allowed')
    if (typeof body !== 'object' || body === null) throw new Plain(400)
    const key = headers.get('cko-idempotency-key')
    if (key === null) return write(request, body as Json)
    if (path === '/payment-sessions' || path === '/tokens' || key === '') throw new Invalid('idempotency_not_supported')
    const reply = storedResponses.get(key) ?? write(request, body as Json)
    if (reply.status < 300) storedResponses.set(key, reply)
    return reply
  }

  function read({ path, query }: ApiRequest): ApiAnswer {
    if (path === '/payments') {
      for (const name of query.keys()) if (!['reference', 'limit', 'skip'].includes(name)) throw new Invalid(`unknown_${name}`)
      const reference = query.get('reference')
      const limit = Number(query.get('limit') ?? 10)
      const skip = Number(query.get('skip') ?? 0)
      if (!reference) throw new Invalid('reference_required')
      if (!(limit >= 1 && limit <= 100 && skip >= 0)) throw new Invalid('limit_invalid')
      const found = [...payments.values()].filter((payment) => payment.reference === reference)
      const data = found.slice(skip, skip + limit).map(paymentJson)
      return { status: 200, json: { total_count: found.length, skip, limit, data } }
    }
    const [, id = '', actions] = /^\/payments\/(pay_\w{26})(\/actions)?$/.exec(path) ?? []
    const payment = payments.get(id)
    if (!payment) throw new Plain(404)
    return { status: 200, json: actions ? payment.actions : paymentJson(payment) }
  }

  function write({ path }: ApiRequest, body: Json): ApiAnswer {
    if (path === '/payment-sessions') return createSession(body)
    if (path === '/payments') return createPayment(body)
    if (path === '/tokens') return exchange(body)
    const [, id = '', verb = ''] = /^\/payments\/(pay_\w{26})\/(captures|voids|refunds)$/.exec(path) ?? []
    const payment = payments.get(id)
    if (!payment) throw new Plain(404)
    fields(body, verb === 'voids' ? [] : ['amount'], ['reference', 'metadata', 'amount'])
    if (body['amount'] !== undefined) amountOf(body['amount'], payment.currency)
    const type = { captures: 'Capture', voids: 'Void', refunds: 'Refund' }[verb] as 'Capture' | 'Void' | 'Refund'
    return ask(payment, type, body as { amount?: number; reference?: string })
  }

  function createSession(body: Json): ApiAnswer {
    fields(
      body,
      ['amount', 'currency', 'billing', 'success_url', 'failure_url'],
      ['reference', 'capture', 'processing_channel_id', 'customer', 'metadata'],
    )
    if (!/^[A-Z]{2}$/.test(String(((body['billing'] as Json)?.['address'] as Json)?.['country'])))
      throw new Invalid('billing_country_required')
    checkCommonFields(body)
    const id = newId('ps')
    sessions.set(id, body)
    return {
      status: 201,
      json: {
        id,
        payment_session_token: `YmFzZTY0:${id}`,
        payment_session_secret: `pss_${id}`,
        _links: { self: { href: `${server.url}/payment-sessions/${id}` } },
      },
    }
  }

  function createPayment(body: Json): ApiAnswer {
    fields(
      body,
      ['source', 'amount', 'currency'],
      ['reference', 'capture', 'processing_channel_id', '3ds', 'success_url', 'failure_url', 'customer', 'metadata'],
    )
    checkCommonFields(body)
    const source = body['source'] as Json
    fields(source, ['type', 'token'], [])
    const token = source['token']
    if (source['type'] !== 'token' || typeof token !== 'string' || !/^tok_\w+$/.test(token)) throw new Invalid('source_token_invalid')
    if ((body['3ds'] as Json | undefined)?.['enabled'] !== true) throw new Invalid('3ds_malformed')
    const card = wallets.get(token) ?? (token.includes('declined') ? 'declined' : token.includes('3ds') ? '3ds' : 'good')
    const payment = begin(body, card)
    const { id, status, code } = payment
    if (card === '3ds') return { status: 202, json: { id, status, reference: payment.reference, _links: paymentJson(payment)['_links'] } }
    const { amount, currency, reference, _links } = paymentJson(payment)
    const action_id = payment.actions[0]?.id
    return {
      status: 201,
      json: { id, action_id, amount, currency, approved: card === 'good', status, response_code: code, reference, _links },
    }
  }

  function exchange(body: Json): ApiAnswer {
    fields(body, ['type', 'token_data'], [])
    const data = body['token_data'] as Json
    if (body['type'] === 'googlepay') fields(data, ['signature', 'protocolVersion', 'signedMessage'], ['intermediateSigningKey'])
    else if (body['type'] === 'applepay') fields(data, ['version', 'data', 'signature', 'header'], [])
    else throw new Invalid('token_type_invalid')
    const token = newId('tok')
    wallets.set(token, 'good')
    return { status: 201, json: { type: body['type'], token, expires_on: new Date(clock).toISOString() } }
  }

  function checkCommonFields(body: Json): void {
    if (typeof body['currency'] !== 'string' || !/^[A-Z]{3}$/.test(body['currency'])) throw new Invalid('currency_invalid')
    amountOf(body['amount'], body['currency'])
    const reference = body['reference']
    if (typeof reference !== 'string' || reference.length > 50) throw new Invalid('reference_invalid')
    // The API's default is true; souk must never use it.
    if (body['capture'] !== false) throw new Invalid('capture_must_be_false_here')
    if (body['processing_channel_id'] !== checkoutKeys.channelId) throw new Invalid('processing_channel_id_invalid')
    for (const name of ['success_url', 'failure_url'])
      if (body[name] !== undefined && !URL.canParse(String(body[name]))) throw new Invalid(`${name}_invalid`)
  }

  function message(type: string, payment: CheckoutPayment, actionId?: string, more: Json = {}) {
    const { id, reference, amount, currency } = payment
    const data = { id, ...(actionId === undefined ? {} : { action_id: actionId }), reference, amount, currency, ...more }
    const event = { id: newId('evt'), type, version: '1.0.0', created_on: new Date(clock).toISOString(), data }
    return checkoutMessage(JSON.stringify(event))
  }

  const tell = (type: string, payment: CheckoutPayment, actionId?: string): void => onMessage?.(message(type, payment, actionId))

  const server = await serveStandIn(answer, watch)
  return {
    ...server,
    ...checkoutKeys,
    payments,
    sessions,
    settle,
    message,
    /** Returns the payments with a reference, oldest first. */
    paymentsOf: (reference: string) => [...payments.values()].filter((payment) => payment.reference === reference),
    /** Pays a session as the component on the shop's page does. */
    pay(sessionId: string, card: CheckoutCard = 'good'): CheckoutPayment {
      const session = sessions.get(sessionId)
      if (!session) throw new Error('no such session')
      return begin(session, card)
    },
    /** Ends the authentication at the bank. */
    authenticate(id: string, passed = true): void {
      const payment = payments.get(id)
      if (payment?.status !== 'Pending') throw new Error('not waiting for the shopper')
      Object.assign(payment, passed ? { status: 'Authorized', code: '10000' } : { status: 'Declined', code: '20154' })
      recordDecision(payment)
    },
    /** Declines the next action of this type. */
    decline: (type: 'Capture' | 'Void' | 'Refund') => void declining.add(type),
    /** Forgets all idempotency keys, as after a day. */
    forgetKeys: () => storedResponses.clear(),
  }
}

function statusOf({ amount, captured, refunded, voided, status }: CheckoutPayment): string {
  if (refunded > 0) return refunded < captured ? 'Partially Refunded' : 'Refunded'
  if (captured > 0) return captured < amount ? 'Partially Captured' : 'Captured'
  return voided > 0 ? 'Voided' : status
}

function fields(body: Json, required: readonly string[], optional: readonly string[]): void {
  for (const name of required) if (body[name] === undefined || body[name] === null) throw new Invalid(`${name}_required`)
  for (const name of Object.keys(body)) if (![...required, ...optional].includes(name)) throw new Invalid(`${name}_unknown`)
}

function amountOf(amount: unknown, currency: string): void {
  if (typeof amount !== 'number' || !Number.isInteger(amount) || amount < 1 || amount > 999_999_999) throw new Invalid('amount_invalid')
  if (withThreeDecimals.includes(currency) && amount % 10 !== 0) throw new Invalid('amount_invalid')
  if (currency === 'CLP' || (withoutDecimals.includes(currency) && amount > 999_999_999)) throw new Invalid('currency_invalid')
}

/** Signs a message with any content. */
export const checkoutMessage = (body: string, secret = checkoutKeys.webhookSecret) => ({
  body: Buffer.from(body),
  headers: new Headers({
    'content-type': 'application/json',
    'cko-signature': createHmac('sha256', secret).update(body).digest('hex'),
  }),
})
