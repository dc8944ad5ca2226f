import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import { release } from '../lib/sealed-stream.ts'
import { assertWhole, mediaTypeOf, type Pace, type Reading, readBody, readChunks, readPieces } from './body.ts'
import type { BodyRoom } from './body-budget.ts'
import type { UploadRule } from './route-table.ts'

/** A body that its route reads. Once: as chunks or whole. */
export type Upload = {
  /** One of the route's media types. */
  readonly type: string
  /** In bytes, where it was declared. */
  readonly length: number | undefined
  /**
   * The body as it arrives, for what need not be held in memory.
   * Each chunk is whole until the next one is asked for, and gone then.
   * @param bytesMax where it may not be as long as the route's may
   * @throws AppError TOO_LARGE at the chunk that is too much, TIMEOUT when it comes too slowly, or INVALID when it breaks off
   */
  chunks(bytesMax?: number): AsyncGenerator<Uint8Array>
  /**
   * The whole body.
   * @throws AppError as `chunks` does; TIMEOUT too when the room was needed for others
   */
  bytes(): Promise<Uint8Array>
  /**
   * The whole body in pieces, as they came: for large ones, which are costly to copy.
   * @throws AppError as `bytes` does
   */
  pieces(): Promise<Uint8Array[]>
}

/** As fast as JSON must come: a megabyte within 20 seconds, or the end. */
export const uploadPace: Pace = { withinMs: 20_000, everyBytes: 1024 * 1024 }

/** What uploads share. */
export type Uploading = {
  /** Holds what has arrived of those that are read whole. */
  readonly room: BodyRoom
  readonly senderOf: (request: Request) => string
  readonly pace: Pace
  /** While its body is read, the connection stays open for as long as the pace allows: Bun's own time-out counts what arrives as silence. */
  readonly reads: (request: Request, isReading: boolean) => void
}

/**
 * `{ upload: { types: ['text/csv'], bytesMax } }` makes the body of a route a file, which the handler gets as `upload`. Nothing of
 * it is read before. Other media types are answered 415, once the caller is known.
 */
export const uploads = ({ uploading }: { uploading: Uploading }) =>
  new Elysia({ name: 'http.uploads' }).macro({
    upload: (rule: UploadRule) => ({
      detail: { 'x-upload': rule } as object,
      // Typed by what every route has: with its own parameters in it, Elysia would forget what other macros add.
      resolve: (context: { request: Request }) => {
        const { params = {} } = context as { params?: Readonly<Record<string, string>> }
        return { upload: readUpload(context.request, { ...rule, types: rule.typesOf?.(params) ?? rule.types }, uploading) }
      },
    }),
  })

/**
 * The body of a request as a file; nothing is read yet.
 * @throws AppError UNSUPPORTED_MEDIA; INVALID for a part of one
 */
export function readUpload(
  request: Request,
  { types, bytesMax: bytesMost, anyType }: UploadRule,
  { room, senderOf, pace, reads }: Uploading,
): Upload {
  assertWhole(request)
  const type = mediaTypeOf(request)
  if (!anyType && !types.includes(type)) throw new AppError('UNSUPPORTED_MEDIA', `Send the file as ${types.join(' or ')}`)
  /** Reads the body whole. */
  async function whole<Body>(read: (request: Request, bytesMax: number, reading: Reading) => Promise<Body>): Promise<Body> {
    reads(request, true)
    try {
      return await read(request, bytesMost, { ...pace, room, senderOf })
    } finally {
      reads(request, false)
    }
  }
  const declared = request.headers.get('content-length')
  return {
    type,
    length: declared === null ? undefined : Number(declared),
    async *chunks(bytesMax = bytesMost) {
      reads(request, true)
      try {
        for await (const chunk of readChunks(request, bytesMax, pace)) {
          yield chunk
          release(chunk)
        }
      } finally {
        reads(request, false)
      }
    },
    bytes: () => whole(readBody),
    pieces: () => whole(readPieces),
  }
}
