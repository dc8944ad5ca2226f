/** Errors as platforms of agents get them: over REST, and as JSON-RPC errors over MCP. */
import type { AppError } from '../core/errors.ts'
import { UcpError } from '../lib/ucp/errors.ts'
import { jsonType } from './public-response.ts'
import type { StatedRoute } from './route-table.ts'

/** The work of a concurrent request is usually done by then. */
const conflictRetrySeconds = 1

/** Converts an error to one of the protocol's table. */
export function asUcpError(error: AppError | UcpError): UcpError {
  if (error instanceof UcpError) return error
  const { kind, code, message, retryAfterSeconds } = error
  if (kind === 'TOO_LARGE') return new UcpError('request_too_large', message)
  if (kind === 'RATE_LIMITED') return new UcpError('rate_limited', message, { retryAfterSeconds })
  if (code === 'idempotency_in_progress') return keyInFlight(retryAfterSeconds)
  if (kind === 'CONFLICT')
    return new UcpError('unavailable', 'Another request is changing this record. Send the request again.', {
      retryAfterSeconds: retryAfterSeconds ?? conflictRetrySeconds,
    })
  if (kind === 'UNAVAILABLE' || kind === 'INTERNAL')
    return new UcpError('unavailable', message, { retryAfterSeconds: retryAfterSeconds ?? conflictRetrySeconds })
  return new UcpError('invalid_request', message)
}

/** Returns the error of an idempotency key whose first request is still in flight. */
export const keyInFlight = (retryAfterSeconds: number = conflictRetrySeconds): UcpError =>
  new UcpError('idempotency_conflict', 'A request with this idempotency key is still being processed.', { retryAfterSeconds })

export const platformHeaders = { 'content-type': jsonType, 'cache-control': 'no-store' }
const retryHeader = ({ retryAfterSeconds }: UcpError): Record<string, string> =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) }

/**
 * Creates the response of an error.
 * @param rpcId id of the JSON-RPC request, null if it is unknown; undefined over REST
 */
export function ucpErrorResponse(error: UcpError, rpcId?: string | number | null): Response {
  const body =
    rpcId === undefined
      ? error.body()
      : { jsonrpc: '2.0', id: rpcId, error: { code: error.rpcCode, message: error.message, data: error.body() } }
  return new Response(JSON.stringify(body), { status: error.status, headers: { ...platformHeaders, ...retryHeader(error) } })
}

/** Returns whether errors of a route are those of the protocol. */
export const isForPlatforms = (route: StatedRoute | undefined): route is StatedRoute =>
  route?.access === 'platform' && (route.isOn?.() ?? true)

/** Creates the response of an error that stopped a request before it reached its route. */
export const platformRefusal = (error: AppError, { path }: StatedRoute): Response =>
  ucpErrorResponse(asUcpError(error), path.endsWith('/mcp') ? null : undefined)
