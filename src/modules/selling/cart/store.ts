import { and, asc, desc, eq, gt, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { changeOf, insertOf, lockedRowsOf, prepare, rowsOf, sureChangeOf } from '../../../../db/prepared.ts'
import { cartGiftCards, cartLines, carts, orderGiftCards, orderLines, orders } from '../../../../db/schema/selling.ts'
import { moveOf } from '../../../lib/transitions.ts'
import { type Cart, type CartAccess, type CartLine, cartTransitions, type SoldCart } from './domain.ts'

const cartById = rowsOf(carts, ['id'])
const lockedCart = lockedRowsOf(carts, ['id'])
const linesOfCart = rowsOf(cartLines, ['cartId'], asc(cartLines.id))
const giftCardsOfCart = rowsOf(cartGiftCards, ['cartId'])
/** A cart whose checkout was taken back may be bought again: the order that was made last counts. */
const orderOfCart = rowsOf(orders, ['cartId'], desc(orders.number))
const giftCardsOfOrder = rowsOf(orderGiftCards, ['orderId'], asc(orderGiftCards.giftCardId))
const linesOfOrder = rowsOf(orderLines, ['orderId'], asc(orderLines.position))
const insertCart = insertOf(carts)
const insertCartLine = insertOf(cartLines)
// Whoever changes a line has its cart.
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

/** What is another after a change of a cart, of what may change. */
function changeOfCart({ id, shopId, currency, status, createdAt, ...fields }: Cart, before: Cart): Partial<Cart> {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== before[name as keyof Cart]))
}

/** What nobody needs once a cart is over. */
const personal = { email: null, shippingAddress: null, billingAddress: null }

const expiry = moveOf(cartTransitions, 'OPEN', 'EXPIRED')
const reopening = moveOf(cartTransitions, 'CONVERTED', 'OPEN')
const conversion = moveOf(cartTransitions, 'OPEN', 'CONVERTED')
/** Of carts that are as they were when they were read, and whose time is not over. */
const convertible = and(seenCart, eq(carts.status, conversion.from), gt(carts.expiresAt, sql.placeholder('now')))
const convertCart = changeOf(carts, convertible)
const convertCartSurely = sureChangeOf(carts, convertible)

/** What is in a cart: its lines in the order in which they were put in, and the ids of the gift cards on it. */
export type CartContents = { lines: readonly CartLine[]; giftCardIds: readonly string[] }

