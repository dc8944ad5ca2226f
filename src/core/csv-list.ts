/** Lists that are told whole, as CSV: over HTTP, and by `souk export`. */
import { csvLine } from '../lib/csv-line.ts'
import type { Table } from '../lib/csv-table.ts'
import type { Key, Slice } from '../lib/page.ts'
import type { Principal, ShopContext } from './principal.ts'

/** Who asks for a list, and what for: the filters of its query, and what its path names. */
export type Asked<Query = object, Params = object> = {
  readonly shop: ShopContext
  readonly principal: Principal
  readonly query: Query
  readonly params: Params
}

/**
 * A part of a list that is told whole. A part that was looked at may hold little or nothing of what a filter finds: `lookedTo` is the key up to which
 * that was, where it lies beyond the last row. Where neither a row nor that is told, the list is at its end.
 */
export type Piece<Row> = { readonly data: readonly Row[]; readonly lookedTo?: Key | undefined }

/** A list that can be told whole. */
export type CsvList<Row = unknown, Query = object, Params = object> = {
  /** What its file is called, and by which `souk export` knows it. */
  readonly name: string
  readonly table: Table<Row>
  /** By which its rows come: `desc` unless told otherwise. */
  readonly order?: 'asc' | 'desc'
  readonly keyOf: (row: Row) => Key
  /** Reads a piece: of as many rows as `slice.limit` says at the most, after `slice.after`. Nobody else has the thread meanwhile. */
  read(asked: Asked<Query, Params>, slice: Slice): Promise<Piece<Row>>
}

/** Lines of a list, and how many records they are of. */
export type CsvPiece = { readonly text: string; readonly records: number }

/** A piece is read and written at a stretch: nobody else has the thread meanwhile. */
const piece = { first: 50, min: 5, max: 500, characters: 32 * 1024 }

/**
 * Tells a list whole, in pieces of some 32 KB, each read when it is asked for: no more than one is in memory, and between two nothing is held open. A piece
 * in which a filter finds nothing is without text. What is added after it has begun is not in it where it goes newest first, and at its end where it goes
 * oldest first; each record is as it was when it was read.
 * @param only of the records of a piece, those that are told
 * @throws Error where a list does not go on behind what it was asked to: it would never end
 */
export async function* csvPieces<Row, Query, Params>(
  list: CsvList<Row, Query, Params>,
  asked: Asked<Query, Params>,
  only: (row: Row) => boolean = () => true,
): AsyncGenerator<CsvPiece, void> {
  const { table, keyOf, order = 'desc' } = list
  let head = csvLine(table.header)
  let limit = piece.first
  for (let after: Key | null = null; ; ) {
    const { data, lookedTo } = await list.read(asked, { page: 1, limit, offset: 0, after })
    const keys = data.map(keyOf)
    if (lookedTo !== undefined && lookedTo !== keys.at(-1)) keys.push(lookedTo)
    for (const key of keys) {
      if (after !== null && !(order === 'asc' ? key > after : key < after))
        throw new Error(`${list.name} is not read in the order of its keys`)
      after = key
    }
    const told = data.filter(only)
    const text = told.map((row) => table.linesOf(row).map(csvLine).join('')).join('')
    if (keys.length === 0) {
      if (head !== '') yield { text: head, records: 0 }
      return
    }
    yield { text: head + text, records: told.length }
    head = ''
    limit = Math.round(Math.min(Math.max((limit * piece.characters) / Math.max(text.length, 1), piece.min), 2 * limit, piece.max))
  }
}
