/**
 * Numbered pages of a shop's long list, newest first. Blocks of 1,000 ids are counted in advance, so late pages and the
 * total cost as little as the first page. Inserts and deletions are counted by `countInBlock`.
 */
import { type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'
import type { Database, Reader, Writer } from './engine.ts'
import type { listBlocks } from './schema/search-index.ts'

type ListName = (typeof listBlocks.$inferSelect)['list']
const tables = { PRODUCTS: sql.raw('products'), CUSTOMERS: sql.raw('customers') } as const satisfies Record<ListName, SQL>

/** A list of a shop. */
type ShopList = { readonly list: ListName; readonly shopId: string }

/** Records per block. */
export const blockRecords = 1_000
/** Maximum number of records after the last block, except very recent ones, once the list was requested. */
const tailMax = 2 * blockRecords

type Block = { readonly last: string; readonly records: number }

/** Returns the blocks, newest first, and the number of records after them, in one statement. */
async function blocksOf(read: Pick<Reader, 'rows'>, { list, shopId }: ShopList): Promise<{ blocks: Block[]; tail: number }> {
  const blocksOfList = sql`list_blocks where shop_id = ${shopId} and list = ${list}`
  const rows = await read.rows<{ last: string | null; records: number | string }>(sql`
    select last, records from ${blocksOfList}
    union all select null, (select count(*) from ${tables[list]} where shop_id = ${shopId} and id > coalesce((select max(last) from ${blocksOfList}), ''))`)
  const blocks = rows.flatMap(({ last, records }) => (last === null ? [] : [{ last, records: Number(records) }]))
  // Ids are ASCII.
  blocks.sort((a, b) => (a.last > b.last ? -1 : 1))
  return { blocks, tail: Number(rows.find(({ last }) => last === null)?.records ?? 0) }
}

/** A page without records, for callers that need only the total. */
export const totalOnly = { limit: 0, offset: Number.POSITIVE_INFINITY } as const

/**
 * Returns a page of ids, newest first.
 * @returns the exact `total`; `isLong`: call `extendBlocks`
 */
export async function readListPage(
  read: Pick<Reader, 'rows'>,
  of: ShopList,
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
 * Counts a new record whose id falls into an existing block, because of a clock that is behind or a slow write.
 * Otherwise it is one index lookup. On PostgreSQL its table lock keeps `extendBlocks` away until the write ends.
 * @param change -1 for a record that the write removes
 */
export async function countInBlock(tx: Pick<Writer, 'rows'>, { list, shopId }: ShopList, id: string, change: 1 | -1 = 1): Promise<void> {
  await tx.rows(sql`
    update list_blocks set records = records + ${sql.raw(String(change))} where shop_id = ${shopId} and list = ${list}
      and last = (select min(b.last) from list_blocks b where b.shop_id = ${shopId} and b.list = ${list} and b.last >= ${id})
    returning 1 as done`)
}

/** Running calls by database. */
const runningCalls = new WeakMap<Database, Set<string>>()

/**
 * Creates blocks for the records after the last one, in small writes. Does nothing if a call is running.
 * @param before an id; later records are too recent
 * @returns the number of new blocks
 * @throws DatabaseUnavailable on PostgreSQL if a write holds the lock for more than a second
 */
export async function extendBlocks(db: Database, of: ShopList, before: string): Promise<number> {
  const names = runningCalls.get(db) ?? new Set()
  runningCalls.set(db, names)
  const name = `${of.list} ${of.shopId}`
  if (names.has(name)) return 0
  names.add(name)
  try {
    return await extendAll(db, of, before)
  } finally {
    names.delete(name)
  }
}

/**
 * PostgreSQL: waits until all writes that looked for a block have committed, before the transaction sees data; only
 * `lock table` does that. Serializable writes with older data run again.
 */
const lockStatements =
  engine === 'postgres' ? [sql`set local lock_timeout = '1s'`, sql`lock table list_blocks in share row exclusive mode`] : []

async function extendAll({ write }: Pick<Database, 'write'>, { list, shopId }: ShopList, before: string): Promise<number> {
  for (let made = 0; ; made++) {
    const isMade = await write(async (tx) => {
      for (const statement of lockStatements) await tx.rows(statement)
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

/** Blocks with a wrong count: `list`, `shop_id`, `last`, `records` and `found`. */
export const miscountedBlocks: SQL = sql`
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
