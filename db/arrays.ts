/** Rows as arrays, one a column: on Postgres one statement inserts any number of them. */
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { nameOf } from './compile.ts'
import type { Compiled, Prepared, Values } from './engine.ts'

/** On Postgres one statement inserts any number of rows, which are its only value: an array a column. */
export function insertArrays(table: SQLiteTable, onTaken: 'throw' | 'leave'): Prepared<never, 'change'> {
  const columns = Object.entries(getTableColumns(table))
  const names = columns.map(([, { name }]) => `"${name}"`).join(', ')
  // A collation is no part of a type.
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

/** An insert of new rows: those of other works of its line go with them, by `many`. */
export function withMany(
  insert: Prepared<never, 'change'>,
  table: SQLiteTable,
  many: Prepared<never, 'change'>,
): Prepared<never, 'change'> {
  let compiled: Compiled<never> | undefined
  return {
    get compiled() {
      compiled ??= { ...insert.compiled, together: { kind: 'new', table: getTableName(table), many: many.compiled } }
      return compiled
    },
  }
}
