import type { Writer } from '../../../../../db/engine.ts'
import { AppError } from '../../../../core/errors.ts'
import type { OrderDeps } from '../providers.ts'

/**
 * Locks a shop's order numbers for the rest of a write, so that no order is placed, and checks that none is
 * unfinished.
 * @throws AppError CONFLICT, naming an order that awaits its payment, is not confirmed yet, or has a pending refund
 */
export async function assertAllOrdersFinished(tx: Writer, { orderStore }: Pick<OrderDeps, 'orderStore'>, shopId: string): Promise<void> {
  await orderStore.holdNumbers(tx, shopId)
  const number = await orderStore.unfinished(tx, shopId)
  if (number === undefined) return
  throw new AppError(
    'CONFLICT',
    `Order ${number} is unfinished: have it paid or cancelled, or wait until it has expired or its money is back`,
  )
}
