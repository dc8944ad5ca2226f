import type { ErrorNote } from '../../../core/error-notes.ts'
import { type ErrorProject, type ServiceStatus, topErrors } from '../../../core/operations.ts'

export type Kind = 'services' | 'errors' | 'deploys'
/** What is known of something: as of a moment (milliseconds since the epoch). */
export type Known<Item> = { readonly asOf: number; readonly items: readonly Item[] }
export type Shown<Item> = { readonly asOf: string; readonly stale: boolean; readonly items: readonly Item[] }

/** How long an answer is fresh (specification, limits). */
export const freshMs = 60_000
/** A job asks anew for what is older. */
export const renewedAfterMs = 25_000
/** After a failure, and after another one twice that. */
const pauseMs = 5_000
const pauseMaxMs = 5 * 60_000

/** Whether an answer may be shown as one of now. One of the future comes from a clock that has stepped back. */
export const isFresh = (known: Known<unknown>, now: number, ms = freshMs): boolean => known.asOf <= now && now - known.asOf < ms

/**
 * How long a provider is left alone after so many failures in a row, in milliseconds.
 * @param asked what it asked for itself
 */
export const pauseAfter = (failures: number, asked = 0): number => Math.max(asked, Math.min(pauseMs * 2 ** (failures - 1), pauseMaxMs))

/** What is told of a process that serves. Times in milliseconds since the epoch. */
export type Start = {
  readonly id: string
  readonly revision: string
  readonly startedAt: number
  readonly seenAt: number
  readonly stoppedAt: number | null
}

/** A process says so often that it runs; it is taken for running as long as it may have been late with that once. */
export const beatMs = 60_000
const quietMaxMs = 150_000
/** Who has said nothing for so long is not missed any more. */
export const missedMs = 15 * 60_000

/** Version and commit: what makes one build another. */
export const revisionOf = (version: string, commit: string | undefined): string => (commit === undefined ? version : `${version}+${commit}`)

/**
 * The services that an instance is made of: the processes that serve, and those of them whose jobs run (they are what says that a process runs).
 * @param starts those of the last quarter of an hour
 * @param selfId this process, which serves
 */
export function ownServices(starts: readonly Start[], selfId: string, now: number): ServiceStatus[] {
  const wanted = starts.filter(({ stoppedAt, seenAt }) => stoppedAt === null && now - seenAt < missedMs)
  const beating = wanted.filter(({ seenAt }) => now - seenAt < quietMaxMs)
  const serving = wanted.filter((start) => start.id === selfId || beating.includes(start))
  const newest = wanted.toSorted((one, another) => another.startedAt - one.startedAt)[0]
  const isRolling = new Set(serving.map(({ revision }) => revision)).size > 1
  const status = (service: string, running: number): ServiceStatus => ({
    service,
    desired: wanted.length,
    running,
    pending: 0,
    revision: newest?.revision ?? 'unknown',
    state: wanted.length === 0 ? 'unknown' : running < wanted.length ? 'degraded' : isRolling ? 'rolling' : 'steady',
  })
  return [status('server', serving.length), status('jobs', beating.length)]
}

/** The project's own errors out of those of each hour. Nobody can resolve them: all kinds count as unresolved. */
export function ownErrors(notes: readonly ErrorNote[]): ErrorProject {
  const groups = [...Map.groupBy(notes, ({ fingerprint }) => fingerprint)].map(([id, hours]) => ({
    id,
    title: hours[0]?.title ?? '',
    count: sumOf(hours),
    lastSeen: new Date(Math.max(...hours.map(({ lastSeen }) => lastSeen))).toISOString(),
  }))
  const top = groups.sort((one, other) => other.count - one.count || (one.lastSeen < other.lastSeen ? 1 : -1)).slice(0, topErrors)
  return { project: 'souk', events: sumOf(notes), unresolved: groups.length, top }
}

const sumOf = (notes: readonly ErrorNote[]): number => notes.reduce((sum, { count }) => sum + count, 0)
