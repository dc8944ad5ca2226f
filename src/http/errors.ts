import { ValueErrorType } from '@sinclair/typebox/errors'
import { Elysia, InvertedStatusMap, ValidationError } from 'elysia'
import { DatabaseFull, DatabaseOutcomeUnknown, DatabaseUnavailable } from '../../db/engine.ts'
import { AppError, statusOf } from '../core/errors.ts'
import { requestOutcome } from '../core/request-context.ts'
import { isForBrowsers } from './access-rules.ts'
import type { HttpDeps } from './deps.ts'
import { browserHeaders, jsonType } from './public-cache.ts'
import { isOpenPath, noSuchRoute } from './route-table.ts'

const unavailableRetrySeconds = 5
/** An accepted request continues as soon as the client repeats it. */
const resumeRetrySeconds = 1
/** The specification uses the older name of 422. */
const statusWords: Record<number, string> = { ...InvertedStatusMap, 422: 'Unprocessable Entity' }

/** Returns the body of an error response. */
export function errorBody({ code, message, word, answerCode }: AppError): {
  statusCode: number
  message: string
  error?: string
  code?: string
} {
  const statusCode = statusOf[code]
  const error = word ?? statusWords[statusCode]
  return { statusCode, message, ...(error === undefined ? {} : { error }), ...(answerCode === undefined ? {} : { code: answerCode }) }
}

/**
 * Converts any error to an AppError. Messages of libraries and input are never repeated, and the message states the
 * request's effect correctly.
 */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  // drizzle wraps errors of the connection.
  if (error instanceof Error && (error.cause instanceof DatabaseUnavailable || error.cause instanceof DatabaseOutcomeUnknown))
    return asAppError(error.cause)
  if (error instanceof DatabaseFull) return unavailable('The disk is full')
  if (error instanceof DatabaseUnavailable) return unavailable('The database is busy')
  if (error instanceof DatabaseOutcomeUnknown) return unavailable('The database was lost at work', 'UNKNOWN')
  const { outcome: became, keyed } = requestOutcome()
  const what = 'Something went wrong on our side'
  return new AppError('INTERNAL', keyed && became !== 'NOTHING' ? `${what}: ${sendAgain}` : what)
}

const sendAgain = 'send it again under the same Idempotency-Key'

/** Returns a 503 that states the effect of the request. */
function unavailable(why: string, became = requestOutcome().outcome): AppError {
  const { keyed } = requestOutcome()
  if (became === 'NOTHING')
    return new AppError('UNAVAILABLE', `${why}: nothing was changed, try again later`, { retryAfterSeconds: unavailableRetrySeconds })
  const what = {
    SOME: keyed
      ? `but the request was accepted: ${sendAgain}`
      : 'and a part of what was asked for was done: read first, then send it again',
    UNKNOWN: keyed ? `outcome unknown: ${sendAgain}, or read first` : 'outcome unknown: read first, then send it again',
  }[became]
  return new AppError('UNAVAILABLE', `${why}, ${what}`, { retryAfterSeconds: resumeRetrySeconds })
}

/**
 * Returns the error of a request that exceeds its time limit. Its work continues, and a retry with the same key finds
 * the result.
 */
export function deadlineExceeded({ method }: Pick<Request, 'method'>): AppError {
  const { outcome: became } = requestOutcome()
  const isRead = method === 'GET' || method === 'HEAD'
  // A running write may still commit.
  return unavailable('The answer takes too long', isRead || became !== 'NOTHING' ? became : 'UNKNOWN')
}

const jsonHeaders = { 'content-type': jsonType, 'cache-control': 'no-store' }
/** Created once: copying a Headers object is cheaper than creating one from a record. */
const toNobodyElse = new Headers(jsonHeaders)
const toBrowsers = new Headers({ ...jsonHeaders, ...browserHeaders })

/**
 * Creates an error response, with `Retry-After` if a retry makes sense.
 * @param isOpen whether pages of any origin may read it
 */
