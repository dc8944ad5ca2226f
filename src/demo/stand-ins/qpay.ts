/**
 * Simulates QPay of Mongolia, version 2, by its documentation and observed behaviour. Written from the reference, not
 * from the client.
 */
import { randomUUID } from 'node:crypto'
import { afterPaying, nothingToPay, payPage } from './page.ts'
import { type ApiAnswer, type ApiRequest, callOnThisMachine, type StandInServer, serveStandIn, type Watch } from './server.ts'

export type QpayServerOptions = {
  username?: string
  password?: string
  invoiceCode?: string
  now?: () => number
  /** Format of `expires_in`: a time as in the live API, or a duration as in some documentation. */
  expiresIn?: 'time' | 'duration'
  /** The live API's behaviour is unknown here, so tests run with each variant. */
  errorField?: 'error' | 'error_code'
  statusOncePaid?: 'OPEN' | 'CLOSED' | 'PAID'
  deletePaid?: 'refused' | 'accepted'
  /** The row of a refunded payment: its status, or `gone` if the check omits it. */
  refundedRow?: 'REFUNDED' | 'gone'
  amounts?: 'text' | 'number'
  /**
   * Whether the invoice's short URL is a payment page of this server. Payments then call the invoice's callback URL.
   */
  pages?: boolean
  watch?: Watch
}

type Payment = { id: string; status: 'PAID' | 'REFUNDED' | 'FAILED'; type: 'CARD' | 'P2P'; amount: number; currency: string }
type Invoice = { id: string; number: string; amount: number; callbackUrl: string; canceled: boolean; payments: Payment[] }

type QpayServer = StandInServer & {
  readonly account: { username: string; password: string; invoiceCode: string; apiUrl: string }
  /** Descriptions of all requests that violated the documentation. */
  readonly violations: readonly string[]
  readonly invoices: ReadonlyMap<string, Invoice>
  /** Number of issued tokens. */
  tokensGiven(): number
  /** Invalidates all issued tokens. */
  revokeTokens(): void
  /** Pays an invoice as a bank's app does, without the callback; see `callbackOf`. */
  pay(invoiceId: string, payment?: Partial<Omit<Payment, 'id'>>): string
  /** The callback URL of a payment, with QPay's parameter. */
  callbackOf(invoiceId: string, paymentId: string): string
}

const invoiceFields = {
  invoice_code: 'text',
  sender_invoice_no: 'text 45',
  invoice_receiver_code: 'text 45',
  invoice_description: 'text 255',
  amount: 'number',
  callback_url: 'text 255',
} as const
const tokenLifeSeconds = 86_400
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const apps = ['qpaywallet', 'khanbank', 'statebankmongolia', 'socialpay-payment']

