import type { Database } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { createCatchUp } from './catch-up.ts'
import { resumableMs } from './domain.ts'
import type { EventCursors } from './event-cursor.ts'
import { createEventEncoder, encodeRetry } from './event-encoder.ts'
import { type EventBatch, type EventPage, readEvents } from './event-reader.ts'
import { createListener, type Ending } from './listener.ts'
import type { LiveStore } from './store.ts'
import { createStreamRegistry, type EventStream, type StreamLimits, type StreamRequest, streamLimits } from './stream-registry.ts'

const rowsPerPage = 500
const heartbeatMs = 15_000
/** Interval of authorisation checks, and the time after which an unchecked stream ends. */
const checkAfterMs = 25_000
const uncheckedMaxMs = 55_000
/** Limit of an id in a response header: proxies accept 4 KB of headers. */
const idLengthMax = 1_000
/** Time until a client reconnects. */
const retryMs = 2_000
const drainRetrySeconds = 5

type HubDeps = Pick<Deps, 'db' | 'clock' | 'log'> & {
  readonly liveStore: LiveStore
  readonly cursors: EventCursors
  /** Runs `update` at an interval. Returns the function that ends it. */
  readonly every: (ms: number, update: () => void) => () => void
  readonly sleep: (ms: number) => Promise<void>
  readonly most?: StreamLimits
}

/**
 * Creates the event streams of a process. While there are listeners, one reader follows the commits of all processes
 * and distributes them. Writers do no extra work: see db/change-feed-query.ts.
 */
