import type { Database } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { createFairQueue } from '../../../core/limits/fair-queue.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { type LiveEvent, resumableMs } from './domain.ts'
import type { EventCursors } from './event-cursor.ts'
import { type EventBatch, type EventPage, readEvents } from './event-reader.ts'
import { createListener, type Ending, type Listener, type Viewer } from './listener.ts'
import type { LiveStore } from './store.ts'

/** Limits of open streams per process. `ofAll` counts only shops, so that merchants cannot keep operators out. */
export type StreamLimits = { readonly ofAccount: number; readonly ofShop: number; readonly ofAll: number }
export const streamLimits: StreamLimits = { ofAccount: 20, ofShop: 100, ofAll: 2_000 }

const rowsPerPage = 500
/** Rows to read when a stream resumes; beyond this the client must reload. */
const rowsToResumeMax = 200_000
/** Longest rest after a page of past events; a page takes less on any usable machine. */
const catchUpRestMaxMs = 1_000
const heartbeatMs = 15_000
/** Interval of authorisation checks, and the time after which an unchecked stream ends. */
const checkAfterMs = 25_000
const uncheckedMaxMs = 55_000
/** Limit of an id in a response header: proxies accept 4 KB of headers. */
const idLengthMax = 1_000
/** Time until a client reconnects. */
const retryMs = 2_000
const drainRetrySeconds = 5
const fullRetrySeconds = 15

/** A request for a stream. */
export type StreamRequest = {
  readonly viewer: Viewer
  /** The last id that the client received; undefined: begins now. */
  readonly lastEventId: string | undefined
  /** Expiry of the token in milliseconds; undefined for a key. */
  readonly expiresAt: number | undefined
  /** Returns whether the listener is still authorised. */
  readonly isStill: () => Promise<boolean>
}
/** `isDoubted`: the authorisation is checked at once. */
type OpenStream = { readonly listener: Listener; readonly following: StreamRequest; checkedAt: number; isDoubted: boolean }
type PendingStream = OpenStream & { readonly from: string | 'resync' | undefined }

type HubDeps = Pick<Deps, 'db' | 'clock' | 'log'> & {
  readonly liveStore: LiveStore
  readonly cursors: EventCursors
  /** Calls `tick` at an interval. Returns the function that ends it. */
  readonly every: (ms: number, tick: () => void) => () => void
  readonly sleep: (ms: number) => Promise<void>
  readonly most?: StreamLimits
}

