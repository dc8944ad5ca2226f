import type { ApiErrorCode } from './error-codes.ts'

type ErrorDetails = {
  retryAfterSeconds?: number
  word?: string
  allow?: readonly string[]
  code?: ApiErrorCode
  field?: string
  extra?: Readonly<Record<string, unknown>>
}

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
  readonly code: ApiErrorCode
  /** Path of the first invalid field or parameter. */
  readonly field: string | undefined
  /** Further fields of the response. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  constructor(
    readonly kind: ErrorKind,
    publicMessage: string,
    { retryAfterSeconds, word, allow, code, field, extra, ...options }: ErrorOptions & ErrorDetails = {},
  ) {
    super(publicMessage, options)
    this.retryAfterSeconds = retryAfterSeconds
    this.word = word
    this.allow = allow
    this.field = field
    this.extra = extra
    this.code = code ?? (kind === 'INVALID' && field !== undefined ? 'invalid_field' : codeOf[kind])
  }
}

/**
 * Creates an error about one field: the message is `field: rule`.
 * @param fields the path of the field, or several separated by `, `; the response names the first
 */
export const fieldError = (kind: ErrorKind, fields: string, rule: string, details: ErrorOptions & ErrorDetails = {}): AppError =>
  new AppError(kind, `${fields}: ${rule}`, { field: fields.split(', ')[0] ?? fields, ...details })

/** Creates the error of a field or parameter that breaks its rule. */
export const invalidField = (fields: string, rule: string, details: ErrorOptions & ErrorDetails = {}): AppError =>
  fieldError('INVALID', fields, rule, details)

/** Returns undefined for an error NOT_FOUND: `work.catch(undefinedIfNotFound)`. @throws every other error */
export const undefinedIfNotFound = (error: unknown): undefined => {
  if (!(error instanceof AppError && error.kind === 'NOT_FOUND')) throw error
}

/** An error that stops a command or a start. The message tells the operator what to do, and contains no secret. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/** The HTTP status of each kind of error. */
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

/** What kind of error it is, independent of HTTP. */
export type ErrorKind = keyof typeof statusOf

/** The code of an error that states none of its own. */
const codeOf: Readonly<Record<ErrorKind, ApiErrorCode>> = {
  INVALID: 'invalid_request',
  UNAUTHENTICATED: 'unauthenticated',
  FORBIDDEN: 'forbidden',
  NOT_FOUND: 'not_found',
  METHOD_NOT_ALLOWED: 'method_not_allowed',
  TIMEOUT: 'request_timeout',
  CONFLICT: 'conflict',
  PRECONDITION_FAILED: 'version_mismatch',
  TOO_LARGE: 'body_too_large',
  UNSUPPORTED_MEDIA: 'unsupported_media_type',
  INCOMPLETE: 'incomplete',
  RATE_LIMITED: 'rate_limited',
  INTERNAL: 'internal_error',
  UNAVAILABLE: 'unavailable',
}
