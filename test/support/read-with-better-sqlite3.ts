/**
 * Reads a file with an independent library, in a separate process: two SQLite libraries in one drop each other's locks.
 */
import BetterSqlite from 'better-sqlite3'

const connection = new BetterSqlite(Bun.argv[2], { readonly: true })
const { integrity_check } = connection.prepare('PRAGMA integrity_check').get() as { integrity_check: string }
process.stdout.write(`${integrity_check}\n`)
for (const { id } of connection.prepare('SELECT id FROM attempts').all() as { id: string }[]) process.stdout.write(`${id}\n`)
