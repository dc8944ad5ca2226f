/**
 * The bare floor: `Bun.serve` with one prepared bun:sqlite statement per route, on the same file, with souk's bytes and
 * headers.
 * The ratio measures what souk does besides: checks, limits, errors, counting.
 * For an order, the key is hashed (SHA-256) and looked up in souk's table; it must be unexpired, secret and of the
 * shop's mode. The order is read as its final text from a file next to souk's, by id, and must belong to the key's
 * shop.
 * souk keeps no such table, since every change of an order would have to write it. `/assembled` is what one would write
 * by hand: four statements read order, lines, payments and events, and `Response.json` sends them in souk's form.
 */
import { Database as Sqlite } from 'bun:sqlite'

const [file = '', shopId = '', orderFile = ''] = Bun.argv.slice(2)
const db = new Sqlite(file, { readonly: true })
db.run('PRAGMA cache_size = -32000')
const byId = db.prepare<{ document: string; etag: string }, [string]>(
  'SELECT document, etag FROM product_documents WHERE product_id = ? LIMIT 1',
)
const page = db.prepare<{ document: string }, [string, number]>(
  'SELECT document FROM product_documents WHERE shop_id = ? ORDER BY newest_key DESC LIMIT 20 OFFSET ?',
)

const keyByHash = db.prepare<{ shop_id: string; scopes: string }, [string, number]>(
  `SELECT k.shop_id, k.scopes FROM api_keys k JOIN shops s ON s.id = k.shop_id
   WHERE k.hash = ? AND k.mode = s.mode AND (k.expires_at IS NULL OR k.expires_at > ?) LIMIT 1`,
)
const orderDb = orderFile === '' ? undefined : new Sqlite(orderFile, { readonly: true })
orderDb?.run('PRAGMA cache_size = -32000')
const orderById = orderDb?.prepare<{ shop_id: string; document: string }, [string]>(
  'SELECT shop_id, document FROM order_documents WHERE id = ? LIMIT 1',
)

type Row = Record<string, string | number | null>
const rowOf = db.prepare<Row, [string]>('SELECT * FROM orders WHERE id = ? LIMIT 1')
const linesOf = db.prepare<Row, [string]>('SELECT * FROM order_lines WHERE order_id = ? ORDER BY position')
const paymentsOf = db.prepare<Row, [string]>('SELECT * FROM payments WHERE order_id = ? ORDER BY id')
const eventsOf = db.prepare<Row, [string]>('SELECT * FROM order_events WHERE order_id = ? ORDER BY id')

/** Returns the shop of a secret key. */
function shopOf({ headers }: Request): string | undefined {
  const hash = Bun.CryptoHasher.hash('sha256', headers.get('x-service-api-key') ?? '', 'hex')
  const key = keyByHash.get(hash, Date.now())
  return key?.scopes.includes('"server"') ? key.shop_id : undefined
}

const iso = (ms: unknown) => (typeof ms === 'number' ? new Date(ms).toISOString() : null)
const json = (text: unknown) => (typeof text === 'string' ? JSON.parse(text) : null)

