import { t } from 'elysia'
import { Email, fieldsOf, Instant, integer, MoneySchema, maybe, notBlank, nullable, oneOf, text } from '../../../http/schema.ts'
import { AddressInput, PostalAddress } from '../../customers/customer/model.ts'
import { noOfferReasons } from '../../shop/shipping/domain.ts'
import { CountedDiscount, DiscountCode } from '../discount/model.ts'
import { GiftCardCode } from '../gift-card/model.ts'
import { affiliateCodeMax, cartStatuses, noticeCodes, quantityMax } from './domain.ts'

const Line = t.Object(
  {
    id: t.String(),
    variantId: t.String(),
    productId: nullable(t.String({ description: 'Null, with what follows from it, when the variant is gone' })),
    ...fieldsOf(nullable(t.String()), 'title', 'variantTitle', 'sku', 'imageUrl'),
    quantity: integer(),
    unitPrice: MoneySchema,
    total: t.Object(MoneySchema.properties, { description: 'Before discounts' }),
    discount: t.Object(MoneySchema.properties, { description: 'What of the discounts is this line’s' }),
    available: t.Boolean({ description: 'Whether so many can be bought now' }),
  },
  { title: 'CartLine', description: '`unitPrice` is as it was when the line was last changed' },
)
const Totals = t.Object(
  {
    ...fieldsOf(MoneySchema, 'subtotal', 'discount', 'shipping', 'tax', 'taxIncluded', 'giftCards', 'total', 'amountDue'),
  },
  {
    title: 'CartTotals',
    description:
      '`tax` comes on top of the prices, `taxIncluded` is held by them already; `total` is subtotal − discount + shipping + tax, of which gift cards pay `giftCards`, and `amountDue` is the rest',
  },
)
export const CartRecord = t.Object(
  {
    id: t.String({ description: "Unguessable: who knows it reaches a cart that is no customer's. Keep it secret" }),
    shopId: t.String(),
    customerId: nullable(t.String()),
    currency: t.String(),
    draftId: nullable(
      t.String({
        description:
          'Of the cart of a draft order: its lines, prices and discount are fixed by the shop, and changing them here is 409, as is changing what it has settled besides',
      }),
    ),
    lines: t.Array(Line),
    giftCards: t.Array(t.Object({ id: t.String(), last4: t.String(), amount: MoneySchema }), {
      description: '`amount` is what a card pays of the present total',
    }),
    discountCode: nullable(
      t.String({ description: 'The code that the shopper has put on it; whether it counts, `discounts` and `notices` say' }),
    ),
    discounts: t.Array(CountedDiscount, {
      description: 'Those that count: one that takes something off the lines, and one of free shipping',
    }),
    email: nullable(t.String({ description: 'Null once the cart is not open any more, as the addresses' })),
    shippingAddress: nullable(PostalAddress),
    billingAddress: nullable(PostalAddress),
    shippingMethod: nullable(t.String({ description: "The code of one of the shop's methods" })),
    affiliateCode: nullable(t.String()),
    totals: Totals,
    notices: t.Array(t.Object({ code: oneOf(noticeCodes), message: t.String() }, { title: 'CartNotice' }), {
      description:
        'What the amounts do not show: that the address is covered by no tax rate, or no shipping method, of a shop that has some; and why the discount code takes nothing off',
    }),
    status: oneOf(cartStatuses),
    ...fieldsOf(Instant, 'expiresAt', 'createdAt', 'updatedAt'),
  },
  { title: 'Cart' },
)

export const CartInput = t.Object({
  email: maybe(Email),
  shippingAddress: maybe(AddressInput),
  billingAddress: maybe(AddressInput),
  shippingMethod: maybe(text(50, { minLength: 1, description: "The code of one of the shop's methods, offered to the shipping address" })),
  affiliateCode: maybe(text(affiliateCodeMax, { ...notBlank, description: 'Kept in lower case, whether anybody has it or not' })),
})
const quantity = integer({ minimum: 1, maximum: quantityMax })
export const AddItem = t.Object({ variantId: text(64, { minLength: 1 }), quantity })
export const ChangeItem = t.Object({ quantity })
export const ChangeDiscountCode = t.Object({ code: nullable(DiscountCode) })
export const LinePath = t.Object({ id: text(64), lineId: text(64) })

export const ShippingOptions = t.Object(
  {
    data: t.Array(t.Object({ ...fieldsOf(t.String(), 'code', 'title'), amount: MoneySchema }, { title: 'ShippingOption' })),
    reason: t.Optional(
      oneOf(noOfferReasons, {
        description:
          'Where there is none. NO_METHODS: the shop has none, and sends everywhere for nothing. EMPTY_CART. NOTHING_TO_SHIP: neither an address nor a method is needed. NO_ADDRESS: the cart has no shipping address yet. NOT_REACHED: no method goes there. TOO_LARGE: those that do take less weight, or goods of smaller amounts',
      }),
    ),
  },
  { title: 'ShippingOptions' },
)

const cartId = t.Optional(
  text(64, { minLength: 1, description: "Needed, except with a customer's token: then the latest open cart of theirs" }),
)
export const ApplyGiftCard = t.Object({ code: GiftCardCode, cartId })
export const RemoveGiftCard = t.Object({ giftCardId: t.Optional(text(64, { minLength: 1, description: 'Left out: all cards' })), cartId })
