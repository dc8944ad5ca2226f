/**
 * Queries that are built once and run often: building one with drizzle costs some ten times what it takes to run it, and drizzle's
 * mapping of a row more than the read. They belong to no database: whatever reads or writes runs them, by `first`, `all` and `run`.
 */
import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import { PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import { BaseSQLiteDatabase, SQLiteAsyncDialect, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { insertArrays, withMany } from './arrays.ts'
import { engine } from './columns.ts'
import { type Builder, compile, hasJoins, nameOf, tableOf } from './compile.ts'
import type { Answer, Compiled, Prepared, Queries, Together, Values, Writer } from './engine.ts'

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
 * @param within how it goes with the statements of other works of its line, if it may
 * @returns what `first`, `all` and `run` of a reader or a transaction take. Rows have the names and the types that the builder's have.
 */
export function prepare<B extends Builder>(build: (queries: Queries) => B, within?: Within): Prepared<RowsOf<B>, KindOf<B>> {
  let compiled: Compiled<RowsOf<B>> | undefined
  return {
    get compiled() {
      if (!compiled) {
        const builder = build(builders)
        compiled = { ...compile<RowsOf<B>>(builder), together: togetherAs(within, builder) }
      }
      return compiled
    },
  }
}

/** The name of the value that tells which row a change takes, or a lock; `behind`: it takes none, and stays behind what its work has sent before. */
type Within = { readonly row: string } | 'behind' | undefined

function togetherAs(within: Within, builder: Builder): Together | undefined {
  if (within === 'behind') return { kind: 'behind' }
  return within && { kind: 'row', table: tableOf(builder), by: within.row }
}

/**
 * Prepares a read that locks the rows which it hands back until its work ends, for a work that says what it locks: whoever would lock
 * or change one of them waits. On SQLite, where a write is alone, it is a plain read.
 * @param build a select from one table, in one order everywhere if it may find several rows
 */
export function prepareLocking<B extends Builder>(build: (queries: Queries) => B): Prepared<RowsOf<B>, 'change'> {
  let compiled: Compiled<RowsOf<B>> | undefined
  return {
    get compiled() {
      compiled ??= compileLocking<RowsOf<B>>(build(builders))
      return compiled
    },
  }
}

/**
 * Prepares a change of which is asked only whether it has changed any row, and what those were is known: `first` gives something, or
 * nothing. SQLite would put what RETURNING says into a table of its own first, which takes as long as the change.
 * @param build without RETURNING
 * @param within as for `prepare`
 */
export function prepareTold(build: (queries: Queries) => Builder, within?: Within): Prepared<object, 'change'> {
  let compiled: Compiled<object> | undefined
  return {
    get compiled() {
      if (!compiled) {
        const builder = build(builders)
        compiled =
          engine === 'postgres'
            ? { ...compile<object>(builder, ' returning 1 as "done"'), together: togetherAs(within, builder) }
            : { ...compile<object>(builder), told: true }
      }
      return compiled
    },
  }
}

/**
 * Prepares a change that must change a row, or a locking read that must find one, for a work that ends otherwise and need not wait to know:
 * what comes next, the commit too, is sent behind it. Where it does not, the write throws NothingChanged.
 * @param build an update or a delete without RETURNING, or a select from one table
 * @param within as for `prepare`
 */
export function prepareSure(build: (queries: Queries) => Builder, within?: Within): Prepared<never, 'change'> {
  const plain = prepare(build, within) as Prepared<never>
  let compiled: Compiled<never> | undefined
  return {
    get compiled() {
      compiled ??= compileSure(plain.compiled)
      return compiled
    },
  }
}

/** `prepareSure` of a read that locks nothing, and so may be of any tables. */
export function prepareSureRead(build: (queries: Queries) => Builder): Prepared<never, 'change'> {
  const plain = prepare(build, 'behind') as Prepared<never>
  let compiled: Compiled<never> | undefined
  return {
    get compiled() {
      compiled ??= compileSure(plain.compiled, '')
      return compiled
    },
  }
}

function compileSure(plain: Compiled<never>, locking = ' for no key update'): Compiled<never> {
  if (engine === 'sqlite') return { ...plain, sure: true }
  const isRead = plain.text.startsWith('select')
  // The server refuses to divide by nothing.
  const text = isRead
    ? `select 1 / count(*) as "sure" from (${plain.text}${locking}) as "done"`
    : `with "done" as (${plain.text} returning 1) select 1 / count(*) as "sure" from "done"`
  return { ...plain, text, name: nameOf(text), sure: true }
}

function compileLocking<Row>(builder: Builder): Compiled<Row> {
  // What is read beside the locked row may be of an older moment than the row.
  if (hasJoins(builder)) throw new Error('a query that locks reads one table')
  return compile<Row>(builder, engine === 'postgres' ? ' for no key update' : '')
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

/** `rowsOf` that locks, as `prepareLocking` does. Several rows are locked in `order`, which is to be the same everywhere. */
export const lockedRowsOf = <Table extends SQLiteTable>(
  table: Table,
  by: readonly (keyof Row<Table> & string)[],
  ...order: readonly SQL[]
): Prepared<Row<Table>, 'change'> =>
  prepareLocking((queries) =>
    queries
      .select()
      .from(table)
      .where(valuesOf(table, by))
      .orderBy(...order),
  ) as Prepared<unknown, 'change'> as Prepared<Row<Table>, 'change'>

/**
 * Prepares the lock of a row that must be as it is known, which is by the values of some of its columns: see `prepareSure`.
 * @param which names it: that column never changes and holds no null
 */
export function lockAsKnownOf<Table extends SQLiteTable>(
  table: Table,
  which: keyof Row<Table> & string,
  known: readonly (keyof Row<Table> & string)[],
): (tx: Writer, row: Row<Table>) => Answer<void> {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  const same = known.map((name) => sql`${columns[name]} is not distinct from ${sql.placeholder(name)}`)
  const lock = prepareSure(
    (queries) =>
      queries
        .select({ one: sql`1`.as('one') })
        .from(table)
        .where(and(valuesOf(table, [which]), ...same)),
    { row: which },
  )
  return (tx, row) => tx.run(lock, row)
}

const heldName: Prepared<never, 'change'> = {
  compiled: {
    text: 'select pg_advisory_xact_lock($1::bigint)',
    name: nameOf('pg_advisory_xact_lock'),
    bind: ({ key }) => [key],
    finish: (row) => row as never,
  },
}

/**
 * Has names to itself for the rest of a work that says what it locks: for what hangs on no row, such as how many there are of something.
 * Two names in a while may count as one. On SQLite, where a writer is alone, it does nothing.
 */
export function holdNames(tx: Writer, names: readonly string[]): void {
  if (engine === 'sqlite') return
  const keys = [...new Set(names.map((name) => BigInt.asIntN(64, BigInt(Bun.hash(name)))))].sort((a, b) => (a < b ? -1 : 1))
  for (const key of keys) void tx.run(heldName, { key: String(key) })
}

/** Keys to a statement: prepared for one, two, four… of them, and the last is said again until they are so many. */
const keysMax = 64

/**
 * Prepares locking reads of the rows that have one of several keys.
 * @param key a column whose values are ASCII text and name one row each
 * @returns the rows that are there, locked and handed back in the order of their keys
 */
export function lockedRowsIn<Table extends SQLiteTable>(
  table: Table,
  key: keyof Row<Table> & string,
): (tx: Writer, keys: Iterable<string>) => Promise<Row<Table>[]> {
  const column = (getTableColumns(table) as Record<string, SQLiteColumn>)[key] as SQLiteColumn
  const prepared = new Map<number, Prepared<Row<Table>, 'change'>>()
  const ofSoMany = (count: number) =>
    prepared.getOrInsertComputed(count, () => {
      const keys = Array.from({ length: count }, (_, nth) => sql.placeholder(`key${nth}`))
      const locking = prepareLocking((queries) => queries.select().from(table).where(inArray(column, keys)).orderBy(asc(column)))
      return locking as Prepared<unknown, 'change'> as Prepared<Row<Table>, 'change'>
    })
  return async (tx, keys) => {
    const sorted = [...new Set(keys)].sort()
    const rows: Row<Table>[] = []
    for (let from = 0; from < sorted.length; from += keysMax) {
      const some = sorted.slice(from, from + keysMax)
      const count = 2 ** Math.ceil(Math.log2(some.length))
      const values = Object.fromEntries(Array.from({ length: count }, (_, nth) => [`key${nth}`, some[nth] ?? some.at(-1)]))
      rows.push(...(await tx.all(ofSoMany(count), values)))
    }
    return rows
  }
}

/** That columns have the values which are given under their names when the query runs. */
export function valuesOf<Table extends SQLiteTable>(table: Table, names: readonly (keyof Row<Table> & string)[]): SQL | undefined {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  return and(...names.map((name) => eq(columns[name] as SQLiteColumn, sql.placeholder(name))))
}

/**
 * Prepares the insert of one whole row.
 * @param onTaken `skip`: a row whose key is there already is left out; `leave`: so it is, and nobody asks whether it was
 * @param row for `skip`, the column by which others may have that row
 * @returns whether the row was inserted, for `skip`; else it throws when it was not
 */
export function insertOf<Table extends SQLiteTable>(
  table: Table,
  onTaken: 'throw' | 'skip' | 'leave' = 'throw',
  row?: keyof Row<Table> & string,
): (tx: Writer, row: Row<Table>) => Promise<boolean> {
  const values = placeholders(Object.keys(getTableColumns(table))) as Table['$inferInsert']
  if (onTaken !== 'skip') {
    const plain = prepare((queries) => {
      const inserting = queries.insert(table).values(values)
      return onTaken === 'leave' ? inserting.onConflictDoNothing() : inserting
    })
    const insert = engine === 'postgres' ? withMany(plain, table, insertArrays(table, onTaken)) : plain
    return async (tx, row) => {
      await tx.run(insert, row)
      return true
    }
  }
  const insert = prepareTold((queries) => queries.insert(table).values(values).onConflictDoNothing(), row && { row })
  return async (tx, row) => (await tx.first(insert, row)) !== undefined
}

/** What is known once a write has committed: to be awaited behind it. */
export type KnownLater<T> = { readonly known: Promise<T> }

/**
 * Ends a work by what its last statements answer, without waiting for it: the commit is sent with them. Nothing that would have to keep
 * the commit back may depend on it.
 * @returns what the work returns
 */
export async function knownLater<T>(known: Promise<T>): Promise<KnownLater<T>> {
  // SQLite has answered by now, or refused.
  if (engine === 'sqlite') await known
  // Of a write that failed it is the write that says so.
  else known.catch(() => undefined)
  return { known }
}

/** Rows to a statement on SQLite, which has one for each number of them. */
const rowsMax = 16

/**
 * Prepares the insert of many whole rows by as few statements as can be: one, but on SQLite one for sixteen rows.
 * @returns what inserts them, in their order; it throws when one of them was not, and does nothing when there are none
 */
export function insertAllOf<Table extends SQLiteTable>(table: Table): (tx: Writer, rows: readonly Row<Table>[]) => Promise<void> {
  if (engine === 'postgres') {
    const many = insertArrays(table, 'throw')
    const insert = withMany(many, table, many)
    return async (tx, rows) => {
      if (rows.length > 0) await tx.run(insert, { rows })
    }
  }
  const names = Object.keys(getTableColumns(table))
  const prepared = new Map<number, Prepared<never, 'change'>>()
  const ofSoMany = (count: number) =>
    prepared.getOrInsertComputed(count, () => {
      const rows = Array.from({ length: count }, (_, nth) =>
        Object.fromEntries(names.map((name) => [name, sql.placeholder(`${name} ${nth}`)])),
      )
      return prepare((queries) => queries.insert(table).values(rows as Table['$inferInsert'][]))
    })
  return async (tx, rows) => {
    for (let from = 0; from < rows.length; from += rowsMax) {
      const some: readonly Values[] = rows.slice(from, from + rowsMax)
      const values: Record<string, unknown> = {}
      some.forEach((row, nth) => {
        for (const name of names) values[`${name} ${nth}`] = row[name]
      })
      await tx.run(ofSoMany(some.length), values)
    }
  }
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
  return setting(
    (names) =>
      prepare((queries) =>
        queries
          .update(table)
          .set(placeholders(names) as never)
          .where(where)
          .returning(fields),
      ) as Prepared<unknown> as Prepared<Changed>,
    (tx, query, values) => tx.all(query, values),
  )
}

/**
 * `updateOf` where only is asked whether any row was changed.
 * @returns whether one was
 */
export const changeOf = <Table extends SQLiteTable>(
  table: Table,
  where: SQL | undefined,
): ((tx: Writer, change: Partial<Row<Table>>, values: Values) => Promise<boolean>) =>
  setting(
    (names) =>
      prepareTold((queries) =>
        queries
          .update(table)
          .set(placeholders(names) as never)
          .where(where),
      ),
    async (tx, query, values) => (await tx.first(query, values)) !== undefined,
  )

/**
 * `changeOf` where a row must be changed: see `prepareSure`.
 * @param row the placeholder that tells which
 */
export const sureChangeOf = <Table extends SQLiteTable>(
  table: Table,
  where: SQL | undefined,
  row = 'which',
): ((tx: Writer, change: Partial<Row<Table>>, values: Values) => Promise<void>) =>
  setting(
    (names) =>
      prepareSure(
        (queries) =>
          queries
            .update(table)
            .set(placeholders(names) as never)
            .where(where),
        { row },
      ),
    async (tx, query, values) => tx.run(query, values),
  )

/** Runs what is built for each combination of columns when it is first met; a column that is undefined is none. */
function setting<Query, Told>(build: (names: readonly string[]) => Query, run: (tx: Writer, query: Query, values: Values) => Answer<Told>) {
  const prepared = new Map<string, Query>()
  return async (tx: Writer, change: Values, values: Values): Promise<Told> => {
    const names = Object.keys(change).filter((name) => change[name] !== undefined)
    return run(
      tx,
      prepared.getOrInsertComputed(names.join(), () => build(names)),
      { ...change, ...values },
    )
  }
}
