/** The source of a move: a SQLite file that is locked against writes. */
import { Database as Sqlite } from 'bun:sqlite'
import { isUtf8 } from 'node:buffer'
import { statSync } from 'node:fs'
import { DatabaseRefused, engineErrorCode } from '../engine.ts'
import { collectRowid, danglingIn, rowidsText } from '../sqlite/copy-manifest.ts'
import { configure } from '../sqlite/engine.ts'
import type { Kind } from './copy-text.ts'

/** A table of the source with its number of rows. */
export type SourceTable = {
  readonly name: string
  readonly columns: readonly string[]
  /** Referenced tables. */
  readonly parents: readonly string[]
  readonly rows: number
}
/** The rowid and the values in column order. */
type SourceRow = readonly [bigint, ...unknown[]]

/** A column and its type in the target. */
export type Column = { readonly name: string; readonly kind: Kind; readonly isShort: boolean }

/** The locked source file. Its reads see one unchanging state. */
export type Source = {
  /** Changes with every write. */
  readonly fingerprint: string
  readonly tables: readonly SourceTable[]
  /** Describes rows that the target would refuse. */
  problems(table: string, columns: readonly Column[]): string[]
  /** Describes dangling references. */
  listDangling(): string[]
  /** Approximate bytes of the longest row. */
  maxLengthOf(table: string, columns: readonly string[]): number
  /** Returns rows after a rowid. */
  rows(table: string, columns: readonly string[], after: bigint, limit: number): SourceRow[]
  /** Two sums per integer column, exact together; see `sumsOf`. */
  figures(table: string, columns: readonly string[]): string[]
  all<Row>(query: string): Row[]
  close(): void
}

/** Builds two sums per column that both engines compute alike, without overflow. */
export const sumsOf = (columns: readonly string[]): string =>
  ['count(*)', ...columns.flatMap((name) => [`coalesce(sum("${name}" / 1000000), 0)`, `coalesce(sum("${name}" % 1000000), 0)`])].join(', ')

/** Tables of the engine: search indexes, which the target rebuilds, and migrations. */
const ownTables = new Set(['souk_migrations', 'product_ranks', 'managed_ranks', 'customer_ranks', 'search_shops'])
/** Range of 32-bit integers. */
const [intMin, intMax] = [-2_147_483_648, 2_147_483_647]

/**
 * Opens the file and locks it against writes; reads continue.
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

/** More rows than messages name. */
const wrongMax = 10
const problemLines = (what: string, rows: readonly bigint[]): string[] => (rows.length === 0 ? [] : [`${what}, ${rowidsText(rows)}`])

const inUse = () => new DatabaseRefused('Another souk command is using the database. Wait for it to finish, then try again')

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

  /** Describes violating rows and names the first few. */
  function describeRows(table: string, column: string, isWrong: string, what: string): string[] {
    const rows = connection.query<[bigint], []>(`SELECT rowid FROM "${table}" WHERE ${isWrong} LIMIT ${wrongMax}`).values()
    return problemLines(
      `${table}.${column} ${what}`,
      rows.map(([rowid]) => rowid as bigint),
    )
  }

  /** Describes text columns with invalid UTF-8, which would be read as other text. */
  function invalidTextIn(table: string, column: string): string[] {
    // Only non-ASCII values need the check; SQLite accepts any bytes as text.
    const query = connection.query<{ id: bigint; bytes: Uint8Array }, []>(
      `SELECT rowid AS id, CAST("${column}" AS BLOB) AS bytes FROM "${table}" WHERE "${column}" GLOB '*[^' || char(1) || '-' || char(127) || ']*'`,
    )
    let rows: bigint[] = []
    for (const { id, bytes } of query.iterate()) if (!isUtf8(bytes)) rows = collectRowid(rows, id)
    return problemLines(`${table}.${column} holds bytes that are no text (UTF-8)`, rows)
  }

  return {
    fingerprint: `${size} ${mtimeNs} ${key?.version ?? ''}`,
    tables,
    problems: (table, columns) =>
      columns.flatMap(({ name, kind, isShort }) => {
        if (kind === 'text')
          return [
            ...describeRows(table, name, `instr("${name}", char(0)) > 0`, 'holds NUL characters, which PostgreSQL does not take'),
            ...invalidTextIn(table, name),
          ]
        if (kind === 'truth') return describeRows(table, name, `"${name}" NOT IN (0, 1)`, 'is neither true nor false')
        if (isShort) return describeRows(table, name, `"${name}" NOT BETWEEN ${intMin} AND ${intMax}`, 'is too large for its column there')
        return []
      }),
    listDangling: () => danglingIn(connection),
    maxLengthOf(table, columns) {
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
 * Sorts tables so that referenced tables come first.
 * @throws Error for circular references
 */
export function sortByReferences(tables: readonly SourceTable[]): SourceTable[] {
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
