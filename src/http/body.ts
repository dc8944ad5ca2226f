import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import { givenTwice, roundedIn } from '../lib/exact-json.ts'
import type { BodyRoom } from './body-budget.ts'
import { lengthRefusal, type Shape, shown } from './schema-shape.ts'

const kb = 1024
const mb = 1024 * kb
/** How much JSON a route takes that states nothing else. */
export const jsonBytesMax = 64 * kb
/** Of routes that take long texts or lists: `largeJson`. */
export const largeJsonBytesMax = mb
export const jsonValuesMax = 50_000
export const bodyDepthMax = 32
const bodyReadMaxMs = 20_000

const rawBodies = new WeakMap<Request, Uint8Array>()

/** The bytes of a request's body as they came, for what is signed. */
export const rawBodyOf = (request: Request): Uint8Array => rawBodies.get(request) ?? new Uint8Array()

/** Keeps Elysia from reading bodies: the guard of a route does, once the caller is known; see access.ts. */
export const unreadBodies = () => new Elysia({ name: 'http.body' }).onParse({ as: 'global' }, () => null)

/** The media type that a request declares for its body, in small letters and without parameters; empty when it declares none. */
export const mediaTypeOf = ({ headers }: Request): string => headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''

/**
 * A body that was packed, or is a part of one, is none that can be read here.
 * @throws AppError UNSUPPORTED_MEDIA, INVALID (RFC 9110, 14.5: a part is not to be taken for the whole)
 */
export function assertWhole({ headers }: Request): void {
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    throw new AppError('UNSUPPORTED_MEDIA', 'Send the body as it is, without content-encoding')
  if (headers.has('content-range')) throw new AppError('INVALID', 'Send the body whole, without content-range')
}

/** What holds the bytes until the body is whole, and for whom: not asked for one that is read at once. */
export type InRoom = { readonly room: BodyRoom; readonly senderOf: (request: Request) => string }

type JsonBounds = {
  readonly bytesMax: number
  readonly valuesMax: number
  /** Numbers must be told exactly: one of more digits than a number of the program holds is refused, not rounded. */
  readonly exactNumbers?: boolean | undefined
  /** Of the route's bodies: a text that is much longer than its field may be is refused before it is parsed. */
  readonly shape?: Shape
}

/**
 * The body of a request that takes JSON: an object, empty when nothing was sent.
 * @throws AppError as `readChunks` does; UNSUPPORTED_MEDIA; INVALID as `parseObject` does
 */
export async function readJson(request: Request, { bytesMax, valuesMax, exactNumbers, shape }: JsonBounds, place: InRoom): Promise<object> {
  const bytes = await readJsonBytes(request, bytesMax, place)
  const type = mediaTypeOf(request)
  if (type !== 'application/json' && (type !== '' || bytes.length > 0))
    throw new AppError('UNSUPPORTED_MEDIA', 'Send the body as application/json')
  if (bytes.length === 0) return {}
  assertWhole(request)
  const body = parseObject(bytes, valuesMax, shape)
  if (exactNumbers) assertExact(utf8.decode(bytes))
  return body
}

/** A small body that says its length is read at once, where that much can be set aside for it: most are. Others, as they come. */
function readJsonBytes(request: Request, bytesMax: number, place: InRoom): Promise<Uint8Array> {
  const length = request.headers.get('content-length')
  const free = length !== null && Number(length) <= jsonBytesMax ? place.room.setAside(Number(length)) : undefined
  return free ? readAtOnce(request, bytesMax, free) : readBody(request, bytesMax, place)
}

/**
 * The same as `readBody`, by one call: a stream costs more than all else that is done with a small body, but what has come of it can be let
 * go of.
 * @param free called at the end
 * @throws AppError as `readChunks` does
 */
async function readAtOnce(request: Request, bytesMax: number, free: () => void): Promise<Uint8Array> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(tooLate()), bodyReadMaxMs)
  try {
    const bytes = await Promise.race([request.bytes(), late])
    if (bytes.length > bytesMax) throw tooLarge(bytesMax)
    return bytes
  } catch (error) {
    throw error instanceof AppError ? error : new AppError('INVALID', 'The body broke off')
  } finally {
    clearTimeout(timer)
    free()
  }
}

/**
 * Reads a body that is nobody's JSON, for `rawBodyOf`.
 * @throws AppError as `readChunks` does
 */
