import type { Migration } from './pending.ts'
import { readMigrations } from './read.ts' with { type: 'macro' }

/** Every migration, inside the program: the binary needs no file beside it. */
export const sqliteMigrations: readonly Migration[] = readMigrations('sqlite')
export const postgresMigrations: readonly Migration[] = readMigrations('postgres')
