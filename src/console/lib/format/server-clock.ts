/** The server's clock; the browser's may be wrong. */

import { type Signal, signal } from '@preact/signals'
import { dayMs, dayOf } from '../../../lib/day.ts'

let aheadMs = 0

/** Reads the server's time from a response's `Date` header. */
export function syncClock({ headers }: Response): void {
  const serverTime = Date.parse(headers.get('date') ?? '')
  // The header has whole seconds, so smaller differences are ignored.
  if (Number.isFinite(serverTime) && Math.abs(serverTime - Date.now()) > 2_000) aheadMs = serverTime - Date.now()
  else if (Number.isFinite(serverTime)) aheadMs = 0
}

/** Returns the server's time in milliseconds since 1970. */
export const serverNow = (): number => Date.now() + aheadMs

/** Returns a date some days before today (UTC). */
export const daysAgo = (days: number): string => dayOf(serverNow() - days * dayMs)

const tickMs = 10_000
let ticks: Signal<number> | undefined
/** Returns a signal that changes every ten seconds, so that relative times are redrawn. */
export function clockTick(): Signal<number> {
  if (ticks) return ticks
  const tick = signal(0)
  setInterval(() => {
    if (document.visibilityState === 'visible') tick.value++
  }, tickMs)
  ticks = tick
  return tick
}
