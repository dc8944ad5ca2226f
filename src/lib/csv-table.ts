/** Converts records to CSV tables. */
import type { Cell } from './csv-line.ts'
import { decimalOf, decimalsOf, isMoneySchema, type Money } from './money.ts'

/** The columns of a CSV file, and the lines of a record: one, or several if it has parts. */
export type CsvTable<Row> = {
  readonly header: readonly string[]
  readonly linesOf: (row: Row) => readonly (readonly Cell[])[]
}

/** Creates a table with one line per record. */
export function csvTableOf<Row>(columns: Readonly<Record<string, (row: Row) => Cell>>): CsvTable<Row> {
  const cells = Object.values(columns)
  return { header: Object.keys(columns), linesOf: (row) => [cells.map((cell) => cell(row))] }
}

/**
 * Writes money as a number of major units, `12.50` or `-12.50`; blank for none. Its currency has a column of its own.
 */
export const decimalCell = (money: Money | null | undefined): Cell =>
  money === null || money === undefined ? null : { decimal: decimalOf(money.amount, decimalsOf(money.currency)) }

/** The part of a JSON schema that determines columns. */
type Schema = {
  readonly type?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}
type Column = { readonly name: string; readonly path: readonly string[]; readonly isMoney: boolean }

/**
 * Creates a table from a record schema: one column per field in schema order, and nested fields as `address.city`.
 * Money is a decimal of major units, with one `currency` column. Lists of words are joined by `; `. Other values are
 * JSON.
 */
export function csvTableOfSchema<Row>(schema: unknown): CsvTable<Row> {
  const columns = columnsOf(schema as Schema, [])
  const money = columns.filter(({ isMoney }) => isMoney)
  const hasCurrencyColumn = money.length === 0 || columns.some(({ name }) => name === 'currency')
  return {
    header: [...columns.map(({ name }) => name), ...(hasCurrencyColumn ? [] : ['currency'])],
    linesOf(row) {
      const values = columns.map((column) => [column, valueAt(row, column.path)] as const)
      const first = values.find(([{ isMoney }, value]) => isMoney && value !== null)?.[1] as Money | undefined
      const cells = values.map(([{ isMoney }, value]) => (isMoney ? decimalCell(value as Money | null) : cellOf(value)))
      return [[...cells, ...(hasCurrencyColumn ? [] : [first?.currency ?? null])]]
    },
  }
}

function columnsOf(schema: Schema, path: readonly string[]): Column[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const schemaWithoutNull = withoutNull(property)
    const at = [...path, name]
    if (isMoneySchema(schemaWithoutNull)) return [{ name: at.join('.'), path: at, isMoney: true }]
    if (schemaWithoutNull.properties) return columnsOf(schemaWithoutNull, at)
    return [{ name: at.join('.'), path: at, isMoney: false }]
  })
}

/** Returns the schema of a nullable field without null. */
function withoutNull(schema: Schema): Schema {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null')
  return others?.length === 1 && others[0] ? withoutNull(others[0]) : schema
}

const valueAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], row) ?? null

function cellOf(value: unknown): Cell {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join('; ')
  return JSON.stringify(value)
}
