import type { Database } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { createTurns } from '../../../lib/fair-queue.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { type LiveEvent, resumableMs } from './domain.ts'
import type { Places } from './event-cursor.ts'
import { read, type Told, type ToldPage } from './event-reader.ts'
import { createListener, type Ending, type Listener, type Viewer } from './listener.ts'
import type { LiveStore } from './store.ts'

/** Streams that a process keeps open; `ofAll` those of shops: merchants, whom anybody may become, keep no operator from theirs. */
export type Bounds = { readonly ofAccount: number; readonly ofShop: number; readonly ofAll: number }
export const bounds: Bounds = { ofAccount: 20, ofShop: 100, ofAll: 2_000 }

const rowsAtOnce = 500
/** Of all shops, behind a place: whoever was away for longer than it takes to read so many loads anew. */
const rowsToResumeMax = 200_000
/** After a page of the past, at most: longer than one takes on any machine that answers. */
const restMaxMs = 1_000
const heartbeatMs = 15_000
/** Whoever listens is asked for again this often; what cannot be asked for so long has ended. */
const checkAfterMs = 25_000
const uncheckedMaxMs = 55_000
/** Of an answer that is none of a stream: proxies take 4 KB of headers in all. */
const idLengthMax = 1_000
/** Before a client comes again. */
const retryMs = 2_000
const drainRetrySeconds = 5
const fullRetrySeconds = 15

/** How somebody listens. */
export type Following = {
  readonly viewer: Viewer
  /** What the client received last; undefined: it begins now. */
  readonly lastEventId: string | undefined
  /** When their token runs out, in milliseconds; undefined of a key. */
  readonly expiresAt: number | undefined
  /** Whether they would be let in as they were. */
  readonly isStill: () => Promise<boolean>
}
/** `isDoubted`: whether they may still listen is asked at once. */
type Held = { readonly listener: Listener; readonly following: Following; checkedAt: number; isDoubted: boolean }
type Joining = Held & { readonly from: string | 'resync' | undefined }

type Given = Pick<Deps, 'db' | 'clock' | 'log'> & {
  readonly liveStore: LiveStore
  readonly places: Places
  /** Calls what it is given now and then, until that is ended. */
  readonly every: (ms: number, tick: () => void) => () => void
  readonly sleep: (ms: number) => Promise<void>
  readonly most?: Bounds
}
export type LiveHub = ReturnType<typeof createHub>

