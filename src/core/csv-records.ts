import type { Parser } from 'csv-parse'
import { type CsvFormat, csvFormatOf, headMaxBytes } from './csv-format.ts'
import { AppError } from './errors.ts'

/** The bytes of a file. Each call starts from the beginning. */
export type CsvSource = () => AsyncIterable<Uint8Array>

/** Waits until other work has used the thread. */
export type YieldThread = () => Promise<unknown>
/** Yields for one turn of the event loop, which lets pending input and timers run. */
export const yieldThread: YieldThread = () => new Promise((resolve) => setImmediate(resolve))

/**
 * One record and its row number as spreadsheets count it: the first row of the file is row 1, and blank lines count.
 */
export type CsvRecord = { readonly row: number; readonly cells: readonly string[] }

/** An error or notice about a row; the header is row 1. Never repeats the content of a cell. */
export type RowNote = { readonly row: number; readonly handle?: string; readonly column?: string; readonly message: string }
/** A row that is not imported, and why. */
export type InvalidRow = { readonly error: RowNote }

const recordMaxBytes = 1024 * 1024
const sliceMaxBytes = 16 * 1024
const lineFeed = 10
const quote = 34

const invalid = (message: string) => new AppError('INVALID', message)

type ReadOptions = {
  readonly onProgress?: ((bytesRead: number) => void) | undefined
  readonly rest?: YieldThread | undefined
  readonly skipsBlankRows?: boolean
}

/**
 * Reads a file's records in small batches, in order, without keeping any. Cells are separated by commas, semicolons or
 * tabs. Blank lines are skipped.
 * @param skipsBlankRows also skips rows whose cells are all blank
 * @throws AppError INVALID, naming the kind of file that was sent instead, or the row where the file is not UTF-8 CSV
 */
export async function* readRecords(
  source: CsvSource,
  { onProgress, rest = yieldThread, skipsBlankRows = false }: ReadOptions = {},
): AsyncGenerator<CsvRecord[]> {
  const guard = new ByteGuard()
  const library = await import('csv-parse')
  let reader: RecordReader | undefined
  let bytesRead = 0
  const isWanted = ({ cells }: CsvRecord) => !skipsBlankRows || cells.some((cell) => cell.trim() !== '')
  try {
    for await (const chunk of afterHead(source())) {
      // The first chunk contains the head, which determines the format.
      const format: CsvFormat | undefined = reader ? undefined : csvFormatOf(chunk)
      reader ??= new RecordReader(library, format?.delimiter ?? ',')
      const skipBytes = format?.skipBytes ?? 0
      bytesRead += skipBytes
      for await (const slice of slicesOf(chunk.subarray(skipBytes), rest)) {
        guard.check(slice)
        await reader.write(slice)
        bytesRead += slice.length
        onProgress?.(bytesRead)
        yield reader.take().filter(isWanted)
      }
    }
    guard.finish()
    await reader?.end()
    yield reader?.take().filter(isWanted) ?? []
  } finally {
    reader?.close()
  }
}

/** Yields the same bytes with the head of the file in one chunk. */
async function* afterHead(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const head: Uint8Array[] = []
  let headBytes = 0
  for await (const chunk of chunks) {
    if (headBytes >= headMaxBytes) {
      yield chunk
      continue
    }
    // The source may reuse the buffer.
    head.push(chunk.slice())
    headBytes += chunk.length
    if (headBytes >= headMaxBytes) yield Buffer.concat(head)
  }
  if (headBytes > 0 && headBytes < headMaxBytes) yield Buffer.concat(head)
}

/** Splits large chunks, and yields the thread after each slice. */
async function* slicesOf(chunk: Uint8Array, rest: YieldThread): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < chunk.length; start += sliceMaxBytes) {
    yield chunk.subarray(start, start + sliceMaxBytes)
    await rest()
  }
}

/**
 * Drives csv-parse manually. `on_record` runs in file order and before an error is reported, so `row` is the faulty
 * row. Messages of csv-parse quote cells, so they are replaced.
 */
class RecordReader {
  private row = 1
  private records: CsvRecord[] = []
  private readonly parser: Parser

