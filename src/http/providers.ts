import type { Caller } from '../core/caller.ts'
import type { Origin } from '../core/command-context.ts'
import type { Deps } from '../core/deps.ts'
import { AppError } from '../core/errors.ts'
import { createExportSlots } from '../core/export-slots.ts'
import { createImportSlots } from '../core/import-slots.ts'
import { createOperatorGuard, type WhereReason } from '../core/operator-guard.ts'
import type { Admitted } from '../core/principal.ts'
import { createShare, createShares } from '../lib/background-throttle.ts'
import { createPace } from '../lib/cooperative-scheduler.ts'
import { limitKeyOf, networkOf } from '../lib/networks.ts'
import { createBodyRoom } from './body-budget.ts'
import type { Peer, Peers } from './client-connections.ts'
import { createClientAddress } from './client-ip.ts'
import { createImportPauses } from './import-pauses.ts'
import { createLoopLag, createRequestCounts } from './metrics.ts'
import { createSpacing } from './penalty-delay.ts'
import { createAnswerCache, versionOf } from './public-cache.ts'
import { pathnameOf } from './request-url.ts'
import { createRouteTable } from './route-table.ts'
import { createSharedLimit } from './shared-limit.ts'
import { type Uploading, uploadPace } from './upload.ts'
import { createWriteLimit } from './write-limit.ts'

/** Characters of a `user-agent` that are kept. */
const agentMax = 200

/** Of files that are not whole: three of the largest. */
const uploadRoomBytes = 64 * 1024 * 1024

/** Checkout resolver (specification, limits): requests of a client address within a minute. */
const resolverPerMinute = 60

/** Of the thread's time, while requests come that want it: three quarters are theirs, and one is for long work. */
const othersShare = 3
/** Lists that are told whole rest so many times as long as they work, while others ask for something. */
const exportRests = 16
const turn = () => new Promise<void>((resume) => setImmediate(resume))
const sleep = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms))
const pause = () => sleep(1)
/** A client's next uncached public read waits `times` as long as its last one took, if other clients are active. */
const readsOfFile = { atOnce: 1, times: 6, restMinMs: 2 }
const readsOfServer = { atOnce: 4, times: 0 }
/** Uncached public reads of one address that are queued or running. */
const readsWaitingMax = 128
/** Limit of the time in the queue, well below the deadline of a request. */
const readWaitMaxMs = 10_000
/** Limits of unsent response bytes: in total, and per network. */
const answerRoomBytes = 64 * 1024 * 1024
const answerRoomOfOneBytes = 16 * 1024 * 1024
/** Looks into the DNS for a shop, within a minute. */
const hostVerificationsPerMinute = 10

/** From one address, before its processor is not asked about more of them. */
const badMessagesPerMinute = 30

/** What the HTTP layer needs of payment methods. */
type Given = Deps & { readonly breakers: { version(): number } }

