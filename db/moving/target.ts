/** The target of a move and its progress. */
import type pg from 'pg'
import { DatabaseRefused, engineErrorCode } from '../engine.ts'
import type { Migration } from '../migrations/pending.ts'
import { transactionColumn } from '../postgres/change-feed.ts'
import { createLockRow, migrateOn, movingTag } from '../postgres/migrate.ts'
import { withClient } from '../postgres/primary.ts'
import { copyIn, copyOut } from './copy.ts'
import { sumsOf } from './source.ts'

/** Progress of a table. */
export type MoveProgress = { readonly upTo: bigint; readonly rows: number; readonly sum: bigint }

/** A batch of rows as lines of PostgreSQL's COPY text format, and the progress after it. */
export type TablePiece = MoveProgress & { readonly lines: Uint8Array }

/** The PostgreSQL database that receives the rows. */
export type Target = {
  /** Columns and types per table. */
  columns(): Promise<Map<string, Map<string, string>>>
  reached(table: string): MoveProgress
  /**
   * Deletes rows that migrations inserted.
   * @param tables referencing tables first
   */
  clear(tables: readonly string[]): Promise<void>
  /**
   * Stores a batch and its progress in one transaction.
   * @param onSent called when the batch is sent
   */
  put(table: string, columns: readonly string[], piece: TablePiece, onSent: () => void): Promise<void>
  /**
   * Stores search terms; ignores `lines`.
   * @param products terms separated by spaces
   */
  putWords(piece: MoveProgress, products: readonly SearchedProduct[]): Promise<void>
  lines(table: string, columns: readonly string[], onLine: (line: Uint8Array) => void): Promise<void>
  /** Reads the search index; terms have no order. */
  words(onProduct: (product: SearchedProduct) => void): Promise<void>
  /** The sums of `Source.figures`. */
  figures(table: string, columns: readonly string[]): Promise<string[]>
  /**
   * Runs ANALYZE and releases the target for use.
   * @param inBucket names of files that are in the bucket now; undefined without a bucket
   */
  finish(inBucket: readonly string[] | undefined): Promise<void>
}

/** A product with its search terms, separated by spaces. `visibleFrom`: milliseconds as decimal text. */
export type SearchedProduct = { readonly id: string; readonly shopId: string; readonly visibleFrom: string; readonly words: string }

/** The table of the products' search terms. It is rebuilt from the source's terms, not copied. */
export const wordsTable = 'product_words'
/** Search indexes that a job fills after the move. */
export const filledTables: ReadonlySet<string> = new Set(['order_words', 'managed_words', 'customer_words'])
const stateTable = 'souk_move'
/** Settings of one transaction, because a pooler hands the connection to others. */
const beginUnhurried = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL bytea_output = 'hex'"
/** A crash may lose commits, but progress is lost with them. Only the last commit waits for the disk. */
const beginQuick = `${beginUnhurried}; SET LOCAL synchronous_commit = off`
const nothing: MoveProgress = { upTo: -9_223_372_036_854_775_808n, rows: 0, sum: 0n }
const wordsAtOnce = 2_000
const concurrentMove = 'another `souk move` is at work on the target'

/**
 * Opens the target: an empty database, or one with an interrupted move of the same source.
 * @param fingerprint of the source
 * @throws DatabaseRefused otherwise
 */
export const withTarget = <T>(
  url: string,
  options: { fingerprint: string; migrations: readonly Migration[]; now: number },
  use: (target: Target) => Promise<T>,
): Promise<T> => withClient(url, async (client) => use(await openTarget(client, options)))

async function openTarget(
  client: pg.Client,
  { fingerprint, migrations, now }: { fingerprint: string; migrations: readonly Migration[]; now: number },
): Promise<Target> {
  await refuseEncoding(client)
  if (await isBegun(client)) await resumeMove(client, fingerprint)
  else await begin(client, fingerprint, now)
  await migrateOn(client, migrations, now, true)
  return targetOn(client)
}

