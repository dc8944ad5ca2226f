/** souk refused, or could not. `message` is souk's, in English, and names the field that is wrong. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    /** Of the answer; 0 where there was none at all. */
    readonly status: number,
    message: string,
    /** A word that stands for the cause, such as `TOTP_REQUIRED`. */
    readonly code: string | undefined,
    /** By this whoever runs souk finds what happened in its log. */
    readonly requestId: string | null,
    /** After so many seconds the same may be asked again. */
    readonly retryAfter: number | null,
  ) {
    super(message)
  }
}

/**
 * What an answer that is no success says. Whoever stands between may answer something else than JSON: that it had none from souk in time is none.
 * @param isChange of what was to change something
 */
export async function readApiError(answer: Response, isChange = false): Promise<ApiError> {
  const said = (await answer.json().catch(() => ({}))) as { message?: unknown; error?: unknown }
  if (answer.status >= 502 && answer.status <= 504 && typeof said.message !== 'string') return noResponseError(isChange)
  const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(
    answer.status,
    typeof said.message === 'string' ? said.message : answer.statusText || String(answer.status),
    typeof said.error === 'string' ? said.error : undefined,
    answer.headers.get('x-request-id'),
    Number.isFinite(retryAfter) ? retryAfter : null,
  )
}

/**
 * There was no answer: the server is away, the network is, or it took too long.
 * @param isChange of what was to change something nobody knows whether it did
 */
export const noResponseError = (isChange = false) => new ApiError(0, '', isChange ? 'OUTCOME_UNKNOWN' : undefined, null, null)

/** For so long an answer is waited for, in milliseconds: souk answers within 28 seconds. */
export const responseTimeoutMs = 40_000
