import { enumText, index, instant, int, json, primaryKey, reference, table, uniqueIndex } from '../columns.ts'
import { refunds } from './payments.ts'
import { type Address, orders } from './selling.ts'
import { type Contact, type PostalAddress, shops } from './shop.ts'

/** The seller, as all documents of an order show it. */
type InvoiceSeller = {
  title: string
  legalName: string | null
  taxNumber: string | null
  note: string | null
  address: PostalAddress
  contact: Contact
  timeZone: string
  language: string
}
/** An erasure removes it. */
type InvoiceBuyer = { email: string; billingAddress: Address | null; shippingAddress: Address | null }

/** The parties of an invoice, fixed when the invoice is first read. Amounts and lines are those of the order. */
export const invoices = table('invoices', {
  orderId: reference('order_id', () => orders.id).primaryKey(),
  seller: json<InvoiceSeller>('seller').notNull(),
  buyer: json<InvoiceBuyer>('buyer').notNull(),
  createdAt: instant('created_at').notNull(),
})

/** Numbers of credit notes, from 1 per shop and mode, without gaps. */
export const creditNotes = table(
  'credit_notes',
  {
    refundId: reference('refund_id', () => refunds.id).primaryKey(),
    orderId: reference('order_id', () => orders.id),
    shopId: reference('shop_id', () => shops.id),
    mode: enumText('mode', ['TEST', 'LIVE']).notNull(),
    number: int('number').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (note) => [uniqueIndex('credit_notes_number').on(note.shopId, note.mode, note.number), index('credit_notes_order').on(note.orderId)],
)

/** Last number of a shop's credit notes. */
export const creditNoteNumbers = table(
  'credit_note_numbers',
  {
    shopId: reference('shop_id', () => shops.id),
    mode: enumText('mode', ['TEST', 'LIVE']).notNull(),
    last: int('last').notNull(),
  },
  (row) => [primaryKey({ columns: [row.shopId, row.mode] })],
)
