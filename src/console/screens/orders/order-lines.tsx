import { moment, number, percentOfBps } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { role, shopPath } from '../../lib/session/current-shop.ts'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { OrderLineName } from './order-line-name.tsx'
import type { Order, OrderLine } from './order-types.ts'
import { unitsLeft } from './refund.domain.ts'
import { TotalsList } from './totals.tsx'

const columns = (order: Order): readonly Column<OrderLine>[] => [
  { title: common('product'), main: true, cell: (line) => <OrderLineName line={line} /> },
  { title: common('price'), alignEnd: true, cell: ({ unitPrice }) => <Money amount={unitPrice} /> },
  { title: common('quantity'), alignEnd: true, cell: ({ quantity }) => number(quantity) },
  { title: t('units'), cell: (line) => <LineUnits line={line} refunded={line.quantity - unitsLeft(order, line)} /> },
  {
    title: common('total'),
    alignEnd: true,
    cell: ({ total, discount }) => (
      <>
        <Money amount={total} />
        {discount.amount > 0 && (
          <small class="faint">
            {' '}
            <Money amount={{ ...discount, amount: -discount.amount }} />
          </small>
        )}
      </>
    ),
  },
]

/** Fulfilled, remaining and refunded units of a line. */
const LineUnits = ({ line: { fulfilledQuantity = 0, unfulfilledQuantity = 0 }, refunded }: { line: OrderLine; refunded: number }) => (
  <small>
    {[
      fulfilledQuantity > 0 && t('unitsSent', { n: fulfilledQuantity }),
      unfulfilledQuantity > 0 && t('unitsLeft', { n: unfulfilledQuantity }),
      refunded > 0 && t('unitsRefunded', { n: refunded }),
    ]
      .filter(Boolean)
      .join(', ')}
  </small>
)

/** The lines and totals of an order. */
export function OrderLines({ order }: { order: Order }) {
  const linksToProducts = role.value !== 'FULFILMENT'
  const shippingTaxRows = order.shippingTax && order.shippingTax.amount > 0 ? [[common('shippingTax'), order.shippingTax] as const] : []
  const isIncluded = order.shippingTaxRate?.inclusive ?? false
  return (
    <Section title={t('lines')}>
      {order.status === 'PENDING_PAYMENT' && <Note tone="warn">{t('waitsUntil', { moment: moment(order.expiresAt) })}</Note>}
      <Table
        caption={t('lines')}
        columns={columns(order)}
        rows={order.lines}
        rowKey={({ id }) => id}
        href={({ productId }) => (linksToProducts ? shopPath('products', productId) : undefined)}
      />
      <TotalsList
        rows={[
          [common('subtotal'), order.subtotal],
          ...(order.discountTotal.amount > 0 ? [[discountName(order), order.discountTotal, 'minus'] as const] : []),
          [order.shippingMethod ? `${common('shipping')}: ${order.shippingMethod.title}` : common('shipping'), order.shippingTotal],
          ...(order.taxTotal.amount > 0 || order.taxIncluded.amount === 0 ? [[taxName(order), order.taxTotal] as const] : []),
          ...(isIncluded ? [] : shippingTaxRows),
          ...(order.taxIncluded.amount > 0 ? [[common('taxIncluded'), order.taxIncluded] as const] : []),
          ...(isIncluded ? shippingTaxRows : []),
          [common('total'), order.total, 'sum'],
          ...order.giftCards.map(({ last4, amount }) => [common('giftCardNamed', { last4 }), amount, 'minus'] as const),
          ...(order.giftCards.length > 0 || order.capturedTotal.amount === 0 ? [[t('amountDue'), order.amountDue] as const] : []),
          ...(order.capturedTotal.amount > 0 ? [[t('paid'), order.capturedTotal] as const] : []),
          ...(order.refundedTotal.amount > 0 ? [[common('refunded'), order.refundedTotal, 'minus'] as const] : []),
          ...(order.giftCardRefundedTotal.amount > 0 ? [[t('refundedToCards'), order.giftCardRefundedTotal, 'minus'] as const] : []),
        ]}
      />
    </Section>
  )
}

const discountName = ({ discounts }: Order): string =>
  [common('discount'), discounts.map(({ code, title }) => code ?? title).join(', ')].filter(Boolean).join(': ')

/** Adds the tax rate if there is only one. */
function taxName({ lines, shippingTax, shippingTaxRate }: Order): string {
  const shippingTaxes = shippingTax && shippingTax.amount > 0 && shippingTaxRate ? [shippingTaxRate] : []
  const taxes = [...lines.map(({ tax }) => tax), ...shippingTaxes]
  const rates = new Set(taxes.filter(({ inclusive, rateBps }) => !inclusive && rateBps > 0).map(({ rateBps }) => rateBps))
  const [rate] = rates
  return rate !== undefined && rates.size === 1 ? `${common('tax')} ${percentOfBps(rate)}` : common('tax')
}
