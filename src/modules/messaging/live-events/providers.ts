import { everyMs } from '../../../clients/ticker.ts'
import type { Deps } from '../../../core/deps.ts'
import { createPlaces } from './event-cursor.ts'
import { createHub } from './hub.ts'
import { createNoting } from './service.ts'
import { createLiveStore } from './store.ts'

export function liveProviders(deps: Deps) {
  const { db, clock, keyring } = deps
  const liveStore = createLiveStore(db)
  const places = createPlaces({ keyring, now: clock.now })
  return {
    liveStore,
    /** The streams of this process. */
    live: createHub({ ...deps, liveStore, places, every: everyMs, sleep: Bun.sleep }),
    /** For what is told beside writes. */
    liveNotes: createNoting(deps),
  }
}
export type LiveDeps = ReturnType<typeof liveProviders>
