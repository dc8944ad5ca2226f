import type { Writer } from '../../../../../db/engine.ts'
import { AppError } from '../../../../core/errors.ts'
import type { OrderDeps } from '../providers.ts'

/**
 * Holds the numbers of a shop for the rest of a write, so that nobody places an order until it is over, and sees that none is under way.
 * @throws AppError CONFLICT, naming an order that waits for its payment, is not confirmed yet, or gives money back
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
