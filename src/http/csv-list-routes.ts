import type { Static, TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type CsvChunk, type CsvList, csvChunks, type ListChunk, type ListRequest } from '../core/csv-list.ts'
import { AppError } from '../core/errors.ts'
import { canExport } from '../core/principal.ts'
import { type CsvTable, csvTableOfSchema } from '../lib/csv-table.ts'
import type { ListKey, PageSlice } from '../lib/page.ts'
import { dayIn } from '../lib/zone-days.ts'
import { csvHeaders, wantsCsv } from './csv.ts'
import { exportMaxMs, streamText } from './csv-stream.ts'
import type { HttpDeps } from './deps.ts'

type ListSchema = TSchema & { readonly properties: { readonly data: { readonly items: TSchema } } }
type RowOf<Schema extends TSchema> = Static<Schema> extends { data: (infer Row)[] } ? Row : never

/**
 * Creates the `csv` option of a list route. Default columns are the fields of the response schema; the default key is
 * the id.
 * @param read applies the same filters as the route
 */
export function csvOf<Schema extends ListSchema, Query = object, Params = object, Row = RowOf<Schema>>(
  name: string,
  schema: Schema,
  read: (listRequest: ListRequest<Query, Params>, slice: PageSlice) => Promise<ListChunk<Row>>,
  options: {
    table?: CsvTable<Row>
    tableOf?: (query: Query) => CsvTable<Row> | undefined
    keyOf?: (row: Row) => ListKey
    order?: 'asc' | 'desc'
  } = {},
): CsvList {
  const {
    table = csvTableOfSchema<Row>(schema.properties.data.items),
    keyOf = (row) => (row as { id: string }).id,
    order = 'desc',
  } = options
  // The route has validated rows and query.
  return { name, table, tableOf: options.tableOf, keyOf, order, read } as unknown as CsvList
}

/**
 * Adds `{ csv: csvOf('orders', Orders, read) }`: with `accept: text/csv` a list responds completely, ignoring `page`
 * and `limit`. Place it after `access`. test/http/csv-list-routes.test.ts checks every list.
 */
export const csvLists = (deps: Pick<HttpDeps, 'callers' | 'clock' | 'exportSlots' | 'exportShare' | 'log' | 'allowSilence'>) =>
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
        if (!canExport(admitted.principal))
          throw new AppError('FORBIDDEN', 'Exporting a list requires the OWNER or MANAGER role, or the secret key')
        return exportList(deps, list, { shop: admitted.shop, principal: admitted.principal, query, params }, request)
      },
    }),
  })

type Exporting = Pick<HttpDeps, 'clock' | 'exportSlots' | 'exportShare' | 'log' | 'allowSilence'>

/** Streams a whole list. An aborted client releases its export slot at once. */
async function exportList(deps: Exporting, list: CsvList, listRequest: ListRequest, request: Request): Promise<Response> {
  const { clock, exportSlots, exportShare, log, allowSilence } = deps
  const leave = exportSlots.take(listRequest.shop.id)
  let isAbandoned = false
  const abandon = () => {
    isAbandoned = true
    leave()
  }
  request.signal.addEventListener('abort', abandon, { once: true })
  const pieces = csvChunks(list, listRequest)
  const startedAt = clock.monotonic()
  /** Returns the next chunk with text. Each read waits for its turn. */
  async function nextChunk(): Promise<IteratorResult<CsvChunk, void>> {
    allowSilence(request, true)
    try {
      for (;;) {
        const next = await exportShare.run(() => pieces.next())
        if (next.done || next.value.text !== '' || isAbandoned) return next
        if (clock.monotonic() - startedAt > exportMaxMs) throw new Error('an export took too long')
      }
    } finally {
      allowSilence(request, false)
    }
  }
  try {
    // An error of the first chunk has its own status.
    let next: IteratorResult<CsvChunk, void> | undefined = await nextChunk()
    const body = streamText(
      async () => {
        const { done, value } = next ?? (await nextChunk())
        next = undefined
        return done ? { done, value: undefined } : { done: false, value: value.text }
      },
      {
        ...{ clock, log, list: list.name, signal: request.signal, onEnd: leave },
        async onLeave() {
          abandon()
          await pieces.return()
        },
      },
    )
    return new Response(body, { headers: csvHeaders(`${list.name}-${dayIn(listRequest.shop.timeZone, clock.now())}`) })
  } catch (error) {
    leave()
    throw error
  }
}
