/** What time it is on the server: the clock here may be wrong. */
import { type Signal, signal } from '@preact/signals'

let aheadMs = 0

/** Learns it from an answer. */
export function syncClock({ headers }: Response): void {
  const said = Date.parse(headers.get('date') ?? '')
  // An answer tells whole seconds: less than that is no difference.
  if (Number.isFinite(said) && Math.abs(said - Date.now()) > 2_000) aheadMs = said - Date.now()
  else if (Number.isFinite(said)) aheadMs = 0
}

/** Milliseconds since 1970, as the server counts them. */
export const serverNow = (): number => Date.now() + aheadMs

const dayMs = 86_400_000
/** A day of the API, so many days before today's (UTC). */
export const daysAgo = (days: number): string => new Date(serverNow() - days * dayMs).toISOString().slice(0, 10)

const tickMs = 10_000
let ticks: Signal<number> | undefined
/** Changes every ten seconds, for what says how long ago something was. */
export function clockTick(): Signal<number> {
  if (ticks) return ticks
  const made = signal(0)
  setInterval(() => {
    if (document.visibilityState === 'visible') made.value++
  }, tickMs)
  ticks = made
  return made
}
