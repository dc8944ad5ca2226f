import type { ValueError } from '@sinclair/typebox/errors'
import { Elysia, InvertedStatusMap, ValidationError } from 'elysia'
import { DatabaseFull, DatabaseOutcomeUnknown, DatabaseUnavailable } from '../../db/engine.ts'
import { AppError, statusOf } from '../core/errors.ts'
import { requestOutcome } from '../core/request-context.ts'
import { isForBrowsers } from './access-rules.ts'
import type { HttpDeps } from './deps.ts'
import { isForPlatforms, platformRefusal } from './platform-errors.ts'
import { browserHeaders, jsonType } from './public-response.ts'
import { isOpenPath, noSuchRoute } from './route-table.ts'
import { validationError } from './validation-message.ts'

const unavailableRetrySeconds = 5
/** An accepted request continues as soon as the client repeats it. */
const resumeRetrySeconds = 1
/** The specification uses the older name of 422. */
const statusWords: Record<number, string> = { ...InvertedStatusMap, 422: 'Unprocessable Entity' }

/** Returns the body of an error response. */
export function errorBody({ kind, message, word, code, field, extra }: AppError): {
  statusCode: number
  message: string
  error?: string
  code: string
  field?: string
} {
  const statusCode = statusOf[kind]
  const error = word ?? statusWords[statusCode]
  return { statusCode, message, ...(error === undefined ? {} : { error }), code, ...(field === undefined ? {} : { field }), ...extra }
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
  if (error instanceof DatabaseOutcomeUnknown) return unavailable('The connection to the database was lost', 'UNKNOWN')
  const { outcome, keyed } = requestOutcome()
  const what = 'Something went wrong on our side'
  return new AppError('INTERNAL', keyed && outcome !== 'NOTHING' ? `${what}: ${sendAgain}` : what)
}

const sendAgain = 'send it again under the same Idempotency-Key'

/** Returns a 503 that states the effect of the request. */
function unavailable(why: string, outcome = requestOutcome().outcome): AppError {
  const { keyed } = requestOutcome()
  if (outcome === 'NOTHING')
    return new AppError('UNAVAILABLE', `${why}: nothing was changed, try again later`, { retryAfterSeconds: unavailableRetrySeconds })
  const what = {
    SOME: keyed
      ? `but the request was accepted: ${sendAgain}`
      : 'and part of the request was done: read the record before you send it again',
    UNKNOWN: keyed
      ? `and the outcome is unknown: ${sendAgain}, or read the record first`
      : 'and the outcome is unknown: read the record before you send it again',
  }[outcome]
  return new AppError('UNAVAILABLE', `${why}, ${what}`, { retryAfterSeconds: resumeRetrySeconds })
}

/**
 * Returns the error of a request that exceeds its time limit. Its work continues, and a retry with the same key finds
 * the result.
 */
export function deadlineExceeded({ method }: Pick<Request, 'method'>): AppError {
  const { outcome } = requestOutcome()
  const isRead = method === 'GET' || method === 'HEAD'
  // A running write may still commit.
  return unavailable('The request took too long', isRead || outcome !== 'NOTHING' ? outcome : 'UNKNOWN')
}

const jsonHeaders = { 'content-type': jsonType, 'cache-control': 'no-store' }
/** Created once: copying a Headers object is cheaper than creating one from a record. */
const defaultHeaders = new Headers(jsonHeaders)
const browserReadableHeaders = new Headers({ ...jsonHeaders, ...browserHeaders })

/**
 * Creates an error response, with `Retry-After` if a retry makes sense.
 * @param isOpen whether pages of any origin may read it
 */
export function errorResponse(error: AppError, isOpen = false): Response {
  const answer = new Response(JSON.stringify(errorBody(error)), {
    status: statusOf[error.kind],
    headers: isOpen ? browserReadableHeaders : defaultHeaders,
  })
  if (error.retryAfterSeconds !== undefined) answer.headers.set('retry-after', String(Math.max(1, Math.ceil(error.retryAfterSeconds))))
  if (error.allow !== undefined) answer.headers.set('allow', error.allow.join(', '))
  // The rest of the body is not read, so the connection is closed.
  if (error.kind === 'TIMEOUT' || error.kind === 'TOO_LARGE') answer.headers.set('connection', 'close')
  return answer
}

/** Converts errors of routes to responses. */
export const errors = ({ log, routeTable }: Pick<HttpDeps, 'log' | 'routeTable'>) =>
  new Elysia({ name: 'http.errors' }).onError({ as: 'global' }, ({ code, error, route, request, set }) => {
    const isUnmatched = code === 'NOT_FOUND'
    const appError = isUnmatched ? noSuchRoute(routeTable, request) : translate(code, error)
    if (appError.kind === 'INTERNAL')
      log.error('request.failed', { route, method: request.method, requestId: request.headers.get('x-request-id'), error })
    // Elysia would merge its own status into another response, whose body is a stream.
    set.status = 200
    const stated = routeTable.get(request.method, route)
    // A shop that agents cannot see is as unknown to them as the path.
    if (isForPlatforms(stated) && appError.kind !== 'NOT_FOUND') return platformRefusal(appError, stated)
    return errorResponse(appError, stated ? isForBrowsers(stated.access) : isOpenPath(routeTable, request))
  })

function translate(code: unknown, error: unknown): AppError {
  if (error instanceof ValidationError && error.type === 'response') return asAppError(error)
  if (error instanceof ValidationError) return invalid(error)
  // Errors of the body reader arrive wrapped.
  if (code === 'PARSE')
    return error instanceof Error && error.cause instanceof AppError ? error.cause : new AppError('INVALID', 'The body is not valid JSON')
  return asAppError(error)
}

const partOf: Record<string, string> = { body: 'body', query: 'query', params: 'path', headers: 'headers' }

function invalid({ type, valueError }: ValidationError): AppError {
  if (valueError && (valueError as ValueError).path !== '') return validationError(valueError as ValueError)
  return new AppError('INVALID', `The ${partOf[type] ?? 'request'} does not have the form that this route requires`)
}
