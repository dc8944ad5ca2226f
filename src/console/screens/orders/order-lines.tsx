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
  { title: common('product'), main: true, cell: (line) => <OrderLineName of={line} /> },
  { title: common('price'), end: true, cell: ({ unitPrice }) => <Money of={unitPrice} /> },
  { title: common('quantity'), end: true, cell: ({ quantity }) => number(quantity) },
  { title: t('units'), cell: (line) => <LineUnits of={line} refunded={line.quantity - unitsLeft(order, line)} /> },
  {
    title: common('total'),
    end: true,
    cell: ({ total, discount }) => (
      <>
        <Money of={total} />
        {discount.amount > 0 && (
          <small class="faint">
            {' '}
            <Money of={{ ...discount, amount: -discount.amount }} />
          </small>
        )}
      </>
    ),
  },
]

/** Fulfilled, remaining and refunded units of a line. */
const LineUnits = ({ of: { fulfilledQuantity = 0, unfulfilledQuantity = 0 }, refunded }: { of: OrderLine; refunded: number }) => (
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
export function OrderLines({ of }: { of: Order }) {
  const leads = role.value !== 'FULFILMENT'
  const ofShipping = of.shippingTax && of.shippingTax.amount > 0 ? [[common('shippingTax'), of.shippingTax] as const] : []
  const isIncluded = of.shippingTaxRate?.inclusive ?? false
  return (
    <Section title={t('lines')}>
      {of.status === 'PENDING_PAYMENT' && <Note tone="warn">{t('waitsUntil', { moment: moment(of.expiresAt) })}</Note>}
      <Table
        caption={t('lines')}
        columns={columns(of)}
        rows={of.lines}
        rowKey={({ id }) => id}
        href={({ productId }) => (leads ? shopPath('products', productId) : undefined)}
      />
      <TotalsList
        of={[
          [common('subtotal'), of.subtotal],
          ...(of.discountTotal.amount > 0 ? [[discountName(of), of.discountTotal, 'minus'] as const] : []),
          [of.shippingMethod ? `${common('shipping')}: ${of.shippingMethod.title}` : common('shipping'), of.shippingTotal],
          ...(of.taxTotal.amount > 0 || of.taxIncluded.amount === 0 ? [[taxName(of), of.taxTotal] as const] : []),
          ...(isIncluded ? [] : ofShipping),
          ...(of.taxIncluded.amount > 0 ? [[common('taxIncluded'), of.taxIncluded] as const] : []),
          ...(isIncluded ? ofShipping : []),
          [common('total'), of.total, 'sum'],
          ...of.giftCards.map(({ last4, amount }) => [common('giftCardNamed', { last4 }), amount, 'minus'] as const),
          ...(of.giftCards.length > 0 || of.capturedTotal.amount === 0 ? [[t('amountDue'), of.amountDue] as const] : []),
          ...(of.capturedTotal.amount > 0 ? [[t('paid'), of.capturedTotal] as const] : []),
          ...(of.refundedTotal.amount > 0 ? [[common('refunded'), of.refundedTotal, 'minus'] as const] : []),
          ...(of.giftCardRefundedTotal.amount > 0 ? [[t('refundedToCards'), of.giftCardRefundedTotal, 'minus'] as const] : []),
        ]}
      />
    </Section>
  )
}

const discountName = ({ discounts }: Order): string =>
  [common('discount'), discounts.map(({ code, title }) => code ?? title).join(', ')].filter(Boolean).join(': ')

/** Adds the tax rate if there is only one. */
function taxName({ lines, shippingTax, shippingTaxRate }: Order): string {
  const ofShipping = shippingTax && shippingTax.amount > 0 && shippingTaxRate ? [shippingTaxRate] : []
  const taxes = [...lines.map(({ tax }) => tax), ...ofShipping]
  const rates = new Set(taxes.filter(({ inclusive, rateBps }) => !inclusive && rateBps > 0).map(({ rateBps }) => rateBps))
  const [only] = rates
  return only !== undefined && rates.size === 1 ? `${common('tax')} ${percentOfBps(only)}` : common('tax')
}
