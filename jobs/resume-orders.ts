import { completeFulfilled, expireOrders, resumeOrders, sweepPayments, workMessages } from '../src/modules/selling/order/index.ts'
import type { AppDeps } from '../src/providers.ts'

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

/** Works the messages of processors that were not worked when they came, or could not be. */
export const workInbox = (deps: AppDeps): Promise<number> => workMessages(deps)

/** Asks about payments that ended without money: some are paid all the same. */
export const sweep = (deps: AppDeps): Promise<void> => sweepPayments(deps)
