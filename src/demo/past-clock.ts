/**
 * The past of the demo: services that work at another time than now, and ids by which a fill that broke off knows what
 * it has done.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { createNewId, encodeSuffix, type IdKind, idPrefixes } from '../lib/ids.ts'
import type { AppDeps } from '../providers.ts'

export type PastClock = Clock & { /** Moves on to a moment (milliseconds); never back. */ to(moment: number): void }
export type PastDeps = Omit<AppDeps, 'clock'> & { readonly clock: PastClock }

/** What the program takes over a thing between two looks at its clock. */
const tickMs = 17

/**
 * The same program at another time. Its clock goes on with each look at it, so that what happens later has the later
 * time and the later id.
 * @param ids to be given instead of new ones
 */
export function inThePast(deps: AppDeps, at: number, ids: Partial<Record<IdKind, string>> = {}): PastDeps {
  let time = at
  const clock: PastClock = {
    now: () => (time += tickMs),
    monotonic: deps.clock.monotonic,
    to(moment) {
      time = Math.max(time, moment)
    },
  }
  const newId = createNewId(() => Bun.randomUUIDv7('buffer', clock.now()))
  return { ...deps, clock, newId: (kind) => ids[kind] ?? newId(kind) }
}

/** Bytes that belong to a name, in every demo the same. */
export const bytesOf = (name: string): Buffer => createHash('sha256').update(`souk demo: ${name}`).digest()

/** The id of a thing that the demo makes at a moment: each time the same, and in order with all others. */
export function demoId(kind: IdKind, at: number, name: string): string {
  const bytes = bytesOf(`${kind} ${name}`).subarray(0, 16)
  bytes.writeUIntBE(at, 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return `${idPrefixes[kind]}_${encodeSuffix(bytes)}`
}
