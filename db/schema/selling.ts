import { sql } from 'drizzle-orm'
import { bool, index, instant, int, json, money, primaryKey, table, text, uniqueIndex, word } from '../columns.ts'
import { customers } from './people.ts'
import { type ShippingMethod, shops } from './shop.ts'

/** Where something goes or is billed to, as it was given. */
export type Address = {
  name: string
  company: string | null
  line1: string
  line2: string | null
  city: string
  province: string | null
  postalCode: string | null
  countryCode: string
  phone: string | null
}

/** A discount of an order, in minor units of its currency. */
export type OrderDiscount = {
  id: string
  title: string
  /** As the shop wrote it; null of one that counted by itself. */
  code: string | null
  kind: 'PERCENT' | 'FIXED' | 'FREE_SHIPPING'
  amount: number
}

/** What of a cart its shop has settled besides its lines, prices and discount. */
export type SettledField = 'email' | 'shippingAddress' | 'billingAddress' | 'shippingMethod'

const shopId = () =>
  text('shop_id')
    .notNull()
    .references(() => shops.id)

/** Addresses of a shop: in a customer's book once `customer_id` is set. */
export const addresses = table(
  'addresses',
  {
    id: text('id').primaryKey(),
    shopId: shopId(),
    customerId: text('customer_id').references(() => customers.id),
    /** The customer who entered it before it was in anybody's book; null when the shop did. */
    enteredBy: text('entered_by').references(() => customers.id),
    address: json<Address>('address').notNull(),
    isDefaultShipping: bool('is_default_shipping').notNull(),
    isDefaultBilling: bool('is_default_billing').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (address) => [
    index('addresses_customer').on(address.customerId, address.id),
    index('addresses_entered').on(address.enteredBy).where(sql`entered_by is not null`),
  ],
)

/** What a customer has ordered and paid, by currency: kept in the writes of their orders. */
export const customerTotals = table(
  'customer_totals',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => customers.id),
    currency: text('currency').notNull(),
    /** Orders placed, whatever became of them. */
    orders: int('orders').notNull(),
    /** Totals of confirmed orders less refunds. */
    spent: money('spent').notNull(),
    /** The same of orders of real money: the first two are of test orders. */
    liveOrders: int('live_orders').notNull().default(0),
    liveSpent: money('live_spent').notNull().default(0),
  },
  (row) => [primaryKey({ columns: [row.customerId, row.currency] })],
)

/** Keys of the instance that never change, sealed under the master key: changing one would lose what it protects. */
export const instanceKeys = table('instance_keys', {
  purpose: word('purpose', [
    'GIFT_CARD_CODES',
    'SANDBOX_WEBHOOKS',
    'CLIENT_ADDRESSES',
    'PAYMENT_CALLBACKS',
    'ORDER_LINKS',
    'DISCOUNT_CUSTOMERS',
    'MEDIA',
  ]).primaryKey(),
  sealedKey: text('sealed_key').notNull(),
  createdAt: instant('created_at').notNull(),
})

