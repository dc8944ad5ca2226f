/**
 * Simulates Tap by its documentation. Checks every request; amounts are JSON numbers with the decimals of a Java
 * double. A repeated key returns the first response.
 */
import { createHmac } from 'node:crypto'
import { afterPaying, nothingToPay, payPage } from './page.ts'
import { type ApiAnswer, type ApiRequest, callOnThisMachine, type Message, serveStandIn, type Watch } from './server.ts'

export const tapKeys = {
  secretKey: 'sk_test_XKokBfNWv6FIYuTMg5sLPjhJ',
  publishableKey: 'pk_test_EtHFV4BuPQokJT6jiROls87Y',
  merchantId: '25145693',
}

type Json = Record<string, unknown>
type Kind = 'authorize' | 'charge' | 'refund'
type TapObject = {
  id: string
  kind: Kind
  status: string
  code: string
  /** In major units, with the decimals of the request. */
  amount: string
  currency: string
  created: string
  body: Json
  /** Id of the charge that is refunded, or of the authorization that is captured. */
  of?: string
  paid: boolean
}
type Pay = 'good' | 'declined' | 'abandoned' | 'failed' | 'in progress'

const decimals: Readonly<Record<string, number>> = { BHD: 3, JOD: 3, KWD: 3, OMR: 3, TND: 3 }
const currencies = ['AED', 'BHD', 'EGP', 'EUR', 'GBP', 'JOD', 'KWD', 'OMR', 'QAR', 'SAR', 'TND', 'USD']
const localSources = ['src_kw.knet', 'src_sa.mada', 'src_bh.benefit', 'src_qa.qpay']
const outcomes: Readonly<Record<Pay, readonly [status: string, code: string]>> = {
  good: ['', ''],
  declined: ['DECLINED', '505'],
  abandoned: ['ABANDONED', '301'],
  failed: ['FAILED', '401'],
  'in progress': ['IN_PROGRESS', '200'],
}

class Invalid extends Error {}

