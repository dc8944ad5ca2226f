import type { KeyPrincipal } from '../core/principal.ts'
import { keyHeader } from './access.ts'
import { type AccessRule, accessRules, decidesAlone, isOpenedBy } from './access-rules.ts'
import type { Peer } from './client-connections.ts'
import { type AnswerCache, browserHeaders, isHeld, pathAndQuery, ready } from './public-cache.ts'
import { countedFrom } from './public-reads.ts'
import { isPlainUrl, pathnameOf } from './request-url.ts'
import type { RouteTable, StatedRoute } from './route-table.ts'
import type { SharedLimit } from './shared-limit.ts'

/** A public record whose version is known; see modules/catalog/products/document-cache.ts. */
export type HotRecord = { readonly etag: string; readonly visibleFrom: number }

/** Where hot records come from. */
export type HotRecords<Kept extends HotRecord> = {
  keptNow(id: string): Kept | undefined
  textOf(id: string, kept: Kept): string | undefined
}

/** Where hot orders come from, and who may read them; both undefined where it cannot be said at once. */
export type HotOrders = {
  keyNow(presented: string): KeyPrincipal | undefined
  /** The order as JSON, if it is the shop's. */
  textNow(shopId: string, id: string): string | undefined
}

/**
 * Answers the most frequent reads ahead of the framework, from memory or by one prepared query. The routes give the
 * very same answers; whatever is not plain here (unknown, refused, not visible yet, from a browser whose origin is to be
 * checked, long enough to be counted while it is sent, with something to decode in its URL: what is ignored of one may still be refused) is left to them.
 */
export type HotReads = {
  /** A record by its id. */
  record(request: Request, id: string, requestId: string): Response | undefined
  /** An order by its id, for a key of its shop. */
  order(request: Request, id: string, requestId: string): Response | undefined
  /** What a payment page of a shop was told before, while its caller may ask. */
  resolved(request: Request, requestId: string, peer: Peer | undefined): Response | undefined
  /** The statistics of the trust fabric, as of the last commit. */
  stats(request: Request, requestId: string): Response | undefined
  /** A whole answer that was given before. */
  again(request: Request, requestId: string): Response | undefined
  /** The route, as it was declared, of what `again` answered last. */
  routeAgain(): string | undefined
}

type HotDeps<Kept extends HotRecord> = {
  records: HotRecords<Kept>
  orders: HotOrders
  answers: AnswerCache
  /** The statistics as JSON; undefined where they cannot be said at once. */
  statsNow: () => string | undefined
  resolver: {
    readonly answers: Pick<AnswerCache, 'kept'>
    readonly limit: Pick<SharedLimit, 'local'>
    readonly limitKey: (request: Request, peer: Peer | undefined) => string
  }
  now: () => number
  /** Of the app that answers what is left; already filled. */
  routeTable: RouteTable
}

/** The route of public records, as it is declared. */
export const recordPath = '/product-v2/public/:id'
/** The route of payment pages, as it is declared. */
export const resolverPath = '/checkout/:shopUrl/payment-intent-resolver'
/** The route of the statistics, as it is declared. */
export const statsPath = '/v2/trust-fabric/stats'
/** The route of orders, as it is declared. */
export const orderPath = '/v2/orders/:orderId'

const [beforeShopUrl = '', afterShopUrl = ''] = resolverPath.split(':shopUrl')

/** The shop that the URL of a payment page names. */
function shopUrlIn(url: string): string | undefined {
  const at = url.indexOf(beforeShopUrl, 8)
  const from = at + beforeShopUrl.length
  const to = url.indexOf('/', from)
  return at >= 0 && url.startsWith(afterShopUrl, to) ? url.slice(from, to) : undefined
}

const idLengthMax = 40

/** Tells whether the route answers a request from memory, also where `HotReads` leaves it to the route. */
export const isCachedBy =
  <Kept extends HotRecord>({ answers, documents }: { answers: Pick<AnswerCache, 'kept'>; documents: HotRecords<Kept> }) =>
  ({ url }: Request, { path }: StatedRoute): boolean => {
    if (!path.endsWith(recordPath)) return answers.kept(pathAndQuery(url)) !== undefined
    const pathname = pathnameOf(url)
    return documents.keptNow(pathname.slice(pathname.lastIndexOf('/') + 1)) !== undefined
  }

/** Whether the route would let a key in and look at nothing besides: at no customer's token, and not at the page that asks. */
const keyIsEnough = (rule: AccessRule, key: KeyPrincipal): boolean =>
  key.scopes.includes('server') && isOpenedBy(rule, key) && decidesAlone(rule, key)

/** @throws when no route of the app answers orders */
export function createHotReads<Kept extends HotRecord>({
  records,
  orders,
  answers,
  statsNow,
  resolver,
  now,
  routeTable,
}: HotDeps<Kept>): HotReads {
  const orderAccess = routeTable.get('GET', orderPath)?.access
  if (!orderAccess) throw new Error(`no route states who may read ${orderPath}`)
  const orderRule: AccessRule = accessRules[orderAccess]
  const orderHeaders = orderRule.browsers ? browserHeaders : {}
  let routeAgain: string | undefined

  return {
    record({ headers, url }, id, requestId) {
      if (id.length > idLengthMax || headers.has('origin') || !isPlainUrl(url)) return undefined
      const kept = records.keptNow(id)
      if (!kept || kept.visibleFrom > now()) return undefined
      if (isHeld(headers, kept.etag)) return ready.notModified(kept.etag, requestId)
      const text = records.textOf(id, kept)
      return text === undefined || text.length > countedFrom ? undefined : ready.json(text, kept.etag, requestId)
    },
    order({ headers, url }, id, requestId) {
      const presented = headers.get(keyHeader)
      if (presented === null || id.length > idLengthMax || !isPlainUrl(url)) return undefined
      const key = orders.keyNow(presented)
      const text = key && keyIsEnough(orderRule, key) ? orders.textNow(key.shop.id, id) : undefined
      return text === undefined ? undefined : ready.secret(text, requestId, orderHeaders)
    },
    resolved(request, requestId, peer) {
      const { url } = request
      const shopUrl = isPlainUrl(url) ? shopUrlIn(url) : undefined
      const kept = shopUrl === undefined ? undefined : resolver.answers.kept(shopUrl)
      // Whoever is one too many is not counted here: the route refuses them. It also asks whoever else counts.
      const limit = kept && resolver.limit.local()
      if (!limit || limit.take(resolver.limitKey(request, peer)) !== undefined) return undefined
      const { body, etag } = kept
      return isHeld(request.headers, etag) ? ready.notModified(etag, requestId) : ready.json(body, etag, requestId)
    },
    stats({ url }, requestId) {
      const text = isPlainUrl(url) ? statsNow() : undefined
      return text === undefined ? undefined : ready.forAMinute(text, requestId)
    },
    again({ url, headers }, requestId) {
      const kept = headers.has('origin') ? undefined : answers.kept(pathAndQuery(url))
      if (!kept || kept.body.length > countedFrom) return undefined
      routeAgain = kept.route
      return isHeld(headers, kept.etag) ? ready.notModified(kept.etag, requestId) : ready.json(kept.body, kept.etag, requestId)
    },
    routeAgain: () => routeAgain,
  }
}
