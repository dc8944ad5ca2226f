/**
 * Simulates Stripe by its reference (docs.stripe.com/api, version 2026-10-28.endive): the parts that souk uses, with
 * all checks of requests, idempotency and signed events.
 */
import { afterPaying, nothingToPay, payPage } from './page.ts'
import { type ApiAnswer, type ApiRequest, type Message, serveStandIn, type Watch } from './server.ts'
import { amountIn, type Intent, invalid, type Json, metadataIn, missing, parse, type Refund, Refused, signature } from './stripe-rules.ts'

type Stored = { print: string; told: ApiAnswer }

export const stripeServerVersion = '2026-10-28.endive'

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
  /** How many names were given already: a stand-in that starts anew gives none of them again. */
  made?: number
  /** Hears every event. */
  tell?: (message: Message) => void
  watch?: Watch
} = {}) {
  const intents = new Map<string, Intent>()
  const refunds = new Map<string, Refund>()
  const methods = new Map<string, string>()
  const kept = new Map<string, Stored>()
  const working = new Set<string>()
  const events: Json[] = []
  /** What becomes of the next refunds; otherwise they succeed. */
  const refundOutcomes: string[] = []
  /** Whoever works at the next request waits for this. */
  let pause: (() => Promise<void>) | undefined
  const nextId = (prefix: string) => `${prefix}_standin${String(++made).padStart(6, '0')}`
  const seconds = () => Math.floor(now() / 1000)

  function emit(type: string, object: unknown): void {
    const about = { api_version: stripeServerVersion, created: seconds(), livemode: false, type, data: { object } }
    const event = { id: nextId('evt'), object: 'event', ...about }
    events.push(event)
    tell?.(sent(event))
  }

  /** An event as it is sent: its raw body, and signed now or then. */
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

  function seen({ charge, ...intent }: Intent, expanded = false): Json {
    const latest = chargeOf({ charge, ...intent })
    return { object: 'payment_intent', livemode: false, ...intent, latest_charge: expanded ? (latest ?? null) : (latest?.id ?? null) }
  }

  function authorize(intent: Intent): void {
    intent.charge = { id: nextId('ch'), amount_refunded: 0 }
    intent.last_payment_error = null
    intent.next_action = null
    if (intent.capture_method === 'manual') {
      Object.assign(intent, { status: 'requires_capture', amount_capturable: intent.amount })
      emit('payment_intent.amount_capturable_updated', seen(intent))
    } else take(intent, intent.amount)
  }

  function take(intent: Intent, amount: number): void {
    Object.assign(intent, { status: 'succeeded', amount_capturable: 0, amount_received: amount })
    emit('payment_intent.succeeded', seen(intent))
    emit('charge.captured', chargeOf(intent))
  }

  function decline(intent: Intent): Refused {
    intent.charge = { id: nextId('ch'), amount_refunded: 0 }
    const error = { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds', message: 'Your card was declined.' }
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error, next_action: null })
    emit('payment_intent.payment_failed', seen(intent))
    return new Refused(402, { ...error, charge: intent.charge.id, payment_intent: seen(intent) }, true)
  }

  /** What test payment methods do. */
  function confirm(intent: Intent, method: string, returnUrl: string | undefined): void {
    if (/chargeDeclined/.test(method)) throw decline(intent)
    if (/authenticationRequired/.test(method)) {
      const redirect = { url: `${server.url}/3ds/${intent.id}`, return_url: returnUrl ?? null }
      Object.assign(intent, {
        status: 'requires_action',
        next_action: returnUrl ? { type: 'redirect_to_url', redirect_to_url: redirect } : { type: 'use_stripe_sdk' },
      })
      emit('payment_intent.requires_action', seen(intent))
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
    if (method !== undefined && !/^pm_card_\w+$/.test(method) && !methods.has(method)) throw missing('PaymentMethod', 'payment_method', 400)
    if (token !== undefined && !/^ctoken_\w+$/.test(token)) throw missing('confirmation_token', 'confirmation_token', 400)
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
    emit('payment_intent.created', seen(intent))
    if (isConfirmed) confirm(intent, method === undefined ? (token ?? '') : (methods.get(method) ?? method), returnUrl)
    return seen(intent)
  }

  const unexpected = (intent: Intent, step: string) =>
    invalid(`This PaymentIntent's status is ${intent.status}: cannot ${step}`, {
      code: 'payment_intent_unexpected_state',
      payment_intent: seen(intent),
    })

  function capture(intent: Intent, fields: Map<string, string>): Json {
    if (intent.status !== 'requires_capture') throw unexpected(intent, 'capture')
    const amount = fields.has('amount_to_capture') ? amountIn(fields.get('amount_to_capture'), intent.currency) : intent.amount_capturable
    if (amount > intent.amount_capturable)
      throw invalid('more than is capturable', { code: 'amount_too_large', param: 'amount_to_capture' })
    take(intent, amount)
    return seen(intent)
  }

  function cancel(intent: Intent, fields: Map<string, string>): Json {
    const reason = fields.get('cancellation_reason') ?? null
    if (reason !== null && !['abandoned', 'duplicate', 'requested_by_customer', 'fraudulent'].includes(reason))
      throw invalid('cancellation_reason')
    if (['succeeded', 'canceled', 'processing'].includes(intent.status)) throw unexpected(intent, 'cancel')
    Object.assign(intent, { status: 'canceled', amount_capturable: 0, cancellation_reason: reason })
    emit('payment_intent.canceled', seen(intent))
    return seen(intent)
  }

  function createRefund(fields: Map<string, string>): Json {
    const intent = intents.get(fields.get('payment_intent') ?? '')
    if (!intent) throw missing('payment_intent', 'payment_intent')
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

  function list(asked: ApiRequest, items: readonly (Json & { id: string })[], more: readonly string[]): Json {
    const fields = parse([...asked.query], ['limit', 'starting_after', 'ending_before', 'expand[]', ...more])
    const limit = Number(fields.get('limit') ?? 10)
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw invalid('limit', { param: 'limit' })
    const newestFirst = [...items].reverse()
    const after = fields.get('starting_after')
    const from = after === undefined ? 0 : newestFirst.findIndex(({ id }) => id === after) + 1
    if (after !== undefined && from === 0) throw missing('item', 'starting_after', 400)
    return { object: 'list', url: asked.path, has_more: newestFirst.length > from + limit, data: newestFirst.slice(from, from + limit) }
  }

  function listIntents(asked: ApiRequest): Json {
    const since = Number(asked.query.get('created[gte]') ?? 0)
    const expanded = [...asked.query].some(([name, value]) => name.startsWith('expand[') && value === 'data.latest_charge')
    const items = [...intents.values()].filter(({ created }) => created >= since)
    return list(
      asked,
      items.map((intent) => ({ ...seen(intent, expanded), id: intent.id })),
      ['created[gte]'],
    )
  }

  function listRefunds(asked: ApiRequest): Json {
    const of = asked.query.get('payment_intent')
    if (of !== null && !intents.has(of)) throw missing('payment_intent', 'payment_intent')
    return list(
      asked,
      [...refunds.values()]
        .filter((refund) => of === null || refund.payment_intent === of)
        .map((refund) => ({ object: 'refund', ...refund })),
      ['payment_intent'],
    )
  }

  const named = (id: string): Intent => {
    const intent = intents.get(id)
    if (!intent) throw missing('payment_intent', 'intent')
    return intent
  }

  function read(asked: ApiRequest): Json {
    const [, , kind, id] = asked.path.split('/')
    if (kind === 'balance' && id === undefined) return { object: 'balance', available: [], livemode: false, pending: [] }
    if (kind === 'payment_intents' && id === undefined) return listIntents(asked)
    if (kind === 'refunds' && id === undefined) return listRefunds(asked)
    const fields = parse([...asked.query], ['expand[]'])
    if (kind === 'payment_intents') return seen(named(id ?? ''), fields.get('expand[0]') === 'latest_charge')
    const refund = kind === 'refunds' ? refunds.get(id ?? '') : undefined
    if (!refund) throw missing(kind ?? 'path', 'id')
    return { object: 'refund', ...refund }
  }

  function work(asked: ApiRequest): Json {
    const [, , kind, id = '', step] = asked.path.split('/')
    const fields = (...names: string[]) => parse(new URLSearchParams(asked.body), ['expand[]', ...names])
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
      return capture(named(id), fields('amount_to_capture', 'final_capture', 'metadata[]'))
    if (kind === 'payment_intents' && step === 'cancel') return cancel(named(id), fields('cancellation_reason'))
    if (kind === 'refunds' && id === '') return createRefund(fields('payment_intent', 'charge', 'amount', 'metadata[]', 'reason'))
    if (kind === 'payment_methods' && id === '') {
      const sent = fields('type', 'card[token]')
      const token = sent.get('card[token]') ?? ''
      if (sent.get('type') !== 'card' || !/^tok_\w+$/.test(token)) throw missing('token', 'card[token]', 400)
      if (token === 'tok_expired') throw new Refused(402, { type: 'card_error', code: 'expired_card', message: 'expired' }, true)
      const method = nextId('pm')
      methods.set(method, token)
      return { id: method, object: 'payment_method', type: 'card', livemode: false }
    }
    throw new Refused(404, { type: 'invalid_request_error', message: `Unrecognized request URL (POST: ${asked.path})` })
  }

  async function tried(run: () => Json): Promise<{ told: ApiAnswer; stored: boolean }> {
    const wait = pause
    pause = undefined
    await wait?.()
    try {
      return { told: { status: 200, json: run() }, stored: true }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { told: { status: error.status, json: { error: error.error } }, stored: error.stored }
    }
  }

  async function once(asked: ApiRequest, key: string): Promise<ApiAnswer> {
    const print = `${asked.path}?${[...new URLSearchParams(asked.body)].map(String).sort()}`
    const before = kept.get(key)
    if (before && before.print !== print)
      return {
        status: 400,
        json: { error: { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters' } },
      }
    if (before) return { ...before.told, headers: { 'idempotent-replayed': 'true' } }
    if (working.has(key))
      return { status: 409, json: { error: { type: 'invalid_request_error', code: 'idempotency_key_in_use', message: 'in use' } } }
    working.add(key)
    const { told, stored } = await tried(() => work(asked)).finally(() => working.delete(key))
    if (stored) kept.set(key, { print, told })
    return told
  }

  async function answer(asked: ApiRequest): Promise<ApiAnswer> {
    const { method, headers } = asked
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
      return key === null && asked.body === ''
        ? (await tried(() => read(asked))).told
        : { status: 400, json: { error: { type: 'invalid_request_error', message: 'GET' } } }
    if (method !== 'POST') return { status: 404, json: { error: { type: 'invalid_request_error', message: 'Unrecognized request URL' } } }
    if (headers.get('content-type') !== 'application/x-www-form-urlencoded')
      return { status: 400, json: { error: { type: 'invalid_request_error', message: 'Invalid content type' } } }
    if (key !== null && (key === '' || key.length > 255))
      return { status: 400, json: { error: { type: 'invalid_request_error', message: 'idempotency key' } } }
    return key === null ? (await tried(() => work(asked))).told : once(asked, key)
  }

  /** The page of the shopper's bank: it knows whoever comes, and sends them back. */
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

  /** What Stripe's library does in the shop's own page, with the client secret. */
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

  const server = await serveStandIn((asked) => pageOf(asked) ?? answer(asked), watch)
  return {
    ...server,
    intents,
    refunds,
    refundOutcomes,
    events,
    /** Lets the next request be worked at until it is released. */
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
      const print = `${path}?${[...new URLSearchParams(body)].map(String).sort()}`
      kept.set(key, { print, told: { status: 500, json: { error: { type: 'api_error', message: 'An error occurred' } } } })
    },
    /** Keys live a day. */
    forgetKeys: () => kept.clear(),
    /** What the shopper's page does with the client secret. */
    page: {
      pay(id: string, method = 'pm_card_visa') {
        try {
          confirm(named(id), method, 'https://shop.example/back')
        } catch (error) {
          if (!(error instanceof Refused)) throw error
        }
      },
      authenticate: (id: string) => authorize(named(id)),
    },
    /** Seven days pass. */
    lapse: (id: string) => void Object.assign(named(id), { status: 'canceled', amount_capturable: 0, cancellation_reason: 'automatic' }),
    /** What somebody does at Stripe's own page. */
    captureElsewhere: (id: string, amount: number) => take(named(id), amount),
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
      const { amount, currency, charge } = named(id)
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
