import { moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { lineTaxRate, shippingTaxRate } from '../../../lib/tax-rate.ts'
import { isOpenPayment, manualTermsOf } from '../../payments/payment/domain.ts'
import { type FullOrder, fulfilmentView } from '../order/index.ts'
import type { publicReturns } from '../order-return/index.ts'

/**
 * Renders an order as its link shows it. Links are passed on, so it has no exact address, contact or processor data,
 * no notes of the shop, and no claim URL.
 */
export function publicOrderView(
  { order, lines, refunds, fulfilments, payments }: FullOrder,
  { publicUrl, shop, returns, returnable }: { publicUrl: string; shop: PublicShop } & Awaited<ReturnType<typeof publicReturns>>,
) {
  const { currency, shippingAddress } = order
  const terms = order.status === 'PENDING_PAYMENT' ? payments.filter(isOpenPayment).map(manualTermsOf)[0] : undefined
  return {
    ...pick(order, 'id', 'number', 'currency', 'mode', 'status', 'paymentStatus', 'fulfilmentStatus'),
    publicUrl,
    receiptUrl: order.confirmedAt === null ? null : `${publicUrl}/receipt`,
    shop,
    lines: lines.map((line) => ({
      ...pick(line, 'id', 'productId', 'variantId', 'title', 'variantTitle', 'sku', 'quantity'),
      ...moneyOf({ ...line, currency }, 'unitPrice', 'total'),
      tax: { rateBps: lineTaxRate(line), inclusive: line.taxInclusive, amount: { amount: line.taxAmount, currency } },
    })),
    ...moneyOf(order, 'subtotal', 'discountTotal', 'shippingTotal', 'taxTotal', 'taxIncluded', 'shippingTax', 'giftCardTotal'),
    shippingTaxRate: shippingTaxRate(order),
    ...moneyOf(order, 'total', 'amountDue'),
    ...moneyOf(order, 'capturedTotal', 'refundedTotal', 'giftCardRefundedTotal'),
    manualPayment: terms ? pick(terms, 'title', 'instructions') : null,
    shippingMethod: order.shippingMethod,
    shippingAddress: shippingAddress && pick(shippingAddress, 'name', 'city', 'province', 'countryCode'),
    tracking: order.trackingNumber === null && order.carrier === null ? null : { number: order.trackingNumber, carrier: order.carrier },
    fulfilments: fulfilments.map(fulfilmentView),
    refunds: refunds
      .filter(({ status }) => status !== 'FAILED')
      .map(({ amount, giftCardAmount, status, createdAt }) => ({
        amount: { amount: amount + giftCardAmount, currency },
        status,
        ...isoTimes({ createdAt }),
      })),
    returns,
    returnable,
    ...isoTimes(pick(order, 'createdAt', 'confirmedAt')),
  }
}
type PublicShop = { readonly name: string; readonly title: string; readonly logoUrl: string | null }
export type PublicOrder = ReturnType<typeof publicOrderView>
