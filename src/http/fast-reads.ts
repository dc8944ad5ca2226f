import type { RateLimit } from '../core/limits/rate-limit.ts'
import type { KeyPrincipal } from '../core/principal.ts'
import { keyHeader } from './access.ts'
import { type AccessRule, accessRules, decidesAlone, isOpenedByKey } from './access-rules.ts'
import type { ClientConnection } from './client-connections.ts'
import { countedBytesMin } from './public-reads.ts'
import { browserHeaders, matchesEtag, prebuilt } from './public-response.ts'
import { hostOf, isPlainUrl, pathAndQuery, pathnameOf } from './request-url.ts'
import type { ResponseCache } from './response-cache.ts'
import type { FastRead, RouteTable, StatedRoute } from './route-table.ts'
import { isOriginAllowed } from './shop.ts'

/**
 * A public record of known version; see modules/catalog/products/document-cache.ts.
 * `origins`: the origins that its shop lists.
 */
type CachedRecord = { readonly etag: string; readonly visibleFrom: number; readonly origins: readonly string[] }

/** Source of cached records. */
type CachedRecords<Entry extends CachedRecord> = {
  findCached(id: string): Entry | undefined
  textOf(id: string, cached: Entry): string | undefined
}

/** Source of cached orders and keys; undefined if not available synchronously. */
type CachedOrders = {
  keyNow(presented: string): KeyPrincipal | undefined
  /** Returns the order as JSON with its ETag if it belongs to the shop. */
  documentNow(shopId: string, id: string): { readonly text: string; readonly etag: string } | undefined
}

/** @param param the path parameter, such as the id */
type Read = (request: Request, param: string, requestId: string, peer: ClientConnection | undefined) => Response | undefined

/**
 * Responds to the most frequent reads before the framework runs, from memory or by one prepared query. The routes give
 * equal responses. It leaves all special cases to them: unknown or invisible records, refusals, the first request of an
 * Origin, long responses, and URLs with percent encoding.
 */
export type FastReads = Record<FastRead, Read> & {
  /** Responds with a cached public response. */
  cachedResponse(request: Request, requestId: string): Response | undefined
  /** The declared route of the last `cachedResponse`. */
  lastRoute(): string | undefined
}

type FastReadsDeps<Entry extends CachedRecord> = {
  records: CachedRecords<Entry>
  orders: CachedOrders
  answers: ResponseCache
  /** Returns the statistics as JSON; undefined if not available synchronously. */
  statsNow: () => string | undefined
  resolver: {
    readonly answers: Pick<ResponseCache, 'get'>
    readonly limit: Pick<RateLimit, 'take' | 'isLocal'>
    readonly limitKey: (request: Request, peer: ClientConnection | undefined) => string
  }
  /** Profiles of shops by host and path. */
  profiles: Pick<ResponseCache, 'get'>
  now: () => number
  /** The filled route table of the app. */
  routeTable: RouteTable
}

const idLengthMax = 40

/** Creates a test whether a route responds from memory, also for requests that `FastReads` leaves to it. */
export const isCachedBy =
  <Entry extends CachedRecord>({ answers, documents }: { answers: Pick<ResponseCache, 'get'>; documents: CachedRecords<Entry> }) =>
  ({ url }: Request, { fastRead }: StatedRoute): boolean => {
    if (fastRead !== 'record') return answers.get(pathAndQuery(url)) !== undefined
    const pathname = pathnameOf(url)
    return documents.findCached(pathname.slice(pathname.lastIndexOf('/') + 1)) !== undefined
  }

/** Returns whether the route would admit a key without checking a customer token or an origin. */
const keyIsEnough = (rule: AccessRule, key: KeyPrincipal): boolean =>
  key.scopes.includes('server') && isOpenedByKey(rule, key) && decidesAlone(rule, key)

/** @throws if the app has no route for orders */
export function createFastReads<Entry extends CachedRecord>({
  records,
  orders,
  answers,
  statsNow,
  resolver,
  profiles,
  now,
  routeTable,
}: FastReadsDeps<Entry>): FastReads {
  const orderAccess = routeTable.fastReads().find(({ fastRead }) => fastRead === 'order')?.access
  if (!orderAccess) throw new Error('no route states who may read an order')
  const orderRule: AccessRule = accessRules[orderAccess]
  const orderHeaders = orderRule.browsers ? browserHeaders : {}
  let lastRoute: string | undefined

  return {
    record({ headers, url }, id, requestId) {
      if (id.length > idLengthMax || !isPlainUrl(url)) return undefined
      const cached = records.findCached(id)
      if (!cached || cached.visibleFrom > now() || !isOriginAllowed(headers, cached.origins)) return undefined
      if (matchesEtag(headers, cached.etag)) return prebuilt.notModified(cached.etag, requestId)
      const text = records.textOf(id, cached)
      return text === undefined || text.length > countedBytesMin ? undefined : prebuilt.json(text, cached.etag, requestId)
    },
    order({ headers, url }, id, requestId) {
      const presented = headers.get(keyHeader)
      if (presented === null || id.length > idLengthMax || !isPlainUrl(url)) return undefined
      const key = orders.keyNow(presented)
      const found = key && keyIsEnough(orderRule, key) ? orders.documentNow(key.shop.id, id) : undefined
      return found && prebuilt.secret(found.text, requestId, { ...orderHeaders, etag: found.etag })
    },
    resolver(request, shopUrl, requestId, peer) {
      const cached = isPlainUrl(request.url) ? resolver.answers.get(shopUrl) : undefined
      // The route counts and refuses a request above the limit, and counts groups.
      const { limit } = resolver
      if (!cached || !limit.isLocal() || limit.take(resolver.limitKey(request, peer)) !== undefined) return undefined
      const { body, etag } = cached
      return matchesEtag(request.headers, etag) ? prebuilt.notModified(etag, requestId) : prebuilt.json(body, etag, requestId)
    },
    stats({ url }, _, requestId) {
      const text = isPlainUrl(url) ? statsNow() : undefined
      return text === undefined ? undefined : prebuilt.forAMinute(text, requestId)
    },
    profile(request, _, requestId) {
      const { headers, url } = request
      const cached = profiles.get(hostOf(request) + pathAndQuery(url))
      if (!cached) return undefined
      const { body, etag } = cached
      return matchesEtag(headers, etag) ? prebuilt.sameProfile(etag, requestId) : prebuilt.profile(body, etag, requestId)
    },
    cachedResponse({ url, headers }, requestId) {
      const cached = answers.get(pathAndQuery(url))
      if (!cached || cached.body.length > countedBytesMin) return undefined
      const origin = headers.get('origin')
      if (origin !== null && !cached.origins.includes(origin)) return undefined
      lastRoute = cached.route
      return matchesEtag(headers, cached.etag)
        ? prebuilt.notModified(cached.etag, requestId)
        : prebuilt.json(cached.body, cached.etag, requestId)
    },
    lastRoute: () => lastRoute,
  }
}
