/**
 * Queries that are built once and run often: building one with drizzle costs some ten times what it takes to run it, and drizzle's
 * mapping of a row more than the read. They belong to no database: whatever reads or writes runs them, by `first`, `all` and `run`.
 */
import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import { BaseSQLiteDatabase, SQLiteAsyncDialect, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { engine } from './columns.ts'
import { type Builder, compile } from './compile.ts'
import type { Compiled, Prepared, Queries, Values, Writer } from './engine.ts'

type RowsOf<B> = B extends { readonly _: { readonly result: (infer Row)[] } } ? Row : never
/** Only a select has a mode. */
type KindOf<B> = B extends { readonly _: { readonly selectMode: unknown } } ? 'read' : 'change'

// Without a session, since nothing runs here. The types are SQLite's.
const builders: Queries =
  engine === 'sqlite'
    ? new BaseSQLiteDatabase('async', new SQLiteAsyncDialect(), undefined as never, undefined)
    : (new PgDatabase(new PgDialect(), undefined as never, undefined) as unknown as Queries)

/**
 * Prepares a query, which is built when it first runs.
 * @param build what a builder makes of it, with `sql.placeholder` for each value that it is given when it runs. A value that is
 *   inserted is encoded as its column has it; any other is handed to the driver as it is.
 * @returns what `first`, `all` and `run` of a reader or a transaction take. Rows have the names and the types that the builder's have.
 */
export function prepare<B extends Builder>(build: (queries: Queries) => B): Prepared<RowsOf<B>, KindOf<B>> {
  let compiled: Compiled<RowsOf<B>> | undefined
  return {
    get compiled() {
      compiled ??= compile<RowsOf<B>>(build(builders))
      return compiled
    },
  }
}

type Row<Table extends SQLiteTable> = Table['$inferSelect']
const placeholders = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]))

/**
 * Prepares a read of whole rows, by the values of some of their columns.
 * @param by those columns, and under their names the values when it runs: `rowsOf(carts, ['id'])`
 * @param order of the rows; none is needed where there is one row at most
 */
export const rowsOf = <Table extends SQLiteTable>(
  table: Table,
  by: readonly (keyof Row<Table> & string)[],
  ...order: readonly SQL[]
): Prepared<Row<Table>, 'read'> =>
  prepare((queries) =>
    queries
      .select()
      .from(table)
      .where(valuesOf(table, by))
      .orderBy(...order),
  ) as Prepared<unknown, 'read'> as Prepared<Row<Table>, 'read'>

/** That columns have the values which are given under their names when the query runs. */
export function valuesOf<Table extends SQLiteTable>(table: Table, names: readonly (keyof Row<Table> & string)[]): SQL | undefined {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  return and(...names.map((name) => eq(columns[name] as SQLiteColumn, sql.placeholder(name))))
}

/**
 * Prepares the insert of one whole row.
 * @param onTaken `skip`: a row whose key is there already is left out
 * @returns whether the row was inserted, for `skip`; else it throws when it was not
 */
export function insertOf<Table extends SQLiteTable>(
  table: Table,
  onTaken: 'throw' | 'skip' = 'throw',
): (tx: Writer, row: Row<Table>) => Promise<boolean> {
  const values = placeholders(Object.keys(getTableColumns(table))) as Table['$inferInsert']
  if (onTaken === 'throw') {
    const insert = prepare((queries) => queries.insert(table).values(values))
    return async (tx, row) => {
      await tx.run(insert, row)
      return true
    }
  }
  const insert = prepare((queries) => queries.insert(table).values(values).onConflictDoNothing().returning({ done: sql<number>`1` }))
  return async (tx, row) => (await tx.first(insert, row)) !== undefined
}

/**
 * Prepares updates that set whichever columns are given: each combination of columns is built when it is first met.
 * @param where of placeholders, whose names must differ from the columns'
 * @param returned the columns to hand back; all of them unless told otherwise
 * @returns the rows after the change
 */
export function updateOf<Table extends SQLiteTable, Name extends keyof Row<Table> & string = keyof Row<Table> & string>(
  table: Table,
  where: SQL | undefined,
  returned?: readonly Name[],
): (tx: Writer, change: Partial<Row<Table>>, values: Values) => Promise<Pick<Row<Table>, Name>[]> {
  type Changed = Pick<Row<Table>, Name>
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  const fields = returned ? Object.fromEntries(Object.entries(columns).filter(([name]) => returned.includes(name as Name))) : columns
  const prepared = new Map<string, Prepared<Changed>>()
  function updateSetting(names: readonly string[]): Prepared<Changed> {
    return prepared.getOrInsertComputed(
      names.join(),
      () =>
        prepare((queries) =>
          queries
            .update(table)
            .set(placeholders(names) as never)
            .where(where)
            .returning(fields),
        ) as Prepared<unknown> as Prepared<Changed>,
    )
  }
  return async (tx, change: Values, values) => {
    const names = Object.keys(change).filter((name) => change[name] !== undefined)
    return tx.all(updateSetting(names), { ...change, ...values })
  }
}
