import { t } from 'elysia'
import { Email, fieldsOf, Instant, integer, MoneySchema, maybe, notBlank, nullable, oneOf, text } from '../../../http/schema.ts'
import { AddressInput, PostalAddress } from '../../customers/customer/model.ts'
import { noOfferReasons } from '../../shop/shipping/domain.ts'
import { CountedDiscount, DiscountCode } from '../discount/model.ts'
import { GiftCardCode } from '../gift-card/model.ts'
import { affiliateCodeMax, cartStatuses, noticeCodes, quantityMax, recipientMessageMax, recipientNameMax } from './domain.ts'

const missing = 'Missing only in a replayed response of an earlier version'

/** Whom gift cards are mailed to, in carts and orders. */
export const GiftCardRecipient = t.Object(
  { email: t.String(), ...fieldsOf(nullable(t.String()), 'name', 'message') },
  { title: 'GiftCardRecipient' },
)

const Line = t.Object(
  {
    id: t.String(),
    variantId: t.String(),
    productId: nullable(t.String({ description: 'Null, like the fields that depend on it, if the variant was deleted' })),
    ...fieldsOf(nullable(t.String()), 'title', 'variantTitle', 'sku', 'imageUrl'),
    quantity: integer(),
    giftCard: t.Optional(t.Boolean({ description: `Whether each unit is a gift card over its price. ${missing}` })),
    unitPrice: MoneySchema,
    total: t.Object(MoneySchema.properties, { description: 'Before discounts' }),
    discount: t.Object(MoneySchema.properties, { description: "This line's share of the discounts. Always 0 for gift cards" }),
    available: t.Boolean({ description: 'Whether this quantity can be bought now' }),
  },
  { title: 'CartLine', description: '`unitPrice` is the price when the line was last changed' },
)
const Totals = t.Object(
  {
    ...fieldsOf(MoneySchema, 'subtotal', 'discount', 'shipping', 'tax', 'taxIncluded', 'giftCards', 'total', 'amountDue'),
    shippingTax: t.Optional(
      t.Object(MoneySchema.properties, {
        description: 'Tax on shipping: part of `tax`, or of `taxIncluded`. Missing only in a replayed response of an earlier version',
      }),
    ),
  },
  {
    title: 'CartTotals',
    description:
      '`tax` is added to prices; `taxIncluded` is contained in prices. `total` is subtotal − discount + shipping + tax. Gift cards pay `giftCards` of it, and `amountDue` is the rest',
  },
)
export const CartRecord = t.Object(
  {
    id: t.String({ description: "Secret and random. Anyone who has the id can use a guest's cart" }),
    shopId: t.String(),
    customerId: nullable(t.String()),
    currency: t.String(),
    draftId: nullable(
      t.String({
        description:
          'For the cart of a draft order, whose lines, prices, discount and settled fields are set by the shop. Changing them is 409',
      }),
    ),
    lines: t.Array(Line),
    giftCards: t.Array(t.Object({ id: t.String(), last4: t.String(), amount: MoneySchema }), {
      description: '`amount` is the part of the current total that the card pays. Gift cards do not pay for lines that are gift cards',
    }),
    discountCode: nullable(t.String({ description: 'Code entered by the shopper. See `discounts` and `notices` for whether it applies' })),
    discounts: t.Array(CountedDiscount, {
      description: 'Applied discounts: at most one on the lines and one for free shipping',
    }),
    email: nullable(t.String({ description: 'Null, like the addresses, if the cart is not open' })),
    acceptsMarketing: t.Optional(
      t.Boolean({
        description:
          'Whether the shopper agreed to an e-mail about this cart if it is abandoned. Missing only in a replayed response of an earlier version',
      }),
    ),
    shippingAddress: nullable(PostalAddress),
    billingAddress: nullable(PostalAddress),
    shippingMethod: nullable(t.String({ description: 'Code of a shipping method of the shop' })),
    giftCardRecipient: t.Optional(nullable(t.Object(GiftCardRecipient.properties, { description: `Null: the buyer. ${missing}` }))),
    affiliateCode: nullable(t.String()),
    totals: Totals,
    notices: t.Array(t.Object({ code: oneOf(noticeCodes), message: t.String() }, { title: 'CartNotice' }), {
      description:
        'Notices about the amounts: that no tax rate or no shipping method of the shop covers the address, and why the discount code does not apply',
    }),
    status: oneOf(cartStatuses),
    ...fieldsOf(Instant, 'expiresAt', 'createdAt', 'updatedAt'),
  },
  { title: 'Cart' },
)

export const CartInput = t.Object({
  email: maybe(Email),
  acceptsMarketing: t.Optional(
    t.Boolean({
      description:
        'Whether the shopper agreed to an e-mail about this cart if it is abandoned (`abandonedCartMail` of `PUT /shops/v2/mail`). Ask first. Default: false',
    }),
  ),
  shippingAddress: maybe(AddressInput),
  billingAddress: maybe(AddressInput),
  shippingMethod: maybe(text(50, { minLength: 1, description: 'Code of a shipping method that is offered for the shipping address' })),
  giftCardRecipient: maybe(
    t.Object(
      {
        email: Email,
        name: maybe(text(recipientNameMax)),
        message: maybe(text(recipientMessageMax, { description: 'Plain text of the mail. HTML stays text' })),
      },
      {
        description: 'Whom the gift cards of the cart are mailed to once they are paid. Null, the default: the buyer. Replaced as a whole',
      },
    ),
  ),
  affiliateCode: maybe(text(affiliateCodeMax, { ...notBlank, description: 'Stored in lower case, whether or not an affiliate has it' })),
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
          'Why `data` is empty. NO_METHODS: the shop has none and ships everywhere for free. EMPTY_CART. NOTHING_TO_SHIP: no address or method is needed. NO_ADDRESS: the cart has no shipping address. NOT_REACHED: no method covers the address. TOO_LARGE: the methods that cover it have lower limits of weight or amount',
      }),
    ),
  },
  { title: 'ShippingOptions' },
)

const cartId = t.Optional(
  text(64, { minLength: 1, description: "Required, except with a customer's token. Default: the customer's latest open cart" }),
)
export const ApplyGiftCard = t.Object({ code: GiftCardCode, cartId })
export const RemoveGiftCard = t.Object({
  giftCardId: t.Optional(text(64, { minLength: 1, description: 'Default: all gift cards' })),
  cartId,
})
