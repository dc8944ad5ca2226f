/** Simulates BTCPay Server by its documentation and code (2.4). Written from the reference, not from the client. */
import { createHmac, randomUUID } from 'node:crypto'
import { afterPaying, nothingToPay, payPage } from './page.ts'
import { type ApiAnswer, type ApiRequest, type Message, type StandInServer, serveStandIn, type Watch } from './server.ts'

export type BtcpayServerOptions = {
  storeId?: string
  apiKey?: string
  webhookSecret?: string
  now?: () => number
  /** Path prefix of all URLs. */
  under?: string
  /** Permissions of the API key. Default: all that souk needs. */
  permissions?: readonly string[]
  /** Format of amounts in responses: as sent, without trailing zeros, or with additional ones. */
  scale?: 'as sent' | 'short' | 'long'
  /** Number of decimals to which a new invoice's amount is rounded. */
  roundedTo?: number
  /** Whether responses contain `paidAmount`; servers before 2.1 omit it. */
  tellsPaid?: boolean
  /** Whether the server applies the filter by order id. */
  filters?: boolean
  synchronized?: boolean
  /** Called with the message when an invoice is paid on its page. */
  tell?: (message: Message) => void
  watch?: Watch
}

type Coin = { value: number; status: 'Processing' | 'Settled' | 'Invalid'; late: boolean }
type Invoice = {
  id: string
  amount: string
  currency: string
  orderId: string
  checkout: Record<string, unknown>
  createdAt: number
  status: 'New' | 'Processing' | 'Settled' | 'Expired' | 'Invalid'
  marked: boolean
  coins: Coin[]
}
type Claim = { id: string; invoiceId: string; name: string; amount: string; currency: string; archived: boolean; payouts: Payout[] }
type Payout = { id: string; amount: string; state: 'AwaitingApproval' | 'AwaitingPayment' | 'InProgress' | 'Completed' | 'Cancelled' }

type BtcpayServer = StandInServer & {
  readonly account: { apiUrl: string; storeId: string; apiKey: string; webhookSecret: string; mode: 'TEST' }
  readonly violations: readonly string[]
  readonly invoices: ReadonlyMap<string, Invoice>
  readonly claims: ReadonlyMap<string, Claim>
  /** Adds a payment of this value, confirmed or not. */
  pay(invoiceId: string, value: number, confirmed?: boolean): void
  /** Confirms or invalidates all payments of an invoice. */
  confirm(invoiceId: string, status?: 'Settled' | 'Invalid'): void
  expire(invoiceId: string): void
  /** Simulates a manual change of the status. */
  mark(invoiceId: string, status: 'Settled' | 'Invalid'): void
  redeem(claimId: string, amount: string, state?: Payout['state']): Payout
  archive(claimId: string): void
  /** Creates a signed message about an invoice. `redelivers` is the first delivery id of a redelivered message. */
  message(
    invoiceId: string,
    type: string,
    more?: { redelivers?: string; secret?: string; storeId?: string },
  ): Message & { deliveryId: string }
}

const allPermissions = [
  'canviewinvoices',
  'cancreateinvoice',
  'canmodifyinvoices',
  'cancreatenonapprovedpullpayments',
  'canviewpullpayments',
]
const decimal = /^\d+(\.\d+)?$/
const checkoutRules: Record<string, (value: unknown) => boolean> = {
  speedPolicy: (value) => ['HighSpeed', 'MediumSpeed', 'LowSpeed', 'LowMediumSpeed'].includes(value as string),
  expirationMinutes: (value) => typeof value === 'number' && value >= 1,
  monitoringMinutes: (value) => typeof value === 'number' && value >= 0,
  paymentTolerance: (value) => typeof value === 'number' && value >= 0 && value <= 100,
  redirectURL: (value) => typeof value === 'string' && URL.canParse(value),
  redirectAutomatically: (value) => typeof value === 'boolean',
}

