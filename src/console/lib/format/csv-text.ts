/** What a page shows as CSV, where the API has none of it. */
import { csvLine } from '../../../lib/csv-line.ts'

/** @param rows figures as numbers, not as they are shown: whoever takes them along goes on reckoning with them */
export const csvOf = (head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string =>
  [head, ...rows].map(csvLine).join('')
