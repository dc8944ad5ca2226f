import { sql } from 'drizzle-orm'
import { index, instant, int, json, money, table, text, uniqueIndex, word } from '../columns.ts'
import { orders } from './selling.ts'
import { shops } from './shop.ts'

const orderId = () =>
  text('order_id')
    .notNull()
    .references(() => orders.id)

const shopId = () =>
  text('shop_id')
    .notNull()
    .references(() => shops.id)

/** Whoever is asking a processor holds the row that it asks about, for as long as a call may take: nobody else asks meanwhile. */
const lease = () => ({
  leaseHolder: text('lease_holder'),
  leaseUntil: instant('lease_until'),
})

export const payments = table(
  'payments',
  {
    id: text('id').primaryKey(),
    orderId: orderId(),
    shopId: shopId(),
    /** The idempotency key of the checkout that began it, hashed: the same request goes on with the same payment. */
    attemptKey: text('attempt_key').notNull(),
    method: word('method', ['card', 'paypal', 'crypto', 'wallet']).notNull(),
    processor: text('processor').notNull(),
    /** The shop's own account with the processor that takes it; empty: the instance's. It is asked, refunded and told of by this one for ever. */
    accountId: text('account_id').notNull().default(''),
    /** Whether it is of test money. */
    mode: word('mode', ['TEST', 'LIVE']).notNull().default('TEST'),
    processorReference: text('processor_reference'),
    /** The processor's further names for it: PayPal's `authorization` and `capture`, Tap's `charge`. */
    references: json<Record<string, string>>('processor_references').notNull().default(sql`'{}'`),
    /** What the client handed over for the processor, and who pays; kept until the processor has answered. */
    sealedToken: text('sealed_token'),
    returnUrl: text('return_url'),
    clientParameters: json<Record<string, unknown>>('client_parameters').notNull(),
    amount: money('amount').notNull(),
    currency: text('currency').notNull(),
    authorized: money('authorized').notNull(),
    captured: money('captured').notNull(),
    refunded: money('refunded').notNull(),
    status: word('status', ['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED']).notNull(),
    failureCode: text('failure_code'),
    /** When its processor was told to begin it, or may have been: not all of them may be told twice. Null: certainly not yet. */
    sentAt: instant('sent_at'),
    /** When whoever holds the cart has had its processor asked last. */
    askedAt: instant('asked_at'),
    /** When it ended without money, and when its processor is asked about it again all the same; null: no more. */
    endedAt: instant('ended_at'),
    askAt: instant('ask_at'),
    ...lease(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (payment) => [
    uniqueIndex('payments_attempt').on(payment.orderId, payment.attemptKey),
    // One live payment an order.
    uniqueIndex('payments_live').on(payment.orderId).where(sql`status not in ('FAILED', 'VOIDED')`),
    // Of one account no two payments have one name.
    uniqueIndex('payments_named').on(payment.processor, payment.processorReference, payment.accountId),
    index('payments_ask').on(payment.askAt).where(sql`ask_at is not null`),
  ],
)

export const refunds = table(
  'refunds',
  {
    id: text('id').primaryKey(),
    orderId: orderId(),
    shopId: shopId(),
    /** Null when all of it goes back to gift cards. */
    paymentId: text('payment_id').references(() => payments.id),
    processor: text('processor'),
    processorReference: text('processor_reference'),
    currency: text('currency').notNull(),
    /** Through the processor. */
    amount: money('amount').notNull(),
    /** Back to gift cards, and to which. */
    giftCardAmount: money('gift_card_amount').notNull(),
    giftCards: json<{ giftCardId: string; amount: number }[]>('gift_cards').notNull(),
    /** Which lines it is of, and what of each; none: it is an amount of the order as a whole. `restock`: these go back on the shelf. */
    lines: json<{ lineId: string; quantity: number; amount: number; restock: boolean }[]>('lines').notNull().default(sql`'[]'`),
    reason: text('reason'),
    /** What it is for: more of the order than money may depend on it. ELSEWHERE: it was made at the processor's own page. */
    purpose: word('purpose', ['REFUND', 'CANCEL', 'COMPENSATE', 'LATE_CAPTURE', 'ELSEWHERE']).notNull(),
    /** The idempotency key of the request, hashed, or what the program itself does it for. */
    attemptKey: text('attempt_key').notNull(),
    actor: text('actor').notNull(),
    /** CLAIMABLE: the shopper fetches it at `claimUrl`. MANUAL: it must be paid back by hand. */
    status: word('status', ['PENDING', 'SUCCEEDED', 'FAILED', 'CLAIMABLE', 'MANUAL']).notNull(),
    failureCode: text('failure_code'),
    claimUrl: text('claim_url'),
    /** What the shop calls the payment by hand that settled it: a bank's reference. */
    settledReference: text('settled_reference'),
    attempts: int('attempts').notNull(),
    /** When the processor is asked again; null once it is settled. */
    resumeAt: instant('resume_at'),
    /** When the processor was told first: from then on it is asked what it knows before anything is sent again. */
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

/** Money of a payment that the shopper's bank took back, or gave again, as the processor's messages tell it. */
export const disputes = table(
  'disputes',
  {
    id: text('id').primaryKey(),
    orderId: orderId(),
    shopId: shopId(),
    paymentId: text('payment_id')
      .notNull()
      .references(() => payments.id),
    /** The processor's name for it. */
    reference: text('reference').notNull(),
    amount: money('amount').notNull(),
    currency: text('currency').notNull(),
    status: word('status', ['OPEN', 'WON', 'LOST']).notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (dispute) => [
    uniqueIndex('disputes_reference').on(dispute.paymentId, dispute.reference),
    index('disputes_order').on(dispute.orderId, dispute.id),
    index('disputes_open').on(dispute.shopId, dispute.id).where(sql`status = 'OPEN'`),
  ],
)

/** The inbox of processors' messages: each that was verified, once. What it says is asked of the processor. */
export const paymentMessages = table(
  'payment_messages',
  {
    id: text('id').primaryKey(),
    processor: text('processor').notNull(),
    /** Whose account it was verified by; empty: the instance's. */
    accountId: text('account_id').notNull(),
    /** The shop of that account; null: the instance's. */
    shopId: text('shop_id').references(() => shops.id),
    /** The processor's id of the message. */
    messageId: text('message_id').notNull(),
    /** The payment that it names, by our id or by the processor's names; all null for a message that is about none. */
    paymentId: text('payment_id'),
    reference: text('reference'),
    references: json<Record<string, string> | null>('processor_references'),
    dispute: json<{ reference: string; amount: number; currency: string; state: 'OPEN' | 'WON' | 'LOST' } | null>('dispute'),
    attempts: int('attempts').notNull(),
    /** When it is worked again; null once it is done. */
    resumeAt: instant('resume_at'),
    receivedAt: instant('received_at').notNull(),
  },
  (message) => [
    uniqueIndex('payment_messages_once').on(message.processor, message.accountId, message.messageId),
    index('payment_messages_resume').on(message.resumeAt).where(sql`resume_at is not null`),
    index('payment_messages_received').on(message.receivedAt),
  ],
)
