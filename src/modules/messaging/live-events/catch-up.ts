import type { Deps } from '../../../core/deps.ts'
import { createFairQueue } from '../../../core/limits/fair-queue.ts'
import type { EventEncoder } from './event-encoder.ts'
import { readEvents } from './event-reader.ts'
import type { Listener, Viewer } from './listener.ts'
import type { LiveStore } from './store.ts'

/** Rows to read when a stream resumes; beyond this the client must reload. */
const rowsToResumeMax = 200_000
/** Longest rest after a page of past events; a page takes less on any usable machine. */
const restMaxMs = 1_000
const endless = Number.POSITIVE_INFINITY

type CatchUpDeps = Pick<Deps, 'clock' | 'log'> & {
  readonly encoder: EventEncoder
  readonly readPage: (cursor: string, until?: string) => ReturnType<LiveStore['since']>
  readonly liveStore: LiveStore
  readonly sleep: (ms: number) => Promise<void>
}

/** Creates the function that sends a listener the events between two cursors, and then the chunks that it held back. */
export function createCatchUp({ clock, log, encoder, readPage, liveStore, sleep }: CatchUpDeps) {
  const queue = createFairQueue({
    ...{ atOnce: 1, waitMaxMs: endless, waitingMax: endless, initialTurnMs: 0, now: clock.monotonic },
    full: () => new Error('the queue has no limit'),
  })

  /**
   * Reads past events one page at a time: shops take turns, and accounts within a shop. Rests after each page for as
   * long as it took, so that requests have the thread.
   */
  async function inTurn<T>({ shopId, accountId }: Viewer, read: () => Promise<T>): Promise<T> {
    const end = await queue.acquire([shopId ?? accountId, accountId])
    const startedAt = clock.monotonic()
    try {
      return await read()
    } finally {
      void sleep(Math.min(clock.monotonic() - startedAt, restMaxMs)).then(end)
    }
  }

  return async function catchUp(listener: Listener, from: string, until: string): Promise<void> {
    const { shopId, seesCatalog } = listener.viewer
    const audience = { shopId, includesShop: (id: string) => id === shopId, operators: shopId === undefined }
    const idOf = encoder.cachedIds()
    try {
      let cursor = from
      for (let rows = 0; rows < rowsToResumeMax && !listener.isOver(); ) {
        const found = await inTurn(listener.viewer, async () => {
          // The listener may have left while it waited.
          if (listener.isOver()) return undefined
          const page = await readPage(cursor, until)
          return page && { page, ...(await readEvents(liveStore, page, audience)) }
        })
        if (listener.isOver()) return
        if (!found) break
        const { page, batches, changedRoles } = found
        const chunk = encoder.page(batches, seesCatalog, idOf)
        if (chunk) await listener.sendPast(chunk)
        // Their role changed, so they may see other events than before.
        if (shopId !== undefined && changedRoles.includes(shopId)) await listener.sendPast(encoder.resync(page.cursor))
        cursor = page.cursor
        rows += page.groups.reduce((sum, group) => sum + group.rows.length, 0)
        if (page.isWhole) {
          await listener.sendPast(encoder.position(cursor))
          return listener.release()
        }
      }
      await listener.sendPast(encoder.resync(until))
      listener.release()
    } catch (error) {
      log.warn('live.not_resumed', { error })
      listener.end('unchecked')
    }
  }
}
