import { saysCurrency } from '../../../clients/processors/currencies.ts'
import { assertReachable } from '../../../clients/processors/reachability.ts'
import type { Deps } from '../../../core/deps.ts'
import { lets } from '../../../lib/breaker.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import type { KybDeps } from '../../shop/kyb/index.ts'
import { apiHost, hostsIn, isComplete, modeIn, type ProcessorAccountDeps, settingsIn } from '../processor-account/index.ts'
import { instanceAccountsOf } from './accounts.ts'
import { type BreakerChanged, type BreakerOf, type Breakers, createBreakers } from './breakers.ts'
import { processorsSayingBy } from './currencies.ts'
import { createBreakerSharing } from './shared-breakers.ts'
import { createPaymentMethodStore } from './store.ts'

/** Of each call of a probe; several of them end before another process would take it for lost. */
const probeTimeoutMs = 8_000

type Given = Deps & Pick<ProcessorAccountDeps, 'processorClients'> & Pick<LiveDeps, 'liveNotes'>

export function paymentMethodProviders({ db, clock, config, shared, log, randomBytes, safeFetch, processorClients, liveNotes }: Given) {
  const breakersOpened = createTally()
  const sharing = createBreakerSharing(shared, () => breakers)
  const changed: BreakerChanged = (at, before, after) => {
    sharing.changed(at)
    if (lets(before) === lets(after)) return
    liveNotes.note({
      name: lets(after) ? 'breaker.closed' : 'breaker.opened',
      shopId: null,
      data: { processor: at.processor, host: at.host },
    })
    if (lets(after)) log.info('breaker.closed', at)
    else {
      breakersOpened.add(at.processor)
      log.warn('breaker.opened', { ...at, advice: 'the resolver passes the processor over until a probe is answered' })
    }
  }
  const breakers: Breakers = createBreakers(clock.now, { random: () => (randomBytes(1)[0] ?? 0) / 255, changed })
  /** Asks whether a processor answers, by the instance's own account where the host is that account's; a merchant's own host, without. */
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
    /** The processors that can say amounts of a currency. */
    processorsSaying: processorsSayingBy(saysCurrency),
    /** Takes up what other processes know of breakers. */
    syncBreakers: sharing.sync,
    probeOf,
    /** How often breakers opened, by processor. */
    breakersOpened,
    /** What probes came to, by processor and outcome. */
    probeCounts: createTally(),
    /** Where the processors' APIs are for the instance's own accounts. */
    instanceHosts: hostsIn(config),
    /** The instance's own, by the mode of the shop that asks. */
    instanceAccounts: { TEST: instanceAccountsOf(config, 'TEST'), LIVE: instanceAccountsOf(config, 'LIVE') },
  }
}
export type PaymentMethodDeps = KybDeps & ProcessorAccountDeps & ReturnType<typeof paymentMethodProviders>
