import type { Parser } from 'csv-parse'
import { AppError } from './errors.ts'

/** The bytes of a file; may be asked for twice, and starts from the beginning each time. */
export type CsvSource = () => AsyncIterable<Uint8Array>

/** Gives others their turn, between two pieces of work. */
export type Rest = () => Promise<unknown>
const turn: Rest = () => new Promise((resolve) => setImmediate(resolve))

/** One record and the line of the file on which it starts; the first line is 1. */
export type CsvRecord = { readonly line: number; readonly cells: readonly string[] }

const recordMaxBytes = 1024 * 1024
const sliceMaxBytes = 16 * 1024
const lineFeed = 10

const invalid = (message: string) => new AppError('INVALID', message)

/**
 * Reads a file's records in small batches, in order, without keeping any. Lines without a character are left out.
 * Throws `INVALID`, naming the row where it is known, when the bytes are not UTF-8 CSV.
 */
export async function* readRecords(
  source: CsvSource,
  { onProgress, rest = turn }: { onProgress?: (bytesRead: number) => void; rest?: Rest } = {},
): AsyncGenerator<CsvRecord[]> {
  const guard = new ByteGuard()
  const reader = new RecordReader(await import('csv-parse'))
  let bytesRead = 0
  try {
    for await (const slice of slicesOf(source(), rest)) {
      guard.check(slice)
      await reader.write(slice)
      bytesRead += slice.length
      onProgress?.(bytesRead)
      yield reader.take()
    }
    guard.finish()
    await reader.end()
    yield reader.take()
  } finally {
    reader.close()
  }
}

/** Cuts big chunks so that no batch holds a whole file, and gives others their turn after each slice. */
async function* slicesOf(chunks: AsyncIterable<Uint8Array>, rest: Rest): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += sliceMaxBytes) {
      yield chunk.subarray(start, start + sliceMaxBytes)
      await rest()
    }
  }
}

/**
 * csv-parse, driven by hand. Records are taken out in `on_record`, which runs in file order and before an error is
 * reported, so that `line` is the start of the row at fault; csv-parse itself counts a CRLF inside quotes twice, and
 * its messages repeat cells.
 */
class RecordReader {
  private line = 1
  private records: CsvRecord[] = []
  private readonly parser: Parser

  /** @param library loaded with the first file, which few starts ever see */
  constructor(private readonly library: typeof import('csv-parse')) {
    this.parser = library.parse({
      bom: true,
      delimiter: ',',
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      max_record_size: recordMaxBytes,
      on_record: (cells) => this.add(cells),
    })
    // The callbacks below report it; a stream whose error nobody listens to takes the process down.
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
    const taken = this.records
    this.records = []
    return taken
  }

  close(): void {
    this.parser.destroy()
  }

  /** Null keeps the record out of the stream's own queue, which would push back. */
  private add(cells: string[]): null {
    const line = this.line
    this.line += 1
    for (const cell of cells) this.line += cell.split('\n').length - 1
    if (cells.length > 1 || cells[0] !== '') this.records.push({ line, cells })
    return null
  }

  private explain(error: unknown): unknown {
    if (!(error instanceof this.library.CsvError)) return error
    const row = `Row ${this.line}`
    if (error.code === 'CSV_MAX_RECORD_SIZE') return invalid(`${row} is larger than 1 MB, or a quote opens in it that is never closed.`)
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') return invalid(`${row}: a quote opens that is never closed.`)
    return invalid(`${row}: quotes do not balance. Put the whole cell in quotes and write each quote inside it twice.`)
  }
}

/**
 * Refuses what is not UTF-8 text before it reaches the parser, and lines past the record limit: csv-parse counts the
 * characters of cells, so that a line of nothing but commas would grow without end.
 */
class ByteGuard {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true })
  private line = 1
  private lineBytes = 0
  /** The file's first bytes tell UTF-16 from damage. */
  private head: number[] = []
  /** The last bytes seen: a character may be cut by the end of a slice. */
  private tail = new Uint8Array()

  check(slice: Uint8Array): void {
    if (this.head.length < 4) this.head.push(...slice.subarray(0, 4 - this.head.length))
    const nul = slice.indexOf(0)
    if (nul >= 0) throw this.refusal(`Row ${this.line + linesIn(slice.subarray(0, nul))} contains a NUL character: remove it.`)
    try {
      this.decoder.decode(slice, { stream: true })
    } catch {
      throw this.refusal(`Row ${this.malformedLine(slice)} is not valid UTF-8: save the file as CSV in UTF-8.`)
    }
    this.countLines(slice)
    this.tail = lastBytes(this.tail, slice)
  }

  finish(): void {
    try {
      this.decoder.decode()
    } catch {
      throw this.refusal(`Row ${this.line} ends within a character: the file is cut off or not UTF-8.`)
    }
  }

  private refusal(message: string): AppError {
    const [first] = this.head
    const isUtf16 = first === 0xff || first === 0xfe || this.head.includes(0)
    return invalid(isUtf16 ? 'The file is encoded as UTF-16: save it as CSV in UTF-8.' : message)
  }

  private countLines(slice: Uint8Array): void {
    let start = 0
    for (let at = slice.indexOf(lineFeed); at >= 0; at = slice.indexOf(lineFeed, start)) {
      this.addLineBytes(at - start)
      this.line += 1
      this.lineBytes = 0
      start = at + 1
    }
    this.addLineBytes(slice.length - start)
  }

  private addLineBytes(count: number): void {
    this.lineBytes += count
    if (this.lineBytes > recordMaxBytes) throw invalid(`Row ${this.line} is larger than 1 MB.`)
  }

  /** No multi-byte character contains a line feed, so the slice can be tried again line by line. */
  private malformedLine(slice: Uint8Array): number {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    decoder.decode(this.tail, { stream: true })
    let line = this.line
    for (let start = 0; start < slice.length; line += 1) {
      const found = slice.indexOf(lineFeed, start)
      const end = found < 0 ? slice.length : found + 1
      try {
        decoder.decode(slice.subarray(start, end), { stream: true })
      } catch {
        return line
      }
      start = end
    }
    return line
  }
}

const linesIn = (bytes: Uint8Array): number => bytes.filter((byte) => byte === lineFeed).length

/** The last three bytes of both, without the rest of a character that starts before them. */
function lastBytes(before: Uint8Array, slice: Uint8Array): Uint8Array<ArrayBuffer> {
  const last = Uint8Array.from([...before, ...slice.subarray(-3)].slice(-3))
  const start = last.findIndex((byte) => (byte & 0xc0) !== 0x80)
  return last.subarray(start < 0 ? last.length : start)
}
