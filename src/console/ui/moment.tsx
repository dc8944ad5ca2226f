import { ago, moment } from '../lib/format/format.ts'
import { clockTick } from '../lib/format/server-clock.ts'

/**
 * Shows a timestamp, with the exact time as title.
 * @param relative formats the time relative to now
 */
export function Moment({ at, relative }: { at: string; relative?: boolean }) {
  // Subscribes to the tick, so that the relative time is redrawn.
  if (relative) void clockTick().value
  return (
    <time dateTime={at} title={moment(at)}>
      {relative ? ago(at) : moment(at)}
    </time>
  )
}
