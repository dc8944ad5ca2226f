import { sql } from 'drizzle-orm'
import { enumText, index, instant, int, json, money, reference, table, text, uniqueIndex } from '../columns.ts'
import { orders } from './selling.ts'
import { shops } from './shop.ts'

/** The lease of a payment or refund, held during a call to its processor. */
const lease = () => ({
  leaseHolder: text('lease_holder'),
  leaseUntil: instant('lease_until'),
})

/** Attempts to pay an order at a processor, or by hand. */
export const payments = table(
  'payments',
  {
    id: text('id').primaryKey(),
    orderId: reference('order_id', () => orders.id),
    shopId: reference('shop_id', () => shops.id),
    /** Hash of the checkout's idempotency key: a retry continues the same payment. */
    attemptKey: text('attempt_key').notNull(),
    method: enumText('method', ['card', 'paypal', 'crypto', 'wallet', 'manual']).notNull(),
    processor: text('processor').notNull(),
    /** The shop's own processor account; empty: the instance's. It never changes. */
    accountId: text('account_id').notNull().default(''),
    /** Whether it is test money. */
    mode: enumText('mode', ['TEST', 'LIVE']).notNull().default('TEST'),
    processorReference: text('processor_reference'),
    /**
     * Other ids at the processor: PayPal's `authorization` and `capture`, Tap's `charge`. `manual`: the shop's own
     * reference of a manual payment.
     */
    references: json<Record<string, string>>('processor_references').notNull().default(sql`'{}'`),
    /** Data of the client for the processor, and the payer; deleted after the processor has responded. */
    sealedToken: text('sealed_token'),
    returnUrl: text('return_url'),
    clientParameters: json<Record<string, unknown>>('client_parameters').notNull(),
    amount: money('amount').notNull(),
    currency: text('currency').notNull(),
    authorized: money('authorized').notNull(),
    captured: money('captured').notNull(),
    refunded: money('refunded').notNull(),
    status: enumText('status', ['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED']).notNull(),
    failureCode: text('failure_code'),
    /**
     * When the processor may have received it first; not all processors accept a second request. Null: certainly not
     * sent.
     */
    sentAt: instant('sent_at'),
    /** When a shopper last triggered a status query. */
    askedAt: instant('asked_at'),
    /** When it ended without money, and when its status is queried again; null: never. */
    endedAt: instant('ended_at'),
    askAt: instant('ask_at'),
    ...lease(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (payment) => [
    uniqueIndex('payments_attempt').on(payment.orderId, payment.attemptKey),
    // At most one active payment per order.
    uniqueIndex('payments_live').on(payment.orderId).where(sql`status not in ('FAILED', 'VOIDED')`),
    // Processor ids are unique per account.
    uniqueIndex('payments_named').on(payment.processor, payment.processorReference, payment.accountId),
    index('payments_ask').on(payment.askAt).where(sql`ask_at is not null`),
  ],
)

/** Refunds of orders, to the processor's payment, to gift cards, or both. */
export const refunds = table(
  'refunds',
  {
    id: text('id').primaryKey(),
    orderId: reference('order_id', () => orders.id),
    shopId: reference('shop_id', () => shops.id),
    /** Null if the whole amount returns to gift cards. */
    paymentId: text('payment_id').references(() => payments.id),
    processor: text('processor'),
    processorReference: text('processor_reference'),
    currency: text('currency').notNull(),
    /** Amount through the processor. */
    amount: money('amount').notNull(),
    /** Amount to gift cards, and which. */
    giftCardAmount: money('gift_card_amount').notNull(),
    giftCards: json<{ giftCardId: string; amount: number }[]>('gift_cards').notNull(),
    /**
     * Refunded lines with units; empty for an amount. `restock`: these units return to stock. `returned`: a return
     * received them, and restocked them if `restock`. `restocked`: how many this refund returned to stock.
     */
    lines: json<{ lineId: string; quantity: number; amount: number; restock: boolean; returned?: true; restocked?: number }[]>('lines')
      .notNull()
      .default(sql`'[]'`),
    reason: text('reason'),
    /** Purpose of the refund, which the order's state may depend on. ELSEWHERE: made in the processor's dashboard. */
    purpose: enumText('purpose', ['REFUND', 'CANCEL', 'COMPENSATE', 'LATE_CAPTURE', 'ELSEWHERE']).notNull(),
    /** Hash of the request's idempotency key, or the program's own reason. */
    attemptKey: text('attempt_key').notNull(),
    actor: text('actor').notNull(),
    /** CLAIMABLE: the shopper collects it at `claimUrl`. MANUAL: must be paid by hand. */
    status: enumText('status', ['PENDING', 'SUCCEEDED', 'FAILED', 'CLAIMABLE', 'MANUAL']).notNull(),
    failureCode: text('failure_code'),
    claimUrl: text('claim_url'),
    /** Reference of a manual payment, such as the bank's. */
    settledReference: text('settled_reference'),
    attempts: int('attempts').notNull(),
    /** Next status query; null when settled. */
    resumeAt: instant('resume_at'),
    /** When the processor received it first. From then on its status is queried before anything is sent. */
    sentAt: instant('sent_at'),
    ...lease(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (refund) => [
    uniqueIndex('refunds_attempt').on(refund.orderId, refund.attemptKey),
    index('refunds_order').on(refund.orderId, refund.id),
    index('refunds_shop').on(refund.shopId, refund.id),
    index('refunds_status').on(refund.shopId, refund.status, refund.id),
    index('refunds_resume').on(refund.resumeAt).where(sql`resume_at is not null`),
  ],
)

/** Payments that a bank reclaimed or returned, as the processor reports them. */
export const disputes = table(
  'disputes',
  {
    id: text('id').primaryKey(),
    orderId: reference('order_id', () => orders.id),
    shopId: reference('shop_id', () => shops.id),
    paymentId: reference('payment_id', () => payments.id),
    /** Id at the processor. */
    reference: text('reference').notNull(),
    amount: money('amount').notNull(),
    currency: text('currency').notNull(),
    status: enumText('status', ['OPEN', 'WON', 'LOST']).notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (dispute) => [
    uniqueIndex('disputes_reference').on(dispute.paymentId, dispute.reference),
    index('disputes_order').on(dispute.orderId, dispute.id),
    index('disputes_open').on(dispute.shopId, dispute.id).where(sql`status = 'OPEN'`),
  ],
)

/** Inbox of verified processor messages, each once. Their content is not trusted: the processor is queried. */
export const paymentMessages = table(
  'payment_messages',
  {
    id: text('id').primaryKey(),
    processor: text('processor').notNull(),
    /** Account that verified it; empty: the instance's. */
    accountId: text('account_id').notNull(),
    /** Shop of the account; null: the instance's. */
    shopId: text('shop_id').references(() => shops.id),
    /** Id of the message at the processor. */
    messageId: text('message_id').notNull(),
    /** The payment it names, by our id or the processor's ids; null if none. */
    paymentId: text('payment_id'),
    reference: text('reference'),
    references: json<Record<string, string> | null>('processor_references'),
    dispute: json<{ reference: string; amount: number; currency: string; state: 'OPEN' | 'WON' | 'LOST' } | null>('dispute'),
    attempts: int('attempts').notNull(),
    /** Next processing attempt; null when done. */
    resumeAt: instant('resume_at'),
    receivedAt: instant('received_at').notNull(),
  },
  (message) => [
    uniqueIndex('payment_messages_once').on(message.processor, message.accountId, message.messageId),
    index('payment_messages_resume').on(message.resumeAt).where(sql`resume_at is not null`),
    index('payment_messages_received').on(message.receivedAt),
  ],
)
