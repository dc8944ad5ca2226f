/** Simulates what souk uses of Stripe (docs.stripe.com/api, version 2026-10-28.endive). Checks every request. */
import { afterPaying, nothingToPay, payPage } from './page.ts'
import { type ApiAnswer, type ApiRequest, type Message, serveStandIn, type Watch } from './server.ts'
import { amountIn, type Intent, invalid, type Json, metadataIn, notFound, parse, type Refund, Refused, signature } from './stripe-rules.ts'

type StoredResponse = { fingerprint: string; response: ApiAnswer }
const fingerprintOf = (path: string, body: string): string => `${path}?${[...new URLSearchParams(body)].map(String).sort()}`

const stripeServerVersion = '2026-10-28.endive'

/** Starts the stand-in on a free loopback port. */
export async function startStripe({
  secretKey = 'sk_test_standin',
  webhookSecret = 'whsec_standin',
  now = Date.now,
  made = 0,
  tell,
  watch,
}: {
  secretKey?: string
  webhookSecret?: string
  now?: () => number
  /** Number of ids that earlier runs used: a restarted stand-in must not reuse ids. */
  made?: number
  /** Called with every event. */
  tell?: (message: Message) => void
  watch?: Watch
} = {}) {
  const intents = new Map<string, Intent>()
  const refunds = new Map<string, Refund>()
  const methods = new Map<string, string>()
  const storedResponses = new Map<string, StoredResponse>()
  const keysInProgress = new Set<string>()
  const events: Json[] = []
  /** Statuses of the next refunds. Default: succeeded. */
  const refundOutcomes: string[] = []
  /** Blocks the next request until it resolves. */
  let pause: (() => Promise<void>) | undefined
  const nextId = (prefix: string) => `${prefix}_standin${String(++made).padStart(6, '0')}`
  const seconds = () => Math.floor(now() / 1000)

  function emit(type: string, object: unknown): void {
    const about = { api_version: stripeServerVersion, created: seconds(), livemode: false, type, data: { object } }
    const event = { id: nextId('evt'), object: 'event', ...about }
    events.push(event)
    tell?.(sent(event))
  }

  /** Returns the message of an event: raw body and a signature with the time `at`. */
  function sent(event: Json, { at = now(), secret = webhookSecret }: { at?: number; secret?: string } = {}): Message {
    const body = Buffer.from(JSON.stringify(event, null, 2))
    return { body, headers: new Headers({ 'content-type': 'application/json', 'stripe-signature': signature(body, { at, secret }) }) }
  }

  const chargeOf = (intent: Intent) =>
    intent.charge && {
      id: intent.charge.id,
      object: 'charge',
      payment_intent: intent.id,
      amount: intent.amount,
      amount_refunded: intent.charge.amount_refunded,
    }

  function intentJson({ charge, ...intent }: Intent, expanded = false): Json {
    const latest = chargeOf({ charge, ...intent })
    return { object: 'payment_intent', livemode: false, ...intent, latest_charge: expanded ? (latest ?? null) : (latest?.id ?? null) }
  }

  function authorize(intent: Intent): void {
    intent.charge = { id: nextId('ch'), amount_refunded: 0 }
    intent.last_payment_error = null
    intent.next_action = null
    if (intent.capture_method === 'manual') {
      Object.assign(intent, { status: 'requires_capture', amount_capturable: intent.amount })
      emit('payment_intent.amount_capturable_updated', intentJson(intent))
    } else captureAmount(intent, intent.amount)
  }

  function captureAmount(intent: Intent, amount: number): void {
    Object.assign(intent, { status: 'succeeded', amount_capturable: 0, amount_received: amount })
    emit('payment_intent.succeeded', intentJson(intent))
    emit('charge.captured', chargeOf(intent))
  }

  function decline(intent: Intent): Refused {
    intent.charge = { id: nextId('ch'), amount_refunded: 0 }
    const error = { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds', message: 'Your card was declined.' }
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error, next_action: null })
    emit('payment_intent.payment_failed', intentJson(intent))
    return new Refused(402, { ...error, charge: intent.charge.id, payment_intent: intentJson(intent) }, true)
  }

  /** Confirms an intent by the rules of Stripe's test payment methods. */
  function confirm(intent: Intent, method: string, returnUrl: string | undefined): void {
    if (/chargeDeclined/.test(method)) throw decline(intent)
    if (/authenticationRequired/.test(method)) {
      const redirect = { url: `${server.url}/3ds/${intent.id}`, return_url: returnUrl ?? null }
      Object.assign(intent, {
        status: 'requires_action',
        next_action: returnUrl ? { type: 'redirect_to_url', redirect_to_url: redirect } : { type: 'use_stripe_sdk' },
      })
      emit('payment_intent.requires_action', intentJson(intent))
    } else if (/processing/.test(method)) Object.assign(intent, { status: 'processing' })
    else authorize(intent)
  }

  function createIntent(fields: Map<string, string>): Json {
    const amount = amountIn(fields.get('amount'), fields.get('currency') ?? '')
    const isConfirmed = fields.get('confirm') === 'true'
    const [returnUrl, method, token] = [fields.get('return_url'), fields.get('payment_method'), fields.get('confirmation_token')]
    if (returnUrl !== undefined && !isConfirmed) throw invalid('return_url only with confirm=true', { param: 'return_url' })
    if (isConfirmed && method === undefined && token === undefined)
      throw invalid('nothing to confirm with', { code: 'payment_intent_unexpected_state' })
    if (method !== undefined && token !== undefined) throw invalid('payment_method and confirmation_token')
    const redirects = fields.get('automatic_payment_methods[allow_redirects]') !== 'never'
    if (isConfirmed && fields.get('automatic_payment_methods[enabled]') === 'true' && redirects && returnUrl === undefined)
      throw invalid('return_url is needed', { param: 'return_url' })
    if (method !== undefined && !/^pm_card_\w+$/.test(method) && !methods.has(method))
      throw notFound('PaymentMethod', 'payment_method', 400)
    if (token !== undefined && !/^ctoken_\w+$/.test(token)) throw notFound('confirmation_token', 'confirmation_token', 400)
    const id = nextId('pi')
    const intent: Intent = {
      ...{
        id,
        amount,
        currency: fields.get('currency') ?? '',
        status: 'requires_payment_method',
        amount_capturable: 0,
        amount_received: 0,
      },
      ...{
        capture_method: fields.get('capture_method') ?? 'automatic_async',
        client_secret: `${id}_secret_standin`,
        created: seconds(),
        metadata: metadataIn(fields),
      },
      ...{ last_payment_error: null, next_action: null, cancellation_reason: null, charge: undefined },
    }
    intents.set(id, intent)
    emit('payment_intent.created', intentJson(intent))
    if (isConfirmed) confirm(intent, method === undefined ? (token ?? '') : (methods.get(method) ?? method), returnUrl)
    return intentJson(intent)
  }

  const wrongState = (intent: Intent, step: string) =>
    invalid(`This PaymentIntent's status is ${intent.status}: cannot ${step}`, {
      code: 'payment_intent_unexpected_state',
      payment_intent: intentJson(intent),
    })

  function capture(intent: Intent, fields: Map<string, string>): Json {
    if (intent.status !== 'requires_capture') throw wrongState(intent, 'capture')
    const amount = fields.has('amount_to_capture') ? amountIn(fields.get('amount_to_capture'), intent.currency) : intent.amount_capturable
    if (amount > intent.amount_capturable)
      throw invalid('more than is capturable', { code: 'amount_too_large', param: 'amount_to_capture' })
    captureAmount(intent, amount)
    return intentJson(intent)
  }

  function cancel(intent: Intent, fields: Map<string, string>): Json {
    const reason = fields.get('cancellation_reason') ?? null
    if (reason !== null && !['abandoned', 'duplicate', 'requested_by_customer', 'fraudulent'].includes(reason))
      throw invalid('cancellation_reason')
    if (['succeeded', 'canceled', 'processing'].includes(intent.status)) throw wrongState(intent, 'cancel')
    Object.assign(intent, { status: 'canceled', amount_capturable: 0, cancellation_reason: reason })
    emit('payment_intent.canceled', intentJson(intent))
    return intentJson(intent)
  }

  function createRefund(fields: Map<string, string>): Json {
    const intent = intents.get(fields.get('payment_intent') ?? '')
    if (!intent) throw notFound('payment_intent', 'payment_intent')
    if (intent.status !== 'succeeded' || !intent.charge)
      throw invalid('This PaymentIntent has no successful charge', { code: 'payment_intent_unexpected_state' })
    const rest = intent.amount_received - intent.charge.amount_refunded
    if (rest === 0) throw invalid('Charge has already been refunded', { code: 'charge_already_refunded' })
    const amount = fields.has('amount') ? amountIn(fields.get('amount'), intent.currency) : rest
    if (amount > rest) throw invalid('Refund amount is greater than unrefunded amount', { param: 'amount' })
    const refund: Refund = {
      id: nextId('re'),
      amount,
      payment_intent: intent.id,
      status: refundOutcomes.shift() ?? 'succeeded',
      currency: intent.currency,
      metadata: metadataIn(fields),
    }
    refunds.set(refund.id, refund)
    if (!['failed', 'canceled'].includes(refund.status)) intent.charge.amount_refunded += amount
    emit('refund.created', { object: 'refund', ...refund })
    return { object: 'refund', ...refund }
  }

  function list(request: ApiRequest, items: readonly (Json & { id: string })[], more: readonly string[]): Json {
    const fields = parse([...request.query], ['limit', 'starting_after', 'ending_before', 'expand[]', ...more])
    const limit = Number(fields.get('limit') ?? 10)
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw invalid('limit', { param: 'limit' })
    const newestFirst = [...items].reverse()
    const after = fields.get('starting_after')
    const from = after === undefined ? 0 : newestFirst.findIndex(({ id }) => id === after) + 1
    if (after !== undefined && from === 0) throw notFound('item', 'starting_after', 400)
    return { object: 'list', url: request.path, has_more: newestFirst.length > from + limit, data: newestFirst.slice(from, from + limit) }
  }

  function listIntents(request: ApiRequest): Json {
    const since = Number(request.query.get('created[gte]') ?? 0)
    const expanded = [...request.query].some(([name, value]) => name.startsWith('expand[') && value === 'data.latest_charge')
    const items = [...intents.values()].filter(({ created }) => created >= since)
    return list(
      request,
      items.map((intent) => ({ ...intentJson(intent, expanded), id: intent.id })),
      ['created[gte]'],
    )
  }

  function listRefunds(request: ApiRequest): Json {
    const of = request.query.get('payment_intent')
    if (of !== null && !intents.has(of)) throw notFound('payment_intent', 'payment_intent')
    return list(
      request,
      [...refunds.values()]
        .filter((refund) => of === null || refund.payment_intent === of)
        .map((refund) => ({ object: 'refund', ...refund })),
      ['payment_intent'],
    )
  }

  const intentById = (id: string): Intent => {
    const intent = intents.get(id)
    if (!intent) throw notFound('payment_intent', 'intent')
    return intent
  }

  function read(request: ApiRequest): Json {
    const [, , kind, id] = request.path.split('/')
    if (kind === 'balance' && id === undefined) return { object: 'balance', available: [], livemode: false, pending: [] }
    if (kind === 'payment_intents' && id === undefined) return listIntents(request)
    if (kind === 'refunds' && id === undefined) return listRefunds(request)
    const fields = parse([...request.query], ['expand[]'])
    if (kind === 'payment_intents') return intentJson(intentById(id ?? ''), fields.get('expand[0]') === 'latest_charge')
    const refund = kind === 'refunds' ? refunds.get(id ?? '') : undefined
    if (!refund) throw notFound(kind ?? 'path', 'id')
    return { object: 'refund', ...refund }
  }

  function work(request: ApiRequest): Json {
    const [, , kind, id = '', step] = request.path.split('/')
    const fields = (...names: string[]) => parse(new URLSearchParams(request.body), ['expand[]', ...names])
    if (kind === 'payment_intents' && id === '')
      return createIntent(
        fields(
          'amount',
          'currency',
          'capture_method',
          'automatic_payment_methods[enabled]',
          'automatic_payment_methods[allow_redirects]',
          'metadata[]',
          'payment_method',
          'confirmation_token',
          'confirm',
          'return_url',
        ),
      )
    if (kind === 'payment_intents' && step === 'capture')
      return capture(intentById(id), fields('amount_to_capture', 'final_capture', 'metadata[]'))
    if (kind === 'payment_intents' && step === 'cancel') return cancel(intentById(id), fields('cancellation_reason'))
    if (kind === 'refunds' && id === '') return createRefund(fields('payment_intent', 'charge', 'amount', 'metadata[]', 'reason'))
    if (kind === 'payment_methods' && id === '') {
      const sent = fields('type', 'card[token]')
      const token = sent.get('card[token]') ?? ''
      if (sent.get('type') !== 'card' || !/^tok_\w+$/.test(token)) throw notFound('token', 'card[token]', 400)
      if (token === 'tok_expired') throw new Refused(402, { type: 'card_error', code: 'expired_card', message: 'expired' }, true)
      const method = nextId('pm')
      methods.set(method, token)
      return { id: method, object: 'payment_method', type: 'card', livemode: false }
    }
    throw new Refused(404, { type: 'invalid_request_error', message: `Unrecognized request URL (POST: ${request.path})` })
  }

  async function runSafely(run: () => Json): Promise<{ response: ApiAnswer; stored: boolean }> {
    const wait = pause
    pause = undefined
    await wait?.()
    try {
      return { response: { status: 200, json: run() }, stored: true }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { response: { status: error.status, json: { error: error.error } }, stored: error.stored }
    }
  }

  async function once(request: ApiRequest, key: string): Promise<ApiAnswer> {
    const fingerprint = fingerprintOf(request.path, request.body)
    const earlier = storedResponses.get(key)
    if (earlier && earlier.fingerprint !== fingerprint)
      return {
        status: 400,
        json: { error: { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters' } },
      }
    if (earlier) return { ...earlier.response, headers: { 'idempotent-replayed': 'true' } }
    if (keysInProgress.has(key))
      return { status: 409, json: { error: { type: 'invalid_request_error', code: 'idempotency_key_in_use', message: 'in use' } } }
    keysInProgress.add(key)
    const { response, stored } = await runSafely(() => work(request)).finally(() => keysInProgress.delete(key))
    if (stored) storedResponses.set(key, { fingerprint, response })
    return response
  }

  async function answer(request: ApiRequest): Promise<ApiAnswer> {
    const { method, headers } = request
    if (headers.get('authorization') !== `Bearer ${secretKey}`)
      return {
        status: 401,
        json: {
          error: { type: 'invalid_request_error', message: `Invalid API Key provided: ${headers.get('authorization')?.slice(7, 15)}***` },
        },
      }
    if (headers.get('stripe-version') !== stripeServerVersion)
      return { status: 400, json: { error: { type: 'invalid_request_error', message: 'Invalid Stripe API version' } } }
    const key = headers.get('idempotency-key')
    if (method === 'GET')
      return key === null && request.body === ''
        ? (await runSafely(() => read(request))).response
        : { status: 400, json: { error: { type: 'invalid_request_error', message: 'GET' } } }
    if (method !== 'POST') return { status: 404, json: { error: { type: 'invalid_request_error', message: 'Unrecognized request URL' } } }
    if (headers.get('content-type') !== 'application/x-www-form-urlencoded')
      return { status: 400, json: { error: { type: 'invalid_request_error', message: 'Invalid content type' } } }
    if (key !== null && (key === '' || key.length > 255))
      return { status: 400, json: { error: { type: 'invalid_request_error', message: 'idempotency key' } } }
    return key === null ? (await runSafely(() => work(request))).response : once(request, key)
  }

  /** The page of the shopper's bank. Authentication always succeeds. */
  function bank(method: string, id: string): ApiAnswer {
    const intent = intents.get(id)
    const to = intent?.next_action?.['redirect_to_url'] as { return_url: string } | undefined
    if (!intent || !to) return nothingToPay
    if (method !== 'POST') return payPage('The bank of the card', 'It asks whether it is you', 'It is')
    authorize(intent)
    const back = new URL(to.return_url)
    back.searchParams.set('payment_intent', id)
    return afterPaying('The bank of the card', back.href)
  }

  /** Simulates Stripe's component on the shop's page, which pays with the client secret. */
  function element(method: string, secret: string): ApiAnswer {
    const intent = [...intents.values()].find(
      ({ client_secret, status }) => client_secret === secret && status === 'requires_payment_method',
    )
    if (!intent) return nothingToPay
    if (method !== 'POST')
      return payPage('Stripe', `A card pays ${intent.amount} of the smallest units of ${intent.currency.toUpperCase()}`)
    authorize(intent)
    return afterPaying('Stripe')
  }

  function pageOf({ method, path }: ApiRequest): ApiAnswer | undefined {
    const [, kind, id = ''] = /^\/(3ds|pay)\/(\w+)$/.exec(path) ?? []
    if (kind === undefined) return undefined
    return kind === 'pay' ? element(method, id) : bank(method, id)
  }

  const server = await serveStandIn((request) => pageOf(request) ?? answer(request), watch)
  return {
    ...server,
    intents,
    refunds,
    refundOutcomes,
    events,
    /** Blocks the next request until `release` is called. `held` resolves when the request arrives. */
    hold() {
      const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      pause = () => {
        held.resolve()
        return released.promise
      }
      return { held: held.promise, release: released.resolve }
    },
    /** Stores a failure as the response of a key; `done`: although the request took effect. */
    storeFailure(key: string, path: string, fields: Record<string, string>, { done = false } = {}) {
      const body = new URLSearchParams(fields).toString()
      if (done) work({ method: 'POST', path, body, query: new URLSearchParams(), headers: new Headers(), json: undefined })
      const response = { status: 500, json: { error: { type: 'api_error', message: 'An error occurred' } } }
      storedResponses.set(key, { fingerprint: fingerprintOf(path, body), response })
    },
    /** Forgets all idempotency keys, as after a day. */
    forgetKeys: () => storedResponses.clear(),
    page: {
      pay(id: string, method = 'pm_card_visa') {
        try {
          confirm(intentById(id), method, 'https://shop.example/back')
        } catch (error) {
          if (!(error instanceof Refused)) throw error
        }
      },
      authenticate: (id: string) => authorize(intentById(id)),
    },
    /** Expires an authorization, as after seven days. */
    lapse: (id: string) =>
      void Object.assign(intentById(id), { status: 'canceled', amount_capturable: 0, cancellation_reason: 'automatic' }),
    /** Captures in Stripe's dashboard. */
    captureElsewhere: (id: string, amount: number) => captureAmount(intentById(id), amount),
    refundElsewhere(id: string, amount: number) {
      createRefund(
        new Map([
          ['payment_intent', id],
          ['amount', String(amount)],
        ]),
      )
    },
    settleRefund(id: string, status: string, failureReason?: string) {
      const refund = refunds.get(id)
      Object.assign(refund ?? {}, { status, ...(failureReason ? { failure_reason: failureReason } : {}) })
      emit(status === 'failed' ? 'refund.failed' : 'refund.updated', { object: 'refund', ...refund })
    },
    dispute(id: string, type: string, status: string) {
      const { amount, currency, charge } = intentById(id)
      emit(`charge.dispute.${type}`, {
        id: 'dp_standin',
        object: 'dispute',
        amount,
        currency,
        charge: charge?.id,
        payment_intent: id,
        status,
      })
    },
    sent,
  }
}
