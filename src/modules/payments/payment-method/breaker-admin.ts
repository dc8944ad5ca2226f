/** Breakers as operators see and isolate them. */
import type { CommandContext } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { type Breaker, closedBreaker } from '../../../lib/breaker.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { type BreakerAction, type ProcessorName, processorNames } from './domain.ts'
import type { PaymentMethodDeps } from './providers.ts'

const hostView = (host: string, breaker: Breaker) => ({
  host,
  state: breaker.state,
  failures: breaker.state === 'CLOSED' ? breaker.failures : null,
  ...isoTimes({
    openSince: breaker.state === 'CLOSED' ? null : breaker.since,
    probeAt: breaker.state === 'OPEN' ? breaker.probeAt : null,
  }),
})

type BreakerView = {
  readonly processor: ProcessorName
  readonly isolatedAt: string | null
  readonly hosts: ReturnType<typeof hostView>[]
}

/** The hosts of a processor: the instance's, and those with a state in this process. */
function viewOf({ breakers, instanceHosts }: PaymentMethodDeps, processor: ProcessorName, isolatedAt: number | null): BreakerView {
  const instanceHost = instanceHosts[processor]
  const hosts = new Map<string, Breaker>(instanceHost === undefined ? [] : [[instanceHost, closedBreaker]])
  for (const one of breakers.all()) if (one.processor === processor) hosts.set(one.host, one.breaker)
  return { processor, ...isoTimes({ isolatedAt }), hosts: [...hosts].map(([host, breaker]) => hostView(host, breaker)) }
}

/** Lists one entry for each processor. */
export async function listBreakers(deps: PaymentMethodDeps): Promise<BreakerView[]> {
  const isolated = new Map((await deps.paymentMethodStore.isolations()).map(({ processor, isolatedAt }) => [processor, isolatedAt]))
  return processorNames.map((processor) => viewOf(deps, processor, isolated.get(processor) ?? null))
}

/** Lists the processors that an operator isolated. */
export const isolatedProcessors = async ({ paymentMethodStore }: Pick<PaymentMethodDeps, 'paymentMethodStore'>): Promise<ProcessorName[]> =>
  (await paymentMethodStore.isolations()).map(({ processor }) => processor)

/**
 * Isolates a processor in every process, or restores it. A repeated call changes nothing.
 * @throws AppError NOT_FOUND for an unknown processor
 */
export function changeIsolation(
  deps: PaymentMethodDeps,
  { actor }: Pick<CommandContext, 'actor'>,
  name: string,
  action: BreakerAction,
): Promise<BreakerView> {
  const processor = processorNames.find((one) => one === name)
  if (processor === undefined) throw new AppError('NOT_FOUND', 'No such processor')
  const verb = { isolate: 'processor.isolated', restore: 'processor.restored' }[action]
  return audited(deps, { actor }, { action: verb, subject: processor }, async (tx, setDifference) => {
    const store = deps.paymentMethodStore
    const row = { processor, isolatedAt: deps.clock.now(), actor: actor.id }
    const isChanged = await (action === 'isolate' ? store.isolate(tx, row) : store.restore(tx, processor))
    const isolated = action === 'isolate'
    if (isChanged) setDifference(differenceOf({ isolated: !isolated }, { isolated }, ['isolated']))
    const now = (await store.isolations(tx)).find((one) => one.processor === processor)
    return viewOf(deps, processor, now?.isolatedAt ?? null)
  })
}
