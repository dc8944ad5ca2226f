/** A person whose data occurs nowhere by chance, and the search for it in the database. */
import { getTableName, is, sql } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { engine } from '../../db/columns.ts'
import * as schema from '../../db/schema/index.ts'
import { mailSeal } from '../../src/modules/messaging/mail/domain.ts'
import { answerSeal, decodeAnswer } from '../../src/modules/operations/idempotency/domain.ts'
import type { TestApp } from './app.ts'

export const plantedPerson = {
  name: 'Zyxandra Quillfeather',
  email: 'zyx.quill@plantedmail.example',
  phone: '+1 555 0190 4471',
  line1: '77 Plantedstreet Crescent',
  line2: 'Plantedflat 9c',
  company: 'Plantedcompany Inc',
  city: 'Plantedtown',
  postalCode: 'PLNT77',
  note: 'Plantednote: knows the owner',
  reason: 'Plantedreason: moved away',
  tracking: 'PLANTEDTRACK123',
  password: 'plantedpassword of theirs',
}
export const plantedAddress = {
  name: plantedPerson.name,
  company: plantedPerson.company,
  line1: plantedPerson.line1,
  line2: plantedPerson.line2,
  city: plantedPerson.city,
  province: 'ME',
  postalCode: plantedPerson.postalCode,
  countryCode: 'US',
  phone: plantedPerson.phone,
}

const tables = Object.values(schema).filter((one) => is(one, SQLiteTable) || is(one, PgTable)) as SQLiteTable[]

/** Returns every table with its rows as text. Sealed mails and responses are opened. */
export async function allRows(app: TestApp): Promise<[table: string, rows: string][]> {
  const { read } = app.deps.db
  const { unseal } = app.deps.keyring
  const found: [string, string][] = []
  for (const table of tables) {
    const name = getTableName(table)
    // Raw rows, so that JSON columns stay text.
    const rows = await read.rows<Record<string, unknown>>(sql.raw(`select * from ${name}`))
    const opened = rows.map((row) => {
      if (name === 'mails' && row['sealed']) return { ...row, sealed: unseal(String(row['sealed']), mailSeal(String(row['id']))) }
      if (name === 'idempotency_keys' && row['sealed_answer'])
        return {
          ...row,
          sealed_answer: decodeAnswer(unseal(String(row['sealed_answer']), answerSeal(String(row['scope']), String(row['key'])))).body,
        }
      return row
    })
    found.push([name, JSON.stringify(opened)])
  }
  return found
}

/** Returns where values of the person occur, as `table: value`. */
export async function tracesOf(app: TestApp, values: readonly string[] = Object.values(plantedPerson)): Promise<string[]> {
  return (await allRows(app)).flatMap(([table, rows]) =>
    values.filter((value) => rows.toLowerCase().includes(value.toLowerCase())).map((value) => `${table}: ${value}`),
  )
}

/**
 * Returns the values that occur in the search indexes, as `index: value`. FTS5 stores a word without the prefix that it
 * shares with the word before.
 */
export async function tracesInIndexes(app: TestApp, values: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const name of ['order_words', 'customer_words']) {
    const query = engine === 'sqlite' ? `select block as part from ${name}_data` : `select words::text as part from ${name}`
    const rows = await app.deps.db.read.rows<{ part: string | Uint8Array }>(sql.raw(query))
    const text = rows.map(({ part }) => Buffer.from(part).toString('latin1')).join('\n')
    found.push(...values.filter((value) => text.includes(value)).map((value) => `${name}: ${value}`))
  }
  return found
}
