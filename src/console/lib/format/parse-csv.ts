/** Reads small CSV files that a person chooses. The server reads imports with its own reader (core/csv-records.ts). */

const delimiters = [',', ';', '\t'] as const

/** Returns the records of a CSV file. Cells are separated by commas, semicolons or tabs; blank lines are skipped. */
export function parseCsv(file: string): string[][] {
  const text = file.replace(/^\uFEFF/, '')
  const [first = ''] = text.split(/\r?\n/, 1)
  const count = (delimiter: string) => first.split(delimiter).length
  const delimiter = delimiters.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best))
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
    if (cells.some((cell) => cell.trim() !== '')) records.push(cells)
    cells = []
  }
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? ''
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text[index + 1] === '"') {
        cell += '"'
        index++
      } else isQuoted = false
    } else if (character === '"' && cell === '') isQuoted = true
    else if (character === delimiter) endCell()
    else if (character === '\n') endRecord()
    else if (character !== '\r') cell += character
  }
  endRecord()
  return records
}