const encoder = new TextEncoder()
const textOf = ({ name, data }: LiveEvent, id: string | undefined): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? '' : `id: ${id}\n`}\n`

/**
 * The streams of a process. One reader reads what was committed, by whatever process, while somebody listens, and each is told what is theirs. Nothing is
 * asked of those who write: see db/change-feed-query.ts.
 */
export function createHub({ db, clock, log, liveStore: store, places, every, sleep, most = bounds }: Given) {
  const open = new Set<Held>()
  const byShop = new Map<string | undefined, Set<Held>>()
  const accounts = new Map<string, number>()
  const ended = createTally()
  let joining: Joining[] = []
  let place: string | undefined
  let version: ReturnType<Database['version']>
  let beatAt = 0
  let isAway = false
  let isStopping = false
  let sent = 0
  let endTicks: (() => void) | undefined
  let polling: Promise<void> | undefined
  let checking: Promise<void> | undefined

  const isLast = ({ events }: Told, event: LiveEvent) => events.at(-1) === event

  /** What a viewer is told of a page. The last of what was committed together bears the id. */
  function chunkOf(told: readonly Told[], seesCatalog: boolean, idOf: (place: string) => string): Uint8Array | undefined {
    const parts = told.flatMap((one) => {
      const events = seesCatalog ? one.events : one.events.filter(({ audience }) => audience !== 'catalog')
      const seen = { ...one, events }
      return events.map((event) => textOf(event, isLast(seen, event) ? idOf(one.place) : undefined))
    })
    if (parts.length === 0) return undefined
    sent += parts.length
    return encoder.encode(parts.join(''))
  }

  /** Of one page the same places come again and again. */
  function idsOnce(): (place: string) => string {
    const ids = new Map<string, string>()
    return (of) => ids.getOrInsertComputed(of, places.idOf)
  }

  function deliver({ told, shut, moved }: ToldPage): void {
    const ofShops = new Map<string | undefined, Told[]>()
    for (const { events, place: behind } of told)
      for (const [shopId, own] of Map.groupBy(events, (event) => event.shopId ?? undefined))
        ofShops.getOrInsertComputed(shopId, () => []).push({ events: own, place: behind })
    const idOf = idsOnce()
    for (const [shopId, own] of ofShops) {
      const chunks = new Map<boolean, Uint8Array | undefined>()
      for (const { listener } of byShop.get(shopId) ?? []) {
        const { seesCatalog } = listener.viewer
        const chunk = chunks.getOrInsertComputed(seesCatalog, () => chunkOf(own, seesCatalog, idOf))
        if (chunk) listener.send(chunk)
      }
    }
    for (const shopId of shut) for (const { listener } of [...(byShop.get(shopId) ?? [])]) listener.end('shop')
    for (const held of moved.length > 0 ? [...open, ...joining] : []) {
      const { shopId } = held.listener.viewer
      if (shopId !== undefined && moved.includes(shopId)) held.isDoubted = true
    }
  }

  const markOf = (at: string): Uint8Array => encoder.encode(`:\nid: ${places.idOf(at)}\n\n`)
  const resync = (at: string): Uint8Array =>
    encoder.encode(textOf({ name: 'resync', data: {}, shopId: null, audience: 'orders' }, places.idOf(at)))
  const notBefore = () => clock.now() - 2 * resumableMs

  /** Lets in who has come since, at the place where the reader is. */
  function letIn(at: string): void {
    for (const { from, ...held } of joining.splice(0)) {
      const { listener } = held
      if (listener.isOver()) continue
      open.add(held)
      byShop.getOrInsertComputed(listener.viewer.shopId, () => new Set()).add(held)
      if (from === undefined) listener.send(markOf(at))
      else if (from === 'resync') listener.send(resync(at))
      else {
        listener.hold()
        void catchUp(listener, from, at)
      }
    }
  }

  const endless = Number.POSITIVE_INFINITY
  const turns = createTurns({
    ...{ atOnce: 1, waitMaxMs: endless, waitingMax: endless, usualMs: 0, now: clock.monotonic },
    full: () => new Error('whoever waits to be told of the past is refused nothing'),
  })
  /**
   * Of the past a page at a time: shops take turns, the accounts of a shop among themselves, and operators each by themselves. After each there is a
   * rest for as long as it took: others have the thread.
   */
  async function inTurn<T>({ shopId, accountId }: Viewer, ask: () => Promise<T>): Promise<T> {
    const end = await turns.take([shopId ?? accountId, accountId])
    const startedAt = clock.monotonic()
    try {
      return await ask()
    } finally {
      void sleep(Math.min(clock.monotonic() - startedAt, restMaxMs)).then(end)
    }
  }

  /** Tells of what was between a place and another. */
  async function catchUp(listener: Listener, from: string, until: string): Promise<void> {
    const { shopId, seesCatalog } = listener.viewer
    const readers = { shopId, hears: (of: string) => of === shopId, operators: shopId === undefined }
    const idOf = idsOnce()
    try {
      let at = from
      for (let rows = 0; rows < rowsToResumeMax && !listener.isOver(); ) {
        const here = at
        const found = await inTurn(listener.viewer, async () => {
          // Who has gone while they waited costs nothing more.
          if (listener.isOver()) return undefined
          const page = await store.since(here, { until, limit: rowsAtOnce, notBefore: notBefore() })
          return page && { page, ...(await read(store, page, readers)) }
        })
        if (listener.isOver()) return
        if (!found) break
        const { page, told, moved } = found
        const chunk = chunkOf(told, seesCatalog, idOf)
        if (chunk) await listener.tellBefore(chunk)
        // What they may by now need not be what they could see before.
        if (shopId !== undefined && moved.includes(shopId)) await listener.tellBefore(resync(page.place))
        at = page.place
        rows += page.pieces.reduce((sum, piece) => sum + piece.rows.length, 0)
        if (page.isWhole) {
          await listener.tellBefore(markOf(at))
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
    // Asked for before the read: what is committed meanwhile is read next time.
    const now = db.version()
    // Nobody was told of what came since.
    if (open.size === 0) place = undefined
    if (place !== undefined && joining.length === 0 && now !== undefined && now === version) return
    version = now
    if (place === undefined) {
      place = await store.now()
      return letIn(place)
    }
    for (let isWhole = false; !isWhole; ) {
      const page = await store.since(place, { limit: rowsAtOnce, notBefore: notBefore() })
      if (!page) {
        // Another file, or another server, is in the place of the one before.
        place = await store.now()
        for (const { listener } of open) listener.send(resync(place))
        break
      }
      const told = await read(store, page, { hears: (shopId) => byShop.has(shopId), operators: byShop.has(undefined) })
      place = page.place
      isWhole = page.isWhole
      deliver(told)
    }
    letIn(place)
  }

  function poll(): Promise<void> {
    polling ??= pollOnce()
      .then(
        () => {
          isAway = false
        },
        (error: unknown) => {
          // Read again whatever the version says.
          version = undefined
          if (!isAway) log.warn('live.not_read', { error })
          isAway = true
        },
      )
      .finally(() => {
        polling = undefined
        if (joining.length > 0 && !isAway) void poll()
      })
    return polling
  }

  /** Whether each may still listen, one after the other. */
  async function checkAll(): Promise<void> {
    for (const held of [...open, ...joining]) {
      const { listener, following } = held
      const since = clock.monotonic() - held.checkedAt
      if ((since < checkAfterMs && !held.isDoubted) || listener.isOver()) continue
      try {
        held.isDoubted = false
        const isStill = await following.isStill()
        if (isStill) held.checkedAt = clock.monotonic()
        else listener.end('access')
      } catch {
        held.isDoubted = true
        if (since >= uncheckedMaxMs) listener.end('unchecked')
      }
    }
  }

  function beat(): void {
    const now = clock.monotonic()
    if (now - beatAt < heartbeatMs || place === undefined) return
    beatAt = now
    const mark = markOf(place)
    for (const { listener } of open) listener.send(mark)
  }

  function tick(): void {
    for (const { listener, following } of [...open, ...joining])
      if (following.expiresAt !== undefined && following.expiresAt <= clock.now()) listener.end('token')
    if (open.size === 0 && joining.length === 0) {
      rest()
      return
    }
    beat()
    checking ??= checkAll().finally(() => {
      checking = undefined
    })
    void poll()
  }

  /** Nobody listens: nothing is read. */
  function rest(): void {
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

  function refuse({ shopId, accountId }: Viewer): void {
    if (isStopping) throw new AppError('UNAVAILABLE', 'The server is stopping: try again', { retryAfterSeconds: drainRetrySeconds })
    const tooMany = (what: string) => new AppError('RATE_LIMITED', what, { retryAfterSeconds: fullRetrySeconds })
    if ((accounts.get(accountId) ?? 0) >= most.ofAccount) throw tooMany(`${most.ofAccount} streams of this account are open: close one`)
    if (shopId !== undefined && ofShop(shopId) >= most.ofShop) throw tooMany(`${most.ofShop} streams of this shop are open: close one`)
    if (shopId !== undefined && open.size + joining.length - ofOperators() >= most.ofAll)
      throw new AppError('UNAVAILABLE', 'Too many streams are open: try again', { retryAfterSeconds: fullRetrySeconds })
  }

  return {
    /**
     * Begins a stream.
     * @throws AppError RATE_LIMITED for one too many of an account or a shop; UNAVAILABLE for one too many of all, and while the server stops
     */
    follow(following: Following): ReadableStream<Uint8Array> {
      const { viewer, lastEventId } = following
      refuse(viewer)
      const from = lastEventId === undefined ? undefined : (places.placeIn(lastEventId)?.place ?? 'resync')
      const listener = createListener(viewer, (ending) => {
        ended.add(ending)
        count(-1, viewer.accountId)
        joining = joining.filter((one) => one.listener !== listener)
        const ofIts = byShop.get(viewer.shopId)
        for (const held of ofIts ?? []) {
          if (held.listener !== listener) continue
          open.delete(held)
          ofIts?.delete(held)
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
     * Where streams stand: sent as `Last-Event-ID`, all comes that is committed from now on.
     * @returns undefined where it cannot be read now, and where it is too long for a header of an answer, which proxies bound: a Postgres that
     *   writes very much at once
     */
    async lastEventId(): Promise<string | undefined> {
      const at = endTicks !== undefined && place !== undefined ? place : await store.now().catch(() => undefined)
      const id = at === undefined ? undefined : places.idOf(at)
      return id === undefined || id.length > idLengthMax ? undefined : id
    },
    /** Ends all streams, and begins no more. */
    stop(): void {
      isStopping = true
      for (const { listener } of [...open, ...joining]) listener.end('stopping')
      endTicks?.()
      endTicks = undefined
    },
    /** Does now what is done by and by. Resolves when it is done. */
    async tickNow(): Promise<void> {
      // One that is under way may have read before.
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
