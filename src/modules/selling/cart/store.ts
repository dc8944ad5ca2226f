import { and, asc, desc, eq, gt, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { changeOf, insertOf, lockedRowsOf, prepare, rowsOf, sureChangeOf } from '../../../../db/prepared.ts'
import { cartGiftCards, cartLines, carts, orderGiftCards, orderLines, orders } from '../../../../db/schema/selling.ts'
import { transitionOf } from '../../../lib/transitions.ts'
import { type Cart, type CartAccess, type CartLine, cartTransitions, type SoldCart, soldCartOf } from './domain.ts'

const cartById = rowsOf(carts, ['id'])
const lockedCart = lockedRowsOf(carts, ['id'])
const linesOfCart = rowsOf(cartLines, ['cartId'], asc(cartLines.id))
const giftCardsOfCart = rowsOf(cartGiftCards, ['cartId'])
/** A cart can be bought again after its checkout was cancelled; the last order counts. */
const orderOfCart = rowsOf(orders, ['cartId'], desc(orders.number))
const giftCardsOfOrder = rowsOf(orderGiftCards, ['orderId'], asc(orderGiftCards.giftCardId))
const linesOfOrder = rowsOf(orderLines, ['orderId'], asc(orderLines.position))
// The caller has locked the line's cart.
const lineById = eq(cartLines.id, sql.placeholder('which'))
const changeCartLine = prepare(
  (queries) =>
    queries
      .update(cartLines)
      .set({ quantity: sql.placeholder('quantity'), unitPrice: sql.placeholder('unitPrice') } as never)
      .where(lineById),
  'behind',
)
const removeCartLine = prepare((queries) => queries.delete(cartLines).where(lineById), 'behind')
const seenCart = and(eq(carts.id, sql.placeholder('which')), eq(carts.updatedAt, sql.placeholder('seen')))
const saveCart = changeOf(carts, and(seenCart, eq(carts.status, 'OPEN')))

const saveCartSurely = sureChangeOf(carts, and(seenCart, eq(carts.status, 'OPEN')))

/** The fields that a change sets, of those that may change. */
function changeOfCart({ id, shopId, currency, status, createdAt, ...fields }: Cart, before: Cart): Partial<Cart> {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== before[name as keyof Cart]))
}

/** Personal data, removed when a cart is over. */
const personal = { email: null, shippingAddress: null, billingAddress: null, giftCardRecipient: null }

const expiry = transitionOf(cartTransitions, 'OPEN', 'EXPIRED')
const reopening = transitionOf(cartTransitions, 'CONVERTED', 'OPEN')
const conversion = transitionOf(cartTransitions, 'OPEN', 'CONVERTED')
/** Matches unexpired carts that are unchanged since they were read. */
const convertible = and(seenCart, eq(carts.status, conversion.from), gt(carts.expiresAt, sql.placeholder('now')))
const convertCart = sureChangeOf(carts, convertible)

/** The lines in the order in which they were added, and the ids of the gift cards. */
export type CartContents = { lines: readonly CartLine[]; giftCardIds: readonly string[] }

