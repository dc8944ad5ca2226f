import { withinDeadline } from '../../../clients/deadline.ts'
import { createProviders } from '../../../clients/operations/providers.ts'
import type { Deps } from '../../../core/deps.ts'
import type { Provider } from '../../../core/operations.ts'
import { ownDeploys, ownProjects, ownStatuses } from './own-status.ts'
import { createProviderCache } from './provider-cache.ts'

/** Creates the caches of the status providers. */
export function platformProviders(deps: Deps) {
  const { config, clock, safeFetch, randomBytes } = deps
  /** Identifies this process among those of the instance. */
  const processId = Buffer.from(randomBytes(16)).toString('hex')
  const outside = createProviders(config, { safeFetch, now: clock.now })
  const selfProvider = <Item>(ask: Provider<Item>['ask']): Provider<Item> => ({ name: 'self', source: 'self', ask })
  const withDeadline = <T>(work: Promise<T>) => withinDeadline(config.operationsDeadlineMs, work)
  return {
    processId,
    heartbeat: { lastAt: 0 },
    statusCaches: {
      services: createProviderCache(deps, 'services', outside.services ?? selfProvider(() => ownStatuses(deps, processId)), withDeadline),
      errors: createProviderCache(deps, 'errors', outside.errors ?? selfProvider(() => ownProjects(deps)), withDeadline),
      deploys: createProviderCache(deps, 'deploys', outside.deploys ?? selfProvider(() => ownDeploys(deps)), withDeadline),
    },
  }
}

export type PlatformDeps = Deps & ReturnType<typeof platformProviders>
