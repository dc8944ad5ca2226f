/** Cacheable public responses with strong ETags and 304. */
import { createCache } from '../core/cache.ts'
import { etagOf, opaqueTag } from '../lib/etag.ts'
import { bytesOf, publicAnswerBytesMax } from '../lib/shorten-texts.ts'

const cacheControl = 'public, max-age=0, s-maxage=60'
export const jsonType = 'application/json;charset=utf-8'
/** CORS headers for pages of any origin. */
export const browserHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, idempotent-replayed, retry-after, x-request-id',
}

const publicHeaders = (etag: string) => ({ etag, 'cache-control': cacheControl, ...browserHeaders })

/** Responds with JSON and its ETag, or with 304 if the client has this version. */
export function publicJson(request: Request, body: string, etag: string): Response {
  if (matchesEtag(request.headers, etag)) return new Response(null, { status: 304, headers: publicHeaders(etag) })
  return new Response(body, { headers: { 'content-type': jsonType, ...publicHeaders(etag) } })
}

const noSniff = { 'x-content-type-options': 'nosniff' }
/**
 * Headers of cached responses. The Headers object is reused, with a new ETag and request id: creating one from a record
 * costs twice as much.
 */
function readyHeaders(more: Record<string, string>) {
  const headers = new Headers({ ...publicHeaders(''), ...noSniff, ...more })
  let last = ''
  return (etag: string, requestId: string): Headers => {
    if (etag !== last) headers.set('etag', etag)
    last = etag
    headers.set('x-request-id', requestId)
    return headers
  }
}
const ofJson = readyHeaders({ 'content-type': jsonType })
const ofNotModified = readyHeaders({})

const minuteHeaders = { 'content-type': jsonType, 'cache-control': 'public, max-age=60', ...browserHeaders }

/** Responds with JSON that may be cached for a minute and is not cached here. */
export const jsonForAMinute = (body: string): Response => new Response(body, { headers: minuteHeaders })

/** Complete responses for the fast path, and one that must not be cached. */
export const prebuilt = {
  json: (body: string, etag: string, requestId: string) => new Response(body, { headers: ofJson(etag, requestId) }),
  notModified: (etag: string, requestId: string) => new Response(null, { status: 304, headers: ofNotModified(etag, requestId) }),
  forAMinute: (body: string, requestId: string) =>
    new Response(body, { headers: { ...minuteHeaders, 'x-request-id': requestId, ...noSniff } }),
  secret: (body: string, requestId: string, headers: Record<string, string>) =>
    new Response(body, {
      headers: { 'content-type': jsonType, 'cache-control': 'no-store', 'x-request-id': requestId, ...noSniff, ...headers },
    }),
}

/**
 * Whether the client has this version. If-None-Match compares weakly (RFC 9110, 13.1.2): it ignores `W/`, and `*`
 * matches any.
 */
export function matchesEtag(headers: Headers, etag: string): boolean {
  const header = headers.get('if-none-match')
  if (header === null) return false
  if (header === etag || header === '*') return true
  return header.split(',').some((one) => opaqueTag(one.trim()) === etag)
}

/** Returns path and query of a URL as sent. */
export const pathAndQuery = (url: string): string => url.slice(url.indexOf('/', 8))

/** `route`: the declared route, for metrics. */
export type CachedAnswer = { body: string; etag: string; route: string | undefined }
type Entry = CachedAnswer & { staleAt: number }

export type AnswerCache = {
  /** Returns the valid cached response for exactly this path and query. */
  get(path: string): CachedAnswer | undefined
  /**
   * Responds to a public GET from the cache, or with the JSON of `compute`.
   * @param path cache key; default: path and query
   */
  respond(request: Request, compute: () => Promise<string>, path?: string): Promise<Response>
}

const entriesMax = 2_000
/** Total bytes of cached responses. */
const bytesMax = 4_000_000
/** Maximum age: records that become visible by time (publication dates) appear this late at most. */
const agesMs = 1_000

type AnswerCacheOptions = {
  version: () => number | undefined
  now: () => number
  /** Returns the declared route of a request, for metrics. */
  routeOf?: (request: Request) => string | undefined
}

/**
 * Creates a cache that is valid until the database changes. The version is read before `compute`, so `compute` must
 * read everything itself.
 */
export function createAnswerCache({ version, now, routeOf }: AnswerCacheOptions): AnswerCache {
  const cache = createCache<Entry>({
    version,
    entriesMax,
    charactersMax: bytesMax,
    charactersOf: ({ body }) => bytesOf(body),
    entryCharactersMax: publicAnswerBytesMax,
  })

  function kept(path: string): CachedAnswer | undefined {
    const entry = cache.get(path)
    return entry && entry.staleAt > now() ? entry : undefined
  }

  return {
    get: kept,
    async respond(request, compute, path = pathAndQuery(request.url)) {
      const staleAt = now() + agesMs
      const { body, etag } =
        kept(path) ??
        (await cache.reload(path, async () => {
          const computed = await compute()
          return { body: computed, etag: etagOf(computed), route: routeOf?.(request), staleAt }
        }))
      return publicJson(request, body, etag)
    },
  }
}

/**
 * Combines versions: the result changes whenever one of them changes; undefined while one is undefined.
 * @returns numbers that never repeat
 */
export function versionOf(...parts: readonly (() => number | undefined)[]): () => number | undefined {
  const seen: (number | undefined)[] = parts.map(() => undefined)
  let version = 0
  // By index, because this runs before every cached response.
  return () => {
    let isOther = false
    for (let nth = 0; nth < parts.length; nth++) {
      const now = parts[nth]?.()
      if (now === undefined) {
        version++
        return undefined
      }
      if (now === seen[nth]) continue
      seen[nth] = now
      isOther = true
    }
    if (isOther) version++
    return version
  }
}
