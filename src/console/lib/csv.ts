/** What a page shows as CSV, where the API has none of it. */
import { csvLine } from '../../lib/csv-line.ts'
import { save } from './download.ts'

/** @param rows figures as numbers, not as they are shown: whoever takes them along goes on reckoning with them */
export const csvOf = (head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  [head, ...rows].map(csvLine).join('')

/** Hands it to the browser to keep. */
export const saveCsv = (name: string, head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): void =>
  save(new Blob([csvOf(head, rows)], { type: 'text/csv;charset=utf-8' }), name)
