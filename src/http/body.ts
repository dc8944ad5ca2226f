import { Elysia } from 'elysia'
import { AppError, invalidField } from '../core/errors.ts'
import type { BodyBudget } from '../core/limits/body-budget.ts'
import { findDuplicateField, findRoundedNumber } from '../lib/exact-json.ts'
import { lengthRefusal, type Shape, shortPath } from './schema-shape.ts'

const kb = 1024
const mb = 1024 * kb
/** Default limit of JSON bodies. */
export const jsonBytesMax = 64 * kb
/** Limit of JSON bodies on routes with `largeJson`. */
export const largeJsonBytesMax = mb
export const jsonValuesMax = 50_000
const bodyDepthMax = 32
const bodyReadMaxMs = 20_000

const rawBodies = new WeakMap<Request, Uint8Array>()

/** Returns the raw body of a request, for signature checks. */
export const rawBodyOf = (request: Request): Uint8Array => rawBodies.get(request) ?? new Uint8Array()

/** Keeps Elysia from reading bodies. The guard of a route reads them after authentication; see access.ts. */
export const unreadBodies = () => new Elysia({ name: 'http.body' }).onParse({ as: 'global' }, () => null)

/** Returns the media type of the body in lower case without parameters; empty if there is none. */
export const mediaTypeOf = ({ headers }: Request): string => headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''

/**
 * Refuses compressed and partial bodies.
 * @throws AppError UNSUPPORTED_MEDIA; INVALID for a part (RFC 9110, 14.5)
 */
export function assertCompleteBody({ headers }: Request): void {
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    throw new AppError('UNSUPPORTED_MEDIA', 'The body must not be encoded: send it without content-encoding')
  if (headers.has('content-range')) throw new AppError('INVALID', 'The body must be complete: send it without content-range')
}

/** The budget of an incomplete body and its sender. Not used for bodies that are read at once. */
export type BudgetOptions = { readonly budget: BodyBudget; readonly senderOf: (request: Request) => string }

type JsonBounds = {
  readonly bytesMax: number
  readonly valuesMax: number
  /** Refuses numbers that parsing would round. */
  readonly exactNumbers?: boolean | undefined
  /** Schema outline of the body: overlong texts are refused before parsing. */
  readonly shape?: Shape
}

/**
 * Reads a JSON body; an empty one is `{}`.
 * @throws AppError as `readChunks` does; UNSUPPORTED_MEDIA; INVALID as `parseObject` does
 */
export async function readJson(
  request: Request,
  { bytesMax, valuesMax, exactNumbers, shape }: JsonBounds,
  budget: BudgetOptions,
): Promise<object> {
  const bytes = await readBytes(request, bytesMax, budget)
  const type = mediaTypeOf(request)
  if (type !== 'application/json' && (type !== '' || bytes.length > 0))
    throw new AppError('UNSUPPORTED_MEDIA', 'Send the body as application/json')
  if (bytes.length === 0) return {}
  assertCompleteBody(request)
  const body = parseObject(bytes, valuesMax, shape)
  if (exactNumbers) assertExact(utf8.decode(bytes))
  return body
}

/** Reads a small body of known length at once, if the reserve has room; other bodies in chunks. */
function readBytes(request: Request, bytesMax: number, budget: BudgetOptions): Promise<Uint8Array> {
  const length = request.headers.get('content-length')
  const free = length !== null && Number(length) <= jsonBytesMax ? budget.budget.reserve(Number(length)) : undefined
  return free ? readAtOnce(request, bytesMax, free) : readBody(request, bytesMax, budget)
}

/**
 * Reads a body by one call. A stream costs more than the rest of a small request, but can be dropped halfway.
 * @param free called at the end
 * @throws AppError as `readChunks` does
 */
async function readAtOnce(request: Request, bytesMax: number, free: () => void): Promise<Uint8Array> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(bodyTimeoutError()), bodyReadMaxMs)
  try {
    const bytes = await Promise.race([request.bytes(), late])
    if (bytes.length > bytesMax) throw tooLarge(bytesMax)
    return bytes
  } catch (error) {
    throw error instanceof AppError ? error : new AppError('INVALID', 'The body is incomplete')
  } finally {
    clearTimeout(timer)
    free()
  }
}

/**
 * Reads a raw body for `rawBodyOf`.
 * @throws AppError as `readChunks` does
 */
export async function readRawBody(request: Request, bytesMax: number, budget: BudgetOptions): Promise<void> {
  rawBodies.set(request, await readBytes(request, bytesMax, budget))
}

export type ReadOptions = Partial<ArrivalLimit> & Partial<BudgetOptions>

/** Limits how slowly a body may arrive. */
export type ArrivalLimit = {
  /** Time limit in milliseconds: for the whole body, or anew for each `everyBytes`. */
  readonly withinMs: number
  readonly everyBytes?: number
}

