import { Elysia } from 'elysia'
import { AppError } from '../core/errors.ts'
import { mediaTypeOf, readBody, readChunks } from './body.ts'
import type { UploadRule } from './route-table.ts'

/** A body that its route reads. Once: as chunks or whole. */
export type Upload = {
  /** One of the route's media types. */
  readonly type: string
  /**
   * The body as it arrives, for what need not be held in memory.
   * @throws AppError TOO_LARGE at the chunk that is too much, TIMEOUT, or INVALID when it breaks off
   */
  chunks(): AsyncGenerator<Uint8Array>
  /**
   * The whole body.
   * @throws AppError as `chunks` does
   */
  bytes(): Promise<Uint8Array>
}

/** 20 MB at a megabit a second take nearly three minutes. */
const readMaxMs = 180_000

/**
 * `{ upload: { types: ['text/csv'], bytesMax } }` makes the body of a route a file, which the handler gets as `upload`. Nothing of
 * it is read before. Other media types are answered 415, once the caller is known.
 */
export const uploads = () =>
  new Elysia({ name: 'http.uploads' }).macro({
    upload: (rule: UploadRule) => ({
      detail: { 'x-upload': rule } as object,
      resolve: ({ request }: { request: Request }) => ({ upload: readUpload(request, rule) }),
    }),
  })

/**
 * The body of a request as a file; nothing is read yet.
 * @throws AppError UNSUPPORTED_MEDIA
 */
export function readUpload(request: Request, { types, bytesMax }: UploadRule): Upload {
  const type = mediaTypeOf(request)
  if (!types.includes(type)) throw new AppError('UNSUPPORTED_MEDIA', `Send the file as ${types.join(' or ')}`)
  const withinMs = readMaxMs
  return { type, chunks: () => readChunks(request, bytesMax, withinMs), bytes: () => readBody(request, bytesMax, { withinMs }) }
}
