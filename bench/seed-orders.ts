/**
 * Inserts confirmed orders into a seeded shop, with the rows that the saga leaves, and writes the floor's documents.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { unifiedTransactions } from '../db/schema/ledger.ts'
import { payments } from '../db/schema/payments.ts'
import { customers } from '../db/schema/people.ts'
import { customerTotals, orderEvents, orderLines, orderNumbers, orders } from '../db/schema/selling.ts'
import { createNewId, newCartId } from '../src/lib/ids.ts'
import type { Order } from '../src/modules/selling/order/domain.ts'
import { type FullOrder, orderView } from '../src/modules/selling/order/view.ts'
import { inserter, type Seeded } from './seed.ts'

export type SeededOrders = {
  /** A sample of all orders, oldest first. */
  ids: string[]
  /** A customer with very many orders, and one with ten. */
  busyCustomer: string
  quietCustomer: string
  publishableKey: string
  /** Unlimited stock. */
  variantIds: string[]
}

const batch = 5_000
const sampleSize = 100_000
const busyOrdersMax = 100_000
const quietOrders = 10
const everyMs = 30_000
const unlimitedStock = 1_000_000_000
const address = {
  name: 'Noor Haddad',
  company: null,
  line1: '1 Quay Street',
  line2: null,
  city: 'Portland',
  province: 'ME',
  postalCode: '04101',
  countryCode: 'US',
  phone: null,
}

type Variant = { id: string; productId: string; title: string; variantTitle: string; sku: string; price: number }

/** Returns the path of the floor's order documents: a file next to souk's. */
export const floorFile = (dataDir: string) => join(dataDir, 'floor.db')

/**
 * Inserts `count` orders and as many more as customers with ten orders need. One customer has most of them, up to
 * 100,000.
 */
