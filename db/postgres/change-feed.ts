/**
 * Reads rows in commit order, which differs from the order of their ids. Each row has its transaction's number, and a
 * cursor is a snapshot of the ended transactions. New rows belong to transactions that ended after the cursor. A cursor
 * within a page counts later transactions as open, unless they had ended at the previous cursor.
 */
import { sql } from 'drizzle-orm'
import {
  type ChangedRow,
  type ChangeFeed,
  type ChangeFeedTable,
  type ChangeGroup,
  changeFeedTables,
  suffixOf,
} from '../change-feed-query.ts'

/** PostgreSQL sets this column by its default. The schema omits it, because no process needs to know it. */
export const transactionColumn = 'written_in'

/** All transactions below `next` have ended, except those in `open`. */
type Snapshot = { readonly next: bigint; readonly open: readonly bigint[] }

const base = 36
const cursorOf = ({ next, open }: Snapshot): string => [next, ...open.map((one) => next - one)].map((one) => one.toString(base)).join('.')

const digits = /^[0-9a-z]{1,13}$/
const numberIn = (text: string): bigint => [...text].reduce((sum, digit) => sum * BigInt(base) + BigInt(Number.parseInt(digit, base)), 0n)
/** Maximum number of open transactions in a cursor. A server has fewer connections. */
const openMax = 5_000

function snapshotIn(cursor: string): Snapshot | undefined {
  const parts = cursor.split('.')
  if (parts.length > openMax || !parts.every((part) => digits.test(part))) return undefined
  const [next = 0n, ...below] = parts.map(numberIn)
  const open = below.map((distance) => next - distance).sort(byNumber)
  const isValid = next > 0n && next < 1n << 62n && open.every((one, at) => one > 0n && one < next && one !== open[at - 1])
  return isValid ? { next, open } : undefined
}

/** Formats a snapshot like PostgreSQL: lowest open transaction, next transaction, open transactions. */
const textOf = ({ next, open }: Snapshot): string => `${open[0] ?? next}:${next}:${open.join(',')}`

function snapshotOf(text: string): Snapshot {
  const [, next = '0', open = ''] = text.split(':')
  return { next: BigInt(next), open: open === '' ? [] : open.split(',').map(BigInt) }
}

/** Returns the snapshot after a transaction: the previous one, plus lower transactions that have ended now. */
function snapshotAfter(transaction: bigint, before: Snapshot, now: Snapshot): Snapshot {
  const next = transaction + 1n > before.next ? transaction + 1n : before.next
  const open = [...now.open.filter((one) => one < transaction), ...before.open.filter((one) => one > transaction)]
  return { next, open }
}

const byNumber = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

type Found = { readonly kind: ChangeFeedTable | 'now'; readonly id: string; readonly value: string }

export const postgresChangeFeed: ChangeFeed = {
  async now(read) {
    const [row] = await read.rows<{ value: string }>(sql`select pg_current_snapshot()::text as value`)
    return cursorOf(snapshotOf(row?.value ?? '1:1:'))
  },

  async since(read, from, { until, limit, notBefore }) {
    const before = snapshotIn(from)
    const last = until === undefined ? undefined : snapshotIn(until)
    if (!before || (until !== undefined && !last)) return undefined
    const column = sql.raw(transactionColumn)
    const bound = last ? sql` and pg_visible_in_snapshot(${column}, ${textOf(last)}::pg_snapshot)` : sql``
    const conditions = sql`and ${column} < pg_snapshot_xmax(pg_current_snapshot()) and at >= ${notBefore}::bigint${bound}`
    // Two queries, so that a transaction that is open for hours does not cause later rows to be read again.
    const ofTable = (table: ChangeFeedTable) => sql`
      union all (select ${table}::text, id, ${column}::text from ${sql.raw(table)}
        where ${column} >= ${String(before.next)}::xid8 ${conditions} order by ${column} limit ${limit}::int)
      union all (select ${table}::text, id, ${column}::text from ${sql.raw(table)}
        where ${column} = any(${`{${before.open.join(',')}}`}::xid8[]) ${conditions})`
    const found = await read.rows<Found>(
      sql`select 'now'::text as kind, ''::text as id, pg_current_snapshot()::text as value${sql.join(changeFeedTables.map(ofTable), sql``)}`,
    )
    const snapshot = snapshotOf(found.find(({ kind }) => kind === 'now')?.value ?? '1:1:')
    // A server that was restored from a dump starts with lower transaction numbers.
    if (before.next > snapshot.next) return undefined
    const rows = found.flatMap(({ kind, id, value }) => (kind === 'now' ? [] : [{ table: kind, id, transaction: BigInt(value) }]))
    // If a table reached the limit, its last transaction may be incomplete.
    const cut = changeFeedTables.flatMap((table) => {
      const tableRows = rows.filter((row) => row.table === table && row.transaction >= before.next).map(({ transaction }) => transaction)
      return tableRows.length < limit ? [] : tableRows.sort(byNumber).slice(-1)
    })
    const [end] = cut.sort(byNumber)
    const groups = groupsOf(
      rows.filter(({ transaction }) => end === undefined || transaction < end),
      before,
      last ?? snapshot,
    )
    if (end === undefined) return { groups, cursor: cursorOf(last ?? snapshot), isWhole: true }
    // A single transaction has more rows than the limit.
    const cursor = groups.at(-1)?.cursor
    return cursor === undefined
      ? postgresChangeFeed.since(read, from, { until, limit: limit * 8, notBefore })
      : { groups, cursor, isWhole: false }
  },
}

function groupsOf(rows: readonly (ChangedRow & { readonly transaction: bigint })[], before: Snapshot, now: Snapshot): ChangeGroup[] {
  return [...Map.groupBy(rows, ({ transaction }) => transaction)]
    .sort(([a], [b]) => byNumber(a, b))
    .map(([transaction, tableRows]) => ({
      rows: tableRows.sort((a, b) => (suffixOf(a.id) < suffixOf(b.id) ? -1 : 1)).map(({ table, id }) => ({ table, id })),
      cursor: cursorOf(snapshotAfter(transaction, before, now)),
    }))
}