export function createCartStore({ read }: Pick<Database, 'read'>) {
  return {
    find: async (id: string, tx?: Writer): Promise<Cart | undefined> => (tx ? tx.first(cartById, { id }) : read.first(cartById, { id })),
    /** The customer's newest open cart. */
    async latestOf(shopId: string, customerId: string, now: number): Promise<Cart | undefined> {
      const [cart] = await read
        .select()
        .from(carts)
        .where(and(eq(carts.customerId, customerId), eq(carts.shopId, shopId), isOpen(now)))
        .orderBy(desc(carts.createdAt), desc(carts.id))
        .limit(1)
      return cart
    },
    /** Issues all queries at once, so that they can join other reads. */
    async contentsOf(cartId: string): Promise<CartContents> {
      const reads = [read.all(linesOfCart, { cartId }), read.all(giftCardsOfCart, { cartId })] as const
      const [lines, cards] = await Promise.all(reads)
      return { lines, giftCardIds: cards.map(({ giftCardId }) => giftCardId) }
    },

    /** The last order of a cart with its amounts; undefined without an order. */
    async soldFor(cartId: string): Promise<(SoldCart & { order: typeof orders.$inferSelect }) | undefined> {
      const order = await read.first(orderOfCart, { cartId })
      if (!order) return undefined
      const cards = await read.all(giftCardsOfOrder, { orderId: order.id })
      const lines = order.discountTotal > 0 ? await read.all(linesOfOrder, { orderId: order.id }) : []
      return { order, ...soldCartOf({ order, giftCards: cards, lines }) }
    },

    insert: insertOf(carts),
    /**
     * Stores an open cart if it equals `before`; false otherwise: the change was decided on stale data.
     * @param before as it was read; unchanged columns, and their indexes, are not written
     */
    async save(tx: Writer, cart: Cart, before: Cart): Promise<boolean> {
      return saveCart(tx, changeOfCart(cart, before), { which: cart.id, seen: before.updatedAt })
    },
    /** Does `save` without awaiting the result: the write throws NothingChanged instead of returning false. */
    async saveSurely(tx: Writer, cart: Cart, before: Cart): Promise<void> {
      await saveCartSurely(tx, changeOfCart(cart, before), { which: cart.id, seen: before.updatedAt })
    },
    /** Stores the affiliate's code on an open, accessible cart; false if there is none. */
    async refer(
      tx: Writer,
      {
        id,
        shopId,
        reach,
        code,
        now,
        expiresAt,
      }: { id: string; shopId: string; reach: CartAccess; code: string; now: number; expiresAt: number },
    ): Promise<boolean> {
      const updatedAt = laterThan(now)
      const rows = await tx
        .update(carts)
        .set({ affiliateCode: code, affiliateAt: now, updatedAt, expiresAt: laterExpiry(expiresAt) })
        .where(and(eq(carts.id, id), eq(carts.shopId, shopId), isOpen(now), within(reach)))
        .returning({ id: carts.id })
      return rows.length > 0
    },
    /** Stores what the shopper was shown, if the cart is unchanged since `updatedAt`. */
    async noteShown(
      tx: Writer,
      {
        id,
        updatedAt,
        shownTotal,
        shownDue,
        shownDiscounts,
      }: Pick<Cart, 'id' | 'updatedAt' | 'shownTotal' | 'shownDue' | 'shownDiscounts'>,
    ): Promise<void> {
      await tx
        .update(carts)
        .set({ shownTotal, shownDue, shownDiscounts })
        .where(and(eq(carts.id, id), eq(carts.updatedAt, updatedAt), eq(carts.status, 'OPEN')))
    },
    insertLine: insertOf(cartLines),
    async changeLine(tx: Writer, { id, quantity, unitPrice }: CartLine): Promise<void> {
      await tx.run(changeCartLine, { which: id, quantity, unitPrice })
    },
    async removeLine(tx: Writer, id: string): Promise<void> {
      await tx.run(removeCartLine, { which: id })
    },
    async addGiftCard(tx: Writer, cartId: string, giftCardId: string, appliedAt: number): Promise<void> {
      await tx.insert(cartGiftCards).values({ cartId, giftCardId, appliedAt })
    },
    async removeGiftCards(tx: Writer, cartId: string, giftCardIds: readonly string[]): Promise<void> {
      await tx.delete(cartGiftCards).where(and(eq(cartGiftCards.cartId, cartId), inArray(cartGiftCards.giftCardId, [...giftCardIds])))
    },
    /** Converts an open cart that is unchanged since `updatedAt`; otherwise the write throws NothingChanged. */
    async convert(tx: Writer, { id, updatedAt, now }: { id: string; updatedAt: number; now: number }): Promise<void> {
      await convertCart(tx, { ...personal, status: conversion.to, updatedAt: now }, { which: id, seen: updatedAt, now })
    },
    /** Reads and locks a cart. */
    lock: async (tx: Writer, id: string): Promise<Cart | undefined> => tx.first(lockedCart, { id }),
    /** Reopens a converted cart; false if it is not converted. */
    async reopen(
      tx: Writer,
      id: string,
      fields: Pick<Cart, 'email' | 'shippingAddress' | 'billingAddress' | 'giftCardRecipient' | 'expiresAt'>,
      now: number,
    ): Promise<boolean> {
      const updatedAt = laterThan(now)
      const rows = await tx
        .update(carts)
        .set({ ...fields, expiresAt: laterExpiry(fields.expiresAt), updatedAt, status: reopening.to })
        .where(and(eq(carts.id, id), eq(carts.status, reopening.from)))
        .returning({ id: carts.id })
      return rows.length > 0
    },
    /** Deletes the cart of a draft and its contents. */
    async remove(tx: Writer, id: string): Promise<void> {
      await tx.delete(carts).where(eq(carts.id, id))
    },
    /** Expires some carts whose time is over. Returns their number. */
    async expire(tx: Writer, now: number, limit: number): Promise<number> {
      const over = tx
        .select({ id: carts.id })
        .from(carts)
        // A literal, so that the partial index of open carts applies.
        .where(and(sql`${carts.status} = 'OPEN'`, lte(carts.expiresAt, now)))
        .limit(limit)
      const rows = await tx
        .update(carts)
        .set({ ...personal, status: expiry.to })
        .where(inArray(carts.id, over))
        .returning({ id: carts.id })
      return rows.length
    },
    /** Deletes some carts that were over before `before`, with their contents. Returns their number. */
    async removeOver(tx: Writer, before: number, limit: number): Promise<number> {
      const rows = await tx.rows(
        sql`delete from carts where id in (select id from carts where status <> 'OPEN' and updated_at < ${before} limit ${limit}) returning 1 as done`,
      )
      return rows.length
    },
  }
}

/** The SQL of `expiryAfter`. */
const laterExpiry = (expiresAt: number) =>
  sql<number>`case when ${carts.draft} is null and ${carts.agent} is null then ${expiresAt} else ${carts.expiresAt} end`

/** The SQL of `nextUpdatedAt`. */
const laterThan = (now: number) => sql<number>`case when ${carts.updatedAt} >= ${now} then ${carts.updatedAt} + 1 else ${now} end`

const isOpen = (now: number) => and(eq(carts.status, 'OPEN'), gt(carts.expiresAt, now))

/** The SQL of `canAccessCart`. */
function within(reach: CartAccess): SQL | undefined {
  if (reach === 'all') return undefined
  return reach === 'guests' ? isNull(carts.customerId) : or(isNull(carts.customerId), eq(carts.customerId, reach.customerId))
}
