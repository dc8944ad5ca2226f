import { ValueErrorType } from '@sinclair/typebox/errors'
import { Elysia, InvertedStatusMap, ValidationError } from 'elysia'
import { DatabaseFull, DatabaseOutcomeUnknown, DatabaseUnavailable } from '../../db/engine.ts'
import { AppError, statusOf } from '../core/errors.ts'
import { outcome } from '../core/request-context.ts'
import { isForBrowsers } from './access-rules.ts'
import type { HttpDeps } from './deps.ts'
import { browserHeaders, jsonType } from './public-cache.ts'
import { isOpenPath, noSuchRoute } from './route-table.ts'

const unavailableRetrySeconds = 5
/** What was accepted goes on as soon as it is sent again. */
const resumeRetrySeconds = 1
/** The specification has the older name of 422. */
const statusWords: Record<number, string> = { ...InvertedStatusMap, 422: 'Unprocessable Entity' }

/** The body of an error answer, in the shape of the specification. */
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
 * What went wrong, as the AppError that answers it. Nothing a library or a caller said is repeated, and nothing is said of what the
 * request has changed but what is so.
 */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  // A query wraps what the connection threw.
  if (error instanceof Error && (error.cause instanceof DatabaseUnavailable || error.cause instanceof DatabaseOutcomeUnknown))
    return asAppError(error.cause)
  if (error instanceof DatabaseFull) return unavailable('The disk is full')
  if (error instanceof DatabaseUnavailable) return unavailable('The database is busy')
  if (error instanceof DatabaseOutcomeUnknown) return unavailable('The database was lost at work', 'UNKNOWN')
  const { outcome: became, keyed } = outcome()
  const what = 'Something went wrong on our side'
  return new AppError('INTERNAL', keyed && became !== 'NOTHING' ? `${what}: ${sendAgain}` : what)
}

const sendAgain = 'send it again under the same Idempotency-Key'

/** That the request cannot be answered now, and what has become of what it asked for. */
function unavailable(why: string, became = outcome().outcome): AppError {
  const { keyed } = outcome()
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

/** That a request has taken as long as it may; what it has begun goes on, and is there for the next one under its key. */
export function overdue({ method }: Pick<Request, 'method'>): AppError {
  const { outcome: became } = outcome()
  const isRead = method === 'GET' || method === 'HEAD'
  // What is at work may yet come to something.
  return unavailable('The answer takes too long', isRead || became !== 'NOTHING' ? became : 'UNKNOWN')
}

const jsonHeaders = { 'content-type': jsonType, 'cache-control': 'no-store' }
/** Made once: an object of headers costs more than a copy of these, which each answer takes. */
const toNobodyElse = new Headers(jsonHeaders)
const toBrowsers = new Headers({ ...jsonHeaders, ...browserHeaders })

/**
 * The answer that says so, with `Retry-After` where trying again makes sense.
 * @param isOpen whether pages of any origin may read it
 */
export function answerTo(error: AppError, isOpen = false): Response {
  const answer = new Response(JSON.stringify(errorBody(error)), {
    status: statusOf[error.code],
    headers: isOpen ? toBrowsers : toNobodyElse,
  })
  if (error.retryAfterSeconds !== undefined) answer.headers.set('retry-after', String(Math.max(1, Math.ceil(error.retryAfterSeconds))))
  if (error.allow !== undefined) answer.headers.set('allow', error.allow.join(', '))
  // Somebody still sends, or never will: what is left of the body is not waited for.
  if (error.code === 'TIMEOUT' || error.code === 'TOO_LARGE') answer.headers.set('connection', 'close')
  return answer
}

/** The one place where a failure inside a route becomes an answer. */
export const errors = ({ log, routeTable }: Pick<HttpDeps, 'log' | 'routeTable'>) =>
  new Elysia({ name: 'http.errors' }).onError({ as: 'global' }, ({ code, error, route, request, set }) => {
    // Elysia takes the code of what was thrown for its own.
    const isUnmatched = code === 'NOT_FOUND' && !(error instanceof AppError)
    const known = isUnmatched ? noSuchRoute(routeTable, request) : translate(code, error)
    if (known.code === 'INTERNAL')
      log.error('request.failed', { route, method: request.method, requestId: request.headers.get('x-request-id'), error })
    // Elysia would put its own status and ours together in another answer, whose body is a stream: no refusal needs one.
    set.status = 200
    const stated = routeTable.get(request.method, route)
    return answerTo(known, stated ? isForBrowsers(stated.access) : isOpenPath(routeTable, request))
  })

function translate(code: unknown, error: unknown): AppError {
  if (error instanceof ValidationError && error.type === 'response') return asAppError(error)
  if (error instanceof ValidationError) return invalid(error)
  // What the body reader throws arrives wrapped.
  if (code === 'PARSE')
    return error instanceof Error && error.cause instanceof AppError ? error.cause : new AppError('INVALID', 'The body is not valid JSON')
  return asAppError(error)
}

const placeOf: Record<string, string> = { body: 'body', query: 'query', params: 'path', headers: 'header' }

/** Names the first field that breaks its rule, and the rule; never what was sent. */
function invalid(error: ValidationError): AppError {
  const place = placeOf[error.type] ?? 'request'
  const broken = error.valueError && brokenRule(error.valueError as Broken)
  const field = broken?.path.split('/').filter(Boolean).join('.')
  const rule = broken?.message
  return new AppError('INVALID', field ? `${field} (${place}): ${rule}` : `The ${place} does not have the form that this route takes`)
}

/** What of TypeBox's errors is told. A union's own message names none of its options: `errors` has those of each. */
type Broken = {
  readonly path: string
  readonly message: string
  readonly type: ValueErrorType
  readonly schema: { readonly rule?: string; readonly anyOf?: readonly { readonly const?: unknown; readonly type?: unknown }[] }
  readonly errors?: readonly { First(): Broken | undefined }[]
}

/** A message of TypeBox's about a text's form holds the regular expression: the schema's rule says it in words. */
const isOfForm = ({ type }: Broken) => type === ValueErrorType.StringPattern || type === ValueErrorType.StringFormat

/** Of a field that takes a few words, those; of one that may be null, the rule for what it is otherwise. */
function brokenRule(broken: Broken): { path: string; message: string } {
  const options = broken.schema.anyOf
  if (!options)
    return { path: broken.path, message: isOfForm(broken) ? `Expected ${broken.schema.rule ?? 'another form'}` : broken.message }
  const words = options.flatMap(({ const: word }) => (word === undefined ? [] : [String(word)]))
  if (words.length === options.length) return { path: broken.path, message: `Expected one of ${words.join(', ')}` }
  const others = options.flatMap(({ type }, at) => (type === 'null' ? [] : [broken.errors?.[at]?.First()]))
  return others.length === 1 && others[0] ? brokenRule(others[0]) : broken
}