/** Starts the stand-in on a free loopback port. */
export async function startQpayServer(options: QpayServerOptions = {}): Promise<QpayServer> {
  const { username = 'TEST_MERCHANT', password = 'pass:wörd', invoiceCode = 'TEST_INVOICE', now = Date.now } = options
  const { expiresIn = 'time', errorField = 'error', amounts = 'text' } = options
  const { statusOncePaid = 'CLOSED', deletePaid = 'refused', refundedRow = 'REFUNDED' } = options
  const violations: string[] = []
  const invoices = new Map<string, Invoice>()
  const tokens = new Map<string, number>()
  let tokenCount = 0

  const error = (status: number, code: string): ApiAnswer => ({
    status,
    json: { [errorField]: code, message: `${code}: secret details` },
  })
  const violation = (what: string): ApiAnswer => {
    violations.push(what)
    return error(400, 'INVALID_REQUEST')
  }
  const decimal = (amount: number) => (amounts === 'text' ? amount.toFixed(2) : amount)

  function token({ headers, body: text }: ApiRequest): ApiAnswer {
    if (text !== '') violations.push('a body where none is documented')
    const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    if (!headers.has('authorization')) return error(401, 'NO_CREDENDIALS')
    if (headers.get('authorization') !== expected) return error(401, 'AUTHENTICATION_FAILED')
    tokenCount++
    const access = `access-${tokenCount}-${randomUUID()}`
    const ends = Math.floor(now() / 1000) + tokenLifeSeconds
    tokens.set(access, ends)
    const expiry = expiresIn === 'time' ? ends : tokenLifeSeconds
    return {
      status: 200,
      json: {
        token_type: 'bearer',
        refresh_expires_in: expiry,
        refresh_token: `refresh-${tokenCount}`,
        access_token: access,
        expires_in: expiry,
        scope: 'get_token',
        'not-before-policy': '0',
        session_state: 'prod_new',
      },
    }
  }

  function create({ json, body: text }: ApiRequest): ApiAnswer {
    const wrong = wrongFields(json, invoiceFields)
    if (wrong) return violation(`invoice: ${wrong}`)
    const body = json as Record<keyof typeof invoiceFields, string> & { amount: number }
    if (!/"amount":[1-9]\d*[,}]/.test(text)) return error(422, 'INVALID_AMOUNT')
    if (body.invoice_code !== invoiceCode) return error(400, 'INVOICE_CODE_INVALID')
    if (!URL.canParse(body.callback_url)) return violation('callback_url is no address')
    // The live API accepts a repeated number and creates another payable invoice (observed).
    const id = randomUUID()
    const { sender_invoice_no: number, amount, callback_url: callbackUrl } = body
    invoices.set(id, { id, number, amount, callbackUrl, canceled: false, payments: [] })
    const qr = `0002010102121531279404962794049627${id}6304AE86`
    const urls = apps.map((app) => ({
      name: app,
      description: `${app} апп`,
      logo: `https://qpay.mn/q/logo/${app}.png`,
      link: `${app}://q?qPay_QRcode=${qr}`,
    }))
    return {
      status: 200,
      json: {
        invoice_id: id,
        qr_text: qr,
        qr_image: pixel,
        qPay_shortUrl: options.pages ? `${server.url}/s/${id}` : `https://s.qpay.mn/${id.slice(0, 10)}`,
        urls,
      },
    }
  }

  function check({ json }: ApiRequest): ApiAnswer {
    const wrong = wrongFields(json, { object_type: 'text', object_id: 'text', offset: 'object' })
    if (wrong) return violation(`check: ${wrong}`)
    const { object_type, object_id, offset } = json as { object_type: string; object_id: string; offset: Record<string, unknown> }
    if (object_type !== 'INVOICE') return error(400, 'INVALID_OBJECT_TYPE')
    const wrongOffset = wrongFields(offset, { page_number: 'number', page_limit: 'number' })
    if (wrongOffset || Number(offset['page_limit']) > 100) return violation(`check: offset ${wrongOffset ?? 'too large'}`)
    const listed = (invoices.get(object_id)?.payments ?? []).filter(({ status }) => status !== 'REFUNDED' || refundedRow !== 'gone')
    if (listed.length === 0) return { status: 200, json: { count: 0, rows: [] } }
    const rows = listed.map(({ id, status, type, amount, currency }) => ({
      payment_id: id,
      payment_status: status,
      payment_amount: decimal(amount),
      trx_fee: decimal(0),
      payment_currency: currency,
      payment_wallet: 'qPay wallet',
      payment_type: type,
      card_transactions: [],
      p2p_transactions: [],
    }))
    const paid = listed.filter(({ status }) => status === 'PAID').reduce((sum, { amount }) => sum + amount, 0)
    return { status: 200, json: { count: rows.length, paid_amount: paid, rows } }
  }

  function show(invoice: Invoice | undefined): ApiAnswer {
    if (!invoice) return error(404, 'INVOICE_NOTFOUND')
    const isPaid = paidOf(invoice) >= invoice.amount
    return {
      status: 200,
      json: {
        invoice_id: invoice.id,
        invoice_status: invoice.canceled ? 'CANCELED' : isPaid ? statusOncePaid : 'OPEN',
        sender_invoice_no: invoice.number,
        invoice_description: invoice.number,
        invoice_due_date: null,
        enable_expiry: false,
        expiry_date: '2026-09-06T17:07:48.599Z',
        allow_partial: false,
        minimum_amount: '0.00',
        allow_exceed: false,
        maximum_amount: '0.00',
        total_amount: invoice.amount.toFixed(2),
        gross_amount: invoice.amount,
        tax_amount: 0,
        surcharge_amount: 0,
        discount_amount: 0,
        callback_url: invoice.callbackUrl,
        lines: [],
        transactions: [],
      },
    }
  }

  function cancel(invoice: Invoice | undefined): ApiAnswer {
    if (!invoice) return error(404, 'INVOICE_NOTFOUND')
    if (invoice.canceled) return error(400, 'INVOICE_ALREADY_CANCELED')
    if (paidOf(invoice) >= invoice.amount && deletePaid === 'refused') return error(400, 'INVOICE_PAID')
    invoice.canceled = true
    return { status: 200, json: {} }
  }

  function refund(paymentId: string): ApiAnswer {
    const payment = [...invoices.values()].flatMap(({ payments }) => payments).find(({ id }) => id === paymentId)
    if (!payment || payment.status === 'FAILED') return error(404, 'PAYMENT_NOTFOUND')
    if (payment.type !== 'CARD') return error(400, 'TRANSACTION_NOT_APPROVED')
    if (payment.status === 'REFUNDED') return error(400, 'PAYMENT_ALREADY_CANCELED')
    payment.status = 'REFUNDED'
    return { status: 200, json: {} }
  }

  function showPayment(paymentId: string): ApiAnswer {
    for (const invoice of invoices.values())
      for (const { id, status, type, amount, currency } of invoice.payments)
        if (id === paymentId)
          return {
            status: 200,
            json: {
              payment_id: id,
              payment_status: status,
              payment_amount: decimal(amount),
              payment_fee: decimal(0),
              payment_currency: currency,
              payment_wallet: 'qPay wallet',
              transaction_type: type,
              object_type: 'INVOICE',
              object_id: invoice.id,
              card_transactions: [],
              p2p_transactions: [],
            },
          }
    return error(404, 'PAYMENT_NOTFOUND')
  }

  /** The page of the shopper's app: pays, and calls the invoice's callback URL. */
  function page(method: string, id: string): ApiAnswer {
    const invoice = invoices.get(id)
    if (!invoice || invoice.canceled || paidOf(invoice) >= invoice.amount) return nothingToPay
    if (method !== 'POST') return payPage('QPay', `Your app pays ${invoice.amount} MNT`)
    callOnThisMachine(callbackOf(id, pay(id, { type: 'CARD' })))
    return afterPaying('QPay')
  }

  function answer(request: ApiRequest): ApiAnswer {
    const { method, path, headers, body: text } = request
    const [, paying] = /^\/s\/([\w-]+)$/.exec(path) ?? []
    if (options.pages && paying !== undefined) return page(method, paying)
    const route = `${method} ${path}`
    if ([...request.query.keys()].length > 0) violations.push('a query where none is documented')
    if (route === 'POST /v2/auth/token') return token(request)
    const bearer = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1]
    if (bearer === undefined) return violation('no bearer token')
    if ((tokens.get(bearer) ?? 0) * 1000 <= now()) return error(401, 'AUTHENTICATION_FAILED')
    if (method === 'POST' && headers.get('content-type') !== 'application/json') return violation('not sent as JSON')
    if (method === 'GET' && text !== '') return violation('a body of a GET')
    if (route === 'POST /v2/invoice') return create(request)
    if (route === 'POST /v2/payment/check') return check(request)
    const [, resource, id = ''] = /^\/v2\/(invoice|payment\/refund)\/([\w-]+)$/.exec(path) ?? []
    const [, paid] = /^\/v2\/payment\/([\w-]+)$/.exec(path) ?? []
    if (paid !== undefined && method === 'GET') return showPayment(paid)
    if (resource === 'invoice' && method === 'GET') return show(invoices.get(id))
    if (resource === 'invoice' && method === 'DELETE') return cancel(invoices.get(id))
    if (resource === 'payment/refund' && method === 'DELETE') {
      const wrong = text === '' ? undefined : wrongFields(request.json, {}, ['callback_url', 'note'])
      return wrong ? violation(`refund: ${wrong}`) : refund(id)
    }
    return violation(`there is no ${route}`)
  }

  const server = await serveStandIn(answer, options.watch)
  const invoiceById = (id: string) => {
    const invoice = invoices.get(id)
    if (!invoice) throw new Error('no such invoice')
    return invoice
  }
  function pay(invoiceId: string, payment: Partial<Omit<Payment, 'id'>> = {}): string {
    const invoice = invoiceById(invoiceId)
    if (invoice.canceled) throw new Error('a canceled invoice cannot be paid')
    const id = randomUUID()
    invoice.payments.push({ id, status: 'PAID', type: 'P2P', amount: invoice.amount, currency: 'MNT', ...payment })
    return id
  }
  function callbackOf(invoiceId: string, paymentId: string): string {
    const url = new URL(invoiceById(invoiceId).callbackUrl)
    url.searchParams.append('qpay_payment_id', paymentId)
    return url.href
  }
  return {
    ...server,
    account: { username, password, invoiceCode, apiUrl: `${server.url}/v2` },
    violations,
    invoices,
    tokensGiven: () => tokenCount,
    revokeTokens: () => tokens.clear(),
    pay,
    callbackOf,
  }
}

const paidOf = ({ payments }: Invoice) => payments.reduce((sum, { status, amount }) => sum + (status === 'PAID' ? amount : 0), 0)

/** Returns what is wrong with a body; undefined if it has all required fields and no unknown one. */
function wrongFields(body: unknown, required: Readonly<Record<string, string>>, optional: readonly string[] = []): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'no object'
  const unknown = Object.keys(body).find((name) => !(name in required) && !optional.includes(name))
  if (unknown !== undefined) return `unknown field ${unknown}`
  for (const [name, rule] of Object.entries(required)) {
    const value = (body as Record<string, unknown>)[name]
    const [kind, max = '10000'] = rule.split(' ')
    if (kind === 'object' ? typeof value !== 'object' || value === null : typeof value !== (kind === 'text' ? 'string' : kind))
      return `${name} is no ${kind}`
    if (typeof value === 'string' && (value === '' || value.length > Number(max))) return `${name} is empty or too long`
  }
  return undefined
}
