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
        'PENDING_PAYMENT: an order was placed and is unpaid; if it is cancelled or expires, the draft is OPEN again. COMPLETED: it was paid, whatever the current status of the order. CANCELLED: the payment is refunded because the order could not be completed',
    }),
    payUrl: forManagers(
      t.String({
        description:
          'Page of this instance on which the draft is shown and paid. A secret, which the roles FULFILMENT and READ_ONLY do not get',
      }),
    ),
    cartId: forManagers(
      t.String({
        description:
          'For a storefront with its own page: the cart to show and check out. A secret, which the roles FULFILMENT and READ_ONLY do not get',
      }),
    ),
    orderId: nullable(t.String({ description: 'Its latest order' })),
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
      description: 'Fields that the shop has set. The customer cannot change them, and enters the others',
    }),
    note: nullable(t.String({ description: 'Internal note. Shoppers do not see it' })),
    sentAt: nullable(t.String({ ...Instant, description: 'When the link was last e-mailed' })),
    expiresAt: t.String({ ...Instant, description: "90 days after the shop's last change" }),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'DraftOrder' },
)
export const DraftOrders = pageOf(DraftOrderRecord)
export const ListDraftOrders = t.Object({ ...pageQuery, status: t.Optional(oneOf(draftStatuses)) })

const line = t.Object({
  variantId: text(64, { minLength: 1, description: 'Also of a product that is not public, but not of an ARCHIVED one' }),
  quantity: integer({ minimum: 1, maximum: quantityMax }),
  unitPrice: t.Optional(
    t.Object(MoneySchema.properties, {
      description:
        "In the shop's currency. Default: the price of the variant in the draft or, if it is new, the product's current price. It does not change with the product",
    }),
  ),
})
const linesInput = t.Array(line, {
  minItems: 1,
  maxItems: linesMax,
  description: 'All lines. Lines that you leave out are removed. Each variant once',
})
const fields = {
  email: maybe(Email),
  customerId: maybe(
    text(64, { minLength: 1, description: "The customer of the order. The customer's e-mail address is used unless you set another" }),
  ),
  shippingAddress: maybe(AddressInput),
  billingAddress: maybe(AddressInput),
  shippingMethod: maybe(text(50, { minLength: 1, description: 'Code of a shipping method that is offered for the shipping address' })),
  discountCode: maybe(DiscountCode),
  note: maybe(text(noteMax)),
}
export const CreateDraftOrder = t.Object({ lines: linesInput, ...fields })
export const ChangeDraftOrder = t.Object({ lines: t.Optional(linesInput), ...fields })
