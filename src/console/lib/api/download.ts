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
  const controller = new AbortController()
  let stallTimer: ReturnType<typeof setTimeout> | undefined
  const restartStallTimer = () => {
    clearTimeout(stallTimer)
    stallTimer = setTimeout(() => controller.abort(), responseTimeoutMs)
  }
  restartStallTimer()
  try {
    const response = await fetchAuthorized(new Request(path, { headers: { accept }, credentials: 'omit', signal: controller.signal }), true)
    const monitored = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        restartStallTimer()
        controller.enqueue(chunk)
      },
    })
    saveBlob(
      await new Response(response.body?.pipeThrough(monitored) ?? '').blob(),
      parseFileName(response.headers.get('content-disposition')) ?? name,
    )
  } catch (error) {
    throw error instanceof ApiError ? error : noResponseError()
  } finally {
    clearTimeout(stallTimer)
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
