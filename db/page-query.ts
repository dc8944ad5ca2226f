import { and, count, desc, getTableColumns, lt, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Reader } from './engine.ts'

/** Counts the rows that meet a condition. */
export async function countRows(from: Pick<Reader, 'select'>, table: SQLiteTable, where?: SQL): Promise<number> {
  const [row] = await from.select({ n: count() }).from(table).where(where)
  return Number(row?.n ?? 0)
}

type SliceQuery = { limit: number; offset: number; after?: string | number | null | undefined }

/**
 * Selects a page of rows that meet a condition.
 * @param after cursor of an exported list (lib/page.ts): then ordered by id, descending, without a total
 * @param key replaces the id
 * @returns the rows, and the total number of matches
 */
export async function selectSlice<Table extends SQLiteTable>(
  from: Pick<Reader, 'select'>,
  table: Table,
  { where, order, limit, offset, after, key }: SliceQuery & { where: SQL | undefined; order: readonly SQL[]; key?: SQLiteColumn },
): Promise<{ rows: Table['$inferSelect'][]; total: number }> {
  if (after !== undefined) {
    const { id = key } = getTableColumns(table) as { id?: SQLiteColumn }
    if (!id) throw new Error('a table without a key cannot be read in chunks')
    const rest = await from
      .select()
      .from(table)
      .where(and(where, after === null ? undefined : lt(id, after)))
      .orderBy(desc(id))
      .limit(limit)
    return { rows: rest as Table['$inferSelect'][], total: 0 }
  }
  const total = await countRows(from, table, where)
  const rows = await from
    .select()
    .from(table)
    .where(where)
    .orderBy(...order)
    .limit(limit)
    .offset(offset)
  return { rows: rows as Table['$inferSelect'][], total }
}
