import { sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import type { TestApp } from './app.ts'

/** Returns every value of every row of every table as text. */
export async function allValues({ deps: { db } }: Pick<TestApp, 'deps'>): Promise<string[]> {
  const tables = await db.read.rows<{ name: string }>(
    engine === 'sqlite'
      ? sql`select name from sqlite_master where type = 'table' and sql not like '%VIRTUAL%' and name not like '%fts%'`
      : sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  const rows = await Promise.all(tables.map(({ name }) => db.read.rows<Record<string, unknown>>(sql.raw(`select * from "${name}"`))))
  return rows
    .flat()
    .flatMap((row) =>
      Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value))),
    )
}
