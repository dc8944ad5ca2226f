import { DatabaseRefused } from '../engine.ts'

export type Migration = { readonly tag: string; readonly statements: string }

/** The statements of a migration, in order. */
export const statementsOf = ({ statements }: Migration) =>
  statements
    .split('--> statement-breakpoint')
    .map((statement) => statement.trim())
    .filter((statement) => statement.length > 0)

/**
 * The migrations that `applied` still lacks, in order.
 * @throws DatabaseRefused when `applied` holds one that we do not know.
 */
export function pendingOf(migrations: readonly Migration[], applied: readonly string[]): Migration[] {
  const known = new Set(migrations.map(({ tag }) => tag))
  if (applied.some((tag) => !known.has(tag))) {
    throw new DatabaseRefused('the database was written by a newer souk: start that version, or restore a backup made before the upgrade')
  }
  const done = new Set(applied)
  return migrations.filter(({ tag }) => !done.has(tag))
}

/** The table of the migrations that have run, up to the type of `applied_at`. */
export const createTable = 'CREATE TABLE IF NOT EXISTS souk_migrations (tag text PRIMARY KEY NOT NULL, applied_at '
