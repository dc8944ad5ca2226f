import { t } from 'elysia'
import { fieldsOf, Instant, integer, MoneySchema, nullable, oneOf, text } from '../../../http/schema.ts'
import { fulfilmentStatuses, orderPaymentStatuses, orderStatuses, refundStatuses } from '../order/domain.ts'
import { FulfilmentRecord } from '../order/model.ts'

export const OrderToken = t.Object({ token: text(200) })

export const PublicOrderRecord = t.Object(
  {
    id: t.String(),
    number: integer({ description: 'From 1 in each shop, without a gap' }),
    currency: t.String(),
    mode: oneOf(['TEST', 'LIVE']),
    status: oneOf(orderStatuses),
    paymentStatus: oneOf(orderPaymentStatuses),
    fulfilmentStatus: oneOf(fulfilmentStatuses),
    publicUrl: t.String(),
    receiptUrl: nullable(t.String({ description: 'A page to print; none of an order that was never a sale' })),
    shop: t.Object({ name: t.String(), title: t.String(), logoUrl: nullable(t.String()) }),
    lines: t.Array(
      t.Object(
        {
          ...fieldsOf(t.String(), 'id', 'productId', 'variantId', 'title', 'variantTitle'),
          sku: nullable(t.String()),
          quantity: integer(),
          unitPrice: MoneySchema,
          total: MoneySchema,
          tax: t.Object({ rateBps: integer(), inclusive: t.Boolean(), amount: MoneySchema }),
        },
        { title: 'PublicOrderLine' },
      ),
    ),
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
      'capturedTotal',
      'refundedTotal',
      'giftCardRefundedTotal',
    ),
    shippingMethod: nullable(t.Object({ code: t.String(), title: t.String() })),
    shippingAddress: nullable(
      t.Object(
        { name: t.String(), city: t.String(), province: nullable(t.String()), countryCode: t.String() },
        { description: 'Without street, postal code, company and phone' },
      ),
    ),
    tracking: nullable(
      t.Object({ number: nullable(t.String()), carrier: nullable(t.String()) }, { description: 'Of the last parcel that has any' }),
    ),
    fulfilments: t.Array(FulfilmentRecord, { description: 'What was sent, oldest first' }),
    refunds: t.Array(t.Object({ amount: MoneySchema, status: oneOf(refundStatuses), createdAt: Instant }, { title: 'PublicRefund' }), {
      description: 'Those that did not fail',
    }),
    createdAt: Instant,
    confirmedAt: nullable(Instant),
  },
  { title: 'PublicOrder', 'x-texts-too': ['text/html'] },
)
