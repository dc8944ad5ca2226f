import { and, asc, desc, eq, gt, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../db/engine.ts'
import { cartGiftCards, cartLines, carts } from '../../../db/schema/selling.ts'
import { movesOf } from '../../core/moves.ts'
import { moveOf } from '../../lib/transitions.ts'
import { type Cart, type CartLine, cartTransitions, type Reach } from './domain.ts'

export type CartStore = ReturnType<typeof createCartStore>

const expiry = moveOf(cartTransitions, 'OPEN', 'EXPIRED')
/** What nobody needs once a cart is over. */
const personal = { email: null, shippingAddress: null, billingAddress: null }

export function createCartStore(db: Pick<Database, 'read' | 'statement'>) {
  const { read, statement } = db
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
  const insert = statement((queries) => queries.insert(carts).values({ ...fixed, ...changing }))
  const save = statement((queries) =>
    queries
      .update(carts)
      .set(changing)
      .where(and(eq(carts.id, sql.placeholder('id')), eq(carts.updatedAt, sql.placeholder('seen')), eq(carts.status, 'OPEN')))
      .returning({ id: carts.id }),
  )
  const unchanged = movesOf(db, carts, cartTransitions, {
    guard: and(eq(carts.updatedAt, sql.placeholder('seen')), gt(carts.expiresAt, sql.placeholder('now'))),
  })
  const insertLine = statement((queries) =>
    queries.insert(cartLines).values({
      id: sql.placeholder('id'),
      cartId: sql.placeholder('cartId'),
      variantId: sql.placeholder('variantId'),
      quantity: sql.placeholder('quantity'),
      unitPrice: sql.placeholder('unitPrice'),
    }),
  )

  return {
    async find(id: string, tx?: Writer): Promise<Cart | undefined> {
      const [cart] = tx ? await tx.select().from(carts).where(eq(carts.id, id)).limit(1) : await byId.execute({ id })
      return cart
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
    /** In the order in which they were put in. */
    async linesOf(cartId: string): Promise<CartLine[]> {
      return linesOf.execute({ cartId })
    },
    /** The ids of the gift cards on a cart. */
    async giftCardsOf(cartId: string): Promise<string[]> {
      const rows = await giftCardsOf.execute({ cartId })
      return rows.map(({ giftCardId }) => giftCardId)
    },

    async insert(tx: Writer, cart: Cart): Promise<void> {
      await insert(tx, encoded(cart))
    },
    /**
     * Stores what may change of an open cart, if it is still as it was at `seen`. False when it is not: nothing that was decided
     * by what was read of it holds then.
     */
    async save(tx: Writer, cart: Cart, seen: number): Promise<boolean> {
      return (await save(tx, { ...encoded(cart), seen })).length > 0
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
      }: { id: string; shopId: string; reach: Reach; code: string; now: number; expiresAt: number },
    ): Promise<boolean> {
      // As `changeAt` of the domain has it.
      const updatedAt = sql`case when ${carts.updatedAt} >= ${now} then ${carts.updatedAt} + 1 else ${now} end`
      const rows = await tx
        .update(carts)
        .set({ affiliateCode: code, affiliateAt: now, updatedAt, expiresAt })
        .where(and(eq(carts.id, id), eq(carts.shopId, shopId), isOpen(now), within(reach)))
        .returning({ id: carts.id })
      return rows.length > 0
    },
    /** Notes what the shopper was shown of a cart, if it is still as it was at `updatedAt`. */
    async noteShown(
      tx: Writer,
      { id, updatedAt, shownTotal, shownDue }: Pick<Cart, 'id' | 'updatedAt' | 'shownTotal' | 'shownDue'>,
    ): Promise<void> {
      await tx
        .update(carts)
        .set({ shownTotal, shownDue })
        .where(and(eq(carts.id, id), eq(carts.updatedAt, updatedAt), eq(carts.status, 'OPEN')))
    },
    async insertLine(tx: Writer, line: CartLine): Promise<void> {
      await insertLine(tx, line)
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
    /** Makes an open cart a converted one, if it is still as it was at `updatedAt`. False when it is not, or was not open. */
    async convert(tx: Writer, { id, updatedAt, now }: { id: string; updatedAt: number; now: number }): Promise<boolean> {
      const converted = { ...personal, updatedAt: now }
      return (await unchanged.move(tx, id, ['OPEN'], 'CONVERTED', converted, { seen: updatedAt, now })) !== undefined
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

const isOpen = (now: number) => and(eq(carts.status, 'OPEN'), gt(carts.expiresAt, now))

/** The same as `isWithin` of the domain, for the guard of an update. */
function within(reach: Reach): SQL | undefined {
  if (reach === 'all') return undefined
  return reach === 'guests' ? isNull(carts.customerId) : or(isNull(carts.customerId), eq(carts.customerId, reach.customerId))
}

/** Values for the columns of a cart: those that stay, and those that change. */
const fixed = {
  id: sql.placeholder('id'),
  shopId: sql.placeholder('shopId'),
  currency: sql.placeholder('currency'),
  status: sql.placeholder('status'),
  createdAt: sql.placeholder('createdAt'),
}
const value = (name: keyof Cart) => sql`${sql.placeholder(name)}`
const changing = {
  customerId: value('customerId'),
  email: value('email'),
  shippingAddress: value('shippingAddress'),
  billingAddress: value('billingAddress'),
  shippingMethod: value('shippingMethod'),
  affiliateCode: value('affiliateCode'),
  affiliateAt: value('affiliateAt'),
  shownTotal: value('shownTotal'),
  shownDue: value('shownDue'),
  expiresAt: value('expiresAt'),
  updatedAt: value('updatedAt'),
}

/** As the engines store it: a placeholder knows nothing of its column. */
function encoded(cart: Cart): Record<string, unknown> {
  const jsonOf = (address: Cart['shippingAddress']) => (address === null ? null : JSON.stringify(address))
  return { ...cart, shippingAddress: jsonOf(cart.shippingAddress), billingAddress: jsonOf(cart.billingAddress) }
}
