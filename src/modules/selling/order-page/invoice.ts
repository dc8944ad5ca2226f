import { escapeHtml } from '../../../lib/markup.ts'
import { moneyOf } from '../../../lib/money.ts'
import { isSameValue } from '../../../lib/objects.ts'
import { lineTaxRate, shippingTaxRate } from '../../../lib/tax-rate.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import { linesHtml, type Phrasebook } from '../../messaging/mail/index.ts'
import { type CreditedRefund, creditedTaxes, type FullOrder, type InvoiceRecord, type TaxTotal, taxTotalsOf } from '../order/index.ts'
import { bdi, joinLines, recipientLines, sellerLines, totalsTable } from './html-pages.ts'

/** An order with what its documents show besides. */
export type InvoicedOrder = Pick<FullOrder, 'order' | 'lines'> & InvoiceRecord

type Column = { readonly title: string; readonly isNumber?: boolean }
/** @param rows cells are trusted HTML */
function tableOf(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const style = (at: number) => (columns[at]?.isNumber ? ' class="n"' : '')
  const head = columns.map(({ title }, at) => `<th scope="col"${style(at)}>${escapeHtml(title)}</th>`)
  const body = rows.map((cells) => `<tr>${cells.map((cell, at) => `<td${style(at)}>${cell}</td>`).join('')}</tr>`)
  return `<table>\n<thead><tr>${head.join('')}</tr></thead>\n<tbody>${body.join('\n')}</tbody>\n</table>`
}

