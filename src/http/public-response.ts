/** Public responses with strong ETags, 304 and cache headers. */
import { opaqueTag } from '../lib/etag.ts'

const cacheControl = 'public, max-age=0, s-maxage=60'
export const jsonType = 'application/json;charset=utf-8'
/** CORS headers for pages of any origin. */
export const browserHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, idempotent-replayed, retry-after, x-request-id',
}

/** For documents that change rarely and are read by many. */
export const fiveMinutes = 'public, max-age=300'

const publicHeaders = (etag: string, control = cacheControl) => ({ etag, 'cache-control': control, ...browserHeaders })

/** Responds with JSON and its ETag, or with 304 if the client has this version. */
export function publicJson(request: Request, body: string, etag: string, control?: string): Response {
  const headers = publicHeaders(etag, control)
  if (matchesEtag(request.headers, etag)) return new Response(null, { status: 304, headers })
  return new Response(body, { headers: { 'content-type': jsonType, ...headers } })
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
const ofProfile = readyHeaders({ 'content-type': jsonType, 'cache-control': fiveMinutes })
const ofSameProfile = readyHeaders({ 'cache-control': fiveMinutes })

const minuteHeaders = { 'content-type': jsonType, 'cache-control': 'public, max-age=60', ...browserHeaders }

/** Responds with JSON that may be cached for a minute and is not cached here. */
export const jsonForAMinute = (body: string): Response => new Response(body, { headers: minuteHeaders })

/** Complete responses for the fast path, and one that must not be cached. */
export const prebuilt = {
  json: (body: string, etag: string, requestId: string) => new Response(body, { headers: ofJson(etag, requestId) }),
  notModified: (etag: string, requestId: string) => new Response(null, { status: 304, headers: ofNotModified(etag, requestId) }),
  profile: (body: string, etag: string, requestId: string) => new Response(body, { headers: ofProfile(etag, requestId) }),
  sameProfile: (etag: string, requestId: string) => new Response(null, { status: 304, headers: ofSameProfile(etag, requestId) }),
  forAMinute: (body: string, requestId: string) =>
    new Response(body, { headers: { ...minuteHeaders, 'x-request-id': requestId, ...noSniff } }),
  secret: (body: string, requestId: string, headers: Record<string, string>) =>
    new Response(body, {
      headers: { 'content-type': jsonType, 'cache-control': 'no-store', 'x-request-id': requestId, ...noSniff, ...headers },
    }),
}

/**
 * Returns whether the client has this version. If-None-Match compares weakly (RFC 9110, 13.1.2): it ignores `W/`, and
 * `*` matches any.
 */
export function matchesEtag(headers: Headers, etag: string): boolean {
  const header = headers.get('if-none-match')
  if (header === null) return false
  if (header === etag || header === '*') return true
  return header.split(',').some((one) => opaqueTag(one.trim()) === etag)
}
