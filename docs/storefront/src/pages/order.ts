/** Shows an order by its secret link, from the checkout and from e-mails (`pages.order` of the shop). */
import { ask } from '../api.ts'
import { h, put } from '../dom.ts'
import { openPage, parameter } from '../layout.ts'
import { instructionsOf, linesList, orderSums } from '../summary.ts'

void openPage(async (shown) => {
  const { words, main } = shown
  const order = await ask('GET /v2/orders/public/{token}', { path: { token: parameter('token') } })
  const { status, fulfilmentStatus, fulfilments, shippingAddress, publicUrl, receiptUrl, returnable } = order
  const parcels = fulfilments.map(({ carrier, trackingNumber }) => [carrier, trackingNumber].filter(Boolean).join(' '))
  put(main, [
    shown.title(words.orderNumber(order.number)),
    h('p', { class: 'standing' }, words.standings[status]),
    h('p', { class: 'small' }, words.day(order.createdAt), ' · ', words.fulfilments[fulfilmentStatus]),
    order.manualPayment && [h('p', {}, words.due, ': ', words.money(order.amountDue)), instructionsOf(order.manualPayment)],
    linesList(order.lines, words),
    orderSums(order, words),
    shippingAddress &&
      h(
        'p',
        {},
        words.sentTo,
        ' ',
        h('bdi', {}, [shippingAddress.name, shippingAddress.city].join(', ')),
        ', ',
        words.country(shippingAddress.countryCode),
      ),
    parcels.filter((parcel) => parcel !== '').map((parcel) => h('p', {}, words.tracking, ' ', h('bdi', {}, parcel))),
    // souk's own page of the order has the form for returns.
    returnable.length > 0 && h('p', {}, h('a', { href: publicUrl, rel: 'noreferrer' }, words.returnItems)),
    receiptUrl !== null && h('p', {}, h('a', { href: receiptUrl, rel: 'noreferrer' }, words.receipt)),
  ])
})
