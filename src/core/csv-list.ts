/** Lists that are exported completely as CSV: over HTTP and by `souk export`. */
import { csvLine } from '../lib/csv-line.ts'
import type { CsvTable } from '../lib/csv-table.ts'
import type { ListKey, PageSlice } from '../lib/page.ts'
import type { Principal, ShopContext } from './principal.ts'

/** The request for a list: caller, query and path parameters. */
export type ListRequest<Query = object, Params = object> = {
  readonly shop: ShopContext
  readonly principal: Principal
  readonly query: Query
  readonly params: Params
}

/**
 * A chunk of an exported list. `scannedTo` is the last key that was examined, if it lies beyond the last row because a
 * filter skipped rows. No row and no `scannedTo`: the list is complete.
 */
export type ListChunk<Row> = { readonly data: readonly Row[]; readonly scannedTo?: ListKey | undefined }

/** A list that can be exported completely. */
export type CsvList<Row = unknown, Query = object, Params = object> = {
  /** Name of the file, and of the list in `souk export`. */
  readonly name: string
  readonly table: CsvTable<Row>
  /** Another table, if the query asks for one. */
  tableOf?(query: Query): CsvTable<Row> | undefined
  /** Order of the keys. Default: `desc`. */
  readonly order?: 'asc' | 'desc'
  readonly keyOf: (row: Row) => ListKey
  /** Reads at most `slice.limit` rows after `slice.after`. It blocks the main thread meanwhile. */
  read(request: ListRequest<Query, Params>, slice: PageSlice): Promise<ListChunk<Row>>
}

/** CSV lines, and the number of records in them. */
export type CsvChunk = { readonly text: string; readonly records: number }

/** Reading and formatting a chunk blocks the main thread, so chunks are small. */
const chunkSize = { first: 50, min: 5, max: 500, characters: 32 * 1024 }

/**
 * Exports a list in chunks of about 32 KB, each read on demand. Only one chunk is in memory, and no query stays open. A
 * chunk without matches has an empty text. Records added meanwhile appear only in ascending lists.
 * @param only filter of the exported records
 * @throws Error if the list does not follow the order of its keys: the export would never end
 */
export async function* csvChunks<Row, Query, Params>(
  list: CsvList<Row, Query, Params>,
  request: ListRequest<Query, Params>,
  only: (row: Row) => boolean = () => true,
): AsyncGenerator<CsvChunk, void> {
  const { keyOf, order = 'desc' } = list
  const table = list.tableOf?.(request.query) ?? list.table
  let head = csvLine(table.header)
  let limit = chunkSize.first
  for (let after: ListKey | null = null; ; ) {
    const { data, scannedTo } = await list.read(request, { page: 1, limit, offset: 0, after })
    const keys = data.map(keyOf)
    if (scannedTo !== undefined && scannedTo !== keys.at(-1)) keys.push(scannedTo)
    for (const key of keys) {
      if (after !== null && !(order === 'asc' ? key > after : key < after))
        throw new Error(`${list.name} is not read in the order of its keys`)
      after = key
    }
    const rows = data.filter(only)
    const text = rows.map((row) => table.linesOf(row).map(csvLine).join('')).join('')
    if (keys.length === 0) {
      if (head !== '') yield { text: head, records: 0 }
      return
    }
    yield { text: head + text, records: rows.length }
    head = ''
    limit = Math.round(
      Math.min(Math.max((limit * chunkSize.characters) / Math.max(text.length, 1), chunkSize.min), 2 * limit, chunkSize.max),
    )
  }
}
