/** Answers that anybody may cache: a strong ETag, 304 to those who have it, and no more headers than needed. */
import { createCache } from '../core/cache.ts'
import { etagOf, opaqueTag } from '../lib/etag.ts'
import { bytesOf, publicAnswerBytesMax } from '../lib/shorten-texts.ts'

const cacheControl = 'public, max-age=0, s-maxage=60'
export const jsonType = 'application/json;charset=utf-8'
/** Lets pages of any origin read an answer, and these headers of it. */
export const browserHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, idempotent-replayed, retry-after, x-request-id',
}

const publicHeaders = (etag: string) => ({ etag, 'cache-control': cacheControl, ...browserHeaders })

/** The body as JSON with its ETag, or 304 when the caller holds that very version. */
export function publicJson(request: Request, body: string, etag: string): Response {
  if (isHeld(request.headers, etag)) return new Response(null, { status: 304, headers: publicHeaders(etag) })
  return new Response(body, { headers: { 'content-type': jsonType, ...publicHeaders(etag) } })
}

const noSniff = { 'x-content-type-options': 'nosniff' }
/**
 * The headers of answers that go out as they are, past what completes the others. Each answer takes a copy, with its own ETag and request
 * id, of what is here: that costs half of what an object of headers does, which is most of so small an answer.
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

/** The body as JSON that anybody may keep for a minute, and that is made anew for everybody who asks. */
export const jsonForAMinute = (body: string): Response => new Response(body, { headers: minuteHeaders })

/** The same answers ready to go out, and one that nobody may keep. */
export const ready = {
  json: (body: string, etag: string, requestId: string) => new Response(body, { headers: ofJson(etag, requestId) }),
  notModified: (etag: string, requestId: string) => new Response(null, { status: 304, headers: ofNotModified(etag, requestId) }),
  forAMinute: (body: string, requestId: string) =>
    new Response(body, { headers: { ...minuteHeaders, 'x-request-id': requestId, ...noSniff } }),
  secret: (body: string, requestId: string, headers: Record<string, string>) =>
    new Response(body, {
      headers: { 'content-type': jsonType, 'cache-control': 'no-store', 'x-request-id': requestId, ...noSniff, ...headers },
    }),
}

/** Whether the caller has this version. If-None-Match compares weakly (RFC 9110, 13.1.2): `W/` does not matter, `*` is any. */
export function isHeld(headers: Headers, etag: string): boolean {
  const header = headers.get('if-none-match')
  if (header === null) return false
  if (header === etag || header === '*') return true
  return header.split(',').some((one) => opaqueTag(one.trim()) === etag)
}

/** Path and query of a request as they came, without the origin. */
export const pathAndQuery = (url: string): string => url.slice(url.indexOf('/', 8))

/** `route`: whose it is, as that was declared. */
export type Answer = { body: string; etag: string; route: string | undefined }
type Entry = Answer & { staleAt: number }

export type AnswerCache = {
  /** The kept answer to exactly this path and query, if it still holds. */
  kept(path: string): Answer | undefined
  /**
   * Answers a public GET: with what is kept, else with the JSON that `compute` gives.
   * @param path what it is kept under; unless told otherwise, path and query as they came
   */
  respond(request: Request, compute: () => Promise<string>, path?: string): Promise<Response>
}

const entriesMax = 2_000
/** Bytes of all responses that are kept. */
const bytesMax = 4_000_000
/** What becomes visible by the clock alone (a publication date) shows at most this late. */
const agesMs = 1_000

type AnswerCacheOptions = {
  version: () => number | undefined
  now: () => number
  /** The route that answers a request, as it was declared; for those that want to know. */
  routeOf?: (request: Request) => string | undefined
}

/**
 * Keeps whole answers while the database does not change. The version is read before the answer is computed, so that an
 * entry is never newer than it says; what `compute` needs it must therefore read itself.
 */
export function createAnswerCache({ version, now, routeOf }: AnswerCacheOptions): AnswerCache {
  const cache = createCache<Entry>({
    version,
    entriesMax,
    charactersMax: bytesMax,
    charactersOf: ({ body }) => bytesOf(body),
    entryCharactersMax: publicAnswerBytesMax,
  })

  function kept(path: string): Answer | undefined {
    const entry = cache.get(path)
    return entry && entry.staleAt > now() ? entry : undefined
  }

  return {
    kept,
    async respond(request, compute, path = pathAndQuery(request.url)) {
      const staleAt = now() + agesMs
      const { body, etag } =
        kept(path) ??
        (await cache.renew(path, async () => {
          const computed = await compute()
          return { body: computed, etag: etagOf(computed), route: routeOf?.(request), staleAt }
        }))
      return publicJson(request, body, etag)
    },
  }
}

/**
 * One version of several things, each by its own: another whenever one of them is. Undefined while one of them cannot be told.
 * @returns numbers that are never met again
 */
export function versionOf(...parts: readonly (() => number | undefined)[]): () => number | undefined {
  const seen: (number | undefined)[] = parts.map(() => undefined)
  let version = 0
  // By index: this is asked before every answer that is kept.
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
