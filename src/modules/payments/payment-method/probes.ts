/** Probes processors that did not answer, in the background. */
import { ProcessorRefused, ProcessorUnavailable } from '../../../clients/processors/processor.ts'
import { inParallel } from '../../../lib/parallel.ts'
import type { BreakerOf } from './breakers.ts'
import type { PaymentMethodDeps } from './providers.ts'

/** Concurrent probes of a process; each waits for its own processor. */
const probesMax = 20
/**
 * How long other processes leave a claimed probe alone: longer than one takes, shorter than the pause before the next.
 */
const claimMs = 25_000

/** Reads other processes' breakers and probes those whose pause is over: closes the breaker, or doubles its pause. */
export async function probeProcessors(deps: PaymentMethodDeps): Promise<void> {
  await deps.syncBreakers()
  const due = deps.breakers.due().map(({ processor, host }) => ({ processor, host }))
  await inParallel(due, probesMax, (at) => probe(deps, at))
}

async function probe({ breakers, probeOf, probeCounts, shared, log }: PaymentMethodDeps, at: BreakerOf): Promise<void> {
  if (!(await shared.claim(`probe ${at.processor} ${at.host}`, claimMs)) || !breakers.beginProbe(at)) return
  const wasAnswered = await isAnswered(probeOf(at))
  probeCounts.add(`${at.processor} ${wasAnswered ? 'answered' : 'failed'}`)
  breakers.recordProbe(at, wasAnswered)
  if (!wasAnswered) log.info('breaker.probe_failed', at)
}

/** A wrong key, or a pending one, is an answer too. */
const isAnswered = (probing: Promise<void>): Promise<boolean> =>
  probing.then(
    () => true,
    (error: unknown) => error instanceof ProcessorRefused || (error instanceof ProcessorUnavailable && !error.counts),
  )
