/** The database file that is moved: nobody writes to it meanwhile, and nothing in it is changed. */
import { Database as Sqlite } from 'bun:sqlite'
import { isUtf8 } from 'node:buffer'
import { statSync } from 'node:fs'
import { DatabaseRefused, engineErrorCode } from '../engine.ts'
import { danglingIn, named, rowidsText } from '../sqlite/copy-manifest.ts'
import { configure } from '../sqlite/engine.ts'
import type { Kind } from './copy-text.ts'

export type SourceTable = {
  readonly name: string
  readonly columns: readonly string[]
  /** Tables that it refers to. */
  readonly parents: readonly string[]
  readonly rows: number
}
/** Its rowid, and behind it its values in the order of the columns. */
export type SourceRow = readonly [bigint, ...unknown[]]

/** A column of the source, and what the target holds in its place. */
export type Column = { readonly name: string; readonly kind: Kind; readonly isShort: boolean }

export type Source = {
  /** Differs once anything was written to it. */
  readonly fingerprint: string
  readonly tables: readonly SourceTable[]
  /** What the target would refuse, in words; looked for table by table. */
  problems(table: string, columns: readonly Column[]): string[]
  /** References that lead nowhere. */
  dangling(): string[]
  /** Bytes of the longest row of a table, about. */
  longest(table: string, columns: readonly string[]): number
  /** Rows behind `after`, by their rowids. */
  rows(table: string, columns: readonly string[], after: bigint, limit: number): SourceRow[]
  /** Of each integer column two sums, which together are exact: see `sumsOf`. */
  figures(table: string, columns: readonly string[]): string[]
  all<Row>(query: string): Row[]
  close(): void
}

/** Both engines understand it, and neither overflows. */
export const sumsOf = (columns: readonly string[]): string =>
  ['count(*)', ...columns.flatMap((name) => [`coalesce(sum("${name}" / 1000000), 0)`, `coalesce(sum("${name}" % 1000000), 0)`])].join(', ')

/** What belongs to the engine: the search indexes, which the target builds for itself, and the migrations that have run. */
const ownTables = new Set(['souk_migrations', 'product_ranks', 'managed_ranks', 'customer_ranks', 'search_shops'])
/** Of 32 bits. */
const [intMin, intMax] = [-2_147_483_648, 2_147_483_647]

/**
 * Opens the file and keeps everybody else from writing to it until it is closed. Reads go on.
 * @throws DatabaseRefused while another command uses it
 */
export function openSource(file: string): Source {
  const connection = new Sqlite(file, { readwrite: true, create: false, strict: true, safeIntegers: true })
  try {
    return sourceOn(connection, file)
  } catch (error) {
    connection.close()
    if (engineErrorCode(error)?.startsWith('SQLITE_BUSY')) throw inUse()
    throw error
  }
}

/** More than are named. */
const wrongMax = 10
const told = (what: string, rows: readonly bigint[]): string[] => (rows.length === 0 ? [] : [`${what}, ${rowidsText(rows)}`])

const inUse = () => new DatabaseRefused('Another souk command uses the database: wait until it is done, then try again')

function sourceOn(connection: Sqlite, file: string): Source {
  configure(connection)
  connection.run('PRAGMA cache_size = -64000')
  const all = <Row>(query: string): Row[] => connection.query<Row, []>(query).all()
  const [moved] = connection.query<[bigint], []>('PRAGMA wal_checkpoint(TRUNCATE)').values()
  if (moved?.[0] !== 0n) throw inUse()
  connection.run('BEGIN IMMEDIATE')
  const { size, mtimeNs } = statSync(file, { bigint: true })
  const [key] = all<{ version: string }>('SELECT version FROM encryption_keys ORDER BY created_at, version LIMIT 1')

  const tables = all<{ name: string }>("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
    .filter(({ name }) => !name.startsWith('sqlite_') && !ownTables.has(name))
    .map(({ name }) => ({
      name,
      columns: all<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`).map((column) => column.name),
      parents: all<{ table: string }>(`SELECT DISTINCT "table" FROM pragma_foreign_key_list('${name}')`).map(({ table }) => table),
      rows: Number(all<{ n: bigint }>(`SELECT count(*) AS n FROM "${name}"`)[0]?.n ?? 0),
    }))

  /** How many rows are not as they must be, and where the first few are. */
  function found(table: string, column: string, isWrong: string, what: string): string[] {
    const rows = connection.query<[bigint], []>(`SELECT rowid FROM "${table}" WHERE ${isWrong} LIMIT ${wrongMax}`).values()
    return told(
      `${table}.${column} ${what}`,
      rows.map(([rowid]) => rowid as bigint),
    )
  }

  /** Text that is none: read as text, another one would stand in its place. */
  function notText(table: string, column: string): string[] {
    // What is not ASCII throughout; SQLite itself takes any bytes for text.
    const query = connection.query<{ id: bigint; bytes: Uint8Array }, []>(
      `SELECT rowid AS id, CAST("${column}" AS BLOB) AS bytes FROM "${table}" WHERE "${column}" GLOB '*[^' || char(1) || '-' || char(127) || ']*'`,
    )
    let rows: bigint[] = []
    for (const { id, bytes } of query.iterate()) if (!isUtf8(bytes)) rows = named(rows, id)
    return told(`${table}.${column} holds bytes that are no text (UTF-8)`, rows)
  }

  return {
    fingerprint: `${size} ${mtimeNs} ${key?.version ?? ''}`,
    tables,
    problems: (table, columns) =>
      columns.flatMap(({ name, kind, isShort }) => {
        if (kind === 'text')
          return [
            ...found(table, name, `instr("${name}", char(0)) > 0`, 'holds NUL characters, which PostgreSQL does not take'),
            ...notText(table, name),
          ]
        if (kind === 'truth') return found(table, name, `"${name}" NOT IN (0, 1)`, 'is neither true nor false')
        if (isShort) return found(table, name, `"${name}" NOT BETWEEN ${intMin} AND ${intMax}`, 'is too large for its column there')
        return []
      }),
    dangling: () => danglingIn(connection),
    longest(table, columns) {
      const bytes = columns.map((name) => `coalesce(octet_length("${name}"), 0)`).join(' + ')
      return Number(connection.query<[bigint | null], []>(`SELECT max(${bytes}) FROM "${table}"`).values()[0]?.[0] ?? 0)
    },
    rows: (table, columns, after, limit) =>
      connection
        .query<never, [bigint, number]>(
          `SELECT rowid, ${columns.map((name) => `"${name}"`).join(', ')} FROM "${table}" WHERE rowid > ? ORDER BY rowid LIMIT ?`,
        )
        .values(after, limit) as unknown as SourceRow[],
    figures: (table, columns) => (connection.query(`SELECT ${sumsOf(columns)} FROM "${table}"`).values()[0] ?? []).map(String),
    all,
    close() {
      connection.run('ROLLBACK')
      connection.close()
    },
  }
}

/**
 * Tables in an order in which each comes behind those that it refers to.
 * @throws Error where they refer to each other in a circle
 */
export function inOrder(tables: readonly SourceTable[]): SourceTable[] {
  const placed: SourceTable[] = []
  const names = new Set<string>()
  let left = [...tables]
  while (left.length > 0) {
    const next = left.filter(({ name, parents }) => parents.every((parent) => parent === name || names.has(parent)))
    if (next.length === 0) throw new Error(`tables that refer to each other in a circle: ${left.map(({ name }) => name).join(', ')}`)
    placed.push(...next)
    for (const { name } of next) names.add(name)
    left = left.filter(({ name }) => !names.has(name))
  }
  return placed
}
