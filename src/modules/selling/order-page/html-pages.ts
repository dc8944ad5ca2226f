import type { Address } from '../../../../db/schema/selling.ts'
import { cityLines } from '../../../lib/city-lines.ts'
import { escapeHtml } from '../../../lib/markup.ts'
import type { Money } from '../../../lib/money.ts'
import { plainText } from '../../../lib/plain-text.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import { linesHtml, type Phrasebook } from '../../messaging/mail/index.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { reasonMax } from '../order-return/domain.ts'
import type { PublicOrder } from './public-order.ts'

/** The seller, as a receipt shows it. */
export type Seller = Pick<Shop, 'title' | 'address' | 'contact' | 'timeZone'>

const textMax = 300
/** Escapes a text and isolates its direction, so that it does not reorder its neighbours. Long texts are cut. */
export const bdi = (text: string): string => `<bdi>${escapeHtml(plainText(text, textMax))}</bdi>`
/** Joins texts as escaped lines. Leaves out empty ones. */
export const joinLines = (parts: readonly (string | null | undefined)[]): string =>
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

type Totals = Pick<
  PublicOrder,
  | 'currency'
  | 'subtotal'
  | 'discountTotal'
  | 'shippingTotal'
  | 'taxTotal'
  | 'taxIncluded'
  | 'shippingTax'
  | 'shippingTaxRate'
  | 'giftCardTotal'
  | 'total'
  | 'refundedTotal'
  | 'giftCardRefundedTotal'
>

/** Renders the sums of an order. */
export function totalsTable(order: Totals, { say, money }: Phrasebook): string {
  const { subtotal, discountTotal, shippingTotal, taxTotal, taxIncluded, shippingTax, shippingTaxRate, giftCardTotal, total } = order
  const { currency, refundedTotal, giftCardRefundedTotal } = order
  const row = (what: string, amount: Money, style = '') =>
    `<tr${style}><th scope="row">${escapeHtml(what)}</th><td class="n">${escapeHtml(money(amount))}</td></tr>`
  const some = (what: string, amount: Money, sign = 1) =>
    amount.amount === 0 ? [] : [row(what, { amount: sign * amount.amount, currency })]
  const ofShipping = some(say.shippingTax, shippingTax)
  const isIncluded = shippingTaxRate?.inclusive ?? false
  const back = { amount: refundedTotal.amount + giftCardRefundedTotal.amount, currency }
  return `<table><tbody>${[
    row(say.subtotal, subtotal),
    ...some(say.discount, discountTotal, -1),
    ...some(say.shipping, shippingTotal),
    ...some(say.tax, taxTotal),
    ...(isIncluded ? [] : ofShipping),
    row(say.total, total, ' class="sum"'),
    ...some(say.taxIncluded, taxIncluded),
    ...(isIncluded ? ofShipping : []),
    ...some(say.giftCards, giftCardTotal),
    ...some(say.refunded, back),
  ].join('\n')}</tbody></table>`
}

function destinationOf({ shippingAddress }: PublicOrder, { say, country }: Phrasebook): string {
  if (!shippingAddress) return ''
  const { name, countryCode } = shippingAddress
  return `<h2>${escapeHtml(say.shipsTo)}</h2><p>${joinLines([name, ...cityLines(shippingAddress), country(countryCode)])}</p>`
}

/** The fulfilments: their tracking, and their lines if partial. */
function parcelsOf(order: PublicOrder, words: Phrasebook): string {
  const { fulfilments, lines } = order
  const { say } = words
  const isWhole = (sent: PublicOrder['fulfilments'][number]) =>
    lines.every(({ id, quantity }) => sent.lines.some((one) => one.lineId === id && one.quantity === quantity))
  return fulfilments
    .map((parcel) => [
      ...(isWhole(parcel) ? [] : unitTexts(order, parcel.lines, words)),
      ...(parcel.carrier ? [`${escapeHtml(say.carrier)}: ${bdi(parcel.carrier)}`] : []),
      ...(parcel.trackingNumber ? [`${escapeHtml(say.trackingNumber)}: ${bdi(parcel.trackingNumber)}`] : []),
    ])
    .filter((facts) => facts.length > 0)
    .map((facts) => `<p>${facts.join('<br>')}</p>`)
    .join('\n')
}

/** An order that became FULFILLED without a fulfilment was refunded before anything was sent. */
const statusOf = ({ status, fulfilmentStatus, fulfilments }: PublicOrder, { say }: Phrasebook): string =>
  fulfilmentStatus === 'FULFILLED' && fulfilments.length === 0 ? say.refundedUnsent : say.statuses[status]

