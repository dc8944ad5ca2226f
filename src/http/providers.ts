import type { Caller } from '../core/caller.ts'
import type { Origin } from '../core/command-context.ts'
import type { Deps } from '../core/deps.ts'
import { AppError } from '../core/errors.ts'
import { createBodyBudget } from '../core/limits/body-budget.ts'
import { createPenaltyDelay } from '../core/limits/penalty-delay.ts'
import { createRateLimit } from '../core/limits/rate-limit.ts'
import { createKeyedScheduler, createScheduler } from '../core/limits/scheduler.ts'
import { createSemaphore } from '../core/limits/semaphore.ts'
import { createOperatorGuard, type OperatorRefusalReason } from '../core/operator-guard.ts'
import type { Admission } from '../core/principal.ts'
import { limitKeyOf, networkOf } from '../lib/networks.ts'
import type { ClientConnection, ClientConnections } from './client-connections.ts'
import { createClientAddress } from './client-ip.ts'
import { createLoopLag, createRequestCounts } from './metrics.ts'
import { fiveMinutes } from './public-response.ts'
import { pathnameOf } from './request-url.ts'
import { createResponseCache, versionOf } from './response-cache.ts'
import { createRouteTable } from './route-table.ts'
import { type UploadOptions, uploadPace } from './upload.ts'

/** Maximum length of a stored `user-agent`. */
const agentMax = 200

/** Memory of incomplete uploads: three of the largest size. */
const uploadBytesMax = 64 * 1024 * 1024

/** Requests of the checkout resolver per address and minute. */
const resolverPerMinute = 60

/** While requests are active, they get three quarters of the main thread and long work one quarter. */
const othersShare = 3
/** Exports pause 16 times as long as they work, while others are active. */
const exportRests = 16
const turn = () => new Promise<void>((resume) => setImmediate(resume))
const sleep = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms))
const thread = { now: () => performance.now(), turn, sleep }
const importRefusals = { ofOwner: (whose: string) => `An import ${whose} is running`, ofAll: 'Too many imports are running' }
const exportRefusals = { ofOwner: (whose: string) => `2 exports ${whose} are running`, ofAll: 'Too many exports are running' }
/**
 * On SQLite, a client's next uncached public read waits 6 times the duration of its last one, while other clients
 * are active.
 */
const readsOfFile = { atOnce: 1, othersShare: 6 }
const readsOfServer = { atOnce: 4, othersShare: 0 }
/** Maximum number of queued or running uncached reads per address. */
const readsWaitingMax = 128
/** Maximum time in the queue, well below the time limit of a request. */
const readWaitMaxMs = 10_000
/** Memory of unsent responses: in total, and per network. */
const unsentBytesMax = 64 * 1024 * 1024
const unsentBytesOfOneMax = 16 * 1024 * 1024
/** DNS lookups per shop and minute. */
const hostVerificationsPerMinute = 10

/** Invalid messages per address and minute, before its processor is no longer queried. */
const badMessagesPerMinute = 30

type HttpProviderDeps = Deps & { readonly breakers: { version(): number } }