export const giftCards = table(
  'gift_cards',
  {
    id: text('id').primaryKey(),
    shopId: shopId(),
    /** HMAC of the code, which is kept nowhere. */
    codeHash: text('code_hash').notNull(),
    last4: text('last4').notNull(),
    currency: text('currency').notNull(),
    initialAmount: money('initial_amount').notNull(),
    /** The sum of its transactions. */
    balance: money('balance').notNull(),
    expiresAt: instant('expires_at'),
    status: word('status', ['ACTIVE', 'DISABLED']).notNull(),
    /** Only this customer may use it. */
    customerId: text('customer_id').references(() => customers.id),
    note: text('note'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Raised by whoever changes the record by hand, not by its balance: what `ETag` and `If-Match` go by. */
    version: int('version').notNull().default(1),
  },
  (card) => [
    uniqueIndex('gift_cards_code').on(card.shopId, card.codeHash),
    index('gift_cards_shop').on(card.shopId, card.id),
    index('gift_cards_customer').on(card.customerId).where(sql`customer_id is not null`),
  ],
)

/**
 * Append-only; amounts are signed and add up to the card's balance. A HOLD takes from the balance at once, a RELEASE gives it
 * back; a hold that is settled stays taken, and a REFUND gives back what a settled one took.
 */
export const giftCardTransactions = table(
  'gift_card_transactions',
  {
    id: text('id').primaryKey(),
    giftCardId: text('gift_card_id')
      .notNull()
      .references(() => giftCards.id),
    kind: word('kind', ['ISSUE', 'HOLD', 'RELEASE', 'REFUND']).notNull(),
    amount: money('amount').notNull(),
    orderId: text('order_id'),
    /** Of a REFUND: which refund gave it back. */
    refundId: text('refund_id'),
    at: instant('at').notNull(),
  },
  (row) => [index('gift_card_transactions_card').on(row.giftCardId, row.id), index('gift_card_transactions_order').on(row.orderId)],
)

export const carts = table(
  'carts',
  {
    id: text('id').primaryKey(),
    shopId: shopId(),
    customerId: text('customer_id').references(() => customers.id),
    currency: text('currency').notNull(),
    email: text('email'),
    shippingAddress: json<Address | null>('shipping_address'),
    billingAddress: json<Address | null>('billing_address'),
    /** The code of one of the shop's methods. */
    shippingMethod: text('shipping_method'),
    affiliateCode: text('affiliate_code'),
    /** When the affiliate's code was put in: an attribution counts for so long. */
    affiliateAt: instant('affiliate_at'),
    /** As codes of discounts are compared; whether it counts is looked at each time. */
    discountCode: text('discount_code'),
    /** The ids of the discounts that the shopper was shown last, with commas. */
    shownDiscounts: text('shown_discounts').notNull().default(''),
    /** The total and the amount due that the shopper was shown last: nothing else is charged. */
    shownTotal: money('shown_total').notNull(),
    shownDue: money('shown_due').notNull(),
    /** Of a draft order: its shop has fixed what is in it and at which prices, and settled these fields besides. */
    draft: json<{ id: string; settled: SettledField[] } | null>('draft'),
    status: word('status', ['OPEN', 'CONVERTED', 'EXPIRED']).notNull(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (cart) => [
    index('carts_expiry').on(cart.expiresAt).where(sql`status = 'OPEN'`),
    index('carts_over').on(cart.updatedAt).where(sql`status <> 'OPEN'`),
    index('carts_customer').on(cart.customerId, cart.status, cart.createdAt),
    // How many carts shoppers begin, and what of them becomes an order.
    index('carts_begun').on(cart.shopId, cart.createdAt, cart.status).where(sql`draft is null`),
  ],
)

export const cartLines = table(
  'cart_lines',
  {
    id: text('id').primaryKey(),
    cartId: text('cart_id')
      .notNull()
      .references(() => carts.id, { onDelete: 'cascade' }),
    /** No reference: a variant may be gone, and then the line is one that cannot be bought. */
    variantId: text('variant_id').notNull(),
    quantity: int('quantity').notNull(),
    /** The price that the shopper has seen. */
    unitPrice: money('unit_price').notNull(),
  },
  (line) => [uniqueIndex('cart_lines_variant').on(line.cartId, line.variantId)],
)

export const cartGiftCards = table(
  'cart_gift_cards',
  {
    cartId: text('cart_id')
      .notNull()
      .references(() => carts.id, { onDelete: 'cascade' }),
    giftCardId: text('gift_card_id')
      .notNull()
      .references(() => giftCards.id),
    appliedAt: instant('applied_at').notNull(),
  },
  (row) => [primaryKey({ columns: [row.cartId, row.giftCardId] })],
)

export const orders = table(
  'orders',
  {
    id: text('id').primaryKey(),
    shopId: shopId(),
    /** From 1 in each shop, without a gap. */
    number: int('number').notNull(),
    cartId: text('cart_id').notNull(),
    customerId: text('customer_id').references(() => customers.id),
    email: text('email').notNull(),
    currency: text('currency').notNull(),
    subtotal: money('subtotal').notNull(),
    discountTotal: money('discount_total').notNull(),
    /** Which discounts counted, as they were then. One of free shipping is no part of the total, and has what the shipping would have cost. */
    discounts: json<OrderDiscount[]>('discounts').notNull().default(sql`'[]'`),
    shippingTotal: money('shipping_total').notNull(),
    /** On top of the prices. */
    taxTotal: money('tax_total').notNull(),
    /** Held by the prices already. */
    taxIncluded: money('tax_included').notNull(),
    giftCardTotal: money('gift_card_total').notNull(),
    total: money('total').notNull(),
    amountDue: money('amount_due').notNull(),
    /** By processors. */
    capturedTotal: money('captured_total').notNull(),
    /** By processors. */
    refundedTotal: money('refunded_total').notNull(),
    /** Back to gift cards. */
    giftCardRefundedTotal: money('gift_card_refunded_total').notNull(),
    /** The shop's when it was placed: whether its money is real. */
    mode: word('mode', ['TEST', 'LIVE']).notNull().default('TEST'),
    /** A decimal number: US dollars for one major unit on the day of confirmation. */
    fxToUsd: text('fx_to_usd'),
    status: word('status', [
      'PENDING_PAYMENT',
      'PAID',
      'CONFIRMED',
      'FULFILLED',
      'COMPLETED',
      'EXPIRED',
      'COMPENSATING',
      'CANCELLED',
    ]).notNull(),
    paymentStatus: word('payment_status', [
      'PENDING',
      'AUTHORIZED',
      'PROCESSING',
      'CAPTURED',
      'FAILED',
      'VOIDED',
      'PARTIALLY_REFUNDED',
      'REFUNDED',
    ]).notNull(),
    fulfilmentStatus: word('fulfilment_status', ['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED']).notNull(),
    shippingAddress: json<Address | null>('shipping_address'),
    billingAddress: json<Address | null>('billing_address'),
    shippingMethod: json<Pick<ShippingMethod, 'code' | 'title'> | null>('shipping_method'),
    affiliateCode: text('affiliate_code'),
    affiliateAt: instant('affiliate_at'),
    affiliateId: text('affiliate_id'),
    /** Of the parcel that was sent last, of those that have any. */
    trackingNumber: text('tracking_number'),
    carrier: text('carrier'),
    /** An order that nobody paid by then gives its stock back. */
    expiresAt: instant('expires_at').notNull(),
    /** When the saga is looked at again if nobody finished it; null while it is at rest. */
    resumeAt: instant('resume_at'),
    /** How often in a row what comes next has failed. */
    attempts: int('attempts').notNull().default(0),
    /** Its stock and its gift cards: HELD for it, COMMITTED by the sale, or RELEASED because it came to nothing. */
    holds: word('holds', ['HELD', 'COMMITTED', 'RELEASED']).notNull().default('HELD'),
    /** Of the payment that was begun last: orders are resumed in a lane a processor. */
    processor: text('processor'),
    /** The shopper's address, as a keyed hash: unpaid orders are bounded by it. */
    placedFrom: text('placed_from'),
    /** The idempotency key of the request that made it, hashed; null for those of older versions. */
    attemptKey: text('attempt_key'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    confirmedAt: instant('confirmed_at'),
    fulfilledAt: instant('fulfilled_at'),
  },
  (order) => [
    uniqueIndex('orders_number').on(order.shopId, order.number),
    // One live order a cart.
    uniqueIndex('orders_cart_live').on(order.cartId).where(sql`status not in ('EXPIRED', 'CANCELLED')`),
    index('orders_cart').on(order.cartId, order.number),
    // By each of these, lists are read in the order of numbers and nothing is sorted.
    index('orders_customer_number').on(order.customerId, order.shopId, order.number, order.id),
    index('orders_state_number').on(order.shopId, order.status, order.paymentStatus, order.number),
    // What is to be sent: one range, whatever has become of its payment.
    index('orders_to_send').on(order.shopId, order.number).where(sql`status = 'CONFIRMED'`),
    index('orders_partly_sent').on(order.shopId, order.number).where(sql`fulfilment_status = 'PARTIALLY_FULFILLED'`),
    index('orders_email_number').on(order.shopId, sql`lower(${order.email})`, order.number),
    // What was bought as a guest, until whoever has the address proves it.
    index('orders_guests').on(order.shopId, sql`lower(${order.email})`, order.id).where(sql`customer_id is null`),
    index('orders_expiry').on(order.expiresAt).where(sql`status = 'PENDING_PAYMENT'`),
    index('orders_unpaid_from').on(order.placedFrom).where(sql`status = 'PENDING_PAYMENT'`),
    index('orders_unpaid_of').on(order.shopId).where(sql`status = 'PENDING_PAYMENT'`),
    index('orders_fulfilled').on(order.fulfilledAt).where(sql`status = 'FULFILLED'`),
    index('orders_resume').on(order.resumeAt).where(sql`resume_at is not null`),
    index('orders_confirmed').on(order.confirmedAt).where(sql`confirmed_at is not null`),
  ],
)

/** The last number given out in each shop. */
export const orderNumbers = table('order_numbers', {
  shopId: text('shop_id')
    .primaryKey()
    .references(() => shops.id),
  last: int('last').notNull(),
})

const orderId = () =>
  text('order_id')
    .notNull()
    .references(() => orders.id)

/** What was bought, as it was then. */
export const orderLines = table(
  'order_lines',
  {
    orderId: orderId(),
    position: int('position').notNull(),
    id: text('id').notNull(),
    productId: text('product_id').notNull(),
    variantId: text('variant_id').notNull(),
    title: text('title').notNull(),
    variantTitle: text('variant_title').notNull(),
    sku: text('sku'),
    quantity: int('quantity').notNull(),
    unitPrice: money('unit_price').notNull(),
    /** Before discounts. */
    total: money('total').notNull(),
    /** What of the order's discounts is this line's. */
    discount: money('discount').notNull().default(0),
    taxRateBps: int('tax_rate_bps').notNull(),
    taxInclusive: bool('tax_inclusive').notNull(),
    taxAmount: money('tax_amount').notNull(),
    /** Whether stock was reserved for it. */
    tracked: bool('tracked').notNull(),
  },
  (line) => [primaryKey({ columns: [line.orderId, line.position] })],
)

/** What each gift card pays of an order. */
export const orderGiftCards = table(
  'order_gift_cards',
  {
    orderId: orderId(),
    giftCardId: text('gift_card_id')
      .notNull()
      .references(() => giftCards.id),
    last4: text('last4').notNull(),
    amount: money('amount').notNull(),
    refunded: money('refunded').notNull(),
    settledAt: instant('settled_at'),
  },
  (row) => [primaryKey({ columns: [row.orderId, row.giftCardId] })],
)

/** What happened to an order; append-only. */
export const orderEvents = table(
  'order_events',
  {
    id: text('id').primaryKey(),
    orderId: orderId(),
    /** From 1 in each order: clocks step back, and those of two processes differ. */
    position: int('position').notNull().default(0),
    type: text('type').notNull(),
    at: instant('at').notNull(),
    /** The id of the person or key that did it; `system` for the program itself. */
    actor: text('actor').notNull(),
    detail: json<Record<string, string | number>>('detail').notNull(),
  },
  (event) => [uniqueIndex('order_events_position').on(event.orderId, event.position)],
)
