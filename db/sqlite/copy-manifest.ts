/** What is kept on record of a copy: enough to tell, wherever it is found, that it is whole and what it needs. */
import type { Database as Sqlite } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import type { FileFigures, NamedDocument } from '../engine.ts'

const readBytes = 1024 * 1024
const names = <T>(connection: Sqlite, table: string, query: string, ...values: string[]): T[] => {
  const found = connection.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table)
  return found ? connection.query<T, string[]>(query).all(...values) : []
}

/** The files that a database names, documents and pictures; none where it is of a version that knew them not. */
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

/** SHA-256 of a file of a picture, by its name. */
export const pictureFileIn = (connection: Sqlite, storageName: string): { digest: string } | undefined =>
  names<{ digest: string }>(connection, 'picture_files', 'SELECT digest FROM picture_files WHERE storage_name = ?', storageName)[0]

/** What it takes to open a document that a database names, by the name of its file. */
export const sealedDocumentIn = (connection: Sqlite, storageName: string) =>
  connection
    .query<{ id: string; applicationId: string; key: string; hash: string; sealedKey: string }, [string]>(
      'SELECT id, application_id AS applicationId, key, hash, sealed_key AS sealedKey FROM lending_documents WHERE storage_name = ?',
    )
    .get(storageName) ?? undefined

/** How many rows each table has. */
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

const rowsNamed = 3

/** Where the first few rows of many are. @param rows a rowid each */
export const rowidsText = (rows: readonly (number | bigint)[]): string =>
  `in rowid ${rows.slice(0, rowsNamed).join(', ')}${rows.length > rowsNamed ? ' and more' : ''}`

/** Keeps of rows as many as are named, and one more where there are more. */
export const named = <Row extends number | bigint>(rows: readonly Row[], row: Row): Row[] =>
  rows.length > rowsNamed ? [...rows] : [...rows, row]

/** References that lead nowhere, a line a column. */
export function danglingIn(connection: Sqlite): string[] {
  const found = new Map<string, (number | bigint)[]>()
  const rows = connection.query<{ table: string; row: number | bigint | null; parent: string; columns: string }, []>(
    `SELECT broken."table" AS "table", broken.rowid AS row, broken.parent AS parent,
       (SELECT group_concat("from", ', ') FROM pragma_foreign_key_list(broken."table") WHERE id = broken.fkid) AS columns
     FROM pragma_foreign_key_check AS broken`,
  )
  for (const { table, row, parent, columns } of rows.iterate()) {
    const what = `${table}.${columns} refers to rows of ${parent} that are not there`
    found.set(what, named(found.get(what) ?? [], row ?? 0))
  }
  return [...found].map(([what, rowids]) => `${what}, ${rowidsText(rowids)}`)
}

/** What a file holds to which nobody writes. */
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
    // The first key that a database knew stays in it for ever, whichever took its place.
    instance: keys[0]?.version ?? 'none',
    documents: documentsIn(connection),
  }
}

/** SHA-256 in hex, and the length, of a file that no connection of this process has open. */
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
