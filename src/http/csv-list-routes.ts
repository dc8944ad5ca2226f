import type { Static, TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type Asked, type CsvList, type CsvPiece, csvPieces, type Piece } from '../core/csv-list.ts'
import { AppError } from '../core/errors.ts'
import { mayExport } from '../core/principal.ts'
import { type Table, tableOfSchema } from '../lib/csv-table.ts'
import { dayOf } from '../lib/day.ts'
import type { Key, Slice } from '../lib/page.ts'
import { csvHeaders, wantsCsv } from './csv.ts'
import { exportMaxMs, streamed } from './csv-stream.ts'
import type { HttpDeps } from './deps.ts'

type ListSchema = TSchema & { readonly properties: { readonly data: { readonly items: TSchema } } }
type RowOf<Schema extends TSchema> = Static<Schema> extends { data: (infer Row)[] } ? Row : never

/**
 * A list as `csv` of its route has it: the columns are those of its answer's schema unless `table` says which, and its rows go by their ids unless `keyOf` says
 * by what.
 * @param read by the filters of the route itself, so that the same are found
 */
export function csvOf<Schema extends ListSchema, Query = object, Params = object, Row = RowOf<Schema>>(
  name: string,
  schema: Schema,
  read: (asked: Asked<Query, Params>, slice: Slice) => Promise<Piece<Row>>,
  given: { table?: Table<Row>; keyOf?: (row: Row) => Key; order?: 'asc' | 'desc' } = {},
): CsvList {
  const { table = tableOfSchema<Row>(schema.properties.data.items), keyOf = (row) => (row as { id: string }).id, order = 'desc' } = given
  // What its rows and its query are, its route has checked.
  return { name, table, keyOf, order, read } as unknown as CsvList
}

/**
 * `{ csv: csvOf('orders', Orders, read) }` on a merchant's list: `accept: text/csv` answers all of it, whatever `page` and `limit` say. State it after
 * `access`. test/http/csv-list-routes.test.ts holds every list to it.
 */
export const csvLists = (deps: Pick<HttpDeps, 'callers' | 'clock' | 'exportSlots' | 'exportShare' | 'log' | 'maySayNothing'>) =>
  new Elysia({ name: 'http.csv-lists' }).macro({
    csv: (list: CsvList) => ({
      detail: { 'x-csv': list } as object,
      async beforeHandle(context: { request: Request; set: { headers: Record<string, string | number> } }) {
        const { request, set } = context
        set.headers['vary'] = 'accept'
        if (!wantsCsv(request.headers)) return undefined
        const { query = {}, params = {} } = context as { query?: object; params?: object }
        const admitted = deps.callers.get(request)
        if (!admitted?.shop) throw new AppError('NOT_FOUND', 'No such shop')
        if (!mayExport(admitted.principal)) throw new AppError('FORBIDDEN', 'Lists are exported by owners, managers and the secret key')
        return exported(deps, list, { shop: admitted.shop, principal: admitted.principal, query, params }, request)
      },
    }),
  })

type Exporting = Pick<HttpDeps, 'clock' | 'exportSlots' | 'exportShare' | 'log' | 'maySayNothing'>

/** The whole of a list, read as it is sent: whoever stops reading holds a place among exports, until the connection is silent for too long, and nothing else. */
async function exported(deps: Exporting, list: CsvList, asked: Asked, request: Request): Promise<Response> {
  const { clock, exportSlots, exportShare, log, maySayNothing } = deps
  const leave = exportSlots.take(asked.shop.id)
  let hasLeft = false
  const goAway = () => {
    hasLeft = true
    leave()
  }
  request.signal.addEventListener('abort', goAway, { once: true })
  const pieces = csvPieces(list, asked)
  const startedAt = clock.monotonic()
  /** What there is to send next. While nothing is found there is nothing to send, and each look takes its turn. */
  async function following(): Promise<IteratorResult<CsvPiece, void>> {
    maySayNothing(request, true)
    try {
      for (;;) {
        const next = await exportShare.run(() => pieces.next())
        if (next.done || next.value.text !== '' || hasLeft) return next
        if (clock.monotonic() - startedAt > exportMaxMs) throw new Error('an export took too long')
      }
    } finally {
      maySayNothing(request, false)
    }
  }
  try {
    // What is refused, is refused with its own status.
    let next: IteratorResult<CsvPiece, void> | undefined = await following()
    const body = streamed(
      async () => {
        const { done, value } = next ?? (await following())
        next = undefined
        return done ? { done, value: undefined } : { done: false, value: value.text }
      },
      {
        ...{ clock, log, list: list.name, signal: request.signal, onEnd: leave },
        async onLeave() {
          goAway()
          await pieces.return()
        },
      },
    )
    return new Response(body, { headers: csvHeaders(`${list.name}-${dayOf(clock.now())}`) })
  } catch (error) {
    leave()
    throw error
  }
}
