import { type CommitLog, LogBroken, type LogLengths, type LogRange, type ShippedLog } from '../../../../db/engine.ts'
import type { BackupStore } from '../../../core/backup-store.ts'
import type { Deps } from '../../../core/deps.ts'
import { dayMs } from '../../../lib/day.ts'
import { withDigest } from '../../../lib/digest.ts'
import { textChunks } from '../backup/index.ts'
import { createShipperClaim, OtherShipperActive, TargetChanged } from './claim.ts'
import { lastShipped, saltsOf, writeEndRecord } from './continue-generation.ts'
import {
  generationName,
  generationStartName,
  newestOf,
  pagesName,
  parseShippedName,
  removable,
  type ShippedFile,
  segmentName,
  shippedKeysName,
  shippedPrefix,
  snapshotName,
} from './domain.ts'
import { type SegmentHead, type SnapshotHead, withHeader } from './file-headers.ts'
import type { LogShippingDeps } from './providers.ts'
import { createTimeline, type Timeline } from './timeline.ts'

export type ShippingDeps = Pick<Deps, 'clock' | 'log' | 'sleep' | 'randomBytes' | 'diskFree' | 'config' | 'build'> & LogShippingDeps

/** Above this length the log is released, since the shop needs its disk more. */
const heldBytesDefault = 512 * 1024 * 1024
/** The share of the limit while free disk space is below `DISK_FREE_MIN_MB`; at most half of the free space. */
const lowDiskShare = 1 / 8
/** How often log length and disk space are checked. */
const watchMs = 250
/** Ships at once, before the interval has passed. */
const waitingMaxBytes = 8 * 1024 * 1024
const snapshotEveryMs = dayMs
/** A restore applies at most this much log to a snapshot. */
const sinceSnapshotMaxBytes = 1024 * 1024 * 1024
const retryMaxMs = 60_000
/** Logs a warning if the clock is this far behind the shipped times. */
const clockBehindMs = 60_000

type PendingSegment = { readonly index: number; readonly at: number }
type SnapshotCopy = { readonly first: number; readonly begunAt: number; completed?: Pick<SnapshotHead, 'bytes' | 'sha256'> }
type ShippingSession = {
  readonly store: BackupStore
  readonly log: CommitLog
  readonly time: Timeline
  readonly generation: string
  /** The index of the next segment. */
  next: number
  /** The first segment of the log's present life. Everything before is in the database file. */
  lifeBegan: number
  salts: string
  pending: PendingSegment | undefined
  lastAt: number | undefined
  copying: SnapshotCopy | undefined
  copyAfter: number
  snapshotAt: number | undefined
  bytesSince: number
  /** An error of the log, not of the store. */
  broken: unknown
  /** Rejects once the log is lost or released, so that nothing waits for the store. */
  readonly ended: PromiseWithResolvers<never>
  /** Why the log is to be released. */
  releaseReason: LogReleased | undefined
  removal: Promise<void> | undefined
}

/** The log was released because the store is too slow or does not respond. */
class LogReleased extends Error {}

type ShippingOptions = {
  /** Retried until it responds. */
  readonly openStore: () => Promise<BackupStore>
  readonly followLog: (shippedEnd?: ShippedLog) => Promise<CommitLog>
  /** Releases a log that was held since the start to be continued. */
  readonly releaseLog: () => void
  /** Of the database file and its log. */
  readonly sizes: () => { bytes: number; logBytes: number }
  readonly everyMs: number
  /** The limit of the log and of read but unshipped data. */
  readonly heldMaxBytes?: number
  /** The current key file, if the store seals its content. */
  readonly keysText: () => string | undefined
  /** Eight hex digits that identify the instance in the target. */
  readonly instance: string
  /** Identifies the data directory; see `createShipperClaim`. */
  readonly shipper: string
}

/**
 * Ships commits to a store until stopped. A slow, full or missing store delays no request.
 * After the log is lost, a new generation with a new snapshot starts.
 */
