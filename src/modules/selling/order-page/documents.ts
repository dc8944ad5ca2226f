import { AppError, invalidField } from '../../../core/errors.ts'
import { plainText } from '../../../lib/plain-text.ts'
import { type Look, type MailDeps, printDocument, readAppearance, type WebPage } from '../../messaging/mail/index.ts'
import { readShop } from '../../shop/shop/index.ts'
import { bulkMax } from '../order/domain.ts'
import { type FullOrder, issueInvoice, type OrderDeps, readFullOrder } from '../order/index.ts'
import { creditNoteHtml, type InvoicedOrder, invoiceHtml } from './invoice.ts'
import { packingSlipHtml } from './packing-slip.ts'

type Deps = OrderDeps & MailDeps

/** @throws AppError NOT_FOUND for another shop's order */
async function readOrders(deps: Deps, shopId: string, ids: readonly string[]): Promise<FullOrder[]> {
  const orders: FullOrder[] = []
  for (const id of ids) {
    const fullOrder = await readFullOrder(deps, id)
    if (fullOrder?.order.shopId !== shopId) throw new AppError('NOT_FOUND', 'No such order')
    orders.push(fullOrder)
  }
  return orders
}

/**
 * Renders the packing slips of orders, each on its own page, in the given order.
 * @throws AppError NOT_FOUND for another shop's order; CONFLICT, naming an order that has nothing to pack
 */
export async function packingSlips(deps: Deps, shopId: string, ids: readonly string[]): Promise<WebPage> {
  const orders = await readOrders(deps, shopId, ids)
  const [{ look }, seller] = await Promise.all([readAppearance(deps, shopId), readShop(deps, shopId)])
  const { say } = look.words
  const sheets = orders.map((fullOrder) => ({
    title: say.packingSlipOf(fullOrder.order.number),
    body: packingSlipHtml(fullOrder, seller, look.words),
  }))
  return printDocument(look, sheets.length === 1 ? (sheets[0]?.title ?? '') : say.packingSlips, sheets)
}

/**
 * Renders the invoices of orders, each on its own page, in the given order.
 * @throws AppError NOT_FOUND for another shop's order; CONFLICT, naming an order that was never paid
 */
export async function invoices(deps: Deps, shopId: string, ids: readonly string[]): Promise<WebPage> {
  const sheets: Sheet[] = []
  for (const { of, look } of await readInvoiced(deps, shopId, ids))
    sheets.push({ look, title: look.words.say.invoiceOf(of.order.number), body: invoiceHtml(of, look.words) })
  return printSheets(sheets, 'invoices')
}

/**
 * Renders the credit notes of orders, each on its own page: the given orders', by number.
 * @param refundId only the credit note of this refund
 * @throws AppError NOT_FOUND for another shop's order, or another order's refund; CONFLICT if there is no credit note,
 *   or for an order that was never paid
 */
export async function creditNotes(deps: Deps, shopId: string, ids: readonly string[], refundId?: string): Promise<WebPage> {
  const sheets: Sheet[] = []
  for (const { of, look } of await readInvoiced(deps, shopId, ids, refundId))
    for (const credited of of.creditNotes)
      if (refundId === undefined || credited.refund.id === refundId)
        sheets.push({
          look,
          title: look.words.say.creditNoteOf(credited.note.number),
          body: creditNoteHtml(of, credited, look.words),
        })
  if (sheets.length === 0)
    throw new AppError('CONFLICT', 'There is no credit note: no money of the sale was refunded', { code: 'invalid_transition' })
  return printSheets(sheets, 'creditNotes')
}

type Sheet = { readonly look: Look; readonly title: string; readonly body: string }

function printSheets(sheets: readonly Sheet[], title: 'invoices' | 'creditNotes'): WebPage {
  const [first] = sheets
  if (!first) throw new Error('a document without sheets')
  return printDocument(first.look, sheets.length === 1 ? first.title : first.look.words.say[title], sheets)
}

/** Reads orders with their issued documents, which keep the language and the shop's name of the first print. */
async function readInvoiced(
  deps: Deps,
  shopId: string,
  ids: readonly string[],
  refundId?: string,
): Promise<{ of: InvoicedOrder; look: Look }[]> {
  const orders = await readOrders(deps, shopId, ids)
  if (refundId !== undefined && !orders.some(({ refunds }) => refunds.some(({ id }) => id === refundId)))
    throw new AppError('NOT_FOUND', 'No such refund')
  const found: { of: InvoicedOrder; look: Look }[] = []
  for (const fullOrder of orders) {
    const issued = await issueInvoice(deps, fullOrder)
    const { title, language } = issued.invoice.seller
    const { look } = await readAppearance(deps, shopId, language)
    found.push({ of: { ...fullOrder, ...issued }, look: { ...look, ...paper, title: plainText(title, titleMax) } })
  }
  return found
}

const titleMax = 100
/** Not the shop's colours, which may change. */
const paper = { background: '#ffffff', accent: '#000000' }

/**
 * Parses a list of ids, separated by commas.
 * @throws AppError INVALID for none, too many, or a repeated one
 */
export function idsOf(text: string): string[] {
  const ids = text.split(',')
  if (ids.length > bulkMax || ids.includes('')) throw invalidField('ids', `must be 1 to ${bulkMax} ids, separated by commas`)
  if (new Set(ids).size < ids.length) throw invalidField('ids', 'must not contain an order twice')
  return ids
}
