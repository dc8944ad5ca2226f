import { AppError } from '../core/errors.ts'
import { inRequest } from '../core/request-context.ts'
import type { Log } from '../lib/log.ts'
import { jsonBytesMax, tooLarge } from './body.ts'
import type { Peer, Peers } from './client-connections.ts'
import { answerTo, asAppError, overdue } from './errors.ts'
import type { RequestCounts } from './metrics.ts'
import { hostRefusal, pathnameOf, urlRefusal } from './request-url.ts'
import { type HotReads, orderPath, recordPath, resolverPath, statsPath } from './response-cache.ts'
import { isOpenPath, type RouteTable, type StatedRoute } from './route-table.ts'

export type Edge = {
  fetch(request: Request, server?: Peer): Response | Promise<Response>
  /** The same for a request whose path is that of a public record, and names this id. `route`: as it was declared, to be counted under. */
  fetchRecord(request: Request, id: string, server?: Peer, route?: string): Response | Promise<Response>
  /** The same for a request whose path is that of an order. */
  fetchOrder(request: Request, id: string, server?: Peer): Response | Promise<Response>
  /** The same for a request whose path is that of a shop's payment page. */
  fetchResolved(request: Request, server?: Peer, route?: string): Response | Promise<Response>
  /** The same for a request whose path is that of the statistics of the trust fabric. */
  fetchStats(request: Request, server?: Peer, route?: string): Response | Promise<Response>
  /** From now on every answer ends its connection, and requests that come wait for `drain`. */
  hold(): void
  /** Answers those that wait, and refuses new work from now on. */
  drain(): void
}

type EdgeDeps = {
  /** Answers at once what can be; undefined leaves it to `handle`. */
  hot: HotReads
  handle: (request: Request) => Response | Promise<Response>
  log: Log
  requestCounts: RequestCounts
  routeTable: RouteTable
  allowedHosts: readonly string[]
  monotonicMs: () => number
  newRequestId: () => string
  peers: Peers
  /** Begins the time that a request may take. */
  deadline: () => Deadline
}

/** `passed` resolves when the time is over, unless it was called off before. */
export type Deadline = { readonly passed: Promise<void>; readonly callOff: () => void }

/** A request answers within 28 seconds, and proxies count on it. */
const answerWithinMs = 27_000
/** The time that a request may take. */
export function answerDeadline(): Deadline {
  const { promise: passed, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, answerWithinMs)
  return { passed, callOff: () => clearTimeout(timer) }
}

const knownHostsMax = 100
const requestIdPattern = /^[\w.:-]{1,128}$/
const drainRetrySeconds = 5
const slowMs = 1_000

/**
 * The boundary around the app: what must hold for every request and every answer, matched or not. Checks before anything
 * is read, names the request, and sees to the headers that no answer may lack.
 */
