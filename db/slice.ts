import { count, type SQL } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Reader } from './engine.ts'

/**
 * Reads a slice of the rows of a table that meet a condition.
 * @returns its rows in the order of `order`, and how many meet the condition in all
 */
export async function selectSlice<Table extends SQLiteTable>(
  from: Pick<Reader, 'select'>,
  table: Table,
  { where, order, limit, offset }: { where: SQL | undefined; order: readonly SQL[]; limit: number; offset: number },
): Promise<{ rows: Table['$inferSelect'][]; total: number }> {
  const [totals] = await from.select({ n: count() }).from(table).where(where)
  const rows = await from
    .select()
    .from(table)
    .where(where)
    .orderBy(...order)
    .limit(limit)
    .offset(offset)
  return { rows: rows as Table['$inferSelect'][], total: Number(totals?.n ?? 0) }
}
