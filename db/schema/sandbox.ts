import { enumText, instant, money, reference, table, text } from '../columns.ts'

/** State of the sandbox processor, which simulates an external company: orders never read it. */
export const sandboxPayments = table('sandbox_payments', {
  /** Reference at the processor. */
  id: text('id').primaryKey(),
  token: text('token').notNull(),
  amount: money('amount').notNull(),
  currency: text('currency').notNull(),
  captured: money('captured').notNull(),
  refunded: money('refunded').notNull(),
  status: enumText('status', ['PENDING', 'AUTHORIZED', 'CAPTURED', 'DECLINED', 'VOIDED']).notNull(),
  createdAt: instant('created_at').notNull(),
})

/** Refunds of the sandbox processor. */
export const sandboxRefunds = table('sandbox_refunds', {
  id: text('id').primaryKey(),
  paymentId: reference('payment_id', () => sandboxPayments.id),
  amount: money('amount').notNull(),
  createdAt: instant('created_at').notNull(),
})
