import { Elysia } from 'elysia'
import { etagOf } from '../lib/etag.ts'
import { access } from './access.ts'
import type { HttpDeps } from './deps.ts'
import { isHeld } from './public-cache.ts'

type Body = string | Blob | Uint8Array<ArrayBuffer>

export type StaticFile = {
  /** Text that is made here, or a file: what an import with `{ type: 'file' }` names, as `Bun.file`. */
  readonly body: Body
  readonly contentType: string
  /** The same, compressed beforehand. */
  readonly encoded?: Readonly<Record<Encoding, Body>>
}

/** The best first. */
const encodings = ['br', 'gzip'] as const
export type Encoding = (typeof encodings)[number]

/**
 * Serves files to anybody, each at its name under a prefix and nothing beside them, with an ETag and 304. The document does not
 * show them.
 * @param files by name; they do not change while the process runs
 */
export function staticFiles(deps: HttpDeps, prefix: string, files: Readonly<Record<string, StaticFile>>, cacheControl: string) {
  const app = new Elysia().use(access(deps))
  for (const [name, file] of Object.entries(files))
    app.get(`${prefix}/${name}`, ({ request }) => staticAnswer(request, file, { 'cache-control': cacheControl }) as never, {
      access: 'public',
      anyQuery: true,
      takesNoTurn: true,
      detail: { hide: true },
    })
  return app
}

const etags = new WeakMap<StaticFile, string>()
/** Of a file as it is; what is compressed of it is another representation, and has another one (RFC 9110, 8.8.3.3). */
async function etagOfFile(file: StaticFile): Promise<string> {
  const { body } = file
  const known = etags.get(file)
  const etag = known ?? etagOf(body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : body)
  if (known === undefined) etags.set(file, etag)
  return etag
}

/**
 * Answers a GET with a file, compressed where the caller takes that and there is such a one, or with 304.
 * @param file the same object each time: by it its ETag is remembered
 * @param headers that go out with it besides, also with 304
 */
export async function staticAnswer(request: Request, file: StaticFile, headers: Readonly<Record<string, string>>): Promise<Response> {
  const encoding = file.encoded && encodingFor(request.headers.get('accept-encoding'))
  const whole = await etagOfFile(file)
  const etag = encoding ? whole.replace(/"$/, `-${encoding}"`) : whole
  const all = { ...headers, etag, ...(file.encoded ? { vary: 'accept-encoding' } : {}) }
  if (isHeld(request.headers, etag)) return new Response(null, { status: 304, headers: all })
  return new Response((encoding && file.encoded?.[encoding]) || file.body, {
    headers: { ...all, 'content-type': file.contentType, ...(encoding ? { 'content-encoding': encoding } : {}) },
  })
}

/**
 * Which of the encodings a caller wants most, by `accept-encoding` (RFC 9110, 12.5.3); undefined for a file as it is. Who says nothing gets
 * that, and so does who takes it more gladly than any other.
 */
export function encodingFor(accept: string | null): Encoding | undefined {
  if (accept === null) return undefined
  const wanted = new Map<string, number>()
  for (const entry of accept.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    wanted.set(coding, /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0)
  }
  const any = wanted.get('*') ?? 0
  const [best] = encodings.map((encoding) => ({ encoding, weight: wanted.get(encoding) ?? any })).toSorted((a, b) => b.weight - a.weight)
  return best && best.weight > 0 && best.weight >= (wanted.get('identity') ?? 0) ? best.encoding : undefined
}
