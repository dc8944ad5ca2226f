import type { Writer } from '../../../../../db/engine.ts'
import { locking } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { pick } from '../../../../lib/objects.ts'
import { readAppearance } from '../../../messaging/mail/index.ts'
import { readShop } from '../../../shop/shop/index.ts'
import { mustBeReturned, type Order, type Refund } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import type { FullOrder } from '../view.ts'
import { type CreditNote, type Invoice, invoiceStore as store } from './invoice-store.ts'

/** A credit note and its refund. */
export type CreditedRefund = { readonly note: CreditNote; readonly refund: Refund }
/** What the invoice and credit notes of an order show besides the order. Credit notes are in the order of numbers. */
export type InvoiceRecord = { readonly invoice: Invoice; readonly creditNotes: readonly CreditedRefund[] }

/**
 * Returns whether a refund that succeeded reduces what was invoiced. Money that belongs to no sale was never invoiced.
 */
const isCredited = ({ confirmedAt }: Pick<Order, 'confirmedAt'>, refund: Pick<Refund, 'purpose' | 'amount' | 'giftCardAmount'>): boolean =>
  confirmedAt !== null && !mustBeReturned(refund) && refund.amount + refund.giftCardAmount > 0

/**
 * Draws the number of a refund's credit note, in the write that makes the refund succeed: so numbers have no gaps and
 * follow the time of the refunds. A refund that failed later and succeeded again keeps its number.
 */
export async function drawCreditNote(
  tx: Writer,
  { clock }: Pick<OrderDeps, 'clock'>,
  { order, refund }: { order: Order; refund: Refund },
): Promise<void> {
  if (!isCredited(order, refund) || (await store.hasCreditNote(tx, refund.id))) return
  const { shopId, mode, id: orderId } = order
  await store.insertCreditNote(tx, { refundId: refund.id, orderId, shopId, mode, createdAt: clock.now() })
}

/**
 * Returns the parties of an order's invoice, and its credit notes. The first call fixes the parties, so that every
 * later document shows the same. It also draws numbers for refunds of versions without credit notes.
 * @throws AppError CONFLICT for an order that was never paid
 */
export async function issueInvoice(deps: OrderDeps, { order, refunds }: Pick<FullOrder, 'order' | 'refunds'>): Promise<InvoiceRecord> {
  const { db, clock, orderStore } = deps
  const { id: orderId, shopId, number } = order
  if (order.confirmedAt === null)
    throw new AppError('CONFLICT', `Order ${number} has no invoice, because it was not paid`, { code: 'invalid_transition' })
  const [found, notes] = await Promise.all([store.find(db.read, orderId), store.creditNotesOf(db.read, orderId)])
  const lacksNote = refunds.some(
    (refund) => refund.status === 'SUCCEEDED' && isCredited(order, refund) && !notes.some(({ refundId }) => refundId === refund.id),
  )
  if (!found || lacksNote) {
    const [shop, { look }] = await Promise.all([readShop(deps, shopId), readAppearance(deps, shopId)])
    await db.write(async (tx) => {
      // Two first prints wait for each other here.
      const current = await orderStore.lock(tx, orderId)
      if (!current) throw new Error('an order has disappeared')
      if (!(await store.find(tx, orderId)))
        await store.insert(tx, {
          orderId,
          seller: {
            ...pick(shop, 'title', 'legalName', 'taxNumber', 'address', 'contact', 'timeZone'),
            note: shop.invoiceNote,
            language: look.words.language,
          },
          buyer: pick(current, 'email', 'billingAddress', 'shippingAddress'),
          createdAt: clock.now(),
        })
      for (const refund of await orderStore.refundsOf(tx, orderId))
        if (refund.status === 'SUCCEEDED') await drawCreditNote(tx, deps, { order: current, refund })
    }, locking)
  }
  const [invoice, issued] = await Promise.all([store.find(db.read, orderId), store.creditNotesOf(db.read, orderId)])
  if (!invoice) throw new Error('an invoice was not stored')
  // Read last: every note has its refund.
  const all = await orderStore.refundsOf(db.read, orderId)
  const creditNotes = issued.flatMap((note) => all.filter(({ id }) => id === note.refundId).map((refund) => ({ note, refund })))
  return { invoice, creditNotes }
}
