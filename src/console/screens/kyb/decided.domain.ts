import type { Schema } from '../../lib/api/api.ts'

type Decided = Pick<Schema<'AdminKybRecord'>, 'events'>

/**
 * Whether what is decided about a business is one's own decision, whose answer may have been lost.
 * @param of the record as it is now
 */
export function isOwn(
  { events }: Decided,
  {
    actor,
    decision,
    reason,
  }: { readonly actor: string | undefined; readonly decision: 'APPROVED' | 'REJECTED'; readonly reason: string | null },
): boolean {
  const last = events.at(-1)
  return last !== undefined && last.actor === actor && last.type === decision && last.reason === reason
}
