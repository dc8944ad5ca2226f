/** Takes a file along that wants a token: links cannot send one. */
import { fetchAuthorized } from './api.ts'
import { ApiError, noResponseError, responseTimeoutMs } from './api-error.ts'
import { parseFileName } from './file-name.ts'

/**
 * Fetches a file and hands it to the browser to keep. However long it comes, only that nothing comes any more counts as broken off.
 * @param name what it is called where the server does not say
 * @throws Refused
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

/** Hands bytes that the page has to the browser to keep. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