export async function keepRaw(request: Request, bytesMax: number, place: InRoom): Promise<void> {
  rawBodies.set(request, await readBody(request, bytesMax, place))
}

export type Reading = Partial<Pace> & Partial<InRoom>

/** How fast a body must come. */
export type Pace = {
  /** For the whole body, in milliseconds; or for so much of it as `everyBytes` says, and then anew. */
  readonly withinMs: number
  readonly everyBytes?: number
}

const crowdedOut = () => new AppError('TIMEOUT', 'Too many bodies were on their way at once: send it again', { retryAfterSeconds: 1 })
const tooLate = () => new AppError('TIMEOUT', 'The body took too long to arrive')

/**
 * The bytes of a body.
 * @throws AppError as `readChunks` does; TIMEOUT too, in other words, when the room was needed for others
 */
export async function readBody(request: Request, bytesMax: number, reading: Reading = {}): Promise<Uint8Array> {
  const pieces = await readPieces(request, bytesMax, reading)
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
}

/** From here on a piece of a body is left as it is, and what comes begins another: large bodies are not copied. */
const pieceBytes = 64 * kb

/**
 * The bytes of a body in pieces, as they came; but small ones together, in buffers of at most twice their length: whoever sends a byte at
 * a time holds no more.
 * @throws AppError as `readBody` does
 */
export async function readPieces(
  request: Request,
  bytesMax: number,
  { withinMs = bodyReadMaxMs, room, senderOf = () => '', ...pace }: Reading = {},
): Promise<Uint8Array[]> {
  let pieces: Uint8Array[] | undefined = []
  let last: Uint8Array = new Uint8Array()
  let [lastLength, heldBefore] = [0, 0]
  const place = room?.enter(senderOf(request), () => {
    pieces = undefined
    last = new Uint8Array()
  })
  try {
    for await (const chunk of readChunks(request, bytesMax, { withinMs, ...pace })) {
      if (pieces === undefined) throw crowdedOut()
      if (lastLength >= pieceBytes) {
        pieces.push(last.subarray(0, lastLength))
        heldBefore += last.length
        lastLength = 0
      }
      last = joined(last.subarray(0, lastLength), last, chunk, bytesMax)
      lastLength += chunk.length
      place?.hold(heldBefore + last.length)
    }
    if (pieces === undefined) throw crowdedOut()
    return [...pieces, last.subarray(0, lastLength)]
  } finally {
    place?.leave()
  }
}

/** What was there and what came: in the same buffer while it has room, else in one that has twice as much. */
function joined(there: Uint8Array, buffer: Uint8Array, chunk: Uint8Array, bytesMax: number): Uint8Array {
  if (there.length === 0) return chunk
  const length = there.length + chunk.length
  const into = length <= buffer.length ? buffer : new Uint8Array(Math.max(length, Math.min(bytesMax, 2 * there.length)))
  if (into !== buffer) into.set(there)
  into.set(chunk, there.length)
  return into
}

/**
 * A body as it arrives. The time is its sender's: what the reader does between two chunks, such as waiting for a store, does not count.
 * Whoever stops reading lets go of the rest.
 * @throws AppError TOO_LARGE at the chunk that is too much; TIMEOUT when it does not come in time; INVALID when it breaks off
 */
export async function* readChunks(
  request: Request,
  bytesMax: number,
  { withinMs, everyBytes = Number.POSITIVE_INFINITY }: Pace,
): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader()
  if (!reader) return
  const { promise: late, reject } = Promise.withResolvers<never>()
  let readerSince: number | undefined
  let readersMs = 0
  const end = () => {
    const now = performance.now()
    const more = readersMs + (readerSince === undefined ? 0 : now - readerSince)
    if (more < 1) return reject(tooLate())
    readersMs = 0
    if (readerSince !== undefined) readerSince = now
    timer = setTimeout(end, more)
  }
  let timer = setTimeout(end, withinMs)
  let size = 0
  let sizeAtStart = 0
  let isWhole = false
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late])
      isWhole = done
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
    throw error instanceof AppError ? error : new AppError('INVALID', 'The body broke off')
  } finally {
    clearTimeout(timer)
    if (!isWhole) reader.cancel().catch(() => undefined)
  }
}

