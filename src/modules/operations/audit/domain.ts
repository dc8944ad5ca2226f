import type { AuditValues, auditLog } from '../../../../db/schema/people.ts'
import { limitKeyOf, networkOf } from '../../../lib/networks.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { usdOf } from '../../../lib/usd.ts'

export type AuditRow = typeof auditLog.$inferSelect

export type AuditEntry = { action: string; subject: string }

/** The changed fields with their old and new values; null if the subject did not exist or no longer does. */
export type Difference = { readonly before: AuditValues | null; readonly after: AuditValues | null }

/**
 * Replaces personal values in the trail: names, addresses, e-mails, phones and notes. Only the change itself is
 * recorded.
 */
export const redacted = '[redacted]'
/** The difference of a changed password. */
export const passwordDifference: Difference = { before: { password: redacted }, after: { password: redacted } }
const tooLong = '[too long]'
/** The limit of one value as JSON, in characters. */
const valueLengthMax = 2_000
/** The limit of all values of a row. */
const lengthMax = 16_000

/** Fields of every record that the row shows in other ways, and versions, which change each time. */
const omittedFields = new Set(['id', 'shopId', 'createdAt', 'updatedAt', 'version', 'taxRatesVersion', 'shippingMethodsVersion'])

/**
 * Computes the difference for the audit trail. Fields that are not in `open` are redacted, so that new fields are safe
 * by default.
 * @param before undefined if the record was created
 * @param after undefined if it was removed
 * @param open the fields whose values may be stored: no personal data, no secrets
 */
export function differenceOf<Fields extends object>(
  before: Readonly<Fields> | undefined,
  after: Readonly<Fields> | undefined,
  open: readonly (keyof Fields & string)[],
): Difference {
  const openFields = new Set<string>(open)
  const [beforeValues, afterValues] = [(before ?? {}) as AuditValues, (after ?? {}) as AuditValues]
  const names = Object.keys({ ...beforeValues, ...afterValues }).filter(
    (name) => !omittedFields.has(name) && !isSame(beforeValues[name], afterValues[name]),
  )
  const valuesOf = (record: AuditValues) =>
    Object.fromEntries(
      names
        // A created or removed record shows only the fields that it has.
        .filter((name) => (before && after) || !isAbsent(record[name]))
        .map((name) => [name, isAbsent(record[name]) ? null : openFields.has(name) ? record[name] : redacted]),
    )
  if (before && after && names.length === 0) return { before: null, after: null }
  return { before: before ? valuesOf(beforeValues) : null, after: after ? valuesOf(afterValues) : null }
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null
const isSame = (a: unknown, b: unknown): boolean => (isAbsent(a) && isAbsent(b)) || JSON.stringify(a) === JSON.stringify(b)

/** Limits the length of values, so that a row is bounded. */
export function limitLength(values: AuditValues | null | undefined): AuditValues | null {
  if (!values) return null
  const lengths = Object.entries(values).map(([name, value]) => ({ name, value, length: JSON.stringify(value ?? null).length }))
  const isTooLong = lengths.reduce((sum, { length }) => sum + length, 0) > lengthMax
  return Object.fromEntries(
    lengths.map(({ name, value, length }) => [name, isTooLong || length > valueLengthMax ? tooLong : (value ?? null)]),
  )
}

/** The order of fields in responses and exports. */
export const auditColumns = ['id', 'at', 'actor', 'action', 'subject', 'shopId', 'address', 'requestId', 'before', 'after'] as const

/** Formats values like the rest of the API: times as ISO 8601 and dollars with decimals, by the name of the field. */
const formatValues = (values: AuditValues | null): AuditValues | null =>
  values &&
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Number.isSafeInteger(value) ? formatNumber(name, value as number) : value]),
  )

const formatNumber = (name: string, value: number): string | number =>
  /[a-z]At$/.test(name) ? new Date(value).toISOString() : /[a-z]Usd$/.test(name) ? usdOf(value) : value

/** Renders a row as the API and the export show it. */
export const auditView = ({ before, after, ...row }: AuditRow) =>
  pick({ ...row, ...isoTimes({ at: row.at }), before: formatValues(before), after: formatValues(after) }, ...auditColumns)
export type AuditView = ReturnType<typeof auditView>

/** Actions that anyone can cause without an account. Their rows are limited, so that they cannot fill the disk. */
export const anonymousActions = {
  failed: 'login.failed',
  limited: 'login.limited',
  limit: 'limit.hit',
  refused: 'operator.refused',
  suppressed: 'audit.suppressed',
} as const
export const anonymousActionNames: readonly string[] = Object.values(anonymousActions)
/**
 * Limits per hour, the narrowest first. The row that would exceed a limit is replaced by one that says so; the rest is
 * only logged.
 */
export const anonymousRowsPerHour = { address: 30, network: 100, instance: 300 } as const
type AnonymousRowCounts = Readonly<Record<keyof typeof anonymousRowsPerHour, number>>

/**
 * Counts rows per limit: of an address (IPv6 /64), of its network (/48, IPv4 /24), and of all.
 * @param counts rows by address, null if unknown
 */
export function countAnonymousRows(
  counts: readonly { address: string | null; rows: number }[],
  address: string | null,
): AnonymousRowCounts {
  const key = limitKeyOf(address ?? undefined)
  const network = networkOf(key)
  const sums = { address: 0, network: 0, instance: 0 }
  for (const count of counts) {
    const oneKey = limitKeyOf(count.address ?? undefined)
    sums.instance += count.rows
    if (networkOf(oneKey) === network) sums.network += count.rows
    if (oneKey === key) sums.address += count.rows
  }
  return sums
}

/** Records the failures of an account from an address when they double, up to the tenth. */
export const isRecordedFailure = (failures: number): boolean => [1, 2, 4, 8, 10].includes(failures)

/** How long the session events of customers are kept, since they are many. */
export const customerSessionDays = 90
export const sessionActions = ['session.started', 'session.ended', 'session.revoked', 'session.others_ended'] as const

/** How many rows a list counts and pages through. Older rows need a date range or the export. */
export const listedMax = 10_000
/** How many rows of the narrowest filter are scanned for the other filters. */
export const scannedMax = 2 * listedMax

/** A search term: a complete id or request id, or the prefix of an action. */
export type SearchTerm = { readonly term: string; readonly prefix: string | undefined }
/** Parses a search text: one that looks like the start of an action is also tried as a prefix. */
export const searchTermOf = (text: string): SearchTerm => ({ term: text, prefix: /^[a-z][a-z_.]*$/.test(text) ? text : undefined })
