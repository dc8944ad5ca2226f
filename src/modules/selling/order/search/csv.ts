import type { Cell } from '../../../../lib/csv-line.ts'
import { type CsvTable, csvTableOf, decimalCell } from '../../../../lib/csv-table.ts'
import { lineTaxRate } from '../../../../lib/tax-rate.ts'
import type { Order, OrderLine } from '../domain.ts'
import { shownSentUnits, type Units } from '../fulfilment/units.ts'
import { cannotBeSent } from '../view.ts'

/** An order as an export lists it. `units` only if each line has a row. */
export type OrderRow = { readonly order: Order; readonly lines: readonly OrderLine[]; readonly units?: readonly Units[] }

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
  ...amounts('subtotal', 'discountTotal', 'shippingTotal', 'taxTotal', 'taxIncluded', 'shippingTax', 'giftCardTotal', 'total', 'amountDue'),
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
  tags: ({ order }) => order.tags.join('; '),
  fromAbandonedCart: ({ order }) => String(order.fromAbandonedCart),
  agent: ({ order }) => order.agent && (order.agent.profile ?? 'unnamed'),
})

type LineCell = (line: OrderLine, row: OrderRow) => Cell
const lineAmount =
  (name: 'unitPrice' | 'total' | 'discount' | 'taxAmount'): LineCell =>
  (line, { order }) =>
    decimalCell({ amount: line[name], currency: order.currency })
const unitsOfLine = ({ id }: OrderLine, { units }: OrderRow) => units?.find(({ lineId }) => lineId === id)

const orderColumns: Columns = {
  ...same('number', 'id'),
  ...times('createdAt'),
  ...same('mode', 'status', 'paymentStatus', 'fulfilmentStatus', 'customerId', 'email', 'currency'),
}
const lineColumns: Record<string, LineCell> = {
  'line.id': ({ id }) => id,
  'line.productId': ({ productId }) => productId,
  'line.variantId': ({ variantId }) => variantId,
  'line.sku': ({ sku }) => sku,
  'line.title': ({ title }) => title,
  'line.variantTitle': ({ variantTitle }) => variantTitle,
  'line.quantity': ({ quantity }) => quantity,
  'line.fulfilledQuantity': (line, row) => shownSentUnits(row.order, line, unitsOfLine(line, row)),
  'line.unfulfilledQuantity': (line, row) => (cannotBeSent.includes(row.order.status) ? 0 : (unitsOfLine(line, row)?.left ?? null)),
  'line.unitPrice': lineAmount('unitPrice'),
  'line.total': lineAmount('total'),
  'line.discount': lineAmount('discount'),
  'line.taxRateBps': lineTaxRate,
  'line.taxInclusive': ({ taxInclusive }) => String(taxInclusive),
  'line.tax': lineAmount('taxAmount'),
}
const shippingColumns: Columns = {
  shippingMethod: ({ order }) => order.shippingMethod?.title ?? null,
  ...address('shippingAddress'),
}

/** One row for each line of an order, for pickers and stock reports. Amounts are those of the line. */
export const orderLineTable: CsvTable<OrderRow> = {
  header: [...Object.keys(orderColumns), ...Object.keys(lineColumns), ...Object.keys(shippingColumns)],
  linesOf(row) {
    const cells = (columns: Columns) => Object.values(columns).map((cell) => cell(row))
    const [before, after] = [cells(orderColumns), cells(shippingColumns)]
    return row.lines.map((line) => [...before, ...Object.values(lineColumns).map((cell) => cell(line, row)), ...after])
  },
}
