/**
 * Pages of a shop's long list by number, newest first: counted runs of ids say where a page begins, so that a late one costs what an early one does, and how
 * many there are in all. Of tables from which no row ever goes.
 */
import { type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'
import type { Database, Reader, Writer } from './engine.ts'
import type { listBlocks } from './schema/search-index.ts'

type ListName = (typeof listBlocks.$inferSelect)['list']
const tables = { PRODUCTS: sql.raw('products'), CUSTOMERS: sql.raw('customers') } as const satisfies Record<ListName, SQL>

/** Of a list of a shop. */
export type ListOf = { readonly list: ListName; readonly shopId: string }

/** Records of a run. */
export const blockRecords = 1_000
/** Behind the last run lie at most so many once somebody has asked for the list, but for those that are so new that an older one may come still. */
const tailMax = 2 * blockRecords

type Block = { readonly last: string; readonly records: number }

/** The runs, newest first, and how many lie behind them: by one statement, so that no new run comes between. */
async function blocksOf(read: Pick<Reader, 'rows'>, { list, shopId }: ListOf): Promise<{ blocks: Block[]; tail: number }> {
  const own = sql`list_blocks where shop_id = ${shopId} and list = ${list}`
  const rows = await read.rows<{ last: string | null; records: number | string }>(sql`
    select last, records from ${own}
    union all select null, (select count(*) from ${tables[list]} where shop_id = ${shopId} and id > coalesce((select max(last) from ${own}), ''))`)
  const blocks = rows.flatMap(({ last, records }) => (last === null ? [] : [{ last, records: Number(records) }]))
  // Ids are of ASCII.
  blocks.sort((a, b) => (a.last > b.last ? -1 : 1))
  return { blocks, tail: Number(rows.find(({ last }) => last === null)?.records ?? 0) }
}

/**
 * A page of ids, the newest first.
 * @returns `total`, which is exact; `isLong`: there are so many behind the last run that `foldBlocks` should be asked to make some of them
 */
export async function pageOfBlocks(
  read: Pick<Reader, 'rows'>,
  of: ListOf,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ ids: string[]; total: number; isLong: boolean }> {
  const { list, shopId } = of
  const { blocks, tail } = await blocksOf(read, of)
  const total = blocks.reduce((sum, { records }) => sum + records, tail)
  const idsFrom = async (bound: SQL, skipped: number) => {
    const rows = await read.rows<{ id: string }>(
      sql`select id from ${tables[list]} where shop_id = ${shopId} ${bound} order by id desc limit ${limit} offset ${skipped}`,
    )
    return rows.map(({ id }) => id)
  }
  const isLong = tail >= tailMax
  if (offset >= total) return { ids: [], total, isLong }
  if (offset < tail) return { ids: await idsFrom(sql.empty(), offset), total, isLong }
  let rest = offset - tail
  const block = blocks.find(({ records }) => {
    if (rest < records) return true
    rest -= records
    return false
  })
  return { ids: block ? await idsFrom(sql`and id <= ${block.last}`, rest) : [], total, isLong }
}

/**
 * Counts a record that comes with an id of a run that was counted already, inside the write that makes it: of a clock that stands behind another, or a write
 * that took very long. Of any other it is one look into an index. On Postgres it keeps whoever makes runs away until the write has ended, by the lock on
 * the table that an update takes, whatever it finds.
 */
export async function noteInBlocks(tx: Pick<Writer, 'rows'>, { list, shopId }: ListOf, id: string): Promise<void> {
  await tx.rows(sql`
    update list_blocks set records = records + 1 where shop_id = ${shopId} and list = ${list}
      and last = (select min(b.last) from list_blocks b where b.shop_id = ${shopId} and b.list = ${list} and b.last >= ${id})
    returning 1 as done`)
}

/** What is under way, of each database. */
const folding = new WeakMap<Database, Set<string>>()

/**
 * Makes runs of what lies behind the last one, in small writes; nothing where that is under way.
 * @param before an id: those from it on are so new that an older one may come still
 * @returns how many runs it made
 * @throws DatabaseUnavailable on Postgres while somebody writes for long who may belong in one
 */
export async function foldBlocks(db: Database, of: ListOf, before: string): Promise<number> {
  const names = folding.get(db) ?? new Set()
  folding.set(db, names)
  const name = `${of.list} ${of.shopId}`
  if (names.has(name)) return 0
  names.add(name)
  try {
    return await foldAll(db, of, before)
  } finally {
    names.delete(name)
  }
}

/**
 * On Postgres: once all who have looked for a run have committed, and before the transaction sees any data, which `lock table` alone can wait for. Whoever
 * looks for one meanwhile waits here too, so it is not for long: then there is none this time. Who looks by older data is serializable, and runs again.
 */
const alone = engine === 'postgres' ? [sql`set local lock_timeout = '1s'`, sql`lock table list_blocks in share row exclusive mode`] : []

async function foldAll({ write }: Pick<Database, 'write'>, { list, shopId }: ListOf, before: string): Promise<number> {
  for (let made = 0; ; made++) {
    const isMade = await write(async (tx) => {
      for (const statement of alone) await tx.rows(statement)
      const rows = await tx.rows(sql`
        insert into list_blocks (shop_id, list, last, records)
        select ${shopId}, ${list}, id, ${sql.raw(String(blockRecords))} from (
          select id from ${tables[list]} where shop_id = ${shopId} and id < ${before}
            and id > coalesce((select max(last) from list_blocks where shop_id = ${shopId} and list = ${list}), '')
          order by id limit 1 offset ${blockRecords - 1}) next_one where true
        on conflict do nothing returning 1 as done`)
      return rows.length > 0
    })
    if (!isMade) return made
    await new Promise((resume) => setImmediate(resume))
  }
}

/** The runs of any shop of which there are more or fewer records than were counted: `list`, `shop_id`, `last`, `records` and `found`. */
export const miscountedRuns: SQL = sql`
  select list, shop_id, last, records, found from (${sql.join(
    Object.entries(tables).map(
      ([list, table]) => sql`
        select list, shop_id, last, records, (select count(*) from ${table} t where t.shop_id = b.shop_id and t.id > b.after and t.id <= b.last) as found
        from (select list, shop_id, last, records, lag(last, 1, '') over (partition by shop_id order by last) as after
          from list_blocks where list = ${list}) b`,
    ),
    sql` union all `,
  )}) as counted
  where records <> found order by list, shop_id, last`
