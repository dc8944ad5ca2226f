import { type Processor, ProcessorRefused, ProcessorUnavailable, UnknownAnswer } from '../../../clients/processors/processor.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { isProcessorName, type ProcessorName } from '../payment-method/domain.ts'
import type { ProcessorAccount } from '../processor-account/domain.ts'
import { accountById, accountFor, clientOf } from '../processor-account/index.ts'
import type { Payment } from './domain.ts'
import type { PaymentDeps } from './providers.ts'

/** A processor as one account of it sees it, and the breaker that its calls go by; the sandbox has none. */
export type BoundProcessor = {
  readonly processor: Processor
  readonly breaker: Parameters<PaymentDeps['breakers']['failed']>[0] | undefined
}

/** The processor of an account. */
const boundTo = (deps: PaymentDeps, account: ProcessorAccount): BoundProcessor => ({
  processor: clientOf(deps, account),
  breaker: { processor: account.processor, host: account.host },
})

/** The processor of a payment, as the account sees it that took it, also one that was replaced since; undefined when it is gone. The one place that is asked. */
export async function processorOf(
  deps: PaymentDeps,
  { processor: name, accountId, mode }: Pick<Payment, 'processor' | 'accountId' | 'mode'>,
): Promise<BoundProcessor | undefined> {
  // The sandbox, and whatever else there is without an account.
  const processor = accountId === '' ? deps.processors.get(name) : undefined
  if (processor) return { processor, breaker: undefined }
  if (!isProcessorName(name)) return undefined
  const account = await accountById(deps, accountId, { processor: name, mode })
  return account && boundTo(deps, account)
}

/** Who takes a new payment: the processor, and the account that it goes through for ever; empty: it has none. */
export type ProcessorWithAccount = { readonly processor: Processor; readonly accountId: string }

/** The processor that a shop's new payments go through, by its own account, else the instance's; undefined where there is none. */
export async function processorForShop(
  deps: PaymentDeps,
  { id: shopId, mode }: Pick<ShopContext, 'id' | 'mode'>,
  processor: ProcessorName,
): Promise<ProcessorWithAccount | undefined> {
  const account = await accountFor(deps, { shopId, mode, processor })
  return account && { processor: clientOf(deps, account), accountId: account.id }
}

/**
 * Calls a processor, and tells its breaker what came of it. While that is open nothing is sent: it is probed in the background.
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
    breakers.answered(breaker)
    return answer
  } catch (error) {
    if (error instanceof ProcessorRefused || error instanceof UnknownAnswer) breakers.answered(breaker)
    else if (error instanceof ProcessorUnavailable && error.counts) breakers.failed(breaker)
    throw error
  }
}
