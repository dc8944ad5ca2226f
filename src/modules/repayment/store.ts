import { and, desc, eq, gt, inArray, isNotNull, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { changeOf, insertAllOf, insertOf, lockedRowsIn, prepare, prepareTold, rowsOf, valuesOf } from '../../../db/prepared.ts'
import { lenders, merchantDefaultDays, merchantRepaymentSignals, repaymentReversals, repayments } from '../../../db/schema/lending.ts'
import { users } from '../../../db/schema/people.ts'
import { selectSlice } from '../../../db/slice.ts'
import { dayMs } from '../../lib/day.ts'
import type { Slice } from '../../lib/page.ts'
import { type Draft, dayNumberOf, type KeptSignals, keyOf, noSignals, type Repayment, type Reversal } from './domain.ts'

const isLive = isNull(repayments.reversedAt)
const byId = rowsOf(repayments, ['id'])
const merchantById = prepare((queries) =>
  queries
    .select({ id: users.id })
    .from(users)
    .where(and(valuesOf(users, ['id']), eq(users.role, 'MERCHANT')))
    .limit(1),
)
const lenderById = prepare((queries) =>
  queries
    .select({ id: lenders.id })
    .from(lenders)
    .where(valuesOf(lenders, ['id']))
    .limit(1),
)
const liveByKey = prepare((queries) =>
  queries
    .select()
    .from(repayments)
    .where(and(valuesOf(repayments, ['lenderId', 'loanRef', 'dueAt']), isLive))
    .limit(1),
)
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
const signalsOf = rowsOf(merchantRepaymentSignals, ['merchantId'])
/** Of days that are wholly within: a row a day. */
const defaultsOfDays = prepare((queries) =>
  queries
    .select({ n: sql<number>`cast(coalesce(sum(${merchantDefaultDays.defaults}), 0) as integer)`.as('n') })
    .from(merchantDefaultDays)
    .where(
      and(
        valuesOf(merchantDefaultDays, ['merchantId']),
        gt(merchantDefaultDays.day, sql.placeholder('afterDay')),
        sql`${merchantDefaultDays.day} < ${sql.placeholder('beforeDay')}`,
      ),
    ),
)
/** Of the two days that the window cuts. */
const defaultsBetween = prepare((queries) =>
  queries
    .select({ n: sql<number>`cast(count(*) as integer)`.as('n') })
    .from(repayments)
    .where(
      and(
        valuesOf(repayments, ['merchantId']),
        sql`${repayments.outcome} = 'DEFAULT'`,
        isLive,
        gt(repayments.datedAt, sql.placeholder('after')),
        lte(repayments.datedAt, sql.placeholder('upTo')),
      ),
    ),
)
const insertSignals = insertOf(merchantRepaymentSignals, 'leave')
const lockedSignals = lockedRowsIn(merchantRepaymentSignals, 'merchantId')
const changeSignals = changeOf(merchantRepaymentSignals, eq(merchantRepaymentSignals.merchantId, sql.placeholder('which')))
const insertAll = insertAllOf(repayments)
const insertReversal = insertOf(repaymentReversals)
const reverse = prepareTold((queries) =>
  queries
    .update(repayments)
    .set({ reversedAt: sql.placeholder('reversedAt') as never })
    .where(and(eq(repayments.id, sql.placeholder('which')), isLive)),
)
const addDefaults = prepare((queries) =>
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
  async find(id: string, from: Pick<Reader, 'first'> = read): Promise<Repayment | undefined> {
    return from.first(byId, { id })
  },
  /** Of these, which undid what, by the repayment. */
  async reversalsOf(repaymentIds: readonly string[]): Promise<Map<string, Reversal>> {
    if (repaymentIds.length === 0) return new Map()
    const rows = await read
      .select()
      .from(repaymentReversals)
      .where(inArray(repaymentReversals.repaymentId, [...repaymentIds]))
    return new Map(rows.map((row) => [row.repaymentId, row]))
  },
  /** Newest first. */
  list(filter: RepaymentFilter, slice: Slice) {
    const by = (Object.keys(filter) as (keyof RepaymentFilter)[]).flatMap((name): SQL[] => {
      const value = filter[name]
      return value === undefined ? [] : [eq(repayments[name], value as never)]
    })
    return selectSlice(read, repayments, { where: and(...by), order: [desc(repayments.id)], ...slice })
  },
  /** Of these ids, those of merchants, and those of lenders: neither is ever removed. */
  async known(tx: Writer, merchantIds: ReadonlySet<string>, lenderIds: ReadonlySet<string>): Promise<Set<string>> {
    const found = await Promise.all([
      ...[...merchantIds].map((id) => tx.first(merchantById, { id })),
      ...[...lenderIds].map((id) => tx.first(lenderById, { id })),
    ])
    return new Set(found.flatMap((row) => (row ? [row.id] : [])))
  },
  /**
   * Locks what is kept of these merchants, in one order. Whoever adds a repayment of theirs, or takes one away, does so first.
   * @returns by the merchant's id
   */
  async lockSignals(tx: Writer, merchantIds: ReadonlySet<string>, now: number): Promise<Map<string, KeptSignals>> {
    for (const merchantId of [...merchantIds].sort()) await insertSignals(tx, noSignals(merchantId, now))
    return new Map((await lockedSignals(tx, merchantIds)).map((signals) => [signals.merchantId, signals]))
  },
  async saveSignals(tx: Writer, { merchantId, ...kept }: KeptSignals): Promise<void> {
    await changeSignals(tx, kept, { which: merchantId })
  },
  /** Those that count under the keys of these, by the key. */
  async liveByKeys(tx: Writer, drafts: readonly Draft[]): Promise<Map<string, Repayment>> {
    const keys = new Map(drafts.map((draft) => [keyOf(draft), draft]))
    const rows = await Promise.all(
      [...keys.values()].map(({ lenderId, loanRef, dueAt }) => tx.first(liveByKey, { lenderId, loanRef, dueAt })),
    )
    return new Map(rows.flatMap((row) => (row ? [[keyOf(row), row] as const] : [])))
  },
  /** Whether a merchant has one with a lender that counts. */
  async hasLender(tx: Writer, merchantId: string, lenderId: string): Promise<boolean> {
    return (await tx.first(liveWithLender, { merchantId, lenderId })) !== undefined
  },
  async lastSettledAt(tx: Writer, merchantId: string): Promise<number | null> {
    return (await tx.first(lastSettled, { merchantId }))?.settledAt ?? null
  },
  insertAll,
  /** Takes a repayment out of what counts; false when it is already. */
  async reverse(tx: Writer, id: string, reversedAt: number): Promise<boolean> {
    return (await tx.first(reverse, { which: id, reversedAt })) !== undefined
  },
  async insertReversal(tx: Writer, reversal: Reversal): Promise<void> {
    await insertReversal(tx, reversal)
  },
  /** Counts defaults that are dated on a day, or takes them off. */
  async addDefaults(tx: Writer, merchantId: string, day: number, defaults: number): Promise<void> {
    await tx.run(addDefaults as never, { merchantId, day, defaults })
  },
  /**
   * What is kept of a merchant, and the defaults that are dated after `after` and not after `upTo` (milliseconds), as of one moment: whole
   * days by their counts, and the two that the window cuts by their rows.
   * @returns undefined for whoever is no merchant
   */
  async signals(
    merchantId: string,
    { after, upTo }: { after: number; upTo: number },
  ): Promise<{ signals: KeptSignals | undefined; defaults: number } | undefined> {
    const [firstDay, lastDay] = [dayNumberOf(after), dayNumberOf(upTo)]
    const parts = read.together(
      () =>
        [
          read.first(merchantById, { id: merchantId }),
          read.first(signalsOf, { merchantId }),
          read.first(defaultsOfDays, { merchantId, afterDay: firstDay, beforeDay: lastDay }),
          read.first(defaultsBetween, { merchantId, after, upTo: endOfDay(firstDay) }),
          read.first(defaultsBetween, { merchantId, after: endOfDay(lastDay - 1), upTo }),
        ] as const,
    )
    const [merchant, signals, ofDays, ofFirst, ofLast] = await Promise.all(parts)
    if (!merchant) return undefined
    return { signals, defaults: (ofDays?.n ?? 0) + (ofFirst?.n ?? 0) + (ofLast?.n ?? 0) }
  },
})

/** The last millisecond of a day. */
const endOfDay = (day: number): number => (day + 1) * dayMs - 1
