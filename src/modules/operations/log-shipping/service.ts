import { type CommitLog, LogBroken, type LogKept, type LogLengths, type LogRange } from '../../../../db/engine.ts'
import type { BackupStore } from '../../../core/backup-store.ts'
import type { Deps } from '../../../core/deps.ts'
import { digesting } from '../../../lib/digest.ts'
import { chunkOf } from '../backup/index.ts'
import { AnotherShips, createClaim, PlaceChanged } from './claim.ts'
import { lastShipped, noteEnd, saltsOf } from './continue-generation.ts'
import {
  begunName,
  generationName,
  newestOf,
  pagesName,
  removable,
  type Shipped,
  segmentName,
  shippedKeysName,
  shippedOf,
  shippedPrefix,
  snapshotName,
} from './domain.ts'
import { type SegmentHead, type SnapshotHead, withHead } from './file-headers.ts'
import type { LogShippingDeps } from './providers.ts'
import { createTimeline, type Timeline } from './timeline.ts'

export type ShippingDeps = Pick<Deps, 'clock' | 'log' | 'sleep' | 'randomBytes' | 'diskFree' | 'config' | 'build'> & LogShippingDeps

/** Beyond that, the log is let go: the shop needs its disk more. */
const heldMaxByDefault = 512 * 1024 * 1024
/** The same where the disk is down to `DISK_FREE_MIN_MB`, unless half of what is free is less. */
const heldMaxShare = 1 / 8
/** How often the length of the log and the room on the disk are looked at. */
const watchMsByDefault = 250
/** So much is shipped at once, and not at the next interval. */
const waitingMaxBytes = 8 * 1024 * 1024
const snapshotEveryMs = 24 * 60 * 60 * 1000
/** A restore need not apply more than that to a snapshot. */
const sinceSnapshotMaxBytes = 1024 * 1024 * 1024
const retryMaxMs = 60_000
const dayMs = 24 * 60 * 60 * 1000
/** Told of where the clock is so much behind what was shipped. */
const clockBehindMs = 60_000

type Pending = { readonly index: number; readonly at: number }
type Copying = { readonly first: number; readonly begunAt: number; whole?: Pick<SnapshotHead, 'bytes' | 'sha256'> }
/** What follows the log, from one snapshot to the next. */
type Following = {
  readonly store: BackupStore
  readonly log: CommitLog
  readonly time: Timeline
  readonly generation: string
  /** Of the segment that comes next. */
  next: number
  /** Of the first one of the log's present life: everything before it is in the database file. */
  lifeBegan: number
  salts: string
  pending: Pending | undefined
  lastAt: number | undefined
  copying: Copying | undefined
  copyAfter: number
  snapshotAt: number | undefined
  bytesSince: number
  /** What went wrong with the log, and not with the store. */
  broken: unknown
  /** Rejected once the log is lost or let go, so that no code waits for the store any longer. */
  readonly ended: PromiseWithResolvers<never>
  /** Why the log is to be let go. */
  letGo: LetGo | undefined
  /** What removes what is old. */
  forgetting: Promise<void> | undefined
}

/** The log was let go, since what takes it is too slow or does not answer. */
class LetGo extends Error {}

export type ShippingOptions = {
  /** Asked again until it answers. */
  readonly openStore: () => Promise<BackupStore>
  readonly followLog: (kept?: LogKept) => Promise<CommitLog>
  /** The log has been held since the start, so that it can be gone on with: nobody is to wait for that any longer. */
  readonly letLogGo: () => void
  /** Of the database file and its log. */
  readonly sizes: () => { bytes: number; logBytes: number }
  readonly everyMs: number
  /** Of the log, and of what was read from it and is not shipped. */
  readonly heldMaxBytes?: number
  readonly watchMs?: number
  /** The key file as it is now, where the store seals what is put there. */
  readonly keysText: () => string | undefined
  /** Eight hex digits that tell it from others with the same target. */
  readonly instance: string
  /** Names the data directory that ships: see `createClaim`. */
  readonly shipper: string
}

/**
 * Ships what is committed to a store, every few seconds, until it is stopped. A store that is slow, full or gone makes it fall behind, and
 * nobody wait. It goes on with a new generation, and a new snapshot, where it has lost the log.
 */