/** What the HTTP layer keeps of an instance. */
export function httpProviders({ db, clock, config, shared, breakers, countryOf }: Given, peers: Peers) {
  const address = createClientAddress(config.trustedProxies)
  const peerOf = (request: Request) => peers.get(request)?.requestIP(request)?.address
  const limitKey = (request: Request): string => limitKeyOf(address.of(request, peerOf(request)))
  const limitKeyFrom = (request: Request, peer: Peer | undefined): string =>
    limitKeyOf(address.of(request, peer?.requestIP(request)?.address))
  /** What a request is called, by the id that the edge gave it, and where it came from; no address where that cannot be told. */
  const originOf = (request: Request): Origin => ({
    requestId: request.headers.get('x-request-id') ?? undefined,
    address: address.of(request, peerOf(request)),
  })
  /** Says that a connection may be silent for as long as it likes, or no longer than others. */
  const maySayNothing = (request: Request, isSo: boolean): void =>
    peers.get(request)?.timeout?.(request, isSo ? 0 : config.keepAliveSeconds)
  const guardedAddress = (request: Request): string | undefined => address.strictly(request, peerOf(request))
  const judge = createOperatorGuard(config, countryOf)
  const { geoCountryHeader } = config
  const requestCounts = createRequestCounts()
  const routeTable = createRouteTable()
  return {
    /** Whole public answers, kept while the database does not change. */
    answers: createAnswerCache({
      version: () => db.version(),
      now: clock.now,
      routeOf: ({ url }) => routeTable.match('GET', pathnameOf(url))?.path,
    }),
    /** What payment pages were told, by shop, kept while neither the database nor a breaker changes. */
    resolverAnswers: createAnswerCache({ version: versionOf(() => db.version(), breakers.version), now: clock.now }),
    /** Of those who ask for that, and of nothing else. */
    resolverLimit: createSharedLimit({ name: 'resolver', most: resolverPerMinute, now: clock.now, shared }),
    /** Of shops that have their host names verified: each asks the DNS. */
    hostVerifyLimit: createSharedLimit({ name: 'host', most: hostVerificationsPerMinute, now: clock.now, shared }),
    /** Of processors' messages that turned out to be bad, each of which cost a call. */
    badMessages: createWriteLimit({ most: badMessagesPerMinute, now: clock.now }),
    originOf,
    /** The caller's address, for limits: always something. */
    limitKey,
    /** The same of one that came from this peer: what is answered at once is not noted down before. */
    limitKeyFrom,
    /** Who sends a request, for what is limited by them and for what they are shown of it later. */
    callerOf: (request: Request): Caller => ({
      ...originOf(request),
      limitKey: limitKey(request),
      agent: request.headers.get('user-agent')?.slice(0, agentMax) || undefined,
    }),
    /** Writes of shoppers and strangers; see write-limit.ts. */
    writeLimit: createSharedLimit({ name: 'write', most: config.storefrontWritesPerMinute, now: clock.now, shared }),
    /** The caller's address, for what is guarded by address; undefined when it cannot be believed. */
    guardedAddress,
    /** Why operators may not call from where this request comes from; undefined: they may. */
    whereRefused: (request: Request): WhereReason | undefined =>
      judge({
        address: guardedAddress(request),
        proxyCountry:
          geoCountryHeader !== undefined && address.isProxy(peerOf(request))
            ? (request.headers.get(geoCountryHeader) ?? undefined)
            : undefined,
      }),
    /** Between refusals of what costs more than it tells. */
    spacing: createSpacing({ now: () => performance.now(), sleep }),
    /** The turns of client addresses at public reads. On PostgreSQL a read hardly uses the thread, so no rest is needed. */
    readTurns: createShares({
      now: () => performance.now(),
      sleep: (ms) => (ms > 0 ? sleep(ms) : turn()),
      seen: requestCounts.startedCount,
      ...(db.file ? readsOfFile : readsOfServer),
      waitingMax: readsWaitingMax,
      waitMaxMs: readWaitMaxMs,
      full: () => new AppError('RATE_LIMITED', 'Too many reads of this address wait: try again', { retryAfterSeconds: 1 }),
    }),
    /** The bytes of answers that slow readers have not taken yet. */
    answerRoom: createBodyRoom(answerRoomBytes, 0, answerRoomOfOneBytes),
    /** Holds what has arrived of bodies that are not whole. */
    bodyRoom: createBodyRoom(),
    uploading: {
      room: createBodyRoom(uploadRoomBytes),
      senderOf: (request) => networkOf(limitKey(request)),
      pace: uploadPace,
      reads: maySayNothing,
    } satisfies Uploading,
    requestCounts,
    /** How late the event loop is, which the server looks at. */
    loopLag: createLoopLag(),
    /** For files that are worked on while they are held in memory. */
    importSlots: createImportSlots(),
    importPauses: createImportPauses(() => performance.now(), sleep),
    /** For requests that work long; they share it. */
    pace: createPace({ now: () => performance.now(), turn, pause, seen: requestCounts.seen, othersShare }),
    exportSlots: createExportSlots(),
    maySayNothing,
    /** Theirs of the thread. */
    exportShare: createShare({ now: () => performance.now(), sleep, seen: requestCounts.seen, times: exportRests }),
    /** Whom a request was let in as, once that is known. */
    callers: new WeakMap<Request, Admitted>(),
    /** What the routes of the app state. */
    routeTable,
  }
}
