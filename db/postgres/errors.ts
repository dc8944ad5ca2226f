/** Classifies errors of the driver and of the server. */
import pg from 'pg'
import { DatabaseFull, DatabaseOutcomeUnknown, DatabaseUnavailable, engineErrorCode, NothingChanged } from '../engine.ts'

const diskFull = '53100'
/** division_by_zero: raised only by statements that must change a row (`prepareSure`). */
const nothingChanged = '22012'
/**
 * The server is unreachable, starting, stopping or out of connections; or a timeout of a statement, lock or transaction
 * expired.
 */
const unavailableCodes = /^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|08|53|57P0|57014|55P03|25P03|25P04)/
/** Messages of lost connections, for which the driver has no code. */
const unavailableMessages = /^(Connection terminated|Client has encountered a connection error|timeout e|Query read timeout)/
/** serialization_failure and deadlock_detected: the transaction had no effect, so the write runs again. */
const retryableCodes = new Set(['40001', '40P01'])

/** Returns whether an error means that the server is in recovery, so that another one accepts writes. */
export const takesNoWrites = ({ code, message }: { readonly code?: string | undefined; readonly message: string }): boolean =>
  code === '25006' || (code === '0A000' && /hot standby|during recovery/.test(message))

/** Returns whether the server cannot serve now: unreachable, in recovery, out of connections, or too slow. */
export function isUnavailable(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof pg.DatabaseError && takesNoWrites(cause)) return true
  const code = engineErrorCode(error)
  if (code !== undefined) return unavailableCodes.test(code)
  return cause instanceof Error && unavailableMessages.test(cause.message)
}

/** Returns whether the write certainly had no effect and may succeed if it runs again. */
export const isRetryable = (error: unknown): boolean => retryableCodes.has(engineErrorCode(error) ?? '')

/** Returns the error for the caller. The write had no effect unless it is `DatabaseOutcomeUnknown`. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof DatabaseOutcomeUnknown) return error
  if (engineErrorCode(error) === nothingChanged) return new NothingChanged('a row is not as it was known', { cause: error })
  if (engineErrorCode(error) === diskFull) return new DatabaseFull('the disk of the database server is full', { cause: error })
  return isUnavailable(error) ? new DatabaseUnavailable('the database server does not answer, or not in time', { cause: error }) : error
}

/**
 * Returns whether the transaction certainly had no effect: the server reported an error other than a closed connection,
 * or the driver never sent the query.
 */
export function isCertainRollback(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !/^(08|57P|58|XX)/.test(error.code ?? 'XX')
  return error instanceof Error && /^Client (has encountered a connection error|was closed)/.test(error.message)
}