const tooManyBodiesError = () =>
  new AppError('TIMEOUT', 'Too many request bodies arrived at once. Send the request again', { retryAfterSeconds: 1 })
const bodyTimeoutError = () => new AppError('TIMEOUT', 'The body took too long to arrive')

/**
 * Reads a body.
 * @throws AppError as `readChunks` does; TIMEOUT if the body was dropped for others
 */
export async function readBody(request: Request, bytesMax: number, reading: ReadOptions = {}): Promise<Uint8Array> {
  const pieces = await readPieces(request, bytesMax, reading)
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
}

/** Pieces of this size are not copied again. */
const pieceBytes = 64 * kb

/**
 * Reads a body in pieces. Small chunks are joined in buffers of at most twice their length, so a client that sends
 * single bytes uses no more memory.
 * @throws AppError as `readBody` does
 */
export async function readPieces(
  request: Request,
  bytesMax: number,
  { withinMs = bodyReadMaxMs, budget, senderOf = () => '', ...arrivalLimit }: ReadOptions = {},
): Promise<Uint8Array[]> {
  let pieces: Uint8Array[] | undefined = []
  let last: Uint8Array = new Uint8Array()
  let [lastLength, fullBytes] = [0, 0]
  const reservation = budget?.enter(senderOf(request), () => {
    pieces = undefined
    last = new Uint8Array()
  })
  try {
    for await (const chunk of readChunks(request, bytesMax, { withinMs, ...arrivalLimit })) {
      if (pieces === undefined) throw tooManyBodiesError()
      if (lastLength >= pieceBytes) {
        pieces.push(last.subarray(0, lastLength))
        fullBytes += last.length
        lastLength = 0
      }
      last = appendChunk(last.subarray(0, lastLength), last, chunk, bytesMax)
      lastLength += chunk.length
      reservation?.hold(fullBytes + last.length)
    }
    if (pieces === undefined) throw tooManyBodiesError()
    return [...pieces, last.subarray(0, lastLength)]
  } finally {
    reservation?.release()
  }
}

/** Appends a chunk: in the same buffer if it has room, otherwise in a new one of twice the length. */
function appendChunk(there: Uint8Array, buffer: Uint8Array, chunk: Uint8Array, bytesMax: number): Uint8Array {
  if (there.length === 0) return chunk
  const length = there.length + chunk.length
  const into = length <= buffer.length ? buffer : new Uint8Array(Math.max(length, Math.min(bytesMax, 2 * there.length)))
  if (into !== buffer) into.set(there)
  into.set(chunk, there.length)
  return into
}

/**
 * Yields the body as it arrives. Time that the consumer spends between chunks does not count. Ending the iteration
 * cancels the rest.
 * @throws AppError TOO_LARGE; TIMEOUT; INVALID if the connection breaks off
 */
export async function* readChunks(
  request: Request,
  bytesMax: number,
  { withinMs, everyBytes = Number.POSITIVE_INFINITY }: ArrivalLimit,
): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader()
  if (!reader) return
  const { promise: late, reject } = Promise.withResolvers<never>()
  let readerSince: number | undefined
  let readersMs = 0
  const end = () => {
    const now = performance.now()
    const more = readersMs + (readerSince === undefined ? 0 : now - readerSince)
    if (more < 1) return reject(bodyTimeoutError())
    readersMs = 0
    if (readerSince !== undefined) readerSince = now
    timer = setTimeout(end, more)
  }
  let timer = setTimeout(end, withinMs)
  let size = 0
  let sizeAtStart = 0
  let isComplete = false
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late])
      isComplete = done
      if (done) return
      size += value.length
      if (size > bytesMax) throw tooLarge(bytesMax)
      if (size - sizeAtStart >= everyBytes) {
        sizeAtStart = size
        readersMs = 0
        clearTimeout(timer)
        timer = setTimeout(end, withinMs)
      }
      readerSince = performance.now()
      yield value
      readersMs += performance.now() - readerSince
      readerSince = undefined
    }
  } catch (error) {
    throw error instanceof AppError ? error : new AppError('INVALID', 'The body is incomplete')
  } finally {
    clearTimeout(timer)
    if (!isComplete) reader.cancel().catch(() => undefined)
  }
}

/** Returns the error for a body above the limit. */
export const tooLarge = (bytesMax: number) =>
  new AppError('TOO_LARGE', `The body is larger than ${bytesMax < mb ? `${bytesMax / kb} KB` : `${bytesMax / mb} MB`}`)

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a JSON object.
 * @param shape schema outline: overlong texts of its fields are refused before parsing
 * @throws AppError INVALID for other JSON, too many values or levels, duplicate fields, and invalid texts
 */
