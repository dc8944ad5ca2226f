import { t } from 'elysia'
import { fieldsOf, Instant, integer, MoneySchema, nullable, oneOf, TaxRateBps, text } from '../../../http/schema.ts'
import { fulfilmentStatuses, orderPaymentStatuses, orderStatuses, refundStatuses } from '../order/domain.ts'
import { FulfilmentRecord } from '../order/model.ts'
import { publicReturnFields } from '../order-return/model.ts'

export const OrderToken = t.Object({ token: text(200) })

export const DocumentsQuery = t.Object({
  ids: text(6_500, { minLength: 1, description: 'Ids of 1 to 100 orders, separated by commas' }),
  type: t.Optional(
    oneOf(['packing-slip', 'invoice', 'credit-note'], {
      description: 'The kind of document. Default: `packing-slip`. The others are for OWNER, MANAGER and the secret key',
    }),
  ),
})

export const PublicOrderRecord = t.Object(
  {
    id: t.String(),
    number: integer({ description: 'Consecutive in the shop, from 1' }),
    currency: t.String(),
    mode: oneOf(['TEST', 'LIVE']),
    status: oneOf(orderStatuses),
    paymentStatus: oneOf(orderPaymentStatuses),
    fulfilmentStatus: oneOf(fulfilmentStatuses),
    publicUrl: t.String(),
    receiptUrl: nullable(t.String({ description: 'Page to print. Null for an order that was never paid' })),
    shop: t.Object({ name: t.String(), title: t.String(), logoUrl: nullable(t.String()) }),
    lines: t.Array(
      t.Object(
        {
          ...fieldsOf(t.String(), 'id', 'productId', 'variantId', 'title', 'variantTitle'),
          sku: nullable(t.String()),
          quantity: integer(),
          unitPrice: MoneySchema,
          total: MoneySchema,
          tax: t.Object({ rateBps: TaxRateBps, inclusive: t.Boolean(), amount: MoneySchema }),
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
      'shippingTax',
      'giftCardTotal',
      'total',
      'amountDue',
      'capturedTotal',
      'refundedTotal',
      'giftCardRefundedTotal',
    ),
    shippingTaxRate: nullable(t.Object({ rateBps: TaxRateBps, inclusive: t.Boolean() }, { description: 'Null for untaxed shipping' })),
    manualPayment: nullable(
      t.Object({ title: t.String(), instructions: t.String() }, { description: 'How to pay outside souk, while the order awaits it' }),
    ),
    shippingMethod: nullable(t.Object({ code: t.String(), title: t.String() })),
    shippingAddress: nullable(
      t.Object(
        { name: t.String(), city: t.String(), province: nullable(t.String()), countryCode: t.String() },
        { description: 'Without street, postal code, company and phone number' },
      ),
    ),
    tracking: nullable(
      t.Object({ number: nullable(t.String()), carrier: nullable(t.String()) }, { description: 'Of the latest fulfilment that has any' }),
    ),
    fulfilments: t.Array(FulfilmentRecord, { description: 'Fulfilments, oldest first' }),
    refunds: t.Array(t.Object({ amount: MoneySchema, status: oneOf(refundStatuses), createdAt: Instant }, { title: 'PublicRefund' }), {
      description: 'Refunds that have not failed',
    }),
    ...publicReturnFields,
    createdAt: Instant,
    confirmedAt: nullable(Instant),
  },
  { title: 'PublicOrder', 'x-texts-too': ['text/html'] },
)
