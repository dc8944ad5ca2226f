import { and, asc, desc, eq, gt, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { cartGiftCards, cartLines, carts } from '../../../db/schema/selling.ts'
import { sourcesOf } from '../../lib/transitions.ts'
import { type Cart, type CartLine, cartTransitions, type Reach } from './domain.ts'

export type CartStore = ReturnType<typeof createCartStore>
type Queries = Pick<Reader, 'select'>

/** What nobody needs once a cart is over. */
const personal = { email: null, shippingAddress: null, billingAddress: null }

export function createCartStore({ read }: Pick<Database, 'read'>) {
  const byId = read
    .select()
    .from(carts)
    .where(eq(carts.id, sql.placeholder('id')))
    .limit(1)
    .prepare()
  const linesOf = read
    .select()
    .from(cartLines)
    .where(eq(cartLines.cartId, sql.placeholder('cartId')))
    .orderBy(asc(cartLines.id))
    .prepare()
  const giftCardsOf = read
    .select({ giftCardId: cartGiftCards.giftCardId })
    .from(cartGiftCards)
    .where(eq(cartGiftCards.cartId, sql.placeholder('cartId')))
    .prepare()

  return {
    async find(id: string, from?: Queries): Promise<Cart | undefined> {
      const [cart] = from ? await from.select().from(carts).where(eq(carts.id, id)).limit(1) : await byId.execute({ id })
      return cart
    },
    /** The customer's cart that was begun last, of those that are open. */
    async latestOf(shopId: string, customerId: string, now: number): Promise<Cart | undefined> {
      const [cart] = await read
        .select()
        .from(carts)
        .where(and(eq(carts.customerId, customerId), isOpen(now), eq(carts.shopId, shopId)))
        .orderBy(desc(carts.createdAt), desc(carts.id))
        .limit(1)
      return cart
    },
    /** In the order in which they were put in. */
    async linesOf(cartId: string, from?: Queries): Promise<CartLine[]> {
      if (!from) return linesOf.execute({ cartId })
      return from.select().from(cartLines).where(eq(cartLines.cartId, cartId)).orderBy(asc(cartLines.id))
    },
    /** The ids of the gift cards on a cart. */
    async giftCardsOf(cartId: string, from?: Queries): Promise<string[]> {
      const rows = from
        ? await from.select({ giftCardId: cartGiftCards.giftCardId }).from(cartGiftCards).where(eq(cartGiftCards.cartId, cartId))
        : await giftCardsOf.execute({ cartId })
      return rows.map(({ giftCardId }) => giftCardId)
    },

    async insert(tx: Writer, cart: Cart): Promise<void> {
      await tx.insert(carts).values(cart)
    },
    /**
     * Begins a change of a cart that is open and within reach: gives it more time, and the customer who changes it.
     * No two changes leave the same `updatedAt`. Undefined when there is no such cart.
     */
    async touch(
      tx: Writer,
      { id, shopId, reach, now, expiresAt }: { id: string; shopId: string; reach: Reach; now: number; expiresAt: number },
    ): Promise<Cart | undefined> {
      const owner = typeof reach === 'object' ? { customerId: reach.customerId } : {}
      const updatedAt = sql`case when ${carts.updatedAt} >= ${now} then ${carts.updatedAt} + 1 else ${now} end`
      const [cart] = await tx
        .update(carts)
        .set({ ...owner, updatedAt, expiresAt })
        .where(and(eq(carts.id, id), eq(carts.shopId, shopId), isOpen(now), within(reach)))
        .returning()
      return cart
    },
    async change(tx: Writer, id: string, change: Partial<Cart>): Promise<void> {
      await tx.update(carts).set(change).where(eq(carts.id, id))
    },
    async insertLine(tx: Writer, line: CartLine): Promise<void> {
      await tx.insert(cartLines).values(line)
    },
    async changeLine(tx: Writer, { id, quantity, unitPrice }: CartLine): Promise<void> {
      await tx.update(cartLines).set({ quantity, unitPrice }).where(eq(cartLines.id, id))
    },
    async removeLine(tx: Writer, id: string): Promise<void> {
      await tx.delete(cartLines).where(eq(cartLines.id, id))
    },
    async addGiftCard(tx: Writer, cartId: string, giftCardId: string, appliedAt: number): Promise<void> {
      await tx.insert(cartGiftCards).values({ cartId, giftCardId, appliedAt })
    },
    async removeGiftCards(tx: Writer, cartId: string, giftCardIds: readonly string[]): Promise<void> {
      await tx.delete(cartGiftCards).where(and(eq(cartGiftCards.cartId, cartId), inArray(cartGiftCards.giftCardId, [...giftCardIds])))
    },
    /** Ends some of the carts whose time is over. Returns how many. */
    async expire(tx: Writer, now: number, limit: number): Promise<number> {
      const over = tx
        .select({ id: carts.id })
        .from(carts)
        .where(and(inArray(carts.status, sourcesOf(cartTransitions, 'EXPIRED')), lte(carts.expiresAt, now)))
        .limit(limit)
      const rows = await tx
        .update(carts)
        .set({ ...personal, status: 'EXPIRED' })
        .where(inArray(carts.id, over))
        .returning({ id: carts.id })
      return rows.length
    },
  }
}

/** Makes an open cart a converted one, if it is still as it was at `updatedAt`. False when it is not, or was not open. */
export async function convert(
  tx: Writer,
  { id, updatedAt, now }: { id: string; updatedAt: number | undefined; now: number },
): Promise<boolean> {
  const unchanged = updatedAt === undefined ? undefined : eq(carts.updatedAt, updatedAt)
  const rows = await tx
    .update(carts)
    .set({ ...personal, status: 'CONVERTED', updatedAt: now })
    .where(and(eq(carts.id, id), inArray(carts.status, sourcesOf(cartTransitions, 'CONVERTED')), gt(carts.expiresAt, now), unchanged))
    .returning({ id: carts.id })
  return rows.length > 0
}

const isOpen = (now: number) => and(eq(carts.status, 'OPEN'), gt(carts.expiresAt, now))

/** The same as `isWithin` of the domain, for the guard of an update. */
function within(reach: Reach): SQL | undefined {
  if (reach === 'all') return undefined
  return reach === 'guests' ? isNull(carts.customerId) : or(isNull(carts.customerId), eq(carts.customerId, reach.customerId))
}
