import type { AuditValues, auditLog } from '../../../../db/schema/people.ts'
import { limitKeyOf, networkOf } from '../../../lib/networks.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { usdOf } from '../../../lib/usd.ts'

export type AuditRow = typeof auditLog.$inferSelect

/** What was done to what. */
export type AuditEntry = { action: string; subject: string }

/** What of a subject was so before and is so after; null where there was nothing, or is nothing any more. */
export type Difference = { readonly before: AuditValues | null; readonly after: AuditValues | null }

/** In the place of a value that is somebody's name, address, e-mail, phone or note, or may hold one: that it changed is told, and no more. */
export const redacted = '[redacted]'
/** Of an account whose password was changed. */
export const passwordDifference: Difference = { before: { password: redacted }, after: { password: redacted } }
const tooLong = '[too long]'
/** Of a value as JSON, in characters. */
const valueLengthMax = 2_000
/** Of all values together. */
const lengthMax = 16_000

/** They are in every record: the row says what and when, and whose it is. Versions go up with every change. */
const untold = new Set(['id', 'shopId', 'createdAt', 'updatedAt', 'version', 'taxRatesVersion', 'shippingMethodsVersion'])

/**
 * What of a record changed. Nothing that is not named in `open` is told by its value, so that a new field of somebody's is safe
 * until somebody says otherwise.
 * @param before undefined: it was made
 * @param after undefined: it was removed
 * @param open the fields whose values may be kept for as long as the trail is: nothing of a person, no secret
 */
export function differenceOf<Fields extends object>(
  before: Readonly<Fields> | undefined,
  after: Readonly<Fields> | undefined,
  open: readonly (keyof Fields & string)[],
): Difference {
  const told = new Set<string>(open)
  const [was, is] = [(before ?? {}) as AuditValues, (after ?? {}) as AuditValues]
  const names = Object.keys({ ...was, ...is }).filter((name) => !untold.has(name) && !isSame(was[name], is[name]))
  const valuesOf = (record: AuditValues) =>
    Object.fromEntries(
      names
        // Of what was made or removed, the fields that it has.
        .filter((name) => (before && after) || !isNothing(record[name]))
        .map((name) => [name, isNothing(record[name]) ? null : told.has(name) ? record[name] : redacted]),
    )
  if (before && after && names.length === 0) return { before: null, after: null }
  return { before: before ? valuesOf(was) : null, after: after ? valuesOf(is) : null }
}

const isNothing = (value: unknown): boolean => value === undefined || value === null
const isSame = (a: unknown, b: unknown): boolean => (isNothing(a) && isNothing(b)) || JSON.stringify(a) === JSON.stringify(b)

/** Values as they are stored: a row is bounded, whatever somebody changed. */
export function bounded(values: AuditValues | null | undefined): AuditValues | null {
  if (!values) return null
  const lengths = Object.entries(values).map(([name, value]) => ({ name, value, length: JSON.stringify(value ?? null).length }))
  const isTooLong = lengths.reduce((sum, { length }) => sum + length, 0) > lengthMax
  return Object.fromEntries(
    lengths.map(({ name, value, length }) => [name, isTooLong || length > valueLengthMax ? tooLong : (value ?? null)]),
  )
}

/** In the order in which a row is answered and exported. */
export const auditColumns = ['id', 'at', 'actor', 'action', 'subject', 'shopId', 'address', 'requestId', 'before', 'after'] as const

/** Times are kept in milliseconds and dollars in cents, and told as all of them are: those of a field whose name says that it is one. */
const told = (values: AuditValues | null): AuditValues | null =>
  values &&
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Number.isSafeInteger(value) ? toldAs(name, value as number) : value]),
  )

const toldAs = (name: string, value: number): string | number =>
  /[a-z]At$/.test(name) ? new Date(value).toISOString() : /[a-z]Usd$/.test(name) ? usdOf(value) : value

/** A row as it is answered and exported. */
export const auditView = ({ before, after, ...row }: AuditRow) =>
  pick({ ...row, ...isoTimes({ at: row.at }), before: told(before), after: told(after) }, ...auditColumns)
export type AuditView = ReturnType<typeof auditView>

const minuteMs = 60_000
export const hourMs = 60 * minuteMs

/** What anybody may cause a row of, without an account: these are bounded, so that nobody fills the disk with them. */
export const outsiders = {
  failed: 'login.failed',
  limited: 'login.limited',
  limit: 'limit.hit',
  refused: 'operator.refused',
  suppressed: 'audit.suppressed',
} as const
export const outsideActions: readonly string[] = Object.values(outsiders)
/** Of an hour, the narrowest first. The one that would be the first too many says so, and the rest is left to the log. */
export const outsideRowsPerHour = { address: 30, network: 100, instance: 300 } as const
export type OutsideRows = Readonly<Record<keyof typeof outsideRowsPerHour, number>>

/**
 * How many rows there are by what bounds them: of an address (an IPv6 /64), of its network (a /48, an IPv4 /24), and of all.
 * @param counts rows by the address that caused them, null where it is not known
 */
export function outsideRowsOf(counts: readonly { address: string | null; rows: number }[], address: string | null): OutsideRows {
  const key = limitKeyOf(address ?? undefined)
  const network = networkOf(key)
  const sums = { address: 0, network: 0, instance: 0 }
  for (const one of counts) {
    const oneKey = limitKeyOf(one.address ?? undefined)
    sums.instance += one.rows
    if (networkOf(oneKey) === network) sums.network += one.rows
    if (oneKey === key) sums.address += one.rows
  }
  return sums
}

/** Of the failures of an account from an address within a window: the first, and whenever they have doubled, up to the tenth, which is the last. */
export const isTold = (failures: number): boolean => [1, 2, 4, 8, 10].includes(failures)

/** Beginnings and ends of customers' sessions are kept for so many days: shoppers are many, and log in often. */
export const customersSessionsDays = 90
export const sessionActions = ['session.started', 'session.ended', 'session.revoked', 'session.others_ended'] as const

/** Of a list, the newest that are counted and reached by page; older ones by days, or by the export. */
export const listedMax = 10_000
/** Of several conditions that each hold for more rows than are counted: so many of the newest rows of one of them are looked at for the others. */
export const lookedAtMax = 2 * listedMax

/** What somebody looks for in the trail: an id or the id of a request, whole, or the beginning of the name of an action. */
export type Sought = { readonly whole: string; readonly beginning: string | undefined }
export const soughtOf = (text: string): Sought => ({ whole: text, beginning: /^[a-z][a-z_.]*$/.test(text) ? text : undefined })
