import { assertReachable } from '../../../clients/processors/reachability.ts'
import type { Deps } from '../../../core/deps.ts'
import { isClosed } from '../../../lib/breaker.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import type { KybDeps } from '../../shop/kyb/index.ts'
import { apiHost, hostsIn, isComplete, modeIn, type ProcessorAccountDeps, settingsIn } from '../processor-account/index.ts'
import { instanceAccountsOf } from './accounts.ts'
import { type BreakerChanged, type BreakerOf, type Breakers, createBreakers } from './breakers.ts'
import { processorsSupporting } from './currencies.ts'
import { createBreakerSharing } from './shared-breakers.ts'
import { createPaymentMethodStore } from './store.ts'

/** For each call of a probe, so that several end before another process takes over. */
const probeTimeoutMs = 8_000

type PaymentMethodInputs = Deps & Pick<ProcessorAccountDeps, 'processorClients'> & Pick<LiveDeps, 'liveNotes'>

export function paymentMethodProviders({
  db,
  clock,
  config,
  shared,
  log,
  randomBytes,
  safeFetch,
  processorClients,
  liveNotes,
}: PaymentMethodInputs) {
  const breakersOpened = createTally()
  const sharing = createBreakerSharing(shared, () => breakers)
  const changed: BreakerChanged = (at, before, after) => {
    sharing.changed(at)
    if (isClosed(before) === isClosed(after)) return
    liveNotes.note({
      name: isClosed(after) ? 'breaker.closed' : 'breaker.opened',
      shopId: null,
      data: { processor: at.processor, host: at.host },
    })
    if (isClosed(after)) log.info('breaker.closed', at)
    else {
      breakersOpened.add(at.processor)
      log.warn('breaker.opened', { ...at, advice: 'New payments skip the processor until a probe succeeds' })
    }
  }
  const breakers: Breakers = createBreakers(clock.now, { random: () => (randomBytes(1)[0] ?? 0) / 255, changed })
  /** Probes a processor through the instance's account if the host is its own; a merchant's host without an account. */
  async function probeOf({ processor, host }: BreakerOf): Promise<void> {
    const { settings, apiUrl = '' } = settingsIn(config, processor) ?? {}
    const isOwn = settings !== undefined && apiHost(apiUrl) === host
    if (isOwn && isComplete(processor, settings)) {
      const mode = modeIn(processor, settings, apiUrl) ?? 'LIVE'
      await processorClients.open({ processor, mode, settings, apiUrl, trusted: true, timeoutMs: probeTimeoutMs }).probe()
    } else await assertReachable(host, { fetch: safeFetch, timeoutMs: probeTimeoutMs, trusted: isOwn })
  }
  return {
    paymentMethodStore: createPaymentMethodStore(db),
    breakers,
    /** The processors that support a currency. */
    processorsSupporting,
    /** Reads other processes' breakers. */
    syncBreakers: sharing.sync,
    probeOf,
    /** Counts opened breakers, by processor. */
    breakersOpened,
    /** Counts probes, by processor and result. */
    probeCounts: createTally(),
    /** The API hosts of the instance's accounts. */
    instanceHosts: hostsIn(config),
    /** The instance's accounts, by the mode of the shop. */
    instanceAccounts: { TEST: instanceAccountsOf(config, 'TEST'), LIVE: instanceAccountsOf(config, 'LIVE') },
  }
}
export type PaymentMethodDeps = KybDeps & ProcessorAccountDeps & ReturnType<typeof paymentMethodProviders>
