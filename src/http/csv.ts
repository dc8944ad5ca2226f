import { type Cell, csvLine } from '../lib/csv-line.ts'
import type { CsvTable } from '../lib/csv-table.ts'
import { streamText } from './csv-stream.ts'
import type { HttpDeps } from './deps.ts'

/**
 * Returns the quality of a media type in an `accept` header, 0 to 1. The most specific entry decides.
 * @param type in lower case, such as `text/csv`
 */
export function qualityOf(accept: string, type: string): number {
  const [main] = type.split('/')
  let [best, closeness] = [0, 0]
  for (const entry of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const close = range === type ? 3 : range === `${main}/*` ? 2 : range === '*/*' ? 1 : 0
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    if (close > closeness && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality)) [best, closeness] = [Number(quality), close]
  }
  return best
}

/** Returns whether the caller prefers CSV to JSON. */
export const wantsCsv = (headers: Headers): boolean => {
  const accept = headers.get('accept') ?? '*/*'
  return qualityOf(accept, 'text/csv') > qualityOf(accept, 'application/json')
}

/** Responds with rows as a CSV file. */
export function csvResponse<Row extends Readonly<Record<string, Cell>>>(
  name: string,
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
): Response {
  const lines = [csvLine(columns), ...rows.map((row) => csvLine(columns.map((column) => row[column] ?? null)))]
  return new Response(lines.join(''), { headers: csvHeaders(name) })
}

/**
 * Streams rows of instance-wide data as a CSV file, in an export slot. Each chunk is read when it is sent, in its own
 * turn.
 * @param name of the file, and owner of the slot
 * @throws AppError RATE_LIMITED without a free slot; errors of the first chunk
 */
export async function csvStream<Row>(
  { clock, log, exportSlots, exportShare }: Pick<HttpDeps, 'clock' | 'log' | 'exportSlots' | 'exportShare'>,
  { signal }: Pick<Request, 'signal'>,
  name: string,
  { header, linesOf }: CsvTable<Row>,
  pieces: AsyncGenerator<readonly Row[], void>,
): Promise<Response> {
  const textOf = (lines: readonly (readonly Cell[])[]) => lines.map(csvLine).join('')
  async function* texts(first: IteratorResult<readonly Row[], void>): AsyncGenerator<string, void> {
    yield textOf([header])
    for (let next = first; !next.done; next = await following()) yield textOf(next.value.flatMap(linesOf))
  }
  const following = () => exportShare.run(() => pieces.next())
  const onEnd = exportSlots.take(name, `of ${name}`)
  signal.addEventListener('abort', onEnd, { once: true })
  try {
    const all = texts(await following())
    const body = streamText(() => all.next(), { clock, log, list: name, signal, onEnd, onLeave: () => pieces.return() })
    return new Response(body, { headers: csvHeaders(name) })
  } catch (error) {
    onEnd()
    throw error
  }
}

/** Returns the headers of a CSV download. */
export const csvHeaders = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}.csv"`,
  vary: 'accept',
})
