/** A session ships one log to one generation, until the log is lost or the shipper stops. */
import type { BackupStore } from '../../../core/backup-store.ts'
import { lastShipped, type ResumePoint } from './continue-generation.ts'
import { generationName, generationStartName, newestOf, parseShippedName, type ShippedFile, shippedPrefix } from './domain.ts'
import { emptyFile, withHeader } from './file-headers.ts'
import type { Shipper, ShippingSession } from './shipper.ts'
import { createTimeline, type Timeline } from './timeline.ts'

/** Logs a warning if the clock is this far behind the shipped times. */
const clockBehindMs = 60_000

/** The log is released because the store is too slow or does not respond. */
export class LogReleased extends Error {}

/** Ends a session because its log is lost. Only the first reason counts. */
export function loseLog(session: ShippingSession, reason: unknown): void {
  session.lostBy ??= reason
  session.lost.reject(session.lostBy)
}

/** Runs an operation on the log. A failure means that the log is lost. */
export async function withLog<T>(session: ShippingSession, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    loseLog(session, error)
    throw error
  }
}

/** Continues the stored generation if nothing is missing, otherwise starts a new one. */
export async function startSession(shipper: Shipper): Promise<ShippingSession> {
  const { deps, options, claim } = shipper
  const { log, logShipping: status } = deps
  // Opened first: the log is not held while the store does not respond.
  const store = await options.openStore()
  await claim.acquire(store)
  const shipped = await listShipped(store, options.instance)
  shipper.timeline ??= timelineAfter(shipper, shipped.names)
  const last = await lastShipped(store, options.instance, shipped)
  status.shippedAt ??= last.upTo
  status.snapshotAt ??= last.snapshotAt
  const commits = await options.followLog(shipper.isFirstSession ? last.logEnd : undefined)
  if (commits.continues && last.resumeAt) {
    shipper.isFirstSession = false
    log.info('log_shipping.goes_on', { generation: last.resumeAt.generation, to: store.place })
    return createSession({ store, log: commits, time: shipper.timeline }, last.resumeAt)
  }
  const generation = generationName(options.instance, shipper.timeline.now(), deps.randomBytes(4))
  try {
    await store.put(generationStartName(generation), withHeader({ version: deps.build.version }, emptyFile()))
  } catch (error) {
    await commits.close()
    throw error
  }
  shipper.isFirstSession = false
  status.generations++
  log.info('log_shipping.begun', { generation, to: store.place })
  return createSession({ store, log: commits, time: shipper.timeline }, { generation, next: 0, lifeBegan: 0, salts: '', bytesSince: 0 })
}

type GenerationStart = Pick<ResumePoint, 'generation' | 'next' | 'lifeBegan' | 'salts' | 'bytesSince'>

function createSession(
  connections: Pick<ShippingSession, 'store' | 'log' | 'time'>,
  begin: GenerationStart & Partial<Pick<ResumePoint, 'lastAt' | 'snapshotAt'>>,
): ShippingSession {
  const lost = Promise.withResolvers<never>()
  // Rounds wait for it; between rounds nothing does.
  lost.promise.catch(() => undefined)
  return {
    ...connections,
    lastAt: undefined,
    snapshotAt: undefined,
    ...begin,
    pending: undefined,
    copying: undefined,
    copyAfter: 0,
    isRemovingFiles: false,
    keysShipped: undefined,
    areKeysMissing: false,
    lostBy: undefined,
    lost,
  }
}

/** Times continue after the shipped ones even if the clock was ahead then. */
function timelineAfter({ deps: { clock, log } }: Shipper, shipped: readonly ShippedFile[]): Timeline {
  const newest = newestOf(shipped)
  const behindMs = (newest ?? 0) - clock.now()
  if (behindMs > clockBehindMs)
    log.warn('log_shipping.clock_behind', {
      byMs: behindMs,
      advice: 'The log gets later times until the clock passes the last shipped time. Check the clock',
    })
  return createTimeline(clock, newest)
}

/** Lists what a store holds of an instance, with the length of each file. */
export async function listShipped(store: BackupStore, instance: string): Promise<{ names: ShippedFile[]; bytes: Map<string, number> }> {
  const names: ShippedFile[] = []
  const lengths = new Map<string, number>()
  for await (const { name, bytes } of store.list(`${shippedPrefix}${instance}/`)) {
    const file = parseShippedName(name)
    if (!file) continue
    names.push(file)
    lengths.set(name, bytes)
  }
  return { names, bytes: lengths }
}
