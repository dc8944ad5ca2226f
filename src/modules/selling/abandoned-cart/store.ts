import { and, asc, desc, eq, gt, inArray, isNull, lt, lte, notInArray, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { shopMail } from '../../../../db/schema/mail.ts'
import { cartLines, carts, orders } from '../../../../db/schema/selling.ts'
import { shops } from '../../../../db/schema/shop.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { AbandonedCartMail } from '../../messaging/mail/domain.ts'
import type { Cart, CartLine } from '../cart/domain.ts'

export type AbandonedFilter = {
  readonly shopId: string
  readonly mailed?: boolean | undefined
  /** Carts that became an order after the link was used, instead of open ones. */
  readonly isRecovered: boolean
}
/** The position of a cart in the list: time and id. */
export type AbandonedKey = { readonly at: number; readonly id: string }
type OrderOfCart = {
  readonly cartId: string
  readonly id: string
  readonly number: number
  readonly email: string
  readonly total: number
}

/** Literals, so that the partial index `carts_abandoned` applies. */
const isReachable = sql`${carts.status} = 'OPEN' and ${carts.email} is not null and ${carts.draft} is null`
const hasLines = sql`exists (select 1 from ${cartLines} where ${cartLines.cartId} = ${carts.id})`
const hasOrder = sql`exists (select 1 from ${orders} where ${orders.cartId} = ${carts.id} and ${orders.status} not in ('EXPIRED', 'CANCELLED'))`
const ended = ['EXPIRED', 'CANCELLED'] as const
/** Totals are exact up to this number; further pages exist. */
export const countedMax = 2_000

export const createAbandonedCartStore = ({ read }: Pick<Database, 'read'>) => ({
  /**
   * Lists carts, the last changed or restored first.
   * @param before open carts that are unchanged since then, and have not expired `now`
   * @param after for an export: without a total
   */
  async list(
    { shopId, mailed, isRecovered }: AbandonedFilter,
    { before, now }: { before: number; now: number },
    { limit, offset }: Pick<PageSlice, 'limit' | 'offset'>,
    after?: AbandonedKey | null,
  ): Promise<{ rows: Cart[]; total: number; isCapped: boolean }> {
    const time = isRecovered ? carts.restoredAt : carts.updatedAt
    const where = and(
      eq(carts.shopId, shopId),
      isRecovered
        ? and(sql`${carts.restoredAt} is not null`, sql`${carts.status} = 'CONVERTED'`, hasOrder)
        : and(isReachable, lte(carts.updatedAt, before), gt(carts.expiresAt, now), hasLines),
      mailed === undefined ? undefined : mailed ? sql`${carts.remindedAt} is not null` : isNull(carts.remindedAt),
    )
    const behind: SQL | undefined = after ? or(lt(time, after.at), and(eq(time, after.at), lt(carts.id, after.id))) : undefined
    const rows = await read
      .select()
      .from(carts)
      .where(and(where, behind))
      .orderBy(desc(time), desc(carts.id))
      .limit(limit)
      .offset(after === undefined ? offset : 0)
    if (after !== undefined) return { rows, total: 0, isCapped: false }
    const [counted] = await read.rows<{ n: number | string }>(
      sql`select count(*) as n from (select 1 as one from ${carts} where ${where} limit ${countedMax + 1}) as first_ones`,
    )
    const n = Number(counted?.n ?? 0)
    return { rows, total: Math.min(n, countedMax), isCapped: n > countedMax }
  },
  linesOf: (ids: readonly string[]): Promise<CartLine[]> =>
    ids.length === 0
      ? Promise.resolve([])
      : read
          .select()
          .from(cartLines)
          .where(inArray(cartLines.cartId, [...ids]))
          .orderBy(asc(cartLines.cartId), asc(cartLines.id)),
  ordersOf: (ids: readonly string[]): Promise<OrderOfCart[]> =>
    ids.length === 0
      ? Promise.resolve([])
      : read
          .select({ cartId: orders.cartId, id: orders.id, number: orders.number, email: orders.email, total: orders.total })
          .from(orders)
          .where(and(inArray(orders.cartId, [...ids]), notInArray(orders.status, [...ended]))),
  /** Returns the e-mail addresses of the orders of a cart, which has none itself once it is ordered. */
  async orderEmailsOf(cartId: string): Promise<string[]> {
    const rows = await read.select({ email: orders.email }).from(orders).where(eq(orders.cartId, cartId))
    return rows.map(({ email }) => email)
  },
  /** Returns the open shops that send the mail, with their settings. */
  async senders(): Promise<{ shopId: string; mail: AbandonedCartMail | null }[]> {
    return read
      .select({ shopId: shopMail.shopId, mail: shopMail.abandonedCartMail })
      .from(shopMail)
      .innerJoin(shops, eq(shops.id, shopMail.shopId))
      .where(and(sql`${shopMail.abandonedCartMail} is not null`, sql`${shops.status} <> 'SUSPENDED'`))
  },
  /** Returns some carts that are due for their mail: unchanged since `to`, but not since `from`. */
  due: (shopId: string, { from, to, now }: { from: number; to: number; now: number }, limit: number): Promise<Cart[]> =>
    read
      .select()
      .from(carts)
      .where(
        and(
          ...[eq(carts.shopId, shopId), isReachable, gt(carts.updatedAt, from), lte(carts.updatedAt, to)],
          ...[eq(carts.acceptsMarketing, true), isNull(carts.remindedAt), gt(carts.expiresAt, now), hasLines],
        ),
      )
      .orderBy(asc(carts.updatedAt), asc(carts.id))
      .limit(limit),
  hasLines: async (id: string, from: Pick<Reader, 'select'> = read): Promise<boolean> =>
    (await from.select({ id: cartLines.id }).from(cartLines).where(eq(cartLines.cartId, id)).limit(1)).length > 0,
  /** Notes the mail of a cart that is unchanged since it was read; false if it has changed or was mailed. */
  async noteMailed(tx: Writer, { id, updatedAt }: Pick<Cart, 'id' | 'updatedAt'>, now: number): Promise<boolean> {
    const isSame = and(eq(carts.id, id), eq(carts.updatedAt, updatedAt), eq(carts.status, 'OPEN'), isNull(carts.remindedAt))
    return (await tx.update(carts).set({ remindedAt: now }).where(isSame).returning({ id: carts.id })).length > 0
  },
  /** Lets the mail of a cart be queued again. */
  async forgetMailed(tx: Writer, id: string): Promise<void> {
    await tx.update(carts).set({ remindedAt: null }).where(eq(carts.id, id))
  },
  /** Notes the first use of the link of an open cart. Not a change of the cart: pages that show it stay valid. */
  async noteRestored(tx: Writer, id: string, now: number): Promise<void> {
    const isFirst = and(eq(carts.id, id), eq(carts.status, 'OPEN'), isNull(carts.restoredAt))
    await tx.update(carts).set({ restoredAt: now }).where(isFirst)
  },
  /** Withdraws the consent at a cart and, with `email`, at all open carts of that address. */
  async withdraw(tx: Writer, { id, shopId }: Pick<Cart, 'id' | 'shopId'>, email: string | undefined): Promise<void> {
    const others = email === undefined ? undefined : and(eq(carts.shopId, shopId), isReachable, sql`lower(${carts.email}) = ${email}`)
    await tx
      .update(carts)
      .set({ acceptsMarketing: false })
      .where(and(eq(carts.acceptsMarketing, true), or(eq(carts.id, id), others)))
  },
})

export type AbandonedCartStore = ReturnType<typeof createAbandonedCartStore>
