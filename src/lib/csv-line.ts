/**
 * A line of CSV (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe; null is empty.
 */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(cellOf).join(',')}\r\n`

function cellOf(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
