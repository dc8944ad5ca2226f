import { DatabaseRefused } from '../engine.ts'

/** One SQL file. Migrations run in the order of their tags, and each tag runs once. */
export type Migration = { readonly tag: string; readonly statements: string }

/** Returns the statements of a migration, in order. */
export const statementsOf = ({ statements }: Migration) =>
  statements
    .split('--> statement-breakpoint')
    .map((statement) => statement.trim())
    .filter((statement) => statement.length > 0)

/**
 * Returns the migrations that are not in `applied`, in order.
 * @throws DatabaseRefused if `applied` contains an unknown one
 */
export function pendingOf(migrations: readonly Migration[], applied: readonly string[]): Migration[] {
  const tags = new Set(migrations.map(({ tag }) => tag))
  if (applied.some((tag) => !tags.has(tag))) {
    throw new DatabaseRefused('the database was written by a newer version: start that version, or restore a backup from before the upgrade')
  }
  const appliedTags = new Set(applied)
  return migrations.filter(({ tag }) => !appliedTags.has(tag))
}

/** SQL of the table of applied migrations, up to the type of `applied_at`. */
export const createTable = 'CREATE TABLE IF NOT EXISTS souk_migrations (tag text PRIMARY KEY NOT NULL, applied_at '
