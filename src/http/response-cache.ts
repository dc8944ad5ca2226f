import { createCache } from '../core/cache.ts'
import { etagOf } from '../lib/etag.ts'
import { bytesOf, publicAnswerBytesMax } from '../lib/shorten-texts.ts'
import { publicJson } from './public-response.ts'
import { pathAndQuery } from './request-url.ts'

/** `route`: the declared route, for metrics. `origins`: those to which the route has sent this response. */
type CachedResponse = { body: string; etag: string; route: string | undefined; origins: readonly string[] }
type Entry = CachedResponse & { origins: string[]; staleAt: number }

export type ResponseCache = {
  /** Returns the valid cached response for exactly this path and query. */
  get(path: string): CachedResponse | undefined
  /**
   * Responds to a public GET from the cache, or with the JSON of `compute`. The caller has checked the origin.
   * @param path cache key; default: path and query
   */
  respond(request: Request, compute: () => Promise<string>, path?: string): Promise<Response>
}

const entriesMax = 2_000
/** Total bytes of cached responses. */
const bytesMax = 4_000_000
/** Origins of one response. A shop has few storefronts; requests from further origins are checked by the route. */
const originsMax = 8
/** Maximum age: records that become visible by time (publication dates) appear this late at most. */
const maxAgeMs = 1_000

type ResponseCacheOptions = {
  version: () => number | undefined
  now: () => number
  /** Returns the declared route of a request, for metrics. */
  routeOf?: (request: Request) => string | undefined
  /** `cache-control` of the responses, if it differs from that of public reads. */
  control?: string
}

/**
 * Creates a cache that is valid until the database changes. The version is read before `compute`, so `compute` must
 * read everything itself.
 */
export function createResponseCache({ version, now, routeOf, control }: ResponseCacheOptions): ResponseCache {
  const cache = createCache<Entry>({
    version,
    entriesMax,
    charactersMax: bytesMax,
    charactersOf: ({ body }) => bytesOf(body),
    entryCharactersMax: publicAnswerBytesMax,
  })

  function validEntry(path: string): Entry | undefined {
    const entry = cache.get(path)
    return entry && entry.staleAt > now() ? entry : undefined
  }

  return {
    get: validEntry,
    async respond(request, compute, path = pathAndQuery(request.url)) {
      const staleAt = now() + maxAgeMs
      const entry =
        validEntry(path) ??
        (await cache.reload(path, async () => {
          const computed = await compute()
          return { body: computed, etag: etagOf(computed), route: routeOf?.(request), origins: [], staleAt }
        }))
      const origin = request.headers.get('origin')
      if (origin !== null && entry.origins.length < originsMax && !entry.origins.includes(origin)) entry.origins.push(origin)
      return publicJson(request, entry.body, entry.etag, control)
    },
  }
}

/**
 * Combines versions: the result changes whenever one of them changes; undefined while one is undefined.
 * @returns numbers that never repeat
 */
export function versionOf(...parts: readonly (() => number | undefined)[]): () => number | undefined {
  const versions: (number | undefined)[] = parts.map(() => undefined)
  let version = 0
  // By index, because this runs before every cached response.
  return () => {
    let hasChanged = false
    for (let nth = 0; nth < parts.length; nth++) {
      const now = parts[nth]?.()
      if (now === undefined) {
        version++
        return undefined
      }
      if (now === versions[nth]) continue
      versions[nth] = now
      hasChanged = true
    }
    if (hasChanged) version++
    return version
  }
}
