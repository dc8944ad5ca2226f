import { completeFulfilled, expireOrders, resumeOrders } from '../src/modules/order/index.ts'
import type { AppDeps } from '../src/parts.ts'

/** Goes on with orders and refunds that were left half-done, by a crash, or by a processor or a database that did not answer. */
export async function resume(deps: AppDeps): Promise<number> {
  const [resumed] = await Promise.all([resumeOrders(deps), deps.idempotency.tellEnded()])
  return resumed
}

/** Ends the orders that nobody paid, and completes those that were sent long ago. */
export async function closeOrders(deps: AppDeps): Promise<void> {
  await expireOrders(deps)
  await completeFulfilled(deps)
}
