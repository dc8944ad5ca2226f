import type { Schema } from '../../lib/api/api.ts'

type DecidedRecord = Pick<Schema<'AdminKybRecord'>, 'events'>

/**
 * Returns whether the last decision of a record is the person's own, whose response may have been lost.
 */
export function isOwnDecision(
  { events }: DecidedRecord,
  {
    actor,
    decision,
    reason,
  }: { readonly actor: string | undefined; readonly decision: 'APPROVED' | 'REJECTED'; readonly reason: string | null },
): boolean {
  const last = events.at(-1)
  return last !== undefined && last.actor === actor && last.type === decision && last.reason === reason
}
