/** Tables that the page has as files. What the API answers as CSV is taken from there. */
import { csvLine } from '../../lib/csv-line.ts'
import { save } from './download.ts'

/** Hands a table to the browser to keep; cells that a spreadsheet would take for a formula are escaped. */
export function saveCsv(name: string, header: readonly string[], rows: readonly (readonly (string | number | null | undefined)[])[]): void {
  const text = [header, ...rows].map((cells) => csvLine(cells.map((cell) => cell ?? ''))).join('')
  // Spreadsheets read UTF-8 only where the file says so.
  save(new Blob(['\ufeff', text], { type: 'text/csv;charset=utf-8' }), name)
}