/** Starts the stand-in on a free loopback port. */
export async function startTapServer({
  made = 0,
  refundsAtOnce = false,
  watch,
}: {
  /** Number of ids that earlier runs used: a restarted stand-in must not reuse ids. */
  made?: number
  /** Whether refunds are executed immediately. */
  refundsAtOnce?: boolean
  watch?: Watch
} = {}) {
  const objects = new Map<string, TapObject>()
  const storedResponses = new Map<string, string>()
  const tokens = new Map<string, Pay>()
  let count = made
  let refundsGo: readonly [status: string, code: string] = ['REFUNDED', '000']
  let capturesDecline = false
  let { secretKey } = tapKeys

  const newId = (prefix: string): string => `${prefix}_TS05A4120230736x9K2${String(++count).padStart(7, '0')}`
  const all = (kind: Kind): TapObject[] => [...objects.values()].filter((object) => object.kind === kind).toReversed()

  function add(kind: Kind, body: Json, more: Partial<TapObject>): TapObject {
    const id = newId({ authorize: 'auth', charge: 'chg', refund: 're' }[kind])
    const created = String(1_698_392_202_943 + ++count)
    const amount = String(body['amount'])
    const currency = String(body['currency'])
    const object = { id, kind, status: 'INITIATED', code: '100', amount, currency, created, body, paid: false, ...more }
    objects.set(id, object)
    return object
  }

  /** Returns an object as JSON, with `1` written as `1.0`. */
  function jsonOf(object: TapObject): string {
    const { id, kind, status, code, amount, currency, created, body, of } = object
    const double = `@${amount.includes('.') ? amount : `${amount}.0`}@`
    const given = body['reference'] as Json
    const references = { track: `tck_${id}`, payment: `43${created}`, gateway: `gw${created}`, acquirer: '230004002581' }
    const common = { id, object: kind, live_mode: false, api_version: 'V2', status, amount: double, currency }
    const response = { code, message: status }
    if (kind === 'refund') {
      const reference = { ...given, payment: references.payment, gateway: references.gateway }
      return stringify({ ...common, charge_id: of, created, reference, response, reason: body['reason'] })
    }
    const waits = status === 'INITIATED'
    return stringify({
      ...common,
      threeDSecure: true,
      transaction: {
        timezone: 'UTC+03:00',
        created,
        expiry: { period: 30, type: 'MINUTE' },
        amount: double,
        currency,
        ...(waits ? { url: `${server.url}/pay/${id}` } : {}),
      },
      reference: { ...given, ...(waits ? {} : references) },
      response,
      customer: { id: `cus_${id.slice(-7)}`, ...(body['customer'] as Json) },
      source: { object: 'source', id: (body['source'] as Json)['id'] },
      ...(body['redirect'] ? { redirect: { status: 'PENDING', ...(body['redirect'] as Json) } } : {}),
      ...(body['post'] ? { post: { status: 'PENDING', ...(body['post'] as Json) } } : {}),
    })
  }

  function answer(request: ApiRequest): ApiAnswer {
    const [, paying] = /^\/pay\/(\w+)$/.exec(request.path) ?? []
    if (paying !== undefined) return page(request.method, paying)
    if (request.headers.get('authorization') !== `Bearer ${secretKey}`) return failed(401, '2107', 'Invalid API key')
    try {
      return checked(request)
    } catch (error) {
      if (error instanceof Invalid) return failed(400, '1101', error.message)
      throw error
    }
  }

  /** The payment page. The payment always succeeds. */
  function page(method: string, id: string): ApiAnswer {
    const object = objects.get(id)
    if (object?.status !== 'INITIATED') return nothingToPay
    if (method !== 'POST') return payPage('Tap', `You pay ${object.amount} ${object.currency}`)
    settle(object, 'good')
    tell(object)
    return afterPaying('Tap', String((object.body['redirect'] as Json)['url']))
  }

  /** Sends a message to the URL of the request. */
  function tell(object: TapObject): void {
    const url = String((object.body['post'] as Json | undefined)?.['url'])
    callOnThisMachine(
      url,
      tapMessage(object, jsonOf(object), (json) => json, secretKey),
    )
  }

  function checked(request: ApiRequest): ApiAnswer {
    const { method, path, body } = request
    if (request.query.size > 0) throw new Invalid('query')
    if (method === 'GET') {
      const [, folder = '', id = ''] = /^\/v2\/(charges|authorize|refunds)\/(\w+)$/.exec(path) ?? []
      const object = objects.get(id)
      if (!object || { charge: 'charges', authorize: 'authorize', refund: 'refunds' }[object.kind] !== folder)
        return failed(404, '1124', 'no such object')
      if (body !== '') throw new Invalid('body')
      return { status: 200, json: jsonOf(object) }
    }
    if (method !== 'POST' || request.headers.get('content-type') !== 'application/json') return failed(404, '', 'Request not found')
    const json = parsed(body)
    const [, authorization] = /^\/v2\/authorize\/(\w+)\/void$/.exec(path) ?? []
    if (authorization !== undefined) return voidOf(authorization, json)
    if (path === '/v2/tokens') return exchange(json)
    if (path === '/v2/charges/list') return listOf('charge', json, all('charge'))
    if (path === '/v2/refunds/list') return refundsOf(json)
    const make = { '/v2/authorize/': authorize, '/v2/charges/': charge, '/v2/refunds/': refund }[path]
    if (make === undefined) return failed(404, '', 'Request not found')
    const key = (json['reference'] as Json | undefined)?.['idempotent']
    if (typeof key !== 'string' || key === '') throw new Invalid('reference.idempotent')
    amountOf(json, body)
    const first = storedResponses.get(key)
    if (first !== undefined) return { status: 200, json: first }
    const text = jsonOf(make(json))
    storedResponses.set(key, text)
    return { status: 200, json: text }
  }

  function begin(kind: 'authorize' | 'charge', json: Json): TapObject {
    fields(
      json,
      ['amount', 'currency', 'customer', 'source', 'redirect', 'reference'],
      ['threeDSecure', 'post', 'description', 'metadata', 'receipt', 'merchant', ...(kind === 'authorize' ? ['auto'] : [])],
    )
    const customer = json['customer'] as Json
    if (customer['id'] === undefined) fields(customer, ['first_name', 'email'], ['last_name', 'phone'])
    fields(json['redirect'] as Json, ['url'], [])
    if (json['post']) fields(json['post'] as Json, ['url'], [])
    const auto = json['auto'] as Json | undefined
    if (auto && (auto['type'] !== 'VOID' || !(Number(auto['time']) >= 1 && Number(auto['time']) <= 168))) throw new Invalid('auto')
    return add(kind, json, {})
  }

  function authorize(json: Json): TapObject {
    const source = sourceOf(json)
    if (source !== 'src_card' && !source.startsWith('tok_')) throw new Invalid('source')
    const object = begin('authorize', json)
    if (tokens.has(source)) settle(object, tokens.get(source) ?? 'good')
    return object
  }

  function charge(json: Json): TapObject {
    const source = sourceOf(json)
    if (source.startsWith('auth_')) return capture(json, source)
    if (!localSources.includes(source) && !source.startsWith('tok_')) throw new Invalid('source')
    return begin('charge', json)
  }

  function capture(json: Json, source: string): TapObject {
    fields(
      json,
      ['amount', 'currency', 'customer', 'source', 'reference'],
      ['post', 'threeDSecure', 'customer_initiated', 'merchant', 'redirect'],
    )
    const authorization = objects.get(source)
    if (authorization?.kind !== 'authorize' || authorization.status !== 'AUTHORIZED') throw new Invalid('authorization cannot be captured')
    if (json['threeDSecure'] === false || json['customer_initiated'] === false) throw new Invalid('threeDSecure')
    if (Number(json['amount']) > Number(authorization.amount) || json['currency'] !== authorization.currency) throw new Invalid('amount')
    if ((json['customer'] as Json)['id'] !== `cus_${source.slice(-7)}`) throw new Invalid('customer.id')
    const captured = add('charge', json, { of: source })
    const declined = capturesDecline
    capturesDecline = false
    settle(captured, declined ? 'declined' : 'good')
    return captured
  }

  function refund(json: Json): TapObject {
    fields(json, ['charge_id', 'amount', 'currency', 'reason', 'reference'], ['post', 'metadata', 'description'])
    const charged = objects.get(String(json['charge_id']))
    if (charged?.kind !== 'charge' || charged.status !== 'CAPTURED') throw new Invalid('charge cannot be refunded')
    const back = all('refund')
      .filter(({ of, status }) => of === charged.id && !['DECLINED', 'FAILED'].includes(status))
      .reduce((sum, { amount }) => sum + Number(amount), 0)
    if (back + Number(json['amount']) > Number(charged.amount) + 0.0001 || json['currency'] !== charged.currency)
      throw new Invalid('amount')
    const [status, code] = refundsAtOnce ? refundsGo : ['PENDING', '200']
    return add('refund', json, { status, code, of: charged.id })
  }

  function voidOf(id: string, json: Json): ApiAnswer {
    fields(json, [], [])
    const object = objects.get(id)
    if (object?.kind !== 'authorize') return failed(404, '1124', 'no such object')
    const wasCaptured = all('charge').some(({ of, status }) => of === id && status === 'CAPTURED')
    if (object.status !== 'AUTHORIZED' || wasCaptured) throw new Invalid('cannot be voided')
    Object.assign(object, { status: 'VOID', code: '601' })
    return { status: 200, json: jsonOf(object) }
  }

  function exchange(json: Json): ApiAnswer {
    fields(json, ['type', 'token_data'], ['client_ip'])
    if (json['type'] !== 'applepay' && json['type'] !== 'googlepay') throw new Invalid('type')
    const id = newId('tok')
    tokens.set(id, 'good')
    return { status: 200, json: { id, object: 'token', type: json['type'], used: false } }
  }

  function listOf(kind: Kind, json: Json, found: readonly TapObject[]): ApiAnswer {
    fields(json, ['limit'], ['starting_after', 'period', 'status', ...(kind === 'refund' ? ['charges'] : [])])
    const limit = Number(json['limit'])
    if (!(limit >= 1 && limit <= 50)) throw new Invalid('limit')
    const name = `${kind}s`
    if (found.length === 0) return { status: 400, json: { message: `${name[0]?.toUpperCase()}${name.slice(1)} not found` } }
    const start = json['starting_after'] === undefined ? 0 : found.findIndex(({ id }) => id === json['starting_after']) + 1
    const items = found.slice(start, start + limit).map(jsonOf)
    const more = start + limit < found.length
    return { status: 200, json: `{"object":"list","count":${found.length},"has_more":${more},"${name}":[${items.join()}]}` }
  }

  function refundsOf(json: Json): ApiAnswer {
    const { charges } = json
    const found = all('refund').filter(({ of }) => !Array.isArray(charges) || charges.includes(of))
    return listOf('refund', json, found)
  }

  function settle(object: TapObject, how: Pay): void {
    const good = object.kind === 'authorize' ? (['AUTHORIZED', '001'] as const) : (['CAPTURED', '000'] as const)
    const [status, code] = how === 'good' ? good : outcomes[how]
    Object.assign(object, { status, code, paid: how === 'good' })
  }

  const server = await serveStandIn(answer, watch)
  const objectById = (id: string): TapObject => {
    const object = objects.get(id)
    if (!object) throw new Error('no such object')
    return object
  }
  return {
    ...server,
    apiUrl: `${server.url}/v2`,
    ...tapKeys,
    objects,
    all,
    /** Ends the payment on the page with this result. */
    pay(id: string, how: Pay = 'good'): void {
      const object = objectById(id)
      if (object.status !== 'INITIATED' && object.status !== 'IN_PROGRESS') throw new Error('nobody waits for it')
      settle(object, how)
    },
    /** Executes all pending refunds. */
    settleRefunds(): void {
      for (const object of all('refund'))
        if (object.status === 'PENDING') Object.assign(object, { status: refundsGo[0], code: refundsGo[1] })
    },
    refundsEnd(status: string, code: string): void {
      refundsGo = [status, code]
    },
    declineCapture(): void {
      capturesDecline = true
    },
    /** Replaces the secret key. The old one is refused immediately. */
    rotate(next: string): void {
      secretKey = next
    },
    /** Creates a charge that is not souk's. */
    createForeignCharge: () =>
      add(
        'charge',
        { amount: 5, currency: 'SAR', source: { id: 'src_all' }, reference: { transaction: 'other' }, customer: {} },
        { status: 'CAPTURED', code: '000' },
      ),
    /** Forgets all idempotency keys, as after a day. */
    forgetKeys: () => storedResponses.clear(),
    /** Creates the message about an object. `change` alters it after signing. */
    message: (id: string, change: (body: Json) => Json = (body) => body, key = secretKey) =>
      tapMessage(objectById(id), jsonOf(objectById(id)), change, key),
  }
}

