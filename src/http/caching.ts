import { etagOf } from '../lib/etag.ts'

/** Answers that anybody may cache: a strong ETag, 304 to those who have it, and no more headers than needed. */

const publicCaching = 'public, max-age=0, s-maxage=60'

/** The body as JSON with its ETag, or 304 when the caller holds that very version. */
export function publicJson(request: Request, body: string, etag: string): Response {
  const known = request.headers.get('if-none-match')
  if (known !== null && holds(known, etag)) {
    return new Response(null, { status: 304, headers: { etag, 'cache-control': publicCaching, 'access-control-allow-origin': '*' } })
  }
  return new Response(body, {
    headers: { 'content-type': 'application/json;charset=utf-8', etag, 'cache-control': publicCaching, 'access-control-allow-origin': '*' },
  })
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2): `W/` does not matter, `*` is any. */
function holds(header: string, etag: string): boolean {
  if (header === etag || header === '*') return true
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}

export type Answer = { body: string; etag: string }
type Entry = Answer & { version: number; staleAt: number }

const entriesMax = 2_000
const bytesMax = 16 * 1024 * 1024
/** What becomes visible by the clock alone (a publication date) shows at most this late. */
const agesMs = 1_000

/**
 * Keeps whole answers while the database does not change. Where the engine cannot tell (`version` undefined) nothing is
 * kept. The version is read before the answer is computed, so that an entry is never newer than it says.
 */
export function createAnswerCache({ version, now }: { version: () => number | undefined; now: () => number }) {
  const entries = new Map<string, Entry>()
  let bytes = 0

  const drop = (key: string) => {
    bytes -= entries.get(key)?.body.length ?? 0
    entries.delete(key)
  }

  return {
    async get(key: string, compute: () => Promise<string>): Promise<Answer> {
      const before = version()
      const at = now()
      const entry = entries.get(key)
      if (entry && entry.version === before && entry.staleAt > at) return entry
      if (entry) drop(key)
      const body = await compute()
      const answer = { body, etag: etagOf(body) }
      if (before !== undefined && body.length < bytesMax / 8) {
        entries.set(key, { ...answer, version: before, staleAt: at + agesMs })
        bytes += body.length
        for (const oldest of entries.keys()) {
          if (entries.size <= entriesMax && bytes <= bytesMax) break
          drop(oldest)
        }
      }
      return answer
    },
  }
}

export type AnswerCache = ReturnType<typeof createAnswerCache>
