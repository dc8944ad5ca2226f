import { t } from 'elysia'
import { forManagers } from '../../../http/role-fields.ts'
import {
  dayForm,
  Email,
  fieldsOf,
  Instant,
  integer,
  MoneySchema,
  maybe,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  TaxRateBps,
  text,
} from '../../../http/schema.ts'
import { amountMax } from '../../../lib/money.ts'
import { AddressInput, PostalAddress, StaffTags, tagFilter } from '../../customers/customer/model.ts'
import { paymentStatuses } from '../../payments/payment/domain.ts'
import { linesMax, quantityMax } from '../cart/domain.ts'
import { GiftCardRecipient } from '../cart/model.ts'
import { CountedDiscount } from '../discount/model.ts'
import {
  bulkFulfilmentStatuses,
  bulkMax,
  disputeStatuses,
  fulfilmentStatuses,
  orderPaymentStatuses,
  orderSorts,
  orderStatuses,
  refundStatuses,
} from './domain.ts'

const missing = 'Missing only in a replayed response of an earlier version'

const PaymentRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'method', 'processor'),
    processorReference: nullable(
      t.String({ description: 'For `manual`: the reference of the shop when it marked the order as paid. Customers do not get it' }),
    ),
    manual: t.Optional(
      nullable(
        t.Object(
          { code: t.String(), title: t.String(), instructions: t.String() },
          { description: `How the shopper pays outside souk, as it was at the checkout. ${missing}` },
        ),
      ),
    ),
    ...fieldsOf(MoneySchema, 'amount', 'authorized', 'captured', 'refunded'),
    status: oneOf(paymentStatuses),
    failureCode: nullable(t.String()),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Payment' },
)

export const RefundRecord = t.Object(
  {
    id: t.String(),
    orderId: t.String(),
    ...fieldsOf(nullable(t.String()), 'paymentId', 'processor', 'processorReference'),
    amount: t.Object(MoneySchema.properties, { description: 'The whole refund, including gift cards' }),
    giftCardAmount: t.Object(MoneySchema.properties, { description: 'The part that goes back to gift cards' }),
    lines: t.Array(
      t.Object(
        {
          lineId: t.String(),
          quantity: integer(),
          amount: MoneySchema,
          restock: t.Boolean({ description: 'Whether the units were returned to stock' }),
        },
        { title: 'RefundedLine' },
      ),
      { description: 'Refunded lines. Empty for an amount of the whole order' },
    ),
    reason: nullable(t.String()),
    status: oneOf(refundStatuses, {
      description:
        'PENDING: the processor has not responded; souk asks again. CLAIMABLE: the shopper collects the money at `claimUrl`. MANUAL: the shop has to pay it by hand',
    }),
    failureCode: nullable(t.String({ description: "The processor's reason for rejecting it" })),
    claimUrl: forManagers(
      nullable(
        t.String({
          description:
            'Page on which the shopper collects the money, while the refund is CLAIMABLE. A secret: anyone who has the link gets the money. The roles FULFILMENT and READ_ONLY do not get it',
        }),
      ),
    ),
    settledReference: nullable(t.String({ description: "The shop's reference of the manual payment. Null for customers" })),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Refund' },
)
export const Refunds = pageOf(t.Object({ ...RefundRecord.properties, orderNumber: integer() }, { title: 'ListedRefund' }))

const DisputeRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'paymentId'),
    reference: t.String({ description: "The processor's id" }),
    amount: MoneySchema,
    status: oneOf(disputeStatuses, {
      description: "OPEN: the shopper's bank took the money. WON: the bank returned it. LOST: the bank keeps it",
    }),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  {
    title: 'Dispute',
    description: '`amount` is the disputed amount as the processor reported it, at most what was captured and is not in another dispute',
  },
)

