import { and, desc, eq, gt, gte, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, rowsOf, updateOfVersion } from '../../../../db/prepared.ts'
import { giftCards, giftCardTransactions } from '../../../../db/schema/selling.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { GiftCard } from './domain.ts'

export type GiftCardTransaction = typeof giftCardTransactions.$inferSelect
/** Undefined keeps a field. */
export type GiftCardChange = { [Field in 'status' | 'note' | 'expiresAt']?: GiftCard[Field] | undefined }

const byHash = rowsOf(giftCards, ['shopId', 'codeHash'])
const byId = rowsOf(giftCards, ['id', 'shopId'])

export const createGiftCardStore = ({ read }: Pick<Database, 'read'>) => ({
  findByHash: async (shopId: string, codeHash: string): Promise<GiftCard | undefined> => read.first(byHash, { shopId, codeHash }),
  find: async (tx: Writer, shopId: string, id: string): Promise<GiftCard | undefined> => tx.first(byId, { id, shopId }),
  async findAll(ids: readonly string[]): Promise<GiftCard[]> {
    if (ids.length === 0) return []
    return read
      .select()
      .from(giftCards)
      .where(inArray(giftCards.id, [...ids]))
      .orderBy(giftCards.id)
  },
  /** Newest first. */
  list: ({ shopId, customerId }: { shopId: string; customerId?: string | undefined }, slice: PageSlice) =>
    selectSlice(read, giftCards, {
      where: and(eq(giftCards.shopId, shopId), customerId === undefined ? undefined : eq(giftCards.customerId, customerId)),
      order: [desc(giftCards.id)],
      ...slice,
    }),
  insert: insertOf(giftCards),
  change: updateOfVersion(giftCards),
  /** Disables all usable cards. Returns their number. */
  async disableAll(tx: Writer, shopId: string, updatedAt: number): Promise<number> {
    const disabled = await tx
      .update(giftCards)
      .set({ status: 'DISABLED', updatedAt, version: sql`${giftCards.version} + 1` })
      .where(and(eq(giftCards.shopId, shopId), eq(giftCards.status, 'ACTIVE')))
      .returning({ id: giftCards.id })
    return disabled.length
  },
  /** Takes an amount from a usable card; false if its balance is too small or it is not usable. */
  take(tx: Writer, id: string, amount: number, now: number): Promise<boolean> {
    const usable = and(
      eq(giftCards.status, 'ACTIVE'),
      isNull(giftCards.refundId),
      or(isNull(giftCards.expiresAt), gt(giftCards.expiresAt, now)),
    )
    return move(tx, id, -amount, now, and(usable, gte(giftCards.balance, amount)))
  },
  /** Returns an amount to a card in any status; false if it would exceed the initial amount. */
  giveBack(tx: Writer, id: string, amount: number, now: number): Promise<boolean> {
    return move(tx, id, amount, now, lte(giftCards.balance, sql`${giftCards.initialAmount} - ${amount}`))
  },
  /** The cards that an order sold, in the order of its lines' ids and units. */
  soldBy: async (tx: Writer, orderId: string): Promise<GiftCard[]> =>
    tx.select().from(giftCards).where(eq(giftCards.orderId, orderId)).orderBy(giftCards.orderLineId, giftCards.unit),
  /** Inserts sold cards with their first movements. */
  async insertSold(tx: Writer, cards: readonly GiftCard[], issued: readonly GiftCardTransaction[]): Promise<void> {
    await tx.insert(giftCards).values([...cards])
    await tx.insert(giftCardTransactions).values([...issued])
  },
  /** Disables an unspent card for a refund; false if it was spent or another refund disabled it. */
  async disableForRefund(tx: Writer, id: string, refundId: string, updatedAt: number): Promise<boolean> {
    const rows = await tx
      .update(giftCards)
      .set({ refundId, updatedAt, version: sql`${giftCards.version} + 1` })
      .where(and(eq(giftCards.id, id), isNull(giftCards.refundId), eq(giftCards.balance, giftCards.initialAmount)))
      .returning({ id: giftCards.id })
    return rows.length > 0
  },
  /** Enables the cards that a refund disabled. */
  async restore(tx: Writer, orderId: string, refundId: string, updatedAt: number): Promise<void> {
    await tx
      .update(giftCards)
      .set({ refundId: null, updatedAt, version: sql`${giftCards.version} + 1` })
      .where(and(eq(giftCards.orderId, orderId), eq(giftCards.refundId, refundId)))
  },
  /** The newest movements of a card. */
  transactions: (cardId: string, limit: number): Promise<GiftCardTransaction[]> =>
    read
      .select()
      .from(giftCardTransactions)
      .where(eq(giftCardTransactions.giftCardId, cardId))
      .orderBy(desc(giftCardTransactions.id))
      .limit(limit),
  async append(tx: Writer, row: GiftCardTransaction): Promise<void> {
    await tx.insert(giftCardTransactions).values(row)
  },
})

/** Relative, so that concurrent writes add up. */
async function move(tx: Writer, id: string, by: number, updatedAt: number, guard: SQL | undefined): Promise<boolean> {
  const rows = await tx
    .update(giftCards)
    .set({ balance: sql`${giftCards.balance} + ${by}`, updatedAt })
    .where(and(eq(giftCards.id, id), guard))
    .returning({ id: giftCards.id })
  return rows.length > 0
}