async function refuseEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding')
  if (rows[0]?.server_encoding !== 'UTF8')
    throw new DatabaseRefused(`the target uses the encoding ${rows[0]?.server_encoding}: create a database with ENCODING 'UTF8'`)
}

async function isBegun(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [stateTable])
  return rows[0]?.name != null
}

/** Ignores tables of extensions. */
const existingTables = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
  ORDER BY 1`

/** The advisory lock serializes concurrent moves. */
async function begin(client: pg.Client, fingerprint: string, now: number): Promise<void> {
  try {
    // Read committed, so that a waiter sees the result of the other transaction.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('souk_move', 0))")
    await refuseTables(client)
    await createLockRow(client, now)
    await client.query('INSERT INTO souk_migrations (tag, applied_at) VALUES ($1, $2)', [movingTag, now])
    // The first row identifies the source; the others are the progress of tables.
    await client.query(
      `CREATE TABLE ${stateTable} (name text PRIMARY KEY, up_to bigint NOT NULL, rows bigint NOT NULL, sum numeric NOT NULL, source text)`,
    )
    await client.query(`INSERT INTO ${stateTable} VALUES ('', 0, 0, 0, $1)`, [fingerprint])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    if (engineErrorCode(error) === '42501')
      throw new DatabaseRefused("the user of the target can't create tables: make it the owner of the database or its schema")
    throw error
  }
}

async function refuseTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(existingTables)
  if (rows.some(({ name }) => name === stateTable)) throw new DatabaseRefused(concurrentMove)
  if (rows.length > 0)
    throw new DatabaseRefused(
      `the target is not empty: ${rows.length === 1 ? `it has a table ${rows[0]?.name}` : `it has ${rows.length} tables, ${rows[0]?.name} among them`}. Create an empty database for the move`,
    )
}

/**
 * Continues a move of the same source.
 * @throws DatabaseRefused if the source has changed since, or is another one, and rows were moved already
 */
async function resumeMove(client: pg.Client, fingerprint: string): Promise<void> {
  const { rows } = await client.query<{ name: string; source: string | null }>(`SELECT name, source FROM ${stateTable}`)
  const source = rows.find(({ name }) => name === '')?.source
  if (source === fingerprint) return
  if (rows.length > 1)
    throw new DatabaseRefused(
      'the target contains data of another instance, or this instance changed since: drop the database, create it again and restart the move',
    )
  await client.query(`UPDATE ${stateTable} SET source = $1 WHERE name = ''`, [fingerprint])
}

async function targetOn(client: pg.Client): Promise<Target> {
  const { rows } = await client.query<{ name: string; up_to: string; rows: string; sum: string }>(`SELECT * FROM ${stateTable}`)
  const reached = new Map(rows.map((row) => [row.name, { upTo: BigInt(row.up_to), rows: Number(row.rows), sum: BigInt(row.sum) }]))

  /** Stores progress. The condition detects a concurrent move. */
  async function storeProgress(table: string, { upTo, rows, sum }: MoveProgress): Promise<void> {
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
    if (rowCount !== 1) throw new DatabaseRefused(concurrentMove)
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

  async function putWithProgress(table: string, at: MoveProgress, put: () => Promise<unknown>): Promise<void> {
    await within(beginQuick, async () => {
      await storeProgress(table, at)
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
        // Waits for a concurrent batch.
        await client.query(`LOCK TABLE ${stateTable} IN EXCLUSIVE MODE`)
        const { rowCount } = await client.query(`SELECT 1 FROM ${stateTable}`)
        if (rowCount !== reached.size) throw new DatabaseRefused(concurrentMove)
        await client.query(tables.map((table) => `DELETE FROM "${table}"`).join('; '))
      })
    },
    put: (table, columns, piece, onSent) => putWithProgress(table, piece, () => copyIn(client, table, columns, piece.lines, onSent)),
    putWords: (piece, products) =>
      putWithProgress(wordsTable, piece, () =>
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
          // An unused document directory need not exist.
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
