import { and, asc, desc, eq, gt, inArray, isNull, lte, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { cartGiftCards, cartLines, carts } from '../../../db/schema/selling.ts'
import { sourcesOf } from '../../lib/transitions.ts'
import { type Cart, type CartLine, cartTransitions, type Reach } from './domain.ts'

export type CartStore = ReturnType<typeof createCartStore>
type Queries = Pick<Reader, 'select'>

/** What nobody needs once a cart is over. */
const personal = { email: null, shippingAddress: null, billingAddress: null }

export function createCartStore({ read, statement }: Pick<Database, 'read' | 'statement'>) {
  const linesFrom = (from: Queries) =>
    from
      .select()
      .from(cartLines)
      .where(eq(cartLines.cartId, sql.placeholder('cartId')))
      .orderBy(asc(cartLines.id))
  const giftCardsFrom = (from: Queries) =>
    from
      .select({ giftCardId: cartGiftCards.giftCardId })
      .from(cartGiftCards)
      .where(eq(cartGiftCards.cartId, sql.placeholder('cartId')))
  const byId = read
    .select()
    .from(carts)
    .where(eq(carts.id, sql.placeholder('id')))
    .limit(1)
    .prepare()
  const readLines = linesFrom(read).prepare()
  const readGiftCards = giftCardsFrom(read).prepare()
  const linesInWork = statement(linesFrom)
  const giftCardsInWork = statement(giftCardsFrom)
  const insert = statement((queries) => queries.insert(carts).values(placeholders))
  const insertLine = statement((queries) =>
    queries.insert(cartLines).values({
      id: sql.placeholder('id'),
      cartId: sql.placeholder('cartId'),
      variantId: sql.placeholder('variantId'),
      quantity: sql.placeholder('quantity'),
      unitPrice: sql.placeholder('unitPrice'),
    }),
  )
  const touchAny = statement((queries) => touching(queries, undefined))
  const touchGuests = statement((queries) => touching(queries, isNull(carts.customerId)))
  const touchOwn = statement((queries) =>
    touching(queries, or(isNull(carts.customerId), eq(carts.customerId, sql.placeholder('customerId'))), {
      customerId: sql`${sql.placeholder('customerId')}`,
    }),
  )

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
    async linesOf(cartId: string, tx?: Writer): Promise<CartLine[]> {
      return tx ? linesInWork(tx, { cartId }) : readLines.execute({ cartId })
    },
    /** The ids of the gift cards on a cart. */
    async giftCardsOf(cartId: string, tx?: Writer): Promise<string[]> {
      const rows = await (tx ? giftCardsInWork(tx, { cartId }) : readGiftCards.execute({ cartId }))
      return rows.map(({ giftCardId }) => giftCardId)
    },

    async insert(tx: Writer, cart: Cart): Promise<void> {
      await insert(tx, { ...cart, shippingAddress: jsonOf(cart.shippingAddress), billingAddress: jsonOf(cart.billingAddress) })
    },
    /**
     * Begins a change of a cart that is open and within reach: gives it more time, and the customer who changes it.
     * No two changes leave the same `updatedAt`. Undefined when there is no such cart.
     */
    async touch(
      tx: Writer,
      { reach, ...values }: { id: string; shopId: string; reach: Reach; now: number; expiresAt: number },
    ): Promise<Cart | undefined> {
      const touched =
        typeof reach === 'object' ? touchOwn(tx, { ...values, ...reach }) : (reach === 'all' ? touchAny : touchGuests)(tx, values)
      const [cart] = await touched
      return cart
    },
    async change(tx: Writer, id: string, change: Partial<Cart>): Promise<void> {
      await tx.update(carts).set(change).where(eq(carts.id, id))
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

const isOpen = (now: number | Placeholder) => and(eq(carts.status, 'OPEN'), gt(carts.expiresAt, now))

function touching(queries: Pick<Writer, 'update'>, within: SQL | undefined, owner: { customerId?: SQL } = {}) {
  const now = sql.placeholder('now')
  return queries
    .update(carts)
    .set({
      ...owner,
      updatedAt: sql`case when ${carts.updatedAt} >= ${now} then ${carts.updatedAt} + 1 else ${now} end`,
      expiresAt: sql`${sql.placeholder('expiresAt')}`,
    })
    .where(and(eq(carts.id, sql.placeholder('id')), eq(carts.shopId, sql.placeholder('shopId')), isOpen(now), within))
    .returning()
}

/** A value for every column of a cart. Those that are JSON come as text already: the column's encoder would write `null` as a word. */
const placeholders = {
  id: sql.placeholder('id'),
  shopId: sql.placeholder('shopId'),
  customerId: sql.placeholder('customerId'),
  currency: sql.placeholder('currency'),
  email: sql.placeholder('email'),
  shippingAddress: sql`${sql.placeholder('shippingAddress')}`,
  billingAddress: sql`${sql.placeholder('billingAddress')}`,
  shippingMethod: sql.placeholder('shippingMethod'),
  affiliateCode: sql.placeholder('affiliateCode'),
  affiliateAt: sql.placeholder('affiliateAt'),
  status: sql.placeholder('status'),
  expiresAt: sql.placeholder('expiresAt'),
  createdAt: sql.placeholder('createdAt'),
  updatedAt: sql.placeholder('updatedAt'),
}
const jsonOf = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))
