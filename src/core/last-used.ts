import type { Writer } from '../../db/engine.ts'
import type { Deps } from './deps.ts'
import { aside } from './request-context.ts'

/** Notes that something was used, to the minute, without making the request wait or fail for it. */
export type Touch = (used: { readonly id: string; readonly lastUsedAt: number | null }) => void

const precisionMs = 60_000

/**
 * Makes one that remembers what it is writing about, so that many requests at once make one write.
 * @param what names it in the log, as `key`
 * @param note writes down that it was used at this time (milliseconds)
 */
export function createTouch(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  what: string,
  note: (tx: Writer, id: string, at: number) => Promise<void>,
): Touch {
  const underWay = new Set<string>()

  return ({ id, lastUsedAt }) => {
    const now = clock.now()
    if (now - (lastUsedAt ?? 0) < precisionMs || underWay.has(id)) return
    underWay.add(id)
    aside(() => db.write((tx) => note(tx, id, now)))
      .catch((error: unknown) => log.warn(`${what}.last_used_not_noted`, { error }))
      .finally(() => underWay.delete(id))
  }
}
