/** Inserts and updates of whole rows that are built once: building one with drizzle costs some ten times what it takes to run it. */
import { type Column, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database, Statement, Writer } from './engine.ts'

type Row<Table extends SQLiteTable> = Table['$inferSelect']
type Statements = Pick<Database, 'statement'>
/** A placeholder that knows nothing of its column: values are encoded before they are filled in. */
const bare = (name: string): SQL => sql`${sql.placeholder(name)}`

/** A value as the driver takes it. drizzle would write a null of a JSON column as the text `null`. */
const encoded = (column: Column | undefined, value: unknown): unknown =>
  value === null || value === undefined || column === undefined ? (value ?? null) : column.mapToDriverValue(value)

function encodedRow(columns: Record<string, Column>, row: Record<string, unknown>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const name in columns) values[name] = encoded(columns[name], row[name])
  return values
}

/**
 * Builds something when it is first wanted, and keeps it. For prepared reads: to build all of them would be a good part of every start.
 * @param make what builds it
 */
export function once<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Makes something of a database once: for stores that are plain objects. */
export function perDatabase<Made>(make: (db: Statements) => Made): (db: Statements) => Made {
  const made = new WeakMap<Statements, Made>()
  return (db) => {
    const known = made.get(db) ?? make(db)
    made.set(db, known)
    return known
  }
}

/**
 * Prepares the insert of one whole row.
 * @param onTaken `skip`: a row whose key is there already is left out
 * @returns whether the row was inserted, for `skip`; else it throws when it was not
 */
export function insertOf<Table extends SQLiteTable>(
  { statement }: Statements,
  table: Table,
  onTaken: 'throw' | 'skip' = 'throw',
): (tx: Writer, row: Row<Table>) => Promise<boolean> {
  const columns = getTableColumns(table) as Record<string, Column>
  const values = Object.fromEntries(Object.keys(columns).map((name) => [name, bare(name)])) as Table['$inferInsert']
  if (onTaken === 'throw') {
    const insert = statement((queries) => queries.insert(table).values(values))
    return async (tx, row) => {
      await insert(tx, encodedRow(columns, row))
      return true
    }
  }
  const insert = statement((queries) => queries.insert(table).values(values).onConflictDoNothing().returning({ done: sql<number>`1` }))
  return async (tx, row) => (await insert(tx, encodedRow(columns, row))).length > 0
}

/**
 * Prepares updates that set whichever columns are given: each combination of columns is built when it is first met.
 * @param where of placeholders, whose names must differ from the columns'
 * @returns the rows after the change
 */
export function updateOf<Table extends SQLiteTable>(
  { statement }: Statements,
  table: Table,
  where: SQL | undefined,
): (tx: Writer, change: Partial<Row<Table>>, values: Record<string, unknown>) => Promise<Row<Table>[]> {
  const columns = getTableColumns(table) as Record<string, Column>
  const built = new Map<string, Statement<unknown>>()
  function statementFor(names: readonly string[]): Statement<unknown> {
    const shape = names.join()
    const known = built.get(shape)
    if (known) return known
    const set = Object.fromEntries(names.map((name) => [name, bare(name)])) as Partial<Table['$inferInsert']>
    const made: Statement<unknown> = statement(
      (queries) =>
        queries
          .update(table)
          .set(set as never)
          .where(where)
          .returning() as never,
    )
    built.set(shape, made)
    return made
  }
  return async (tx, change, values) => {
    const names = Object.keys(change).filter((name) => (change as Record<string, unknown>)[name] !== undefined)
    const given: Record<string, unknown> = { ...values }
    for (const name of names) given[name] = encoded(columns[name], (change as Record<string, unknown>)[name])
    return (await statementFor(names)(tx, given)) as Row<Table>[]
  }
}
