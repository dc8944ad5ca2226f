import { OutgoingError } from '../../core/outgoing.ts'
import { isThisMachine } from '../../lib/processor-keys.ts'
import { callTimeoutMs, type ProcessorPort } from './call.ts'
import { ProcessorUnavailable } from './processor.ts'

/**
 * Checks that a host answers, without an account there: any status below 500 will do.
 * @throws ProcessorUnavailable
 */
export async function assertReachable(host: string, { fetch, trusted, timeoutMs = callTimeoutMs }: ProcessorPort): Promise<void> {
  const scheme = isThisMachine(host.replace(/:\d+$/, '')) ? 'http' : 'https'
  const status = await fetch(`${scheme}://${host}/`, { timeoutMs, bytesMax: 100_000, trusted }).then(
    (answer) => answer.status,
    // A redirect or a large body is an answer, too.
    (error: unknown) => (error instanceof OutgoingError ? error.status : undefined),
  )
  if (status === undefined || status >= 500) throw new ProcessorUnavailable(`the host answered ${status ?? 'nothing'}`, { counts: true })
}