export function createCartStore({ read }: Pick<Database, 'read'>) {
  return {
    async find(id: string, tx?: Writer): Promise<Cart | undefined> {
      return tx ? tx.first(cartById, { id }) : read.first(cartById, { id })
    },
    /** The customer's cart that was begun last, of those that are open. */
    async latestOf(shopId: string, customerId: string, now: number): Promise<Cart | undefined> {
      const [cart] = await read
        .select()
        .from(carts)
        .where(and(eq(carts.customerId, customerId), eq(carts.shopId, shopId), isOpen(now)))
        .orderBy(desc(carts.createdAt), desc(carts.id))
        .limit(1)
      return cart
    },
    /** Asked in one go, so that it may be asked together with something else. */
    async contentsOf(cartId: string): Promise<CartContents> {
      const asked = [read.all(linesOfCart, { cartId }), read.all(giftCardsOfCart, { cartId })] as const
      const [lines, cards] = await Promise.all(asked)
      return { lines, giftCardIds: cards.map(({ giftCardId }) => giftCardId) }
    },

    /** What a cart was sold for; undefined while it has not become an order. */
    async soldFor(cartId: string): Promise<SoldCart | undefined> {
      const order = await read.first(orderOfCart, { cartId })
      if (!order) return undefined
      const cards = await read.all(giftCardsOfOrder, { orderId: order.id })
      const lines = order.discountTotal > 0 ? await read.all(linesOfOrder, { orderId: order.id }) : []
      return {
        totals: {
          subtotal: order.subtotal,
          discount: order.discountTotal,
          shipping: order.shippingTotal,
          tax: order.taxTotal,
          taxIncluded: order.taxIncluded,
          giftCards: order.giftCardTotal,
          total: order.total,
          amountDue: order.amountDue,
        },
        shippingMethod: order.shippingMethod?.code ?? null,
        cards: cards.map(({ giftCardId: id, last4, amount }) => ({ id, last4, amount })),
        discounts: order.discounts,
        ofLines: new Map(lines.map(({ id, discount }) => [id, discount])),
      }
    },

    async insert(tx: Writer, cart: Cart): Promise<void> {
      await insertCart(tx, cart)
    },
    /**
     * Stores what may change of an open cart, if it is still as it was `before`. False when it is not: nothing that was decided
     * by what was read of it holds then.
     * @param before as it was read; what is the same stays untouched, and with it the indexes that hold it
     */
    async save(tx: Writer, cart: Cart, before: Cart): Promise<boolean> {
      return saveCart(tx, changeOfCart(cart, before), { which: cart.id, seen: before.updatedAt })
    },
    /** The same, which nobody waits for: where it would be false, the write throws NothingChanged. */
    async saveSurely(tx: Writer, cart: Cart, before: Cart): Promise<void> {
      await saveCartSurely(tx, changeOfCart(cart, before), { which: cart.id, seen: before.updatedAt })
    },
    /** Notes who sent the shopper, on a cart that is open and within reach; false when there is no such cart. */
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
        .set({ affiliateCode: code, affiliateAt: now, updatedAt, expiresAt: unlessDraft(expiresAt) })
        .where(and(eq(carts.id, id), eq(carts.shopId, shopId), isOpen(now), within(reach)))
        .returning({ id: carts.id })
      return rows.length > 0
    },
    /** Notes what the shopper was shown of a cart, if it is still as it was at `updatedAt`. */
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
    async insertLine(tx: Writer, line: CartLine): Promise<void> {
      await insertCartLine(tx, line)
    },
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
    /** Makes an open cart a converted one, if it is still as it was at `updatedAt`. False when it is not, or was not open. */
    async convert(tx: Writer, { id, updatedAt, now }: { id: string; updatedAt: number; now: number }): Promise<boolean> {
      return convertCart(tx, { ...personal, status: conversion.to, updatedAt: now }, { which: id, seen: updatedAt, now })
    },
    /** The same, which nobody waits for: where it would be false, the write throws NothingChanged. */
    async convertSurely(tx: Writer, { id, updatedAt, now }: { id: string; updatedAt: number; now: number }): Promise<void> {
      await convertCartSurely(tx, { ...personal, status: conversion.to, updatedAt: now }, { which: id, seen: updatedAt, now })
    },
    /** As it stands, in a write that has it to itself from then on. */
    async lock(tx: Writer, id: string): Promise<Cart | undefined> {
      return tx.first(lockedCart, { id })
    },
    /** Opens a converted cart again. False when it is none. */
    async reopen(
      tx: Writer,
      id: string,
      fields: Pick<Cart, 'email' | 'shippingAddress' | 'billingAddress' | 'expiresAt'>,
      now: number,
    ): Promise<boolean> {
      const updatedAt = laterThan(now)
      const rows = await tx
        .update(carts)
        .set({ ...fields, expiresAt: unlessDraft(fields.expiresAt), updatedAt, status: reopening.to })
        .where(and(eq(carts.id, id), eq(carts.status, reopening.from)))
        .returning({ id: carts.id })
      return rows.length > 0
    },
    /** Removes the cart of a draft with all that is in it. */
    async remove(tx: Writer, id: string): Promise<void> {
      await tx.delete(carts).where(eq(carts.id, id))
    },
    /** Ends some of the carts whose time is over. Returns how many. */
    async expire(tx: Writer, now: number, limit: number): Promise<number> {
      const over = tx
        .select({ id: carts.id })
        .from(carts)
        // Spelt out, as the index of open carts has it.
        .where(and(sql`${carts.status} = 'OPEN'`, lte(carts.expiresAt, now)))
        .limit(limit)
      const rows = await tx
        .update(carts)
        .set({ ...personal, status: expiry.to })
        .where(inArray(carts.id, over))
        .returning({ id: carts.id })
      return rows.length
    },
    /** Removes some of the carts that were over before `before`, with all that was in them. Returns how many. */
    async removeOver(tx: Writer, before: number, limit: number): Promise<number> {
      const rows = await tx.rows(
        sql`delete from carts where id in (select id from carts where status <> 'OPEN' and updated_at < ${before} limit ${limit}) returning 1 as done`,
      )
      return rows.length
    },
  }
}

/** As `expiryAfter` of the domain has it. */
const unlessDraft = (expiresAt: number) => sql<number>`case when ${carts.draft} is null then ${expiresAt} else ${carts.expiresAt} end`

/** As `nextUpdatedAt` of the domain has it. */
const laterThan = (now: number) => sql<number>`case when ${carts.updatedAt} >= ${now} then ${carts.updatedAt} + 1 else ${now} end`

const isOpen = (now: number) => and(eq(carts.status, 'OPEN'), gt(carts.expiresAt, now))

/** The same as `canAccessCart` of the domain, for the guard of an update. */
function within(reach: CartAccess): SQL | undefined {
  if (reach === 'all') return undefined
  return reach === 'guests' ? isNull(carts.customerId) : or(isNull(carts.customerId), eq(carts.customerId, reach.customerId))
}
