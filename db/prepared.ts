/**
 * Prepared queries. Building a query with drizzle costs about ten times its execution, and drizzle's row mapping more
 * than the read. They are independent of the database: readers and writers run them by `first`, `all` and `run`.
 */
import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import { PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import { BaseSQLiteDatabase, SQLiteAsyncDialect, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { insertArrays, withMany } from './arrays.ts'
import { engine } from './columns.ts'
import { type Builder, compile, hasJoins, nameOf, tableOf } from './compile.ts'
import type { BatchPlacement, Compiled, MaybePromise, Prepared, Queries, Values, Writer } from './engine.ts'

type RowsOf<B> = B extends { readonly _: { readonly result: (infer Row)[] } } ? Row : never
/** Only selects have a mode. */
type KindOf<B> = B extends { readonly _: { readonly selectMode: unknown } } ? 'read' : 'change'

// Without a session, because nothing runs here. The types are SQLite's.
const builders: Queries =
  engine === 'sqlite'
    ? new BaseSQLiteDatabase('async', new SQLiteAsyncDialect(), undefined as never, undefined)
    : (new PgDatabase(new PgDialect(), undefined as never, undefined) as unknown as Queries)

/**
 * Prepares a query. It is built at its first run.
 * @param build uses `sql.placeholder` for values. Inserted values are encoded by their columns; others are passed to
 *   the driver.
 * @param within its placement in a group commit
 * @returns a query for `first`, `all` and `run`, with the row type of the builder
 */
export function prepare<B extends Builder>(build: (queries: Queries) => B, within?: BatchRole): Prepared<RowsOf<B>, KindOf<B>> {
  let compiled: Compiled<RowsOf<B>> | undefined
  return {
    get compiled() {
      if (!compiled) {
        const builder = build(builders)
        compiled = { ...compile<RowsOf<B>>(builder), placement: batchPlacementOf(within, builder) }
      }
      return compiled
    },
  }
}

/**
 * The name of the value that identifies the locked row, or `behind`: it locks nothing and follows earlier statements.
 */
type BatchRole = { readonly row: string } | 'behind' | undefined

function batchPlacementOf(within: BatchRole, builder: Builder): BatchPlacement | undefined {
  if (within === 'behind') return { kind: 'behind' }
  return within && { kind: 'row', table: tableOf(builder), by: within.row }
}

/**
 * Prepares a read that locks its rows until the write ends. On SQLite, where writes are exclusive, it is a plain read.
 * @param build a select from one table; several rows need a fixed order
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
 * Prepares a change whose only result is whether it changed a row: `first` returns an object or undefined. RETURNING
 * would double the time on SQLite.
 * @param build without RETURNING
 */
export function prepareCheckedChange(build: (queries: Queries) => Builder): Prepared<object, 'change'> {
  let compiled: Compiled<object> | undefined
  return {
    get compiled() {
      if (!compiled) {
        const builder = build(builders)
        compiled =
          engine === 'postgres' ? compile<object>(builder, ' returning 1 as "done"') : { ...compile<object>(builder), isRowless: true }
      }
      return compiled
    },
  }
}

/**
 * Prepares a change or locking read that must affect a row. The write does not wait for it: later statements and the
 * commit follow at once. Without a row the write throws NothingChanged.
 * @param build an update or delete without RETURNING, or a select from one table
 * @param within as for `prepare`; `behind`: a read without locks, of any tables
 */
export function prepareSure(build: (queries: Queries) => Builder, within?: BatchRole): Prepared<never, 'change'> {
  const plain = prepare(build, within) as Prepared<never>
  let compiled: Compiled<never> | undefined
  return {
    get compiled() {
      compiled ??= compileSure(plain.compiled)
      return compiled
    },
  }
}

function compileSure(plain: Compiled<never>): Compiled<never> {
  if (engine === 'sqlite') return { ...plain, sure: true }
  const isRead = plain.text.startsWith('select')
  // Division by zero makes the statement fail.
  const locking = plain.placement?.kind === 'behind' ? '' : ' for no key update'
  const text = isRead
    ? `select 1 / count(*) as "sure" from (${plain.text}${locking}) as "done"`
    : `with "done" as (${plain.text} returning 1) select 1 / count(*) as "sure" from "done"`
  return { ...plain, text, name: nameOf(text), sure: true }
}

function compileLocking<Row>(builder: Builder): Compiled<Row> {
  // Joined rows could be older than the locked row.
  if (hasJoins(builder)) throw new Error('a query that locks reads one table')
  return compile<Row>(builder, engine === 'postgres' ? ' for no key update' : '')
}

type Row<Table extends SQLiteTable> = Table['$inferSelect']
const placeholders = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]))

/**
 * Prepares a select of whole rows by column values.
 * @param by columns, also the names of the values: `rowsOf(carts, ['id'])`
 * @param order needed for several rows
 */
export const rowsOf = <Table extends SQLiteTable>(
  table: Table,
  by: readonly (keyof Row<Table> & string)[],
  ...order: readonly SQL[]
): Prepared<Row<Table>, 'read'> => rowsWhere(table, valuesOf(table, by), ...order)

/** Prepares a select of whole rows by a condition. */
export const rowsWhere = <Table extends SQLiteTable>(
  table: Table,
  where: SQL | undefined,
  ...order: readonly SQL[]
): Prepared<Row<Table>, 'read'> =>
  prepare((queries) =>
    queries
      .select()
      .from(table)
      .where(where)
      .orderBy(...order),
  ) as Prepared<unknown, 'read'> as Prepared<Row<Table>, 'read'>