/** How to pay outside souk. */
function instructionsOf({ manualPayment, amountDue }: PublicOrder, { say, money }: Phrasebook): string {
  if (!manualPayment) return ''
  const heading = say.howToPay(money(amountDue), plainText(manualPayment.title, textMax))
  return `<h2>${escapeHtml(heading)}</h2><p>${linesHtml(manualPayment.instructions)}</p>`
}

const unitTexts = ({ lines }: PublicOrder, units: PublicOrder['returnable'], { say, count }: Phrasebook): string[] =>
  units.flatMap(({ lineId, quantity }) => {
    const line = lines.find(({ id }) => id === lineId)
    return line ? [`${bdi(line.title)} ${escapeHtml(say.quantity(count(quantity)))}`] : []
  })

/** The returns of the order and their status. */
const returnsOf = (order: PublicOrder, words: Phrasebook): string =>
  order.returns
    .map(({ status, lines }) => {
      const label = escapeHtml(words.say.returnStatuses[status])
      return `<p><span class="status">${label}</span><br>${unitTexts(order, lines, words).join('<br>')}</p>`
    })
    .join('\n')

/** What the form of a return needs. `key`: its idempotency key. `refused`: the last request was. */
type ReturnForm = { readonly action: string; readonly key: string; readonly refused: boolean }

/** The form that asks for a return of what can be returned now. */
function returnFormOf({ lines, returnable }: PublicOrder, { say, count }: Phrasebook, { action, key, refused }: ReturnForm): string {
  if (returnable.length === 0) return ''
  const inputs = returnable.flatMap(({ lineId, quantity }) => {
    const line = lines.find(({ id }) => id === lineId)
    if (!line) return []
    const name = `quantity.${escapeHtml(lineId)}`
    const variant = visibleVariantTitle(line.variantTitle)
    const title = `${bdi(line.title)}${variant === '' ? '' : ` ${bdi(variant)}`}`
    return [
      `<label for="${name}">${title} (${escapeHtml(say.returnUpTo(count(quantity)))})</label>`,
      `<input id="${name}" name="${name}" type="number" inputmode="numeric" min="0" max="${quantity}" value="0" required>`,
    ]
  })
  return `<details class="noprint"${refused ? ' open' : ''}><summary>${escapeHtml(say.returnAsk)}</summary>
${refused ? `<p class="wrong" role="alert">${escapeHtml(say.returnRefused)}</p>` : ''}
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="key" value="${escapeHtml(key)}">
${inputs.join('\n')}
<label for="reason">${escapeHtml(say.returnReason)}</label>
<input id="reason" name="reason" maxlength="${reasonMax}" required>
<button>${escapeHtml(say.returnButton)}</button>
</form></details>`
}

/** Renders the page of an order. */
export function orderHtml(order: PublicOrder, { timeZone }: Seller, words: Phrasebook, form: ReturnForm): string {
  const { say } = words
  const { receiptUrl } = order
  return [
    `<p><span class="status">${escapeHtml(statusOf(order, words))}</span></p>`,
    `<p class="note">${escapeHtml(say.placedOn(words.day(Date.parse(order.createdAt), timeZone)))}</p>`,
    instructionsOf(order, words),
    parcelsOf(order, words),
    returnsOf(order, words),
    returnFormOf(order, words, form),
    linesTable(order, words, false),
    totalsTable(order, words),
    destinationOf(order, words),
    ...(receiptUrl === null ? [] : [`<p class="noprint"><a href="${escapeHtml(receiptUrl)}">${escapeHtml(say.receipt)}</a></p>`]),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** Returns the seller's name, address and contact as lines. */
export function sellerLines({ title, address, contact }: Omit<Seller, 'timeZone'>, { country }: Phrasebook): string {
  const { line1, line2, countryCode } = address
  return joinLines([title, line1, line2, ...cityLines(address), countryCode && country(countryCode), contact.email, contact.phone])
}

/** Returns the name and postal address of a person as lines. */
export function recipientLines(address: Address, { country }: Phrasebook): string {
  const { name, company, line1, line2, countryCode } = address
  return joinLines([name, company, line1, line2, ...cityLines(address), country(countryCode)])
}

/** Renders a receipt. */
export function receiptHtml(order: PublicOrder, seller: Seller, words: Phrasebook): string {
  const { say } = words
  return [
    `<p>${sellerLines(seller, words)}</p>`,
    `<p class="note">${escapeHtml(say.placedOn(words.day(Date.parse(order.createdAt), seller.timeZone)))} · ${escapeHtml(statusOf(order, words))}</p>`,
    linesTable(order, words, true),
    totalsTable(order, words),
    destinationOf(order, words),
    `<p class="note noprint">${escapeHtml(say.printHint)}</p>`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}
