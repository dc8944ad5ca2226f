/** Detects the CSV delimiter from the first bytes, and names files of other formats. */
import { AppError } from './errors.ts'

/** Bytes of a file that are examined. */
export const headMaxBytes = 4 * 1024
/** Bytes of the first chunk in which the delimiter is searched. */
const textMaxBytes = 64 * 1024

/** File signatures as Latin-1. */
const signatures: readonly (readonly [start: string, name: string])[] = [
  ['PK\x03\x04', 'a ZIP archive (.zip)'],
  ['PK\x05\x06', 'a ZIP archive (.zip)'],
  ['PK\x07\x08', 'a ZIP archive (.zip)'],
  ['\xd0\xcf\x11\xe0', 'an old Excel workbook (.xls)'],
  ['%PDF', 'a PDF document'],
  ['\x1f\x8b', 'a gzip archive (.gz)'],
  ['7z\xbc\xaf', 'a 7z archive'],
  ['Rar!', 'a RAR archive'],
  ['BZh', 'a bzip2 archive'],
  ['\xfd7zXZ', 'an xz archive'],
  ['\x28\xb5\x2f\xfd', 'a zstd archive'],
  ['{\\rtf', 'an RTF document'],
  ['\x89PNG', 'a PNG picture'],
  ['\xff\xd8\xff', 'a JPEG picture'],
  ['GIF8', 'a GIF picture'],
  ['SQLite format 3', 'an SQLite database'],
]
/** Member names that identify the kind of a ZIP archive. */
const zipMembers: readonly (readonly [name: string, kind: string])[] = [
  ['xl/', 'an Excel workbook (.xlsx)'],
  ['word/', 'a Word document (.docx)'],
  ['opendocument.spreadsheet', 'an OpenDocument spreadsheet (.ods)'],
  ['Index/', 'a Numbers spreadsheet'],
  ['[Content_Types].xml', 'an Office document such as an Excel workbook (.xlsx)'],
]

const notCsv = (name: string) => new AppError('INVALID', `The file is ${name}, not CSV: export or save it as CSV in UTF-8.`)

/** How the cells of a file are separated, and where they start. */
export type CsvFormat = {
  readonly delimiter: string
  /** Bytes before the header, such as the `sep=;` of Excel. */
  readonly skipBytes: number
}

/**
 * Detects the delimiter of a file's cells: comma, semicolon or tab.
 * @param head the first chunk of the file, at least `headMaxBytes` if the file has as many
 * @throws AppError INVALID that names the kind of a file that is not CSV
 */
export function csvFormatOf(head: Uint8Array): CsvFormat {
  refuseBinary(head)
  const text = new TextDecoder('utf-8').decode(head.subarray(0, textMaxBytes))
  const [prefix, delimiter] = /^"?sep=([,;\t])"?\r?\n/i.exec(text) ?? []
  if (delimiter !== undefined && prefix !== undefined) return { delimiter, skipBytes: prefix.length + (hasBom(head) ? 3 : 0) }
  refuseOtherText(text)
  refuseLoneReturns(text)
  return { delimiter: delimiterOf(text), skipBytes: 0 }
}

/** ASCII characters in UTF-16 without a byte order mark. */
const utf16Start = /^(?:\0[^\0]|[^\0]\0){2}/
/**
 * The reader reports NUL with its row. Text may contain tabs, line ends and form feeds; old editors add a final Ctrl-Z.
 */
const isControl = (byte: number): boolean => (byte > 0 && byte < 9) || (byte > 13 && byte < 32 && byte !== 26) || byte === 127

const hasBom = ([first, second, third]: Uint8Array) => first === 0xef && second === 0xbb && third === 0xbf

function refuseBinary(head: Uint8Array): void {
  const afterBom = hasBom(head) ? 3 : 0
  const start = String.fromCharCode(...head.subarray(afterBom, afterBom + 16))
  const found = signatures.find(([signature]) => start.startsWith(signature))
  if (found && start.startsWith('PK')) {
    const names = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
    throw notCsv(zipMembers.find(([name]) => names.includes(name))?.[1] ?? found[1])
  }
  if (found) throw notCsv(found[1])
  const isUtf16 = start.startsWith('\xff\xfe') || start.startsWith('\xfe\xff') || utf16Start.test(start)
  if (isUtf16) throw new AppError('INVALID', 'The file is encoded as UTF-16: save it as CSV in UTF-8.')
  if (head.subarray(0, 16).some(isControl)) throw notCsv('a binary file')
}

