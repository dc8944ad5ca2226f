import type { Cell } from '../../../../lib/csv-line.ts'
import { type CsvTable, csvTableOf, decimalCell } from '../../../../lib/csv-table.ts'
import type { Order, OrderLine } from '../domain.ts'

/** An order as an export lists it. */
export type OrderRow = { readonly order: Order; readonly lines: readonly OrderLine[] }

type Amount = { [Name in keyof Order]: Order[Name] extends number ? Name : never }[keyof Order]
type Columns = Record<string, (row: OrderRow) => Cell>

const same = (...names: (keyof Order)[]): Columns =>
  Object.fromEntries(names.map((name) => [name, ({ order }: OrderRow) => order[name] as Cell]))
const amounts = (...names: Amount[]): Columns =>
  Object.fromEntries(names.map((name) => [name, ({ order }: OrderRow) => decimalCell({ amount: order[name], currency: order.currency })]))
const times = (...names: ('createdAt' | 'confirmedAt' | 'updatedAt')[]): Columns =>
  Object.fromEntries(
    names.map((name) => [
      name,
      ({ order }: OrderRow) => {
        const at = order[name]
        return at === null ? null : new Date(at).toISOString()
      },
    ]),
  )
const parts = ['name', 'company', 'line1', 'line2', 'city', 'province', 'postalCode', 'countryCode', 'phone'] as const
const address = (which: 'shippingAddress' | 'billingAddress'): Columns =>
  Object.fromEntries(parts.map((part) => [`${which}.${part}`, ({ order }: OrderRow) => order[which]?.[part] ?? null]))

const lineText = ({ quantity, title, variantTitle, sku }: OrderLine) =>
  `${quantity} x ${title}${variantTitle === '' || variantTitle === title ? '' : ` / ${variantTitle}`}${sku === null ? '' : ` (${sku})`}`

/** One row for each order, so that amounts can be summed. Without its page's URL, which opens the order to anyone. */
export const orderTable: CsvTable<OrderRow> = csvTableOf<OrderRow>({
  ...same('number', 'id'),
  ...times('createdAt'),
  ...same('mode', 'status', 'paymentStatus', 'fulfilmentStatus', 'customerId', 'email', 'currency'),
  ...amounts('subtotal', 'discountTotal', 'shippingTotal', 'taxTotal', 'taxIncluded', 'giftCardTotal', 'total', 'amountDue'),
  ...amounts('capturedTotal', 'refundedTotal', 'giftCardRefundedTotal'),
  discounts: ({ order }) => order.discounts.map(({ code, title }) => code ?? title).join('; '),
  units: ({ lines }) => lines.reduce((sum, { quantity }) => sum + quantity, 0),
  lines: ({ lines }) => lines.map(lineText).join('; '),
  shippingMethod: ({ order }) => order.shippingMethod?.title ?? null,
  ...address('shippingAddress'),
  ...address('billingAddress'),
  affiliateCode: ({ order }) => order.affiliateCode,
  ...same('processor', 'trackingNumber', 'carrier', 'fxToUsd'),
  ...times('confirmedAt', 'updatedAt'),
})
