import { everyMs } from '../../../clients/ticker.ts'
import type { Deps } from '../../../core/deps.ts'
import { createEventCursors } from './event-cursor.ts'
import { createHub } from './hub.ts'
import { createEventPublisher } from './service.ts'
import { createLiveStore } from './store.ts'

export function liveProviders(deps: Deps) {
  const { db, clock, keyring } = deps
  const liveStore = createLiveStore(db)
  const cursors = createEventCursors({ keyring, now: clock.now })
  return {
    liveStore,
    /** The streams of this process. */
    live: createHub({ ...deps, liveStore, cursors: cursors, every: everyMs, sleep: Bun.sleep }),
    /** Publishes events that belong to no write. */
    liveNotes: createEventPublisher(deps),
  }
}
export type LiveDeps = ReturnType<typeof liveProviders>
