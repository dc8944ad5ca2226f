/** A cell value. A `Decimal` is a number of this program, so its minus sign does not start a formula. */
export type Cell = string | number | Decimal | null
type Decimal = { readonly decimal: string }

/** Formats a CSV line (RFC 4180); null is an empty cell. Text that a spreadsheet could run as a formula is escaped. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellOf).join(',')}\r\n`

function cellOf(value: Cell): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  if (typeof value === 'object') return value.decimal
  const text = escaped(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Characters that start a formula: the ASCII characters, their full-width and their small forms. */
const sign = '[=+\\-@＝＋－＠﹦﹢﹣﹫]'
/** Characters after which another program may start a cell. */
const separator = '[,;\\|\\t\\r\\n]'
/**
 * White space and quotes that spreadsheets ignore before a formula. A separator ends the run and starts the next match;
 * otherwise each line feed would be scanned to the end of the run, in quadratic time.
 */
const ignored = '[[\\s\'"]--[\\t\\r\\n]]*'

const formula = new RegExp(`^[\\s'"]*${sign}|${separator}${ignored}${sign}|^'*[\\t\\r]`, 'v')
const signInside = new RegExp(`(${separator}${ignored})(${sign})`, 'gv')
const escapedInside = new RegExp(`(${separator}${ignored})'(${sign})`, 'gv')

/**
 * Escapes a text that contains the start of a formula, at its start or after a separator, with apostrophes. Escaped
 * text is escaped again, so that `unescaped` is the exact inverse.
 */
const escaped = (text: string): string => (formula.test(text) ? `'${text.replace(signInside, "$1'$2")}` : text)

/** Returns the text that `csvLine` escaped. Other programs escape the start of a cell in the same way. */
export const unescaped = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell) ? cell.slice(1).replace(escapedInside, '$1$2') : cell