export function seedOrders({ dataDir, shopId }: Seeded, count: number): SeededOrders {
  rmSync(floorFile(dataDir), { force: true })
  const db = new Sqlite(join(dataDir, 'souk.db'), { strict: true })
  const floor = new Sqlite(floorFile(dataDir), { strict: true })
  for (const pragma of ['synchronous = OFF', 'cache_size = -400000', 'wal_autocheckpoint = 20000', 'foreign_keys = OFF'])
    db.run(`PRAGMA ${pragma}`)
  for (const pragma of ['journal_mode = WAL', 'synchronous = OFF']) floor.run(`PRAGMA ${pragma}`)
  floor.run('CREATE TABLE order_documents (id TEXT PRIMARY KEY, shop_id TEXT NOT NULL, document TEXT NOT NULL) WITHOUT ROWID')
  db.query('UPDATE variants SET on_hand = ?').run(unlimitedStock)
  const variants = db
    .query<Variant, []>(
      `SELECT v.id, v.product_id productId, p.title, v.title variantTitle, v.sku, v.price
       FROM variants v JOIN products p ON p.id = v.product_id ORDER BY v.id LIMIT 200`,
    )
    .all()
  const insert = {
    customer: inserter(db, customers),
    order: inserter(db, orders),
    line: inserter(db, orderLines),
    event: inserter(db, orderEvents),
    payment: inserter(db, payments),
    movement: inserter(db, unifiedTransactions),
    total: inserter(db, customerTotals),
    number: inserter(db, orderNumbers),
  }
  const document = floor.prepare('INSERT INTO order_documents VALUES (?, ?, ?)')
  const busyCount = Math.min(count, busyOrdersMax)
  const start = Date.now() - (count + quietOrders) * everyMs
  const ids: string[] = []
  const busyCustomer = newCustomer(insert.customer, shopId, start, 'busy')
  const quietCustomers: string[] = []
  let quietPlaced = 0

  /** Spreads the busy customer's orders evenly. */
  const customerOf = (nth: number): string => {
    const isBusy = Math.floor(((nth + 1) * busyCount) / total) > Math.floor((nth * busyCount) / total)
    if (isBusy) return busyCustomer
    if (quietPlaced++ % quietOrders === 0) quietCustomers.push(newCustomer(insert.customer, shopId, start, `quiet${quietPlaced}`))
    return quietCustomers.at(-1) ?? busyCustomer
  }
  const total = Math.max(count, busyCount + quietOrders)
  const step = Math.max(1, Math.floor(total / sampleSize))
  for (let nth = 0; nth < total; nth++) {
    if (nth % batch === 0) for (const one of [db, floor]) one.run('BEGIN')
    const fullOrder = confirmedOrder(shopId, customerOf(nth), nth, start + nth * everyMs, variants)
    insert.order(fullOrder.order)
    for (const line of fullOrder.lines) insert.line(line)
    for (const event of fullOrder.events) insert.event(event)
    for (const payment of fullOrder.payments) insert.payment(payment)
    insert.movement(captureOf(fullOrder))
    document.run(
      fullOrder.order.id,
      shopId,
      JSON.stringify(orderView(fullOrder, `https://shop.example/v2/orders/public/${fullOrder.order.id}`)),
    )
    if (nth % step === 0 && ids.length < sampleSize) ids.push(fullOrder.order.id)
    if (nth % batch === batch - 1 || nth === total - 1) {
      for (const one of [db, floor]) one.run('COMMIT')
      if (process.stderr.isTTY) process.stderr.write(`\r  seeding order ${nth + 1} of ${total}`)
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  db.run('BEGIN')
  insert.number({ shopId, last: total })
  db.run(
    `INSERT INTO customer_totals (customer_id, currency, orders, spent)
     SELECT customer_id, currency, count(*), sum(total) FROM orders GROUP BY customer_id, currency`,
  )
  db.run('COMMIT')
  db.run('ANALYZE')
  const key = db
    .query<{ value: string }, [string]>("SELECT public_value value FROM api_keys WHERE shop_id = ? AND kind = 'PUBLISHABLE'")
    .get(shopId)
  for (const one of [db, floor]) {
    one.run('PRAGMA wal_checkpoint(TRUNCATE)')
    one.close()
  }
  const variantIds = variants.map(({ id }) => id)
  return { ids, busyCustomer, quietCustomer: quietCustomers.at(-1) ?? '', publishableKey: key?.value ?? '', variantIds }
}

const newIdAt = (at: number) => createNewId(() => Bun.randomUUIDv7('buffer', at))

function newCustomer(insert: (row: typeof customers.$inferSelect) => void, shopId: string, at: number, name: string): string {
  const id = newIdAt(at)('customer')
  const nothing = {
    phone: null,
    passwordHash: null,
    emailProvenAt: null,
    erasedAt: null,
    acceptsMarketing: false,
    note: null,
    tags: [],
    version: 1,
  }
  insert({ ...nothing, id, shopId, email: `${name}@example.com`, name, createdAt: at, updatedAt: at })
  return id
}

/** An order of two lines from cart to CONFIRMED within a second. */
export function confirmedOrder(
  shopId: string,
  customerId: string | null,
  nth: number,
  at: number,
  variants: readonly Variant[],
): FullOrder {
  const newId = newIdAt(at)
  const currency = 'USD'
  const id = newId('order')
  const paymentId = newId('payment')
  const orderedVariants = [variants[nth % variants.length], variants[(nth * 7 + 1) % variants.length]].filter((one) => one !== undefined)
  const untaxed = { discount: 0, taxRateWholeBps: 0, taxRateHundredths: 0, taxInclusive: false, taxAmount: 0 }
  const lines = orderedVariants.map(({ id: variantId, price, ...named }, position) => ({
    orderId: id,
    position,
    id: newId('line'),
    variantId,
    ...named,
    quantity: 1,
    unitPrice: price,
    total: price,
    ...untaxed,
    tracked: true,
    giftCard: false,
  }))
  const total = lines.reduce((sum, line) => sum + line.total, 0)
  const confirmedAt = at + 900
  const order: Order = {
    id,
    shopId,
    number: nth + 1,
    cartId: newCartId((count) => crypto.getRandomValues(new Uint8Array(count))),
    customerId,
    email: `shopper${nth}@example.com`,
    currency,
    mode: 'TEST',
    subtotal: total,
    discountTotal: 0,
    discounts: [],
    shippingTotal: 0,
    taxTotal: 0,
    taxIncluded: 0,
    shippingTax: 0,
    shippingTaxHundredths: 0,
    shippingTaxInclusive: false,
    giftCardTotal: 0,
    total,
    amountDue: total,
    capturedTotal: total,
    refundedTotal: 0,
    giftCardRefundedTotal: 0,
    fxToUsd: '1',
    status: 'CONFIRMED',
    paymentStatus: 'CAPTURED',
    fulfilmentStatus: 'UNFULFILLED',
    shippingAddress: address,
    billingAddress: null,
    shippingMethod: null,
    affiliateCode: null,
    affiliateAt: null,
    affiliateId: null,
    trackingNumber: null,
    carrier: null,
    expiresAt: at + 3_600_000,
    resumeAt: null,
    attempts: 0,
    holds: 'COMMITTED',
    processor: 'sandbox',
    placedFrom: null,
    attemptKey: null,
    createdAt: at,
    updatedAt: confirmedAt,
    confirmedAt,
    fulfilledAt: null,
    tags: [],
    giftCardRecipient: null,
    version: 1,
    fromAbandonedCart: false,
    agent: null,
  }
  const paymentDetail = { payment: paymentId, processor: 'sandbox', amount: total }
  const events = (
    [
      ['PLACED', { total, currency }],
      ['PAYMENT_AUTHORIZED', paymentDetail],
      ['PAYMENT_CAPTURED', paymentDetail],
      ['CONFIRMED', {}],
    ] as const
  ).map(([type, detail], one) => ({
    id: newIdAt(at + one * 300)('event'),
    orderId: id,
    position: one + 1,
    type,
    at: at + one * 300,
    actor: 'system',
    detail,
  }))
  const payment = {
    id: paymentId,
    orderId: id,
    shopId,
    attemptKey: Bun.hash(id).toString(16).padStart(64, '0'),
    method: 'card' as const,
    processor: 'sandbox',
    accountId: '',
    mode: 'TEST' as const,
    processorReference: paymentId,
    references: {},
    sealedToken: null,
    returnUrl: null,
    clientParameters: {},
    amount: total,
    currency,
    authorized: total,
    captured: total,
    refunded: 0,
    status: 'CAPTURED' as const,
    failureCode: null,
    sentAt: at,
    askedAt: null,
    endedAt: null,
    askAt: null,
    leaseHolder: null,
    leaseUntil: null,
    createdAt: at,
    updatedAt: at + 600,
  }
  return { order, lines, giftCards: [], events, payments: [payment], refunds: [], disputes: [], fulfilments: [], notes: [] }
}

function captureOf({ order, payments: [payment] }: FullOrder): typeof unifiedTransactions.$inferSelect {
  const at = order.confirmedAt ?? order.createdAt
  return {
    id: newIdAt(at)('transaction'),
    key: `capture:${payment?.id}`,
    kind: 'CAPTURE',
    shopId: order.shopId,
    orderId: order.id,
    processor: 'sandbox',
    affiliateId: null,
    currency: order.currency,
    amount: order.capturedTotal,
    usdPerUnit: '1',
    usdCents: order.capturedTotal,
    at,
    rateDay: new Date(at).toISOString().slice(0, 10),
    confirmed: true,
  }
}
