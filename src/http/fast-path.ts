import { AppError } from '../core/errors.ts'
import { runInRequest } from '../core/request-context.ts'
import type { Log } from '../lib/log.ts'
import { jsonBytesMax, tooLarge } from './body.ts'
import type { ClientConnection, ClientConnections } from './client-connections.ts'
import { asAppError, deadlineExceeded, errorResponse } from './errors.ts'
import type { FastReads } from './fast-reads.ts'
import type { RequestCounts } from './metrics.ts'
import { isForPlatforms, platformRefusal } from './platform-errors.ts'
import { hostRefusal, pathnameOf, urlRefusal } from './request-url.ts'
import { isOpenPath, type RouteTable, type StatedRoute } from './route-table.ts'

export type FastPath = {
  fetch(request: Request, server?: ClientConnection): Response | Promise<Response>
  /** `fetch` for routes that declare `fastRead`, by declared path. `param`: the path parameter. */
  fastReads: readonly {
    readonly path: string
    fetch(request: Request, param: string, server?: ClientConnection): Response | Promise<Response>
  }[]
  /** Closes connections after each response, and lets new requests wait for `drain`. */
  hold(): void
  /** Processes the waiting requests, and refuses new ones. */
  drain(): void
}

type FastPathDeps = {
  /** Responds from caches; undefined leaves the request to `handle`. */
  reads: FastReads
  handle: (request: Request) => Response | Promise<Response>
  log: Log
  requestCounts: RequestCounts
  routeTable: RouteTable
  allowedHosts: readonly string[]
  monotonicMs: () => number
  newRequestId: () => string
  peers: ClientConnections
  /** Starts the time limit of a request. */
  deadline: () => Deadline
}

/** `passed` resolves at the time limit, unless it was cancelled. */
export type Deadline = { readonly passed: Promise<void>; readonly cancel: () => void }

/** The contract promises a response within 28 s. */
const answerWithinMs = 27_000
/** Starts the time limit of one request. */
export function answerDeadline(): Deadline {
  const { promise: passed, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, answerWithinMs)
  return { passed, cancel: () => clearTimeout(timer) }
}

const knownHostsMax = 100
const requestIdPattern = /^[\w.:-]{1,128}$/
const drainRetrySeconds = 5
const slowMs = 1_000

/**
 * Wraps the app: checks host, URL and length of every request, assigns the request id, applies the time limit, and adds
 * the headers that every response needs.
 */
