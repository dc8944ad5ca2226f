import type { Static } from '@sinclair/typebox'
import { t } from 'elysia'
import {
  CurrencyCode,
  Instant,
  instantOf,
  integer,
  MoneySchema,
  maybe,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  text,
} from '../../../http/schema.ts'
import { amountMax } from '../../../lib/money.ts'
import { codeTextMax, giftCardStatuses, giftCardTransactionKinds, noteMax } from './domain.ts'

const record = {
  id: t.String(),
  shopId: t.String(),
  last4: t.String({ description: 'Last characters of the code' }),
  currency: t.String(),
  initialAmount: MoneySchema,
  balance: MoneySchema,
  expiresAt: nullable(Instant),
  status: oneOf(giftCardStatuses),
  expired: t.Boolean({ description: 'Whether `expiresAt` has passed' }),
  usedUp: t.Boolean({ description: 'Whether the balance is 0' }),
  customerId: nullable(t.String({ description: 'Only this customer can use it' })),
  note: nullable(t.String()),
  orderId: t.Optional(
    nullable(
      t.String({
        description: 'The order that sold the card. Null: issued by the shop. Missing only in a replayed response of an earlier version',
      }),
    ),
  ),
  createdAt: Instant,
  updatedAt: Instant,
}
export const GiftCardRecord = t.Object(record, { title: 'GiftCard' })
const GiftCardTransaction = t.Object(
  {
    id: t.String(),
    kind: oneOf(giftCardTransactionKinds, {
      description:
        'ISSUE: initial balance. HOLD: reserved or used by an order. RELEASE: returned by an order that was not completed. REFUND: returned by a refund',
    }),
    amount: t.Object({
      amount: integer({ description: 'In minor units. Negative if the balance decreased' }),
      currency: t.String(CurrencyCode),
    }),
    orderId: nullable(t.String()),
    refundId: nullable(t.String()),
    at: Instant,
  },
  { title: 'GiftCardTransaction' },
)
export const GiftCardWithTransactions = t.Object(
  {
    ...record,
    transactions: t.Array(GiftCardTransaction),
    transactionsCapped: t.Optional(t.Literal(true, { description: 'True if there are more transactions' })),
  },
  { title: 'GiftCardWithTransactions' },
)
export const IssuedGiftCardRecord = t.Object(
  { ...record, code: t.String({ description: 'Returned only once' }) },
  { title: 'IssuedGiftCard' },
)
export const GiftCards = pageOf(GiftCardRecord)
export const GiftCardsQuery = t.Object({
  ...pageQuery,
  customerId: t.Optional(text(64, { minLength: 1, description: 'Gift cards that only this customer can use' })),
})
export type GiftCardFilter = Pick<Static<typeof GiftCardsQuery>, 'customerId'>

const amount = t.Object({
  amount: integer({ minimum: 1, maximum: amountMax, description: 'In minor units' }),
  currency: t.String({ ...CurrencyCode, description: "The shop's currency" }),
})
const note = maybe(text(noteMax, { description: 'Internal note. Shoppers do not see it' }))

export const IssueGiftCard = t.Object({
  amount,
  expiresAt: maybe(instantOf('Must be in the future. Default: never expires')),
  customerId: maybe(text(64, { description: 'A customer of the shop, who alone can use the card. Default: anyone who has the code' })),
  note,
})
export const ChangeGiftCard = t.Object({
  status: t.Optional(oneOf(giftCardStatuses)),
  note,
  expiresAt: maybe(instantOf('Must be in the future. Null: never expires')),
})

/** A code as a shopper types it, in the bodies of other routes. */
export const GiftCardCode = text(codeTextMax, {
  minLength: 1,
  description: 'Case, spaces and dashes are ignored. O is read as 0, and I and L as 1',
})
