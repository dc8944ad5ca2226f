import type { Writer } from '../../db/engine.ts'
import type { Deps } from './deps.ts'
import { runUntracked } from './request-context.ts'

/** Records the last use with a precision of one minute. The request does not wait, and ignores failures. */
export type RecordUse = (used: { readonly id: string; readonly lastUsedAt: number | null }) => void

const precisionMs = 60_000

/**
 * Creates a recorder that makes one write for concurrent uses.
 * @param what name of the record in the log, such as `key`
 * @param note stores the time in milliseconds
 */
export function createLastUsedRecorder(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  what: string,
  note: (tx: Writer, id: string, at: number) => Promise<void>,
): RecordUse {
  const running = new Set<string>()

  return ({ id, lastUsedAt }) => {
    const now = clock.now()
    if (now - (lastUsedAt ?? 0) < precisionMs || running.has(id)) return
    running.add(id)
    runUntracked(() => db.write((tx) => note(tx, id, now)))
      .catch((error: unknown) => log.warn(`${what}.last_used_not_noted`, { error }))
      .finally(() => running.delete(id))
  }
}