export function createFastPath({
  reads,
  handle,
  log,
  requestCounts,
  routeTable,
  allowedHosts,
  monotonicMs,
  newRequestId,
  peers,
  deadline,
}: FastPathDeps): FastPath {
  let phase: 'serving' | 'holding' | 'draining' = 'serving'
  const drained = Promise.withResolvers<void>()

  /** Returns the route that matches a request. */
  const routeOf = ({ method, url }: Request): StatedRoute | undefined =>
    routeTable.match(method === 'HEAD' ? 'GET' : method, pathnameOf(url))

  /** Creates an error response that is readable for the same pages as the route's responses. */
  function refusalTo(request: Request, refusal: AppError): Response {
    const route = routeOf(request)
    return isForPlatforms(route) ? platformRefusal(refusal, route) : errorResponse(refusal, isOpenPath(routeTable, request))
  }

  async function answer(request: Request): Promise<Response> {
    const refused = phase === 'draining'
    if (phase === 'holding') await drained.promise
    const refusal = refused
      ? new AppError('UNAVAILABLE', 'The server is stopping: try again', { retryAfterSeconds: drainRetrySeconds })
      : (hostRefusalOf(request) ?? urlRefusal(request.url) ?? lengthRefusal(request))
    if (refusal) return refusalTo(request, refusal)
    if (request.method !== 'HEAD') return handle(request)
    // The server omits the body and sends its length.
    const get = asGet(request)
    const peer = peers.get(request)
    if (peer) peers.set(get, { requestIP: () => peer.requestIP(request) })
    return handle(get)
  }

  /** Returns the response, or an error at the time limit. The work continues. Uploads are exempt. */
  async function withTimeLimit(request: Request, answering: Promise<Response>): Promise<Response> {
    const { passed, cancel } = deadline()
    const tooLate = passed.then(() => {
      if (routeOf(request)?.upload) return answering
      // The late response is discarded, so its body must not stay open.
      answering.then(({ body }) => body?.cancel()).catch(() => undefined)
      return refusalTo(request, deadlineExceeded(request))
    })
    try {
      return await Promise.race([answering, tooLate])
    } finally {
      cancel()
    }
  }

  /** Refuses a declared length above the route's limit. The route checks bodies without a length. */
  function lengthRefusal(request: Request): AppError | undefined {
    const length = Number(request.headers.get('content-length'))
    if (!(length > jsonBytesMax)) return undefined
    const bytesMax = routeOf(request)?.bytesMax ?? jsonBytesMax
    return length > bytesMax ? tooLarge(bytesMax) : undefined
  }

  const hosts = new Set<string>()
  /** Accepted host names are cached. */
  function refusalOfHost(host: string): AppError | undefined {
    if (hosts.has(host)) return undefined
    const refusal = hostRefusal(host, allowedHosts)
    if (!refusal && hosts.size < knownHostsMax) hosts.add(host)
    return refusal
  }
  const hostRefusalOf = ({ headers, url }: Request) => refusalOfHost(headers.get('host') ?? URL.parse(url)?.host ?? '')

  async function answerFully(request: Request, requestId: string, startedAt: number): Promise<Response> {
    const answerInTime = () =>
      withTimeLimit(
        request,
        answer(request).catch((error: unknown) => {
          log.error('request.failed', { requestId, error })
          return refusalTo(request, asAppError(error))
        }),
      )
    const response = await runInRequest(requestId, answerInTime, startedAt)
    const { headers } = response
    headers.set('x-request-id', requestId)
    headers.set('x-content-type-options', 'nosniff')
    if (phase !== 'serving') headers.set('connection', 'close')
    // Responses without a cache header may contain personal data.
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    const elapsedMs = monotonicMs() - startedAt
    requestCounts.finished(requestCounts.of(request.method, routeOf(request)?.path), response.status, elapsedMs)
    logRequest(log, request, response.status, elapsedMs, requestId)
    return response
  }

  /**
   * Counts and names a request, and tries `quick` before the full path. Not async, so that cached responses cost no
   * promise.
   * @param route the route under which a response of `quick` is counted
   */
  function respond(
    request: Request,
    server: ClientConnection | undefined,
    quick: (requestId: string) => Response | undefined,
    route: string | undefined,
  ): Response | Promise<Response> {
    const startedAt = monotonicMs()
    const { method, headers } = request
    requestCounts.started()
    const presented = headers.get('x-request-id')
    const isPresented = presented !== null && requestIdPattern.test(presented)
    const requestId = isPresented ? presented : newRequestId()
    if (method === 'GET' && phase === 'serving' && !refusalOfHost(headers.get('host') ?? '')) {
      const answered = quick(requestId)
      if (answered) {
        const elapsedMs = monotonicMs() - startedAt
        requestCounts.finished(requestCounts.of('GET', route ?? reads.lastRoute()), answered.status, elapsedMs)
        if (elapsedMs >= slowMs) logRequest(log, request, answered.status, elapsedMs, requestId)
        return answered
      }
    }
    if (!isPresented) headers.set('x-request-id', requestId)
    if (server) peers.set(request, server)
    return answerFully(request, requestId, startedAt)
  }

  return {
    fetch: (request, server) => respond(request, server, (requestId) => reads.cachedResponse(request, requestId), undefined),
    fastReads: routeTable.fastReads().map(({ path, fastRead = 'record' }) => {
      const read = reads[fastRead]
      return {
        path,
        fetch: (request, param, server) => respond(request, server, (requestId) => read(request, param, requestId, server), path),
      }
    }),
    hold() {
      phase = 'holding'
    },
    drain() {
      phase = 'draining'
      drained.resolve()
    },
  }
}

/** Logs changes and slow responses. Reads are only counted. The query is omitted, because it may contain secrets. */
function logRequest(log: Log, request: Request, status: number, elapsedMs: number, requestId: string): void {
  const change = request.method !== 'GET' && request.method !== 'HEAD' && request.method !== 'OPTIONS'
  if (!change && elapsedMs < slowMs) return
  log.info('request', { method: request.method, path: pathOf(request.url), status, ms: Math.round(elapsedMs * 10) / 10, requestId })
}

/** A cart id is a credential, so it is removed from every path. */
const cartId = /cart_[0-9a-z]{26}/gi
const cartPath = /(\/cart\/)[^/]+/i
/** Ids of agents' sessions and carts are credentials too. */
const sessionPath = /(\/ucp\/[^/]+\/(?:checkout-sessions|carts)\/)[^/]+/i
/** Links from mails contain tokens that show an order or set a password. */
const linkPath = /(\/orders\/public\/|\/pages\/[^/]+\/)[^/]+/i
const pathOf = (url: string) =>
  pathnameOf(url).replace(cartPath, '$1:id').replace(cartId, ':id').replace(sessionPath, '$1:id').replace(linkPath, '$1:token')

/** HEAD is GET without a body (RFC 9110, 9.3.2). */
const asGet = (request: Request) => new Request(request.url, { method: 'GET', headers: request.headers, signal: request.signal })
