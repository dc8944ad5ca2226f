import type { Migration } from './pending.ts'
import { readMigrations } from './read.ts' with { type: 'macro' }

/** All migrations, embedded so that the binary needs no other files. */
export const sqliteMigrations: readonly Migration[] = readMigrations('sqlite')
export const postgresMigrations: readonly Migration[] = readMigrations('postgres')
