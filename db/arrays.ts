/** Inserts on PostgreSQL: rows as arrays, one per column, so that one statement inserts any number of rows. */
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { nameOf } from './compile.ts'
import type { Compiled, Prepared, Values } from './engine.ts'

/** Prepares an insert whose only value `rows` are the rows. */
export function insertArrays(table: SQLiteTable, onTaken: 'throw' | 'leave'): Prepared<never, 'change'> {
  const columns = Object.entries(getTableColumns(table))
  const names = columns.map(([, { name }]) => `"${name}"`).join(', ')
  // A collation is not part of a type.
  const arrays = columns.map(([, column], nth) => `$${nth + 1}::${column.getSQLType().replace(/ COLLATE .*/, '')}[]`).join(', ')
  const text = `insert into "${getTableName(table)}" (${names}) select * from unnest(${arrays})${onTaken === 'leave' ? ' on conflict do nothing' : ''}`
  const encoded = (column: SQLiteColumn, name: string, value: unknown) => {
    if (value === undefined) throw new Error(`a prepared query was given no value for ${name}`)
    return value === null ? null : column.mapToDriverValue(value)
  }
  const bind = ({ rows }: Values) =>
    columns.map(([name, column]) => (rows as readonly Values[]).map((row) => encoded(column as SQLiteColumn, name, row[name])))
  return { compiled: { text, name: nameOf(text), bind, finish: (row) => row as never } }
}

/** Prepares an insert that a group commit may merge with inserts of other writes by `many`. */
export function withMany(
  insert: Prepared<never, 'change'>,
  table: SQLiteTable,
  many: Prepared<never, 'change'>,
): Prepared<never, 'change'> {
  let compiled: Compiled<never> | undefined
  return {
    get compiled() {
      compiled ??= { ...insert.compiled, placement: { kind: 'new', table: getTableName(table), many: many.compiled } }
      return compiled
    },
  }
}
