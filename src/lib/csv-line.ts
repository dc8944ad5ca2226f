/** A value of a CSV cell. A decimal is a number that this program wrote itself, so that a minus sign in it starts no formula. */
export type Cell = string | number | Decimal | null
export type Decimal = { readonly decimal: string }

/** Formats a line of CSV (RFC 4180); null is an empty cell. Text that a spreadsheet could run as a formula is escaped, see `escaped`. */
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
 * White space and quotes that spreadsheets ignore before a formula. A separator ends the run and starts the next match. Without that, each
 * line feed of a run is scanned to the end of the run, which takes quadratic time.
 */
const ignored = '[[\\s\'"]--[\\t\\r\\n]]*'

const formula = new RegExp(`^[\\s'"]*${sign}|${separator}${ignored}${sign}|^'*[\\t\\r]`, 'v')
const signInside = new RegExp(`(${separator}${ignored})(${sign})`, 'gv')
const escapedInside = new RegExp(`(${separator}${ignored})'(${sign})`, 'gv')

/**
 * Escapes text that contains the start of a formula, at its start or after a separator: an apostrophe goes before the text and before each
 * such character after a separator. Text that looks escaped is escaped again, so that `unescaped` is the exact inverse.
 */
const escaped = (text: string): string => (formula.test(text) ? `'${text.replace(signInside, "$1'$2")}` : text)

/** Returns the text that `csvLine` escaped. Other programs escape the start of a cell in the same way. */
export const unescaped = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell) ? cell.slice(1).replace(escapedInside, '$1$2') : cell
