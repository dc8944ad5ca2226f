import { OutgoingError } from '../../core/outgoing.ts'
import { isThisMachine } from '../../lib/processor-keys.ts'
import { callTimeoutMs, type ProcessorPort } from './call.ts'
import { ProcessorUnavailable } from './processor.ts'

/**
 * Whether anybody answers at a host of which we have no account: whatever is said below 500 is an answer.
 * @throws ProcessorUnavailable
 */
export async function assertReachable(host: string, { fetch, trusted, timeoutMs = callTimeoutMs }: ProcessorPort): Promise<void> {
  const scheme = isThisMachine(host.replace(/:\d+$/, '')) ? 'http' : 'https'
  const status = await fetch(`${scheme}://${host}/`, { timeoutMs, bytesMax: 100_000, trusted }).then(
    (answer) => answer.status,
    // Where it would send us, or how much it has to say, is no matter.
    (error: unknown) => (error instanceof OutgoingError ? error.status : undefined),
  )
  if (status === undefined || status >= 500) throw new ProcessorUnavailable(`the host answered ${status ?? 'nothing'}`, { counts: true })
}
