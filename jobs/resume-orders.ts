import { completeFulfilled, expireOrders, resumeOrders, sweepPayments, workMessages } from '../src/modules/selling/order/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Resumes orders and refunds that a crash, a processor or a database interrupted. */
export async function resumeInterrupted(deps: AppDeps): Promise<number> {
  const [resumed] = await Promise.all([resumeOrders(deps), deps.idempotency.flushEnded()])
  return resumed
}

/** Expires unpaid orders and completes those sent long ago. */
export async function closeOrders(deps: AppDeps): Promise<void> {
  await expireOrders(deps)
  await completeFulfilled(deps)
}

/** Processes messages of processors that failed or were not processed on arrival. */
export const workInbox = (deps: AppDeps): Promise<number> => workMessages(deps)

/** Queries payments that ended without money: some are paid nevertheless. */
export const sweep = (deps: AppDeps): Promise<void> => sweepPayments(deps)
