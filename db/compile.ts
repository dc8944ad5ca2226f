/** What a builder comes to, worked out once: its text, the order of its parameters, and what its rows need before they are handed out. */
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
import type { Compiled, Values } from './engine.ts'

/** A builder of drizzle's, of either dialect. */
export type Builder = { toSQL(): { sql: string; params: unknown[] } }

type Field = Column | SQL | SQL.Aliased
/** A field, where the caller wants it, and the name under which the driver gives it. */
type Selected = { path: string[]; field: Field; alias: string }
type Ordered = { path: string[]; field: Field }[]
/** What of a builder its types keep to themselves. */
type Config = { fields?: Record<string, unknown>; fieldsFlat?: Ordered; returning?: Ordered; joins?: { joinType: string }[]; table?: Table }
type Row = Record<string, unknown>

/**
 * Compiles a builder. What it selects or returns gets the names that the caller wants already in SQL, so that the driver makes the
 * objects; what the driver has otherwise than the caller wants it is decoded in place. Objects may be nested once.
 * @param ending what is written behind it
 * @throws Error for what a row cannot be made of in this way
 */
export function compile<Result>(builder: Builder, ending = ''): Compiled<Result> {
  const { config } = builder as unknown as { config: Config }
  const selected = config.fields ? fieldsOf(config.fields) : (config.returning ?? []).map(selectedAs)
  const ordered = selected.map(({ path, field, alias }) => ({ path, field: named(field, alias) }))
  if (config.fields) config.fieldsFlat = ordered
  else if (config.returning) config.returning = ordered
  if (selected.some(({ path }) => path.length > 1) && config.joins?.some(({ joinType }) => joinType !== 'inner')) {
    throw new Error('an outer join may leave a nested object out, which a prepared query cannot say')
  }
  const { sql: written, params } = builder.toSQL()
  const text = written + ending
  return { text, name: nameOf(text), bind: binding(params), finish: finishing<Result>(selected) }
}

/** Under which a server keeps the plan of a statement. */
export const nameOf = (text: string): string => Bun.hash(text).toString(36)

/** Whether a query that is built reads more tables than one. */
export const hasJoins = (builder: Builder): boolean => ((builder as unknown as { config: Config }).config.joins?.length ?? 0) > 0

/** The table that a builder changes, or reads. */
export function tableOf(builder: Builder): string {
  const { table } = (builder as unknown as { config: Config }).config
  if (!table || !is(table, Table)) throw new Error('a query of no table')
  return getTableName(table)
}

/** Every field of a selection: a table stands for all its columns. */
function fieldsOf(fields: Record<string, unknown>, under: string[] = []): Selected[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...under, name]
    if (isField(field)) return [selectedAs({ path, field })]
    if (under.length > 0) throw new Error(`${path.join('.')} is nested too deep for a prepared query`)
    return fieldsOf(is(field, Table) ? getTableColumns(field) : (field as Record<string, unknown>), path)
  })
}

const isField = (field: unknown): field is Field => is(field, Column) || is(field, SQL) || is(field, SQL.Aliased)

/** A name that a field has already stays, because the query may refer to it. */
function selectedAs({ path, field }: { path: string[]; field: Field }): Selected {
  const alias = is(field, SQL.Aliased) ? field.fieldAlias : path.join('.')
  // ORDER BY would take the one for the other, without a word.
  if (is(field, Column) && field.name !== alias && Object.values(getTableColumns(field.table)).some(({ name }) => name === alias)) {
    throw new Error(`a prepared query gives the column ${field.name} the name of another, ${alias}`)
  }
  return { path, field, alias }
}

function named(field: Field, alias: string): SQL.Aliased {
  if (is(field, SQL.Aliased)) return field
  return is(field, SQL) ? (field.as(alias) as SQL.Aliased) : sql`${field}`.as(alias)
}

/** Puts the values of parameters in order. Those that stand for a column are encoded as the column has it; null is null. */
function binding(params: readonly unknown[]): Compiled<unknown>['bind'] {
  const slots = params.map((param) => {
    const value = is(param, Param) ? param.value : param
    if (!is(value, Placeholder)) return { name: undefined, encoder: undefined, fixed: param }
    const encoder = is(param, Param) && !isPlain(param.encoder, 'mapTo') ? param.encoder : undefined
    return { name: value.name as string, encoder, fixed: undefined }
  })
  // Written out: this runs before every query.
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

/** What leaves a value as the driver has it; of a bigint, both drivers have a number. */
const asIs = new Set<unknown>([
  Column.prototype.mapToDriverValue,
  Column.prototype.mapFromDriverValue,
  noopDecoder.mapFromDriverValue,
  PgBigInt53.prototype.mapFromDriverValue,
])

/** Whether a value passes as it is. A column of a type of our own has a method for it, which asks each time whether it has anything to do. */
function isPlain(coder: object, way: 'mapTo' | 'mapFrom'): boolean {
  if (is(coder, PgCustomColumn)) return (coder as unknown as Record<typeof way, unknown>)[way] === undefined
  return asIs.has((coder as Record<string, unknown>)[`${way}DriverValue`])
}

function finishing<Result>(selected: readonly Selected[]): Compiled<Result>['finish'] {
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
  const finish = isFlat ? decoded : (row: Row) => assembled(parts, decoded(row))
  return finish as Compiled<Result>['finish']
}

/** drizzle keeps the decoder of SQL from its types. */
function decoderOf(field: Field): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field
  return ((is(field, SQL) ? field : field.sql) as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder
}

/** What a row has under `name`: the driver's value under `alias`, or an object of such values. */
type Part = { name: string; alias: string; inner: { name: string; alias: string }[] | undefined }

function partsOf(selected: readonly Selected[]): Part[] {
  const byName = Map.groupBy(selected, ({ path }) => path[0] ?? '')
  return [...byName].map(([name, fields]) => ({
    name,
    alias: fields[0]?.alias ?? name,
    inner: fields[0]?.path.length === 2 ? fields.map(({ path, alias }) => ({ name: path[1] ?? '', alias })) : undefined,
  }))
}

function assembled(parts: readonly Part[], row: Row): Row {
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
