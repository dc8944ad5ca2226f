import { ago, moment } from '../lib/format/format.ts'
import { clockTick } from '../lib/format/server-clock.ts'

/**
 * Shows a timestamp, with the exact time as title.
 * @param short relative to now
 */
export function Moment({ at, short }: { at: string; short?: boolean }) {
  // Subscribes to the tick, so that the relative time is redrawn.
  if (short) void clockTick().value
  return (
    <time dateTime={at} title={moment(at)}>
      {short ? ago(at) : moment(at)}
    </time>
  )
}
