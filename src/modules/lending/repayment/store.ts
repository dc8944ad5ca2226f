import { and, desc, eq, inArray, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { isMerchantAccount, merchantById } from '../../../../db/merchant-account.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import {
  changeOf,
  insertAllOf,
  insertOf,
  lockedRowsIn,
  prepare,
  prepareCheckedChange,
  rowsOf,
  rowsWhere,
  valuesOf,
} from '../../../../db/prepared.ts'
import {
  lenders,
  merchantDefaultBlocks,
  merchantDefaultDays,
  merchantRepaymentSignals,
  repaymentReversals,
  repayments,
} from '../../../../db/schema/lending.ts'
import { users } from '../../../../db/schema/people.ts'
import type { PageSlice } from '../../../lib/page.ts'
import {
  blockOf,
  keyOf,
  noSignals,
  type Repayment,
  type RepaymentDraft,
  type RepaymentSignals,
  type Reversal,
  type StoredSignals,
  splitWindow,
} from './domain.ts'

const isLive = isNull(repayments.reversedAt)
const byId = rowsOf(repayments, ['id'])
const lenderById = prepare((queries) =>
  queries
    .select({ id: lenders.id })
    .from(lenders)
    .where(valuesOf(lenders, ['id']))
    .limit(1),
)
const ofKey = valuesOf(repayments, ['lenderId', 'loanRef', 'dueAt'])
const liveByKey = rowsWhere(repayments, and(ofKey, isLive))
const reversedByKey = rowsWhere(repayments, and(ofKey, isNotNull(repayments.reversedAt)))
const liveWithLender = prepare((queries) =>
  queries
    .select({ id: repayments.id })
    .from(repayments)
    .where(and(valuesOf(repayments, ['merchantId', 'lenderId']), isLive))
    .limit(1),
)
const lastSettled = prepare((queries) =>
  queries
    .select({ settledAt: repayments.settledAt })
    .from(repayments)
    .where(and(valuesOf(repayments, ['merchantId']), isLive, isNotNull(repayments.settledAt)))
    .orderBy(desc(repayments.settledAt))
    .limit(1),
)
/** Sums the stored counts of the merchant in the outer query, from a day or block up to an excluded one. */
const countedIn = (table: typeof merchantDefaultDays | typeof merchantDefaultBlocks, nth: SQL, name: string) =>
  sql`(select coalesce(sum(c.defaults), 0) from ${table} c where c.merchant_id = ${users.id} and ${nth} >= ${sql.placeholder(`${name}From`)} and ${nth} < ${sql.placeholder(`${name}End`)})`
/** Counts defaults of the partial days by their times. */
const countedBetween = (name: string) =>
  sql`(select count(*) from ${repayments} r where r.merchant_id = ${users.id} and r.outcome = 'DEFAULT' and r.reversed_at is null and r.dated_at > ${sql.placeholder(`${name}After`)} and r.dated_at <= ${sql.placeholder(`${name}UpTo`)})`
const { totalOnTime, totalLate, totalDefaults, lenderCount, mostRecentSettlementAt } = merchantRepaymentSignals
/** Reads the totals and the window in one statement. */
const signalsOf = prepare((queries) =>
  queries
    .select({
      id: users.id,
      totalOnTime,
      totalLate,
      totalDefaults,
      lenderCount,
      mostRecentSettlementAt,
      defaultsOfWindow: sql<number>`cast(
        ${countedIn(merchantDefaultDays, sql`c.day`, 'daysBefore')} + ${countedIn(merchantDefaultBlocks, sql`c.block`, 'blocks')}
        + ${countedIn(merchantDefaultDays, sql`c.day`, 'daysAfter')} + ${countedBetween('firstDay')} + ${countedBetween('lastDay')}
        as integer)`.as('defaultsOfWindow'),
    })
    .from(users)
    .leftJoin(merchantRepaymentSignals, eq(merchantRepaymentSignals.merchantId, users.id))
    .where(and(eq(users.id, sql.placeholder('which')), isMerchantAccount))
    .limit(1),
)
const insertSignals = insertOf(merchantRepaymentSignals, 'leave')
const lockedSignals = lockedRowsIn(merchantRepaymentSignals, 'merchantId')
const changeSignals = changeOf(merchantRepaymentSignals, eq(merchantRepaymentSignals.merchantId, sql.placeholder('which')))
const insertAll = insertAllOf(repayments)
const reverse = prepareCheckedChange((queries) =>
  queries
    .update(repayments)
    .set({ reversedAt: sql.placeholder('reversedAt') as never })
    .where(and(eq(repayments.id, sql.placeholder('which')), isLive)),
)
const addToBlock = prepare((queries) =>
  queries
    .insert(merchantDefaultBlocks)
    .values({ merchantId: sql.placeholder('merchantId'), block: sql.placeholder('block'), defaults: sql.placeholder('defaults') } as never)
    .onConflictDoUpdate({
      target: [merchantDefaultBlocks.merchantId, merchantDefaultBlocks.block],
      set: { defaults: sql`${merchantDefaultBlocks.defaults} + excluded.defaults` },
    }),
)
const addToDay = prepare((queries) =>
  queries
    .insert(merchantDefaultDays)
    .values({ merchantId: sql.placeholder('merchantId'), day: sql.placeholder('day'), defaults: sql.placeholder('defaults') } as never)
    .onConflictDoUpdate({
      target: [merchantDefaultDays.merchantId, merchantDefaultDays.day],
      set: { defaults: sql`${merchantDefaultDays.defaults} + excluded.defaults` },
    }),
)