/** Renders an invoice. Later credit notes are listed below it; nothing else changes after the first print. */
export function invoiceHtml(of: InvoicedOrder, words: Phrasebook): string {
  const { order, lines, invoice, creditNotes } = of
  const { say, count, percent } = words
  const { currency } = order
  const money = (amount: number) => escapeHtml(words.money({ amount, currency }))
  const rows = lines.map((line) => [
    `${nameOf(line)}${line.discount > 0 ? ` <span class="note">${escapeHtml(say.discount)} ${money(line.discount)}</span>` : ''}`,
    escapeHtml(count(line.quantity)),
    money(line.unitPrice),
    escapeHtml(percent(lineTaxRate(line) / 10_000)),
    money(line.total),
  ])
  const columns = [{ title: say.item }, ...[say.count, say.price, say.taxRate, say.sum].map((title) => ({ title, isNumber: true }))]
  const totals = moneyOf(
    order,
    'subtotal',
    'discountTotal',
    'shippingTotal',
    'taxTotal',
    'taxIncluded',
    'shippingTax',
    'giftCardTotal',
    'total',
  )
  const none = { amount: 0, currency }
  const notes = creditNotes.map(({ note, refund }) => [
    escapeHtml(say.creditNoteOf(note.number)),
    escapeHtml(words.day(note.createdAt, invoice.seller.timeZone)),
    money(totalOf(refund)),
  ])
  return [
    partiesHtml(of, words, say.dated(words.day(order.confirmedAt ?? order.createdAt, invoice.seller.timeZone))),
    tableOf(columns, rows),
    // What is refunded later is not part of the invoice.
    totalsTable({ ...totals, shippingTaxRate: shippingTaxRate(order), currency, refundedTotal: none, giftCardRefundedTotal: none }, words),
    taxesHtml(taxTotalsOf(order, lines), currency, words),
    noteHtml(of),
    notes.length > 0
      ? `<h2>${escapeHtml(say.creditNotes)}</h2>\n${tableOf([{ title: say.number }, { title: say.date }, { title: say.sum, isNumber: true }], notes)}`
      : '',
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** Renders the credit note of one of the order's refunds. */
export function creditNoteHtml(of: InvoicedOrder, credited: CreditedRefund, words: Phrasebook): string {
  const { order, lines, invoice, creditNotes } = of
  const { note, refund } = credited
  const { say, count } = words
  const { currency, number, confirmedAt, createdAt } = order
  const money = (amount: number) => escapeHtml(words.money({ amount, currency }))
  const day = (at: number) => words.day(at, invoice.seller.timeZone)
  const taxes = creditedTaxes(
    order,
    lines,
    creditNotes.map((one) => one.refund),
  )
  const rows = refund.lines.flatMap(({ lineId, quantity, amount }) =>
    lines.filter(({ id }) => id === lineId).map((line) => [nameOf(line), escapeHtml(count(quantity)), money(amount)]),
  )
  const columns = [{ title: say.item }, { title: say.count, isNumber: true }, { title: say.sum, isNumber: true }]
  return [
    partiesHtml(of, words, say.dated(day(note.createdAt))),
    `<p>${escapeHtml(say.creditsInvoice(number, day(confirmedAt ?? createdAt)))}</p>`,
    rows.length > 0 ? tableOf(columns, rows) : '',
    taxesHtml(taxes[creditNotes.indexOf(credited)] ?? [], currency, words),
    `<table><tbody><tr class="sum"><th scope="row">${escapeHtml(say.refunded)}</th><td class="n">${money(totalOf(refund))}</td></tr></tbody></table>`,
    refund.giftCardAmount > 0 ? `<p>${escapeHtml(say.refundToCards(words.money({ amount: refund.giftCardAmount, currency })))}</p>` : '',
    noteHtml(of),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

const totalOf = ({ amount, giftCardAmount }: CreditedRefund['refund']): number => amount + giftCardAmount

function nameOf({ title, variantTitle, sku }: FullOrder['lines'][number]): string {
  const notes = [visibleVariantTitle(variantTitle), sku ?? ''].filter((text) => text !== '')
  return [bdi(title), ...notes.map((text) => `<span class="note">${bdi(text)}</span>`)].join(' ')
}

/** Returns the seller, the date and the buyer. */
function partiesHtml({ order, invoice: { seller, buyer } }: InvoicedOrder, words: Phrasebook, date: string): string {
  const { say } = words
  const { billingAddress, shippingAddress } = buyer
  const payer = billingAddress ?? shippingAddress
  const isSentElsewhere = billingAddress !== null && shippingAddress !== null && !isSameValue(billingAddress, shippingAddress)
  const taxNumber = seller.taxNumber === null ? '' : `<br>${escapeHtml(say.taxNumber)}: ${bdi(seller.taxNumber)}`
  const block = (title: string, html: string) => (html === '' ? '' : `<div>\n<h2>${escapeHtml(title)}</h2>\n<p>${html}</p>\n</div>`)
  const parties = [
    block(say.seller, `${sellerLines({ ...seller, title: seller.legalName ?? seller.title }, words)}${taxNumber}`),
    block(say.billedTo, payer ? recipientLines(payer, words) : joinLines([buyer.email])),
    isSentElsewhere ? block(say.shipsTo, recipientLines(shippingAddress, words)) : '',
  ]
  return [
    order.mode === 'TEST' ? `<p><span class="status">${escapeHtml(say.testDocument)}</span></p>` : '',
    `<p>${escapeHtml(date)}</p>`,
    `<div class="parties">\n${parties.filter((part) => part !== '').join('\n')}\n</div>`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** Returns the taxes by rate. Rates that prices include are marked. */
function taxesHtml(taxes: readonly TaxTotal[], currency: string, { say, money, percent }: Phrasebook): string {
  const rows = taxes.map(({ rateBps, inclusive, net, tax }) => [
    escapeHtml(inclusive ? `${percent(rateBps / 10_000)} (${say.included})` : percent(rateBps / 10_000)),
    ...[net, tax, net + tax].map((amount) => escapeHtml(money({ amount, currency }))),
  ])
  const columns = [{ title: say.taxRate }, ...[say.net, say.tax, say.sum].map((title) => ({ title, isNumber: true }))]
  return tableOf(columns, rows)
}

const noteHtml = ({ invoice: { seller } }: InvoicedOrder): string => (seller.note === null ? '' : `<p>${linesHtml(seller.note)}</p>`)
