import { shopPath } from '../../lib/session/current-shop.ts'
import type { Order } from './order-types.ts'

/** Documents of orders: the page that prints them, and their type in the API. */
export const documentKinds = [
  { page: 'packing-slips', type: 'packing-slip', titles: 'packingSlips', namesSeller: false },
  { page: 'invoices', type: 'invoice', titles: 'invoices', namesSeller: true },
  { page: 'credit-notes', type: 'credit-note', titles: 'creditNotes', namesSeller: true },
] as const
export type DocumentKind = (typeof documentKinds)[number]

/** Returns the URL of the page that prints documents of orders. */
export const documentsPath = (page: DocumentKind['page'], orders: readonly Pick<Order, 'id'>[]): string =>
  `${shopPath('orders', page)}?ids=${orders.map(({ id }) => id).join(',')}`

/** Returns whether an order has an invoice: once it was paid. */
export const hasInvoice = ({ confirmedAt }: Pick<Order, 'confirmedAt'>): boolean => confirmedAt !== null

/** Returns whether an order has a credit note: for a refund of money of the sale that succeeded. */
export const hasCreditNote = (order: Pick<Order, 'confirmedAt' | 'refunds'>): boolean =>
  hasInvoice(order) && order.refunds.some(({ status, amount }) => status === 'SUCCEEDED' && amount.amount > 0)
