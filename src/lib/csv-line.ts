/**
 * A line of CSV (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe, and one that looks as if it had been given one
 * with another, so that `unescaped` gives back what there was, unless that began with a tab or a carriage return; null is empty.
 */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(cellOf).join(',')}\r\n`

function cellOf(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = formula.test(value) || /^[\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const formula = /^'*[=+\-@]/

/** A cell as it was before `csvLine` kept it from being a formula. Files of other programs write such cells alike. */
export const unescaped = (cell: string): string => (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell)