export function parseObject(bytes: Uint8Array, valuesMax = jsonValuesMax, shape?: Shape): object {
  const names = countNames(bytes, valuesMax, shape)
  let value: unknown
  let text: string
  try {
    text = utf8.decode(bytes)
    value = JSON.parse(text)
  } catch {
    throw new AppError('INVALID', 'The body is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new AppError('INVALID', 'The body must be a JSON object')
  // JSON.parse silently keeps the last of duplicate fields.
  if (namesIn(value) < names) throw invalidField(shortPath(findDuplicateField(text) ?? []), 'given twice')
  // Invalid characters can only come as `\u`: unescaped, they are not JSON in UTF-8.
  if (text.includes('\\u')) assertPlain(value)
  return value
}

/**
 * Refuses numbers that parsing rounds.
 * @param json valid JSON
 * @throws AppError INVALID, naming the field
 */
function assertExact(json: string): void {
  const path = findRoundedNumber(json)
  if (path) throw invalidField(shortPath(path), 'has too many digits to be exact')
}

const [quote, backslash, comma, colon, space] = [0x22, 0x5c, 0x2c, 0x3a, 0x20]
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d

/** Created once: the stack trace of an error costs more than the check. */
const tooDeep = new AppError('INVALID', `The body is nested deeper than ${bodyDepthMax} levels`)
/** One error per limit. */
const tooMany = new Map<number, AppError>()
function tooManyValuesError(valuesMax: number): AppError {
  const error = tooMany.get(valuesMax) ?? new AppError('INVALID', `The body has more than ${valuesMax} values`)
  tooMany.set(valuesMax, error)
  return error
}

/**
 * Counts values, levels and field names without parsing: JSON.parse takes a third of a second for 1 MB of brackets.
 * Text that is not JSON is counted somehow and refused later.
 * @returns the number of field names
 * @throws AppError INVALID for too many values or levels, or a text that is too long for its field
 */
function countNames(bytes: Uint8Array, valuesMax: number, shape: Shape | undefined): number {
  let [depth, values, names] = [0, 1, 0]
  let justOpened = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte <= space) continue
    if (byte === colon) names++
    // The first value of a list or object has no comma before it.
    if (byte === comma || (justOpened && !isClosing(byte))) values++
    justOpened = isOpening(byte)
    if (justOpened) depth++
    else if (isClosing(byte)) depth--
    else if (byte === quote) {
      const end = endOfText(bytes, at + 1)
      if (end - at > longText && depth === 1 && shape) assertLength(bytes, at, end, shape)
      at = end
    }
    if (depth > bodyDepthMax) throw tooDeep
    if (values > valuesMax) throw tooManyValuesError(valuesMax)
  }
  return names
}

/** Length in bytes above which the field of a text is checked. */
const longText = 4 * kb

/** Refuses a text between two quotes if it is too long for the field before it. */
function assertLength(bytes: Uint8Array, from: number, to: number, shape: Shape): void {
  const before = (at: number) => {
    while (at >= 0 && (bytes[at] as number) <= space) at--
    return at
  }
  const at = before(from - 1)
  const end = before(at - 1)
  if (bytes[at] !== colon || bytes[end] !== quote) return
  const name = bytes.subarray(bytes.lastIndexOf(quote, end - 1) + 1, end)
  // Unknown names are refused after parsing.
  const refusal = name.length > 64 ? undefined : lengthRefusal(shape, String.fromCharCode(...name), to - from - 1)
  if (refusal) throw refusal
}

/** Bytes of a text that are scanned one by one. `indexOf` is faster for longer texts, but has a start-up cost. */
const shortText = 64

/** Returns the position of the closing quote; the end of the bytes without one. */
function endOfText(bytes: Uint8Array, from: number): number {
  let searchesAt = from + shortText
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) return at
    if (byte === backslash) at++
    else if (at >= searchesAt) {
      const next = bytes.indexOf(quote, at)
      if (next < 0) break
      let slashes = 0
      while (bytes[next - 1 - slashes] === backslash) slashes++
      // With an even number of backslashes, the quote is not escaped.
      if (slashes % 2 === 0) return next
      at = next
      searchesAt = next + shortText
    }
  }
  return bytes.length
}

/** Counts the fields of objects at every depth. */
function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let names = 0
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) names += namesIn(value[at])
  else for (const name in value) names += 1 + namesIn((value as Record<string, unknown>)[name])
  return names
}

/** Refuses NUL characters, which PostgreSQL cannot store, and lone surrogates. */
function assertPlain(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new AppError('INVALID', 'The body contains a NUL character')
    if (!value.isWellFormed()) throw new AppError('INVALID', 'The body contains an unpaired surrogate')
  } else if (Array.isArray(value)) {
    // By index and name: the pairs of `Object.entries` cost more than the check.
    for (let at = 0; at < value.length; at++) assertPlain(value[at])
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) {
      assertPlain(name)
      assertPlain((value as Record<string, unknown>)[name])
    }
  }
}