export function createHub({ db, clock, log, liveStore, cursors, every, sleep, most = streamLimits }: HubDeps) {
  const streams = createStreamRegistry(most)
  const encoder = createEventEncoder(cursors)
  const readPage = (cursor: string, until?: string) =>
    liveStore.since(cursor, { ...(until !== undefined && { until }), limit: rowsPerPage, notBefore: clock.now() - 2 * resumableMs })
  const catchUp = createCatchUp({ clock, log, encoder, readPage, liveStore, sleep })
  const ended = createTally()
  /** The reader's cursor; undefined without listeners. */
  let position: string | undefined
  let version: ReturnType<Database['version']>
  let heartbeatAt = 0
  let hasFailed = false
  let isStopping = false
  let stopTimer: (() => void) | undefined
  let polling: Promise<void> | undefined
  let checking: Promise<void> | undefined

  function deliver({ batches, suspendedShops, changedRoles }: EventPage): void {
    const batchesByShop = new Map<string | undefined, EventBatch[]>()
    for (const { events, cursor } of batches)
      for (const [shopId, ofShop] of Map.groupBy(events, (event) => event.shopId ?? undefined))
        batchesByShop.getOrInsertComputed(shopId, () => []).push({ events: ofShop, cursor })
    const idOf = encoder.cachedIds()
    for (const [shopId, ofShop] of batchesByShop) {
      const chunks = new Map<boolean, Uint8Array | undefined>()
      for (const { listener } of streams.byShop.get(shopId) ?? []) {
        const { seesCatalog } = listener.viewer
        const chunk = chunks.getOrInsertComputed(seesCatalog, () => encoder.page(ofShop, seesCatalog, idOf))
        if (chunk) listener.send(chunk)
      }
    }
    for (const shopId of suspendedShops) for (const { listener } of [...(streams.byShop.get(shopId) ?? [])]) listener.end('shop')
    for (const stream of changedRoles.length > 0 ? streams.all() : []) {
      const { shopId } = stream.request.viewer
      if (shopId !== undefined && changedRoles.includes(shopId)) stream.needsCheck = true
    }
  }

  /** Starts pending streams at the reader's position. */
  function startPending(at: string): void {
    for (const { listener, from } of streams.openPending()) {
      if (from === undefined) listener.send(encoder.position(at))
      else if (from === 'resync') listener.send(encoder.resync(at))
      else {
        listener.hold()
        void catchUp(listener, from, at)
      }
    }
  }

  async function pollOnce(): Promise<void> {
    // Read before the query, so that a commit in between is read next time.
    const now = db.version()
    // Without listeners, no stream needs the events since then.
    if (streams.open.size === 0) position = undefined
    if (position !== undefined && streams.pending.size === 0 && now !== undefined && now === version) return
    version = now
    if (position === undefined) {
      position = await liveStore.now()
      return startPending(position)
    }
    for (let isWhole = false; !isWhole; ) {
      const page = await readPage(position)
      if (!page) {
        // The database was replaced by another one.
        position = await liveStore.now()
        for (const { listener } of streams.open) listener.send(encoder.resync(position))
        break
      }
      const { byShop } = streams
      const events = await readEvents(liveStore, page, { includesShop: (shopId) => byShop.has(shopId), operators: byShop.has(undefined) })
      position = page.cursor
      isWhole = page.isWhole
      deliver(events)
    }
    startPending(position)
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
          if (!hasFailed) log.warn('live.read_failed', { error })
          hasFailed = true
        },
      )
      .finally(() => {
        polling = undefined
        if (streams.pending.size > 0 && !hasFailed) void poll()
      })
    return polling
  }

  /** Checks the authorisation of each listener, one at a time. */
  async function checkAll(): Promise<void> {
    for (const stream of streams.all()) {
      const { listener, request } = stream
      const since = clock.monotonic() - stream.checkedAt
      if ((since < checkAfterMs && !stream.needsCheck) || listener.isOver()) continue
      try {
        stream.needsCheck = false
        if (await request.isAuthorised()) stream.checkedAt = clock.monotonic()
        else listener.end('access')
      } catch {
        stream.needsCheck = true
        if (since >= uncheckedMaxMs) listener.end('unchecked')
      }
    }
  }

  function sendHeartbeat(): void {
    const now = clock.monotonic()
    if (now - heartbeatAt < heartbeatMs || position === undefined) return
    heartbeatAt = now
    const marker = encoder.position(position)
    for (const { listener } of streams.open) listener.send(marker)
  }

  /** Ends expired streams, sends heartbeats, checks authorisations and reads new events. */
  function update(): void {
    for (const { listener, request } of streams.all())
      if (request.expiresAt !== undefined && request.expiresAt <= clock.now()) listener.end('token')
    if (streams.all().length === 0) {
      endUpdates()
      return
    }
    sendHeartbeat()
    checking ??= checkAll().finally(() => {
      checking = undefined
    })
    void poll()
  }

  function endUpdates(): void {
    stopTimer?.()
    stopTimer = undefined
  }

  return {
    /**
     * Opens a stream.
     * @throws AppError RATE_LIMITED beyond the limit of an account or a shop; UNAVAILABLE beyond the limit of all, and
     * while the server stops
     */
    follow(request: StreamRequest): ReadableStream<Uint8Array> {
      const { viewer, lastEventId } = request
      if (isStopping) throw new AppError('UNAVAILABLE', 'The server is stopping: try again', { retryAfterSeconds: drainRetrySeconds })
      streams.assertCapacity(viewer)
      const from = lastEventId === undefined ? undefined : (cursors.parseId(lastEventId)?.cursor ?? 'resync')
      const listener = createListener(viewer, (ending) => {
        ended.add(ending)
        streams.remove(stream)
      })
      const stream: EventStream = { listener, request, from, checkedAt: clock.monotonic(), needsCheck: false }
      streams.add(stream)
      listener.send(encodeRetry(retryMs))
      stopTimer ??= every(db.version() === undefined ? 500 : 250, update)
      void poll()
      return listener.stream
    },
    /**
     * Returns the current event id: sent as `Last-Event-ID`, it yields all later commits.
     * @returns undefined if it cannot be read, or is too long for a header: PostgreSQL under very many concurrent
     * writes
     */
    async lastEventId(): Promise<string | undefined> {
      const at = stopTimer !== undefined && position !== undefined ? position : await liveStore.now().catch(() => undefined)
      const id = at === undefined ? undefined : cursors.idOf(at)
      return id === undefined || id.length > idLengthMax ? undefined : id
    },
    /** Ends all streams and refuses new ones. */
    stop(): void {
      isStopping = true
      for (const { listener } of streams.all()) listener.end('stopping')
      endUpdates()
    },
    /** Runs an update and waits for its end. For tests. */
    async updateNow(): Promise<void> {
      // A poll in progress may have read too early.
      await polling
      update()
      await checking
      await polling
    },
    figures: () => ({
      shop: [...streams.open].filter(({ listener }) => listener.viewer.shopId !== undefined).length,
      operator: streams.byShop.get(undefined)?.size ?? 0,
      sent: encoder.count(),
      ended: new Map(ended.all()) as ReadonlyMap<Ending, number>,
    }),
  }
}
