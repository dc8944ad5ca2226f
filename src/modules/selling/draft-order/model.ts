import { t } from 'elysia'
import { forManagers } from '../../../http/role-fields.ts'
import { Email, fieldsOf, Instant, integer, MoneySchema, maybe, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { AddressInput, PostalAddress } from '../../customers/customer/model.ts'
import { linesMax, quantityMax } from '../cart/domain.ts'
import { CartRecord } from '../cart/model.ts'
import { DiscountCode } from '../discount/model.ts'
import { draftStatuses, noteMax } from './domain.ts'

const { lines, giftCards, discountCode, discounts, shippingMethod, totals, notices } = CartRecord.properties

export const DraftOrderRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'shopId'),
    status: oneOf(draftStatuses, {
      description:
        'PENDING_PAYMENT: its order is placed and not paid; when that comes to nothing, the draft is OPEN again. COMPLETED: it was paid, whatever has become of its order since. CANCELLED: what was paid goes back, as it could not be made a sale',
    }),
    payUrl: forManagers(
      t.String({
        description:
          'The page that shows the draft and takes its payment, under PUBLIC_URL. A secret: left out for the roles FULFILMENT and READ_ONLY',
      }),
    ),
    cartId: forManagers(
      t.String({
        description:
          "For a storefront with a page of its own: the cart's routes show and buy it. A secret: left out for the roles FULFILMENT and READ_ONLY",
      }),
    ),
    orderId: nullable(t.String({ description: 'That it became last' })),
    customerId: nullable(t.String()),
    currency: t.String(),
    lines,
    giftCards,
    discountCode,
    discounts,
    email: nullable(t.String()),
    shippingAddress: nullable(PostalAddress),
    billingAddress: nullable(PostalAddress),
    shippingMethod,
    totals,
    notices,
    settled: t.Array(oneOf(['email', 'shippingAddress', 'billingAddress', 'shippingMethod']), {
      description: 'What the shop has said, and whoever pays it cannot change; what stands in none of them they say themselves',
    }),
    note: nullable(t.String({ description: "The shop's own; no shopper sees it" })),
    sentAt: nullable(t.String({ ...Instant, description: 'When its link was mailed last' })),
    expiresAt: t.String({ ...Instant, description: '90 days after its last change by the shop' }),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'DraftOrder' },
)
export const DraftOrders = pageOf(DraftOrderRecord)
export const ListDraftOrders = t.Object({ ...pageQuery, status: t.Optional(oneOf(draftStatuses)) })

const line = t.Object({
  variantId: text(64, { minLength: 1, description: 'Also of a product that shoppers are not shown; not of an ARCHIVED one' }),
  quantity: integer({ minimum: 1, maximum: quantityMax }),
  unitPrice: t.Optional(
    t.Object(MoneySchema.properties, {
      description:
        "In the shop's currency. Left out: the price that the variant has on the draft already, else that of the product at this moment. It stays, whatever the product costs later",
    }),
  ),
})
const linesInput = t.Array(line, {
  minItems: 1,
  maxItems: linesMax,
  description: 'All of them: those that are left out go. Each variant once',
})
const fields = {
  email: maybe(Email),
  customerId: maybe(
    text(64, { minLength: 1, description: 'Whose order it will be; their e-mail address is taken unless another is said' }),
  ),
  shippingAddress: maybe(AddressInput),
  billingAddress: maybe(AddressInput),
  shippingMethod: maybe(text(50, { minLength: 1, description: "The code of one of the shop's methods, offered to the shipping address" })),
  discountCode: maybe(DiscountCode),
  note: maybe(text(noteMax)),
}
export const CreateDraftOrder = t.Object({ lines: linesInput, ...fields })
export const ChangeDraftOrder = t.Object({ lines: t.Optional(linesInput), ...fields })
