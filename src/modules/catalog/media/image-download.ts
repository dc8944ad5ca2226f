/** Pictures of other people's servers, taken as if their shop had handed them in. */
import { AppError } from '../../../core/errors.ts'
import { OutgoingError, type SafeAnswer } from '../../../core/outgoing.ts'
import { digestOf } from '../../../lib/digest.ts'
import { pathOf, uploadBytesMax } from './domain.ts'
import type { MediaDeps } from './providers.ts'
import { takePicture } from './service.ts'

const timeoutMs = 30_000
const triesMax = 3
const retryAfterMs = 500
/** What may be another answer a moment later. */
const passing = new Set(['timeout', 'connection failed'])
const isPassing = ({ status }: SafeAnswer) => status === 429 || status >= 500

/** Why there is none, in words for whoever reads the report; nothing of what the other side said. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched'
}

async function fetched({ safeFetch, sleep }: Pick<MediaDeps, 'safeFetch' | 'sleep'>, url: string): Promise<Uint8Array> {
  for (let tries = 1; ; tries++) {
    const answer = await safeFetch(url, { timeoutMs, bytesMax: uploadBytesMax }).catch((error: unknown) => {
      if (!(error instanceof OutgoingError)) throw error
      return error
    })
    const again = answer instanceof OutgoingError ? passing.has(answer.kind) : isPassing(answer)
    if (!(answer instanceof OutgoingError) && answer.status === 200) return answer.bytes
    if (!again || tries === triesMax) throw new NotFetched(answer instanceof OutgoingError ? answer.message : `answered ${answer.status}`)
    await sleep(retryAfterMs * 2 ** tries)
  }
}

/**
 * The picture of an address, as a product refers to it: the one that was fetched from there before, else what is there now.
 * @returns its reference, and whether it was fetched now
 * @throws NotFetched, which says why
 */
export async function fetchPicture(
  deps: MediaDeps,
  by: Parameters<typeof takePicture>[1],
  url: string,
): Promise<{ readonly url: string; readonly isNew: boolean }> {
  const address = digestOf(url)
  const known = await deps.mediaStore.fetchedFrom(by.shop.id, address)
  if (known !== undefined) return { url: pathOf(known), isNew: false }
  const bytes = await fetched(deps, url)
  async function* chunks() {
    yield bytes
  }
  const { own } = await takePicture(deps, by, { length: bytes.length, chunks }).catch((error: unknown) => {
    throw error instanceof AppError ? new NotFetched(error.message) : error
  })
  await deps.db.write((tx) => deps.mediaStore.noteSource(tx, { shopId: by.shop.id, address, mediaId: own.id }))
  return { url: pathOf(own.hash), isNew: true }
}

/** Whether an image is on somebody else's server. */
export const isOutside = ({ url }: { readonly url: string }): boolean => /^https?:/i.test(url)
