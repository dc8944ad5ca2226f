type AnswerOptions = { retryAfterSeconds?: number; word?: string; allow?: readonly string[]; answerCode?: string }

/**
 * An error with a public message that names what to fix and never repeats input. `http/errors.ts` turns it into a
 * response.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Replaces the status text in the `error` field of the response. */
  readonly word: string | undefined
  /** Allowed methods of the path; sent as `Allow`. */
  readonly allow: readonly string[] | undefined
  /** The `code` field of the response: a stable word for programs. */
  readonly answerCode: string | undefined
  constructor(
    readonly code: ErrorCode,
    publicMessage: string,
    { retryAfterSeconds, word, allow, answerCode, ...options }: ErrorOptions & AnswerOptions = {},
  ) {
    super(publicMessage, options)
    this.retryAfterSeconds = retryAfterSeconds
    this.word = word
    this.allow = allow
    this.answerCode = answerCode
  }
}

/** An error that stops a command or a start. The message tells the operator what to do, and contains no secret. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

export const statusOf = {
  INVALID: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TIMEOUT: 408,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA: 415,
  INCOMPLETE: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof statusOf