export const FulfilmentRecord = t.Object(
  {
    id: t.String(),
    lines: t.Array(t.Object({ lineId: t.String(), quantity: integer() }, { title: 'FulfilledLine' })),
    ...fieldsOf(nullable(t.String()), 'trackingNumber', 'carrier'),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Fulfilment', description: 'Units that were sent together' },
)

export const NoteRecord = t.Object(
  { id: t.String(), text: t.String(), actor: t.String({ description: 'Id of the person or key that wrote it' }), at: Instant },
  { title: 'OrderNote' },
)

const Line = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'productId', 'variantId', 'title', 'variantTitle'),
    sku: nullable(t.String()),
    quantity: integer(),
    giftCard: t.Optional(
      t.Boolean({ description: `Whether each unit issued a gift card, whose code was mailed. Such units count as sent. ${missing}` }),
    ),
    fulfilledQuantity: t.Optional(integer({ description: `Number of units that were sent. ${missing}` })),
    unfulfilledQuantity: t.Optional(
      integer({ description: `Number of units still to send: not sent, not refunded and not in a pending refund. ${missing}` }),
    ),
    unitPrice: MoneySchema,
    total: t.Object(MoneySchema.properties, { description: 'Before discounts' }),
    discount: t.Object(MoneySchema.properties, { description: "This line's share of the discounts. Tax is computed on the rest" }),
    tax: t.Object({ rateBps: TaxRateBps, inclusive: t.Boolean(), amount: MoneySchema }),
  },
  { title: 'OrderLine' },
)

