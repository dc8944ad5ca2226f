import { ago, moment } from '../lib/format/format.ts'
import { clockTick } from '../lib/format/server-clock.ts'

/** A moment; the exact one where one points at it. @param short how long ago */
export function Moment({ at, short }: { at: string; short?: boolean }) {
  // Read, so that it is drawn anew as time goes by.
  if (short) void clockTick().value
  return (
    <time dateTime={at} title={moment(at)}>
      {short ? ago(at) : moment(at)}
    </time>
  )
}