/** Creates the providers of the HTTP layer. */
export function httpProviders({ db, clock, config, shared, breakers, countryOf }: HttpProviderDeps, peers: ClientConnections) {
  const address = createClientAddress(config.trustedProxies)
  const peerOf = (request: Request) => peers.get(request)?.requestIP(request)?.address
  const limitKey = (request: Request): string => limitKeyOf(address.of(request, peerOf(request)))
  const limitKeyFrom = (request: Request, peer: ClientConnection | undefined): string =>
    limitKeyOf(address.of(request, peer?.requestIP(request)?.address))
  /** Returns request id and client address of a request; no address if it is unknown. */
  const originOf = (request: Request): Origin => ({
    requestId: request.headers.get('x-request-id') ?? undefined,
    address: address.of(request, peerOf(request)),
  })
  /** Suspends or restores the idle timeout of a connection. */
  const allowSilence = (request: Request, isAllowed: boolean): void =>
    peers.get(request)?.timeout?.(request, isAllowed ? 0 : config.keepAliveSeconds)
  const guardedAddress = (request: Request): string | undefined => address.strictly(request, peerOf(request))
  const judge = createOperatorGuard(config, countryOf)
  const { geoCountryHeader } = config
  const requestCounts = createRequestCounts()
  const routeTable = createRouteTable()
  return {
    /** Cache of public responses, valid until the database changes. */
    answers: createResponseCache({
      version: () => db.version(),
      now: clock.now,
      routeOf: ({ url }) => routeTable.match('GET', pathnameOf(url))?.path,
    }),
    /** Cache of resolver responses by shop, valid until the database or a breaker changes. */
    resolverAnswers: createResponseCache({ version: versionOf(() => db.version(), breakers.version), now: clock.now }),
    /** Cache of shops' profiles by host and path, valid as long as those of the resolver. */
    profileAnswers: createResponseCache({
      version: versionOf(() => db.version(), breakers.version),
      now: clock.now,
      control: fiveMinutes,
    }),
    /** Limit of resolver requests. */
    resolverLimit: createRateLimit({ name: 'resolver', most: resolverPerMinute, now: clock.now, shared }),
    /** Limit of host verifications per shop, because each queries the DNS. */
    hostVerifyLimit: createRateLimit({ name: 'host', most: hostVerificationsPerMinute, now: clock.now, shared }),
    /** Invalid processor messages per address, because each cost a call. */
    badMessages: createRateLimit({ name: 'message', most: badMessagesPerMinute, now: clock.now }),
    originOf,
    /** The rate limit key of a request. */
    limitKey,
    /**
     * The rate limit key with a given connection, for cached responses, which are sent before the connection is stored.
     */
    limitKeyFrom,
    /** The caller of a request, for limits and for session lists. */
    callerOf: (request: Request): Caller => ({
      ...originOf(request),
      limitKey: limitKey(request),
      agent: request.headers.get('user-agent')?.slice(0, agentMax) || undefined,
    }),
    /** Limit of changes by shoppers and anonymous callers; see core/limits/rate-limit.ts. */
    writeLimit: createRateLimit({ name: 'write', most: config.storefrontWritesPerMinute, now: clock.now, shared }),
    /** The client address for allowlists; undefined if it cannot be trusted. */
    guardedAddress,
    /** Why an operator may not call from this location; undefined if allowed. */
    locationRefusal: (request: Request): OperatorRefusalReason | undefined =>
      judge({
        address: guardedAddress(request),
        proxyCountry:
          geoCountryHeader !== undefined && address.isProxy(peerOf(request))
            ? (request.headers.get(geoCountryHeader) ?? undefined)
            : undefined,
      }),
    /** Delays repeated expensive errors. */
    penaltyDelay: createPenaltyDelay({ now: () => performance.now(), sleep }),
    /**
     * The queue of uncached public reads per address. PostgreSQL reads barely use the thread, so they need no pause.
     */
    readQueue: createKeyedScheduler({
      ...thread,
      activityCount: requestCounts.startedCount,
      ...(db.file ? readsOfFile : readsOfServer),
      waitingMax: readsWaitingMax,
      waitMaxMs: readWaitMaxMs,
      full: () => new AppError('RATE_LIMITED', 'Too many requests of this client are waiting. Try again', { retryAfterSeconds: 1 }),
    }),
    /** Memory of responses that slow clients have not read. */
    answerBudget: createBodyBudget(unsentBytesMax, 0, unsentBytesOfOneMax),
    /** Memory of incomplete bodies. */
    bodyBudget: createBodyBudget(),
    uploading: {
      budget: createBodyBudget(uploadBytesMax),
      senderOf: (request) => networkOf(limitKey(request)),
      arrivalLimit: uploadPace,
      reads: allowSilence,
    } satisfies UploadOptions,
    requestCounts,
    loopLag: createLoopLag(),
    /** Slots of imports, by owner from before the upload, and of all while their files are in memory. */
    importSlots: createSemaphore({ perOwner: 1, refusals: importRefusals }),
    runningImports: createSemaphore({ perOwner: 1, total: 16, refusals: importRefusals }),
    /** Schedules long work of requests on the main thread. */
    scheduler: createScheduler({ ...thread, activityCount: requestCounts.activityCount, othersShare }),
    exportSlots: createSemaphore({ perOwner: 2, total: 16, refusals: exportRefusals }),
    allowSilence,
    /** Schedules exports on the main thread. */
    exportShare: createScheduler({ ...thread, activityCount: requestCounts.activityCount, othersShare: exportRests }),
    /** The admission of each request. */
    callers: new WeakMap<Request, Admission>(),
    routeTable,
  }
}
