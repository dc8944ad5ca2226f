/** Tracking numbers of a CSV file: order number, tracking number and carrier. */
import { unescaped } from '../../../lib/csv-line.ts'
import { parseCsv } from '../../lib/format/parse-csv.ts'

export type TrackingRow = { readonly number: number; readonly trackingNumber: string; readonly carrier: string }
type TrackingProblem = 'number' | 'repeated' | 'tooLong'
export type TrackingFile = {
  readonly rows: readonly TrackingRow[]
  /** Records that are not sent, by their position in the file, from 1. */
  readonly problems: readonly { readonly record: number; readonly problem: TrackingProblem }[]
}

export const rowsMax = 1_000
const textMax = 100
/** Names of the columns, as letters only. Those of exports of souk and of Shopify, and of carriers. */
const columnNames = {
  number: ['number', 'order', 'ordernumber', 'orderno', 'name'],
  trackingNumber: ['trackingnumber', 'tracking', 'trackingno', 'trackingcode'],
  carrier: ['carrier', 'shippingcarrier', 'trackingcompany', 'courier'],
} as const

const parseOrderNumber = (text: string): number | undefined => {
  const [, digits] = /^#?0*([1-9]\d{0,8})$/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/**
 * Reads a file. Without a header, the columns are number, tracking number and carrier.
 * @returns undefined without a column of order numbers
 */
export function parseTracking(text: string): TrackingFile | undefined {
  const records = parseCsv(text).map((cells) => cells.map((cell) => unescaped(cell.trim())))
  const header = (records[0] ?? []).map((cell) => cell.toLowerCase().replace(/[^a-z]/g, ''))
  const columnOf = (names: readonly string[]) => header.findIndex((name) => names.includes(name))
  const headerColumns = {
    number: columnOf(columnNames.number),
    trackingNumber: columnOf(columnNames.trackingNumber),
    carrier: columnOf(columnNames.carrier),
  }
  const hasHeader = headerColumns.number >= 0
  if (!hasHeader && parseOrderNumber(records[0]?.[0] ?? '') === undefined) return undefined
  const columns = hasHeader ? headerColumns : { number: 0, trackingNumber: 1, carrier: 2 }
  const rows = new Map<number, TrackingRow>()
  const problems: { record: number; problem: TrackingProblem }[] = []
  records.forEach((cells, index) => {
    if (hasHeader && index === 0) return
    const number = parseOrderNumber(cells[columns.number] ?? '')
    const trackingNumber = cells[columns.trackingNumber] ?? ''
    const carrier = cells[columns.carrier] ?? ''
    if (number === undefined) problems.push({ record: index + 1, problem: 'number' })
    else if (rows.has(number)) problems.push({ record: index + 1, problem: 'repeated' })
    else if (trackingNumber.length > textMax || carrier.length > textMax) problems.push({ record: index + 1, problem: 'tooLong' })
    else rows.set(number, { number, trackingNumber, carrier })
  })
  return { rows: [...rows.values()], problems }
}
