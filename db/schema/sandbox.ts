import { instant, money, table, text, word } from '../columns.ts'

/** The books of the sandbox processor: it stands in for a company elsewhere, and no order looks in here. */
export const sandboxPayments = table('sandbox_payments', {
  /** The reference under which the processor knows it. */
  id: text('id').primaryKey(),
  token: text('token').notNull(),
  amount: money('amount').notNull(),
  currency: text('currency').notNull(),
  captured: money('captured').notNull(),
  refunded: money('refunded').notNull(),
  status: word('status', ['PENDING', 'AUTHORIZED', 'CAPTURED', 'DECLINED', 'VOIDED']).notNull(),
  createdAt: instant('created_at').notNull(),
})

export const sandboxRefunds = table('sandbox_refunds', {
  id: text('id').primaryKey(),
  paymentId: text('payment_id')
    .notNull()
    .references(() => sandboxPayments.id),
  amount: money('amount').notNull(),
  createdAt: instant('created_at').notNull(),
})
