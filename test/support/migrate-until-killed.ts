/** Migrates a database of either engine. The last migration takes long enough to be killed during it. */
import { engine } from '../../db/columns.ts'
import type { Migration } from '../../db/migrations/pending.ts'
import { migratePostgres } from '../../db/postgres/migrate.ts'
import { migrateSqlite } from '../../db/sqlite/migrate.ts'

const [where = '', backups = '', text = ''] = Bun.argv.slice(2)
const migrations = JSON.parse(text) as Migration[]
if (engine === 'sqlite') migrateSqlite(where, migrations, { backups, now: process.pid })
else await migratePostgres(where, migrations, 2)
