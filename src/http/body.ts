import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'

export const bodyBytesMax = 1024 * 1024
export const uploadBytesMax = 20 * 1024 * 1024
const bodyDepthMax = 32
const bodyReadMaxMs = 20_000
/** 20 MB at a megabit a second take nearly three minutes. */
export const uploadReadMaxMs = 180_000

const rawBodies = new WeakMap<Request, Uint8Array>()

/** The bytes of a request's body as they came, for what is signed. */
export const rawBodyOf = (request: Request): Uint8Array => rawBodies.get(request) ?? new Uint8Array()

/** Reads bodies: JSON objects only, of bounded size and depth, whole within a bounded time. */
export const jsonBodies = () =>
  new Elysia({ name: 'http.body' }).onParse({ as: 'global' }, async ({ request }, contentType) => {
    // Left for the one route that takes it; those with a schema refuse it: see access.ts.
    if (isUpload(request)) return null
    const bytes = await readBody(request, bodyBytesMax)
    rawBodies.set(request, bytes)
    if (bytes.length === 0 && contentType === '') return {}
    if (contentType.split(';')[0]?.trim().toLowerCase() !== 'application/json') throw notJson()
    return bytes.length === 0 ? {} : parseObject(bytes)
  })

/** Whether the body is a file for the importer and not JSON. */
export const isUpload = ({ headers }: Request): boolean => headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'text/csv'

/** The refusal of any other media type. */
export const notJson = () => new AppError('UNSUPPORTED_MEDIA', 'Send the body as application/json')

/**
 * The bytes of a body.
 * @throws AppError TOO_LARGE, or TIMEOUT when they do not arrive in time
 */
export async function readBody(request: Request, bytesMax: number, withinMs: number = bodyReadMaxMs): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  if (!reader) return new Uint8Array()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('TIMEOUT', 'The body took too long to arrive')), withinMs)
  })
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late])
      if (done) break
      size += value.length
      if (size > bytesMax) throw tooLarge(bytesMax)
      chunks.push(value)
    }
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
  } catch (error) {
    reader.cancel().catch(() => undefined)
    throw error instanceof AppError ? error : new AppError('INVALID', 'The body broke off')
  } finally {
    clearTimeout(timer)
  }
}

/** The refusal of a larger body. */
export const tooLarge = (bytesMax: number) => new AppError('TOO_LARGE', `The body is larger than ${bytesMax / 1024 / 1024} MB`)

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
