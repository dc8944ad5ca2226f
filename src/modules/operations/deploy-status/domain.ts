import type { processStarts } from '../../../../db/schema/platform.ts'
import type { ErrorNote } from '../../../core/error-notes.ts'
import { type ErrorProject, type ServiceStatus, topErrors } from '../../../core/operations.ts'

export type StatusKind = 'services' | 'errors' | 'deploys'
/** An answer of a provider and its time (milliseconds since the epoch). */
export type ProviderAnswer<Item> = { readonly asOf: number; readonly items: readonly Item[] }
export type AnswerView<Item> = { readonly asOf: string; readonly stale: boolean; readonly items: readonly Item[] }

/** How long an answer counts as fresh. */
const freshMs = 60_000
/** The job refreshes answers that are older. */
export const renewedAfterMs = 25_000
/** The pause after a failure; it doubles with each further failure. */
const pauseMs = 5_000
const pauseMaxMs = 5 * 60_000

/** Returns whether an answer is current. An answer from the future comes from a clock that stepped back. */
export const isFresh = (answer: ProviderAnswer<unknown>, now: number, ms = freshMs): boolean => answer.asOf <= now && now - answer.asOf < ms

/**
 * Returns the pause after failures in a row, in milliseconds.
 * @param requestedMs the pause that the provider asks for
 */
export const pauseAfter = (failures: number, requestedMs = 0): number =>
  Math.max(requestedMs, Math.min(pauseMs * 2 ** (failures - 1), pauseMaxMs))

/** A server process. */
export type ProcessStart = Pick<typeof processStarts.$inferSelect, 'id' | 'revision' | 'startedAt' | 'seenAt' | 'stoppedAt'>

/** The interval of heartbeats. A process counts as running while at most one heartbeat is late. */
export const heartbeatMs = 60_000
const heartbeatTimeoutMs = 150_000
/** A process without a heartbeat for this long is no longer expected. */
export const forgottenMs = 15 * 60_000

/** Identifies a build by version and commit. */
export const revisionOf = (version: string, commit: string | undefined): string => (commit === undefined ? version : `${version}+${commit}`)

/**
 * Returns the services of the instance: server processes, and those of them whose jobs run, which send heartbeats.
 * @param starts of the last quarter of an hour
 * @param selfId this process
 */
export function ownServices(starts: readonly ProcessStart[], selfId: string, now: number): ServiceStatus[] {
  const expected = starts.filter(({ stoppedAt, seenAt }) => stoppedAt === null && now - seenAt < forgottenMs)
  const alive = expected.filter(({ seenAt }) => now - seenAt < heartbeatTimeoutMs)
  const serving = expected.filter((start) => start.id === selfId || alive.includes(start))
  const newest = expected.toSorted((a, b) => b.startedAt - a.startedAt)[0]
  const isRolling = new Set(serving.map(({ revision }) => revision)).size > 1
  const status = (service: string, running: number): ServiceStatus => ({
    service,
    desired: expected.length,
    running,
    pending: 0,
    revision: newest?.revision ?? 'unknown',
    state: expected.length === 0 ? 'unknown' : running < expected.length ? 'degraded' : isRolling ? 'rolling' : 'steady',
  })
  return [status('server', serving.length), status('jobs', alive.length)]
}

/** Groups the instance's own errors. All groups count as unresolved. */
export function ownErrors(notes: readonly ErrorNote[]): ErrorProject {
  const groups = [...Map.groupBy(notes, ({ fingerprint }) => fingerprint)].map(([id, hours]) => ({
    id,
    title: hours[0]?.title ?? '',
    count: sumOf(hours),
    lastSeen: new Date(Math.max(...hours.map(({ lastSeen }) => lastSeen))).toISOString(),
  }))
  const top = groups.sort((a, b) => b.count - a.count || (a.lastSeen < b.lastSeen ? 1 : -1)).slice(0, topErrors)
  return { project: 'souk', events: sumOf(notes), unresolved: groups.length, top }
}

const sumOf = (notes: readonly ErrorNote[]): number => notes.reduce((sum, { count }) => sum + count, 0)
