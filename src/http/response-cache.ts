import type { RateLimit } from '../core/limits/rate-limit.ts'
import type { KeyPrincipal } from '../core/principal.ts'
import { keyHeader } from './access.ts'
import { type AccessRule, accessRules, decidesAlone, isOpenedByKey } from './access-rules.ts'
import type { ClientConnection } from './client-connections.ts'
import { type AnswerCache, browserHeaders, matchesEtag, pathAndQuery, prebuilt } from './public-cache.ts'
import { countedFrom } from './public-reads.ts'
import { isPlainUrl, pathnameOf } from './request-url.ts'
import type { FastRead, RouteTable, StatedRoute } from './route-table.ts'

/** A public record of known version; see modules/catalog/products/document-cache.ts. */
export type CachedRecord = { readonly etag: string; readonly visibleFrom: number }

/** Source of cached records. */
export type CachedRecords<Kept extends CachedRecord> = {
  keptNow(id: string): Kept | undefined
  textOf(id: string, kept: Kept): string | undefined
}

/** Source of cached orders and keys; undefined if not available synchronously. */
export type CachedOrders = {
  keyNow(presented: string): KeyPrincipal | undefined
  /** Returns the order as JSON if it belongs to the shop. */
  textNow(shopId: string, id: string): string | undefined
}

/** @param param the path parameter, such as the id */
type Read = (request: Request, param: string, requestId: string, peer: ClientConnection | undefined) => Response | undefined

/**
 * Responds to the most frequent reads before the framework runs, from memory or by one prepared query. The routes give
 * equal responses. It leaves all special cases to them: unknown or invisible records, refusals, requests with an
 * Origin, long responses, and URLs with percent encoding.
 */
export type CachedReads = Record<FastRead, Read> & {
  /** Responds with a cached public response. */
  cachedAnswer(request: Request, requestId: string): Response | undefined
  /** The declared route of the last `cachedAnswer`. */
  lastRoute(): string | undefined
}

type CachedReadsDeps<Kept extends CachedRecord> = {
  records: CachedRecords<Kept>
  orders: CachedOrders
  answers: AnswerCache
  /** Returns the statistics as JSON; undefined if not available synchronously. */
  statsNow: () => string | undefined
  resolver: {
    readonly answers: Pick<AnswerCache, 'get'>
    readonly limit: Pick<RateLimit, 'take' | 'isLocal'>
    readonly limitKey: (request: Request, peer: ClientConnection | undefined) => string
  }
  now: () => number
  /** The filled route table of the app. */
  routeTable: RouteTable
}

const idLengthMax = 40

/** Creates a test whether a route responds from memory, also for requests that `CachedReads` leaves to it. */
export const isCachedBy =
  <Kept extends CachedRecord>({ answers, documents }: { answers: Pick<AnswerCache, 'get'>; documents: CachedRecords<Kept> }) =>
  ({ url }: Request, { fastRead }: StatedRoute): boolean => {
    if (fastRead !== 'record') return answers.get(pathAndQuery(url)) !== undefined
    const pathname = pathnameOf(url)
    return documents.keptNow(pathname.slice(pathname.lastIndexOf('/') + 1)) !== undefined
  }

/** Whether the route would admit a key without checking a customer token or an origin. */
const keyIsEnough = (rule: AccessRule, key: KeyPrincipal): boolean =>
  key.scopes.includes('server') && isOpenedByKey(rule, key) && decidesAlone(rule, key)

/** @throws if the app has no route for orders */
export function createCachedReads<Kept extends CachedRecord>({
  records,
  orders,
  answers,
  statsNow,
  resolver,
  now,
  routeTable,
}: CachedReadsDeps<Kept>): CachedReads {
  const orderAccess = routeTable.fastReads().find(({ fastRead }) => fastRead === 'order')?.access
  if (!orderAccess) throw new Error('no route states who may read an order')
  const orderRule: AccessRule = accessRules[orderAccess]
  const orderHeaders = orderRule.browsers ? browserHeaders : {}
  let routeAgain: string | undefined

  return {
    record({ headers, url }, id, requestId) {
      if (id.length > idLengthMax || headers.has('origin') || !isPlainUrl(url)) return undefined
      const kept = records.keptNow(id)
      if (!kept || kept.visibleFrom > now()) return undefined
      if (matchesEtag(headers, kept.etag)) return prebuilt.notModified(kept.etag, requestId)
      const text = records.textOf(id, kept)
      return text === undefined || text.length > countedFrom ? undefined : prebuilt.json(text, kept.etag, requestId)
    },
    order({ headers, url }, id, requestId) {
      const presented = headers.get(keyHeader)
      if (presented === null || id.length > idLengthMax || !isPlainUrl(url)) return undefined
      const key = orders.keyNow(presented)
      const text = key && keyIsEnough(orderRule, key) ? orders.textNow(key.shop.id, id) : undefined
      return text === undefined ? undefined : prebuilt.secret(text, requestId, orderHeaders)
    },
    resolver(request, shopUrl, requestId, peer) {
      const kept = isPlainUrl(request.url) ? resolver.answers.get(shopUrl) : undefined
      // The route counts and refuses a request above the limit, and counts groups.
      const { limit } = resolver
      if (!kept || !limit.isLocal() || limit.take(resolver.limitKey(request, peer)) !== undefined) return undefined
      const { body, etag } = kept
      return matchesEtag(request.headers, etag) ? prebuilt.notModified(etag, requestId) : prebuilt.json(body, etag, requestId)
    },
    stats({ url }, _, requestId) {
      const text = isPlainUrl(url) ? statsNow() : undefined
      return text === undefined ? undefined : prebuilt.forAMinute(text, requestId)
    },
    cachedAnswer({ url, headers }, requestId) {
      const kept = headers.has('origin') ? undefined : answers.get(pathAndQuery(url))
      if (!kept || kept.body.length > countedFrom) return undefined
      routeAgain = kept.route
      return matchesEtag(headers, kept.etag) ? prebuilt.notModified(kept.etag, requestId) : prebuilt.json(kept.body, kept.etag, requestId)
    },
    lastRoute: () => routeAgain,
  }
}
