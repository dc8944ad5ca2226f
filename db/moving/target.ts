/** The database that an instance is moved into, and how far it has come there. */
import type pg from 'pg'
import { DatabaseRefused, engineErrorCode } from '../engine.ts'
import type { Migration } from '../migrations/pending.ts'
import { transactionColumn } from '../postgres/change-feed.ts'
import { createLockRow, migrateOn, movingTag } from '../postgres/migrate.ts'
import { withClient } from '../postgres/primary.ts'
import { copyIn, copyOut } from './copy.ts'
import { sumsOf } from './source.ts'

/** How far a table has come. */
export type Reached = { readonly upTo: bigint; readonly rows: number; readonly sum: bigint }

export type Piece = Reached & { readonly lines: Uint8Array }

export type Target = {
  /** The columns of each table and their types. */
  columns(): Promise<Map<string, Map<string, string>>>
  reached(table: string): Reached
  /** Takes away what migrations have put there: the source has it too. @param tables each behind those that refer to it */
  clear(tables: readonly string[]): Promise<void>
  /**
   * Puts a piece into a table, with how far it has come, in one transaction.
   * @param onSent called once it is under way
   */
  put(table: string, columns: readonly string[], piece: Piece, onSent: () => void): Promise<void>
  /** The same of the search index: `lines` is left alone. @param products their words, apart by spaces */
  putWords(piece: Reached, products: readonly SearchedProduct[]): Promise<void>
  lines(table: string, columns: readonly string[], onLine: (line: Uint8Array) => void): Promise<void>
  /** Of every product what the search index holds, its words in no order. */
  words(onProduct: (product: SearchedProduct) => void): Promise<void>
  /** The sums that the source says too. */
  figures(table: string, columns: readonly string[]): Promise<string[]>
  /**
   * Gathers what the server plans by, and lets everybody in.
   * @param inBucket storage names of documents that lie in the bucket from now on; undefined where there is none
   */
  finish(inBucket: readonly string[] | undefined): Promise<void>
}

export type SearchedProduct = { readonly id: string; readonly shopId: string; readonly visibleFrom: string; readonly words: string }

export const wordsTable = 'product_words'
/** What a shop's own people search: filled in by a job, once the target is served. */
export const filledTables: ReadonlySet<string> = new Set(['order_words', 'managed_words', 'customer_words'])
const stateTable = 'souk_move'
/** Set for one transaction alone: behind a pooler the connection is somebody else's next, whose commits must wait for the disk. */
const beginUnhurried = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL bytea_output = 'hex'"
/** What a crash of the server takes is moved again: what was moved is noted in the same transaction. Only the end waits for the disk. */
const beginQuick = `${beginUnhurried}; SET LOCAL synchronous_commit = off`
const nothing: Reached = { upTo: -9_223_372_036_854_775_808n, rows: 0, sum: 0n }
const wordsAtOnce = 2_000
const atWork = 'another `souk move` is at work on the target'

/**
 * Lends the target: a database without a table, or one into which the same source was being moved.
 * @param fingerprint of the source
 * @throws DatabaseRefused for any other
 */
export const withTarget = <T>(
  url: string,
  given: { fingerprint: string; migrations: readonly Migration[]; now: number },
  use: (target: Target) => Promise<T>,
): Promise<T> => withClient(url, async (client) => use(await begun(client, given)))

async function begun(
  client: pg.Client,
  { fingerprint, migrations, now }: { fingerprint: string; migrations: readonly Migration[]; now: number },
): Promise<Target> {
  await refuseEncoding(client)
  if (await isBegun(client)) await takeUp(client, fingerprint)
  else await begin(client, fingerprint, now)
  await migrateOn(client, migrations, now, true)
  return targetOn(client)
}

async function refuseEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding')
  if (rows[0]?.server_encoding !== 'UTF8')
    throw new DatabaseRefused(`the target keeps text as ${rows[0]?.server_encoding}: make a database with ENCODING 'UTF8'`)
}

