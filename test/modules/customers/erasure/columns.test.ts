/** Tests that every column of every table states whether an erasure clears it. */
import { expect, test } from 'bun:test'
import { getTableColumns, getTableName, is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import * as schema from '../../../../db/schema/index.ts'
import { type Columns, columnsOf, erasedElsewhere } from '../../../../src/modules/customers/erasure/columns.ts'
import { erasers } from '../../../../src/modules/customers/erasure/tables-store.ts'

const declared: Readonly<Record<string, Columns>> = columnsOf
const split = (text = ''): string[] => text.split(' ').filter((word) => word !== '')
const tables = Object.values(schema).filter((one) => is(one, SQLiteTable) || is(one, PgTable)) as unknown as SQLiteTable[]

test('states for every column whether an erasure clears it', () => {
  const actualColumns = Object.fromEntries(
    tables.map((table) => [
      getTableName(table),
      Object.values(getTableColumns(table))
        .map(({ name }) => name)
        .sort(),
    ]),
  )
  const declaredColumns = Object.fromEntries(
    Object.entries(declared).map(([name, { erased, kept }]) => [name, [...split(erased), ...split(kept)].sort()]),
  )
  expect(declaredColumns).toEqual(actualColumns)
})

test('has an eraser for every table with columns to erase, and for no other table', () => {
  const toErase = Object.keys(declared).filter((name) => declared[name]?.erased !== undefined)
  expect([...Object.keys(erasers), ...Object.keys(erasedElsewhere)].sort()).toEqual(toErase.sort())
})
