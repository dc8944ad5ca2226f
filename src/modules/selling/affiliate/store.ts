import { and, asc, count, desc, eq, gte, inArray, type SQLWrapper, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, lockedRowsOf, rowsOf, rowsWhere, updateOfVersion, valuesOf } from '../../../../db/prepared.ts'
import { affiliateClicks, affiliates, commissions } from '../../../../db/schema/ledger.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { Affiliate, Commission, Earnings } from './domain.ts'

const byId = rowsOf(affiliates, ['id', 'shopId'])
const activeByCode = rowsWhere(affiliates, and(valuesOf(affiliates, ['shopId', 'code']), eq(affiliates.active, true)))
const commissionOf = rowsOf(commissions, ['orderId'])
const lockedCommissionOf = lockedRowsOf(commissions, ['orderId'])

export const createAffiliateStore = ({ read }: Pick<Database, 'read'>) => ({
  async find(shopId: string, id: string, from: Pick<Reader, 'first'> = read): Promise<Affiliate | undefined> {
    return from.first(byId, { id, shopId })
  },
  async findActive(shopId: string, code: string, from: Pick<Reader, 'first'> = read): Promise<Affiliate | undefined> {
    return from.first(activeByCode, { shopId, code })
  },
  /** Newest first. */
  list: (shopId: string, slice: PageSlice) =>
    selectSlice(read, affiliates, { where: eq(affiliates.shopId, shopId), order: [desc(affiliates.id)], ...slice }),
  /** Counts the clicks of each affiliate since a moment. */
  async clicksSince(ids: readonly string[], since: number): Promise<Map<string, number>> {
    const rows = await read
      .select({ id: affiliateClicks.affiliateId, n: count() })
      .from(affiliateClicks)
      .where(and(inArray(affiliateClicks.affiliateId, [...ids]), gte(affiliateClicks.at, since)))
      .groupBy(affiliateClicks.affiliateId)
    return new Map(rows.map(({ id, n }) => [id, Number(n)]))
  },
  /** Sums up the earnings of each affiliate by currency. */
  async earningsOf(ids: readonly string[]): Promise<Map<string, Earnings[]>> {
    const { affiliateId, currency, reversed } = commissions
    const rows = await read
      .select({
        affiliateId,
        currency,
        pending: sumOf(remainingCommission('PENDING')),
        approved: sumOf(remainingCommission('APPROVED')),
        reversed: sumOf(reversed),
      })
      .from(commissions)
      .where(inArray(affiliateId, [...ids]))
      .groupBy(affiliateId, currency)
      .orderBy(asc(currency))
    const earnings = new Map<string, Earnings[]>()
    for (const { affiliateId: id, ...one } of rows) earnings.set(id, [...(earnings.get(id) ?? []), one])
    return earnings
  },
  insert: insertOf(affiliates),
  change: updateOfVersion(affiliates),
  insertClick: insertOf(affiliateClicks),
  /** Returns the number removed. */
  async removeClicksBefore(tx: Writer, at: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from affiliate_clicks where id in (select id from affiliate_clicks where at < ${at} limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
})

/** Both engines may return a sum as text. */
const sumOf = (value: SQLWrapper) => sql<number>`sum(${value})`.mapWith(Number)
/** The commission left after refunds, if it has that status. */
const remainingCommission = (status: Commission['status']) =>
  sql`case when ${commissions.status} = ${status} then ${commissions.amount} - ${commissions.reversed} else 0 end`

export const commissionStore = {
  find: async (tx: Writer, orderId: string): Promise<Commission | undefined> => tx.first(commissionOf, { orderId }),
  /** Reads and locks a commission. */
  lock: async (tx: Writer, orderId: string): Promise<Commission | undefined> => tx.first(lockedCommissionOf, { orderId }),
  /** An order has at most one; a second insert changes nothing. */
  async insert(tx: Writer, commission: Commission): Promise<void> {
    await tx.insert(commissions).values(commission).onConflictDoNothing({ target: commissions.orderId })
  },
  async change(tx: Writer, orderId: string, changes: Pick<Commission, 'reversed' | 'status' | 'updatedAt'>): Promise<void> {
    await tx.update(commissions).set(changes).where(eq(commissions.orderId, orderId))
  },
  async remove(tx: Writer, orderId: string): Promise<void> {
    await tx.delete(commissions).where(eq(commissions.orderId, orderId))
  },
  /** Approves pending commissions whose refund window has passed. Returns their number. */
  async approveDue(tx: Writer, now: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`update commissions set status = 'APPROVED', updated_at = ${now} where order_id in
          (select order_id from commissions where status = 'PENDING' and approves_at <= ${now} limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
}