async function isBegun(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [stateTable])
  return rows[0]?.name != null
}

/** What extensions have put there does not count. */
const tablesThere = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
  ORDER BY 1`

/** Of two that begin at once, the second waits for the lock and finds what the first has made. */
async function begin(client: pg.Client, fingerprint: string, now: number): Promise<void> {
  try {
    // Whatever the database's default: who waited must see what the one before has done.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('souk_move', 0))")
    await refuseTables(client)
    await createLockRow(client, now)
    await client.query('INSERT INTO souk_migrations (tag, applied_at) VALUES ($1, $2)', [movingTag, now])
    // The first row is the source; the others say how far each table has come.
    await client.query(
      `CREATE TABLE ${stateTable} (name text PRIMARY KEY, up_to bigint NOT NULL, rows bigint NOT NULL, sum numeric NOT NULL, source text)`,
    )
    await client.query(`INSERT INTO ${stateTable} VALUES ('', 0, 0, 0, $1)`, [fingerprint])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    if (engineErrorCode(error) === '42501')
      throw new DatabaseRefused('the user of the target may make no tables there: let it own the database, or its schema')
    throw error
  }
}

async function refuseTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(tablesThere)
  if (rows.some(({ name }) => name === stateTable)) throw new DatabaseRefused(atWork)
  if (rows.length > 0)
    throw new DatabaseRefused(
      `the target is not empty: ${rows.length === 1 ? `it has a table ${rows[0]?.name}` : `it has ${rows.length} tables, ${rows[0]?.name} among them`}. Make a new database for the move, and name that`,
    )
}

/** Whatever has come of a source that was written to since is of no use. */
async function takeUp(client: pg.Client, fingerprint: string): Promise<void> {
  const { rows } = await client.query<{ name: string; source: string | null }>(`SELECT name, source FROM ${stateTable}`)
  const source = rows.find(({ name }) => name === '')?.source
  if (source === fingerprint) return
  if (rows.length > 1)
    throw new DatabaseRefused(
      'what was moved into the target is of another instance, or this one was written to since: drop that database, make it anew and begin again',
    )
  await client.query(`UPDATE ${stateTable} SET source = $1 WHERE name = ''`, [fingerprint])
}

async function targetOn(client: pg.Client): Promise<Target> {
  const { rows } = await client.query<{ name: string; up_to: string; rows: string; sum: string }>(`SELECT * FROM ${stateTable}`)
  const reached = new Map(rows.map((row) => [row.name, { upTo: BigInt(row.up_to), rows: Number(row.rows), sum: BigInt(row.sum) }]))

  /** One mover at a time: of two that are at the same place, one finds that it is another. */
  async function note(table: string, { upTo, rows, sum }: Reached): Promise<void> {
    const before = reached.get(table)
    const { rowCount } = before
      ? await client.query(`UPDATE ${stateTable} SET up_to = $2, rows = $3, sum = $4 WHERE name = $1 AND up_to = $5`, [
          table,
          upTo,
          rows,
          sum,
          before.upTo,
        ])
      : await client.query(`INSERT INTO ${stateTable} VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, [table, upTo, rows, sum])
    if (rowCount !== 1) throw new DatabaseRefused(atWork)
  }

  async function within<T>(begin: string, work: () => Promise<T>): Promise<T> {
    await client.query(begin)
    try {
      const value = await work()
      await client.query('COMMIT')
      return value
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined)
      throw error
    }
  }

  async function noting(table: string, at: Reached, put: () => Promise<unknown>): Promise<void> {
    await within(beginQuick, async () => {
      await note(table, at)
      await put()
    })
    reached.set(table, { upTo: at.upTo, rows: at.rows, sum: at.sum })
  }

  async function eachProduct(onProduct: (product: SearchedProduct) => void): Promise<void> {
    for (let after = ''; ; ) {
      const { rows } = await client.query<SearchedProduct>(
        `SELECT product_id AS id, shop_id AS "shopId", visible_from::text AS "visibleFrom", array_to_string(tsvector_to_array(words), ' ') AS words
         FROM ${wordsTable} WHERE product_id > $1 ORDER BY product_id LIMIT ${wordsAtOnce}`,
        [after],
      )
      for (const row of rows) onProduct(row)
      const last = rows.at(-1)
      if (last === undefined) return
      after = last.id
    }
  }

  return {
    async columns() {
      const { rows } = await client.query<{ table: string; name: string; type: string }>(
        'SELECT table_name AS "table", column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = current_schema()',
      )
      const tables = new Map<string, Map<string, string>>()
      for (const { table, name, type } of rows)
        if (table !== stateTable && table !== 'souk_migrations' && name !== transactionColumn)
          tables.getOrInsertComputed(table, () => new Map()).set(name, type)
      return tables
    },
    reached: (table) => reached.get(table) ?? nothing,
    async clear(tables) {
      await within(beginUnhurried, async () => {
        // Waits for a piece of another one that is under way, and sees it.
        await client.query(`LOCK TABLE ${stateTable} IN EXCLUSIVE MODE`)
        const { rowCount } = await client.query(`SELECT 1 FROM ${stateTable}`)
        if (rowCount !== reached.size) throw new DatabaseRefused(atWork)
        await client.query(tables.map((table) => `DELETE FROM "${table}"`).join('; '))
      })
    },
    put: (table, columns, piece, onSent) => noting(table, piece, () => copyIn(client, table, columns, piece.lines, onSent)),
    putWords: (piece, products) =>
      noting(wordsTable, piece, () =>
        client.query(
          `INSERT INTO ${wordsTable} (product_id, shop_id, visible_from, words)
           SELECT id, shop, at, array_to_tsvector(string_to_array(words, ' ')) FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS p(id, shop, at, words)`,
          [
            products.map(({ id }) => id),
            products.map(({ shopId }) => shopId),
            products.map(({ visibleFrom }) => visibleFrom),
            products.map(({ words }) => words),
          ],
        ),
      ),
    lines: (table, columns, onLine) => within(beginUnhurried, () => copyOut(client, table, columns, onLine)),
    words: (onProduct) => within(beginUnhurried, () => eachProduct(onProduct)),
    async figures(table, columns) {
      const query = { text: `SELECT ${sumsOf(columns)} FROM "${table}"`, rowMode: 'array' } as const
      const { rows } = await within(beginUnhurried, () => client.query<(string | number)[]>(query))
      return (rows[0] ?? []).map(String)
    },
    async finish(inBucket) {
      await within(beginUnhurried, async () => {
        await client.query('ANALYZE')
        if (inBucket) {
          await client.query("UPDATE lending_documents SET store = 'S3' WHERE storage_name = ANY($1)", [inBucket])
          await client.query("UPDATE picture_files SET store = 'MEDIA_S3' WHERE storage_name = ANY($1)", [inBucket])
          // The directory that has none of them need not be at hand any more.
          await client.query(
            "DELETE FROM document_stores WHERE kind = 'FILES' AND NOT EXISTS (SELECT 1 FROM lending_documents WHERE store = 'FILES')",
          )
          await client.query(
            "DELETE FROM document_stores WHERE kind = 'MEDIA_FILES' AND NOT EXISTS (SELECT 1 FROM picture_files WHERE store = 'MEDIA_FILES')",
          )
        }
        await client.query(
          "INSERT INTO search_fills (subject, below, done) VALUES ('ORDERS', '~', 0), ('PRODUCTS', '~', 0), ('CUSTOMERS', '~', 0) ON CONFLICT (subject) DO UPDATE SET below = '~', done = 0",
        )
        await client.query('DELETE FROM souk_migrations WHERE tag = $1', [movingTag])
        await client.query(`DROP TABLE ${stateTable}`)
      })
    },
  }
}