/** Signs a message and then applies `change`. The body keeps the decimals of a Java double. */
function tapMessage(object: TapObject, text: string, change: (body: Json) => Json, key: string): Message {
  const json = JSON.parse(text) as Json
  const reference = json['reference'] as Json
  const created = object.kind === 'refund' ? json['created'] : (json['transaction'] as Json)['created']
  const amount = Number(object.amount).toFixed(decimals[object.currency] ?? 2)
  const signed =
    `x_id${json['id']}x_amount${amount}x_currency${object.currency}x_gateway_reference${reference['gateway'] ?? ''}` +
    `x_payment_reference${reference['payment'] ?? ''}x_status${json['status']}x_created${created}`
  const changed = change(structuredClone(json))
  const body = Bun.deepEquals(changed, json) ? text : JSON.stringify(changed)
  const hashstring = createHmac('sha256', key).update(signed).digest('hex')
  return { body: Buffer.from(body), headers: new Headers({ 'content-type': 'application/json', hashstring }) }
}

const stringify = (json: unknown): string => JSON.stringify(json).replace(/"@([\d.]+)@"/g, '$1')

const failed = (status: number, code: string, description: string): ApiAnswer => ({
  status,
  json: { errors: [{ code, description }] },
})

function parsed(text: string): Json {
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json === 'object' && json !== null) return json as Json
  } catch {}
  throw new Invalid('JSON')
}

function sourceOf(json: Json): string {
  const source = json['source'] as Json | undefined
  if (typeof source !== 'object') throw new Invalid('source')
  fields(source, ['id'], [])
  return String(source['id'])
}

/** Checks the amount in the raw text, because a parsed number would lose its decimals. */
function amountOf(json: Json, text: string): void {
  const [, fraction = ''] = /"amount":\d{1,15}(?:\.(\d+))?[,}]/.exec(text) ?? []
  const { amount, currency } = json
  if (typeof amount !== 'number' || amount <= 0 || !/"amount":\d{1,15}(\.\d+)?[,}]/.test(text)) throw new Invalid('amount')
  if (typeof currency !== 'string' || !currencies.includes(currency)) throw new Invalid('currency')
  if (fraction.length > (['BHD', 'KWD', 'OMR'].includes(currency) ? 3 : 2)) throw new Invalid('amount')
}

function fields(body: Json, required: readonly string[], optional: readonly string[]): void {
  for (const name of required) if (body[name] === undefined || body[name] === null) throw new Invalid(`${name} required`)
  for (const name of Object.keys(body)) if (![...required, ...optional].includes(name)) throw new Invalid(`${name} unknown`)
}
