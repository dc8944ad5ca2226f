import type { Writer } from '../../../../db/engine.ts'
import type { OrderDeps } from '../order/index.ts'
import { createReturnStore } from './store.ts'

type OrderChanged = { readonly orderChanged: (tx: Writer, orderId: string) => void }
export const returnProviders = ({ orderChanged }: OrderChanged) => ({ returnStore: createReturnStore(orderChanged) })
export type ReturnDeps = OrderDeps & ReturnType<typeof returnProviders>
