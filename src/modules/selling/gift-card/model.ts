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
  last4: t.String({ description: 'The end of the code' }),
  currency: t.String(),
  initialAmount: MoneySchema,
  balance: MoneySchema,
  expiresAt: nullable(Instant),
  status: oneOf(giftCardStatuses),
  expired: t.Boolean({ description: 'Whether `expiresAt` has passed' }),
  usedUp: t.Boolean({ description: 'Whether nothing is left on it' }),
  customerId: nullable(t.String({ description: 'Only this customer may use it' })),
  note: nullable(t.String()),
  createdAt: Instant,
  updatedAt: Instant,
}
export const GiftCardRecord = t.Object(record, { title: 'GiftCard' })
const GiftCardTransaction = t.Object(
  {
    id: t.String(),
    kind: oneOf(giftCardTransactionKinds, {
      description:
        'ISSUE: what it began with. HOLD: an order took it, and keeps it when it is a sale. RELEASE: an order that came to nothing gave it back. REFUND: a refund did',
    }),
    amount: t.Object({ amount: integer({ description: 'Minor units; below zero for what was taken' }), currency: t.String(CurrencyCode) }),
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
    transactionsCapped: t.Optional(t.Literal(true, { description: 'There were more' })),
  },
  { title: 'GiftCardWithTransactions' },
)
export const IssuedGiftCardRecord = t.Object({ ...record, code: t.String({ description: 'Shown this once' }) }, { title: 'IssuedGiftCard' })
export const GiftCards = pageOf(GiftCardRecord)
export const GiftCardsQuery = t.Object({
  ...pageQuery,
  customerId: t.Optional(text(64, { minLength: 1, description: 'Those that only this customer may use' })),
})
export type GiftCardFilter = Pick<Static<typeof GiftCardsQuery>, 'customerId'>

const amount = t.Object({
  amount: integer({ minimum: 1, maximum: amountMax, description: 'Minor units' }),
  currency: t.String({ ...CurrencyCode, description: "The shop's" }),
})
const note = maybe(text(noteMax, { description: "The shop's own; no shopper sees it" }))

export const IssueGiftCard = t.Object({
  amount,
  expiresAt: maybe(instantOf('In the future; left out or null: never')),
  customerId: maybe(text(64, { description: 'A customer of the shop, who alone may use it; left out or null: whoever has the code' })),
  note,
})
export const ChangeGiftCard = t.Object({
  status: t.Optional(oneOf(giftCardStatuses)),
  note,
  expiresAt: maybe(instantOf('In the future; null: never')),
})

/** A code as a shopper types it, in the bodies of other routes. */
export const GiftCardCode = text(codeTextMax, { minLength: 1, description: 'Case, spaces and dashes do not count; O is 0, I and L are 1' })