/** Starts the stand-in on a free loopback port. */
export async function startBtcpayServer(options: BtcpayServerOptions = {}): Promise<BtcpayServer> {
  const { storeId = 'Store/1 ü', apiKey = 'key-0f3a', webhookSecret = 'hook-secret-ü', now = Date.now, under = '' } = options
  const { permissions = allPermissions, scale = 'as sent', tellsPaid = true, filters = true, synchronized = true } = options
  const violations: string[] = []
  const invoices = new Map<string, Invoice>()
  const claims = new Map<string, Claim>()

  const violation = (what: string): ApiAnswer => {
    violations.push(what)
    return { status: 400, json: { code: 'generic-error', message: what } }
  }
  const error = (status: number, code: string): ApiAnswer => ({ status, json: { code, message: `${code}: secret details` } })
  const invalid = (path: string): ApiAnswer => ({ status: 422, json: [{ path, message: 'secret details' }] })
  const scaled = (amount: string) =>
    scale === 'short' ? String(Number(amount)) : scale === 'long' ? `${amount}${amount.includes('.') ? '' : '.'}0000` : amount

  function invoiceJson(invoice: Invoice) {
    const { id, amount, currency, orderId, checkout, createdAt, status, marked, coins } = invoice
    const paid = paidOf(invoice)
    const late = coins.some((coin) => coin.late)
    const due = Number(amount)
    const additionalStatus = marked
      ? 'Marked'
      : paid > due
        ? 'PaidOver'
        : late && paid >= due
          ? 'PaidLate'
          : paid > 0 && paid < due
            ? 'PaidPartial'
            : 'None'
    return {
      id,
      storeId,
      amount: scaled(amount),
      ...(tellsPaid ? { paidAmount: scaled(String(paid)) } : {}),
      currency,
      type: 'Standard',
      checkoutLink: `${server.url}${under}/i/${id}`,
      createdTime: Math.floor(createdAt / 1000),
      expirationTime: Math.floor(createdAt / 1000) + 900,
      monitoringExpiration: Math.floor(createdAt / 1000) + 900 + 60 * Number(checkout['monitoringMinutes'] ?? 1440),
      status,
      additionalStatus,
      availableStatusesForManualMarking: canMarkInvalid(invoice) ? ['Settled', 'Invalid'] : [],
      archived: false,
      metadata: { orderId },
      checkout,
      receipt: { enabled: null, showQR: null, showPayments: null },
    }
  }

  function create({ json }: ApiRequest): ApiAnswer {
    const wrong = unknownField(json, ['amount', 'currency', 'metadata', 'checkout', 'receipt', 'additionalSearchTerms'])
    if (wrong !== undefined) return violation(`invoice: ${wrong}`)
    const { amount, currency, metadata, checkout = {} } = json as Record<string, unknown>
    if (typeof amount !== 'string' || !decimal.test(amount)) return violation('invoice: the amount is no decimal text')
    if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return invalid('currency')
    const orderId = (metadata as Record<string, unknown> | undefined)?.['orderId']
    if (typeof orderId !== 'string') return violation('invoice: no order id')
    for (const [name, value] of Object.entries(checkout as object))
      if (!checkoutRules[name]?.(value)) return violation(`invoice: checkout ${name}`)
    const id = randomUUID().replaceAll('-', '').slice(0, 22)
    const rounded = options.roundedTo === undefined ? amount : Number(amount).toFixed(options.roundedTo)
    invoices.set(id, {
      id,
      amount: rounded,
      currency,
      orderId,
      checkout: checkout as Record<string, unknown>,
      createdAt: now(),
      status: 'New',
      marked: false,
      coins: [],
    })
    return invoiceResponse(id)
  }

  const invoiceResponse = (id: string): ApiAnswer => {
    const invoice = invoices.get(id)
    return invoice ? { status: 200, json: invoiceJson(invoice) } : error(404, 'invoice-not-found')
  }

  function mark(id: string, status: unknown): ApiAnswer {
    const invoice = invoices.get(id)
    if (!invoice) return error(404, 'invoice-not-found')
    if (status !== 'Invalid' && status !== 'Settled') return violation('status: no such status')
    if (status === 'Settled') return violation('nobody settles invoices by the API')
    if (!canMarkInvalid(invoice)) return invalid('Status')
    Object.assign(invoice, { status, marked: true })
    return invoiceResponse(id)
  }

  function refund(id: string, json: unknown): ApiAnswer {
    const invoice = invoices.get(id)
    if (!invoice) return error(404, 'invoice-not-found')
    const wrong = unknownField(json, [
      'name',
      'description',
      'payoutMethodId',
      'refundVariant',
      'subtractPercentage',
      'customAmount',
      'customCurrency',
    ])
    if (wrong !== undefined) return violation(`refund: ${wrong}`)
    const { name, refundVariant, customAmount, customCurrency } = json as Record<string, unknown>
    const paid = paidOf(invoice)
    if (invoice.status !== 'Settled' && invoice.status !== 'Invalid' && !(invoice.status === 'Expired' && paid > 0))
      return error(400, 'non-refundable')
    if (refundVariant !== 'Custom') return violation('refund: another variant cannot say an amount')
    if (typeof customAmount !== 'string' || !decimal.test(customAmount)) return violation('refund: the amount is no decimal text')
    if (Number(customAmount) <= 0) return invalid('CustomAmount')
    if (typeof customCurrency !== 'string') return invalid('CustomCurrency')
    if (typeof name !== 'string' || name.length > 50) return violation('refund: its name is too long, or there is none')
    const claimId = randomUUID()
    claims.set(claimId, { id: claimId, invoiceId: id, name, amount: customAmount, currency: customCurrency, archived: false, payouts: [] })
    return { status: 200, json: claimJson(claimId) }
  }

  function claimJson(id: string) {
    const { name, amount, currency, archived } = claims.get(id) as Claim
    const viewLink = `${server.url}${under}/pull-payments/${id}`
    return { id, name, description: null, currency, amount: scaled(amount), autoApproveClaims: false, archived, viewLink }
  }

  function list(query: URLSearchParams): ApiAnswer {
    const unknown = [...query.keys()].find(
      (name) => !['orderId', 'status', 'textSearch', 'startDate', 'endDate', 'skip', 'take'].includes(name),
    )
    if (unknown !== undefined) return violation(`list: unknown parameter ${unknown}`)
    const ids = query.getAll('orderId')
    return { status: 200, json: [...invoices.values()].filter(({ orderId }) => !filters || ids.includes(orderId)).map(invoiceJson) }
  }

  function answerOfStore(request: ApiRequest, rest: string): ApiAnswer {
    const { method, query, json } = request
    const hasPermission = (permission: string) => permissions.includes(permission)
    const forbidden = error(403, 'missing-permission')
    if (rest === '/invoices' && method === 'GET') return hasPermission('canviewinvoices') ? list(query) : forbidden
    if (rest === '/invoices' && method === 'POST') return hasPermission('cancreateinvoice') ? create(request) : forbidden
    if (rest === '/pull-payments' && method === 'GET') {
      if (!hasPermission('canviewpullpayments')) return forbidden
      const archived = query.get('includeArchived') === 'true'
      return { status: 200, json: [...claims.values()].filter((claim) => archived || !claim.archived).map(({ id }) => claimJson(id)) }
    }
    const [, id = '', verb = ''] = /^\/invoices\/(\w+)(?:\/(status|refund|payment-methods))?$/.exec(rest) ?? []
    if (id === '') return violation(`there is no ${method} ${rest}`)
    if (verb === '' && method === 'GET') return hasPermission('canviewinvoices') ? invoiceResponse(id) : forbidden
    if (verb === 'payment-methods' && method === 'GET') return hasPermission('canviewinvoices') ? coinsOf(id) : forbidden
    if (verb === 'status' && method === 'POST') {
      const wrong = unknownField(json, ['status'])
      if (wrong !== undefined) return violation(`status: ${wrong}`)
      return hasPermission('canmodifyinvoices') ? mark(id, (json as { status?: unknown }).status) : forbidden
    }
    if (verb === 'refund' && method === 'POST') return hasPermission('cancreatenonapprovedpullpayments') ? refund(id, json) : forbidden
    return violation(`there is no ${method} ${rest}`)
  }

  function coinsOf(id: string): ApiAnswer {
    const invoice = invoices.get(id)
    if (!invoice) return error(404, 'invoice-not-found')
    // By default the API omits invalid payments.
    const payments = invoice.coins
      .filter(({ status }) => status !== 'Invalid')
      .map(({ value, status }) => ({ id: randomUUID(), value: String(value / 60_000), status }))
    return {
      status: 200,
      json: [
        { paymentMethodId: 'BTC-CHAIN', currency: 'BTC', rate: '60000.0', payments },
        { paymentMethodId: 'BTC-LN', payments: [] },
      ],
    }
  }

  function answerPublic({ method }: ApiRequest, rest: string): ApiAnswer {
    const [, id = '', verb = ''] = /^\/pull-payments\/([\w-]+)(\/payouts)?$/.exec(rest) ?? []
    const claim = claims.get(id)
    if (method !== 'GET' || id === '') return violation(`there is no ${method} ${rest}`)
    if (!claim) return error(404, 'pullpayment-not-found')
    if (verb === '') return { status: 200, json: claimJson(id) }
    const payouts = claim.payouts.filter(({ state }) => state !== 'Cancelled')
    const json = payouts.map(({ id: payout, amount, state }) => ({
      id: payout,
      revision: 0,
      pullPaymentId: id,
      originalCurrency: claim.currency,
      originalAmount: scaled(amount),
      payoutCurrency: 'BTC',
      payoutAmount: null,
      payoutMethodId: 'BTC-CHAIN',
      state,
    }))
    return { status: 200, json }
  }

  /** The page of the shopper's wallet: pays an invoice, or redeems a claim. */
  function page(method: string, what: string, id: string): ApiAnswer {
    const [invoice, claim] = [what === 'i' ? invoices.get(id) : undefined, what === 'i' ? undefined : claims.get(id)]
    if (invoice?.status !== 'New' && claim?.payouts.length !== 0) return nothingToPay
    if (invoice) {
      if (method !== 'POST') return payPage('BTCPay', `Your wallet pays coins worth ${invoice.amount} ${invoice.currency}`)
      pay(id, Number(invoice.amount))
      options.tell?.(message(id, 'InvoiceSettled'))
      return afterPaying('BTCPay', invoice.checkout['redirectURL'] as string | undefined)
    }
    if (!claim) return nothingToPay
    if (method !== 'POST') return payPage('BTCPay', `Coins worth ${claim.amount} ${claim.currency} are yours`, 'Take them')
    redeem(id, claim.amount)
    return afterPaying('BTCPay')
  }

  function answer(request: ApiRequest): ApiAnswer {
    const { method, path, headers, body: text } = request
    const [, what = '', id = ''] = /\/(i|pull-payments)\/([\w-]+)$/.exec(path) ?? []
    if (what !== '' && path === `${under}/${what}/${id}`) return page(method, what, id)
    const prefix = `${under}/api/v1`
    if (!path.startsWith(`${prefix}/`)) return violation(`there is no ${method} ${path}`)
    const rest = path.slice(prefix.length)
    if (text !== '' && method === 'GET') return violation('a body of a GET')
    if (text !== '' && headers.get('content-type') !== 'application/json') return violation('not sent as JSON')
    if (method === 'POST' && request.json === undefined) return violation('a POST without JSON')
    if (rest === '/health') return { status: 200, json: { synchronized } }
    if (!/^token \S+$/.test(headers.get('authorization') ?? '')) return violation('no key')
    if (headers.get('authorization') !== `token ${apiKey}`) return error(401, 'unauthenticated')
    const store = `/stores/${encodeURIComponent(storeId)}`
    if (rest.startsWith(`${store}/`)) return answerOfStore(request, rest.slice(store.length))
    if (rest.startsWith('/stores/')) return error(403, 'missing-permission')
    return answerPublic(request, rest)
  }

  const server = await serveStandIn(answer, options.watch)
  const invoiceById = (id: string): Invoice => {
    const invoice = invoices.get(id)
    if (!invoice) throw new Error('no such invoice')
    return invoice
  }
  /** Updates an invoice's status after its payments changed. */
  function settle(invoice: Invoice): void {
    if (invoice.status === 'Expired' || invoice.marked) return
    const isWhole = paidOf(invoice) >= Number(invoice.amount)
    const isSure = invoice.coins.every(({ status }) => status !== 'Processing')
    invoice.status = isWhole ? (isSure ? 'Settled' : 'Processing') : invoice.status === 'Processing' ? 'Invalid' : invoice.status
  }

  function pay(id: string, value: number, confirmed = true): void {
    const invoice = invoiceById(id)
    const late = invoice.status === 'Expired' || invoice.status === 'Invalid'
    invoice.coins.push({ value, status: confirmed ? 'Settled' : 'Processing', late })
    settle(invoice)
  }
  function redeem(id: string, amount: string, state: Payout['state'] = 'Completed'): Payout {
    const payout = { id: randomUUID(), amount, state }
    claims.get(id)?.payouts.push(payout)
    return payout
  }
  function message(invoiceId: string, type: string, more: { redelivers?: string; secret?: string; storeId?: string } = {}) {
    const deliveryId = randomUUID()
    const event = {
      manuallyMarked: false,
      deliveryId,
      webhookId: 'webhook-1',
      originalDeliveryId: more.redelivers ?? deliveryId,
      isRedelivery: more.redelivers !== undefined,
      type,
      timestamp: Math.floor(now() / 1000),
      storeId: more.storeId ?? storeId,
      invoiceId,
      metadata: { orderId: invoices.get(invoiceId)?.orderId },
    }
    const body = Buffer.from(JSON.stringify(event, undefined, 2))
    return { deliveryId, body, headers: signed(body, more.secret ?? webhookSecret) }
  }

  return {
    ...server,
    account: { apiUrl: `${server.url}${under}`, storeId, apiKey, webhookSecret, mode: 'TEST' },
    violations,
    invoices,
    claims,
    pay,
    confirm(id, status = 'Settled') {
      for (const coin of invoiceById(id).coins) coin.status = status
      settle(invoiceById(id))
    },
    expire: (id) => void Object.assign(invoiceById(id), { status: 'Expired' }),
    mark: (id, status) => void Object.assign(invoiceById(id), { status, marked: true }),
    redeem,
    archive: (id) => void Object.assign(claims.get(id) ?? {}, { archived: true }),
    message,
  }
}

/** Returns the headers of a signed message. */
export const signed = (body: Uint8Array, secret: string) =>
  new Headers({
    'content-type': 'application/json',
    'BTCPay-Sig': `sha256=${createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex')}`,
  })

const paidOf = ({ coins }: Invoice) =>
  Number(coins.reduce((sum, { value, status }) => sum + (status === 'Invalid' ? 0 : value), 0).toFixed(6))
const canMarkInvalid = ({ status, marked }: Invoice) =>
  ['New', 'Processing', 'Expired'].includes(status) || (status !== 'Invalid' && marked)

function unknownField(body: unknown, names: readonly string[]): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'no object'
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  return unknown === undefined ? undefined : `unknown field ${unknown}`
}
