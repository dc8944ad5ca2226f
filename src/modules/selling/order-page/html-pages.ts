import { escapeHtml } from '../../../lib/markup.ts'
import type { Money } from '../../../lib/money.ts'
import { plainText } from '../../../lib/plain-text.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import type { Phrasebook } from '../../messaging/mail/index.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import type { PublicOrder } from './public-order.ts'

/** The seller, as a receipt shows it. */
export type Seller = Pick<Shop, 'title' | 'address' | 'contact' | 'timeZone'>

const textMax = 300
const bdi = (text: string): string => `<bdi>${escapeHtml(plainText(text, textMax))}</bdi>`
const shownBy = (parts: readonly (string | null | undefined)[]): string =>
  parts
    .filter((part) => part !== null && part !== undefined && part !== '')
    .map((part) => bdi(part as string))
    .join('<br>')

/** @param withPrices also shows unit prices */
function linesTable({ lines }: PublicOrder, { say, money, count }: Phrasebook, withPrices: boolean): string {
  const price = (text: string) => (withPrices ? text : '')
  const rows = lines.map(
    ({ title, variantTitle, quantity, unitPrice, total }) =>
      `<tr><td>${bdi(title)}${visibleVariantTitle(variantTitle) === '' ? '' : ` <span class="note">${bdi(variantTitle)}</span>`}</td><td class="n">${count(quantity)}</td>${price(`<td class="n">${escapeHtml(money(unitPrice))}</td>`)}<td class="n">${escapeHtml(money(total))}</td></tr>`,
  )
  return `<table>
<thead><tr><th scope="col">${escapeHtml(say.item)}</th><th scope="col" class="n">${escapeHtml(say.count)}</th>${price(`<th scope="col" class="n">${escapeHtml(say.price)}</th>`)}<th scope="col" class="n">${escapeHtml(say.sum)}</th></tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table>`
}

function totalsTable(order: PublicOrder, { say, money }: Phrasebook): string {
  const { subtotal, discountTotal, shippingTotal, taxTotal, taxIncluded, giftCardTotal, total, refundedTotal, giftCardRefundedTotal } =
    order
  const { currency } = order
  const row = (what: string, amount: Money, style = '') =>
    `<tr${style}><th scope="row">${escapeHtml(what)}</th><td class="n">${escapeHtml(money(amount))}</td></tr>`
  const some = (what: string, amount: Money, sign = 1) =>
    amount.amount === 0 ? [] : [row(what, { amount: sign * amount.amount, currency })]
  const back = { amount: refundedTotal.amount + giftCardRefundedTotal.amount, currency }
  return `<table><tbody>${[
    row(say.subtotal, subtotal),
    ...some(say.discount, discountTotal, -1),
    ...some(say.shipping, shippingTotal),
    ...some(say.tax, taxTotal),
    row(say.total, total, ' class="sum"'),
    ...some(say.taxIncluded, taxIncluded),
    ...some(say.giftCards, giftCardTotal),
    ...some(say.refunded, back),
  ].join('\n')}</tbody></table>`
}

function placeOf({ shippingAddress }: PublicOrder, { say }: Phrasebook): string {
  if (!shippingAddress) return ''
  const { name, city, province, countryCode } = shippingAddress
  return `<h2>${escapeHtml(say.shipsTo)}</h2><p>${shownBy([name, city, province, countryCode])}</p>`
}

/** The fulfilments: their tracking, and their lines if partial. */
function parcelsOf({ fulfilments, lines }: PublicOrder, { say, count }: Phrasebook): string {
  const isWhole = (sent: PublicOrder['fulfilments'][number]) =>
    lines.every(({ id, quantity }) => sent.lines.some((one) => one.lineId === id && one.quantity === quantity))
  return fulfilments
    .map((parcel) => {
      const contents = parcel.lines.flatMap(({ lineId, quantity }) => {
        const line = lines.find(({ id }) => id === lineId)
        return line ? [`${bdi(line.title)} ${escapeHtml(say.quantity(count(quantity)))}`] : []
      })
      return [
        ...(isWhole(parcel) ? [] : contents),
        ...(parcel.carrier ? [`${escapeHtml(say.carrier)}: ${bdi(parcel.carrier)}`] : []),
        ...(parcel.trackingNumber ? [`${escapeHtml(say.trackingNumber)}: ${bdi(parcel.trackingNumber)}`] : []),
      ]
    })
    .filter((facts) => facts.length > 0)
    .map((facts) => `<p>${facts.join('<br>')}</p>`)
    .join('\n')
}

/** An order that became FULFILLED without a fulfilment was refunded before anything was sent. */
const statusOf = ({ status, fulfilmentStatus, fulfilments }: PublicOrder, { say }: Phrasebook): string =>
  fulfilmentStatus === 'FULFILLED' && fulfilments.length === 0 ? say.refundedUnsent : say.statuses[status]

/** Renders the page of an order. */
export function orderHtml(order: PublicOrder, { timeZone }: Seller, words: Phrasebook): string {
  const { say } = words
  const { receiptUrl } = order
  return [
    `<p><span class="status">${escapeHtml(statusOf(order, words))}</span></p>`,
    `<p class="note">${escapeHtml(say.placedOn(words.day(Date.parse(order.createdAt), timeZone)))}</p>`,
    parcelsOf(order, words),
    linesTable(order, words, false),
    totalsTable(order, words),
    placeOf(order, words),
    ...(receiptUrl === null ? [] : [`<p class="noprint"><a href="${escapeHtml(receiptUrl)}">${escapeHtml(say.receipt)}</a></p>`]),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** Renders a receipt. */
export function receiptHtml(order: PublicOrder, { title, address, contact, timeZone }: Seller, words: Phrasebook): string {
  const { say } = words
  const { line1, line2, postalCode, city, province, countryCode } = address
  const place = [postalCode, city].filter(Boolean).join(' ')
  return [
    `<p>${shownBy([title, line1, line2, place, province, countryCode, contact.email, contact.phone])}</p>`,
    `<p class="note">${escapeHtml(say.placedOn(words.day(Date.parse(order.createdAt), timeZone)))} · ${escapeHtml(statusOf(order, words))}</p>`,
    linesTable(order, words, true),
    totalsTable(order, words),
    placeOf(order, words),
    `<p class="note noprint">${escapeHtml(say.printHint)}</p>`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}
