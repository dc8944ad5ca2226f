/** Services with a clock in the past, and reproducible ids that let an interrupted fill recognize its records. */
import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { createNewId, encodeSuffix, type IdKind, idPrefixes } from '../lib/ids.ts'
import type { AppDeps } from '../providers.ts'

type PastClock = Clock & { /** Advances to a time in milliseconds. Ignores an earlier one. */ to(moment: number): void }
export type PastDeps = Omit<AppDeps, 'clock'> & { readonly clock: PastClock }

/** Milliseconds by which each read of the clock advances it. */
const tickMs = 17

/**
 * Returns the services with a clock that starts at `at`. Each read advances it, so that later records have later times
 * and ids.
 * @param ids fixed ids, instead of new ones
 */
export function depsAt(deps: AppDeps, at: number, ids: Partial<Record<IdKind, string>> = {}): PastDeps {
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

/** Returns 32 bytes that depend on the name only. */
export const bytesOf = (name: string): Buffer => createHash('sha256').update(`souk demo: ${name}`).digest()

/** Returns a reproducible id that sorts by its creation time `at` among all ids. */
export function demoId(kind: IdKind, at: number, name: string): string {
  const bytes = bytesOf(`${kind} ${name}`).subarray(0, 16)
  bytes.writeUIntBE(at, 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return `${idPrefixes[kind]}_${encodeSuffix(bytes)}`
}
