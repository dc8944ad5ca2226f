import { sql } from 'drizzle-orm'
import { bool, enumText, index, instant, int, json, money, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import { customers } from './people.ts'
import { type ShippingMethod, shops } from './shop.ts'

/** A shipping or billing address. */
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

/** Whom the gift cards of a cart or order are mailed to. */
export type GiftCardRecipient = { email: string; name: string | null; message: string | null }

/** A discount of an order, in minor units. */
export type OrderDiscount = {
  id: string
  title: string
  /** As the shop writes it; null for an automatic discount. */
  code: string | null
  kind: 'PERCENT' | 'FIXED' | 'FREE_SHIPPING'
  amount: number
}

/** The platform whose agent filled a cart; `profile` is null for an unnamed one. `session` has a secret id. */
export type AgentOrigin = { profile: string | null; attribution: Record<string, string> | null; session?: AgentSessionOrigin }
type AgentSessionOrigin = { id: string; isProven: boolean }

/** Fields of a draft that the shop has fixed besides lines, prices and discount. */
export type SettledField = 'email' | 'shippingAddress' | 'billingAddress' | 'shippingMethod'

/** Addresses of a shop. With `customer_id` they are in that customer's address book. */
export const addresses = table(
  'addresses',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    customerId: text('customer_id').references(() => customers.id),
    /** The customer who entered it; null if the shop did. */
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

/** Totals of a customer by currency, maintained by the writes of orders. */
export const customerTotals = table(
  'customer_totals',
  {
    customerId: reference('customer_id', () => customers.id),
    currency: text('currency').notNull(),
    /** Placed orders in any state. */
    orders: int('orders').notNull(),
    /** Totals of confirmed orders minus refunds. */
    spent: money('spent').notNull(),
    /** The same for live orders; the first two are of test orders. */
    liveOrders: int('live_orders').notNull().default(0),
    liveSpent: money('live_spent').notNull().default(0),
  },
  (row) => [primaryKey({ columns: [row.customerId, row.currency] })],
)

/** Gift cards that a shop issued or sold. */
export const giftCards = table(
  'gift_cards',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    /** HMAC of the code, which is not stored. */
    codeHash: text('code_hash').notNull(),
    last4: text('last4').notNull(),
    currency: text('currency').notNull(),
    initialAmount: money('initial_amount').notNull(),
    /** Sum of the transactions. */
    balance: money('balance').notNull(),
    expiresAt: instant('expires_at'),
    status: enumText('status', ['ACTIVE', 'DISABLED']).notNull(),
    /** Restricts the card to this customer. */
    customerId: text('customer_id').references(() => customers.id),
    note: text('note'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Increases with management changes, not with the balance. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
    /** The order and line that sold the card, and which unit of the line it is, from 1. Null: issued by the shop. */
    orderId: text('order_id'),
    orderLineId: text('order_line_id'),
    unit: int('unit'),
    /** The refund of that order that disabled the card. */
    refundId: text('refund_id'),
  },
  (card) => [
    uniqueIndex('gift_cards_code').on(card.shopId, card.codeHash),
    // Each unit that was paid issues one card.
    uniqueIndex('gift_cards_sold').on(card.orderId, card.orderLineId, card.unit).where(sql`order_id is not null`),
    index('gift_cards_shop').on(card.shopId, card.id),
    index('gift_cards_customer').on(card.customerId).where(sql`customer_id is not null`),
  ],
)

/**
 * Append-only signed amounts that add up to the balance. A HOLD takes the amount, a RELEASE returns it; a settled hold
 * stays, and a REFUND returns its amount.
 */
export const giftCardTransactions = table(
  'gift_card_transactions',
  {
    id: text('id').primaryKey(),
    giftCardId: reference('gift_card_id', () => giftCards.id),
    kind: enumText('kind', ['ISSUE', 'HOLD', 'RELEASE', 'REFUND']).notNull(),
    amount: money('amount').notNull(),
    orderId: text('order_id'),
    /** The refund, for REFUND. */
    refundId: text('refund_id'),
    at: instant('at').notNull(),
  },
  (row) => [index('gift_card_transactions_card').on(row.giftCardId, row.id), index('gift_card_transactions_order').on(row.orderId)],
)

/** Carts, of shoppers, agents and draft orders. The id of a guest's cart is its credential. */
export const carts = table(
  'carts',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    customerId: text('customer_id').references(() => customers.id),
    currency: text('currency').notNull(),
    email: text('email'),
    shippingAddress: json<Address | null>('shipping_address'),
    billingAddress: json<Address | null>('billing_address'),
    /** Code of a shipping method. */
    shippingMethod: text('shipping_method'),
    /** Null: the buyer. */
    giftCardRecipient: json<GiftCardRecipient | null>('gift_card_recipient'),
    affiliateCode: text('affiliate_code'),
    /** When the affiliate code was entered, because attribution expires. */
    affiliateAt: instant('affiliate_at'),
    /** Normalized code; its validity is checked at each read. */
    discountCode: text('discount_code'),
    /** Ids of the discounts last shown, separated by commas. */
    shownDiscounts: text('shown_discounts').notNull().default(''),
    /** Total and amount due last shown: nothing else is charged. */
    shownTotal: money('shown_total').notNull(),
    shownDue: money('shown_due').notNull(),
    /** Draft order: contents and prices are fixed, and these fields too. */
    draft: json<{ id: string; settled: SettledField[] } | null>('draft'),
    status: enumText('status', ['OPEN', 'CONVERTED', 'EXPIRED']).notNull(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** The shopper agreed to a mail about this cart. */
    acceptsMarketing: bool('accepts_marketing').notNull().default(false),
    /** When the mail about the abandoned cart was queued. */
    remindedAt: instant('reminded_at'),
    /** When the shopper used the link of that mail. */
    restoredAt: instant('restored_at'),
    /** Null: the shopper filled it. */
    agent: json<AgentOrigin | null>('agent'),
  },
  (cart) => [
    index('carts_expiry').on(cart.expiresAt).where(sql`status = 'OPEN'`),
    index('carts_over').on(cart.updatedAt).where(sql`status <> 'OPEN'`),
    index('carts_customer').on(cart.customerId, cart.status, cart.createdAt),
    // For conversion figures.
    index('carts_begun').on(cart.shopId, cart.createdAt, cart.status).where(sql`draft is null`),
    index('carts_abandoned').on(cart.shopId, cart.updatedAt).where(sql`status = 'OPEN' and email is not null and draft is null`),
    index('carts_mailed').on(cart.shopId, cart.updatedAt).where(sql`status = 'OPEN' and reminded_at is not null`),
    index('carts_restored').on(cart.shopId, cart.restoredAt).where(sql`restored_at is not null`),
  ],
)

export const cartLines = table(
  'cart_lines',
  {
    id: text('id').primaryKey(),
    cartId: reference('cart_id', () => carts.id, { onDelete: 'cascade' }),
    /** No reference: a line of a deleted variant cannot be bought. */
    variantId: text('variant_id').notNull(),
    quantity: int('quantity').notNull(),
    /** The price shown to the shopper. */
    unitPrice: money('unit_price').notNull(),
  },
  (line) => [uniqueIndex('cart_lines_variant').on(line.cartId, line.variantId)],
)

/** Gift cards that a shopper entered in a cart. */
export const cartGiftCards = table(
  'cart_gift_cards',
  {
    cartId: reference('cart_id', () => carts.id, { onDelete: 'cascade' }),
    giftCardId: reference('gift_card_id', () => giftCards.id),
    appliedAt: instant('applied_at').notNull(),
  },
  (row) => [primaryKey({ columns: [row.cartId, row.giftCardId] })],
)

/** The states in which orders stay. Literals, so that both engines can match the condition to the index. */
export const restingStatus = sql.raw("status in ('CONFIRMED', 'FULFILLED', 'COMPLETED', 'EXPIRED', 'CANCELLED')")
export const orders = table(
  'orders',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    /** From 1 per shop, without gaps. */
    number: int('number').notNull(),
    cartId: text('cart_id').notNull(),
    customerId: text('customer_id').references(() => customers.id),
    email: text('email').notNull(),
    currency: text('currency').notNull(),
    subtotal: money('subtotal').notNull(),
    discountTotal: money('discount_total').notNull(),
    /** Applied discounts. A free-shipping discount is not part of the total; it has the shipping price. */
    discounts: json<OrderDiscount[]>('discounts').notNull().default(sql`'[]'`),
    shippingTotal: money('shipping_total').notNull(),
    /** Tax added to prices. */
    taxTotal: money('tax_total').notNull(),
    /** Tax included in prices. */
    taxIncluded: money('tax_included').notNull(),
    /** Part of `taxTotal`, or of `taxIncluded` where the rate is inclusive. */
    shippingTax: money('shipping_tax').notNull().default(0),
    /** In hundredths of a basis point. */
    shippingTaxHundredths: int('shipping_tax_hundredths').notNull().default(0),
    shippingTaxInclusive: bool('shipping_tax_inclusive').notNull().default(false),
    giftCardTotal: money('gift_card_total').notNull(),
    total: money('total').notNull(),
    amountDue: money('amount_due').notNull(),
    /** By processors. */
    capturedTotal: money('captured_total').notNull(),
    /** By processors. */
    refundedTotal: money('refunded_total').notNull(),
    /** Amount to gift cards. */
    giftCardRefundedTotal: money('gift_card_refunded_total').notNull(),
    /** Mode of the shop at placing: live or test money. */
    mode: enumText('mode', ['TEST', 'LIVE']).notNull().default('TEST'),
    /** Decimal text: US dollars per major unit on the day of confirmation. */
    fxToUsd: text('fx_to_usd'),
    status: enumText('status', [
      'PENDING_PAYMENT',
      'PAID',
      'CONFIRMED',
      'FULFILLED',
      'COMPLETED',
      'EXPIRED',
      'COMPENSATING',
      'CANCELLED',
    ]).notNull(),
    paymentStatus: enumText('payment_status', [
      'PENDING',
      'AUTHORIZED',
      'PROCESSING',
      'CAPTURED',
      'FAILED',
      'VOIDED',
      'PARTIALLY_REFUNDED',
      'REFUNDED',
    ]).notNull(),
    fulfilmentStatus: enumText('fulfilment_status', ['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED']).notNull(),
    shippingAddress: json<Address | null>('shipping_address'),
    billingAddress: json<Address | null>('billing_address'),
    shippingMethod: json<Pick<ShippingMethod, 'code' | 'title'> | null>('shipping_method'),
    affiliateCode: text('affiliate_code'),
    affiliateAt: instant('affiliate_at'),
    affiliateId: text('affiliate_id'),
    /** Tracking of the latest parcel with tracking. */
    trackingNumber: text('tracking_number'),
    carrier: text('carrier'),
    /** When an unpaid order expires and releases its stock. */
    expiresAt: instant('expires_at').notNull(),
    /** When the saga resumes if no process finishes it; null at rest. */
    resumeAt: instant('resume_at'),
    /** Consecutive failures of the next step. */
    attempts: int('attempts').notNull().default(0),
    /** Stock and gift cards: HELD by the order, COMMITTED by the sale, or RELEASED. */
    holds: enumText('holds', ['HELD', 'COMMITTED', 'RELEASED']).notNull().default('HELD'),
    /** Processor of the latest payment: the lane in which the order resumes. */
    processor: text('processor'),
    /** Keyed hash of the shopper's address, for the limit of unpaid orders. */
    placedFrom: text('placed_from'),
    /** Hash of the request's idempotency key; null in rows of older versions. */
    attemptKey: text('attempt_key'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    confirmedAt: instant('confirmed_at'),
    fulfilledAt: instant('fulfilled_at'),
    /** The staff's tags; shoppers never see them. */
    tags: json<string[]>('tags').notNull().default(sql`'[]'`),
    /** Null: the buyer, or the order has no gift cards. */
    giftCardRecipient: json<GiftCardRecipient | null>('gift_card_recipient'),
    /** Increases with corrections by management, not with sales and parcels. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
    /** The shopper used the link of an abandoned-cart mail before ordering. */
    fromAbandonedCart: bool('from_abandoned_cart').notNull().default(false),
    /** Null: no agent was part of the purchase. */
    agent: json<AgentOrigin | null>('agent'),
  },
  (order) => [
    uniqueIndex('orders_number').on(order.shopId, order.number),
    // At most one active order per cart.
    uniqueIndex('orders_cart_live').on(order.cartId).where(sql`status not in ('EXPIRED', 'CANCELLED')`),
    index('orders_cart').on(order.cartId, order.number),
    // Each serves a list in number order without sorting.
    index('orders_customer_number').on(order.customerId, order.shopId, order.number, order.id),
    // The last columns are filters of lists by state, so that a long list reads the index alone.
    // The index by total leaves out short-lived states, so that a sale enters it once. Its query repeats the condition.
    index('orders_state_total')
      .on(...[order.shopId, order.status, order.total, order.number, order.paymentStatus, order.fulfilmentStatus, order.createdAt])
      .where(restingStatus),
    index('orders_state_number').on(
      ...[order.shopId, order.status, order.paymentStatus, order.number, order.fulfilmentStatus, order.createdAt],
    ),
    index('orders_agent')
      .on(...[order.shopId, order.number, order.status, order.paymentStatus, order.fulfilmentStatus, order.createdAt])
      .where(sql`agent is not null`),
    // CONFIRMED orders: one range in any payment state.
    index('orders_to_send').on(order.shopId, order.number, order.fulfilmentStatus, order.createdAt).where(sql`status = 'CONFIRMED'`),
    index('orders_fulfilment').on(order.shopId, order.fulfilmentStatus, order.number, order.createdAt),
    index('orders_email_number').on(order.shopId, sql`lower(${order.email})`, order.number),
    // Guest orders until the shopper verifies the address.
    index('orders_guests').on(order.shopId, sql`lower(${order.email})`, order.id).where(sql`customer_id is null`),
    index('orders_expiry').on(order.expiresAt).where(sql`status = 'PENDING_PAYMENT'`),
    index('orders_unpaid_from').on(order.placedFrom).where(sql`status = 'PENDING_PAYMENT'`),
    index('orders_unpaid_of').on(order.shopId).where(sql`status = 'PENDING_PAYMENT'`),
    index('orders_fulfilled').on(order.fulfilledAt).where(sql`status = 'FULFILLED'`),
    index('orders_resume').on(order.resumeAt).where(sql`resume_at is not null`),
    index('orders_confirmed').on(order.confirmedAt).where(sql`confirmed_at is not null`),
    // For the days of a shop that are not UTC days.
    index('orders_shop_confirmed').on(order.shopId, order.confirmedAt).where(sql`confirmed_at is not null`),
  ],
)

/** Last order number of each shop. */
export const orderNumbers = table('order_numbers', {
  shopId: reference('shop_id', () => shops.id).primaryKey(),
  last: int('last').notNull(),
})

/** Bought lines with their data at the time of the order. */
export const orderLines = table(
  'order_lines',
  {
    orderId: reference('order_id', () => orders.id),
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
    /** The line's share of discounts. */
    discount: money('discount').notNull().default(0),
    /** Whole basis points of the tax rate; `lineTaxRate` adds the hundredths. */
    taxRateWholeBps: int('tax_rate_bps').notNull(),
    /** Hundredths of a basis point beyond the whole ones. */
    taxRateHundredths: int('tax_rate_hundredths').notNull().default(0),
    taxInclusive: bool('tax_inclusive').notNull(),
    taxAmount: money('tax_amount').notNull(),
    /** Whether stock was reserved. */
    tracked: bool('tracked').notNull(),
    /** Whether each unit issues a gift card. */
    giftCard: bool('gift_card').notNull().default(false),
  },
  (line) => [
    primaryKey({ columns: [line.orderId, line.position] }),
    // Whether a product was ever ordered.
    index('order_lines_product').on(line.productId),
  ],
)

/** Amount that each gift card pays. */
export const orderGiftCards = table(
  'order_gift_cards',
  {
    orderId: reference('order_id', () => orders.id),
    giftCardId: reference('gift_card_id', () => giftCards.id),
    last4: text('last4').notNull(),
    amount: money('amount').notNull(),
    refunded: money('refunded').notNull(),
    settledAt: instant('settled_at'),
  },
  (row) => [primaryKey({ columns: [row.orderId, row.giftCardId] })],
)

/** Events of an order; append-only. */
export const orderEvents = table(
  'order_events',
  {
    id: text('id').primaryKey(),
    orderId: reference('order_id', () => orders.id),
    /** Sequence from 1 per order, because clocks of processes differ. */
    position: int('position').notNull().default(0),
    type: text('type').notNull(),
    at: instant('at').notNull(),
    /** Id of the person or key; `system` for the program. */
    actor: text('actor').notNull(),
    detail: json<Record<string, string | number>>('detail').notNull(),
  },
  (event) => [uniqueIndex('order_events_position').on(event.orderId, event.position)],
)
