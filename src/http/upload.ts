import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import type { BodyBudget } from '../core/limits/body-budget.ts'
import { release } from '../lib/sealed-stream.ts'
import { type ArrivalLimit, assertCompleteBody, mediaTypeOf, type ReadOptions, readBody, readChunks, readPieces } from './body.ts'
import type { UploadRule } from './route-table.ts'

/** An upload that the route reads once, in chunks or whole. */
export type Upload = {
  /** One of the route's media types. */
  readonly type: string
  /** Declared length in bytes, if any. */
  readonly length: number | undefined
  /**
   * Reads the upload in chunks without holding it in memory. A chunk is valid until the next one is requested.
   * @param bytesMax if lower than the route's limit
   * @throws AppError TOO_LARGE, TIMEOUT, or INVALID when the connection breaks off
   */
  chunks(bytesMax?: number): AsyncGenerator<Uint8Array>
  /**
   * Reads the whole upload.
   * @throws AppError as `chunks`; TIMEOUT if the memory was needed for others
   */
  bytes(): Promise<Uint8Array>
  /**
   * Reads the whole upload in pieces, because copying large ones is expensive.
   * @throws AppError as `bytes`
   */
  pieces(): Promise<Uint8Array[]>
}

/** The minimum speed, as for JSON: 1 MB in 20 s. */
export const uploadPace: ArrivalLimit = { withinMs: 20_000, everyBytes: 1024 * 1024 }

/** Shared state of uploads. */
export type UploadOptions = {
  /** Memory of uploads that are read whole. */
  readonly budget: BodyBudget
  readonly senderOf: (request: Request) => string
  readonly arrivalLimit: ArrivalLimit
  /** Keeps the connection open while the body is read, because Bun's idle timeout ignores incoming bytes. */
  readonly reads: (request: Request, isReading: boolean) => void
}

/**
 * Adds `{ upload: { types: ['text/csv'], bytesMax } }`: the handler gets the body as `upload`. Other media types get
 * 415 after authentication.
 */
export const uploads = ({ uploading }: { uploading: UploadOptions }) =>
  new Elysia({ name: 'http.uploads' }).macro({
    upload: (rule: UploadRule) => ({
      detail: { 'x-upload': rule } as object,
      // With the route's own parameters in the type, Elysia would lose the additions of other macros.
      resolve: (context: { request: Request }) => {
        const { params = {} } = context as { params?: Readonly<Record<string, string>> }
        return { upload: readUpload(context.request, { ...rule, types: rule.typesOf?.(params) ?? rule.types }, uploading) }
      },
    }),
  })

/**
 * Returns the upload of a request; reads nothing yet.
 * @throws AppError UNSUPPORTED_MEDIA; INVALID for a partial body
 */
export function readUpload(
  request: Request,
  { types, bytesMax: bytesMost, anyType }: UploadRule,
  { budget, senderOf, arrivalLimit, reads }: UploadOptions,
): Upload {
  assertCompleteBody(request)
  const type = mediaTypeOf(request)
  if (!anyType && !types.includes(type)) throw new AppError('UNSUPPORTED_MEDIA', `Send the file as ${types.join(' or ')}`)
  async function countRead<Body>(read: (request: Request, bytesMax: number, reading: ReadOptions) => Promise<Body>): Promise<Body> {
    reads(request, true)
    try {
      return await read(request, bytesMost, { ...arrivalLimit, budget, senderOf })
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
        for await (const chunk of readChunks(request, bytesMax, arrivalLimit)) {
          yield chunk
          release(chunk)
        }
      } finally {
        reads(request, false)
      }
    },
    bytes: () => countRead(readBody),
    pieces: () => countRead(readPieces),
  }
}
