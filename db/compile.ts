/** Compiles drizzle builders once: SQL text, order of parameters, and decoding of rows. */
import {
  Column,
  type DriverValueDecoder,
  getTableColumns,
  getTableName,
  is,
  noopDecoder,
  Param,
  Placeholder,
  SQL,
  sql,
  Table,
} from 'drizzle-orm'
import { PgBigInt53, PgCustomColumn } from 'drizzle-orm/pg-core'
import { engine } from './columns.ts'
import type { Compiled, Values } from './engine.ts'

/** A drizzle builder of either dialect. */
export type Builder = { toSQL(): { sql: string; params: unknown[] } }

type Field = Column | SQL | SQL.Aliased
/** A selected field: its path in the result and its SQL name. */
type Selected = { path: string[]; field: Field; alias: string }
type Ordered = { path: string[]; field: Field }[]
/** Fields of builders that drizzle's types hide. */
type Config = { fields?: Record<string, unknown>; fieldsFlat?: Ordered; returning?: Ordered; joins?: { joinType: string }[]; table?: Table }
type Row = Record<string, unknown>

/**
 * Compiles a builder. Fields get their result names in SQL, so that the driver creates the row objects; other values
 * are decoded in place. Objects may be nested once.
 * @param ending SQL to append
 * @throws Error for a selection that this cannot express
 */
export function compile<Result>(builder: Builder, ending = ''): Compiled<Result> {
  const { config } = builder as unknown as { config: Config }
  const selected = config.fields ? fieldsOf(config.fields) : (config.returning ?? []).map(selectedAs)
  const ordered = selected.map(({ path, field, alias }) => ({ path, field: withAlias(field, alias) }))
  if (config.fields) config.fieldsFlat = ordered
  else if (config.returning) config.returning = ordered
  if (selected.some(({ path }) => path.length > 1) && config.joins?.some(({ joinType }) => joinType !== 'inner')) {
    throw new Error('an outer join may leave a nested object out, which a prepared query cannot say')
  }
  const { sql: written, params } = builder.toSQL()
  // SQLite reads a bound LIMIT for its plan, and would plan the query again at each run.
  const text = (engine === 'sqlite' ? written.replaceAll(' limit ?', ' limit +?') : written) + ending
  return { text, name: nameOf(text), bind: binding(params), finish: createFinish<Result>(selected) }
}

/** Returns the name under which a server caches the plan of a statement. */
export const nameOf = (text: string): string => Bun.hash(text).toString(36)

/** Returns whether a query reads several tables. */
export const hasJoins = (builder: Builder): boolean => ((builder as unknown as { config: Config }).config.joins?.length ?? 0) > 0

/** Returns the table that a builder changes or reads. */
export function tableOf(builder: Builder): string {
  const { table } = (builder as unknown as { config: Config }).config
  if (!table || !is(table, Table)) throw new Error('a query of no table')
  return getTableName(table)
}

/** Lists the fields of a selection; a table means all its columns. */
function fieldsOf(fields: Record<string, unknown>, under: string[] = []): Selected[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...under, name]
    if (isField(field)) return [selectedAs({ path, field })]
    if (under.length > 0) throw new Error(`${path.join('.')} is nested too deep for a prepared query`)
    return fieldsOf(is(field, Table) ? getTableColumns(field) : (field as Record<string, unknown>), path)
  })
}

const isField = (field: unknown): field is Field => is(field, Column) || is(field, SQL) || is(field, SQL.Aliased)

/** An alias stays, because the query may refer to it. */
function selectedAs({ path, field }: { path: string[]; field: Field }): Selected {
  const alias = is(field, SQL.Aliased) ? field.fieldAlias : path.join('.')
  // ORDER BY would silently use the wrong column.
  if (is(field, Column) && field.name !== alias && Object.values(getTableColumns(field.table)).some(({ name }) => name === alias)) {
    throw new Error(`a prepared query gives the column ${field.name} the name of another, ${alias}`)
  }
  return { path, field, alias }
}

function withAlias(field: Field, alias: string): SQL.Aliased {
  if (is(field, SQL.Aliased)) return field
  return is(field, SQL) ? (field.as(alias) as SQL.Aliased) : sql`${field}`.as(alias)
}

/** Returns a function that orders parameter values. Values for columns are encoded; null stays null. */
function binding(params: readonly unknown[]): Compiled<unknown>['bind'] {
  const slots = params.map((param) => {
    const value = is(param, Param) ? param.value : param
    if (!is(value, Placeholder)) return { name: undefined, encoder: undefined, fixed: param }
    const encoder = is(param, Param) && !isPlain(param.encoder, 'mapTo') ? param.encoder : undefined
    return { name: value.name as string, encoder, fixed: undefined }
  })
  // Loops, because this runs before every query.
  return (values: Values) => {
    const bound: unknown[] = []
    for (const { name, encoder, fixed } of slots) {
      const value = name === undefined ? fixed : values[name]
      if (value === undefined) throw new Error(`a prepared query was given no value for ${name}`)
      bound.push(encoder === undefined || value === null ? value : encoder.mapToDriverValue(value))
    }
    return bound
  }
}

/** Coders that do not change values. Both drivers return bigints as numbers. */
const asIs = new Set<unknown>([
  Column.prototype.mapToDriverValue,
  Column.prototype.mapFromDriverValue,
  noopDecoder.mapFromDriverValue,
  PgBigInt53.prototype.mapFromDriverValue,
])

/** Returns whether a coder does not change values. Custom column types have an optional method for it. */
function isPlain(coder: object, way: 'mapTo' | 'mapFrom'): boolean {
  if (is(coder, PgCustomColumn)) return (coder as unknown as Record<typeof way, unknown>)[way] === undefined
  return asIs.has((coder as Record<string, unknown>)[`${way}DriverValue`])
}

function createFinish<Result>(selected: readonly Selected[]): Compiled<Result>['finish'] {
  const decoders = selected.flatMap(({ field, alias }) => {
    const decoder = decoderOf(field)
    return isPlain(decoder, 'mapFrom') ? [] : [{ alias, decoder }]
  })
  const decoded = (row: Row): Row => {
    for (const { alias, decoder } of decoders) {
      const value = row[alias]
      if (value !== null) row[alias] = decoder.mapFromDriverValue(value)
    }
    return row
  }
  const isFlat = selected.every(({ path, alias }) => path.length === 1 && path[0] === alias)
  const parts = partsOf(selected)
  const finish = isFlat ? decoded : (row: Row) => assembleRow(parts, decoded(row))
  return finish as Compiled<Result>['finish']
}

/** drizzle's types hide the decoder of SQL. */
function decoderOf(field: Field): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field
  return ((is(field, SQL) ? field : field.sql) as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder
}

/** A property of a row: a value of the driver, or an object of such values. */
type Part = { name: string; alias: string; inner: { name: string; alias: string }[] | undefined }

function partsOf(selected: readonly Selected[]): Part[] {
  const byName = Map.groupBy(selected, ({ path }) => path[0] ?? '')
  return [...byName].map(([name, fields]) => ({
    name,
    alias: fields[0]?.alias ?? name,
    inner: fields[0]?.path.length === 2 ? fields.map(({ path, alias }) => ({ name: path[1] ?? '', alias })) : undefined,
  }))
}

function assembleRow(parts: readonly Part[], row: Row): Row {
  const result: Row = {}
  for (const { name, alias, inner } of parts) {
    if (inner === undefined) {
      result[name] = row[alias]
      continue
    }
    const object: Row = {}
    for (const field of inner) object[field.name] = row[field.alias]
    result[name] = object
  }
  return result
}