  /** @param library loaded with the first file, because most processes never need it */
  constructor(
    private readonly library: typeof import('csv-parse'),
    delimiter: string,
  ) {
    this.parser = library.parse({
      bom: true,
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      max_record_size: recordMaxBytes,
      on_record: (cells) => this.add(cells),
    })
    // The callbacks report the error. An `error` event without a listener would end the process.
    this.parser.on('error', () => undefined)
  }

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.parser.write(bytes, (error) => (error ? reject(this.explain(error)) : resolve()))
    })
  }

  end(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.parser.once('error', (error) => reject(this.explain(error)))
      this.parser.once('finish', resolve)
      this.parser.end()
    })
  }

  take(): CsvRecord[] {
    const completed = this.records
    this.records = []
    return completed
  }

  close(): void {
    this.parser.destroy()
  }

  /** Returns null, so that the record does not enter the stream's own queue, which applies back pressure. */
  private add(cells: string[]): null {
    if (cells.length > 1 || cells[0] !== '') this.records.push({ row: this.row, cells })
    this.row += 1
    return null
  }

  private explain(error: unknown): unknown {
    if (!(error instanceof this.library.CsvError)) return error
    const row = `Row ${this.row}`
    if (error.code === 'CSV_MAX_RECORD_SIZE') return invalid(`${row} is larger than 1 MB, or has a quote that is never closed.`)
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') return invalid(`${row} has a quote that is never closed.`)
    return invalid(`${row} has a quote in the wrong place. Put the whole cell in quotes and double each quote inside it.`)
  }
}

/**
 * Refuses text that is not UTF-8, and lines above the record limit, before they reach the parser. csv-parse counts only
 * the characters of cells, so a line of commas would be unlimited.
 */
class ByteGuard {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true })
  /** Row of the next byte. A line feed inside quotes does not end a row. */
  private row = 1
  private isQuoted = false
  private lineBytes = 0
  /** The last bytes, because a slice may end within a character. */
  private tail = new Uint8Array()

  check(slice: Uint8Array): void {
    const nul = slice.indexOf(0)
    if (nul >= 0) throw invalid(`Row ${this.rowAt(slice, nul)} contains a NUL character: remove it.`)
    try {
      this.decoder.decode(slice, { stream: true })
    } catch {
      throw invalid(`Row ${this.rowAt(slice, this.malformedLine(slice))} is not valid UTF-8: save the file as CSV in UTF-8.`)
    }
    this.countRows(slice)
    this.tail = lastBytes(this.tail, slice)
  }

  finish(): void {
    try {
      this.decoder.decode()
    } catch {
      throw invalid(`Row ${this.row} ends in the middle of a character: the file is incomplete or not UTF-8.`)
    }
  }

  private rowAt(slice: Uint8Array, end: number): number {
    this.countRows(slice.subarray(0, end))
    return this.row
  }

  private countRows(slice: Uint8Array): void {
    let start = 0
    for (let at = slice.indexOf(lineFeed); at >= 0; at = slice.indexOf(lineFeed, start)) {
      this.addLineBytes(slice.subarray(start, at))
      if (!this.isQuoted) this.row += 1
      this.lineBytes = 0
      start = at + 1
    }
    this.addLineBytes(slice.subarray(start))
  }

  private addLineBytes(line: Uint8Array): void {
    this.lineBytes += line.length
    if (this.lineBytes > recordMaxBytes) throw invalid(`Row ${this.row} is larger than 1 MB.`)
    for (let at = line.indexOf(quote); at >= 0; at = line.indexOf(quote, at + 1)) this.isQuoted = !this.isQuoted
  }

  /**
   * Returns where the faulty line starts. No multi-byte character contains a line feed, so the slice can be decoded
   * line by line.
   */
  private malformedLine(slice: Uint8Array): number {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    decoder.decode(this.tail, { stream: true })
    let start = 0
    while (start < slice.length) {
      const found = slice.indexOf(lineFeed, start)
      const end = found < 0 ? slice.length : found + 1
      try {
        decoder.decode(slice.subarray(start, end), { stream: true })
      } catch {
        return start
      }
      start = end
    }
    return start
  }
}

/** Returns the last three bytes of both, without a partial character at the start. */
function lastBytes(before: Uint8Array, slice: Uint8Array): Uint8Array<ArrayBuffer> {
  const last = Uint8Array.from([...before, ...slice.subarray(-3)].slice(-3))
  const start = last.findIndex((byte) => (byte & 0xc0) !== 0x80)
  return last.subarray(start < 0 ? last.length : start)
}