/** Builds an order from its rows. */
function assembleOrder(row: Row, id: string) {
  const money = (amount: unknown) => ({ amount, currency: row['currency'] })
  return {
    id,
    shopId: row['shop_id'],
    number: row['number'],
    customerId: row['customer_id'],
    email: row['email'],
    currency: row['currency'],
    status: row['status'],
    paymentStatus: row['payment_status'],
    fulfilmentStatus: row['fulfilment_status'],
    lines: linesOf.all(id).map((line) => ({
      id: line['id'],
      productId: line['product_id'],
      variantId: line['variant_id'],
      title: line['title'],
      variantTitle: line['variant_title'],
      sku: line['sku'],
      quantity: line['quantity'],
      unitPrice: money(line['unit_price']),
      total: money(line['total']),
      tax: {
        rateBps: Number(line['tax_rate_bps']) + Number(line['tax_rate_hundredths']) / 100,
        inclusive: line['tax_inclusive'] === 1,
        amount: money(line['tax_amount']),
      },
    })),
    subtotal: money(row['subtotal']),
    discountTotal: money(row['discount_total']),
    shippingTotal: money(row['shipping_total']),
    taxTotal: money(row['tax_total']),
    taxIncluded: money(row['tax_included']),
    shippingTax: money(row['shipping_tax']),
    giftCardTotal: money(row['gift_card_total']),
    total: money(row['total']),
    amountDue: money(row['amount_due']),
    capturedTotal: money(row['captured_total']),
    refundedTotal: money(row['refunded_total']),
    giftCardRefundedTotal: money(row['gift_card_refunded_total']),
    fxToUsd: row['fx_to_usd'],
    giftCards: [],
    shippingAddress: json(row['shipping_address']),
    billingAddress: json(row['billing_address']),
    shippingMethod: json(row['shipping_method']),
    affiliate: null,
    tracking: null,
    payments: paymentsOf.all(id).map((payment) => ({
      id: payment['id'],
      method: payment['method'],
      processor: payment['processor'],
      processorReference: payment['processor_reference'],
      amount: money(payment['amount']),
      authorized: money(payment['authorized']),
      captured: money(payment['captured']),
      refunded: money(payment['refunded']),
      status: payment['status'],
      failureCode: payment['failure_code'],
      createdAt: iso(payment['created_at']),
      updatedAt: iso(payment['updated_at']),
    })),
    refunds: [],
    events: eventsOf.all(id).map((event) => ({ type: event['type'], at: iso(event['at']), detail: json(event['detail']) })),
    expiresAt: iso(row['expires_at']),
    confirmedAt: iso(row['confirmed_at']),
    createdAt: iso(row['created_at']),
    updatedAt: iso(row['updated_at']),
  }
}

const secretHeaders = () => ({
  'content-type': 'application/json;charset=utf-8',
  'cache-control': 'no-store',
  'x-request-id': crypto.randomUUID(),
  'x-content-type-options': 'nosniff',
})

const headers = (etag: string) => ({
  'content-type': 'application/json;charset=utf-8',
  etag,
  'cache-control': 'public, max-age=0, s-maxage=60',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, retry-after, x-request-id',
  'x-request-id': crypto.randomUUID(),
  'x-content-type-options': 'nosniff',
})
const notModifiedHeaders = () => {
  const { 'content-type': _, ...rest } = headers('"any-etag-of-this-length"')
  return rest
}
const missing = () => Response.json({ statusCode: 404, message: 'No such product', error: 'Not Found' }, { status: 404 })

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/product-v2/public/:id': (request) => {
      const row = byId.get(request.params.id)
      return row ? new Response(row.document, { headers: headers(row.etag) }) : missing()
    },
    /** The same as a hand-written program: parses the row's JSON column and uses Response.json. */
    '/parsed/:id': (request) => {
      const row = byId.get(request.params.id)
      return row ? Response.json(JSON.parse(row.document), { headers: headers(row.etag) }) : missing()
    },
    '/product-v2/public/shop/:shopName': (request) => {
      const nth = Number(new URL(request.url).searchParams.get('page') ?? 1)
      const rows = page.all(shopId, (nth - 1) * 20)
      const body = `{"data":[${rows.map(({ document }) => document).join(',')}],"page":${nth},"limit":20,"total":0,"pages":0}`
      return new Response(body, { headers: headers(`"${Bun.hash.xxHash3(body).toString(36)}"`) })
    },
    '/v2/orders/:orderId': (request) => {
      const shop = shopOf(request)
      const row = shop === undefined ? undefined : orderById?.get(request.params.orderId)
      return row?.shop_id === shop && row ? new Response(row.document, { headers: secretHeaders() }) : missing()
    },
    '/assembled/:id': (request) => {
      const shop = shopOf(request)
      const row = shop === undefined ? undefined : rowOf.get(request.params.id)
      return row?.['shop_id'] === shop && row
        ? Response.json(assembleOrder(row, request.params.id), { headers: secretHeaders() })
        : missing()
    },
    /** The smallest response with the headers of a 304. */
    '/smallest/:id': () => new Response(null, { status: 304, headers: notModifiedHeaders() }),
  },
  fetch: missing,
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
