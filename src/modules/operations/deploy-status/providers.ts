import { within } from '../../../clients/deadline.ts'
import { createProviders } from '../../../clients/operations/providers.ts'
import type { Deps } from '../../../core/deps.ts'
import type { Provider } from '../../../core/operations.ts'
import { ownDeploys, ownProjects, ownStatuses } from './own-status.ts'
import { createBoard } from './provider-cache.ts'

/** Whom the operations' pages ask, and what each last said. */
export function platformProviders(deps: Deps) {
  const { config, clock, safeFetch, randomBytes } = deps
  /** This process, among those of the instance. */
  const processId = Buffer.from(randomBytes(16)).toString('hex')
  const outside = createProviders(config, { safeFetch, now: clock.now })
  const self = <Item>(ask: Provider<Item>['ask']): Provider<Item> => ({ name: 'self', source: 'self', ask })
  const inTime = <T>(work: Promise<T>) => within(config.operationsDeadlineMs, work)
  return {
    processId,
    lifeSigns: { lastAt: 0 },
    boards: {
      services: createBoard(deps, 'services', outside.services ?? self(() => ownStatuses(deps, processId)), inTime),
      errors: createBoard(deps, 'errors', outside.errors ?? self(() => ownProjects(deps)), inTime),
      deploys: createBoard(deps, 'deploys', outside.deploys ?? self(() => ownDeploys(deps)), inTime),
    },
  }
}

export type PlatformDeps = Deps & ReturnType<typeof platformProviders>
