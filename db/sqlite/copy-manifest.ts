/** Metadata of a copy: what proves that it is complete, and what it needs. */
import type { Database as Sqlite } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import type { FileFigures, NamedDocument } from '../engine.ts'

const readBytes = 1024 * 1024
const names = <T>(connection: Sqlite, table: string, query: string, ...values: string[]): T[] => {
  const found = connection.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table)
  return found ? connection.query<T, string[]>(query).all(...values) : []
}

/** Lists documents and pictures of a database; empty in versions without them. */
export const documentsIn = (connection: Sqlite): NamedDocument[] => [
  ...names<NamedDocument>(
    connection,
    'lending_documents',
    'SELECT store, storage_name AS storageName, size FROM lending_documents ORDER BY storage_name',
  ),
  ...names<NamedDocument>(
    connection,
    'picture_files',
    'SELECT store, storage_name AS storageName, bytes AS size FROM picture_files ORDER BY storage_name',
  ),
]

/** Returns the SHA-256 of a picture file. */
export const pictureFileIn = (connection: Sqlite, storageName: string): { digest: string } | undefined =>
  names<{ digest: string }>(connection, 'picture_files', 'SELECT digest FROM picture_files WHERE storage_name = ?', storageName)[0]

/** Returns what is needed to open a document. */
export const sealedDocumentIn = (connection: Sqlite, storageName: string) =>
  connection
    .query<{ id: string; applicationId: string; key: string; hash: string; sealedKey: string }, [string]>(
      'SELECT id, application_id AS applicationId, key, hash, sealed_key AS sealedKey FROM lending_documents WHERE storage_name = ?',
    )
    .get(storageName) ?? undefined

/** Counts the rows of each table. */
export function rowsIn(connection: Sqlite): Record<string, number> {
  const tables = connection
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
    )
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => [name, connection.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name}"`).get()?.n ?? 0]),
  )
}

const rowidsShown = 3

/** Names the first rows of a finding by their rowids, for its message. */
export const rowidsText = (rows: readonly (number | bigint)[]): string =>
  `in rowid ${rows.slice(0, rowidsShown).join(', ')}${rows.length > rowidsShown ? ' and more' : ''}`

/** Collects rowids, one more than messages name. */
export const collectRowid = <Row extends number | bigint>(rows: readonly Row[], row: Row): Row[] =>
  rows.length > rowidsShown ? [...rows] : [...rows, row]

/** Describes dangling references, one line per column. */
export function danglingIn(connection: Sqlite): string[] {
  const found = new Map<string, (number | bigint)[]>()
  const rows = connection.query<{ table: string; row: number | bigint | null; parent: string; columns: string }, []>(
    `SELECT broken."table" AS "table", broken.rowid AS row, broken.parent AS parent,
       (SELECT group_concat("from", ', ') FROM pragma_foreign_key_list(broken."table") WHERE id = broken.fkid) AS columns
     FROM pragma_foreign_key_check AS broken`,
  )
  for (const { table, row, parent, columns } of rows.iterate()) {
    const what = `${table}.${columns} refers to rows of ${parent} that are not there`
    found.set(what, collectRowid(found.get(what) ?? [], row ?? 0))
  }
  return [...found].map(([what, rowids]) => `${what}, ${rowidsText(rowids)}`)
}

/** Returns the metadata of an unused file. */
export function figuresOf(connection: Sqlite): Omit<FileFigures, 'bytes' | 'sha256'> {
  const keys = names<{ version: string; retired: number | null }>(
    connection,
    'encryption_keys',
    'SELECT version, retired_at AS retired FROM encryption_keys ORDER BY created_at, version',
  )
  return {
    rows: rowsIn(connection),
    migrations: names<{ tag: string }>(connection, 'souk_migrations', 'SELECT tag FROM souk_migrations ORDER BY tag').map(({ tag }) => tag),
    keys: keys.filter(({ retired }) => retired === null).map(({ version }) => version),
    // The first key stays forever, which identifies the instance.
    instance: keys[0]?.version ?? 'none',
    documents: documentsIn(connection),
  }
}

/** Returns SHA-256 in hex and length of a file that this process has not opened in SQLite. */
export function digestOf(file: string): { sha256: string; bytes: number } {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(readBytes)
  const descriptor = openSync(file, 'r')
  try {
    for (let bytes = 0; ; ) {
      const read = readSync(descriptor, buffer)
      if (read === 0) return { sha256: hash.digest('hex'), bytes }
      hash.update(buffer.subarray(0, read))
      bytes += read
    }
  } finally {
    closeSync(descriptor)
  }
}