export const OrderRecord = t.Object(
  {
    id: t.String(),
    shopId: t.String(),
    number: integer({ description: 'Consecutive in the shop, from 1' }),
    customerId: nullable(t.String()),
    email: nullable(t.String({ description: "Null if a guest's order is paid by another request than the one that created it" })),
    currency: t.String(),
    mode: oneOf(['TEST', 'LIVE'], { description: 'Mode of the shop when the order was placed: LIVE is real money' }),
    status: oneOf(orderStatuses),
    paymentStatus: oneOf(orderPaymentStatuses),
    fulfilmentStatus: oneOf(fulfilmentStatuses, {
      description:
        'FULFILLED: everything was sent or refunded. PARTIALLY_FULFILLED: some units were sent; the order stays CONFIRMED until the rest is sent or refunded',
    }),
    tags: t.Optional(t.Array(t.String(), { description: `For staff only. Always empty for shoppers. ${missing}` })),
    fromAbandonedCart: t.Optional(
      t.Boolean({ description: `Whether the shopper used the link of an abandoned-cart e-mail before ordering. ${missing}` }),
    ),
    agent: t.Optional(
      nullable(
        t.Object(
          {
            profile: nullable(t.String({ description: "URL of the platform's profile. Null: the assistant did not name one" })),
            attribution: t.Optional(t.Record(t.String(), t.String(), { description: 'What the platform told about the purchase' })),
          },
          {
            title: 'OrderAgent',
            description: `The platform whose agent filled the cart. Null: none did, and always for shoppers. ${missing}`,
          },
        ),
      ),
    ),
    publicUrl: forManagers(
      t.String({
        description:
          "The shopper's page of the order. The link shows the order without street, phone number and e-mail address, and lets its holder act for the shopper. The roles FULFILMENT and READ_ONLY do not get it, nor do replayed responses of earlier versions",
      }),
    ),
    lines: t.Array(Line),
    ...fieldsOf(
      MoneySchema,
      'subtotal',
      'discountTotal',
      'shippingTotal',
      'taxTotal',
      'taxIncluded',
      'giftCardTotal',
      'total',
      'amountDue',
    ),
    ...fieldsOf(MoneySchema, 'capturedTotal', 'refundedTotal', 'giftCardRefundedTotal'),
    shippingTax: t.Optional(
      t.Object(MoneySchema.properties, { description: `Tax on shipping: part of \`taxTotal\`, or of \`taxIncluded\`. ${missing}` }),
    ),
    shippingTaxRate: t.Optional(
      nullable(t.Object({ rateBps: TaxRateBps, inclusive: t.Boolean() }, { description: `Null for untaxed shipping. ${missing}` })),
    ),
    refundableTotal: t.Optional(
      t.Object(MoneySchema.properties, {
        description: `Amount that can still be refunded, including to gift cards. Pending refunds are subtracted. ${missing}`,
      }),
    ),
    fxToUsd: nullable(t.String({ description: 'US dollars per major unit on the day of confirmation, as a decimal number' })),
    discounts: t.Array(CountedDiscount, { description: 'Discounts of the order, as they were when it was placed' }),
    giftCards: t.Array(t.Object({ id: t.String(), last4: t.String(), amount: MoneySchema, refunded: MoneySchema })),
    shippingAddress: nullable(PostalAddress),
    billingAddress: nullable(PostalAddress),
    shippingMethod: nullable(t.Object({ code: t.String(), title: t.String() })),
    giftCardRecipient: t.Optional(
      nullable(
        t.Object(GiftCardRecipient.properties, {
          description: `Whom its gift cards were mailed to. Null: the buyer, or no gift cards. ${missing}`,
        }),
      ),
    ),
    affiliate: nullable(t.Object({ id: t.String(), code: t.String() })),
    tracking: nullable(
      t.Object({ number: nullable(t.String()), carrier: nullable(t.String()) }, { description: 'Of the latest fulfilment that has any' }),
    ),
    fulfilments: t.Optional(t.Array(FulfilmentRecord, { description: `Oldest first. ${missing}` })),
    payments: t.Array(PaymentRecord),
    refunds: t.Array(RefundRecord),
    disputes: t.Array(DisputeRecord),
    notes: t.Optional(t.Array(NoteRecord, { description: `Internal notes, oldest first. Always empty for shoppers. ${missing}` })),
    events: t.Array(t.Object({ type: t.String(), at: Instant, detail: t.Record(t.String(), t.Union([t.String(), MoneySchema])) })),
    expiresAt: Instant,
    confirmedAt: nullable(Instant),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Order' },
)
export const Orders = t.Object({
  ...pageOf(OrderRecord).properties,
  totalCapped: t.Optional(t.Literal(true, { description: 'True if there are more than `total` or, after an upgrade, may be' })),
})

const day = (description: string) => text(10, { ...dayForm, description })

export const ListOrders = t.Object({
  ...pageQuery,
  status: t.Optional(oneOf(orderStatuses)),
  paymentStatus: t.Optional(oneOf(orderPaymentStatuses)),
  fulfilmentStatus: t.Optional(oneOf(fulfilmentStatuses)),
  toFulfil: t.Optional(
    oneOf(['true', 'false'], {
      description: '`true`: CONFIRMED orders with units to send. `false`: no filter',
    }),
  ),
  agent: t.Optional(oneOf(['true', 'false'], { description: '`true`: orders that an agent was part of. `false`: no filter' })),
  customerId: t.Optional(text(64)),
  number: t.Optional(t.String({ pattern: '^[1-9]\\d{0,8}$', maxLength: 9, rule: 'a whole number of at least 1', 'x-type': 'integer' })),
  numbers: t.Optional(
    text(999, {
      pattern: '^[1-9]\\d{0,8}(,[1-9]\\d{0,8}){0,99}$',
      rule: '1 to 100 whole numbers of at least 1, separated by commas',
      description: 'Numbers of up to 100 orders, separated by commas',
    }),
  ),
  sort: t.Optional(
    oneOf(orderSorts, {
      description:
        'Default: `-createdAt`, newest first. Numbers are given when orders are placed, so `createdAt` and `number` are the same order. With `q`, the newest 1,000 matches are sorted. CSV files are always sorted by number, newest first',
    }),
  ),
  lines: t.Optional(oneOf(['true', 'false'], { description: '`true`: the CSV file has one row for each line of an order' })),
  email: t.Optional(text(254, { minLength: 1, description: 'The whole e-mail address. Not case-sensitive' })),
  tag: tagFilter,
  from: t.Optional(day("First day on which orders were placed, in the shop's `timeZone`")),
  to: t.Optional(day('Last day on which orders were placed, at most 365 days after `from`')),
  q: t.Optional(
    text(254, {
      description:
        '`#12` for an order number, an id, or up to ten words. Returns orders that contain all words in the number, e-mail address, names, companies, tracking numbers, SKUs and titles. The last word may be incomplete, except a number',
    }),
  ),
})
export const OrderIdParam = t.Object({ orderId: text(64) })
export const CorrectOrder = t.Object(
  {
    email: t.Optional(Email),
    shippingAddress: t.Optional(AddressInput),
    billingAddress: t.Optional(AddressInput),
    tags: t.Optional(StaffTags),
    acceptDifference: t.Optional(
      t.Boolean({ description: 'Uses an address at which tax or shipping is different. Nothing is charged or refunded. Default: false' }),
    ),
  },
  { description: 'Fields that you leave out keep their values. An address is replaced as a whole' },
)
const reason = maybe(text(500))
export const RefundBody = t.Object(
  {
    amount: t.Optional(
      t.Object(
        {
          amount: integer({ minimum: 1, maximum: amountMax, description: 'In minor units' }),
          currency: MoneySchema.properties.currency,
        },
        { description: "The order's currency" },
      ),
    ),
    lines: t.Optional(
      t.Array(
        t.Object({
          lineId: text(64, { minLength: 1 }),
          quantity: integer({ minimum: 1, maximum: quantityMax }),
          restock: t.Optional(
            t.Boolean({ description: 'Returns tracked units to stock when the refund is no longer PENDING. Default: false' }),
          ),
        }),
        { minItems: 1, maxItems: linesMax, description: 'Units of each line' },
      ),
    ),
    all: t.Optional(t.Literal(true, { description: 'Everything that can be refunded, including shipping' })),
    refundableTotal: t.Optional(
      t.Object(
        { amount: integer({ minimum: 0, maximum: amountMax, description: 'In minor units' }), currency: MoneySchema.properties.currency },
        { description: "The order's value that you have seen. If it has changed, the response is 409 and nothing is refunded" },
      ),
    ),
    reason,
  },
  { description: 'Send exactly one of `amount`, `lines` and `all`' },
)
export const ListRefunds = t.Object({ ...pageQuery, status: t.Optional(oneOf(refundStatuses)) })
export const RefundIdParams = t.Object({ orderId: text(64), refundId: text(64) })
export const SettledBody = t.Object({
  reference: text(200, { minLength: 1, description: "The shop's reference of the payment, such as a bank reference" }),
})
export const MarkPaidBody = t.Object({
  reference: maybe(text(200, { description: "The shop's reference of the payment, such as a bank reference" })),
})
export const CancelBody = t.Object({ reason })
const tracking = { trackingNumber: maybe(text(100)), carrier: maybe(text(100)) }
export const FulfilBody = t.Object(tracking)
export const CreateFulfilment = t.Object({
  lines: t.Optional(
    t.Array(t.Object({ lineId: text(64, { minLength: 1 }), quantity: integer({ minimum: 1, maximum: quantityMax }) }), {
      minItems: 1,
      maxItems: linesMax,
      description: 'Units of each line. Default: everything that is left',
    }),
  ),
  ...tracking,
})
export const BulkFulfilment = t.Object({
  orders: t.Array(t.Object({ orderId: text(64, { minLength: 1 }), ...CreateFulfilment.properties }), {
    minItems: 1,
    maxItems: bulkMax,
    description: 'Each order once',
  }),
})
export const BulkFulfilmentResult = t.Object(
  {
    data: t.Array(
      t.Object(
        {
          orderId: t.String(),
          status: oneOf(bulkFulfilmentStatuses, {
            description: 'FULFILLED: nothing is left to send. PARTIALLY_FULFILLED: units are left. FAILED: nothing was sent',
          }),
          message: t.Optional(t.String({ description: 'Why it failed' })),
        },
        { title: 'BulkFulfilmentEntry' },
      ),
      { description: 'In the order of the request' },
    ),
  },
  { title: 'BulkFulfilmentResult' },
)
export const ChangeFulfilment = t.Object(tracking, { description: 'Fields that you leave out keep their values; null clears' })
export const FulfilmentIdParams = t.Object({ orderId: text(64), fulfilmentId: text(64) })
export const CreateNote = t.Object({ text: text(1_000, { minLength: 1 }) })
