import { moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type FullOrder, fulfilmentView } from '../order/index.ts'

/**
 * An order as its link shows it. Links are passed on, so it has no exact address, contact or processor data, no notes
 * of the shop, and no claim URL.
 */
export function publicOrderView(
  { order, lines, refunds, fulfilments }: FullOrder,
  { publicUrl, shop }: { publicUrl: string; shop: PublicShop },
) {
  const { currency, shippingAddress } = order
  return {
    ...pick(order, 'id', 'number', 'currency', 'mode', 'status', 'paymentStatus', 'fulfilmentStatus'),
    publicUrl,
    receiptUrl: order.confirmedAt === null ? null : `${publicUrl}/receipt`,
    shop,
    lines: lines.map((line) => ({
      ...pick(line, 'id', 'productId', 'variantId', 'title', 'variantTitle', 'sku', 'quantity'),
      ...moneyOf({ ...line, currency }, 'unitPrice', 'total'),
      tax: { rateBps: line.taxRateBps, inclusive: line.taxInclusive, amount: { amount: line.taxAmount, currency } },
    })),
    ...moneyOf(order, 'subtotal', 'discountTotal', 'shippingTotal', 'taxTotal', 'taxIncluded', 'giftCardTotal', 'total', 'amountDue'),
    ...moneyOf(order, 'capturedTotal', 'refundedTotal', 'giftCardRefundedTotal'),
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
    ...isoTimes(pick(order, 'createdAt', 'confirmedAt')),
  }
}
type PublicShop = { readonly name: string; readonly title: string; readonly logoUrl: string | null }
export type PublicOrder = ReturnType<typeof publicOrderView>
