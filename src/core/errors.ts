type AnswerOptions = { retryAfterSeconds?: number; word?: string; allow?: readonly string[]; answerCode?: string }

/**
 * What went wrong, in the caller's terms: the message is public and names what to fix, never what was sent. Thrown, never returned;
 * `http/errors.ts` answers it.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  /** Seconds after which trying again makes sense; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Stands in the answer's `error`, in the place of the status's name: what a program tells this refusal from others by. */
  readonly word: string | undefined
  /** The methods that the path takes; sent as `Allow`. */
  readonly allow: readonly string[] | undefined
  /** The body's `code`: a stable word by which a program tells this error from others. */
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

/** A command or the start cannot go on, and the message tells the operator what to do. It never holds a secret. */
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
