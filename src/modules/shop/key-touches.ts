import type { Deps } from '../../core/deps.ts'
import { aside } from '../../core/request.ts'
import type { KnownKey } from './domain.ts'
import type { ShopStore } from './store.ts'

/** Notes that a key was used, to the minute, without making the request wait or fail for it. */
export type KeyTouches = (key: Pick<KnownKey, 'id' | 'lastUsedAt'>) => void

const precisionMs = 60_000

/** Makes one that remembers which keys it is writing about, so that many requests at once make one write. */
export function createKeyTouches({ db, clock, log, shopStore }: Pick<Deps, 'db' | 'clock' | 'log'> & { shopStore: ShopStore }): KeyTouches {
  const underWay = new Set<string>()

  return ({ id, lastUsedAt }) => {
    const now = clock.now()
    if (now - (lastUsedAt ?? 0) < precisionMs || underWay.has(id)) return
    underWay.add(id)
    aside(() => db.write((tx) => shopStore.touchKey(tx, id, now)))
      .catch((error: unknown) => log.warn('key.last_used_not_noted', { error }))
      .finally(() => underWay.delete(id))
  }
}
