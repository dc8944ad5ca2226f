import { Elysia } from 'elysia'
import { etagOf } from '../lib/etag.ts'
import { access } from './access.ts'
import type { HttpDeps } from './deps.ts'
import { matchesEtag } from './public-response.ts'

type Body = string | Blob | Uint8Array<ArrayBuffer>

export type StaticFile = {
  /** A text, or a file (`Bun.file` of an import with `{ type: 'file' }`). */
  readonly body: Body
  readonly contentType: string
  /** Precompressed versions. */
  readonly encoded?: Readonly<Record<Encoding, Body>>
}

/** Best first. */
const encodings = ['br', 'gzip'] as const
type Encoding = (typeof encodings)[number]

/**
 * Serves public files under a prefix, with ETags and 304. They are not documented.
 * @param files by name; they do not change while the process runs
 */
export function staticFiles(deps: HttpDeps, prefix: string, files: Readonly<Record<string, StaticFile>>, cacheControl: string) {
  const app = new Elysia().use(access(deps))
  for (const [name, file] of Object.entries(files))
    app.get(`${prefix}/${name}`, ({ request }) => staticResponse(request, file, { 'cache-control': cacheControl }) as never, {
      access: 'public',
      anyQuery: true,
      takesNoTurn: true,
      detail: { hide: true },
    })
  return app
}

const etags = new WeakMap<StaticFile, string>()
/**
 * Returns the ETag of the uncompressed file. Compressed versions are other representations with other ETags (RFC 9110,
 * 8.8.3.3).
 */
async function etagOfFile(file: StaticFile): Promise<string> {
  const { body } = file
  const cachedEtag = etags.get(file)
  const etag = cachedEtag ?? etagOf(body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : body)
  if (cachedEtag === undefined) etags.set(file, etag)
  return etag
}

/**
 * Responds with a file, compressed if the client accepts it, or with 304.
 * @param file always the same object, because its ETag is cached by it
 * @param headers added to all responses, also to 304
 */
export async function staticResponse(request: Request, file: StaticFile, headers: Readonly<Record<string, string>>): Promise<Response> {
  const encoding = file.encoded && encodingFor(request.headers.get('accept-encoding'))
  const fileEtag = await etagOfFile(file)
  const etag = encoding ? fileEtag.replace(/"$/, `-${encoding}"`) : fileEtag
  const all = { ...headers, etag, ...(file.encoded ? { vary: 'accept-encoding' } : {}) }
  if (matchesEtag(request.headers, etag)) return new Response(null, { status: 304, headers: all })
  return new Response((encoding && file.encoded?.[encoding]) || file.body, {
    headers: { ...all, 'content-type': file.contentType, ...(encoding ? { 'content-encoding': encoding } : {}) },
  })
}

/** Returns the preferred encoding by `accept-encoding` (RFC 9110, 12.5.3); undefined for the uncompressed file. */
export function encodingFor(accept: string | null): Encoding | undefined {
  if (accept === null) return undefined
  const weights = new Map<string, number>()
  for (const entry of accept.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    weights.set(coding, /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0)
  }
  const any = weights.get('*') ?? 0
  const [best] = encodings.map((encoding) => ({ encoding, weight: weights.get(encoding) ?? any })).toSorted((a, b) => b.weight - a.weight)
  return best && best.weight > 0 && best.weight >= (weights.get('identity') ?? 0) ? best.encoding : undefined
}
