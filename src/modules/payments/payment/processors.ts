import { type Processor, ProcessorRefused, ProcessorUnavailable, UnknownAnswer } from '../../../clients/processors/processor.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { isProcessorName, type ProcessorName } from '../payment-method/domain.ts'
import type { ProcessorAccount } from '../processor-account/domain.ts'
import { accountById, accountFor, clientOf } from '../processor-account/index.ts'
import type { Payment } from './domain.ts'
import type { PaymentDeps } from './providers.ts'

/** A processor as seen by one account, and the breaker of its calls; the sandbox has none. */
export type BoundProcessor = {
  readonly processor: Processor
  readonly breaker: Parameters<PaymentDeps['breakers']['failed']>[0] | undefined
}

/** Binds an account to its client. */
const boundTo = (deps: PaymentDeps, account: ProcessorAccount): BoundProcessor => ({
  processor: clientOf(deps, account),
  breaker: { processor: account.processor, host: account.host },
})

/**
 * Returns the processor of a payment through the account that took it, even if it was replaced since; undefined if it
 * is gone.
 */
export async function processorOf(
  deps: PaymentDeps,
  { processor: name, accountId, mode }: Pick<Payment, 'processor' | 'accountId' | 'mode'>,
): Promise<BoundProcessor | undefined> {
  // The sandbox, and other processors without accounts.
  const processor = accountId === '' ? deps.processors.get(name) : undefined
  if (processor) return { processor, breaker: undefined }
  if (!isProcessorName(name)) return undefined
  const account = await accountById(deps, accountId, { processor: name, mode })
  return account && boundTo(deps, account)
}

/** A processor and the account that a new payment goes through; empty for a processor without accounts. */
export type ProcessorWithAccount = { readonly processor: Processor; readonly accountId: string }

/**
 * Returns the processor for a shop's new payments, through its own account or else the instance's; undefined without
 * one.
 */
export async function processorForShop(
  deps: PaymentDeps,
  { id: shopId, mode }: Pick<ShopContext, 'id' | 'mode'>,
  processor: ProcessorName,
): Promise<ProcessorWithAccount | undefined> {
  const account = await accountFor(deps, { shopId, mode, processor })
  return account && { processor: clientOf(deps, account), accountId: account.id }
}

/**
 * Calls a processor and reports the result to its breaker. While the breaker is open nothing is sent.
 * @throws ProcessorUnavailable, ProcessorRefused
 */
export async function callThroughBreaker<Answer>(
  { breakers }: PaymentDeps,
  { processor, breaker }: BoundProcessor,
  call: (processor: Processor) => Promise<Answer>,
): Promise<Answer> {
  if (!breaker) return call(processor)
  if (!breakers.passes(breaker)) throw new ProcessorUnavailable('its breaker is open', { neverSent: true })
  try {
    const answer = await call(processor)
    breakers.recordAnswer(breaker)
    return answer
  } catch (error) {
    if (error instanceof ProcessorRefused || error instanceof UnknownAnswer) breakers.recordAnswer(breaker)
    else if (error instanceof ProcessorUnavailable && error.counts) breakers.failed(breaker)
    throw error
  }
}