export function startShipping(
  deps: ShippingDeps,
  { openStore, followLog, releaseLog, sizes, keysText, everyMs, instance, shipper, ...limits }: ShippingOptions,
): { stop(): Promise<void> } {
  const { clock, log, logShipping: status } = deps
  const claim = createShipperClaim(deps, instance, shipper)
  const { heldMaxBytes = heldBytesDefault } = limits
  const stopped = Promise.withResolvers<void>()
  let woken = Promise.withResolvers<void>()
  let session: ShippingSession | undefined
  let timeline: Timeline | undefined
  let keysShipped: string | undefined
  let areKeysGone = false
  let isStopping = false
  let failed = 0
  /** A generation is continued only at the first start. */
  let isFirst = true
  status.isOn = true

  /** Continues the stored generation if nothing is missing, otherwise starts a new one. */
  async function startSession(): Promise<ShippingSession> {
    // Opened first: the log is not held while the store does not respond.
    const store = await openStore()
    await claim.acquire(store)
    const shipped = await listShipped(store)
    timeline ??= timelineAfter(shipped.names)
    const time = timeline
    const last = await lastShipped(store, instance, shipped)
    status.shippedAt ??= last.upTo
    status.snapshotAt ??= last.snapshotAt
    const commits = await followLog(isFirst ? last.logEnd : undefined)
    const ended = Promise.withResolvers<never>()
    ended.promise.catch(() => undefined)
    const initial = {
      ended,
      ...{ store, log: commits, time, pending: undefined },
      ...{ copying: undefined, copyAfter: 0, broken: undefined, releaseReason: undefined, removal: undefined },
    }
    keysShipped = undefined
    if (commits.continues && last.resumeAt) {
      isFirst = false
      log.info('log_shipping.goes_on', { generation: last.resumeAt.generation, to: store.place })
      return { ...initial, ...last.resumeAt }
    }
    const generation = generationName(instance, time.now(), deps.randomBytes(4))
    try {
      await store.put(generationStartName(generation), withHeader({ version: deps.build.version }, emptyFile()))
    } catch (error) {
      await commits.close()
      throw error
    }
    isFirst = false
    status.generations++
    log.info('log_shipping.begun', { generation, to: store.place })
    return { ...initial, generation, next: 0, lifeBegan: 0, salts: '', lastAt: undefined, snapshotAt: undefined, bytesSince: 0 }
  }

  /** Times continue after the shipped ones even if the clock was ahead then. */
  function timelineAfter(shipped: readonly ShippedFile[]): Timeline {
    const newest = newestOf(shipped)
    const behindMs = (newest ?? 0) - clock.now()
    if (behindMs > clockBehindMs)
      log.warn('log_shipping.clock_behind', {
        byMs: behindMs,
        advice: 'The log gets later times until the clock passes the last shipped time. Check the clock',
      })
    return createTimeline(clock, newest)
  }

  async function listShipped(store: BackupStore): Promise<{ names: ShippedFile[]; bytes: Map<string, number> }> {
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

  /** Ships pending commits. Returns the moment up to which all commits are stored. */
  async function ship(session: ShippingSession): Promise<number> {
    for (;;) {
      const readFrom = clock.now()
      const ranges = await withLog(session, () => session.log.read())
      for (let nth = 0; nth < ranges; nth++) {
        const range = await withLog(session, () => session.log.next())
        if (range) await shipRange(session, range)
      }
      // At the stop, ships until nothing is left.
      if (ranges === 0 || !isStopping) return readFrom
    }
  }

  /** Stores the key file if it changed. Runs after commits were read, so it precedes anything sealed with a new key. */
  async function shipKeys({ store }: ShippingSession): Promise<void> {
    let keys: string | undefined
    try {
      keys = keysText()
      areKeysGone = false
    } catch (error) {
      // Other checks report a missing key file. The log is shipped without it.
      if (!areKeysGone) log.warn('log_shipping.no_keys', { error })
      areKeysGone = true
    }
    if (keys === undefined || keys === keysShipped) return
    await store.put(shippedKeysName(instance), textChunks(keys))
    keysShipped = keys
  }

  async function shipRange(session: ShippingSession, range: LogRange): Promise<void> {
    await shipKeys(session)
    // A retry uses the same name and content, since a failed write may have been stored.
    session.pending ??= { index: session.next, at: session.time.now() }
    const { index, at } = session.pending
    const { header, from, to, sum, end } = range
    const head: SegmentHead = { format: 1, generation: session.generation, index, at, header, from, to, sum, end }
    const pieces = guardPieces(session, session.log.pieces())
    session.bytesSince += await session.store.put(segmentName(head), withHeader(head, pieces))
    const salts = saltsOf(header)
    if (salts !== session.salts) Object.assign(session, { salts, lifeBegan: index })
    Object.assign(session, { pending: undefined, next: index + 1, lastAt: at })
    await withLog(session, () => session.log.markShipped())
  }

  /** Checks the log and the disk until stopped, independent of the store. */
  async function watch(): Promise<void> {
    while (!isStopping) {
      await deps.sleep(watchMs)
      if (isStopping) return
      const current = session
      if (!current && sizes().logBytes > heldMax()) releaseLog()
      if (!current || current.broken || current.releaseReason) continue
      try {
        const lengths = await withLog(current, () => current.log.checkpointLong())
        const bytes = heldBytesOf(lengths)
        if (bytes > heldMax()) current.releaseReason = new LogReleased(`${bytes} bytes of the log are not shipped`)
        if (lengths.waitingBytes > waitingMaxBytes && failed === 0) woken.resolve()
      } catch (error) {
        log.debug('log_shipping.check_failed', { error })
      }
      const reason = current.broken ?? current.releaseReason
      if (reason === undefined) continue
      current.ended.reject(reason)
      woken.resolve()
    }
  }

  /** Returns how much log may be held on the disk. */
  function heldMax(): number {
    const free = deps.diskFree() ?? Number.POSITIVE_INFINITY
    return free < deps.config.diskFreeMinBytes ? Math.min(heldMaxBytes * lowDiskShare, free / 2) : heldMaxBytes
  }

  /** Starts a snapshot if one is due. Shipping continues meanwhile. */
  function startSnapshotIfDue(current: ShippingSession): void {
    const at = current.time.now()
    const isDue =
      current.snapshotAt === undefined ||
      current.bytesSince > sinceSnapshotMaxBytes ||
      (at - current.snapshotAt > snapshotEveryMs && (current.lastAt ?? 0) > current.snapshotAt)
    if (current.copying || !isDue || at < current.copyAfter || isStopping) return
    const copying: SnapshotCopy = { first: current.lifeBegan, begunAt: at }
    current.copying = copying
    current.bytesSince = 0
    let sha256 = ''
    const pages = withDigest(current.log.file(), (digest) => {
      sha256 = digest
    })
    current.store.put(pagesName({ generation: current.generation, begunAt: at }), pages, sizes().bytes).then(
      (bytes) => {
        copying.completed = { bytes, sha256 }
      },
      (error: unknown) => {
        Object.assign(current, { copying: undefined, copyAfter: current.time.now() + retryMaxMs })
        if (!isStopping && session === current) log.warn('log_shipping.snapshot_failed', { error })
      },
    )
  }

  /**
   * Publishes a snapshot whose copy was complete before the last shipping, and removes files that are no longer needed.
   */
  async function publishSnapshot(session: ShippingSession, copying: SnapshotCopy): Promise<void> {
    const { first, begunAt, completed } = copying
    if (!completed) return
    await shipKeys(session)
    const last = session.next - 1
    // Without a commit since the copy started, the snapshot is of that moment.
    const at = last >= first ? (session.lastAt ?? begunAt) : begunAt
    const head: SnapshotHead = { format: 1, ...completed, version: deps.build.version }
    await session.store.put(snapshotName({ generation: session.generation, first, last, at, begunAt }), withHeader(head, emptyFile()))
    Object.assign(session, { copying: undefined, snapshotAt: begunAt })
    status.snapshotAt = begunAt
    log.info('log_shipping.snapshot', { generation: session.generation, bytes: completed.bytes, ms: session.time.now() - begunAt })
    // Runs in the background, since a day has thousands of segments.
    session.removal ??= removeOldFiles(session)
      .catch((error: unknown) => log.warn('log_shipping.nothing_removed', { error }))
      .finally(() => {
        session.removal = undefined
      })
  }

  async function removeOldFiles(current: ShippingSession): Promise<void> {
    const keepFrom = current.time.certainlyPast() - deps.config.shipLogDays * dayMs
    const { names } = await listShipped(current.store)
    for (const name of removable(names, { keepFrom, current: current.generation, begunAt: current.copying?.begunAt })) {
      if (isStopping || session !== current) return
      await current.store.delete(name)
    }
  }

  async function round(): Promise<void> {
    session ??= await startSession()
    await Promise.race([shipRound(session), session.ended.promise])
  }

  async function shipRound(session: ShippingSession): Promise<void> {
    await claim.renew(session.store)
    const finishedCopy = session.copying?.completed ? session.copying : undefined
    const upTo = await ship(session)
    if (finishedCopy) await publishSnapshot(session, finishedCopy)
    if (session.snapshotAt !== undefined) status.shippedAt = upTo
    startSnapshotIfDue(session)
    if (isStopping)
      await writeEndRecord(session.store, instance, {
        generation: session.generation,
        next: session.next,
        mark: await session.log.finish(),
      })
  }

  /** Logs a failure, and releases the log if it is lost or too long. */
  async function handleFailure(error: unknown): Promise<void> {
    status.failures++
    const current = session
    if (error instanceof OtherShipperActive || error instanceof TargetChanged) {
      if (error instanceof TargetChanged)
        log.error('log_shipping.place_changed', {
          to: current?.store.place,
          advice: 'The shipped log is missing, or another disk is mounted. Check the mount. Shipping restarts with a new snapshot',
        })
      else if (current || failed === 0)
        log.error('log_shipping.another_ships', {
          advice:
            'Two instances ship the log of the same data. Unset SHIP_LOG_SECONDS in the copy. This instance ships nothing until the other one is silent for three minutes',
        })
      await current?.log.close()
      session = undefined
      failed++
      return
    }
    if (current && (current.broken || current.releaseReason)) {
      session = undefined
      // The next generation starts with a snapshot, so the unshipped log is useless, and the disk may be full.
      await current.log.discard().catch((reason: unknown) => log.warn('log_shipping.log_stays', { error: reason }))
      const advice = 'New commits are shipped after the next snapshot. Check that the target answers, is fast enough and has free space'
      const isBroken = current.broken instanceof LogBroken
      if (isBroken)
        log.warn('log_shipping.log_lost', {
          error: current.broken,
          advice: 'Unshipped parts of the log are lost. A new snapshot is created',
        })
      else log.error('log_shipping.gave_up', { error: current.broken ?? current.releaseReason, advice })
    } else if (failed === 0) log.warn('log_shipping.fails', { error, advice: 'Shipping is retried until it succeeds' })
    failed++
  }

  async function loop(): Promise<void> {
    for (;;) {
      const isLast = isStopping
      try {
        await round()
        if (failed > 0) log.info('log_shipping.works', { after: failed })
        failed = 0
      } catch (error) {
        await handleFailure(error)
      }
      if (isLast) break
      const waitMs = failed === 0 ? everyMs : Math.max(everyMs, Math.min(retryMaxMs, everyMs * 2 ** failed))
      await Promise.race([deps.sleep(waitMs), stopped.promise, woken.promise])
      woken = Promise.withResolvers<void>()
    }
    if (!session) return
    await claim.release(session.store).catch((error: unknown) => log.warn('log_shipping.claim_left', { error }))
    if (failed > 0) await session.log.finish().catch(() => undefined)
    await session.log.close()
    session = undefined
  }

  const running = loop()
  void watch()
  return {
    async stop() {
      isStopping = true
      stopped.resolve()
      await Promise.race([running, deps.sleep(stopMaxMs)])
      if (!session) return
      // The store did not take everything; the next start continues from the disk.
      await Promise.race([session.log.finish().catch(() => undefined), deps.sleep(finishMaxMs)])
      await session.log.close()
    },
  }
}

const stopMaxMs = 8_000
const finishMaxMs = 2_000

/** Bytes held by the follower. The log itself does not count while other readers hold it. */
const heldBytesOf = ({ logBytes, waitingBytes, isHeldByOthers }: LogLengths) => waitingBytes + (isHeldByOthers ? 0 : logBytes)

async function* emptyFile(): AsyncGenerator<Uint8Array> {}

/** Runs an operation on the log. A failure means that the log is lost. */
async function withLog<T>(session: ShippingSession, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    session.broken ??= error
    throw error
  }
}

async function* guardPieces(session: ShippingSession, pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces
  } catch (error) {
    session.broken ??= error
    throw error
  }
}
