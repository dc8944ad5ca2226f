import { saveBlob } from '../api/download.ts'
import { toCsv } from './csv-text.ts'

/** Saves rows as a CSV file. */
export const saveCsv = (name: string, head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): void =>
  saveBlob(new Blob([toCsv(head, rows)], { type: 'text/csv;charset=utf-8' }), name)
