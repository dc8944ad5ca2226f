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
  description: 'PERCENT takes off `valueBps` of what it is for, FIXED `amount`, once an order; FREE_SHIPPING makes the shipping free',
})

export const DiscountRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'shopId', 'title'),
    code: nullable(t.String({ description: 'Null: it counts by itself' })),
    kind,
    valueBps: nullable(integer({ description: 'Hundredths of a percent' })),
    amount: nullable(MoneySchema),
    minSubtotal: nullable(MoneySchema),
    productIds: nullable(t.Array(t.String())),
    collectionIds: nullable(t.Array(t.String())),
    startsAt: nullable(Instant),
    endsAt: nullable(Instant),
    usageLimit: nullable(integer()),
    perCustomerLimit: nullable(integer()),
    status: oneOf(discountStatuses),
    used: nullable(integer({ description: 'How many orders count towards `usageLimit`; null without one' })),
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
    title: 'CountedDiscount',
    description:
      '`amount` is what it takes off; of FREE_SHIPPING what the shipping would have cost, which is no part of the discount in the totals',
  },
)

const amount = (description: string) =>
  maybe(
    t.Object(
      {
        amount: integer({ minimum: 1, maximum: amountMax, description: 'Minor units' }),
        currency: t.String({ ...CurrencyCode, description: "The shop's" }),
      },
      { description },
    ),
  )
const ids = (most: number, description: string) => maybe(t.Array(text(64, { minLength: 1 }), { minItems: 1, maxItems: most, description }))
const limit = (description: string) => maybe(integer({ minimum: 1, maximum: usageMax, description }))
const title = text(titleMax, { ...publicName, description: 'What shoppers see of it' })

const fields = {
  code: maybe(
    text(codeMax, { minLength: 1, ...codeForm, description: 'Whatever its case, one a shop; left out or null: it counts by itself' }),
  ),
  valueBps: maybe(integer({ minimum: 1, maximum: bpsOfWhole, description: 'Of PERCENT: hundredths of a percent, at most all of it' })),
  amount: amount('Of FIXED'),
  minSubtotal: amount('What the lines that it is for must come to, before discounts'),
  productIds: ids(productsMax, 'It is for these, and those of the collections; null and no collections either: for all'),
  collectionIds: ids(collectionsMax, 'It is for the products of these, whether they are published or not'),
  startsAt: maybe(instantOf('Null: at once')),
  endsAt: maybe(instantOf('In the future; null: never')),
  usageLimit: limit('For how many orders'),
  perCustomerLimit: limit('For how many orders of one customer: of an account, else of an e-mail address whatever its case'),
  status: t.Optional(oneOf(discountStatuses)),
}
export const CreateDiscount = t.Object({ title, kind, ...fields })
export const ChangeDiscount = t.Object({ title: t.Optional(title), kind: t.Optional(kind), ...fields })

/** A code as a shopper types it, in the bodies of other routes. */
export const DiscountCode = text(codeMax, { minLength: 1, description: 'Case does not count' })