function refuseOtherText(text: string): void {
  const start = text.trimStart().slice(0, 4096)
  if (start.startsWith('<')) throw notCsv(/^<(\?xml|rss|feed|products|urlset)\b/i.test(start) && !/<html/i.test(start) ? 'XML' : 'HTML')
  if (/^[[{]\s*(["[{\]}]|$)/.test(start)) throw notCsv('JSON')
  if (isMarkdown(start)) throw notCsv('Markdown')
  if (isProse(start)) throw notCsv('a plain text document')
}

const markdownStart = /^(#{1,6}\s|```|~~~|>\s|[-*+]\s|\d{1,3}[.)]\s|\||!?\[[^\]]*\]\(|\*\*|[-=*_]{3,}\s*$)/
const wordCount = (text: string) => text.split(/\s+/).filter((word) => word !== '').length
/** Minimum words of a sentence. Column names are shorter. */
const sentenceWords = 10

function isMarkdown(text: string): boolean {
  const [first = '', second = ''] = text.split(/\r?\n/, 2)
  return markdownStart.test(first) || /^([=-])\1{2,}\s*$/.test(second)
}

/** Returns whether text is written for reading: its first line is a sentence or a heading. */
function isProse(text: string): boolean {
  const [first = '', second = '', ...others] = text.split(/\r?\n/)
  if (first.startsWith('"')) return false
  // A quote in the middle of a cell.
  if (/[\p{L}\p{N}] "\p{L}/u.test(first)) return true
  const cells = first.split(/[,;\t]/)
  if (cells.some((cell) => wordCount(cell) >= sentenceWords)) return true
  if (/[.!:…。]\s*$/.test(first) && wordCount(first) >= 3 * cells.length) return true
  // A heading with a blank line below it.
  return cells.length === 1 && wordCount(first) > 1 && second.trim() === '' && others.some((line) => line.trim() !== '')
}

/** Refuses line ends of old Macs: the whole file would be the header. Quoted cells may contain any line end. */
function refuseLoneReturns(text: string): void {
  const [header = ''] = text.replace(/"[^"]*"?/g, '').split('\n', 1)
  if (/\r[^\n]/.test(header))
    throw new AppError('INVALID', 'The lines end with a lone carriage return: save the file with LF or CRLF line ends.')
}

const delimiters = [',', ';', '\t'] as const
const recordsLookedAt = 50

/** Returns the delimiter with which most records have as many cells as the header; among equals, the most cells. */
function delimiterOf(text: string): string {
  let best = { delimiter: ',', fits: -1, cells: 1 }
  for (const delimiter of delimiters) {
    const [cells = 0, ...counts] = cellCounts(text, delimiter)
    const fits = counts.filter((count) => count === cells).length
    if (cells > 1 && (fits > best.fits || (fits === best.fits && cells > best.cells))) best = { delimiter, fits, cells }
  }
  return best.delimiter
}

/** Counts the cells of the first records. Skips blank records, and a truncated one unless it is the only one. */
function cellCounts(text: string, delimiter: string): number[] {
  const counts: number[] = []
  let cells = 1
  let isQuoted = false
  let start = 0
  let recordStart = 0
  for (let at = 0; at < text.length && counts.length < recordsLookedAt; at++) {
    const character = text[at]
    if (character === '"') {
      // A quote has a meaning at the start of a cell, and within a quoted one.
      if (isQuoted || at === start) isQuoted = !isQuoted
      else if (text[at - 1] === '"') isQuoted = true
    } else if (isQuoted) continue
    else if (character === delimiter) {
      cells++
      start = at + 1
    } else if (character === '\n') {
      if (text.slice(recordStart, at).trim() !== '') counts.push(cells)
      cells = 1
      start = at + 1
      recordStart = start
    }
  }
  return counts.length === 0 ? [cells] : counts
}
