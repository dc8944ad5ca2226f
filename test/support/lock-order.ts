/** Reports locking writes that lock rows in another order than db/schema/lock-order.ts. */
import { getTableName, type Table } from 'drizzle-orm'
import type { Database, Prepared, Values, Writer } from '../../db/engine.ts'
import { lockRankOf } from '../../db/schema/lock-order.ts'

/** Matches statements that lock rows, and captures the table. Locking reads are visible on PostgreSQL only. */
const locks = /^(?:update|delete from) "(\w+)"|^insert into "(\w+)".* on conflict .*do update|^select .* from "(\w+)".* for no key update/
/** The rank of tables that may be locked in any order. */
const anyRank = lockRankOf('')

/** Watches the writes of a database. Returns an array to which violations are added. */
export function watchLockOrder(db: Database): readonly string[] {
  const violations: string[] = []
  const { write } = db
  const watchedWrite: Database['write'] = (work, options) =>
    write.call(db, options?.isolation === 'locking' ? (tx) => work(watched(tx, violations)) : work, options) as ReturnType<typeof work>
  Object.assign(db, { write: watchedWrite })
  return violations
}

function watched(tx: Writer, violations: string[]): Writer {
  const locked = new Set<string>()
  function note(table: string | undefined): void {
    if (table === undefined || lockRankOf(table) === anyRank || locked.has(table)) return
    const later = [...locked].find((other) => lockRankOf(other) > lockRankOf(table))
    if (later !== undefined) violations.push(`${table} after ${later}`)
    locked.add(table)
  }
  const before =
    <Run extends (query: never, values?: Values) => unknown>(run: Run) =>
    (query: Prepared<unknown>, values?: Values) => {
      note(locks.exec(query.compiled.text)?.slice(1).find(Boolean))
      return run(query as never, values)
    }
  const building =
    <Build extends (table: never) => unknown>(build: Build) =>
    (table: Table) => {
      note(getTableName(table))
      return build(table as never)
    }
  // Inserted rows cannot be locked by another write, so their table counts as locked without a check.
  const inserting = (table: Table) => {
    if (lockRankOf(getTableName(table)) !== anyRank) locked.add(getTableName(table))
    return tx.insert(table as never)
  }
  const { first, all, run, update, delete: remove } = tx
  return {
    ...tx,
    first: before(first),
    all: before(all),
    run: before(run),
    insert: inserting,
    update: building(update),
    delete: building(remove),
  } as unknown as Writer
}
