import { t } from 'elysia'
import { fieldsOf, Instant, integer, MoneySchema, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { csvTableOf, decimalCell } from '../../../lib/csv-table.ts'

const Line = t.Object(
  {
    variantId: t.String(),
    ...fieldsOf(nullable(t.String()), 'productId', 'title', 'variantTitle', 'sku'),
    quantity: integer(),
    ...fieldsOf(MoneySchema, 'unitPrice', 'total'),
  },
  { title: 'AbandonedCartLine' },
)
const AbandonedCartRecord = t.Object(
  {
    id: t.String({ description: "A secret, like every cart's id" }),
    email: nullable(t.String()),
    customerId: nullable(t.String()),
    acceptsMarketing: t.Boolean({ description: 'Whether the shopper agreed to an e-mail about the cart' }),
    lines: t.Array(Line),
    total: t.Object(MoneySchema.properties, { description: 'Total last shown to the shopper, or the total of the order' }),
    mailedAt: nullable(t.String({ ...Instant, description: 'When the e-mail was queued' })),
    restoredAt: nullable(t.String({ ...Instant, description: 'When the shopper first used the link of the e-mail' })),
    order: nullable(t.Object({ id: t.String(), number: integer() }, { description: 'The order that the cart became' })),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'AbandonedCart' },
)
export const AbandonedCarts = t.Object({
  ...pageOf(AbandonedCartRecord).properties,
  totalCapped: t.Optional(t.Literal(true, { description: 'True if there are more than `total`' })),
})
type AbandonedCartView = typeof AbandonedCartRecord.static

export const ListAbandonedCarts = t.Object({
  ...pageQuery,
  mailed: t.Optional(oneOf(['true', 'false'], { description: 'Whether the e-mail about the cart was queued' })),
  recovered: t.Optional(
    oneOf(['true', 'false'], {
      description: '`true`: carts that became an order after the link was used, instead of open ones, for 90 days',
    }),
  ),
})
export const RestoreCart = t.Object({ token: text(200, { minLength: 1, description: 'The `token` in the link of the e-mail' }) })
export const PageToken = t.Object({ token: text(200) })

/** Without the cart's id, because files are passed on. */
export const abandonedCartTable = csvTableOf<AbandonedCartView>({
  updatedAt: ({ updatedAt }) => updatedAt,
  email: ({ email }) => email,
  customerId: ({ customerId }) => customerId,
  acceptsMarketing: ({ acceptsMarketing }) => String(acceptsMarketing),
  units: ({ lines }) => lines.reduce((sum, { quantity }) => sum + quantity, 0),
  lines: ({ lines }) =>
    lines.map(({ quantity, title, sku }) => `${quantity} x ${title ?? ''}${sku === null ? '' : ` (${sku})`}`).join('; '),
  total: ({ total }) => decimalCell(total),
  currency: ({ total }) => total.currency,
  mailedAt: ({ mailedAt }) => mailedAt,
  restoredAt: ({ restoredAt }) => restoredAt,
  orderNumber: ({ order }) => order?.number ?? null,
  createdAt: ({ createdAt }) => createdAt,
})
