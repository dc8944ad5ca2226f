import type { Schema } from '../../lib/api/api.ts'

export type Order = Schema<'Order'>
export type OrderLine = Order['lines'][number]

/** Props of a dialog that acts on an order. It calls `onDone` after the action, so that the page reloads. */
export type OrderDialogProps = { readonly order: Order; readonly onClose: () => void; readonly onDone: () => Promise<void> }
