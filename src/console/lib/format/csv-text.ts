/** CSV of data that the API does not export. */
import { csvLine } from '../../../lib/csv-line.ts'

/** @param rows raw numbers, so that a spreadsheet can calculate with them */
export const toCsv = (header: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  [header, ...rows].map(csvLine).join('')