export function createEdge({
  hot,
  handle,
  log,
  requestCounts,
  routeTable,
  allowedHosts,
  monotonicMs,
  newRequestId,
  peers,
  deadline,
}: EdgeDeps): Edge {
  let phase: 'serving' | 'holding' | 'draining' = 'serving'
  const held = Promise.withResolvers<void>()

  /** The route that would answer a request. */
  const routeOf = ({ method, url }: Request): StatedRoute | undefined =>
    routeTable.match(method === 'HEAD' ? 'GET' : method, pathnameOf(url))

  /** A refusal before the route was asked, or in its place: pages that may read its answers read this one too. */
  const refusalTo = (request: Request, refusal: AppError): Response => answerTo(refusal, isOpenPath(routeTable, request))

  async function answer(request: Request): Promise<Response> {
    const refused = phase === 'draining'
    if (phase === 'holding') await held.promise
    const refusal = refused
      ? new AppError('UNAVAILABLE', 'The server is stopping: try again', { retryAfterSeconds: drainRetrySeconds })
      : (hostRefusalOf(request) ?? urlRefusal(request.url) ?? lengthRefusal(request))
    if (refusal) return refusalTo(request, refusal)
    if (request.method !== 'HEAD') return handle(request)
    // The server leaves the body away, and says how long it would have been.
    const get = asGet(request)
    const peer = peers.get(request)
    if (peer) peers.set(get, { requestIP: () => peer.requestIP(request) })
    return handle(get)
  }

  /**
   * An answer, or, where it takes too long, that it does. What is at work goes on, and ends as it would have; a file takes as long as it
   * takes.
   */
  async function inTime(request: Request, answering: Promise<Response>): Promise<Response> {
    const { passed, callOff } = deadline()
    const tooLate = passed.then(() => {
      if (routeOf(request)?.upload) return answering
      // Nobody reads what comes after this: it holds nothing open.
      answering.then(({ body }) => body?.cancel()).catch(() => undefined)
      return refusalTo(request, overdue(request))
    })
    try {
      return await Promise.race([answering, tooLate])
    } finally {
      callOff()
    }
  }

  /** By the length that a request declares. The route sees to what is smaller, and to what comes without a length. */
  function lengthRefusal(request: Request): AppError | undefined {
    const length = Number(request.headers.get('content-length'))
    if (!(length > jsonBytesMax)) return undefined
    const bytesMax = routeOf(request)?.bytesMax ?? jsonBytesMax
    return length > bytesMax ? tooLarge(bytesMax) : undefined
  }

  const hosts = new Set<string>()
  /** Host names that passed before need not be looked at again. */
  function refusalOfHost(host: string): AppError | undefined {
    if (hosts.has(host)) return undefined
    const refusal = hostRefusal(host, allowedHosts)
    if (!refusal && hosts.size < knownHostsMax) hosts.add(host)
    return refusal
  }
  const hostRefusalOf = ({ headers, url }: Request) => refusalOfHost(headers.get('host') ?? URL.parse(url)?.host ?? '')

  async function answerFully(request: Request, requestId: string, startedAt: number): Promise<Response> {
    const answering = () =>
      inTime(
        request,
        answer(request).catch((error: unknown) => {
          log.error('request.failed', { requestId, error })
          return refusalTo(request, asAppError(error))
        }),
      )
    const response = await inRequest(requestId, answering, startedAt)
    const { headers } = response
    headers.set('x-request-id', requestId)
    headers.set('x-content-type-options', 'nosniff')
    if (phase !== 'serving') headers.set('connection', 'close')
    // What did not say that it may be kept holds something of somebody's.
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    const elapsedMs = monotonicMs() - startedAt
    requestCounts.finished(requestCounts.of(request.method, routeOf(request)?.path), response.status, elapsedMs)
    tell(log, request, response.status, elapsedMs, requestId)
    return response
  }

  /**
   * Counts, names and looks at a request, and gives it to `quick`; what that leaves is answered in full. Not async: what is answered at once
   * costs no promise.
   * @param route under which it is counted, should `quick` answer it
   */
  function respond(
    request: Request,
    server: Peer | undefined,
    quick: (requestId: string) => Response | undefined,
    route: string | undefined,
  ): Response | Promise<Response> {
    const startedAt = monotonicMs()
    const { method, headers } = request
    requestCounts.started()
    const presented = headers.get('x-request-id')
    const given = presented !== null && requestIdPattern.test(presented)
    const requestId = given ? presented : newRequestId()
    if (method === 'GET' && phase === 'serving' && !refusalOfHost(headers.get('host') ?? '')) {
      const answered = quick(requestId)
      if (answered) {
        const elapsedMs = monotonicMs() - startedAt
        requestCounts.finished(requestCounts.of('GET', route ?? hot.routeAgain()), answered.status, elapsedMs)
        if (elapsedMs >= slowMs) tell(log, request, answered.status, elapsedMs, requestId)
        return answered
      }
    }
    if (!given) headers.set('x-request-id', requestId)
    if (server) peers.set(request, server)
    return answerFully(request, requestId, startedAt)
  }

  return {
    fetch: (request, server) => respond(request, server, (requestId) => hot.again(request, requestId), undefined),
    fetchRecord: (request, id, server, route = recordPath) =>
      respond(request, server, (requestId) => hot.record(request, id, requestId), route),
    fetchOrder: (request, id, server) => respond(request, server, (requestId) => hot.order(request, id, requestId), orderPath),
    fetchResolved: (request, server, route = resolverPath) =>
      respond(request, server, (requestId) => hot.resolved(request, requestId, server), route),
    fetchStats: (request, server, route = statsPath) => respond(request, server, (requestId) => hot.stats(request, requestId), route),
    hold() {
      phase = 'holding'
    },
    drain() {
      phase = 'draining'
      held.resolve()
    },
  }
}

/** Changes and slow answers are worth a line; reads are counted only. The query may hold what nobody should keep: it is left out. */
function tell(log: Log, request: Request, status: number, elapsedMs: number, requestId: string): void {
  const change = request.method !== 'GET' && request.method !== 'HEAD' && request.method !== 'OPTIONS'
  if (!change && elapsedMs < slowMs) return
  log.info('request', { method: request.method, path: pathOf(request.url), status, ms: Math.round(elapsedMs * 10) / 10, requestId })
}

/** Whoever has a cart's id has the cart: it is left out, also where somebody put it into another path. */
const cartId = /cart_[0-9a-z]{26}/gi
const cartPath = /(\/cart\/)[^/]+/i
/** Links from mails: whoever has one sees the order, or chooses a password. */
const linkPath = /(\/orders\/public\/|\/pages\/[^/]+\/)[^/]+/i
const pathOf = (url: string) => pathnameOf(url).replace(cartPath, '$1:id').replace(cartId, ':id').replace(linkPath, '$1:token')

/** HEAD is GET without the body (RFC 9110, 9.3.2). */
const asGet = (request: Request) => new Request(request.url, { method: 'GET', headers: request.headers, signal: request.signal })