export function startShipping(
  deps: ShippingDeps,
  { openStore, followLog, letLogGo, sizes, keysText, everyMs, instance, shipper, ...given }: ShippingOptions,
): { stop(): Promise<void> } {
  const { clock, log, logShipping: told } = deps
  const claim = createClaim(deps, instance, shipper)
  const { heldMaxBytes = heldMaxByDefault, watchMs = watchMsByDefault } = given
  const stopped = Promise.withResolvers<void>()
  let woken = Promise.withResolvers<void>()
  let following: Following | undefined
  let timeline: Timeline | undefined
  let keysShipped: string | undefined
  let areKeysGone = false
  let isStopping = false
  let failed = 0
  /** What went wrong with the log once is not gone on from. */
  let isFirst = true
  told.isOn = true

  /** Goes on with the generation that is there, where nothing is missing in between, and else begins one. */
  async function begin(): Promise<Following> {
    // Before the log is held: there is no sense in holding it while the store does not answer.
    const store = await openStore()
    await claim.take(store)
    const shipped = await shippedIn(store)
    timeline ??= timelineAfter(shipped.names)
    const time = timeline
    const last = await lastShipped(store, instance, shipped)
    told.shippedAt ??= last.upTo
    told.snapshotAt ??= last.snapshotAt
    const commits = await followLog(isFirst ? last.kept : undefined)
    const ended = Promise.withResolvers<never>()
    ended.promise.catch(() => undefined)
    const fresh = {
      ended,
      ...{ store, log: commits, time, pending: undefined },
      ...{ copying: undefined, copyAfter: 0, broken: undefined, letGo: undefined, forgetting: undefined },
    }
    keysShipped = undefined
    if (commits.goesOn && last.continued) {
      isFirst = false
      log.info('log_shipping.goes_on', { generation: last.continued.generation, to: store.place })
      return { ...fresh, ...last.continued }
    }
    const generation = generationName(instance, time.now(), deps.randomBytes(4))
    try {
      await store.put(begunName(generation), withHead({ version: deps.build.version }, none()))
    } catch (error) {
      await commits.close()
      throw error
    }
    isFirst = false
    told.generations++
    log.info('log_shipping.begun', { generation, to: store.place })
    return { ...fresh, generation, next: 0, lifeBegan: 0, salts: '', lastAt: undefined, snapshotAt: undefined, bytesSince: 0 }
  }

  /** Times that follow those of what is there, also where the clock was ahead then. */
  function timelineAfter(shipped: readonly Shipped[]): Timeline {
    const newest = newestOf(shipped)
    const behindMs = (newest ?? 0) - clock.now()
    if (behindMs > clockBehindMs)
      log.warn('log_shipping.clock_behind', {
        byMs: behindMs,
        advice: 'what is shipped is told by times after the last that is there, until the clock is past them: see that it is right',
      })
    return createTimeline(clock, newest)
  }

  async function shippedIn(store: BackupStore): Promise<{ names: Shipped[]; bytes: Map<string, number> }> {
    const names: Shipped[] = []
    const lengths = new Map<string, number>()
    for await (const { name, bytes } of store.list(`${shippedPrefix}${instance}/`)) {
      const one = shippedOf(name)
      if (!one) continue
      names.push(one)
      lengths.set(name, bytes)
    }
    return { names, bytes: lengths }
  }

  /** Ships what is there. Returns the moment up to which everything that was committed is in the store. */
  async function ship(now: Following): Promise<number> {
    for (;;) {
      const askedAt = clock.now()
      const ranges = await ofLog(now, () => now.log.read())
      for (let nth = 0; nth < ranges; nth++) {
        const range = await ofLog(now, () => now.log.next())
        if (range) await shipRange(now, range)
      }
      // On the way out nothing is left for later.
      if (ranges === 0 || !isStopping) return askedAt
    }
  }

  /** Puts the keys beside the log where they have changed: asked once commits are at hand, and so before any that is sealed under a new one. */
  async function shipKeys({ store }: Following): Promise<void> {
    let keys: string | undefined
    try {
      keys = keysText()
      areKeysGone = false
    } catch (error) {
      // Others say that the key file is gone. The log is worth more with it than with neither.
      if (!areKeysGone) log.warn('log_shipping.no_keys', { error })
      areKeysGone = true
    }
    if (keys === undefined || keys === keysShipped) return
    await store.put(shippedKeysName(instance), chunkOf(keys))
    keysShipped = keys
  }

  async function shipRange(now: Following, range: LogRange): Promise<void> {
    await shipKeys(now)
    // Tried again it has the same name, and is the same: what seemed to fail may have been kept.
    now.pending ??= { index: now.next, at: now.time.now() }
    const { index, at } = now.pending
    const { header, from, to, sum, end } = range
    const head: SegmentHead = { format: 1, generation: now.generation, index, at, header, from, to, sum, end }
    const pieces = guarded(now, now.log.pieces())
    now.bytesSince += await now.store.put(segmentName(head), withHead(head, pieces))
    const salts = saltsOf(header)
    if (salts !== now.salts) Object.assign(now, { salts, lifeBegan: index })
    Object.assign(now, { pending: undefined, next: index + 1, lastAt: at })
    await ofLog(now, () => now.log.kept())
  }

  /** Looks at the log and at the disk, whatever the store does meanwhile, until it is stopped. */
  async function watch(): Promise<void> {
    while (!isStopping) {
      await deps.sleep(watchMs)
      if (isStopping) return
      const now = following
      if (!now && sizes().logBytes > heldMax()) letLogGo()
      if (!now || now.broken || now.letGo) continue
      try {
        const lengths = await ofLog(now, () => now.log.tend())
        const bytes = heldBytesOf(lengths)
        if (bytes > heldMax()) now.letGo = new LetGo(`${bytes} bytes of the log are not shipped`)
        if (lengths.waitingBytes > waitingMaxBytes && failed === 0) woken.resolve()
      } catch (error) {
        log.debug('log_shipping.not_looked_at', { error })
      }
      const reason = now.broken ?? now.letGo
      if (reason === undefined) continue
      now.ended.reject(reason)
      woken.resolve()
    }
  }

  /** How much following the log may hold on the disk. */
  function heldMax(): number {
    const free = deps.diskFree() ?? Number.POSITIVE_INFINITY
    return free < deps.config.diskFreeMinBytes ? Math.min(heldMaxBytes * heldMaxShare, free / 2) : heldMaxBytes
  }

  /** Begins to copy the database file where that is due. It goes on while the log is shipped. */
  function copyWhenDue(now: Following): void {
    const at = now.time.now()
    const isDue =
      now.snapshotAt === undefined ||
      now.bytesSince > sinceSnapshotMaxBytes ||
      (at - now.snapshotAt > snapshotEveryMs && (now.lastAt ?? 0) > now.snapshotAt)
    if (now.copying || !isDue || at < now.copyAfter || isStopping) return
    const copying: Copying = { first: now.lifeBegan, begunAt: at }
    now.copying = copying
    now.bytesSince = 0
    let sha256 = ''
    const pages = digesting(now.log.file(), (digest) => {
      sha256 = digest
    })
    now.store.put(pagesName({ generation: now.generation, begunAt: at }), pages, sizes().bytes).then(
      (bytes) => {
        copying.whole = { bytes, sha256 }
      },
      (error: unknown) => {
        Object.assign(now, { copying: undefined, copyAfter: now.time.now() + retryMaxMs })
        if (!isStopping && following === now) log.warn('log_shipping.snapshot_failed', { error })
      },
    )
  }

  /** Makes a copy known that was whole before the log was shipped the last time, and removes what is not needed any more. */
  async function conclude(now: Following, copying: Copying): Promise<void> {
    const { first, begunAt, whole } = copying
    if (!whole) return
    await shipKeys(now)
    const last = now.next - 1
    // Without a commit since the copy began, it is as it was then.
    const at = last >= first ? (now.lastAt ?? begunAt) : begunAt
    const head: SnapshotHead = { format: 1, ...whole, version: deps.build.version }
    await now.store.put(snapshotName({ generation: now.generation, first, last, at, begunAt }), withHead(head, none()))
    Object.assign(now, { copying: undefined, snapshotAt: begunAt })
    told.snapshotAt = begunAt
    log.info('log_shipping.snapshot', { generation: now.generation, bytes: whole.bytes, ms: now.time.now() - begunAt })
    // A day of segments is many thousands: what is committed meanwhile does not wait for their removal.
    now.forgetting ??= forget(now)
      .catch((error: unknown) => log.warn('log_shipping.nothing_removed', { error }))
      .finally(() => {
        now.forgetting = undefined
      })
  }

  async function forget(now: Following): Promise<void> {
    const keepFrom = now.time.surely() - deps.config.shipLogDays * dayMs
    const { names } = await shippedIn(now.store)
    for (const name of removable(names, { keepFrom, current: now.generation, begunAt: now.copying?.begunAt })) {
      if (isStopping || following !== now) return
      await now.store.delete(name)
    }
  }

  async function round(): Promise<void> {
    following ??= await begin()
    await Promise.race([shipRound(following), following.ended.promise])
  }

  async function shipRound(now: Following): Promise<void> {
    await claim.keep(now.store)
    const copied = now.copying?.whole ? now.copying : undefined
    const upTo = await ship(now)
    if (copied) await conclude(now, copied)
    if (now.snapshotAt !== undefined) told.shippedAt = upTo
    copyWhenDue(now)
    if (isStopping) await noteEnd(now.store, instance, { generation: now.generation, next: now.next, mark: await now.log.finish() })
  }

  /** Says what went wrong, and lets the log go where it is lost or too long. */
  async function failure(error: unknown): Promise<void> {
    told.failures++
    const now = following
    if (error instanceof AnotherShips || error instanceof PlaceChanged) {
      if (error instanceof PlaceChanged)
        log.error('log_shipping.place_changed', {
          to: now?.store.place,
          advice:
            'what was shipped is not there any more, or another disk is: see that it is mounted. Shipping begins anew, with a new snapshot',
        })
      else if (now || failed === 0)
        log.error('log_shipping.another_ships', {
          advice:
            'two with the same data would give the shop two pasts: unset SHIP_LOG_SECONDS in the one that is a copy. This one ships nothing until the other has been silent for three minutes',
        })
      await now?.log.close()
      following = undefined
      failed++
      return
    }
    if (now && (now.broken || now.letGo)) {
      following = undefined
      // The next generation begins with a new copy. What was not shipped is of no use to it, and the disk may be full.
      await now.log.letGo().catch((reason: unknown) => log.warn('log_shipping.log_stays', { error: reason }))
      const advice =
        'what is committed from now on is shipped once there is a new snapshot: see that the target answers, is fast enough and has room'
      const isBroken = now.broken instanceof LogBroken
      if (isBroken)
        log.warn('log_shipping.log_lost', {
          error: now.broken,
          advice: 'parts of the log that were not shipped are gone: a new snapshot is made',
        })
      else log.error('log_shipping.gave_up', { error: now.broken ?? now.letGo, advice })
    } else if (failed === 0) log.warn('log_shipping.fails', { error, advice: 'it is tried again until it works' })
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
        await failure(error)
      }
      if (isLast) break
      const waitMs = failed === 0 ? everyMs : Math.max(everyMs, Math.min(retryMaxMs, everyMs * 2 ** failed))
      await Promise.race([deps.sleep(waitMs), stopped.promise, woken.promise])
      woken = Promise.withResolvers<void>()
    }
    if (!following) return
    await claim.leave(following.store).catch((error: unknown) => log.warn('log_shipping.claim_left', { error }))
    if (failed > 0) await following.log.finish().catch(() => undefined)
    await following.log.close()
    following = undefined
  }

  const running = loop()
  void watch()
  return {
    async stop() {
      isStopping = true
      stopped.resolve()
      await Promise.race([running, deps.sleep(stopMaxMs)])
      if (!following) return
      // The store did not take all of it: the next start goes on with what is on the disk.
      await Promise.race([following.log.finish().catch(() => undefined), deps.sleep(finishMaxMs)])
      await following.log.close()
    },
  }
}

const stopMaxMs = 8_000
const finishMaxMs = 2_000

/** Free bytes of the disk without the follower's own files. The log itself does not count while other readers use it. */
const heldBytesOf = ({ logBytes, waitingBytes, isHeldByOthers }: LogLengths) => waitingBytes + (isHeldByOthers ? 0 : logBytes)

async function* none(): AsyncGenerator<Uint8Array> {}

/** What is asked of the log. Where it fails, the log is lost. */
async function ofLog<T>(now: Following, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    now.broken ??= error
    throw error
  }
}

async function* guarded(now: Following, pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces
  } catch (error) {
    now.broken ??= error
    throw error
  }
}
