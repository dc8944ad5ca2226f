import { fieldError } from './errors.ts'

/** The value of `If-Match`: any version, or one of these tags. */
export type ExpectedVersion = '*' | readonly string[]

/** Returns the strong ETag of a version. Management writes increase the version; sales and stock changes do not. */
export const etagOfVersion = (version: number): string => `"v${version}"`

const preconditionFailedError = () => fieldError('PRECONDITION_FAILED', 'if-match', 'the record has changed: read it again')

/**
 * Checks the version that a request expects. Call it inside the write, after the 404 check and before other refusals.
 * @throws AppError PRECONDITION_FAILED
 */
export function assertVersion(expected: ExpectedVersion | undefined, version: number): void {
  if (expected === undefined || expected === '*' || expected.includes(etagOfVersion(version))) return
  throw preconditionFailedError()
}

/**
 * Returns the row of a versioned update.
 * @throws AppError PRECONDITION_FAILED without a row: another request changed the record meanwhile
 */
export function assertNotStale<Row>(row: Row | undefined): Row {
  if (row === undefined) throw preconditionFailedError()
  return row
}
