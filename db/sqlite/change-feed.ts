/**
 * The single writer commits in rowid order, so a cursor contains the last rowid of each table. It also contains the end
 * of that row's id: if the file was restored or the row deleted, the cursor is invalid.
 */
import { sql } from 'drizzle-orm'
import { type ChangeFeed, type ChangeFeedTable, type ChangeGroup, changeFeedTables, suffixOf } from '../change-feed-query.ts'

type Row = { readonly number: number; readonly id: string }
type Mark = { readonly number: number; readonly mark: string }

const markLength = 10
const markOf = (id: string): string => suffixOf(id).slice(-markLength)
const none: Mark = { number: 0, mark: '' }

const cursorOf = (marks: ReadonlyMap<ChangeFeedTable, Mark>): string =>
  changeFeedTables.map((table) => `${marks.get(table)?.number ?? 0}-${marks.get(table)?.mark ?? ''}`).join('.')

function marksIn(cursor: string): Map<ChangeFeedTable, Mark> | undefined {
  const parts = cursor.split('.').map((part) => /^(\d{1,15})-([0-9a-z]*)$/.exec(part))
  if (parts.length !== changeFeedTables.length || parts.includes(null)) return undefined
  return new Map(changeFeedTables.map((table, at) => [table, { number: Number(parts[at]?.[1]), mark: parts[at]?.[2] ?? '' }]))
}

export const sqliteChangeFeed: ChangeFeed = {
  async now(read) {
    const marks = new Map<ChangeFeedTable, Mark>()
    for (const table of changeFeedTables) {
      const [last] = await read.rows<Row>(sql`select rowid as number, id from ${sql.raw(table)} order by rowid desc limit 1`)
      if (last) marks.set(table, { number: last.number, mark: markOf(last.id) })
    }
    return cursorOf(marks)
  },

  async since(read, from, { until, limit, notBefore }) {
    const marks = marksIn(from)
    const last = until === undefined ? undefined : marksIn(until)
    if (!marks || (until !== undefined && !last)) return undefined
    let isWhole = true
    const found: { table: ChangeFeedTable; rows: Row[]; end: Row | undefined }[] = []
    for (const table of changeFeedTables) {
      const { number, mark } = marks.get(table) ?? none
      const most = last?.get(table)?.number ?? Number.MAX_SAFE_INTEGER
      const rows = await read.rows<Row & { at: number }>(
        sql`select rowid as number, id, at from ${sql.raw(table)} where rowid >= ${number} order by rowid limit ${limit + 1}`,
      )
      // The last read row must still exist.
      const anchor = number > 0 ? rows.shift() : undefined
      if (number > 0 && (anchor?.number !== number || markOf(anchor.id) !== mark || number > most)) return undefined
      const page = rows.slice(0, limit).filter((row) => row.number <= most)
      if (page.length === limit) isWhole = false
      found.push({ table, rows: page.filter(({ at }) => at >= notBefore), end: page.at(-1) })
    }
    const pieces: ChangeGroup[] = []
    for (;;) {
      // Each table keeps its commit order; tables are merged by creation time.
      const [next] = found.filter(({ rows }) => rows.length > 0).sort((a, b) => (firstOf(a) < firstOf(b) ? -1 : 1))
      const row = next?.rows.shift()
      if (!next || !row) break
      marks.set(next.table, { number: row.number, mark: markOf(row.id) })
      pieces.push({ rows: [{ table: next.table, id: row.id }], cursor: cursorOf(marks) })
    }
    // Omitted old rows are also before the cursor.
    for (const { table, end } of found) if (end) marks.set(table, { number: end.number, mark: markOf(end.id) })
    return { groups: pieces, cursor: cursorOf(marks), isWhole }
  },
}

const firstOf = ({ rows: [row] }: { readonly rows: readonly Row[] }): string => suffixOf(row?.id ?? '')
