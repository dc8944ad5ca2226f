import { t } from 'elysia'
import { fieldsOf, Instant, integer, MoneySchema, notBlank, pageOf, text } from '../../../http/schema.ts'
import { codeLengthMax, rateMaxBps } from './domain.ts'

/** A sum of commissions. */
const earned = (description: string) =>
  t.Object({ amount: integer({ minimum: 0, description: 'In minor units' }), currency: MoneySchema.properties.currency }, { description })

export const AffiliateRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'shopId', 'name', 'code'),
    rateBps: integer(),
    active: t.Boolean(),
    clicks: integer({ description: 'In the last 30 days' }),
    earnings: t.Array(
      t.Object({
        currency: t.String(),
        pending: earned('Earned within the refund window'),
        approved: earned('Earned before the refund window'),
        reversed: earned('Taken back by refunds'),
      }),
      { description: 'One entry per currency' },
    ),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Affiliate' },
)
export const Affiliates = pageOf(AffiliateRecord)

const fields = {
  name: text(255, notBlank),
  code: text(codeLengthMax, {
    minLength: 1,
    pattern: '^[A-Za-z0-9_-]+$',
    rule: 'letters from A to Z, digits, - and _',
    description: "Code in the affiliate's links. Unique in the shop, stored in lower case",
  }),
  rateBps: integer({ minimum: 0, maximum: rateMaxBps, description: 'Commission in hundredths of a percent of the goods, after discounts' }),
}
export const CreateAffiliate = t.Object(fields)
export const ChangeAffiliate = t.Object({
  name: t.Optional(fields.name),
  code: t.Optional(fields.code),
  rateBps: t.Optional(fields.rateBps),
  active: t.Optional(t.Boolean({ description: 'Clicks and orders count only while the status is ACTIVE' })),
})

export const RecordClick = t.Object({
  code: text(codeLengthMax, { minLength: 1, description: 'Code from the link' }),
  cartId: t.Optional(text(64, { description: 'Attributes this cart to the affiliate. Without it, the click is only counted' })),
})
export const ClickRecord = t.Object({ affiliateId: t.String(), code: t.String(), attributedUntil: Instant }, { title: 'Click' })