/**
 * Does `rowsOf` with locks, like `prepareLocking`. Several rows are locked in `order`, which must be the same
 * everywhere.
 */
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
 * Prepares a lock of a row that must equal the known row in some columns; see `prepareSure`.
 * @param which identifies the row: an immutable column without nulls
 */
export function lockAsKnownOf<Table extends SQLiteTable>(
  table: Table,
  which: keyof Row<Table> & string,
  expectedColumns: readonly (keyof Row<Table> & string)[],
): (tx: Writer, row: Row<Table>) => MaybePromise<void> {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  const same = expectedColumns.map((name) => sql`${columns[name]} is not distinct from ${sql.placeholder(name)}`)
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

const lockName: Prepared<never, 'change'> = {
  compiled: {
    text: 'select pg_advisory_xact_lock($1::bigint)',
    name: nameOf('pg_advisory_xact_lock'),
    bind: ({ key }) => [key],
    finish: (row) => row as never,
  },
}

/**
 * Locks names until the write ends, for rules without a row, such as a maximum number of rows. Two names may collide,
 * which is harmless. On SQLite it does nothing.
 */
export function lockNames(tx: Writer, names: readonly string[]): void {
  if (engine === 'sqlite') return
  const keys = [...new Set(names.map((name) => BigInt.asIntN(64, BigInt(Bun.hash(name)))))].sort((a, b) => (a < b ? -1 : 1))
  for (const key of keys) void tx.run(lockName, { key: String(key) })
}

/** Keys per statement. Statements exist for powers of two; the last key is repeated to fill one. */
const keysMax = 64

/**
 * Prepares locking reads by keys.
 * @param key a unique column with ASCII values
 * @returns the existing rows, locked and sorted by key
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

/** Builds the condition that columns equal the values of the same names. */
export function valuesOf<Table extends SQLiteTable>(table: Table, names: readonly (keyof Row<Table> & string)[]): SQL | undefined {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  return and(...names.map((name) => eq(columns[name] as SQLiteColumn, sql.placeholder(name))))
}

/**
 * Prepares the insert of a row.
 * @param onTaken `leave`: an existing row is kept
 * @returns a function that throws on a conflict, unless `onTaken` is `leave`
 */
export function insertOf<Table extends SQLiteTable>(
  table: Table,
  onTaken: 'throw' | 'leave' = 'throw',
): (tx: Writer, row: Row<Table>) => Promise<void> {
  const plain = prepare((queries) => {
    const inserting = queries.insert(table).values(insertedValues(table))
    return onTaken === 'leave' ? inserting.onConflictDoNothing() : inserting
  })
  const insert = engine === 'postgres' ? withMany(plain, table, insertArrays(table, onTaken)) : plain
  return async (tx, row) => tx.run(insert, row)
}

/**
 * Prepares the insert of a row that may exist.
 * @returns whether the row was inserted
 */
export function insertNewOf<Table extends SQLiteTable>(table: Table): (tx: Writer, row: Row<Table>) => Promise<boolean> {
  const insert = prepareCheckedChange((queries) => queries.insert(table).values(insertedValues(table)).onConflictDoNothing())
  return async (tx, row) => (await tx.first(insert, row)) !== undefined
}

const insertedValues = <Table extends SQLiteTable>(table: Table) =>
  placeholders(Object.keys(getTableColumns(table))) as Table['$inferInsert']

/** Rows per statement on SQLite, which needs one statement per number of rows. */
const rowsMax = 16

/**
 * Prepares inserts of many rows: one statement on PostgreSQL, one per 16 rows on SQLite.
 * @returns a function that inserts rows in order and throws on a conflict
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
 * Prepares updates of any columns; each combination is built at its first use.
 * @param where its placeholders must not be named like columns
 * @param returned columns to return; default: all
 * @returns the changed rows
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
 * Prepares updates of a row of a known version.
 * @returns the changed row; undefined if it is gone or has another version
 */
export function updateOfVersion<Table extends SQLiteTable & { readonly id: SQLiteColumn; readonly version: SQLiteColumn }>(
  table: Table,
): (
  tx: Writer,
  expected: { readonly id: string; readonly version: number },
  change: { [Name in keyof Row<Table>]?: Row<Table>[Name] | undefined },
) => Promise<Row<Table> | undefined> {
  const update = updateOf<SQLiteTable>(table, and(eq(table.id, sql.placeholder('which')), eq(table.version, sql.placeholder('was'))))
  return async (tx, { id, version }, change) => {
    const [row] = await update(tx, change, { which: id, was: version })
    return row as Row<Table> | undefined
  }
}

/**
 * Does `updateOf` without returning rows.
 * @returns whether a row was changed
 */
export const changeOf = <Table extends SQLiteTable>(
  table: Table,
  where: SQL | undefined,
): ((tx: Writer, change: Partial<Row<Table>>, values: Values) => Promise<boolean>) =>
  setting(
    (names) =>
      prepareCheckedChange((queries) =>
        queries
          .update(table)
          .set(placeholders(names) as never)
          .where(where),
      ),
    async (tx, query, values) => (await tx.first(query, values)) !== undefined,
  )

/**
 * Does `changeOf`, which must change a row; see `prepareSure`.
 * @param row the placeholder that identifies the row
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

/** Caches one statement per combination of set columns. Undefined columns are ignored. */
function setting<Query, Result>(
  build: (names: readonly string[]) => Query,
  run: (tx: Writer, query: Query, values: Values) => MaybePromise<Result>,
) {
  const prepared = new Map<string, Query>()
  return async (tx: Writer, change: Values, values: Values): Promise<Result> => {
    const names = Object.keys(change).filter((name) => change[name] !== undefined)
    return run(
      tx,
      prepared.getOrInsertComputed(names.join(), () => build(names)),
      { ...change, ...values },
    )
  }
}