export type RepaymentFilter = Partial<Pick<Repayment, 'merchantId' | 'lenderId' | 'loanRef' | 'outcome'>>

export const createRepaymentStore = ({ read }: Pick<Database, 'read'>) => ({
  find: async (id: string, from: Pick<Reader, 'first'> = read): Promise<Repayment | undefined> => from.first(byId, { id }),
  /** By the id of the repayment. */
  async reversalsOf(repaymentIds: readonly string[]): Promise<Map<string, Reversal>> {
    if (repaymentIds.length === 0) return new Map()
    const rows = await read
      .select()
      .from(repaymentReversals)
      .where(inArray(repaymentReversals.repaymentId, [...repaymentIds]))
    return new Map(rows.map((row) => [row.repaymentId, row]))
  },
  /** Newest first. */
  list(filter: RepaymentFilter, slice: PageSlice) {
    const conditions = (Object.keys(filter) as (keyof RepaymentFilter)[]).flatMap((name): SQL[] => {
      const value = filter[name]
      return value === undefined ? [] : [eq(repayments[name], value as never)]
    })
    return selectSlice(read, repayments, { where: and(...conditions), order: [desc(repayments.id)], ...slice })
  },
  /** Returns the ids that exist as merchants or lenders. Neither is ever deleted. */
  async existingIds(tx: Writer, merchantIds: ReadonlySet<string>, lenderIds: ReadonlySet<string>): Promise<Set<string>> {
    const rows = await Promise.all([
      ...[...merchantIds].map((id) => tx.first(merchantById, { id })),
      ...[...lenderIds].map((id) => tx.first(lenderById, { id })),
    ])
    return new Set(rows.flatMap((row) => (row ? [row.id] : [])))
  },
  /**
   * Locks the totals of merchants, in id order. Every change of a merchant's repayments takes this lock first.
   * @returns by merchant id
   */
  async lockSignals(tx: Writer, merchantIds: ReadonlySet<string>, now: number): Promise<Map<string, StoredSignals>> {
    for (const merchantId of [...merchantIds].sort()) await insertSignals(tx, noSignals(merchantId, now))
    return new Map((await lockedSignals(tx, merchantIds)).map((signals) => [signals.merchantId, signals]))
  },
  async saveSignals(tx: Writer, { merchantId, ...fields }: StoredSignals): Promise<void> {
    await changeSignals(tx, fields, { which: merchantId })
  },
  /** Reads the repayments that count, by key. */
  async liveByKeys(tx: Writer, drafts: readonly RepaymentDraft[]): Promise<Map<string, Repayment>> {
    const keys = new Map(drafts.map((draft) => [keyOf(draft), draft]))
    const rows = await Promise.all(
      [...keys.values()].map(({ lenderId, loanRef, dueAt }) => tx.first(liveByKey, { lenderId, loanRef, dueAt })),
    )
    return new Map(rows.flatMap((row) => (row ? [[keyOf(row), row] as const] : [])))
  },
  /** Reads the reversed repayments of the same keys. */
  async reversedByKeys(tx: Writer, drafts: readonly RepaymentDraft[]): Promise<Repayment[]> {
    const rows = await Promise.all(drafts.map(({ lenderId, loanRef, dueAt }) => tx.all(reversedByKey, { lenderId, loanRef, dueAt })))
    return rows.flat()
  },
  /** Returns whether the merchant has a repayment with the lender that counts. */
  async hasLender(tx: Writer, merchantId: string, lenderId: string): Promise<boolean> {
    return (await tx.first(liveWithLender, { merchantId, lenderId })) !== undefined
  },
  async lastSettledAt(tx: Writer, merchantId: string): Promise<number | null> {
    return (await tx.first(lastSettled, { merchantId }))?.settledAt ?? null
  },
  insertAll,
  /** Marks a repayment as reversed. Returns false if it is already. */
  async reverse(tx: Writer, id: string, reversedAt: number): Promise<boolean> {
    return (await tx.first(reverse, { which: id, reversedAt })) !== undefined
  },
  insertReversal: insertOf(repaymentReversals),
  /** Adds to the counts of a day and its block; negative values subtract. */
  async addDefaults(tx: Writer, merchantId: string, day: number, defaults: number): Promise<void> {
    await tx.run(addToDay as never, { merchantId, day, defaults })
    await tx.run(addToBlock as never, { merchantId, block: blockOf(day), defaults })
  },
  /**
   * Reads the totals and the defaults dated after `after`, up to and including `upTo` (milliseconds).
   * @returns undefined for an id that is not a merchant's
   */
  async signals(merchantId: string, window: { readonly after: number; readonly upTo: number }): Promise<RepaymentSignals | undefined> {
    const { daysBefore, blocks, daysAfter, firstDay, lastDay } = splitWindow(window)
    const row = await read.first(signalsOf, {
      which: merchantId,
      daysBeforeFrom: daysBefore[0],
      daysBeforeEnd: daysBefore[1],
      blocksFrom: blocks[0],
      blocksEnd: blocks[1],
      daysAfterFrom: daysAfter[0],
      daysAfterEnd: daysAfter[1],
      firstDayAfter: firstDay[0],
      firstDayUpTo: firstDay[1],
      lastDayAfter: lastDay[0],
      lastDayUpTo: lastDay[1],
    })
    return (
      row && {
        totalOnTime: row.totalOnTime ?? 0,
        totalLate: row.totalLate ?? 0,
        totalDefaults: row.totalDefaults ?? 0,
        lenderCount: row.lenderCount ?? 0,
        mostRecentSettlementAt: row.mostRecentSettlementAt,
        defaultsOfWindow: row.defaultsOfWindow,
      }
    )
  },
})
