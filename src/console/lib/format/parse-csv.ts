/** Reads small CSV files that a person chooses. The server reads imports with its own reader (core/csv-records.ts). */

const delimiters = [',', ';', '\t'] as const

/** Returns the records of a CSV file. Cells are separated by commas, semicolons or tabs; blank lines are skipped. */
export function parseCsv(file: string): string[][] {
  const text = file.replace(/^\uFEFF/, '')
  const [first = ''] = text.split(/\r?\n/, 1)
  const count = (delimiter: string) => first.split(delimiter).length
  const delimiter = delimiters.reduce((best, one) => (count(one) > count(best) ? one : best))
  const records: string[][] = []
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  const endCell = () => {
    cells.push(cell)
    cell = ''
  }
  const endRecord = () => {
    endCell()
    if (cells.some((one) => one.trim() !== '')) records.push(cells)
    cells = []
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') {
        cell += '"'
        at++
      } else isQuoted = false
    } else if (character === '"' && cell === '') isQuoted = true
    else if (character === delimiter) endCell()
    else if (character === '\n') endRecord()
    else if (character !== '\r') cell += character
  }
  endRecord()
  return records
}
