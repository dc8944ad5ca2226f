import { AppError } from './errors.ts'

/** What of a record's version is said by who changes it (`If-Match`): that there is one, or that it is one of these tags. */
export type Expected = '*' | readonly string[]

/** The strong `ETag` of a record, which is that of its version: management writes raise it, sales and stock do not. */
export const etagOfVersion = (version: number): string => `"v${version}"`

const stale = () => new AppError('PRECONDITION_FAILED', 'if-match (header): the record has changed; read it again')

/**
 * Asked inside the write, once the record is known to be there and before anything else is refused.
 * @throws AppError PRECONDITION_FAILED
 */
export function assertExpected(expected: Expected | undefined, version: number): void {
  if (expected === undefined || expected === '*' || expected.includes(etagOfVersion(version))) return
  throw stale()
}

/**
 * What a write changed, where it was to change a version that it had read.
 * @throws AppError PRECONDITION_FAILED when somebody else changed it in between
 */
export function unlessStale<Row>(row: Row | undefined): Row {
  if (row === undefined) throw stale()
  return row
}
