/** Fills tables with copies of a row. */
import { getTableColumns, getTableName, sql } from 'drizzle-orm'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import type { TestApp } from './app.ts'

type Table = Parameters<typeof getTableColumns>[0]

/** SQL of a number `n` as text with leading zeros. */
export const paddedNumber = (digits: number): string =>
  engine === 'sqlite' ? `printf('%0${digits}d', n)` : `lpad(n::text, ${digits}, '0')`

/**
 * Inserts copies of a row, numbered `n` from 1.
 * @param condition selects the row `r`
 * @param overrides SQL of columns that differ
 */
export async function insertRowCopies(
  { deps: { db } }: TestApp,
  table: Table,
  count: number,
  condition: string,
  overrides: Readonly<Record<string, string>>,
): Promise<void> {
  const names = Object.values(getTableColumns(table)).map(({ name }) => name)
  const statement = `insert into ${getTableName(table)} (${names.join(', ')})
    with recursive copy (n) as (select 1 union all select n + 1 from copy where n < ${count})
    select ${names.map((name) => overrides[name] ?? `r.${name}`).join(', ')} from ${getTableName(table)} r, copy where ${condition}`
  await db.write((tx) => tx.rows(sql.raw(statement)))
}

/** Lets PostgreSQL plan with the size of the tables, as autovacuum does after so many inserts. */
export async function vacuumTables({ deps: { config } }: TestApp, tables: readonly Table[]): Promise<void> {
  if (engine !== 'postgres') return
  const client = new pg.Client(config.databaseUrl)
  await client.connect()
  await client.query(`vacuum (freeze, analyze) ${tables.map(getTableName).join(', ')}`)
  await client.end()
}
