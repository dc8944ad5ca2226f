import { t } from 'elysia'
import { fieldsOf, Instant, integer, MoneySchema, notBlank, pageOf, text } from '../../../http/schema.ts'
import { codeLengthMax, rateMaxBps } from './domain.ts'

/** A sum of commissions. */
const earned = (description: string) =>
  t.Object({ amount: integer({ minimum: 0, description: 'Minor units' }), currency: MoneySchema.properties.currency }, { description })

export const AffiliateRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'shopId', 'name', 'code'),
    rateBps: integer(),
    active: t.Boolean(),
    clicks: integer({ description: 'Of the last 30 days' }),
    earnings: t.Array(
      t.Object({
        currency: t.String(),
        pending: earned('Within the refund window'),
        approved: earned('Past it'),
        reversed: earned('What refunds took back'),
      }),
      { description: 'One entry a currency' },
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
    description: 'What links carry; unique in the shop, kept in lower case',
  }),
  rateBps: integer({ minimum: 0, maximum: rateMaxBps, description: 'Hundredths of a percent of the goods, less discounts' }),
}
export const CreateAffiliate = t.Object(fields)
export const ChangeAffiliate = t.Object({
  name: t.Optional(fields.name),
  code: t.Optional(fields.code),
  rateBps: t.Optional(fields.rateBps),
  active: t.Optional(t.Boolean({ description: 'Clicks and orders of one that is not active count for nobody' })),
})

export const RecordClick = t.Object({
  code: text(codeLengthMax, { minLength: 1, description: 'As the link had it' }),
  cartId: t.Optional(text(64, { description: 'The cart that the click is attributed to; without it, it is only counted' })),
})
export const ClickRecord = t.Object({ affiliateId: t.String(), code: t.String(), attributedUntil: Instant }, { title: 'Click' })