/** The refusal of a larger body. */
export const tooLarge = (bytesMax: number) =>
  new AppError('TOO_LARGE', `The body is larger than ${bytesMax < mb ? `${bytesMax / kb} KB` : `${bytesMax / mb} MB`}`)

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * A JSON object.
 * @param shape what it is to be, as far as texts of its fields that are far too long are refused at once
 * @throws AppError INVALID when it is none, has more values or levels than it may, a field twice, or a text that no field may hold
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
  // JSON.parse keeps the last of a field, without a word.
  if (namesIn(value) < names) throw new AppError('INVALID', `${shown(givenTwice(text) ?? [])} (body): given twice`)
  // What no text may hold comes by `\u` alone: raw, neither is JSON in UTF-8.
  if (text.includes('\\u')) assertPlain(value)
  return value
}

/**
 * Refuses numbers that were rounded when they were parsed.
 * @param json that was parsed before
 * @throws AppError INVALID, naming the field
 */
function assertExact(json: string): void {
  const path = roundedIn(json)
  if (path) throw new AppError('INVALID', `${shown(path)} (body): a number of so many digits cannot be kept exactly`)
}

const [quote, backslash, comma, colon, space] = [0x22, 0x5c, 0x2c, 0x3a, 0x20]
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d

/** Made once: an error notes where it is made, which costs more than to look at the body. */
const tooDeep = new AppError('INVALID', `The body is nested deeper than ${bodyDepthMax} levels`)
/** By what is too many: as many as routes have. */
const tooMany = new Map<number, AppError>()
function tooManyValues(valuesMax: number): AppError {
  const error = tooMany.get(valuesMax) ?? new AppError('INVALID', `The body holds more than ${valuesMax} values`)
  tooMany.set(valuesMax, error)
  return error
}

/**
 * Counts values, levels and names without parsing: a megabyte of brackets takes JSON.parse a third of a second. Names are no values. What
 * is not JSON is counted somehow, and refused afterwards.
 * @returns how many names fields have
 * @throws AppError INVALID for too many values or levels, or a text that is far too long for its field
 */
function countNames(bytes: Uint8Array, valuesMax: number, shape: Shape | undefined): number {
  let [depth, values, names] = [0, 1, 0]
  let justOpened = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte <= space) continue
    if (byte === colon) names++
    // The first value of a list or an object has no comma before it.
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
    if (values > valuesMax) throw tooManyValues(valuesMax)
  }
  return names
}

/** Bytes of a text from which on its field is looked for. */
const longText = 4 * kb

/** Refuses a text, from its quote to the other, where the name before it is that of a field that cannot be so long. */
function assertLength(bytes: Uint8Array, from: number, to: number, shape: Shape): void {
  const before = (at: number) => {
    while (at >= 0 && (bytes[at] as number) <= space) at--
    return at
  }
  const at = before(from - 1)
  const end = before(at - 1)
  if (bytes[at] !== colon || bytes[end] !== quote) return
  const name = bytes.subarray(bytes.lastIndexOf(quote, end - 1) + 1, end)
  // Other names than ours are not looked at: they are refused once it is parsed.
  const refusal = name.length > 64 ? undefined : lengthRefusal(shape, String.fromCharCode(...name), to - from - 1)
  if (refusal) throw refusal
}

/** So much of a text is looked at byte by byte; what is longer is searched, which costs nothing a byte but something to begin. */
const shortText = 64

/** Where the quote stands that ends a text; behind the last byte where none does. */
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
      // An even number of them stand for themselves, and the quote for the end.
      if (slashes % 2 === 0) return next
      at = next
      searchesAt = next + shortText
    }
  }
  return bytes.length
}

/** How many fields objects have, at every depth. */
function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let names = 0
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) names += namesIn(value[at])
  else for (const name in value) names += 1 + namesIn((value as Record<string, unknown>)[name])
  return names
}

/** Refuses what no field of ours may hold: a NUL character (Postgres cannot store it) and half a surrogate pair. */
function assertPlain(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new AppError('INVALID', 'The body holds a NUL character')
    if (!value.isWellFormed()) throw new AppError('INVALID', 'The body holds half a surrogate pair')
  } else if (Array.isArray(value)) {
    // By index, and objects by name: `Object.entries` makes a pair a value, which costs more than all the rest.
    for (let at = 0; at < value.length; at++) assertPlain(value[at])
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) {
      assertPlain(name)
      assertPlain((value as Record<string, unknown>)[name])
    }
  }
}
