import { type Processor, ProcessorRefused, ProcessorUnavailable } from '../../clients/processors/processor.ts'
import type { Payment } from './domain.ts'
import type { PaymentDeps } from './parts.ts'

/** A processor as one account of it sees it, and the breaker that its calls go by; the sandbox has none. */
export type Bound = { readonly processor: Processor; readonly breaker: Parameters<PaymentDeps['breakers']['failed']>[0] | undefined }

/** The processor of a payment, as the account sees it that took it, also one that was replaced since; undefined when it is gone. The one place that is asked. */
export async function processorOf(
  { processors }: PaymentDeps,
  { processor: name }: Pick<Payment, 'processor' | 'accountId' | 'mode'>,
): Promise<Bound | undefined> {
  const processor = processors.get(name)
  return processor && { processor, breaker: undefined }
}

/**
 * Calls a processor, and tells its breaker what came of it. While that is open nothing is sent: it is probed in the background.
 * @throws ProcessorUnavailable, ProcessorRefused
 */
export async function calling<Answer>(
  { breakers }: PaymentDeps,
  { processor, breaker }: Bound,
  call: (processor: Processor) => Promise<Answer>,
): Promise<Answer> {
  if (!breaker) return call(processor)
  if (!breakers.passes(breaker)) throw new ProcessorUnavailable('its breaker is open', { neverSent: true, counts: false })
  try {
    const answer = await call(processor)
    breakers.answered(breaker)
    return answer
  } catch (error) {
    if (error instanceof ProcessorRefused) breakers.answered(breaker)
    else if (error instanceof ProcessorUnavailable && error.counts) breakers.failed(breaker)
    throw error
  }
}
