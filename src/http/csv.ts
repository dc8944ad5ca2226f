import { type Cell, csvLine } from '../lib/csv-line.ts'
import type { Table } from '../lib/csv-table.ts'
import { streamed } from './csv-stream.ts'
import type { HttpDeps } from './deps.ts'

/**
 * How much a caller wants a type of an answer, from 0 to 1, by `accept`: the entry that names it most closely decides.
 * @param type in lower case, as `text/csv`
 */
export function wanted(accept: string, type: string): number {
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

/** Whether a caller wants CSV more than JSON. */
export const wantsCsv = (headers: Headers): boolean => {
  const accept = headers.get('accept') ?? '*/*'
  return wanted(accept, 'text/csv') > wanted(accept, 'application/json')
}

/** Rows as a file to be saved; the names of the first one's fields are its header unless they are given. */
export function csvAnswer<Row extends Readonly<Record<string, Cell>>>(
  name: string,
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
): Response {
  const lines = [csvLine(columns), ...rows.map((row) => csvLine(columns.map((column) => row[column] ?? null)))]
  return new Response(lines.join(''), { headers: csvHeaders(name) })
}

/**
 * Rows of the instance's own as a file to be saved, each piece of them read when it is sent, in a turn of its own; until its end it holds a place
 * among exports.
 * @param name of the file, and what its place is of
 * @throws AppError RATE_LIMITED while as many are under way as may; whatever the first piece throws, so that a refusal is one
 */
export async function csvStream<Row>(
  { clock, log, exportSlots, exportShare }: Pick<HttpDeps, 'clock' | 'log' | 'exportSlots' | 'exportShare'>,
  { signal }: Pick<Request, 'signal'>,
  name: string,
  { header, linesOf }: Table<Row>,
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
    const body = streamed(() => all.next(), { clock, log, list: name, signal, onEnd, onLeave: () => pieces.return() })
    return new Response(body, { headers: csvHeaders(name) })
  } catch (error) {
    onEnd()
    throw error
  }
}

/** Of a file that is saved, and not shown. */
export const csvHeaders = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}.csv"`,
  vary: 'accept',
})
