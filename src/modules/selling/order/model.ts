import { t } from 'elysia'
import { forManagers } from '../../../http/role-fields.ts'
import { dayForm, fieldsOf, Instant, integer, MoneySchema, maybe, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { amountMax } from '../../../lib/money.ts'
import { PostalAddress } from '../../customers/customer/model.ts'
import { paymentStatuses } from '../../payments/payment/domain.ts'
import { linesMax, quantityMax } from '../cart/domain.ts'
import { CountedDiscount } from '../discount/model.ts'
import { disputeStatuses, fulfilmentStatuses, orderPaymentStatuses, orderStatuses, refundStatuses } from './domain.ts'

export const PaymentRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'method', 'processor'),
    processorReference: nullable(t.String()),
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
    amount: t.Object(MoneySchema.properties, { description: 'All of it: through the processor and back to gift cards' }),
    giftCardAmount: t.Object(MoneySchema.properties, { description: 'The part that goes back to gift cards' }),
    lines: t.Array(
      t.Object(
        { lineId: t.String(), quantity: integer(), amount: MoneySchema, restock: t.Boolean({ description: 'Put back in stock' }) },
        { title: 'RefundedLine' },
      ),
      { description: 'Which lines it is of; none: an amount of the whole order' },
    ),
    reason: nullable(t.String()),
    status: oneOf(refundStatuses, {
      description:
        'PENDING: the processor has not answered yet; it is asked again. CLAIMABLE: the shopper fetches it at `claimUrl`. MANUAL: it must be paid back by hand',
    }),
    failureCode: nullable(t.String({ description: "The processor's word for why it says no" })),
    claimUrl: forManagers(
      nullable(
        t.String({
          description:
            'The page where the shopper collects the money, while it is CLAIMABLE. A bearer secret: the holder of the link receives the money. Left out for the roles FULFILMENT and READ_ONLY',
        }),
      ),
    ),
    settledReference: nullable(t.String({ description: 'What the shop calls the payment by hand that settled it; to a customer null' })),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Refund' },
)
export const Refunds = pageOf(RefundRecord)

const DisputeRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'paymentId'),
    reference: t.String({ description: "The processor's name for it" }),
    amount: MoneySchema,
    status: oneOf(disputeStatuses, { description: "OPEN: the shopper's bank took the money. WON: it gave it again. LOST: it keeps it" }),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  {
    title: 'Dispute',
    description:
      '`amount` is what it takes of the payment: as the processor told it, and never more than was captured and no other dispute has taken',
  },
)

const missing = 'Missing only where an answer is repeated that an older version gave'

export const FulfilmentRecord = t.Object(
  {
    id: t.String(),
    lines: t.Array(t.Object({ lineId: t.String(), quantity: integer() }, { title: 'FulfilledLine' })),
    ...fieldsOf(nullable(t.String()), 'trackingNumber', 'carrier'),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Fulfilment', description: 'What was sent together' },
)

export const NoteRecord = t.Object(
  { id: t.String(), text: t.String(), actor: t.String({ description: 'The id of the person or key that wrote it' }), at: Instant },
  { title: 'OrderNote' },
)

const Line = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'productId', 'variantId', 'title', 'variantTitle'),
    sku: nullable(t.String()),
    quantity: integer(),
    fulfilledQuantity: t.Optional(integer({ description: `How many of them were sent. ${missing}` })),
    unfulfilledQuantity: t.Optional(
      integer({ description: `How many are left to be sent: neither sent nor refunded, nor about to be. ${missing}` }),
    ),
    unitPrice: MoneySchema,
    total: t.Object(MoneySchema.properties, { description: 'Before discounts' }),
    discount: t.Object(MoneySchema.properties, { description: 'What of the discounts is this line’s; tax is of what is left' }),
    tax: t.Object({ rateBps: integer(), inclusive: t.Boolean(), amount: MoneySchema }),
  },
  { title: 'OrderLine' },
)

