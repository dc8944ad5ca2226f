import { t } from 'elysia'
import {
  CurrencyCode,
  codeForm,
  fieldsOf,
  Instant,
  instantOf,
  integer,
  MoneySchema,
  maybe,
  nullable,
  oneOf,
  pageOf,
  publicName,
  text,
} from '../../../http/schema.ts'
import { amountMax } from '../../../lib/money.ts'
import { bpsOfWhole, codeMax, collectionsMax, discountKinds, discountStatuses, productsMax, titleMax, usageMax } from './domain.ts'

const kind = oneOf(discountKinds, {
  description: 'PERCENT takes off `valueBps` of eligible lines. FIXED takes off `amount` once per order. FREE_SHIPPING makes shipping free',
})

export const DiscountRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'shopId', 'title'),
    code: nullable(t.String({ description: 'Null: applied automatically' })),
    kind,
    valueBps: nullable(integer({ description: 'In hundredths of a percent' })),
    amount: nullable(MoneySchema),
    minSubtotal: nullable(MoneySchema),
    productIds: nullable(t.Array(t.String())),
    collectionIds: nullable(t.Array(t.String())),
    startsAt: nullable(Instant),
    endsAt: nullable(Instant),
    usageLimit: nullable(integer()),
    perCustomerLimit: nullable(integer()),
    status: oneOf(discountStatuses),
    used: nullable(integer({ description: 'Number of orders that count towards `usageLimit`. Null if there is no limit' })),
    ended: t.Boolean({ description: 'Whether `endsAt` has passed' }),
    usedUp: t.Boolean({ description: 'Whether `usageLimit` is reached' }),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Discount' },
)
export const Discounts = pageOf(DiscountRecord)

/** A discount that applies, as carts and orders show it. */
export const CountedDiscount = t.Object(
  { ...fieldsOf(t.String(), 'id', 'title'), code: nullable(t.String()), kind: oneOf(discountKinds), amount: MoneySchema },
  {
    title: 'AppliedDiscount',
    description:
      '`amount` is what the discount takes off. For FREE_SHIPPING, it is the shipping price, which the discount in the totals does not include',
  },
)

const amount = (description: string) =>
  maybe(
    t.Object(
      {
        amount: integer({ minimum: 1, maximum: amountMax, description: 'In minor units' }),
        currency: t.String({ ...CurrencyCode, description: "The shop's currency" }),
      },
      { description },
    ),
  )
const ids = (most: number, description: string) => maybe(t.Array(text(64, { minLength: 1 }), { minItems: 1, maxItems: most, description }))
const limit = (description: string) => maybe(integer({ minimum: 1, maximum: usageMax, description }))
const title = text(titleMax, { ...publicName, description: 'Shown to shoppers' })

const fields = {
  code: maybe(
    text(codeMax, {
      minLength: 1,
      ...codeForm,
      description: 'Unique in the shop, not case-sensitive. If you leave it out or send null, the discount applies automatically',
    }),
  ),
  valueBps: maybe(integer({ minimum: 1, maximum: bpsOfWhole, description: 'For PERCENT: hundredths of a percent, at most 10,000' })),
  amount: amount('For FIXED'),
  minSubtotal: amount('Minimum amount of the eligible lines, before discounts'),
  productIds: ids(productsMax, 'Eligible products, in addition to those of the collections. Null, without collections: all products'),
  collectionIds: ids(collectionsMax, 'Products of these collections are eligible, whether or not the collections are published'),
  startsAt: maybe(instantOf('Null: at once')),
  endsAt: maybe(instantOf('Must be in the future. Null: never ends')),
  usageLimit: limit('Maximum number of orders'),
  perCustomerLimit: limit('Maximum number of orders per customer: per account or, for guests, per e-mail address'),
  status: t.Optional(oneOf(discountStatuses)),
}
export const CreateDiscount = t.Object({ title, kind, ...fields })
export const ChangeDiscount = t.Object({ title: t.Optional(title), kind: t.Optional(kind), ...fields })

/** A code as a shopper types it, in the bodies of other routes. */
export const DiscountCode = text(codeMax, { minLength: 1, description: 'Not case-sensitive' })
