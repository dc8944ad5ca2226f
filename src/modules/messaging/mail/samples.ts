import type { MailData } from './domain.ts'

/** Returns sample data for previews and tests. */
export function sampleData(currency: string): MailData {
  const money = (amount: number) => ({ amount, currency })
  const order = { orderId: 'order_00000000000000000000000000', number: 1001 }
  const lines = [
    { title: 'Linen shirt', variantTitle: 'Blue / M', quantity: 2, total: money(8_000) },
    { title: 'Tea, 100 g', variantTitle: '', quantity: 1, total: money(1_250) },
  ]
  const fullOrder = {
    ...order,
    lines,
    more: 0,
    subtotal: money(9_250),
    discountTotal: money(925),
    shippingTotal: money(500),
    taxTotal: money(706),
    taxIncluded: money(0),
    shippingTax: money(40),
    giftCardTotal: money(2_000),
    total: money(9_531),
    shippingMethod: 'Post',
  }
  return {
    'order-confirmed': { order: fullOrder },
    new_order: { order: fullOrder },
    'payment-instructions': {
      order,
      amount: money(9_531),
      method: 'Bank transfer',
      instructions: 'Transfer the amount to DE02 1203 0000 0000 2020 51.\nGive the order number as the reference.',
    },
    gift_card: { code: '7H3K9M2PQR5T8VWX', amount: money(5_000), recipient: 'Sara', sender: 'Ann', message: 'Happy birthday!' },
    'payment-failed': { order, amount: money(9_531) },
    'order-shipped': { order, trackingNumber: 'TRACK-123', carrier: 'Post', lines: lines.map(({ total: _, ...line }) => line) },
    'refund-made': { order, amount: money(4_000), giftCardAmount: money(1_000) },
    'return-updated': { order, status: 'APPROVED', rejection: null, lines: lines.map(({ total: _, ...line }) => line) },
    'order-draft': { draftId: 'draft_00000000000000000000000000', lines, more: 0, total: money(9_250) },
    'abandoned-cart': { cartId: '', updatedAt: 0, contents: { token: 'A'.repeat(43), lines, more: 0, total: money(9_250) } },
    'refund-claim': { order, amount: money(4_000), claimUrl: 'https://pay.example/claim' },
    'account-claim': { token: 'A'.repeat(43) },
    'password-reset': { token: 'A'.repeat(43) },
    'email-verify': { token: 'A'.repeat(43) },
    invitation: { token: 'A'.repeat(43), role: 'MANAGER', invitedBy: 'Ann' },
    'account-changed': { what: 'password' },
    test: {},
  }
}
