/** Downloads pictures from other servers and stores them like uploads. */
import { AppError } from '../../../core/errors.ts'
import { OutgoingError, type SafeResponse } from '../../../core/outgoing.ts'
import { sha256 } from '../../../lib/seal.ts'
import { pathOf, uploadBytesMax } from './domain.ts'
import type { MediaDeps } from './providers.ts'
import { storePicture } from './service.ts'

const timeoutMs = 30_000
const triesMax = 3
const retryAfterMs = 500
/** Errors that a retry may resolve. */
const transientErrors = new Set(['timeout', 'connection failed'])
const isTransient = ({ status }: SafeResponse) => status === 429 || status >= 500

/** A download that failed, with a reason for the report. Contains nothing of the other server's response. */
export class PictureFetchError extends Error {
  override readonly name = 'PictureFetchError'
}

async function download({ safeFetch, sleep }: Pick<MediaDeps, 'safeFetch' | 'sleep'>, url: string): Promise<Uint8Array> {
  for (let tries = 1; ; tries++) {
    const answer = await safeFetch(url, { timeoutMs, bytesMax: uploadBytesMax }).catch((error: unknown) => {
      if (!(error instanceof OutgoingError)) throw error
      return error
    })
    const shouldRetry = answer instanceof OutgoingError ? transientErrors.has(answer.kind) : isTransient(answer)
    if (!(answer instanceof OutgoingError) && answer.status === 200) return answer.bytes
    if (!shouldRetry || tries === triesMax)
      throw new PictureFetchError(answer instanceof OutgoingError ? answer.message : `answered ${answer.status}`)
    await sleep(retryAfterMs * 2 ** tries)
  }
}

/**
 * Downloads the picture at a URL, or returns the one that was downloaded from it before.
 * @throws PictureFetchError with the reason
 */
export async function fetchPicture(
  deps: MediaDeps,
  by: Parameters<typeof storePicture>[1],
  url: string,
): Promise<{ readonly url: string; readonly isNew: boolean }> {
  const address = sha256(url)
  const existingHash = await deps.mediaStore.fetchedFrom(by.shop.id, address)
  if (existingHash !== undefined) return { url: pathOf(existingHash), isNew: false }
  const bytes = await download(deps, url)
  async function* chunks() {
    yield bytes
  }
  const { picture } = await storePicture(deps, by, { length: bytes.length, chunks }).catch((error: unknown) => {
    throw error instanceof AppError ? new PictureFetchError(error.message) : error
  })
  await deps.db.write((tx) => deps.mediaStore.recordSource(tx, { shopId: by.shop.id, address, mediaId: picture.id }))
  return { url: pathOf(picture.hash), isNew: true }
}

/** Returns whether an image is on another server. */
export const isExternal = ({ url }: { readonly url: string }): boolean => /^https?:/i.test(url)
