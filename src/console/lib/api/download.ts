/** Downloads files that need a token, which a link cannot send. */
import { fetchAuthorized } from './api.ts'
import { ApiError, noResponseError, responseTimeoutMs } from './api-error.ts'
import { parseFileName } from './file-name.ts'

/**
 * Downloads a file and saves it. There is no limit on the total time; it fails if no data arrives for
 * `responseTimeoutMs`.
 * @param name file name if the server sends none
 * @throws ApiError
 */
export async function download(path: string, name: string, accept = '*/*'): Promise<void> {
  const silent = new AbortController()
  let silence: ReturnType<typeof setTimeout> | undefined
  const heard = () => {
    clearTimeout(silence)
    silence = setTimeout(() => silent.abort(), responseTimeoutMs)
  }
  heard()
  try {
    const answer = await fetchAuthorized(new Request(path, { headers: { accept }, credentials: 'omit', signal: silent.signal }), true)
    const watched = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(piece, controller) {
        heard()
        controller.enqueue(piece)
      },
    })
    saveBlob(
      await new Response(answer.body?.pipeThrough(watched) ?? '').blob(),
      parseFileName(answer.headers.get('content-disposition')) ?? name,
    )
  } catch (error) {
    throw error instanceof ApiError ? error : noResponseError()
  } finally {
    clearTimeout(silence)
  }
}

/** Saves bytes as a file of the browser. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