const encoder = new TextEncoder()
const textOf = ({ name, data }: LiveEvent, id: string | undefined): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? '' : `id: ${id}\n`}\n`

/**
 * Creates the event streams of a process. While there are listeners, one reader follows the commits of all processes
 * and distributes them. Writers do no extra work: see db/change-feed-query.ts.
 */
export function createHub({ db, clock, log, liveStore: store, cursors, every, sleep, most = streamLimits }: HubDeps) {
  const open = new Set<OpenStream>()
  const byShop = new Map<string | undefined, Set<OpenStream>>()
  const accounts = new Map<string, number>()
  const ended = createTally()
  let joining: PendingStream[] = []
  let position: string | undefined
  let version: ReturnType<Database['version']>
  let beatAt = 0
  let hasFailed = false
  let isStopping = false
  let sent = 0
  let endTicks: (() => void) | undefined
  let polling: Promise<void> | undefined
  let checking: Promise<void> | undefined

  const isLast = ({ events }: EventBatch, event: LiveEvent) => events.at(-1) === event

  /** Encodes a page for a viewer. The last event of each commit has the id. */
  function chunkOf(batches: readonly EventBatch[], seesCatalog: boolean, idOf: (position: string) => string): Uint8Array | undefined {
    const parts = batches.flatMap((one) => {
      const events = seesCatalog ? one.events : one.events.filter(({ audience }) => audience !== 'catalog')
      const seen = { ...one, events }
      return events.map((event) => textOf(event, isLast(seen, event) ? idOf(one.place) : undefined))
    })
    if (parts.length === 0) return undefined
    sent += parts.length
    return encoder.encode(parts.join(''))
  }

  /** Caches ids, because a page repeats cursors. */
  function cachedIds(): (position: string) => string {
    const ids = new Map<string, string>()
    return (of) => ids.getOrInsertComputed(of, cursors.idOf)
  }

  function deliver({ told: batches, shut, moved }: EventPage): void {
    const ofShops = new Map<string | undefined, EventBatch[]>()
    for (const { events, place: behind } of batches)
      for (const [shopId, own] of Map.groupBy(events, (event) => event.shopId ?? undefined))
        ofShops.getOrInsertComputed(shopId, () => []).push({ events: own, place: behind })
    const idOf = cachedIds()
    for (const [shopId, own] of ofShops) {
      const chunks = new Map<boolean, Uint8Array | undefined>()
      for (const { listener } of byShop.get(shopId) ?? []) {
        const { seesCatalog } = listener.viewer
        const chunk = chunks.getOrInsertComputed(seesCatalog, () => chunkOf(own, seesCatalog, idOf))
        if (chunk) listener.send(chunk)
      }
    }
    for (const shopId of shut) for (const { listener } of [...(byShop.get(shopId) ?? [])]) listener.end('shop')
    for (const openStream of moved.length > 0 ? [...open, ...joining] : []) {
      const { shopId } = openStream.listener.viewer
      if (shopId !== undefined && moved.includes(shopId)) openStream.isDoubted = true
    }
  }

  const positionMarker = (at: string): Uint8Array => encoder.encode(`:\nid: ${cursors.idOf(at)}\n\n`)
  const resync = (at: string): Uint8Array =>
    encoder.encode(textOf({ name: 'resync', data: {}, shopId: null, audience: 'orders' }, cursors.idOf(at)))
  const notBefore = () => clock.now() - 2 * resumableMs

  /** Starts new listeners at the reader's position. */
  function admitPending(at: string): void {
    for (const { from, ...openStream } of joining.splice(0)) {
      const { listener } = openStream
      if (listener.isOver()) continue
      open.add(openStream)
      byShop.getOrInsertComputed(listener.viewer.shopId, () => new Set()).add(openStream)
      if (from === undefined) listener.send(positionMarker(at))
      else if (from === 'resync') listener.send(resync(at))
      else {
        listener.hold()
        void catchUp(listener, from, at)
      }
    }
  }

  const endless = Number.POSITIVE_INFINITY
  const turns = createFairQueue({
    ...{ atOnce: 1, waitMaxMs: endless, waitingMax: endless, initialTurnMs: 0, now: clock.monotonic },
    full: () => new Error('whoever waits to be told of the past is refused nothing'),
  })
  /**
   * Reads past events one page at a time: shops take turns, and accounts within a shop. Rests after each page for as
   * long as it took, so that requests have the thread.
   */
  async function inTurn<T>({ shopId, accountId }: Viewer, ask: () => Promise<T>): Promise<T> {
    const end = await turns.acquire([shopId ?? accountId, accountId])
    const startedAt = clock.monotonic()
    try {
      return await ask()
    } finally {
      void sleep(Math.min(clock.monotonic() - startedAt, catchUpRestMaxMs)).then(end)
    }
  }

  /** Sends the events between two cursors. */
  async function catchUp(listener: Listener, from: string, until: string): Promise<void> {
    const { shopId, seesCatalog } = listener.viewer
    const readers = { shopId, hears: (of: string) => of === shopId, operators: shopId === undefined }
    const idOf = cachedIds()
    try {
      let at = from
      for (let rows = 0; rows < rowsToResumeMax && !listener.isOver(); ) {
        const here = at
        const found = await inTurn(listener.viewer, async () => {
          // The listener may have left while it waited.
          if (listener.isOver()) return undefined
          const page = await store.since(here, { until, limit: rowsPerPage, notBefore: notBefore() })
          return page && { page, ...(await readEvents(store, page, readers)) }
        })
        if (listener.isOver()) return
        if (!found) break
        const { page, told: batches, moved } = found
        const chunk = chunkOf(batches, seesCatalog, idOf)
        if (chunk) await listener.tellBefore(chunk)
        // Their role changed, so they may see other events than before.
        if (shopId !== undefined && moved.includes(shopId)) await listener.tellBefore(resync(page.cursor))
        at = page.cursor
        rows += page.groups.reduce((sum, piece) => sum + piece.rows.length, 0)
        if (page.isWhole) {
          await listener.tellBefore(positionMarker(at))
          return listener.release()
        }
      }
      await listener.tellBefore(resync(until))
      listener.release()
    } catch (error) {
      log.warn('live.not_resumed', { error })
      listener.end('unchecked')
    }
  }

  async function pollOnce(): Promise<void> {
    // Read before the query, so that a commit in between is read next time.
    const now = db.version()
    // Without listeners, nobody needs the events since.
    if (open.size === 0) position = undefined
    if (position !== undefined && joining.length === 0 && now !== undefined && now === version) return
    version = now
    if (position === undefined) {
      position = await store.now()
      return admitPending(position)
    }
    for (let isWhole = false; !isWhole; ) {
      const page = await store.since(position, { limit: rowsPerPage, notBefore: notBefore() })
      if (!page) {
        // The database was replaced by another one.
        position = await store.now()
        for (const { listener } of open) listener.send(resync(position))
        break
      }
      const batches = await readEvents(store, page, { hears: (shopId) => byShop.has(shopId), operators: byShop.has(undefined) })
      position = page.cursor
      isWhole = page.isWhole
      deliver(batches)
    }
    admitPending(position)
  }

  function poll(): Promise<void> {
    polling ??= pollOnce()
      .then(
        () => {
          hasFailed = false
        },
        (error: unknown) => {
          // Forces the next read.
          version = undefined
          if (!hasFailed) log.warn('live.not_read', { error })
          hasFailed = true
        },
      )
      .finally(() => {
        polling = undefined
        if (joining.length > 0 && !hasFailed) void poll()
      })
    return polling
  }

  /** Checks the authorisation of each listener, one at a time. */
  async function checkAll(): Promise<void> {
    for (const openStream of [...open, ...joining]) {
      const { listener, following } = openStream
      const since = clock.monotonic() - openStream.checkedAt
      if ((since < checkAfterMs && !openStream.isDoubted) || listener.isOver()) continue
      try {
        openStream.isDoubted = false
        const isStill = await following.isStill()
        if (isStill) openStream.checkedAt = clock.monotonic()
        else listener.end('access')
      } catch {
        openStream.isDoubted = true
        if (since >= uncheckedMaxMs) listener.end('unchecked')
      }
    }
  }

  function sendHeartbeat(): void {
    const now = clock.monotonic()
    if (now - beatAt < heartbeatMs || position === undefined) return
    beatAt = now
    const mark = positionMarker(position)
    for (const { listener } of open) listener.send(mark)
  }

  function tick(): void {
    for (const { listener, following } of [...open, ...joining])
      if (following.expiresAt !== undefined && following.expiresAt <= clock.now()) listener.end('token')
    if (open.size === 0 && joining.length === 0) {
      stopTicking()
      return
    }
    sendHeartbeat()
    checking ??= checkAll().finally(() => {
      checking = undefined
    })
    void poll()
  }

  /** Stops reading without listeners. */
  function stopTicking(): void {
    endTicks?.()
    endTicks = undefined
  }

  function count(by: number, accountId: string): void {
    const left = (accounts.get(accountId) ?? 0) + by
    if (left > 0) accounts.set(accountId, left)
    else accounts.delete(accountId)
  }

  const ofShop = (shopId: string): number =>
    (byShop.get(shopId)?.size ?? 0) + joining.filter(({ listener }) => listener.viewer.shopId === shopId).length

  const ofOperators = (): number =>
    (byShop.get(undefined)?.size ?? 0) + joining.filter(({ listener }) => listener.viewer.shopId === undefined).length

  function assertCapacity({ shopId, accountId }: Viewer): void {
    if (isStopping) throw new AppError('UNAVAILABLE', 'The server is stopping: try again', { retryAfterSeconds: drainRetrySeconds })
    const tooMany = (what: string) => new AppError('RATE_LIMITED', what, { retryAfterSeconds: fullRetrySeconds })
    if ((accounts.get(accountId) ?? 0) >= most.ofAccount) throw tooMany(`${most.ofAccount} streams of this account are open: close one`)
    if (shopId !== undefined && ofShop(shopId) >= most.ofShop) throw tooMany(`${most.ofShop} streams of this shop are open: close one`)
    if (shopId !== undefined && open.size + joining.length - ofOperators() >= most.ofAll)
      throw new AppError('UNAVAILABLE', 'Too many streams are open: try again', { retryAfterSeconds: fullRetrySeconds })
  }

  return {
    /**
     * Opens a stream.
     * @throws AppError RATE_LIMITED beyond the limit of an account or a shop; UNAVAILABLE beyond the limit of all, and
     * while the server stops
     */
    follow(following: StreamRequest): ReadableStream<Uint8Array> {
      const { viewer, lastEventId } = following
      assertCapacity(viewer)
      const from = lastEventId === undefined ? undefined : (cursors.parseId(lastEventId)?.place ?? 'resync')
      const listener = createListener(viewer, (ending) => {
        ended.add(ending)
        count(-1, viewer.accountId)
        joining = joining.filter((one) => one.listener !== listener)
        const ofIts = byShop.get(viewer.shopId)
        for (const openStream of ofIts ?? []) {
          if (openStream.listener !== listener) continue
          open.delete(openStream)
          ofIts?.delete(openStream)
        }
        if (ofIts?.size === 0) byShop.delete(viewer.shopId)
      })
      count(1, viewer.accountId)
      joining.push({ listener, following, checkedAt: clock.monotonic(), isDoubted: false, from })
      listener.send(encoder.encode(`retry: ${retryMs}\n\n`))
      endTicks ??= every(db.version() === undefined ? 500 : 250, tick)
      void poll()
      return listener.stream
    },
    /**
     * Returns the current event id: sent as `Last-Event-ID`, it yields all later commits.
     * @returns undefined if it cannot be read, or is too long for a header: PostgreSQL under very many concurrent
     * writes
     */
    async lastEventId(): Promise<string | undefined> {
      const at = endTicks !== undefined && position !== undefined ? position : await store.now().catch(() => undefined)
      const id = at === undefined ? undefined : cursors.idOf(at)
      return id === undefined || id.length > idLengthMax ? undefined : id
    },
    /** Ends all streams and refuses new ones. */
    stop(): void {
      isStopping = true
      for (const { listener } of [...open, ...joining]) listener.end('stopping')
      endTicks?.()
      endTicks = undefined
    },
    /** Runs a tick and waits for its end. For tests. */
    async tickNow(): Promise<void> {
      // A poll in progress may have read too early.
      await polling
      tick()
      await checking
      await polling
    },
    figures: () => ({
      shop: [...open].filter(({ listener }) => listener.viewer.shopId !== undefined).length,
      operator: byShop.get(undefined)?.size ?? 0,
      sent,
      ended: new Map(ended.all()) as ReadonlyMap<Ending, number>,
    }),
  }
}
