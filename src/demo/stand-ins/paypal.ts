/**
 * Simulates PayPal by its reference (Orders v2, Payments v2, webhooks v1): orders, authorizations, captures, refunds,
 * tokens, request ids and signed events. Validates requests as strictly as the reference.
 */
import { createHash } from 'node:crypto'
import { afterPaying, nothingToPay, payPage } from './page.ts'
import { centsOf, createRefusal, type Json, type Money, moneyIn, objectIn, parseFields, Refused, textIn } from './paypal-rules.ts'
import { type ApiAnswer, type ApiRequest, type Message, serveStandIn, type Watch } from './server.ts'

type Part = { id: string; status: string; amount: Money; custom_id?: string; status_details?: { reason: string } }
type Capture = Part & { final_capture: boolean }
type Order = {
  id: string
  status: string
  amount: Money
  custom_id: string | undefined
  withSource: boolean
  returnUrl: string | undefined
  /** The behaviour of the shopper's payment instrument. */
  instrument: 'good' | 'declined' | 'review'
  authorizations: Part[]
  captures: Capture[]
  refunds: (Part & { capture: string })[]
}

/** Starts the stand-in on a free loopback port. */
export async function startPaypal({
  clientId = 'client',
  secret = 'secret',
  webhookId = 'WH-STANDIN',
  made = 0,
  tell,
  now = Date.now,
  watch,
}: {
  clientId?: string
  secret?: string
  webhookId?: string
  /** Number of ids that earlier runs used: a restarted stand-in must not reuse ids. */
  made?: number
  /** Called with every event. */
  tell?: (message: Message) => void
  now?: () => number
  watch?: Watch
} = {}) {
  const orders = new Map<string, Order>()
  const storedResponses = new Map<string, ApiAnswer>()
  const events: Json[] = []
  const signatures = new Map<string, string>()
  const captureOutcomes: string[] = []
  const refundOutcomes: string[] = []
  /** Valid access tokens, newest last. */
  const tokens: string[] = []
  const life = { seconds: 32_400 as unknown }
  const nextId = (prefix = '') => `${prefix}${String(++made).padStart(15, '0')}AB`

  const timeNow = () => new Date(now()).toISOString().replace(/\.\d+/, '')

  function emit(type: string, resource: unknown): void {
    const event = { id: nextId('WH-'), event_version: '1.0', create_time: timeNow(), event_type: type, resource }
    events.push(event)
    tell?.(sent(event))
  }

  /** Returns the message of an event: raw body and signature headers. */
  function sent(event: Json, { spaces = 2 }: { spaces?: number } = {}): Message {
    const body = Buffer.from(JSON.stringify(event, null, spaces))
    const [id, time] = [crypto.randomUUID(), timeNow()]
    const signature = Buffer.from(`${id}${made++}`).toString('base64')
    signatures.set(signature, `${id}|${time}|${webhookId}|${digestOf(body)}`)
    const headers = new Headers({
      'content-type': 'application/json',
      'paypal-auth-algo': 'SHA256withRSA',
      'paypal-cert-url': 'https://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270',
      'paypal-transmission-id': id,
      'paypal-transmission-sig': signature,
      'paypal-transmission-time': time,
    })
    return { body, headers }
  }

  const links = (order: Order) => [
    { href: `${server.url}/v2/checkout/orders/${order.id}`, rel: 'self', method: 'GET' },
    ...(['CREATED', 'PAYER_ACTION_REQUIRED', 'APPROVED'].includes(order.status)
      ? [{ href: `${server.url}/checkoutnow?token=${order.id}`, rel: order.withSource ? 'payer-action' : 'approve', method: 'GET' }]
      : []),
  ]
  const related = (order: Order, more: Json = {}) => ({ supplementary_data: { related_ids: { order_id: order.id, ...more } } })

  function orderJson(order: Order): Json {
    const { id, status, amount, custom_id, authorizations, captures } = order
    const refunds = order.refunds.map(({ capture: _, ...refund }) => refund)
    const all = Object.entries({ authorizations, captures, refunds }).filter(([, list]) => list.length > 0)
    const unit = {
      reference_id: 'default',
      amount,
      ...(custom_id ? { custom_id } : {}),
      ...(all.length > 0 ? { payments: Object.fromEntries(all) } : {}),
    }
    return { id, intent: 'AUTHORIZE', status, purchase_units: [unit], links: links(order) }
  }

  function createOrder(request: ApiRequest): Json {
    const json = objectIn(request.body, ['intent', 'purchase_units', 'payment_source'])
    if (json['intent'] !== 'AUTHORIZE') throw createRefusal(400, 'INVALID_PARAMETER_VALUE', '/intent')
    const units = json['purchase_units']
    if (!Array.isArray(units) || units.length !== 1) throw createRefusal(400, 'INVALID_ARRAY_LENGTH', '/purchase_units')
    const unit = parseFields(units[0], ['amount', 'custom_id', 'invoice_id'])
    const amount = moneyIn(unit['amount'])
    const custom = textIn(unit['custom_id'], 255, '/custom_id')
    const withSource = json['payment_source'] !== undefined
    let returnUrl: string | undefined
    if (withSource) {
      const wallet = parseFields(parseFields(json['payment_source'], ['paypal'])['paypal'], ['experience_context'])
      const context = parseFields(wallet['experience_context'], ['return_url', 'cancel_url', 'user_action', 'shipping_preference'])
      for (const url of ['return_url', 'cancel_url'])
        if (!/^https?:\/\//.test(String(context[url]))) throw createRefusal(400, 'INVALID_PARAMETER_SYNTAX', url)
      returnUrl = String(context['return_url'])
      if (!['PAY_NOW', 'CONTINUE'].includes(String(context['user_action'])))
        throw createRefusal(400, 'INVALID_PARAMETER_VALUE', 'user_action')
      if (!['NO_SHIPPING', 'GET_FROM_FILE', 'SET_PROVIDED_ADDRESS'].includes(String(context['shipping_preference'])))
        throw createRefusal(400, 'INVALID_PARAMETER_VALUE', 'shipping_preference')
      if (request.headers.get('paypal-request-id') === null) throw createRefusal(400, 'PAYPAL_REQUEST_ID_REQUIRED')
    }
    const order: Order = {
      ...{ id: nextId(), status: withSource ? 'PAYER_ACTION_REQUIRED' : 'CREATED', amount, custom_id: custom, withSource, returnUrl },
      ...{ instrument: 'good', authorizations: [], captures: [], refunds: [] },
    }
    orders.set(order.id, order)
    return orderJson(order)
  }

  function authorize(order: Order): Json {
    if (order.authorizations.length > 0) throw createRefusal(422, 'ORDER_ALREADY_AUTHORIZED')
    if (order.status !== 'APPROVED') throw createRefusal(422, 'ORDER_NOT_APPROVED')
    if (order.instrument === 'declined') throw createRefusal(422, 'INSTRUMENT_DECLINED')
    const custom = order.custom_id ? { custom_id: order.custom_id } : {}
    const status = order.instrument === 'review' ? 'PENDING' : 'CREATED'
    order.authorizations.push({ id: nextId('A'), status, amount: order.amount, ...custom })
    order.status = 'COMPLETED'
    emit('PAYMENT.AUTHORIZATION.CREATED', { ...order.authorizations[0], ...related(order) })
    return {
      id: order.id,
      status: order.status,
      purchase_units: [{ reference_id: 'default', payments: { authorizations: order.authorizations } }],
      links: [],
    }
  }

  const authorizationOf = (id: string) => {
    const order = [...orders.values()].find(({ authorizations }) => authorizations.some((one) => one.id === id))
    const authorization = order?.authorizations.find((one) => one.id === id)
    if (!order || !authorization) throw createRefusal(404, 'INVALID_RESOURCE_ID')
    return { order, authorization }
  }
  const captureOf = (id: string) => {
    const order = [...orders.values()].find(({ captures }) => captures.some((one) => one.id === id))
    const capture = order?.captures.find((one) => one.id === id)
    if (!order || !capture) throw createRefusal(404, 'INVALID_RESOURCE_ID')
    return { order, capture }
  }

  function capture(id: string, request: ApiRequest): Json {
    const json = objectIn(request.body, ['amount', 'final_capture', 'invoice_id', 'note_to_payer', 'soft_descriptor'])
    const { order, authorization } = authorizationOf(id)
    const amount = json['amount'] === undefined ? authorization.amount : moneyIn(json['amount'])
    if (authorization.status === 'CAPTURED') throw createRefusal(422, 'AUTHORIZATION_ALREADY_CAPTURED')
    if (authorization.status === 'VOIDED') throw createRefusal(422, 'AUTHORIZATION_VOIDED')
    if (authorization.status === 'DENIED') throw createRefusal(422, 'AUTHORIZATION_DENIED')
    if (amount.currency_code !== authorization.amount.currency_code) throw createRefusal(422, 'CURRENCY_MISMATCH')
    if (centsOf(amount) > centsOf(authorization.amount) * 1.15) throw createRefusal(422, 'MAX_CAPTURE_AMOUNT_EXCEEDED')
    const status = captureOutcomes.shift() ?? 'COMPLETED'
    const isFinal = json['final_capture'] === true
    const made: Capture = {
      id: nextId('C'),
      status,
      amount,
      final_capture: isFinal,
      ...(order.custom_id ? { custom_id: order.custom_id } : {}),
    }
    if (status === 'PENDING') made.status_details = { reason: 'PENDING_REVIEW' }
    order.captures.push(made)
    if (status === 'COMPLETED' || status === 'PENDING')
      authorization.status = isFinal || centsOf(amount) >= centsOf(authorization.amount) ? 'CAPTURED' : 'PARTIALLY_CAPTURED'
    emit(`PAYMENT.CAPTURE.${status}`, { ...made, ...related(order, { authorization_id: id }) })
    return { ...made, ...related(order, { authorization_id: id }) }
  }

  function voidAuthorization(id: string): ApiAnswer {
    const { order, authorization } = authorizationOf(id)
    if (authorization.status === 'CAPTURED' || authorization.status === 'PARTIALLY_CAPTURED')
      throw createRefusal(422, 'PREVIOUSLY_CAPTURED')
    if (authorization.status === 'VOIDED') throw createRefusal(422, 'PREVIOUSLY_VOIDED')
    authorization.status = 'VOIDED'
    emit('PAYMENT.AUTHORIZATION.VOIDED', { ...authorization, ...related(order) })
    return { status: 204 }
  }

  function refund(id: string, request: ApiRequest): Json {
    const json = objectIn(request.body, ['amount', 'custom_id', 'invoice_id', 'note_to_payer'])
    const { order, capture } = captureOf(id)
    const amount = json['amount'] === undefined ? capture.amount : moneyIn(json['amount'])
    if (!['COMPLETED', 'PARTIALLY_REFUNDED'].includes(capture.status))
      throw createRefusal(422, capture.status === 'REFUNDED' ? 'CAPTURE_FULLY_REFUNDED' : 'CAPTURE_NOT_COMPLETED')
    const before = order.refunds
      .filter((one) => one.capture === id && ['COMPLETED', 'PENDING'].includes(one.status))
      .reduce((sum, one) => sum + centsOf(one.amount), 0)
    if (before + centsOf(amount) > centsOf(capture.amount)) throw createRefusal(422, 'REFUND_AMOUNT_EXCEEDED')
    const custom = textIn(json['custom_id'], 127, '/custom_id')
    const made = { id: nextId('R'), status: refundOutcomes.shift() ?? 'COMPLETED', amount, ...(custom ? { custom_id: custom } : {}) }
    order.refunds.push({ ...made, capture: id })
    if (['COMPLETED', 'PENDING'].includes(made.status))
      capture.status = before + centsOf(amount) === centsOf(capture.amount) ? 'REFUNDED' : 'PARTIALLY_REFUNDED'
    const up = { href: `https://api.example/v2/payments/captures/${id}`, rel: 'up', method: 'GET' }
    emit('PAYMENT.CAPTURE.REFUNDED', { ...made, links: [up] })
    return { ...made, links: [up] }
  }

  const orderOf = (id: string): Order => {
    const order = orders.get(id)
    if (!order) throw createRefusal(404, 'INVALID_RESOURCE_ID')
    return order
  }

  function read({ path }: ApiRequest): Json {
    const [, , area, kind, id = '', more] = path.split('/')
    if (more !== undefined) throw createRefusal(404, 'INVALID_RESOURCE_ID')
    if (area === 'checkout' && kind === 'orders') return orderJson(orderOf(id))
    if (area !== 'payments') throw createRefusal(404, 'INVALID_RESOURCE_ID')
    if (kind === 'authorizations') {
      const { order, authorization } = authorizationOf(id)
      return { ...authorization, ...related(order) }
    }
    if (kind === 'captures') {
      const { order, capture } = captureOf(id)
      return { ...capture, ...related(order) }
    }
    const found = [...orders.values()].flatMap(({ refunds }) => refunds).find((one) => one.id === id)
    if (kind !== 'refunds' || !found) throw createRefusal(404, 'INVALID_RESOURCE_ID')
    const { capture: _, ...refund } = found
    return refund
  }

  function work(request: ApiRequest): ApiAnswer {
    const [, , area, kind, id = '', step] = request.path.split('/')
    const noBody = () => {
      if (request.body !== '' && request.body !== '{}') throw createRefusal(400, 'MALFORMED_REQUEST_JSON')
    }
    if (area === 'checkout' && kind === 'orders' && id === '') return { status: 201, json: createOrder(request) }
    if (area === 'checkout' && kind === 'orders' && step === 'authorize') {
      noBody()
      return { status: 201, json: authorize(orderOf(id)) }
    }
    if (area === 'payments' && kind === 'authorizations' && step === 'capture') return { status: 201, json: capture(id, request) }
    if (area === 'payments' && kind === 'authorizations' && step === 'void') {
      noBody()
      return voidAuthorization(id)
    }
    if (area === 'payments' && kind === 'captures' && step === 'refund') return { status: 201, json: refund(id, request) }
    if (request.path === '/v1/notifications/verify-webhook-signature')
      return { status: 200, json: { verification_status: verified(request.body) } }
    throw createRefusal(404, 'INVALID_RESOURCE_ID')
  }

  /** Verifies the event's raw text, because the signature covers its bytes. */
  function verified(body: string): string {
    const json = objectIn(body, signedFields)
    for (const field of signedFields) if (json[field] === undefined) throw createRefusal(400, 'MISSING_REQUIRED_PARAMETER', field)
    const raw = /"webhook_event":([\s\S]*)\}$/.exec(body)?.[1] ?? ''
    const signed = `${json['transmission_id']}|${json['transmission_time']}|${json['webhook_id']}|${digestOf(Buffer.from(raw))}`
    const isOwn = json['webhook_id'] === webhookId && json['auth_algo'] === 'SHA256withRSA'
    return isOwn && signatures.get(String(json['transmission_sig'])) === signed ? 'SUCCESS' : 'FAILURE'
  }

  function token({ headers, body }: ApiRequest): ApiAnswer {
    const authorizationHeader = headers.get('authorization')
    if (authorizationHeader !== `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`)
      return { status: 401, json: { error: 'invalid_client', error_description: 'Client Authentication failed' } }
    if (headers.get('content-type') !== 'application/x-www-form-urlencoded' || body !== 'grant_type=client_credentials')
      return { status: 400, json: { error: 'unsupported_grant_type', error_description: 'no' } }
    tokens.push(nextId('A21'))
    return {
      status: 200,
      json: {
        scope: 'https://uri',
        access_token: tokens.at(-1),
        token_type: 'Bearer',
        app_id: 'APP',
        expires_in: life.seconds,
        nonce: 'n',
      },
    }
  }

  function runSafely(run: () => ApiAnswer): ApiAnswer {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { status: error.status, json: error.json }
    }
  }

  function answer(request: ApiRequest): ApiAnswer {
    const { method, path, headers } = request
    if (method === 'POST' && path === '/v1/oauth2/token') return token(request)
    if (!tokens.some((one) => headers.get('authorization') === `Bearer ${one}`))
      return { status: 401, json: { error: 'invalid_token', error_description: 'Token signature verification failed' } }
    const key = headers.get('paypal-request-id')
    if (method === 'GET' && (key !== null || request.body !== '')) return { status: 400, json: { name: 'INVALID_REQUEST' } }
    if (method === 'GET') return runSafely(() => ({ status: 200, json: read(request) }))
    if (method !== 'POST') return { status: 405, json: { name: 'METHOD_NOT_SUPPORTED' } }
    // It is not confirmed that an empty POST needs the header. PayPal's SDK voids without it.
    if (request.body !== '' && headers.get('content-type') !== 'application/json') return unsupported
    if (key === null) return runSafely(() => work(request))
    if (key === '' || key.length > 108)
      return { status: 400, json: { name: 'INVALID_REQUEST', details: [{ issue: 'INVALID_STRING_LENGTH' }] } }
    const before = storedResponses.get(`${path} ${key}`)
    // The reference does not define a repeated key with another body. This returns the first response, the harder case.
    if (before) return { ...before, status: before.status === 201 ? 200 : before.status }
    const response = runSafely(() => work(request))
    if (response.status < 300) storedResponses.set(`${path} ${key}`, response)
    return response
  }

  function approve(id: string, instrument: Order['instrument'] = 'good'): Order {
    const order = orderOf(id)
    Object.assign(order, { status: 'APPROVED', instrument })
    emit('CHECKOUT.ORDER.APPROVED', orderJson(order))
    return order
  }

  /** The approval page, which redirects the shopper back to the shop. */
  function page({ method, query }: ApiRequest): ApiAnswer {
    const id = query.get('token') ?? ''
    const order = orders.get(id)
    if (!order || !['CREATED', 'PAYER_ACTION_REQUIRED'].includes(order.status)) return nothingToPay
    const { currency_code: currency, value } = order.amount
    if (method !== 'POST') return payPage('PayPal', `You pay ${value} ${currency}`)
    const { returnUrl } = approve(id)
    if (returnUrl === undefined) return afterPaying('PayPal')
    const back = new URL(returnUrl)
    back.searchParams.set('token', id)
    back.searchParams.set('PayerID', 'STANDIN')
    return afterPaying('PayPal', back.href)
  }

  const server = await serveStandIn((request) => (request.path === '/checkoutnow' ? page(request) : answer(request)), watch)
  return {
    ...server,
    orders,
    events,
    tokens,
    life,
    captureOutcomes,
    refundOutcomes,
    /** Expires all access tokens. */
    endTokens: () => void tokens.splice(0),
    forgetKeys: () => storedResponses.clear(),
    /** Approves an order as the shopper. */
    approve: (id: string, instrument?: Order['instrument']) => void approve(id, instrument),
    /** Sets the status of pending payments or refunds. */
    settle(id: string, kind: 'authorizations' | 'captures' | 'refunds', status: string) {
      for (const part of orderOf(id)[kind]) part.status = status
    },
    captureElsewhere(id: string, value: string) {
      const order = orderOf(id)
      const amount = { ...order.amount, value }
      order.captures.push({ id: nextId('C'), status: 'COMPLETED', amount, final_capture: false })
      for (const authorization of order.authorizations) authorization.status = 'PARTIALLY_CAPTURED'
    },
    refundElsewhere(id: string, value: string) {
      const order = orderOf(id)
      const captured = order.captures[0]
      if (captured)
        refund(captured.id, {
          method: 'POST',
          path: '',
          query: new URLSearchParams(),
          headers: new Headers(),
          body: JSON.stringify({ amount: { ...order.amount, value } }),
          json: undefined,
        })
    },
    sent,
  }
}

const unsupported: ApiAnswer = {
  status: 415,
  json: { name: 'UNSUPPORTED_MEDIA_TYPE', message: 'no', details: [{ issue: 'UNSUPPORTED_MEDIA_TYPE' }] },
}

/** Required fields of a webhook verification. */
const signedFields = [
  ...['auth_algo', 'cert_url', 'transmission_id', 'transmission_sig', 'transmission_time', 'webhook_id', 'webhook_event'],
] as const
const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex')