export function errorResponse(error: AppError, isOpen = false): Response {
  const answer = new Response(JSON.stringify(errorBody(error)), {
    status: statusOf[error.code],
    headers: isOpen ? toBrowsers : toNobodyElse,
  })
  if (error.retryAfterSeconds !== undefined) answer.headers.set('retry-after', String(Math.max(1, Math.ceil(error.retryAfterSeconds))))
  if (error.allow !== undefined) answer.headers.set('allow', error.allow.join(', '))
  // The rest of the body is not read, so the connection is closed.
  if (error.code === 'TIMEOUT' || error.code === 'TOO_LARGE') answer.headers.set('connection', 'close')
  return answer
}

/** Converts errors of routes to responses. */
export const errors = ({ log, routeTable }: Pick<HttpDeps, 'log' | 'routeTable'>) =>
  new Elysia({ name: 'http.errors' }).onError({ as: 'global' }, ({ code, error, route, request, set }) => {
    // Elysia takes the `code` of an AppError for its own.
    const isUnmatched = code === 'NOT_FOUND' && !(error instanceof AppError)
    const known = isUnmatched ? noSuchRoute(routeTable, request) : translate(code, error)
    if (known.code === 'INTERNAL')
      log.error('request.failed', { route, method: request.method, requestId: request.headers.get('x-request-id'), error })
    // Elysia would merge its own status into another response, whose body is a stream.
    set.status = 200
    const stated = routeTable.get(request.method, route)
    return errorResponse(known, stated ? isForBrowsers(stated.access) : isOpenPath(routeTable, request))
  })

function translate(code: unknown, error: unknown): AppError {
  if (error instanceof ValidationError && error.type === 'response') return asAppError(error)
  if (error instanceof ValidationError) return invalid(error)
  // Errors of the body reader arrive wrapped.
  if (code === 'PARSE')
    return error instanceof Error && error.cause instanceof AppError ? error.cause : new AppError('INVALID', 'The body is not valid JSON')
  return asAppError(error)
}

const placeOf: Record<string, string> = { body: 'body', query: 'query', params: 'path', headers: 'header' }

/** Names the first invalid field and its rule, but not the value. */
function invalid(error: ValidationError): AppError {
  const place = placeOf[error.type] ?? 'request'
  const broken = error.valueError && brokenRule(error.valueError as FieldError)
  const field = broken?.path.split('/').filter(Boolean).join('.')
  const rule = broken?.message
  return new AppError('INVALID', field ? `${field} (${place}): ${rule}` : `The ${place} does not have the form that this route takes`)
}

/** The used fields of TypeBox errors. A union's message names no options; `errors` has those of each. */
type FieldError = {
  readonly path: string
  readonly message: string
  readonly type: ValueErrorType
  readonly schema: { readonly rule?: string; readonly anyOf?: readonly { readonly const?: unknown; readonly type?: unknown }[] }
  readonly errors?: readonly { First(): FieldError | undefined }[]
}

/** TypeBox's message contains the regular expression; the schema's `rule` describes it in words. */
const isOfForm = ({ type }: FieldError) => type === ValueErrorType.StringPattern || type === ValueErrorType.StringFormat

/** Describes an enum by its values, and a nullable field by the rule of its other type. */
function brokenRule(broken: FieldError): { path: string; message: string } {
  const options = broken.schema.anyOf
  if (!options)
    return { path: broken.path, message: isOfForm(broken) ? `Expected ${broken.schema.rule ?? 'another form'}` : broken.message }
  const words = options.flatMap(({ const: word }) => (word === undefined ? [] : [String(word)]))
  if (words.length === options.length) return { path: broken.path, message: `Expected one of ${words.join(', ')}` }
  const others = options.flatMap(({ type }, at) => (type === 'null' ? [] : [broken.errors?.[at]?.First()]))
  return others.length === 1 && others[0] ? brokenRule(others[0]) : broken
}
