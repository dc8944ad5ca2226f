/** Column builders for the engine in use. Schema files import nothing else of a dialect. */
import type { Column } from 'drizzle-orm'
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import { DatabaseRefused } from './engine.ts'

type EngineName = 'sqlite' | 'postgres'

/** Decided when the program loads. The types are SQLite's; both engines satisfy them. */
export const engine: EngineName = /^\s*postgres/i.test(Bun.env['DATABASE_URL'] ?? '') ? 'postgres' : 'sqlite'
const names = { sqlite: 'a SQLite file', postgres: 'PostgreSQL' } as const

/**
 * Checks that the columns belong to the engine to be opened.
 * @throws DatabaseRefused if not, because values would be encoded for the other engine
 */
export function assertEngine(opened: EngineName): void {
  if (opened === engine) return
  throw new DatabaseRefused(`souk was started for ${names[engine]}, but opens ${names[opened]}: set DATABASE_URL in its environment`)
}

const choose = <T>(onSqlite: T, onPostgres: unknown): T => (engine === 'sqlite' ? onSqlite : (onPostgres as T))

export const table = choose(sqlite.sqliteTable, pg.pgTable)
export const index = choose(sqlite.index, pg.index)
export const uniqueIndex = choose(sqlite.uniqueIndex, pg.uniqueIndex)
export const primaryKey = choose(sqlite.primaryKey, pg.primaryKey)

/** Sorts by bytes on both engines, whatever the collation of the PostgreSQL database. */
export const text = choose((name: string) => sqlite.text(name), pg.customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' }))
/** Creates a required column that refers to another table's row. */
export const reference = (name: string, to: () => sqlite.AnySQLiteColumn, actions?: { readonly onDelete: 'cascade' }) =>
  text(name).notNull().references(to, actions)
/** Creates a text column with few possible values. */
export const enumText = <const Words extends readonly [string, ...string[]]>(name: string, _words: Words) =>
  text(name).$type<Words[number]>()
/** 32-bit integer on PostgreSQL; counts and versions fit, amounts and times do not. */
export const int = choose(
  (name: string) => sqlite.integer(name),
  (name: string) => pg.integer(name),
)
const bigint = choose(
  (name: string) => sqlite.integer(name),
  (name: string) => pg.bigint(name, { mode: 'number' }),
)
/** A set of up to 52 bits. */
export const bitSet = bigint
/** Integer minor units. */
export const money = bigint
/** Milliseconds since the epoch, UTC. */
export const instant = bigint
export const bool = choose(
  (name: string) => sqlite.integer(name, { mode: 'boolean' }),
  (name: string) => pg.boolean(name),
)
/** JSON text, byte for byte as written: jsonb would reorder keys. */
export const json = choose(
  <T>(name: string) => sqlite.text(name, { mode: 'json' }).$type<T>(),
  <T>(name: string) =>
    pg.customType<{ data: T; driverData: string }>({
      dataType: () => 'text',
      toDriver: (value) => JSON.stringify(value),
      fromDriver: (value) => JSON.parse(value) as T,
    })(name),
)

/** Decodes a value of a column that hand-written SQL selected. */
export const columnValue = <Data>(column: Column & { readonly _: { readonly data: Data } }, value: unknown): NonNullable<Data> =>
  column.mapFromDriverValue(value) as NonNullable<Data>
