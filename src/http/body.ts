import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import type { HttpDeps } from './deps.ts'
import { assertOn } from './route-table.ts'

const mb = 1024 * 1024
export const jsonBytesMax = mb
const bodyDepthMax = 32
const bodyReadMaxMs = 20_000

const rawBodies = new WeakMap<Request, Uint8Array>()

/** The bytes of a request's body as they came, for what is signed. */
export const rawBodyOf = (request: Request): Uint8Array => rawBodies.get(request) ?? new Uint8Array()

/** Stands for a body of another media type, which is not read: it is refused once the caller is known; see access.ts. */
export const notJson = Symbol('a body that is not JSON')

/**
 * Reads bodies: JSON objects only, of bounded size and depth, whole within a bounded time. A route that is switched off is refused
 * before, and one that takes an upload reads its body itself.
 */
export const jsonBodies = ({ routeTable }: Pick<HttpDeps, 'routeTable'>) =>
  new Elysia({ name: 'http.body' }).onParse({ as: 'global' }, async ({ request, route }) => {
    const { isOn, upload } = routeTable.get(request.method, route) ?? {}
    assertOn(isOn)
    if (upload) return null
    const type = mediaTypeOf(request)
    if (type !== '' && type !== 'application/json') return notJson
    const bytes = await readBody(request, jsonBytesMax)
    rawBodies.set(request, bytes)
    if (bytes.length === 0) return {}
    return type === '' ? notJson : parseObject(bytes)
  })

/** The media type that a request declares for its body, in small letters and without parameters; empty when it declares none. */
export const mediaTypeOf = ({ headers }: Request): string => headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''

/**
 * The bytes of a body.
 * @throws AppError as `readChunks` does
 */
export async function readBody(request: Request, bytesMax: number, withinMs: number = bodyReadMaxMs): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readChunks(request, bytesMax, withinMs)) chunks.push(chunk)
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

/**
 * A body as it arrives. The time is for the whole, with what the reader does between two chunks. Whoever stops reading lets go of
 * the rest.
 * @throws AppError TOO_LARGE at the chunk that is too much; TIMEOUT when the end is not there in time; INVALID when it breaks off
 */
export async function* readChunks(request: Request, bytesMax: number, withinMs: number): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader()
  if (!reader) return
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('TIMEOUT', 'The body took too long to arrive')), withinMs)
  })
  let size = 0
  let isWhole = false
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late])
      isWhole = done
      if (done) return
      size += value.length
      if (size > bytesMax) throw tooLarge(bytesMax)
      yield value
    }
  } catch (error) {
    throw error instanceof AppError ? error : new AppError('INVALID', 'The body broke off')
  } finally {
    clearTimeout(timer)
    if (!isWhole) reader.cancel().catch(() => undefined)
  }
}

/** The refusal of a larger body. */
export const tooLarge = (bytesMax: number) => new AppError('TOO_LARGE', `The body is larger than ${bytesMax / mb} MB`)

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseObject(bytes: Uint8Array): object {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new AppError('INVALID', 'The body is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new AppError('INVALID', 'The body must be a JSON object')
  assertPlain(value, 1)
  return value
}

/** Refuses what no field of ours may hold: a NUL character (Postgres cannot store it) and nesting without end. */
function assertPlain(value: unknown, depth: number): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new AppError('INVALID', 'The body holds a NUL character')
    if (!value.isWellFormed()) throw new AppError('INVALID', 'The body holds half a surrogate pair')
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > bodyDepthMax) throw new AppError('INVALID', `The body is nested deeper than ${bodyDepthMax} levels`)
  for (const [key, item] of Object.entries(value)) {
    assertPlain(key, depth)
    assertPlain(item, depth + 1)
  }
}
