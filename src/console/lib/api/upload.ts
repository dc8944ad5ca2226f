/** Uploads a file with progress, which `fetch` cannot report. */

import { shop } from '../session/current-shop.ts'
import { accessToken, renew } from '../session/session.ts'
import { ApiError, noResponseError, responseTimeoutMs } from './api-error.ts'

type UploadOptions = {
  readonly method?: 'POST' | 'PUT'
  readonly type: string
  /** Called with the fraction of bytes sent, from 0 to 1. */
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** How long an upload may stall, in milliseconds. The total time is not limited. */
const stallMaxMs = 60_000

/**
 * Sends a raw body and returns the JSON response. Fails if the upload stalls for a minute.
 * @throws ApiError
 */
export async function upload<T>(path: string, body: Blob, options: UploadOptions): Promise<T> {
  const first = await sendBody<T>(path, body, options, await accessToken())
  if (!(first instanceof ApiError)) return first
  if (first.status !== 401) throw first
  await renew()
  const second = await sendBody<T>(path, body, options, await accessToken())
  if (second instanceof ApiError) throw second
  return second
}

function sendBody<T>(
  path: string,
  body: Blob,
  { method = 'POST', type, onProgress, signal, headers = {} }: UploadOptions,
  token: string,
): Promise<T | ApiError> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, path)
    request.setRequestHeader('content-type', type)
    request.setRequestHeader('authorization', `Bearer ${token}`)
    if (shop.value) request.setRequestHeader('x-shop-id', shop.value.id)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    let [sentBytes, hasStalled] = [-1, false]
    let stallTimer: ReturnType<typeof setTimeout> | undefined
    const restartStallTimer = () => {
      clearTimeout(stallTimer)
      stallTimer = setTimeout(() => {
        hasStalled = true
        request.abort()
      }, stallMaxMs)
    }
    request.upload.onprogress = ({ loaded, total }) => {
      if (loaded !== sentBytes) restartStallTimer()
      sentBytes = loaded
      onProgress?.(total === 0 ? 1 : loaded / total)
    }
    // From here on the response timeout counts.
    request.upload.onload = () => {
      clearTimeout(stallTimer)
      request.timeout = performance.now() - startedAt + responseTimeoutMs * 3
    }
    const startedAt = performance.now()
    request.onload = () => {
      const ok = request.status >= 200 && request.status < 300
      const response = parseJson(request.responseText)
      if (ok) return resolve(response as T)
      const { message, error } = (response ?? {}) as { message?: string; error?: string }
      // A proxy got no response from the server.
      if (request.status >= 502 && request.status <= 504 && message === undefined) return reject(noResponseError(true))
      const retryAfter = Number(request.getResponseHeader('retry-after') ?? Number.NaN)
      resolve(
        new ApiError(
          request.status,
          message ?? request.statusText,
          error,
          request.getResponseHeader('x-request-id'),
          Number.isFinite(retryAfter) ? retryAfter : null,
        ),
      )
    }
    request.onerror = () => reject(noResponseError(true))
    request.ontimeout = () => reject(noResponseError(true))
    request.onabort = () => reject(hasStalled ? noResponseError(true) : new DOMException('stopped', 'AbortError'))
    const stop = () => request.abort()
    // The upload can be stopped before its token arrived.
    if (signal?.aborted) return reject(new DOMException('stopped', 'AbortError'))
    signal?.addEventListener('abort', stop, { once: true })
    request.onloadend = () => {
      clearTimeout(stallTimer)
      signal?.removeEventListener('abort', stop)
    }
    restartStallTimer()
    request.send(body)
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