export const OrderRecord = t.Object(
  {
    id: t.String(),
    shopId: t.String(),
    number: integer({ description: 'From 1 in each shop, without a gap' }),
    customerId: nullable(t.String()),
    email: nullable(t.String({ description: 'Null where a guest’s order is paid by another request than the one that placed it' })),
    currency: t.String(),
    mode: oneOf(['TEST', 'LIVE'], { description: 'Of the shop when it was placed: whether its money is real' }),
    status: oneOf(orderStatuses),
    paymentStatus: oneOf(orderPaymentStatuses),
    fulfilmentStatus: oneOf(fulfilmentStatuses, {
      description:
        'FULFILLED: nothing is left to send, all of it was sent or refunded. PARTIALLY_FULFILLED: some of it was sent, and the order stays CONFIRMED until the rest is sent or refunded',
    }),
    publicUrl: forManagers(
      t.String({
        description:
          'The order’s page for the shopper: its link shows the order, without street, phone and e-mail, and acts for the shopper. Left out for the roles FULFILMENT and READ_ONLY, and in a repeated answer of an older version',
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
    refundableTotal: t.Optional(
      t.Object(MoneySchema.properties, {
        description: `What can still go back by a refund, to gift cards too; refunds that are under way count as gone. ${missing}`,
      }),
    ),
    fxToUsd: nullable(t.String({ description: 'US dollars for one major unit on the day of confirmation, as a decimal number' })),
    discounts: t.Array(CountedDiscount, { description: 'Those that counted, as they were then' }),
    giftCards: t.Array(t.Object({ id: t.String(), last4: t.String(), amount: MoneySchema, refunded: MoneySchema })),
    shippingAddress: nullable(PostalAddress),
    billingAddress: nullable(PostalAddress),
    shippingMethod: nullable(t.Object({ code: t.String(), title: t.String() })),
    affiliate: nullable(t.Object({ id: t.String(), code: t.String() })),
    tracking: nullable(
      t.Object(
        { number: nullable(t.String()), carrier: nullable(t.String()) },
        { description: 'Of the parcel that was sent last, of those that have any' },
      ),
    ),
    fulfilments: t.Optional(t.Array(FulfilmentRecord, { description: `Oldest first. ${missing}` })),
    payments: t.Array(PaymentRecord),
    refunds: t.Array(RefundRecord),
    disputes: t.Array(DisputeRecord),
    notes: t.Optional(t.Array(NoteRecord, { description: `Of the shop’s people, oldest first; to a shopper always none. ${missing}` })),
    events: t.Array(t.Object({ type: t.String(), at: Instant, detail: t.Record(t.String(), t.Union([t.String(), MoneySchema])) })),
    expiresAt: Instant,
    confirmedAt: nullable(Instant),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Order' },
)
export const Orders = t.Object({
  ...pageOf(OrderRecord).properties,
  totalCapped: t.Optional(t.Literal(true, { description: 'There are more than `total`; after an upgrade, there may be' })),
})

const day = (description: string) => text(10, { ...dayForm, description })

export const ListOrders = t.Object({
  ...pageQuery,
  status: t.Optional(oneOf(orderStatuses)),
  paymentStatus: t.Optional(oneOf(orderPaymentStatuses)),
  fulfilmentStatus: t.Optional(oneOf(fulfilmentStatuses)),
  toFulfil: t.Optional(
    oneOf(['true', 'false'], {
      description:
        '`true`: CONFIRMED orders with something left to send that was not refunded, what `/fulfil` would send; `false`: as without it',
    }),
  ),
  customerId: t.Optional(text(64)),
  number: t.Optional(t.String({ pattern: '^[1-9]\\d{0,8}$', maxLength: 9, rule: 'a whole number from 1', 'x-type': 'integer' })),
  email: t.Optional(text(254, { minLength: 1, description: 'The whole address, whatever its case' })),
  from: t.Optional(day('The first day on which they were placed, UTC')),
  to: t.Optional(day('The last such day; at most 365 days with `from`')),
  q: t.Optional(
    text(254, {
      description:
        '`#12`: that number; an id; else up to ten words that an order must all have, of its number, e-mail address, names, companies, tracking numbers, SKUs and titles. The last may be how a word begins; a number is found whole',
    }),
  ),
})
export const OrderIdParam = t.Object({ orderId: text(64) })
const reason = maybe(text(500))
export const RefundBody = t.Object(
  {
    amount: t.Optional(
      t.Object(
        {
          amount: integer({ minimum: 1, maximum: amountMax, description: 'Minor units' }),
          currency: MoneySchema.properties.currency,
        },
        { description: "In the order's currency" },
      ),
    ),
    lines: t.Optional(
      t.Array(
        t.Object({
          lineId: text(64, { minLength: 1 }),
          quantity: integer({ minimum: 1, maximum: quantityMax }),
          restock: t.Optional(
            t.Boolean({ description: 'Put back in stock what is counted, once the refund is more than PENDING; default false' }),
          ),
        }),
        { minItems: 1, maxItems: linesMax, description: 'So many of these lines' },
      ),
    ),
    all: t.Optional(t.Literal(true, { description: 'All that is left, shipping too' })),
    refundableTotal: t.Optional(
      t.Object(
        { amount: integer({ minimum: 0, maximum: amountMax, description: 'Minor units' }), currency: MoneySchema.properties.currency },
        { description: 'The order’s, as it was seen: where it is another by now, 409, and nothing goes back' },
      ),
    ),
    reason,
  },
  { description: 'Exactly one of `amount`, `lines` and `all`' },
)
export const ListRefunds = t.Object({ ...pageQuery, status: t.Optional(oneOf(refundStatuses)) })
export const RefundIdParams = t.Object({ orderId: text(64), refundId: text(64) })
export const SettledBody = t.Object({
  reference: text(200, { minLength: 1, description: 'What the shop calls the payment: a bank’s reference' }),
})
export const CancelBody = t.Object({ reason })
const tracking = { trackingNumber: maybe(text(100)), carrier: maybe(text(100)) }
export const FulfilBody = t.Object(tracking)
export const CreateFulfilment = t.Object({
  lines: t.Optional(
    t.Array(t.Object({ lineId: text(64, { minLength: 1 }), quantity: integer({ minimum: 1, maximum: quantityMax }) }), {
      minItems: 1,
      maxItems: linesMax,
      description: 'So many of these lines; without it, all that is left',
    }),
  ),
  ...tracking,
})
export const ChangeFulfilment = t.Object(tracking, { description: 'What is left out stays; null takes it away' })
export const FulfilmentIdParams = t.Object({ orderId: text(64), fulfilmentId: text(64) })
export const CreateNote = t.Object({ text: text(1_000, { minLength: 1 }) })
