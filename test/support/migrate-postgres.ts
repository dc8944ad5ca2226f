/** Migrates a PostgreSQL database after a line on standard input. Prints the number of applied migrations. */

import { postgresMigrations } from '../../db/migrations/index.ts'
import { migratePostgres } from '../../db/postgres/migrate.ts'

process.stdout.write('ready\n')
for await (const _ of console) break
const applied = await migratePostgres(Bun.argv[2] ?? '', postgresMigrations, 0)
process.stdout.write(`${applied.length}\n`)
