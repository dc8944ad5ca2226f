/** A request that failed. `message` is the API's own, in English, and names the wrong field. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    /** HTTP status of the response; 0 if there was none. */
    readonly status: number,
    message: string,
    /** The `error` of the response, such as `TOTP_REQUIRED`. */
    readonly code: string | undefined,
    /** Id under which the server logged the request. */
    readonly requestId: string | null,
    /** Seconds until a retry is allowed. */
    readonly retryAfter: number | null,
    /** Path of the first invalid field of the request. */
    readonly field?: string,
    /** What the response says of a price that would change. */
    readonly difference?: unknown,
  ) {
    super(message)
  }
}

/**
 * Reads the error of a response. A proxy's 502, 503 or 504 without a JSON message counts as no response.
 * @param isChange whether the request was a write
 */
export async function readApiError(response: Response, isChange = false): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as {
    message?: unknown
    error?: unknown
    field?: unknown
    difference?: unknown
  }
  if (response.status >= 502 && response.status <= 504 && typeof body.message !== 'string') return noResponseError(isChange)
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(
    response.status,
    typeof body.message === 'string' ? body.message : response.statusText || String(response.status),
    typeof body.error === 'string' ? body.error : undefined,
    response.headers.get('x-request-id'),
    Number.isFinite(retryAfter) ? retryAfter : null,
    typeof body.field === 'string' ? body.field : undefined,
    body.difference,
  )
}

/**
 * Builds the error of a request without a response: the server or the network is down, or it timed out.
 * @param isChange whether the request was a write, whose outcome is then unknown
 */
export const noResponseError = (isChange = false) => new ApiError(0, '', isChange ? 'OUTCOME_UNKNOWN' : undefined, null, null)

/** Timeout of a request in milliseconds. The server answers within 28 seconds. */
export const responseTimeoutMs = 40_000
